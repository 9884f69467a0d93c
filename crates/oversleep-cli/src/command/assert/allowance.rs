//! The time that a gate may take: it begins a turn only if one as long as the longest so far would end in time.

use std::time::Instant;

use oversleep_record::Nanos;

/// What `--within` allows.
pub struct Allowance {
    within: Nanos,
    begun: Instant,
    turns: Turns,
}

/// The turns up to now.
#[derive(Default)]
struct Turns {
    used: Nanos,
    longest: Nanos,
}

impl Allowance {
    /// It begins now.
    pub fn new(within: Nanos) -> Allowance {
        Allowance { within, begun: Instant::now(), turns: Turns::default() }
    }

    /// A turn ended; `virtual_ns` is what it took on a model, whose time is virtual. Whether there is time for another.
    pub fn has_time(&mut self, virtual_ns: Option<Nanos>) -> bool {
        let used = match virtual_ns {
            Some(took) => Nanos(self.turns.used.0.saturating_add(took.0.max(1))),
            None => Nanos(i64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(i64::MAX)),
        };
        self.turns.fit(used, self.within)
    }

    /// What the longest turn took up to now.
    pub fn longest(&self) -> Nanos {
        self.turns.longest
    }
}

impl Turns {
    /// Notes what is used now; whether a turn as long as the longest fits into the rest.
    fn fit(&mut self, used: Nanos, within: Nanos) -> bool {
        let took = Nanos(used.0.saturating_sub(self.used.0));
        (self.used, self.longest) = (used, self.longest.max(took));
        used.0.saturating_add(self.longest.0) <= within.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_turn_begins_that_would_end_too_late_if_it_took_as_long_as_the_longest() {
        let mut turns = Turns::default();
        let mut fit = |used_s: i64| turns.fit(Nanos::from_millis(used_s * 1_000), Nanos::from_millis(60_000));
        // 20 s, 5 s, 15 s: another may take 20 s.
        assert!(fit(20) && fit(25) && fit(40));
        assert!(!fit(41), "it might end at 61 s");
        let mut turns = Turns::default();
        assert!(turns.fit(Nanos::MAX, Nanos::MAX), "a limit without end");
    }

    #[test]
    fn a_models_turns_count_by_its_own_time() {
        let mut allowance = Allowance::new(Nanos(10));
        assert!(allowance.has_time(Some(Nanos(4))));
        assert!(!allowance.has_time(Some(Nanos(3))), "7 and 4 are more than 10");
        assert!(Allowance::new(Nanos(10)).has_time(Some(Nanos(0))), "it counts as 1");
    }
}
