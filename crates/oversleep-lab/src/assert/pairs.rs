//! Base and new measured in turns, pair by pair.
//!
//! The interval is that of the order statistics of the pairs' ratios (the sign test), so no distribution is assumed and one
//! disturbed pair can't move it. There are at most eight looks, and the 1 % of error is divided among them and among all
//! that is judged together.

use oversleep_record::assertion::{Judged, Unit};
use oversleep_record::quantile_interval::highest_exactly;

use super::judge::{begun, decided};
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
        let beyond = outside(count, ERROR / LOOKS.len() as f64 / 2.0 / together.max(1) as f64)?;
        Some((sorted[beyond], sorted[(count - 1) / 2], sorted[count - 1 - beyond]))
    }

    /// The verdict on a ratio of at most 1 and the tolerance.
    pub fn judge(&self, assertion: &Assertion, about: String, tolerance: f64, together: usize) -> Judged {
        let begun = begun(assertion, about);
        let pairs = self.ratios.len();
        let Some((low, value, high)) = self.interval(together) else {
            let message = format!("{pairs} pairs of the {} that it needs; give --within more time", LOOKS[0]);
            return Judged { message, ..begun };
        };
        let estimate = Estimate { value, low, high, unit: Unit::Ratio, note: None };
        let most = LOOKS[LOOKS.len() - 1];
        let more = |times: Option<f64>| match times.map(|times| (times * pairs as f64).ceil()) {
            Some(needed) if needed <= most as f64 => {
                format!("; about {needed:.0} pairs would decide it, give --within more time")
            }
            _ => format!("; {most} pairs would hardly decide it, let each run make more waits"),
        };
        let mut judged = decided(begun, &estimate, Op::AtMost, 1.0 + tolerance, more);
        judged.message += &format!(" ({pairs} pairs)");
        judged
    }
}

/// What is said of an assertion about something that so few pairs of runs have on both sides.
pub fn seldom(assertion: &Assertion, pairs: usize, turns: usize) -> Judged {
    let message = match pairs {
        0 => format!("no pair of runs has it on both sides ({turns} pairs)"),
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
    use super::*;

    #[test]
    fn every_look_has_an_interval_and_the_first_is_the_least() {
        // From the sums of the binomial with p = 1/2.
        assert_eq!(outside(10, 0.000_625), None);
        assert_eq!(LOOKS.map(|look| outside(look, 0.000_625)), [0, 0, 1, 3, 6, 10, 15, 23].map(Some));
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
