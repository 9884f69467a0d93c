//! Lateness measured on a real machine: distributions per request, from which values are drawn.

use oversleep_record::Nanos;

use super::spread::{Random, Spread};

/// The lateness of one wait, by request.
#[derive(Clone, Debug, PartialEq)]
pub struct Learned {
    /// Request and lateness, shortest request first; never empty.
    requests: Vec<(Nanos, Spread)>,
    /// The slack of the thread that waited, if slack is part of the lateness.
    slack: Option<Nanos>,
}

impl Learned {
    /// From measurements; `None` without any.
    pub fn new(mut requests: Vec<(Nanos, Spread)>, slack: Option<Nanos>) -> Option<Learned> {
        requests.sort_by_key(|&(request, _)| request);
        (!requests.is_empty()).then_some(Learned { requests, slack })
    }

    /// The requests that were measured, shortest first, each with its lateness.
    pub fn requests(&self) -> &[(Nanos, Spread)] {
        &self.requests
    }

    /// What was learned, with another lateness for each request.
    #[must_use]
    pub fn with_lateness(&self, of: impl Fn(Nanos, &Spread) -> Spread) -> Learned {
        let requests = self.requests.iter().map(|(request, late)| (*request, of(*request, late))).collect();
        Learned { requests, slack: self.slack }
    }

    /// The slack that was part of what was measured.
    pub(super) fn slack(&self) -> Option<Nanos> {
        self.slack
    }

    /// The longest request that was measured.
    pub(super) fn longest(&self) -> Nanos {
        self.requests[self.requests.len() - 1].0
    }

    /// The part of the lateness for a request of that length that is the exit from an idle state: what the median has beyond
    /// the rule's delay and beyond that of a shorter request, whose processor idled less deeply. Zero if no shorter one was
    /// measured.
    pub(super) fn idle_exit(&self, requested: Nanos, put_off: impl Fn(Nanos) -> Nanos) -> Nanos {
        let beyond = |(request, late): &(Nanos, Spread)| late.quantile(0.5) - put_off(*request);
        let (near, _) = self.around(requested);
        let shorter = self.requests.iter().filter(|(request, _)| *request <= near.0).map(beyond).min();
        (beyond(near) - shorter.unwrap_or_default()).max(Nanos::ZERO)
    }

    /// Draws a lateness for a request of that length. Between measured requests it is the same quantile of both,
    /// weighted by distance. Beyond them, and under changed settings, the rule's delay changes, and the rest of the
    /// measured lateness stays.
    pub(super) fn draw(&self, requested: Nanos, random: &Random, put_off: impl Fn(When, Nanos) -> Nanos) -> Nanos {
        let probability = random.unit();
        let (near, other) = self.around(requested);
        let mut late = near.1.quantile(probability);
        let mut was = put_off(When::Learned, near.0);
        if let Some((at, spread)) = other {
            let share = (requested - near.0).0 as f64 / (*at - near.0).0 as f64;
            late = late + Nanos(((spread.quantile(probability) - late).0 as f64 * share) as i64);
            was = put_off(When::Learned, requested);
        }
        let change = put_off(When::Now, requested) - was;
        if change >= Nanos::ZERO {
            return late + change;
        }
        // Other interrupts may end a wait before its slack is used up. How much of such a lateness was the wake-up is
        // unknown: at least as much as in the fastest wait that used its whole slack. No timer becomes early because of it.
        let beyond = late_at(&near.1).map(|late| late - put_off(When::Learned, near.0));
        let least = beyond.filter(|&wake| wake > Nanos::ZERO).min().unwrap_or(Nanos::ZERO);
        (late + change).max(late.min(least))
    }

    /// The measured request nearest to this one, and the next one on the other side, if there is one.
    fn around(&self, requested: Nanos) -> (&(Nanos, Spread), Option<&(Nanos, Spread)>) {
        let after = self.requests.iter().position(|&(at, _)| at >= requested);
        match after {
            None => (&self.requests[self.requests.len() - 1], None),
            Some(0) => (&self.requests[0], None),
            Some(after) => {
                let (low, high) = (&self.requests[after - 1], &self.requests[after]);
                if requested - low.0 < high.0 - requested { (low, Some(high)) } else { (high, Some(low)) }
            }
        }
    }
}

/// The conditions under which the rule computes a delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// Those of the measurement.
    Learned,
    /// The present ones.
    Now,
}

/// The lateness at several shares of a wait's values, finely enough to find the smallest beyond the slack.
fn late_at(spread: &Spread) -> impl Iterator<Item = Nanos> + '_ {
    const SHARES: u32 = 20;
    (0..=SHARES).map(|share| spread.quantile(f64::from(share) / f64::from(SHARES)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_between_the_measured_ones_lie_between_them() {
        let fixed = |ns| Spread::fixed(Nanos(ns));
        let measured = vec![(Nanos(1_000_000), fixed(60_000)), (Nanos(3_000_000), fixed(80_000))];
        let learned = Learned::new(measured, Some(Nanos(50_000))).unwrap();
        let random = Random::seeded(1);
        let slack = |_: When, _: Nanos| Nanos(50_000);
        let late = |request| learned.draw(Nanos(request), &random, slack);
        assert_eq!([1_000, 2_000_000, 9_000_000].map(late), [60_000, 70_000, 80_000].map(Nanos));
        assert_eq!(learned.slack(), Some(Nanos(50_000)));
        assert_eq!(Learned::new(Vec::new(), None), None);
    }

    #[test]
    fn beyond_what_was_measured_and_under_other_slack_the_rule_says_what_changes() {
        let measured = vec![(Nanos(1_000_000), Spread::uniform(Nanos(38_000), Nanos(70_000)))];
        let learned = Learned::new(measured, Some(Nanos(50_000))).unwrap();
        let random = Random::seeded(1);
        let lates = |request: i64, slack: i64| {
            // A share of 0.1 % if that is more than the slack.
            let rule = |when: When, span: Nanos| {
                Nanos(span.0 / 1_000).max(Nanos(if when == When::Now { slack } else { 50_000 }))
            };
            let late: Vec<i64> = (0..1_000).map(|_| learned.draw(Nanos(request), &random, rule).0).collect();
            (*late.iter().min().unwrap(), *late.iter().max().unwrap())
        };
        let is_near = |(least, most): (i64, i64), wanted: (i64, i64)| {
            assert!((least - wanted.0).abs() < 300 && (most - wanted.1).abs() < 300, "{least} to {most}");
        };
        is_near(lates(1_000_000, 50_000), (38_000, 70_000));
        is_near(lates(1_000_000, 1_050_000), (1_038_000, 1_070_000));
        is_near(lates(500_000_000, 50_000), (488_000, 520_000));
        // 0.1 % of 1 ms remain; the fastest wake-up beyond the slack took 0.8 µs.
        is_near(lates(1_000_000, 1), (800, 21_000));
    }
}
