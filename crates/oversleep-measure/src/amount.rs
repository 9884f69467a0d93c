//! How much of one thing to measure: values or time, spread over rounds.

use oversleep_record::Nanos;

use super::bench::Bench;
use super::plan::{Limit, Plan};
use super::still::{Reads, StillClock};

/// The number of values, and the longest time for them, over all rounds together.
#[derive(Clone, Copy, Debug)]
pub struct Amount {
    /// How many values.
    pub count: u64,
    /// The longest time: where 1 ms takes 15.6 ms, the count alone would take too long.
    pub time: Nanos,
    /// The number of rounds.
    pub rounds: u32,
}

impl Amount {
    /// That many values, however long they take.
    pub(super) fn values(count: u64, rounds: u32) -> Amount {
        Amount { count, time: Nanos::MAX, rounds }
    }

    /// This amount, or what the plan limits it to.
    pub fn limited_by(self, plan: &Plan) -> Amount {
        match plan.limit {
            None => self,
            Some(Limit::Count(count)) => {
                Amount::values(count, u32::try_from(count).unwrap_or(u32::MAX).clamp(1, self.rounds))
            }
            // A run of a stated duration is one schedule, not several short ones.
            Some(Limit::Time(time)) => Amount { count: u64::MAX, time, rounds: 1 },
        }
    }

    /// The number of values to reserve room for, if each takes about that long.
    pub(super) fn planned(self, each: Nanos) -> u64 {
        match self.count {
            u64::MAX => (self.time.0 / each.0.max(1)).unsigned_abs(),
            count => count,
        }
    }

    /// The approximate duration of a round, if each value takes about that long.
    pub(super) fn round_estimate(self, each: Nanos) -> Nanos {
        let count = i64::try_from(self.count_per_round()).unwrap_or(i64::MAX);
        (each * count).min(self.time_per_round())
    }

    pub(super) fn count_per_round(self) -> u64 {
        self.count.div_ceil(u64::from(self.rounds.max(1))).max(1)
    }

    pub(super) fn time_per_round(self) -> Nanos {
        Nanos(self.time.0 / i64::from(self.rounds.max(1)))
    }

    /// One round's share, after that many recorded values.
    pub(super) fn share(self, bench: &Bench, recorded: u64) -> Share {
        let time = self.time_per_round();
        Share {
            left: self.count_per_round().min(self.count.saturating_sub(recorded)),
            until: (self.time < Nanos::MAX).then(|| bench.platform().now() + time),
            begun: false,
            still: StillClock::default(),
        }
    }
}

/// The rest of one round's share.
pub(super) struct Share {
    left: u64,
    until: Option<Nanos>,
    begun: bool,
    still: StillClock,
}

impl Share {
    /// Whether to measure once more: until the share is used up, its time is over, or the run is stopped. Even the
    /// shortest time gives one value.
    pub(super) fn next(&mut self, bench: &Bench) -> bool {
        let still = &mut self.still;
        let mut time_is_up = || {
            self.until.is_some_and(|until| {
                let now = bench.platform().now();
                bench.note(still, now, Reads::CALL);
                now >= until
            })
        };
        if self.left == 0 || bench.stopped() || (self.begun && time_is_up()) || bench.stopped() {
            return false;
        }
        self.begun = true;
        self.left -= 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use oversleep_model::sim::Sim;
    use oversleep_system::SharedPlatform;

    use super::super::{StopFlag, testing};
    use super::*;

    fn bench() -> (Bench, StopFlag) {
        let platform: SharedPlatform = Sim::start(testing::machine().build());
        let stop = StopFlag::new();
        (Bench::new(platform, stop.clone(), None).unwrap(), stop)
    }

    /// How many values of 1 ms each it gives.
    fn taken(bench: &Bench, mut share: Share) -> u64 {
        let mut values = 0;
        while share.next(bench) {
            bench.platform().work(1_000);
            values += 1;
        }
        values
    }

    #[test]
    fn rounds_share_values_or_time() {
        let (bench, _) = bench();
        let seven = Amount::values(7, 3);
        assert_eq!(taken(&bench, seven.share(&bench, 0)), 3);
        assert_eq!(taken(&bench, seven.share(&bench, 6)), 1);
        assert_eq!(taken(&bench, seven.share(&bench, 7)), 0);
        let plan = Plan { limit: Some(Limit::Time(Nanos::from_millis(10))), ..Plan::default() };
        assert_eq!(taken(&bench, seven.limited_by(&plan).share(&bench, 0)), 10);
        let plan = Plan { limit: Some(Limit::Time(Nanos(1))), ..Plan::default() };
        assert_eq!(taken(&bench, seven.limited_by(&plan).share(&bench, 0)), 1, "at least one");
    }

    #[test]
    fn nothing_is_begun_after_a_stop() {
        let (bench, stop) = bench();
        stop.raise();
        assert_eq!(taken(&bench, Amount::values(7, 1).share(&bench, 0)), 0);
    }

    #[test]
    fn estimates_follow_whichever_ends_first() {
        let millisecond = Nanos::from_millis(1);
        let timed = Amount { count: u64::MAX, time: Nanos::from_secs(1), rounds: 1 };
        assert_eq!((timed.planned(millisecond), timed.round_estimate(millisecond)), (1_000, Nanos::from_secs(1)));
        let counted = Amount::values(30, 3);
        assert_eq!((counted.planned(millisecond), counted.round_estimate(millisecond)), (30, millisecond * 10));
    }
}
