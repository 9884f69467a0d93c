//! Base and new measured in turns, pair by pair.
//!
//! The interval is that of the order statistics of the pairs' ratios (the sign test), so no distribution is assumed and one
//! disturbed pair can't move it. There are at most eight looks, and the 1 % of error is divided among them and among all
//! that is judged together.

use oversleep_record::Nanos;
use oversleep_record::assertion::{Judged, Unit};
use oversleep_record::quantile_interval::highest_exactly;
use oversleep_record::words::counted;

use super::judge::{begun, decided};
use super::turn::VALUES_MIN;
use super::{Assertion, Op, figures::Estimate};

/// The numbers of pairs at which one may look.
pub const LOOKS: [usize; 8] = [11, 14, 18, 24, 32, 43, 57, 76];
/// The error of all looks together.
const ERROR: f64 = 0.01;

/// The ratios of alternated pairs.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    ratios: Vec<f64>,
}

impl Pairs {
    /// Adds a pair. One without a figure above zero says nothing, and false is returned.
    pub fn add(&mut self, base: f64, new: f64) -> bool {
        let is_usable = base > 0.0 && new > 0.0 && (new / base).is_finite();
        if is_usable {
            self.ratios.push(new / base);
        }
        is_usable
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ratios.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ratios.is_empty()
    }

    /// Whether one may look now. Looking more often would make errors more likely.
    pub fn is_look(&self) -> bool {
        LOOKS.contains(&self.ratios.len())
    }

    /// Where the ratio lies, from the pairs up to the last permitted look; so many things are judged together.
    pub fn interval(&self, together: usize) -> Option<(f64, f64, f64)> {
        let count = LOOKS.iter().rev().copied().find(|&look| look <= self.ratios.len())?;
        let mut sorted = self.ratios[..count].to_vec();
        sorted.sort_by(f64::total_cmp);
        let beyond = outside(count, error(together))?;
        Some((sorted[beyond], sorted[(count - 1) / 2], sorted[count - 1 - beyond]))
    }

    /// The verdict on a ratio of at most 1 and the tolerance, where a pair takes that long.
    pub fn judge(
        &self,
        assertion: &Assertion,
        about: String,
        tolerance: f64,
        together: usize,
        pair_ns: Nanos,
    ) -> Judged {
        let begun = begun(assertion, about);
        let pairs = self.ratios.len();
        let Some((low, value, high)) = self.interval(together) else {
            let needed = needed(together);
            let message = format!("{pairs} of the {needed} pairs that it needs; {}", more_time(needed, pair_ns));
            return Judged { message, ..begun };
        };
        let estimate = Estimate { value, low, high, unit: Unit::Ratio, note: None };
        let most = LOOKS[LOOKS.len() - 1];
        let more = |times: Option<f64>| match times.map(|times| (times * pairs as f64).ceil()) {
            Some(needed) if needed <= most as f64 => {
                let look = LOOKS.into_iter().find(|&look| look as f64 >= needed).unwrap_or(most);
                format!("; about {look} pairs would decide it, {}", more_time(look, pair_ns))
            }
            _ => format!("; {most} pairs would hardly decide it, let each run make more waits"),
        };
        let mut judged = decided(begun, &estimate, Op::AtMost, 1.0 + tolerance, more);
        judged.message += &format!(" ({pairs} pairs)");
        judged
    }
}

/// The fewest pairs that decide anything, if so many things are judged together.
fn needed(together: usize) -> usize {
    LOOKS.into_iter().find(|&look| outside(look, error(together)).is_some()).unwrap_or(LOOKS[LOOKS.len() - 1])
}

/// The error of one look at one thing, on one side.
fn error(together: usize) -> f64 {
    ERROR / LOOKS.len() as f64 / 2.0 / together.max(1) as f64
}

/// What to give for so many pairs, none of which takes longer than this.
fn more_time(pairs: usize, pair_ns: Nanos) -> String {
    let all_ns = (pairs as u64).saturating_mul(pair_ns.0.unsigned_abs());
    format!("give --within {}s", all_ns.div_ceil(1_000_000_000))
}

/// What is said of an assertion about something that so few pairs of runs have on both sides.
pub fn seldom(assertion: &Assertion, pairs: usize, turns: usize) -> Judged {
    let message = match pairs {
        0 => format!(
            "no pair of runs has it on both sides ({}); a run has to make it {VALUES_MIN} times",
            counted(turns, "pair")
        ),
        _ => format!("only {pairs} of {turns} pairs of runs have it on both sides"),
    };
    Judged { message, ..begun(assertion, assertion.text.clone()) }
}

/// How many of so many values may lie outside of an interval on one side, so that the median lies beyond that end with this
/// probability at most.
fn outside(count: usize, error: f64) -> Option<usize> {
    let outside = highest_exactly(count as u64, 0.5, error)?;
    usize::try_from(outside).ok()
}

#[cfg(test)]
mod tests {
    use super::super::Claim;
    use super::*;

    #[test]
    fn every_look_has_an_interval_and_the_first_is_the_least() {
        // From the sums of the binomial with p = 1/2.
        assert_eq!(outside(10, 0.000_625), None);
        assert_eq!(LOOKS.map(|look| outside(look, 0.000_625)), [0, 0, 1, 3, 6, 10, 15, 23].map(Some));
    }

    #[test]
    fn what_is_not_decided_says_for_how_long_to_measure() {
        let claim = Claim::Fact { name: String::new(), value: String::new(), is_equal: true };
        let assertion = Assertion { text: "why(*)".to_owned(), place: None, claim };
        let message = |ratios: &[f64], together: usize| {
            let mut pairs = Pairs::default();
            ratios.iter().for_each(|&ratio| _ = pairs.add(1.0, ratio));
            pairs.judge(&assertion, String::new(), 0.25, together, Nanos::from_millis(2_100)).message
        };
        assert_eq!(message(&[1.0], 1), "1 of the 11 pairs that it needs; give --within 24s");
        assert_eq!(message(&[1.0; 13], 2), "13 of the 14 pairs that it needs; give --within 30s");
        assert_eq!(message(&[1.0; 14], 11), "14 of the 18 pairs that it needs; give --within 38s");
        let spread: Vec<f64> = (0..14).map(|at| 0.8 + f64::from(at) * 0.045).collect();
        let undecided = message(&spread, 1);
        assert!(undecided.contains("; about 57 pairs would decide it, give --within 120s"), "{undecided}");
    }

    #[test]
    fn two_equal_sides_are_seldom_told_apart() {
        // 2,000 gates of pairs whose ratio is 1 in the middle, by a linear congruential generator.
        let mut state = 7_u64;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / f64::from(1_u32 << 31)
        };
        let wrong = (0..2_000).filter(|_| {
            let mut pairs = Pairs::default();
            (0..LOOKS[7]).any(|_| {
                pairs.add(1.0, (draw() - 0.5).exp());
                pairs.is_look() && pairs.interval(1).is_some_and(|(low, _, high)| low > 1.0 || high < 1.0)
            })
        });
        let wrong = wrong.count();
        assert!(wrong <= 20, "{wrong} of 2,000");
    }
}
