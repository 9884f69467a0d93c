//! The counts of a histogram as HdrHistogram V2 codes them: one number per bucket, zig-zag coded as LEB128 of at most nine
//! bytes, in which a negative number stands for that many empty buckets.

use std::borrow::Cow;

use super::buckets::BUCKETS;

/// The longest encoding of a number.
const NUMBER_BYTES_MAX: usize = 9;

/// So many buckets are looked at together: one instruction reads several of them.
const AHEAD: usize = 64;

/// Filled buckets in ascending order, with their counts.
pub enum Filled<'a> {
    /// From a counter for each bucket.
    Dense {
        /// A counter for each bucket.
        counts: &'a [u64],
        /// The next bucket to look at.
        bucket: usize,
    },
    /// From coded counts.
    Coded {
        /// The coded counts.
        coded: Cow<'a, [u8]>,
        /// The position of the next number.
        at: usize,
        /// The bucket of that number.
        bucket: usize,
    },
}

impl<'a> Filled<'a> {
    pub fn dense(counts: &'a [u64]) -> Filled<'a> {
        Filled::Dense { counts, bucket: 0 }
    }

    pub fn coded(coded: Cow<'a, [u8]>) -> Filled<'a> {
        Filled::Coded { coded, at: 0, bucket: 0 }
    }
}

impl Iterator for Filled<'_> {
    type Item = (usize, u64);

    fn next(&mut self) -> Option<(usize, u64)> {
        match self {
            // Most buckets are empty.
            Filled::Dense { counts, bucket } => {
                let is_empty = |ahead: &&[u64]| ahead.iter().fold(0, |some, count| some | count) == 0;
                while counts.get(*bucket..*bucket + AHEAD).as_ref().is_some_and(is_empty) {
                    *bucket += AHEAD;
                }
                while *bucket < counts.len() {
                    let (this, count) = (*bucket, counts[*bucket]);
                    *bucket += 1;
                    if count > 0 {
                        return Some((this, count));
                    }
                }
                None
            }
            Filled::Coded { coded, at, bucket } => loop {
                let (number, length) = number(&coded[*at..])?;
                *at += length;
                let this = *bucket;
                match number {
                    0 => *bucket += 1,
                    1.. => {
                        *bucket += 1;
                        return Some((this, number.unsigned_abs()));
                    }
                    _ => *bucket = bucket.saturating_add(usize::try_from(number.unsigned_abs()).unwrap_or(usize::MAX)),
                }
            },
        }
    }
}

/// A fault in coded counts.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The bytes end within a number.
    #[error("it ends within a number")]
    CutOff,
    /// A count, or a run of empty buckets, beyond the last bucket.
    #[error("it has more buckets than a histogram")]
    BeyondTheLast,
    /// Their total exceeds its range.
    #[error("it has more values than can be counted")]
    TooMany,
}

/// The total of coded counts.
///
/// # Errors
/// The counts can't come from a histogram with these buckets.
pub fn check(coded: &[u8]) -> Result<u64, Fault> {
    let (mut at, mut bucket, mut total) = (0, 0_usize, 0_u64);
    while at < coded.len() {
        let (number, length) = number(&coded[at..]).ok_or(Fault::CutOff)?;
        at += length;
        let buckets = if number < 0 { usize::try_from(number.unsigned_abs()).unwrap_or(usize::MAX) } else { 1 };
        bucket = bucket.checked_add(buckets).filter(|&bucket| bucket <= BUCKETS).ok_or(Fault::BeyondTheLast)?;
        total = total.checked_add(u64::try_from(number).unwrap_or(0)).ok_or(Fault::TooMany)?;
    }
    Ok(total)
}

/// Encodes filled buckets, up to the last of them. A histogram without values is one empty bucket.
pub fn encode(filled: impl Iterator<Item = (usize, u64)>) -> Vec<u8> {
    let (mut coded, mut next) = (Vec::new(), 0);
    for (bucket, count) in filled {
        match bucket - next {
            0 => {}
            1 => push(&mut coded, 0),
            empty => push(&mut coded, -(empty as i64)),
        }
        push(&mut coded, i64::try_from(count).unwrap_or(i64::MAX));
        next = bucket + 1;
    }
    if coded.is_empty() {
        push(&mut coded, 0);
    }
    coded
}

/// Appends a number.
pub fn push(coded: &mut Vec<u8>, number: i64) {
    let mut rest = ((number << 1) ^ (number >> 63)) as u64;
    for _ in 1..NUMBER_BYTES_MAX {
        if rest < 0x80 {
            coded.push(rest as u8);
            return;
        }
        coded.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    coded.push(rest as u8);
}

/// The first number and its length in bytes; `None` if the bytes end before it does.
pub fn number(coded: &[u8]) -> Option<(i64, usize)> {
    let mut zig_zag = 0_u64;
    for (place, &byte) in coded.iter().take(NUMBER_BYTES_MAX).enumerate() {
        let is_last = byte < 0x80 || place == NUMBER_BYTES_MAX - 1;
        let bits = if place == NUMBER_BYTES_MAX - 1 { byte } else { byte & 0x7f };
        zig_zag |= u64::from(bits) << (7 * place);
        if is_last {
            return Some(((zig_zag >> 1) as i64 ^ -((zig_zag & 1) as i64), place + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_beyond_what_a_histogram_has_are_refused() {
        let coded = |numbers: &[i64]| {
            let mut coded = Vec::new();
            numbers.iter().for_each(|&number| push(&mut coded, number));
            coded
        };
        let last = BUCKETS as i64 - 1;
        assert_eq!(check(&coded(&[-last, 7])), Ok(7));
        assert_eq!(check(&coded(&[-last, 7, 1])), Err(Fault::BeyondTheLast));
        assert_eq!(check(&coded(&[-last - 2])), Err(Fault::BeyondTheLast));
        assert_eq!(check(&coded(&[i64::MIN])), Err(Fault::BeyondTheLast), "nine bytes of ones");
        assert_eq!(check(&coded(&[i64::MAX, i64::MAX, 2])), Err(Fault::TooMany));
        assert_eq!(check(&coded(&[300])[..1]), Err(Fault::CutOff));
        assert_eq!(check(&[]), Ok(0));
    }

    proptest::proptest! {
        #[test]
        fn numbers_come_back(number in proptest::prelude::any::<i64>(), shift in 0_u32..64) {
            let mut coded = Vec::new();
            push(&mut coded, number >> shift);
            proptest::prop_assert_eq!(super::number(&coded), Some((number >> shift, coded.len())));
        }
    }
}
