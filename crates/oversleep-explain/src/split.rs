//! The parts of each wait's lateness, as rows for bars and tables.

use oversleep_record::series::Quantity;
use oversleep_record::split::LatenessSplit;
use oversleep_record::stats::VALUES_MIN;
use oversleep_record::words::list;
use oversleep_record::{Distribution, Nanos, ResultFile, Series, SeriesKey};

use crate::read::{sleeps_of, wait_series};

/// One figure per part of a wait's lateness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The whole lateness.
    pub total: Nanos,
    /// From the deadline until the thread was runnable: rounding, slack, timer, waking.
    pub timer: Nanos,
    /// While the thread was runnable and waited for a CPU.
    pub run_queue: Nanos,
    /// From the switch-in (or from the deadline, where the thread was awake by then) to the program's clock read.
    pub wake_return: Nanos,
}

impl Parts {
    /// The total minus the parts. For means it is only a rounding error; medians don't add up.
    pub fn remainder(&self) -> Nanos {
        self.total - self.timer - self.run_queue - self.wake_return
    }
}

/// The split of one series.
#[derive(Clone, Debug, PartialEq)]
pub struct SplitRow {
    /// Key of the series.
    pub series: SeriesKey,
    /// Registry name of the wait.
    pub wait: String,
    /// What was requested.
    pub requested_ns: Option<Nanos>,
    /// The median of each part.
    pub medians: Parts,
    /// The 99th percentile of each part, which don't add up; `None` with too few waits.
    pub p99s: Option<Parts>,
    /// The mean of each part; they add up to the mean total.
    pub means: Parts,
    /// The median time awake before the deadline, for a wait that usually is, because it ends by spinning. It isn't
    /// part of the lateness.
    pub awake_before: Option<Nanos>,
    /// Waits whose parts are all known.
    pub attributed_count: u64,
    /// Waits with an unknown part; none of the figures includes them.
    pub unattributed_count: u64,
    /// The method of observation.
    pub method: String,
}

impl SplitRow {
    /// Whether most of its waits could not be split.
    fn is_barely_seen(&self) -> bool {
        self.attributed_count < self.unattributed_count
    }
}

/// The split of one series; `None` if none was observed.
pub fn row(series: &Series) -> Option<SplitRow> {
    row_of(series.split.as_ref()?, series.key.as_str(), &series.subject, series.requested_ns)
}

fn row_of(split: &LatenessSplit, key: &str, wait: &str, requested_ns: Option<Nanos>) -> Option<SplitRow> {
    let parts = |figure: fn(&Distribution) -> Option<Nanos>| {
        Some(Parts {
            total: figure(&split.total)?,
            timer: figure(&split.timer)?,
            run_queue: figure(&split.run_queue)?,
            wake_return: figure(&split.wake_return)?,
        })
    };
    Some(SplitRow {
        series: key.into(),
        wait: wait.to_owned(),
        requested_ns,
        medians: parts(|distribution| distribution.p50().map(Nanos))?,
        p99s: parts(|distribution| distribution.safe_quantile(0.99).map(Nanos)),
        means: parts(|distribution| distribution.mean().map(|mean| Nanos(mean.round() as i64)))?,
        awake_before: usual_spin(split),
        attributed_count: split.attributed_count,
        unattributed_count: split.unattributed_count,
        method: split.method.clone(),
    })
}

/// The median time awake before the deadline, where most waits had some.
fn usual_spin(split: &LatenessSplit) -> Option<Nanos> {
    let is_usual = split.awake_before.count().saturating_mul(2) > split.attributed_count;
    split.awake_before.p50().filter(|_| is_usual).map(Nanos)
}

/// The split of the simplest sleep; if too few of its waits were split, that of all plain sleeps together, which take
/// the same path through the kernel. `None` if the run queue has more than the whole lateness: then the kernel has no
/// finer clock and counts it in ticks.
pub(crate) fn of_sleeps(file: &ResultFile) -> Option<SplitRow> {
    split_of_sleeps(file).filter(|row| row.medians.run_queue <= row.medians.total)
}

fn split_of_sleeps(file: &ResultFile) -> Option<SplitRow> {
    let split: Vec<&Series> = sleeps_of(file)
        .iter()
        .filter_map(|wait| wait_series(file, wait))
        .filter(|series| series.split.is_some())
        .collect();
    let simplest = row(split.first()?);
    if simplest.as_ref().is_some_and(|row| row.attributed_count >= VALUES_MIN) {
        return simplest;
    }
    let alike: Vec<&&Series> = split.iter().filter(|series| series.requested_ns == split[0].requested_ns).collect();
    let pool = pooled(alike.iter().filter_map(|series| series.split.as_ref()));
    let keys = list(&alike.iter().map(|series| series.key.as_str()).collect::<Vec<_>>());
    let name = if alike.len() == 1 { split[0].subject.as_str() } else { "a plain sleep" };
    row_of(&pool, &keys, name, split[0].requested_ns)
}

/// The splits of several series as one.
pub(crate) fn pooled<'a>(splits: impl IntoIterator<Item = &'a LatenessSplit>) -> LatenessSplit {
    let mut pool = LatenessSplit::default();
    for part in splits {
        pool.attributed_count += part.attributed_count;
        pool.unattributed_count += part.unattributed_count;
        pool.total.merge(&part.total);
        pool.timer.merge(&part.timer);
        pool.run_queue.merge(&part.run_queue);
        pool.wake_return.merge(&part.wake_return);
        pool.awake_before.merge(&part.awake_before);
        pool.method.clone_from(&part.method);
    }
    pool
}

/// Every series with a split, by lateness, without those of [`barely_seen`].
pub fn rows(file: &ResultFile) -> Vec<SplitRow> {
    sorted(file, |row| !row.is_barely_seen())
}

/// Series with so few split waits that these aren't representative: in a wait that spins at its end, only the ones that
/// overslept are split.
pub fn barely_seen(file: &ResultFile) -> Vec<SplitRow> {
    sorted(file, SplitRow::is_barely_seen)
}

fn sorted(file: &ResultFile, belongs: fn(&SplitRow) -> bool) -> Vec<SplitRow> {
    let waits = file.series.iter().filter(|series| series.quantity == Quantity::Lateness);
    let mut rows: Vec<SplitRow> = waits.filter_map(row).filter(belongs).collect();
    rows.sort_by(|one, other| (one.medians.total, &one.series).cmp(&(other.medians.total, &other.series)));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Sheet, rounds};

    /// A series whose split has these parts in every one of 80 waits.
    fn with_split(key: &str, timer: i64, run_queue: i64, wake_return: i64) -> Series {
        let mut series = rounds(key, &[timer + run_queue + wake_return; 4], 20);
        let mut split = LatenessSplit { attributed_count: 80, unattributed_count: 2, ..LatenessSplit::default() };
        for _ in 0..80 {
            split.total.record(timer + run_queue + wake_return);
            split.timer.record(timer);
            split.run_queue.record(run_queue);
            split.wake_return.record(wake_return);
        }
        series.split = Some(split);
        series
    }

    #[test]
    fn rows_hold_the_parts_by_lateness() {
        let sheet = Sheet::linux()
            .series(with_split("B5/nanosleep/1ms", 52_000, 3_000, 11_000))
            .series(with_split("B5/timerfd/1ms", 2_000, 3_000, 11_000))
            .steady("B5/poll/1ms", 66_000);
        let rows = rows(&sheet.file);
        assert_eq!(rows.iter().map(|row| row.wait.as_str()).collect::<Vec<_>>(), ["timerfd", "nanosleep"]);
        assert_eq!(
            rows[1].medians,
            Parts { total: Nanos(66_000), timer: Nanos(52_000), run_queue: Nanos(3_000), wake_return: Nanos(11_000) }
        );
        assert_eq!(rows[1].means.remainder(), Nanos::ZERO);
        assert_eq!(rows[1].unattributed_count, 2);
    }

    #[test]
    fn a_few_of_many_waits_do_not_stand_for_all() {
        let mut few = with_split("B5/oversleep-sleep-until/1ms", 580_000, 0, 7_000);
        few.split.as_mut().unwrap().attributed_count = 2;
        few.split.as_mut().unwrap().unattributed_count = 16;
        let sheet = Sheet::linux().series(few).series(with_split("B5/timerfd/1ms", 2_000, 3_000, 11_000));
        let names = |rows: Vec<SplitRow>| rows.into_iter().map(|row| row.wait).collect::<Vec<_>>();
        assert_eq!(names(rows(&sheet.file)), ["timerfd"]);
        assert_eq!(names(barely_seen(&sheet.file)), ["oversleep-sleep-until"]);
    }

    #[test]
    fn a_wait_that_spins_at_its_end_is_not_late_by_its_spinning() {
        let mut series = rounds("B5/oversleep-sleep-until/1ms", &[60; 4], 20);
        let mut split = LatenessSplit::default();
        for _ in 0..80 {
            split.record(Nanos(1_000_000), Nanos(952_000), Nanos(2_000), Nanos(1_000_060));
        }
        series.split = Some(split);
        let row = row(&series).unwrap();
        let spun = Parts { total: Nanos(60), timer: Nanos::ZERO, run_queue: Nanos::ZERO, wake_return: Nanos(60) };
        assert_eq!((row.medians, row.awake_before), (spun, Some(Nanos(48_000))));
        let sleep = with_split("B5/nanosleep/1ms", 52_000, 3_000, 11_000);
        assert_eq!(super::row(&sleep).unwrap().awake_before, None);
    }

    #[test]
    fn an_empty_split_is_no_row() {
        let mut series = rounds("B5/nanosleep/1ms", &[66_000; 4], 20);
        series.split = Some(LatenessSplit { unattributed_count: 80, ..LatenessSplit::default() });
        assert_eq!(row(&series), None);
    }
}
