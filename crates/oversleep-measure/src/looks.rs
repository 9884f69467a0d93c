//! Observes a machine for days: the resolution that the system grants, the step of a coarse clock, and a sleep. Memory
//! is bounded: every value goes into a distribution, and every second sample is dropped when there are many.

use oversleep_record::column::Column;
use oversleep_record::conditions::Setting;
use oversleep_record::samples::Samples;
use oversleep_record::series::{Pace, Quantity, Round, Series, Unit};
use oversleep_record::{Disturbance, ExperimentId, Nanos, stats};
use oversleep_system::{Family, Follows, Platform, WaitEnd, Waiter};

use crate::bench::Bench;
use crate::clock_scale::ClockScale;
use crate::experiments::coarse_clock;

/// The observed sleep.
pub const SLEEP: Nanos = Nanos::from_millis(1);
/// Sleeps per observation, whose median is used.
const SLEEPS: usize = 8;
/// A clock that doesn't move in that time is skipped until the next observation.
const STEP_MAX: Nanos = Nanos::from_millis(80);
/// Steps per observation, of which the shortest is used.
const STEPS: u32 = 3;
/// Samples kept of each series; briefly twice as many.
const SAMPLES_MAX: usize = 4_096;

/// One observation. `None` means not available, or not seen this time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// When, since the run's origin.
    pub at: Nanos,
    /// The setting of the resolution tunable, as the system states it.
    pub resolution: Option<Setting>,
    /// Clocks and their steps.
    pub steps: Vec<(&'static str, Nanos)>,
    /// The sleep and its duration: the median of a few.
    pub sleep: Option<(&'static str, Nanos)>,
}

/// A series with bounded memory.
struct Kept {
    series: Series,
    starts: Vec<i64>,
    values: Vec<i64>,
    /// One value in this many is kept.
    stride: u64,
    seen: u64,
}

impl Kept {
    fn new(series: Series) -> Kept {
        Kept { series, starts: Vec::new(), values: Vec::new(), stride: 1, seen: 0 }
    }

    fn record(&mut self, value: i64) {
        self.series.distribution.record(value);
        self.series.counts.recorded += 1;
        self.series.counts.early += u64::from(self.series.quantity == Quantity::Lateness && value < 0);
    }

    /// Keeps a recorded value as a sample.
    fn keep(&mut self, at: Nanos, value: i64) {
        self.seen += 1;
        if !(self.seen - 1).is_multiple_of(self.stride) {
            return;
        }
        self.starts.push(at.0);
        self.values.push(value);
        if self.values.len() >= 2 * SAMPLES_MAX {
            self.stride *= 2;
            for samples in [&mut self.starts, &mut self.values] {
                let mut at = 0;
                samples.retain(|_| {
                    at += 1;
                    at % 2 == 1
                });
            }
        }
    }

    fn finish(mut self, window: Disturbance) -> Series {
        let kept = self.values.len() as u64;
        self.series.samples = Samples {
            start_ns: Column::from_iter(self.starts),
            value: Column::from_iter(self.values.iter().copied()),
            beyond_cap: self.series.counts.recorded - kept,
            ..Samples::default()
        };
        let median = self.series.distribution.p50();
        let count = self.series.counts.recorded;
        self.series.rounds =
            vec![Round { start_ns: Nanos::ZERO, count, median, p90: None, p99: None, disturbance: window }];
        self.series
    }
}

/// The observations so far.
pub struct Looks {
    resolution: Kept,
    steps: Vec<(usize, &'static str, ClockScale, Kept)>,
    sleep: Option<(Box<dyn Waiter>, Kept)>,
}

impl Looks {
    /// Observes the platform of that bench, from this thread.
    pub fn new(bench: &Bench) -> Looks {
        let platform = bench.platform();
        let id = ExperimentId::C7;
        let mut resolution = Series::new(id, "resolution", Quantity::StatedResolution, Unit::Ns);
        resolution.key = resolution.key.word("stated");
        let mut sleep = None;
        if let (Some(wait), Ok(waiter)) = (platform.simplest(Family::Sleep), bench.open_simplest_sleep()) {
            let mut series = Series::new(id, wait.info().name, Quantity::Lateness, Unit::Ns);
            series.key = series.key.span(SLEEP);
            (series.requested_ns, series.pace) = (Some(SLEEP), Some(Pace::BackToBack));
            series.rounded_ns = Some(SLEEP);
            series.clock = bench.clock_name().to_owned();
            sleep = Some((waiter, Kept::new(series)));
        }
        let mut steps = Vec::new();
        for name in clocks(platform) {
            let index = platform.clocks().iter().position(|clock| clock.info().name == name);
            let Some((index, Ok(scale))) =
                index.map(|index| (index, ClockScale::of(platform, platform.clocks()[index].as_ref())))
            else {
                continue;
            };
            let mut series = Series::new(id, name, Quantity::Step, Unit::Ns);
            series.key = series.key.word("step");
            series.clock = name.to_owned();
            steps.push((index, name, scale, Kept::new(series)));
        }
        Looks { resolution: Kept::new(resolution), steps, sleep }
    }

    /// Makes one observation. It takes a few sleeps and a few steps of the clocks: up to 0.3 s.
    pub fn look(&mut self, bench: &Bench) -> Observed {
        let platform = bench.platform();
        let at = bench.since_origin(bench.stamp());
        let resolution = platform.resolution_tunable().and_then(|tunable| tunable.current().ok());
        if let Some(Setting::Nanos(period)) = resolution {
            self.resolution.record(period.0);
            self.resolution.keep(at, period.0);
        }
        let mut steps = Vec::new();
        for (index, name, scale, kept) in &mut self.steps {
            if let Some(step) = step(bench, *index, scale) {
                kept.record(step.0);
                kept.keep(at, step.0);
                steps.push((*name, step));
            }
        }
        let mut late = Vec::with_capacity(SLEEPS);
        if let Some((waiter, kept)) = &mut self.sleep {
            for _ in 0..SLEEPS {
                if bench.stopped() {
                    break;
                }
                let start = bench.stamp();
                let ended = waiter.wait(bench.target(start, start + SLEEP));
                let lateness = bench.stamp() - start - SLEEP;
                match ended {
                    WaitEnd::TimedOut => {
                        kept.record(lateness.0);
                        late.push(lateness.0);
                    }
                    WaitEnd::Interrupted => kept.series.counts.interrupted += 1,
                    WaitEnd::Failed(_) => break,
                }
            }
            if let Some(median) = stats::median(&mut late) {
                kept.keep(at, median);
            }
        }
        let name = platform.simplest(Family::Sleep).map(|wait| wait.info().name);
        let sleep = name.zip(stats::median(&mut late)).map(|(name, late)| (name, SLEEP + Nanos(late)));
        Observed { at, resolution, steps, sleep }
    }

    /// The series, with the machine's other activity.
    pub fn finish(self, window: Disturbance) -> Vec<Series> {
        let steps = self.steps.into_iter().map(|(.., kept)| kept);
        let all = [self.resolution].into_iter().chain(steps).chain(self.sleep.map(|(_, kept)| kept));
        all.filter(|kept| kept.series.counts.recorded > 0).map(|kept| kept.finish(window)).collect()
    }
}

/// The coarse clock that programs read, and one that follows the timer interrupt, if the system has it.
fn clocks(platform: &dyn Platform) -> Vec<&'static str> {
    let coarse = coarse_clock(platform).map(|clock| clock.info().name);
    let follows = platform
        .clocks()
        .iter()
        .find(|clock| clock.info().follows == Follows::LastInterrupt && clock.available().is_ok());
    let follows = follows.map(|clock| clock.info().name).filter(|name| Some(*name) != coarse);
    coarse.into_iter().chain(follows).collect()
}

/// The shortest of a few whole steps of a clock, polled: a thread that loses the CPU sees several as one.
fn step(bench: &Bench, index: usize, scale: &ClockScale) -> Option<Nanos> {
    const READS: u64 = 1_024;
    let clock = &bench.platform().clocks()[index];
    let begun = bench.stamp();
    let (mut previous, mut is_whole, mut shortest, mut count) = (clock.read(), false, None, 0);
    while count < STEPS && bench.stamp() - begun < STEP_MAX && !bench.stopped() {
        let raw = clock.poll(previous, READS);
        if raw == previous {
            continue;
        }
        let step = scale.span(previous, raw);
        // The time up to the first change is only a part of a step.
        if std::mem::replace(&mut is_whole, true) {
            shortest = Some(shortest.map_or(step, |shortest: Nanos| shortest.min(step)));
            count += 1;
        }
        previous = raw;
    }
    shortest
}

#[cfg(test)]
mod tests {
    use oversleep_model::platform;

    use super::*;
    use crate::StopFlag;

    fn bench(machine: &str) -> Bench {
        let platform = platform(machine, &[], 1).unwrap_or_else(|error| panic!("{error}"));
        Bench::new(platform, StopFlag::new(), None).expect("the reference clock")
    }

    #[test]
    fn a_look_finds_the_tick_of_windows() {
        let bench = bench("windows-10-1909");
        let mut looks = Looks::new(&bench);
        let look = looks.look(&bench);
        assert_eq!(look.resolution, Some(Setting::Nanos(Nanos(15_625_000))));
        assert!(look.sleep.is_some_and(|(name, took)| name == "sleep" && took > Nanos::from_millis(14)), "{look:?}");
        assert!(look.steps.iter().all(|(_, step)| *step >= Nanos::from_millis(14)), "{look:?}");
        let series = looks.finish(Disturbance::default());
        let keys: Vec<&str> = series.iter().map(|series| series.key.as_str()).collect();
        assert_eq!(keys[0], "C7/resolution/stated");
        assert_eq!(keys.last(), Some(&"C7/sleep/1ms"));
        assert_eq!(series.last().map(|sleep| (sleep.counts.recorded, sleep.samples.len())), Some((8, 1)));
    }

    #[test]
    fn a_month_of_looks_takes_the_memory_of_an_hour() {
        let mut kept = Kept::new(Series::new(ExperimentId::C7, "sleep", Quantity::Lateness, Unit::Ns));
        for second in 0..2_600_000_i64 {
            kept.record(second % 7);
            kept.keep(Nanos::from_secs(second), second % 7);
        }
        assert!(kept.values.len() < 2 * SAMPLES_MAX && kept.values.capacity() <= 2 * SAMPLES_MAX);
        let series = kept.finish(Disturbance::default());
        assert_eq!(series.counts.recorded, 2_600_000);
        assert_eq!(series.samples.len() as u64 + series.samples.beyond_cap, 2_600_000);
        assert!(series.samples.start_ns.iter().last() > Some(2_500_000_000_000_000), "to the end");
    }
}
