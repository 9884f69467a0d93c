//! What the lateness would be without one of its parts.

use oversleep_record::part::Part;
use oversleep_record::{Distribution, Nanos, ResultFile};

use super::pooled;
use super::share::in_words;
use crate::observed::Kind;

/// The points at which the values of a part are taken.
const POINTS: u64 = 1_000;
/// The gain that is worth a sentence.
const GAIN_MIN: f64 = 0.1;

/// A figure of the lateness as it is, and as it would be without one part. Computed, not tried.
///
/// The mean is exact, since the means of the parts add up. A percentile of what is left can't be known from the
/// distributions of the parts alone. It is taken as if the remaining parts of waits of one kind were long together: the nth
/// longest of each part in the nth latest wait. That is the most spread that these parts allow. Waits of different kinds are
/// mixed as they are, and no wait gets later than it is.
///
/// Of the recording that is kept for tests (`oversleep-why/tests/recorded`), this says that p90 would be about 98 µs without
/// waiting for a CPU. Recorded again with nothing else to run, it was 91 µs.
#[derive(Clone, Debug, PartialEq)]
pub struct Without {
    /// The part that would be gone.
    pub part: Part,
    /// Whether it is the kernel's tick, and not the slack of threads.
    pub is_tick: bool,
    /// Which figure: `p99`, `p90`, `the mean`.
    pub figure: &'static str,
    /// What it is.
    pub before: Nanos,
    /// What it would be.
    pub after: Nanos,
}

impl Without {
    /// The highest percentile with at least ten waits beyond it that would change, or the mean. `None` if none would fall by
    /// a tenth, or if not all waits are known.
    pub(super) fn of(file: &ResultFile, kinds: &[Kind<'_>], part: Part, is_tick: bool) -> Option<Without> {
        // Of a selection, those that would no longer be late would not be selected either.
        let observation = file.observation.as_ref()?;
        let is_selection = observation.left_out != 0;
        // Of waits for a CPU that alone were recorded, nothing would be left.
        let is_all = [Part::Timer, Part::Slack, Part::Ret].iter().all(|part| observation.unseen.contains(part));
        let is_split = |kind: &Kind<'_>| kind.split.count() == kind.count();
        if is_selection || is_all || matches!(part, Part::Unattributed | Part::Timer) || !kinds.iter().all(is_split) {
            return None;
        }
        let all = pooled(kinds);
        let is_gone = |kind: &Kind<'_>, of: Part| of == part && (of != Part::Slack || kind.is_on_tick() == is_tick);
        let left = left_without(kinds, is_gone);
        let quantiles = [("p99", 0.99), ("p90", 0.9)].into_iter().filter_map(|(figure, quantile)| {
            let (before, after) = (all.safe_quantile(quantile)?, quantile_of(&left, quantile)?);
            Some(Without { part, is_tick, figure, before: Nanos(before), after: Nanos(after.min(before)) })
        });
        let gone =
            kinds.iter().filter(|kind| is_gone(kind, part)).map(|kind| kind.sum(part)).fold(0, i128::saturating_add);
        let means = mean_without(&all, gone).map(|(before, after)| Without {
            part,
            is_tick,
            figure: "the mean",
            before,
            after,
        });
        quantiles.chain(means).find(Without::is_gain)
    }

    fn is_gain(&self) -> bool {
        (self.after.0.max(0) as f64) <= self.before.0 as f64 * (1.0 - GAIN_MIN)
    }
}

/// `Without waiting for a CPU, p99 would be about 180 µs instead of 9.2 ms: computed from the parts, not tried.`
impl Without {
    /// What would be gone, in words.
    pub fn what(&self) -> &'static str {
        in_words(self.part, self.is_tick)
    }
}

impl std::fmt::Display for Without {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (part, figure, before, after) = (self.what(), self.figure, self.before, self.after);
        write!(
            f,
            "Without {part}, {figure} would be about {after} instead of {before}: computed from the parts, not tried."
        )
    }
}

/// The mean of all waits as it is and without so much of their sum. Means of parts add up, so this is exact.
fn mean_without(all: &Distribution, gone: i128) -> Option<(Nanos, Nanos)> {
    let mean = |sum: i128| Nanos((sum as f64 / all.count() as f64).round() as i64);
    let before = all.sum();
    (!all.is_empty()).then(|| (mean(before), mean(before.saturating_sub(gone))))
}

/// Values of what is left of each wait, each with the number of waits that it stands for, in ascending order.
fn left_without(kinds: &[Kind<'_>], is_gone: impl Fn(&Kind<'_>, Part) -> bool) -> Vec<(i64, f64)> {
    let mut all = Vec::new();
    for kind in kinds {
        let points = usize::try_from(kind.count().min(POINTS)).unwrap_or(0);
        let late = evenly(&kind.series.distribution, points);
        let mut left = vec![0_i64; points];
        for values in kind.split.parts.iter().filter(|(part, _)| !is_gone(kind, **part)).map(|(_, values)| values) {
            left.iter_mut().zip(evenly(values, points)).for_each(|(sum, value)| *sum = sum.saturating_add(value));
        }
        let weight = kind.count() as f64 / points.max(1) as f64;
        all.extend(left.into_iter().zip(late).map(|(left, late)| (left.min(late), weight)));
    }
    all.sort_by_key(|&(value, _)| value);
    all
}

/// So many values of a distribution, at equal distances by rank, in ascending order.
fn evenly(values: &Distribution, points: usize) -> Vec<i64> {
    let (count, points) = (u128::from(values.count()), points as u128);
    let (min, max) = (values.min().unwrap_or(0), values.max().unwrap_or(0));
    let mut taken: Vec<i64> = Vec::new();
    let mut seen = 0_u128;
    for (value, times) in values.buckets() {
        seen += u128::from(times);
        // The middle of each of the equal shares.
        while (taken.len() as u128) < points && (2 * taken.len() as u128 + 1) * count <= 2 * points * seen {
            taken.push(value.clamp(min, max));
        }
    }
    taken
}

fn quantile_of(values: &[(i64, f64)], quantile: f64) -> Option<i64> {
    let all: f64 = values.iter().map(|(_, weight)| weight).sum();
    let mut seen = 0.0;
    values
        .iter()
        .find(|(_, weight)| {
            seen += weight;
            seen >= all * quantile - 1e-9
        })
        .map(|&(value, _)| value)
}

#[cfg(test)]
mod tests {
    use oversleep_record::part::Parts;
    use oversleep_record::testing::Sheet;

    use super::*;
    use crate::observed::kinds;
    use crate::observed::testing::waits;

    #[test]
    fn a_percentile_is_the_smallest_value_that_its_share_does_not_exceed() {
        let values = [(1, 90.0), (2, 9.0), (3, 1.0)];
        assert_eq!([0.5, 0.9, 0.91, 0.99, 1.0].map(|at| quantile_of(&values, at)), [1, 1, 2, 2, 3].map(Some));
        assert_eq!(quantile_of(&[], 0.5), None);
    }

    #[test]
    fn no_wait_gets_later_than_it_is() {
        // Half of the waits have a long slack, the others a long return.
        let mut series = waits(1, 50, Parts { slack: 60_000, ret: 1_000, ..Parts::default() });
        let other = Parts { slack: 1_000, ret: 40_000, ..Parts::default() };
        for _ in 0..50 {
            series.distribution.record(other.sum());
            series.why.as_mut().expect("it is split").record(&other);
        }
        let file = Sheet::linux().series(series).file;
        let left = left_without(&kinds(&file), |_, of| of == Part::Runq);
        let (least, most) = (left[0], left[left.len() - 1]);
        assert_eq!((left.len(), least, most), (100, (2_000, 1.0), (61_000, 1.0)));
    }
}
