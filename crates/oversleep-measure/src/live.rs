//! The values of a round while it runs, for whoever shows them.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use oversleep_record::{Distribution, Nanos};

/// The figures of a series that isn't finished. Of a wait they are durations: the request plus the lateness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunningFigures {
    /// The smallest value.
    pub min: Nanos,
    /// The newest value.
    pub newest: Nanos,
    /// The 99th percentile, if ten values lie beyond it.
    pub p99: Option<Nanos>,
    /// The largest value.
    pub max: Nanos,
}

/// The values of a long round, shared with the thread that shows them. Noting one takes a few ns and no lock, and nothing is
/// computed in the thread that measures.
#[derive(Debug)]
pub(crate) struct LiveValues {
    shift: Nanos,
    newest: AtomicI64,
    min: AtomicI64,
    max: AtomicI64,
    counts: Box<[AtomicU64]>,
}

/// Below this many ns each value has a bucket of its own; from there on, each octave has this many.
const PER_OCTAVE: u64 = 128;
/// Enough for every positive value.
const BUCKETS: usize = 57 * PER_OCTAVE as usize;

impl LiveValues {
    /// Begins with the values of the earlier rounds. `shift` is added to each in the figures.
    pub(crate) fn after(earlier: &Distribution, newest: Option<i64>, shift: Nanos) -> LiveValues {
        let live = LiveValues {
            shift,
            newest: AtomicI64::new(newest.unwrap_or(0)),
            min: AtomicI64::new(earlier.min().unwrap_or(i64::MAX)),
            max: AtomicI64::new(earlier.max().unwrap_or(i64::MIN)),
            counts: (0..BUCKETS).map(|_| AtomicU64::new(0)).collect(),
        };
        earlier.buckets().for_each(|(value, count)| live.add(value, count));
        live
    }

    /// Notes a value. Only one thread does so at a time.
    #[inline]
    pub(crate) fn note(&self, value: i64) {
        self.newest.store(value, Ordering::Relaxed);
        if value < self.min.load(Ordering::Relaxed) {
            self.min.store(value, Ordering::Relaxed);
        }
        if value > self.max.load(Ordering::Relaxed) {
            self.max.store(value, Ordering::Relaxed);
        }
        self.add(value, 1);
    }

    #[inline]
    fn add(&self, value: i64, count: u64) {
        let counted = &self.counts[bucket(value)];
        counted.store(counted.load(Ordering::Relaxed) + count, Ordering::Relaxed);
    }

    /// The figures now. `None` without values.
    pub(crate) fn figures(&self) -> Option<RunningFigures> {
        let mut values = Distribution::new();
        for (bucket, count) in self.counts.iter().enumerate() {
            match count.load(Ordering::Relaxed) {
                0 => {}
                count => values.record_times(lowest(bucket), count),
            }
        }
        let load = |value: &AtomicI64| value.load(Ordering::Relaxed);
        let (min, max) = (load(&self.min), load(&self.max));
        let time = |value: i64| Nanos(value) + self.shift;
        (min <= max).then(|| RunningFigures {
            min: time(min),
            newest: time(load(&self.newest)),
            p99: values.safe_quantile(0.99).map(|value| time(value.clamp(min, max))),
            max: time(max),
        })
    }
}

/// The bucket of a value; all early ones share the first.
fn bucket(value: i64) -> usize {
    let value = u64::try_from(value).unwrap_or(0);
    let octave = (value | (PER_OCTAVE - 1)).ilog2() - (PER_OCTAVE - 1).ilog2();
    let above = octave.saturating_sub(1);
    (u64::from(above) * PER_OCTAVE + (value >> above)) as usize
}

/// The smallest value of a bucket.
fn lowest(bucket: usize) -> i64 {
    let bucket = bucket as u64;
    let above = (bucket / PER_OCTAVE).saturating_sub(1);
    i64::try_from((bucket - above * PER_OCTAVE) << above).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_in_its_bucket() {
        let mut last = None;
        let powers = (0..63)
            .flat_map(|shift| [(1_i64 << shift) - 1, 1 << shift, (1 << shift) + 1, (1 << shift) + (1 << shift >> 1)]);
        let mut values: Vec<i64> = powers.chain(0..70_000).chain([i64::MAX]).collect();
        values.sort_unstable();
        for value in values {
            let bucket = bucket(value);
            assert!(bucket < BUCKETS && last <= Some(bucket), "{value} {bucket}");
            last = Some(bucket);
            let lowest = lowest(bucket);
            assert!(lowest <= value && value - lowest <= value / PER_OCTAVE as i64, "{value} {lowest}");
        }
        assert_eq!((bucket(-5), bucket(0)), (0, 0));
    }
}
