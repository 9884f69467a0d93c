//! How a runtime rounds a request before it calls the system.

use std::fmt;

use oversleep_record::Nanos;
use serde::{Deserialize, Serialize};

const MILLISECOND: i64 = 1_000_000;

/// How a runtime rounds a request before it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Rule {
    /// It passes nanoseconds through.
    #[serde(rename = "not")]
    Exact,
    /// Truncates to whole milliseconds.
    #[serde(rename = "down-to-zero")]
    Truncates,
    /// The same, but at least one millisecond.
    #[serde(rename = "down")]
    TruncatesToAtLeastOne,
    /// The next whole millisecond.
    #[serde(rename = "up")]
    RoundsUp,
    /// The nearest whole millisecond.
    #[serde(rename = "nearest")]
    RoundsToNearest,
    /// The same, but at least one millisecond.
    #[serde(rename = "nearest-at-least-one")]
    RoundsToNearestAtLeastOne,
    /// The deadline is rounded up to a grid of milliseconds that began at another time, and the call counts from the
    /// grid's last one: up to one more passes.
    #[serde(rename = "up-to-grid")]
    RoundsUpToGrid,
    /// Truncates to whole milliseconds what is left after some time has passed since the deadline was set, at least one: of
    /// five milliseconds it passes four, and then one.
    #[serde(rename = "rest-down")]
    TruncatesRest,
    /// The next whole millisecond, and one more.
    #[serde(rename = "up-and-one")]
    RoundsUpAndOne,
    /// Truncates to whole milliseconds, and adds one.
    #[serde(rename = "down-and-one")]
    TruncatesAndOne,
}

impl Rule {
    /// Whether it makes some requests shorter.
    pub fn may_shorten(self) -> bool {
        !matches!(self, Rule::Exact | Rule::RoundsUp | Rule::RoundsUpToGrid | Rule::TruncatesAndOne)
    }

    /// The rules that durations tell apart, each with a constant remainder, simplest first.
    pub const STEADY: [Rule; 5] =
        [Rule::Exact, Rule::Truncates, Rule::TruncatesToAtLeastOne, Rule::RoundsUp, Rule::RoundsToNearest];

    /// The request after rounding. On a grid, it is the span of a request that begins on it.
    pub fn rounded(self, requested: Nanos) -> Nanos {
        let ns = requested.0;
        let floor = ns / MILLISECOND * MILLISECOND;
        let nearest = ns.saturating_add(MILLISECOND / 2) / MILLISECOND * MILLISECOND;
        Nanos(match self {
            Rule::Exact => ns,
            Rule::Truncates => floor,
            Rule::TruncatesToAtLeastOne => floor.max(MILLISECOND),
            Rule::RoundsUp | Rule::RoundsUpToGrid => floor.saturating_add(if ns > floor { MILLISECOND } else { 0 }),
            Rule::RoundsToNearest => nearest,
            Rule::RoundsToNearestAtLeastOne if ns > 0 => nearest.max(MILLISECOND),
            Rule::RoundsToNearestAtLeastOne => 0,
            Rule::TruncatesRest => (ns.saturating_sub(1) / MILLISECOND * MILLISECOND).max(MILLISECOND),
            Rule::RoundsUpAndOne if ns > 0 => Rule::RoundsUp.rounded(requested).0.saturating_add(MILLISECOND),
            Rule::RoundsUpAndOne => 0,
            Rule::TruncatesAndOne => floor.saturating_add(MILLISECOND),
        })
    }

    /// What is passed to the call that is made `now`: it depends on the time only on a grid.
    pub fn passed(self, requested: Nanos, now: Nanos) -> Nanos {
        let phase = if self == Rule::RoundsUpToGrid { now.0.rem_euclid(MILLISECOND) } else { 0 };
        self.rounded(Nanos(requested.0.saturating_add(phase)))
    }

    /// Its rounding, as a clause after the call.
    pub fn clause(self) -> &'static str {
        match self {
            Rule::Exact => "",
            Rule::RoundsUp => ", rounded up to whole milliseconds",
            Rule::TruncatesToAtLeastOne => ", rounded down to whole milliseconds, at least one",
            Rule::Truncates => ", rounded down to whole milliseconds",
            Rule::RoundsToNearest => ", rounded to the nearest millisecond",
            Rule::RoundsToNearestAtLeastOne => ", rounded to the nearest millisecond, at least one",
            Rule::RoundsUpToGrid => ", its deadline rounded up to a grid of milliseconds, which adds up to one more",
            Rule::TruncatesRest => ", what is left of it rounded down to whole milliseconds, at least one",
            Rule::RoundsUpAndOne => ", rounded up to whole milliseconds, and one more",
            Rule::TruncatesAndOne => ", rounded down to whole milliseconds, and one more",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Rule::Exact => "exact",
            Rule::Truncates => "truncates to ms",
            Rule::TruncatesToAtLeastOne => "truncates to ms, at least 1 ms",
            Rule::RoundsUp => "rounds up to ms",
            Rule::RoundsToNearest => "rounds to the nearest ms",
            Rule::RoundsToNearestAtLeastOne => "rounds to the nearest ms, at least 1 ms",
            Rule::RoundsUpToGrid => "rounds up to ms, and up to 1 ms more",
            Rule::TruncatesRest => "truncates the rest to ms, at least 1 ms",
            Rule::RoundsUpAndOne => "rounds up to ms, and 1 ms more",
            Rule::TruncatesAndOne => "truncates to ms, and 1 ms more",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_less_than_half_a_millisecond_may_still_be_one() {
        let rounded = |rule: Rule| [0, 1, 499_999, 500_000, 1_499_999, 1_500_000].map(|ns| rule.rounded(Nanos(ns)).0);
        let millis = |all: [i64; 6]| all.map(|ms| ms * MILLISECOND);
        assert_eq!(rounded(Rule::RoundsToNearest), millis([0, 0, 0, 1, 1, 2]));
        assert_eq!(rounded(Rule::RoundsToNearestAtLeastOne), millis([0, 1, 1, 1, 1, 2]));
    }

    #[test]
    fn what_is_left_is_never_the_whole_and_one_more_is_never_added_to_nothing() {
        let rounded =
            |rule: Rule| [0, 1, 1_000_000, 1_000_001, 2_000_000, 5_000_000].map(|ns| rule.rounded(Nanos(ns)).0);
        assert_eq!(rounded(Rule::TruncatesRest), [1, 1, 1, 1, 1, 4].map(|ms| ms * MILLISECOND));
        assert_eq!(rounded(Rule::RoundsUpAndOne), [0, 2, 2, 3, 3, 6].map(|ms| ms * MILLISECOND));
        assert_eq!(rounded(Rule::TruncatesAndOne), [1, 1, 2, 2, 3, 6].map(|ms| ms * MILLISECOND));
    }

    #[test]
    fn a_grid_adds_what_has_passed_of_its_millisecond() {
        let passed = |ns, phase: i64| Rule::RoundsUpToGrid.passed(Nanos(ns), Nanos(7_000_000 + phase)).0;
        assert_eq!(
            [passed(1_000_000, 0), passed(1_000_000, 1), passed(1_000_000, 999_999)],
            [1_000_000, 2_000_000, 2_000_000]
        );
        assert_eq!([passed(1_500_000, 500_000), passed(1_500_000, 500_001)], [2_000_000, 3_000_000]);
        assert_eq!(Rule::RoundsUp.passed(Nanos(1_500_000), Nanos(999_999)), Nanos(2_000_000));
    }
}
