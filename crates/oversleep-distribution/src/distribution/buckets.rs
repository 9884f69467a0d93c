//! The buckets of HdrHistogram for 1 to 3.6e12 at three significant digits: exact up to 2,047, then 1,024 buckets for each
//! power of two.

/// The largest value with a bucket of its own (one hour in ns); larger ones count in its bucket.
pub const HIGHEST: u64 = 3_600_000_000_000;
/// Three significant digits: a value read back is within 0.1 % of the one recorded.
pub const SIGNIFICANT_DIGITS: u8 = 3;
/// The exponent of the first power of two whose values share buckets.
const EXACT_BITS: u32 = 11;
/// The number of buckets for each power of two beyond.
const HALF: u64 = 1 << (EXACT_BITS - 1);
/// Number of buckets.
pub const BUCKETS: usize = index_of(HIGHEST) / HALF as usize * HALF as usize + HALF as usize;

/// The bucket of a value, ignoring the upper limit.
const fn index_of(value: u64) -> usize {
    let shift = (u64::BITS - (value | (2 * HALF - 1)).leading_zeros()) - EXACT_BITS;
    ((shift as u64 * HALF) + (value >> shift)) as usize
}

/// The bucket in which a value counts.
pub fn bucket(value: u64) -> usize {
    let index = index_of(value);
    if index < BUCKETS { index } else { index_of(HIGHEST) }
}

/// The smallest and the largest value of a bucket.
pub fn bounds(bucket: usize) -> (u64, u64) {
    let bucket = bucket as u64;
    let shift = (bucket / HALF).saturating_sub(1);
    let low = (bucket - shift * HALF) << shift;
    (low, low + ((1 << shift) - 1))
}
