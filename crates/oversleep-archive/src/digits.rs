//! Fewer digits: buckets of two significant digits are unions of those of three, so rows fold exactly.

use crate::row::{BEYOND, Row};

/// How many significant digits buckets keep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Digits {
    /// Within 0.1 %, as in results.
    #[default]
    Three,
    /// Within 0.8 %: a quarter to a third of the size.
    Two,
}

/// The exponent of the first power of two whose values share buckets, at two digits: HdrHistogram is exact up to 255 then,
/// and has 128 buckets for each power of two beyond.
const EXACT_BITS: u32 = 8;

/// The largest value of the bucket at two digits.
fn highest(value: i64) -> i64 {
    let magnitude = value.unsigned_abs();
    let bits = u64::BITS - magnitude.leading_zeros();
    let within = (1_u64 << bits.saturating_sub(EXACT_BITS)) - 1;
    let highest = i64::try_from(magnitude | within).unwrap_or(i64::MAX);
    if value < 0 { -highest } else { highest }
}

impl Row {
    /// The row with buckets of so many digits.
    #[must_use]
    pub fn with_digits(mut self, digits: Digits) -> Row {
        if digits == Digits::Three {
            return self;
        }
        let mut folded: Vec<(i64, i64)> = Vec::with_capacity(self.hi.len());
        for (&hi, &n) in self.hi.iter().zip(&self.n) {
            let hi = if hi == BEYOND { hi } else { highest(hi) };
            match folded.last_mut() {
                Some((last, count)) if *last == hi => *count = count.saturating_add(n),
                _ => folded.push((hi, n)),
            }
        }
        (self.hi, self.n) = folded.into_iter().unzip();
        self
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::Distribution;

    use super::*;

    proptest::proptest! {
        #[test]
        fn folding_equals_recording_with_two_digits(
            values in proptest::collection::vec((proptest::prelude::any::<i64>(), 22_u32..64), 0..200),
        ) {
            let mut recorded = Distribution::new();
            let mut reference = hdrhistogram::Histogram::<u64>::new_with_bounds(1, 3_600_000_000_000, 2).unwrap();
            for value in values.iter().map(|(value, shift)| (value >> shift).saturating_abs()) {
                recorded.record(value);
                reference.record(value.unsigned_abs()).unwrap();
            }
            let mut row = Row::default();
            row.set_values(&recorded);
            let row = row.with_digits(Digits::Two);
            let expected: Vec<(i64, i64)> = reference
                .iter_recorded()
                .map(|step| (step.value_iterated_to() as i64, step.count_at_value() as i64))
                .collect();
            proptest::prop_assert_eq!(row.hi.into_iter().zip(row.n).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn early_values_keep_their_side() {
        let mut row = Row::default();
        row.set_values(&{
            let mut values = Distribution::new();
            [-1_000, -1_001, -3, 0, 1_000].into_iter().for_each(|value| values.record(value));
            values
        });
        let folded = row.with_digits(Digits::Two);
        assert_eq!((folded.hi, folded.n), (vec![-1_003, -3, 0, 1_003], vec![2, 1, 1, 1]));
    }
}
