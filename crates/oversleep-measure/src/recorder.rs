//! A series being filled: its whole distribution, raw samples up to a cap, and its rounds.

use std::sync::Arc;

use oversleep_record::series::{Round, Series, Status};
use oversleep_record::{Disturbance, Nanos, Unavailable, stats};
use oversleep_system::{CounterReading, SharedPlatform};

use super::bench::Bench;
use super::live::LiveValues;
use super::pauses::Pauses;

/// The most raw samples of a series; the histogram has all values.
const RAW_SAMPLES_MAX: usize = 100_000;
/// The most raw samples of all series of one run together: 60 to 85 MB of memory, and 200 MB of file.
const RUN_SAMPLES_MAX: usize = 10_000_000;
/// A series without samples takes as much memory as this many samples.
const SAMPLES_PER_SERIES: usize = 900;
/// The most values that a round keeps for its median.
const ROUND_VALUES_MAX: usize = 8_192;

/// A series being filled. It allocates the memory for a round at the beginning of the round, so recording allocates nothing,
/// and releases the rest at the end: the series of all experiments are open at once, but each is used only briefly.
pub struct SeriesRecorder {
    series: Series,
    /// The most raw samples that it may keep.
    samples_max: usize,
    /// The number of samples that are expected.
    room: usize,
    /// The most values of a round so far.
    in_round: usize,
    round_start: Nanos,
    round_count: u64,
    /// Present if the values show stops.
    pauses: Option<Pauses>,
    round_values: Vec<i64>,
    newest: Option<i64>,
    /// Present in a round that shows its values meanwhile.
    live: Option<Arc<LiveValues>>,
}

impl SeriesRecorder {
    /// A recorder that fills `series` with about `expected` values.
    pub fn new(series: Series, expected: u64) -> SeriesRecorder {
        SeriesRecorder {
            series,
            samples_max: RAW_SAMPLES_MAX,
            room: usize::try_from(expected).unwrap_or(usize::MAX).min(RAW_SAMPLES_MAX),
            in_round: 0,
            round_start: Nanos::ZERO,
            round_count: 0,
            pauses: None,
            round_values: Vec::new(),
            newest: None,
            live: None,
        }
    }

    /// Limits the raw samples to a fair share in a run of that many series.
    pub fn share_among(&mut self, series_in_run: usize) {
        let share = RUN_SAMPLES_MAX / series_in_run.max(1);
        self.samples_max = self.samples_max.min(share.saturating_sub(SAMPLES_PER_SERIES));
        self.room = self.room.min(self.samples_max);
    }

    /// The series so far.
    pub fn series(&self) -> &Series {
        &self.series
    }

    /// The series, for labels, conditions and splits.
    pub fn series_mut(&mut self) -> &mut Series {
        &mut self.series
    }

    /// The newest value.
    pub(crate) fn newest(&self) -> Option<i64> {
        self.newest
    }

    /// Shares the values from now on with the thread that shows them, or with nobody.
    pub(crate) fn share_values(&mut self, live: Option<Arc<LiveValues>>) {
        self.live = live;
    }

    /// How many values are expected, or can be kept if those are fewer.
    pub(crate) fn expected(&self) -> usize {
        self.room
    }

    /// Records one value of a call that was made. `start` is since the run's origin.
    #[inline]
    pub fn record(&mut self, start: Nanos, value: i64) {
        self.add(start, value, false);
        if let Some(calls) = &mut self.series.calls_only {
            calls.record(value);
        }
    }

    /// Records a deadline that had passed before the call could be made.
    #[inline]
    pub fn record_missed(&mut self, deadline: Nanos, value: i64) {
        if self.series.calls_only.is_none() {
            self.series.calls_only = Some(self.series.distribution.clone());
        }
        self.add(deadline, value, true);
        self.series.counts.missed += 1;
    }

    #[inline]
    fn add(&mut self, start: Nanos, value: i64, missed: bool) {
        let series = &mut self.series;
        series.distribution.record(value);
        series.samples.push(self.samples_max, start.0, value, missed);
        series.counts.recorded += 1;
        series.counts.early += u64::from(value < 0);
        self.round_count += 1;
        self.newest = Some(value);
        if let Some(live) = &self.live {
            live.note(value);
        }
        if self.round_values.len() < ROUND_VALUES_MAX {
            self.round_values.push(value);
        }
        // The deadline plus the value gives the end of a missed one; a call ended later still.
        let end = start + Nanos(value.max(0));
        if let Some(pauses) = self.pauses.as_mut().filter(|pauses| pauses.is_due(end, value)) {
            pauses.look(end, value, &self.series);
        }
    }

    /// Counts a wait that a signal ended, unless the run is ending.
    pub fn count_interrupted(&mut self, bench: &Bench) {
        self.series.counts.interrupted += u64::from(!bench.stopped());
    }

    /// Counts a wait across which the clock went backward.
    pub fn count_backward(&mut self) {
        self.series.counts.backward += 1;
    }

    /// Adds deadlines that lay in the time measured.
    pub fn add_expected(&mut self, deadlines: u64) {
        *self.series.counts.expected.get_or_insert(0) += deadlines;
    }

    /// Begins a round. `at` is since the run's origin.
    pub fn begin_round(&mut self, at: Nanos) {
        let kept = self.series.samples.len();
        let left = self.room.saturating_sub(kept).max(self.in_round);
        self.series.samples.reserve(left.min(self.samples_max.saturating_sub(kept)));
        // Written once, because the system hands out pages at their first use.
        self.round_values.resize(self.room.max(self.in_round).min(ROUND_VALUES_MAX), 0);
        self.round_values.clear();
        self.round_start = at;
        self.round_count = 0;
    }

    /// Starts to watch the values of this round for stops.
    pub(crate) fn watch_pauses(&mut self, platform: SharedPlatform, counters: CounterReading) {
        self.pauses = Some(Pauses::watch(platform, self.round_start, counters));
    }

    /// How long this process was stopped in the round, by its values; `None` if they don't show it.
    pub(crate) fn stopped_in_round(&self) -> Option<Nanos> {
        self.pauses.as_ref().filter(|_| self.round_count > 0)?.stopped(&self.series)
    }

    /// Ends the round.
    pub fn end_round(&mut self, disturbance: Disturbance) {
        self.in_round = self.in_round.max(usize::try_from(self.round_count).unwrap_or(usize::MAX));
        let values = &mut std::mem::take(&mut self.round_values);
        let round = Round {
            start_ns: self.round_start,
            count: self.round_count,
            median: stats::median(values),
            p90: stats::percentile_of_round(values, 90),
            p99: stats::percentile_of_round(values, 99),
            disturbance,
        };
        self.series.rounds.push(round);
        self.series.shrink();
        self.pauses = None;
    }

    /// Notes a stop of this process in the last round.
    pub(crate) fn note_stopped(&mut self, stopped: Nanos) {
        if let Some(round) = self.series.rounds.last_mut() {
            let stalled = &mut round.disturbance.stalled_ns;
            *stalled = (*stalled).max(Some(stopped));
        }
    }

    /// How long this process was stopped in the last round, as far as this series shows.
    pub(crate) fn last_stopped(&self) -> Option<Nanos> {
        self.series.rounds.last()?.disturbance.stalled_ns
    }

    /// Notes that a stop of this process in the last round was no longer than this.
    pub(crate) fn note_stopped_at_most(&mut self, stopped: Nanos) {
        if let Some(round) = self.series.rounds.last_mut() {
            let stalled = &mut round.disturbance.stalled_ns;
            *stalled = stalled.map(|known| known.min(stopped));
        }
    }

    /// Marks the series as unavailable; earlier values are kept.
    pub fn unavailable(&mut self, reason: Unavailable) {
        self.series.status = Status::Unavailable { reason };
    }

    /// Whether it is marked as unavailable.
    pub fn is_unavailable(&self) -> bool {
        matches!(self.series.status, Status::Unavailable { .. })
    }

    /// Takes the finished series out of the recorder. `partial` means that some rounds didn't run.
    pub fn take_series(&mut self, partial: bool) -> Series {
        let Series { experiment, quantity, unit, .. } = self.series;
        let mut series = std::mem::replace(&mut self.series, Series::new(experiment, "", quantity, unit));
        if partial && series.status == Status::Complete {
            series.status = Status::Partial;
        }
        series.shrink();
        series
    }

    /// The finished series.
    pub fn into_series(mut self, partial: bool) -> Series {
        self.take_series(partial)
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::ExperimentId;
    use oversleep_record::series::{Quantity, Unit};

    use super::*;

    fn recorder() -> SeriesRecorder {
        SeriesRecorder::new(Series::new(ExperimentId::B5, "nanosleep", Quantity::Lateness, Unit::Ns), 10)
    }

    #[test]
    fn missed_deadlines_count_as_recorded_and_stay_apart_from_calls() {
        let mut recorder = recorder();
        recorder.begin_round(Nanos::ZERO);
        recorder.record(Nanos(0), 60);
        recorder.record_missed(Nanos(10), 900);
        recorder.record_missed(Nanos(20), 800);
        recorder.record(Nanos(30), 70);
        recorder.end_round(Disturbance::default());
        let series = recorder.into_series(false);
        assert_eq!((series.counts.recorded, series.counts.missed), (4, 2));
        assert_eq!(series.distribution.count(), 4);
        assert_eq!(series.calls().count(), 2);
        assert_eq!(series.samples.missed_runs, [[1, 2]]);
        assert_eq!(series.rounds[0].median, Some(70));
    }

    #[test]
    fn memory_does_not_grow_with_the_run() {
        let mut recorder = recorder();
        let mut kept = Vec::new();
        for _ in 0..3 {
            recorder.begin_round(Nanos::ZERO);
            for value in 0..RAW_SAMPLES_MAX as i64 {
                recorder.record(Nanos(value), value);
            }
            recorder.end_round(Disturbance::default());
            let samples = &recorder.series().samples;
            let capacities = [samples.start_ns.capacity(), samples.value.capacity(), recorder.round_values.capacity()];
            kept.push((samples.len(), capacities));
        }
        assert_eq!(kept[0].0, RAW_SAMPLES_MAX);
        assert!(kept.iter().all(|later| *later == kept[0]), "{kept:?}");
        let series = recorder.into_series(false);
        assert_eq!(series.distribution.count(), 3 * RAW_SAMPLES_MAX as u64, "every value counts");
        assert_eq!(series.samples.beyond_cap, 2 * RAW_SAMPLES_MAX as u64);
    }

    #[test]
    fn the_series_of_a_run_share_the_room_for_raw_samples() {
        let mut recorder = recorder();
        recorder.share_among(RUN_SAMPLES_MAX / (SAMPLES_PER_SERIES + 2));
        recorder.begin_round(Nanos::ZERO);
        (0..3).for_each(|value| recorder.record(Nanos(value), value));
        recorder.end_round(Disturbance::default());
        let series = recorder.into_series(false);
        assert_eq!((series.samples.len(), series.samples.beyond_cap, series.distribution.count()), (2, 1, 3));
    }

    #[test]
    fn a_series_cut_short_is_partial_unless_it_is_unavailable() {
        assert_eq!(recorder().into_series(true).status, Status::Partial);
        let mut refused = recorder();
        refused.unavailable(Unavailable::NotOnThisPlatform);
        assert!(matches!(refused.into_series(true).status, Status::Unavailable { .. }));
    }
}
