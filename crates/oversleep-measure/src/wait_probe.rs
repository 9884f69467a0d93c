//! The probe that most experiments use: one wait, one request, one pace, one set of conditions.

use oversleep_record::conditions::Setting;
use oversleep_record::label::{Label, LabelValue};
use oversleep_record::series::{Pace, Quantity, Series, Unit};
use oversleep_record::split::LatenessSplit;
use oversleep_record::{Conditions, ExperimentId, Nanos, SeriesKey, Unavailable};
use oversleep_system::{Platform, Scope, SlackRule, Target, WaitEnd, WaitInfo, Waiter, runtime_calls};

use super::amount::Amount;
use super::bench::Bench;
use super::composed_waits::find_wait;
use super::library_waits::library_waits;
use super::probe::{Measured, Probe};
use super::recorder::SeriesRecorder;
use super::settled::is_settled;
use super::wait_loop::{self, WaitTask};

/// Measures one wait.
pub struct WaitProbe {
    recorder: SeriesRecorder,
    wait: String,
    /// The number of values in all. Each round takes its share, and the last one the remainder.
    count: u64,
    rounds_run: u32,
    task: WaitTask,
    rounds: u32,
    is_essential: bool,
    is_about_rounding: bool,
    ends_when_settled: bool,
    conditions: Conditions,
    /// Additional waits per round, whose lateness is split into its parts, in so many rounds.
    split_waits: u64,
    split_rounds: u32,
    split: Option<LatenessSplit>,
}

impl WaitProbe {
    /// A probe of that wait, with a key like `B5/nanosleep/1ms`.
    pub fn new(
        platform: &dyn Platform,
        experiment: ExperimentId,
        wait: &str,
        requested: Nanos,
        amount: Amount,
    ) -> WaitProbe {
        let info = find_wait(platform, wait).map(|wait| wait.info().clone());
        let mut series = Series::new(experiment, wait, Quantity::Lateness, Unit::Ns);
        series.key = series.key.span(requested);
        series.requested_ns = Some(requested);
        series.rounded_ns = Some(info.as_ref().map_or(requested, |info| info.rounded(requested)));
        let pace = info.as_ref().map_or(Pace::Periodic, |info| natural_pace(platform, info));
        series.pace = Some(pace);
        let task = WaitTask {
            requested,
            pace,
            count_max: amount.count_per_round(),
            time_max: amount.time_per_round(),
            round: 0,
            tick: None,
            waits_again: runtime_calls::is_at_fixed_rate(wait),
        };
        WaitProbe {
            recorder: SeriesRecorder::new(series, amount.planned(requested)),
            wait: wait.to_owned(),
            count: amount.count,
            rounds_run: 0,
            task,
            rounds: amount.rounds.max(1),
            is_essential: false,
            is_about_rounding: false,
            ends_when_settled: false,
            conditions: Conditions::as_found(),
            split_waits: 0,
            split_rounds: 0,
            split: None,
        }
    }

    /// The probe with this pace instead of the wait's natural one.
    pub fn paced(mut self, pace: Pace) -> WaitProbe {
        self.task.pace = pace;
        self.recorder.series_mut().pace = Some(pace);
        self
    }

    /// The probe under these conditions.
    pub fn under(mut self, conditions: Conditions) -> WaitProbe {
        self.recorder.series_mut().conditions = conditions.clone();
        self.conditions = conditions;
        self
    }

    /// The probe with one more label.
    pub fn labelled<T: LabelValue>(mut self, label: Label<T>, value: T) -> WaitProbe {
        self.recorder.series_mut().labels.set(label, value);
        self
    }

    /// The probe with that many additional waits over all rounds, whose lateness is split.
    pub fn split(self, waits: u64) -> WaitProbe {
        let rounds = self.rounds;
        self.split_in(rounds, waits)
    }

    /// Splits additional waits in the first rounds only.
    pub fn split_in(self, rounds: u32, waits: u64) -> WaitProbe {
        WaitProbe { split_waits: waits.div_ceil(u64::from(rounds.max(1))), split_rounds: rounds, ..self }
    }

    /// The probe with all of its rounds even where others get fewer.
    pub fn essential(self) -> WaitProbe {
        WaitProbe { is_essential: true, ..self }
    }

    /// The probe where nothing is concluded from the last microseconds, so that it may be measured beside others.
    pub fn about_rounding(self) -> WaitProbe {
        WaitProbe { is_about_rounding: true, ..self }
    }

    /// The probe that ends with the round from which further ones would change no conclusion.
    pub fn until_settled(self) -> WaitProbe {
        WaitProbe { ends_when_settled: true, ..self }
    }

    /// The probe with a key derived from its own.
    pub fn keyed(mut self, make: impl FnOnce(SeriesKey) -> SeriesKey) -> WaitProbe {
        let series = self.recorder.series_mut();
        series.key = make(std::mem::take(&mut series.key));
        self
    }

    /// Its key.
    pub fn key(&self) -> &SeriesKey {
        &self.recorder.series().key
    }

    /// The probe in a box, for a list of probes.
    pub fn boxed(self) -> Box<dyn Probe> {
        Box::new(self)
    }

    /// Runs the observed waits. They are separate from the others, so that the cost of observation doesn't affect those.
    fn split_round(&mut self, bench: &Bench, waiter: &mut dyn Waiter) {
        if self.split_waits == 0 || self.rounds_run > self.split_rounds {
            return;
        }
        let Ok(mut splitter) = bench.platform().splitter() else { return };
        let split = self
            .split
            .get_or_insert_with(|| LatenessSplit { method: splitter.method().to_owned(), ..LatenessSplit::default() });
        let platform = bench.platform();
        for _ in 0..self.split_waits {
            if bench.stopped() {
                return;
            }
            splitter.arm();
            // The parts are timed by the reference clock, whichever clock times the other waits.
            let start = platform.now();
            let deadline = start + self.task.requested;
            let ended = waiter.wait(Target { remaining: self.task.requested, deadline });
            let end = platform.now();
            match splitter.last_switch_in() {
                Some(seen) if ended == WaitEnd::TimedOut && seen.at > start && seen.at <= end => {
                    split.record(deadline, seen.at, seen.run_queue_delay, end);
                }
                _ => split.unattributed_count += 1,
            }
        }
    }
}

/// The present period of the interrupt that ends the wait, if all threads share one and the machine states it.
fn tick_of(platform: &dyn Platform, wait: &str) -> Option<Nanos> {
    find_wait(platform, wait).filter(|wait| wait.info().slack == SlackRule::TimerResolution)?;
    let resolution = platform.resolution_tunable().filter(|tunable| tunable.info().scope != Scope::Thread)?;
    match resolution.current() {
        Ok(Setting::Nanos(period)) => Some(period),
        _ => None,
    }
}

/// On a schedule if the wait can express the rest of a period. A schedule would hide the rounding of a wait that counts
/// in milliseconds or ends on the tick, and the delay of one that is delayed by a share of its request, because less is
/// left of a period that began late. Those run call by call. What a program calls has the pace of programs, whatever wait
/// it makes on a machine.
fn natural_pace(platform: &dyn Platform, info: &WaitInfo) -> Pace {
    use SlackRule::{ClassShare, KernelShare, Tick, TimerResolution};
    if is_of_program(platform, info.name) {
        return runtime_calls::pace(info.name);
    }
    let hides = matches!(info.slack, Tick | TimerResolution | ClassShare | KernelShare);
    if info.granularity.step <= Nanos(1_000) && !hides { Pace::Periodic } else { Pace::BackToBack }
}

/// Whether programs make that wait by a call of a runtime, like `Thread.sleep@java-8-to-20`, or of this project's library on
/// a modelled machine: it is asked about, and measured, as such.
pub(crate) fn is_of_program(platform: &dyn Platform, name: &str) -> bool {
    name.contains('@') || library_waits(platform).iter().any(|wait| wait.info().name == name)
}

impl Probe for WaitProbe {
    fn label(&self) -> String {
        format!("{} {}", self.wait, self.task.requested)
    }

    fn rounds(&self) -> u32 {
        self.rounds
    }

    fn is_essential(&self) -> bool {
        self.is_essential
    }

    fn round_estimate(&self) -> Nanos {
        let per_wait =
            self.task.requested.max(self.recorder.series().rounded_ns.unwrap_or(Nanos::ZERO)) + Nanos(70_000);
        let phase =
            if self.task.pace == Pace::RandomPhase { Nanos(self.task.phase_range().0 / 2) } else { Nanos::ZERO };
        let count = i64::try_from(self.task.count_max).unwrap_or(i64::MAX);
        let split = per_wait * i64::try_from(self.split_waits).unwrap_or(0);
        ((per_wait + phase) * count).min(self.task.time_max) + split
    }

    fn period(&self) -> Option<Nanos> {
        (self.task.pace == Pace::Periodic).then_some(self.task.requested)
    }

    fn company(&self) -> Option<Nanos> {
        self.is_about_rounding.then_some(self.task.requested)
    }

    fn is_settled(&self) -> Option<bool> {
        self.ends_when_settled.then(|| is_settled(self.recorder.series()))
    }

    fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    fn round(&mut self, bench: &Bench) -> Result<(), Unavailable> {
        self.recorder.series_mut().clock = bench.clock_name().to_owned();
        let mut waiter = bench.open_wait(&self.wait)?;
        if let Some(refusal) = bench.refuses(&self.wait, self.task.requested) {
            return Err(Unavailable::failed(format!("requesting {}", self.task.requested), refusal));
        }
        let left = self.count.saturating_sub(self.recorder.series().counts.recorded);
        let task = WaitTask { count_max: self.task.count_max.min(left), round: self.rounds_run, ..self.task };
        let task = WaitTask { tick: tick_of(bench.platform(), &self.wait), ..task };
        self.rounds_run += 1;
        wait_loop::run(bench, &mut *waiter, &task, &mut self.recorder)?;
        self.split_round(bench, &mut *waiter);
        Ok(())
    }

    fn recorders(&mut self) -> Vec<&mut SeriesRecorder> {
        vec![&mut self.recorder]
    }

    fn finish(self: Box<Self>, partial: bool, measured: &mut Measured) {
        let mut series = self.recorder.into_series(partial);
        series.split = self.split;
        measured.series.push(series);
    }
}

#[cfg(test)]
mod tests {
    use oversleep_model::sim::Overshoot;

    use super::super::testing;
    use super::*;

    #[test]
    fn the_parts_of_a_split_add_up_to_the_total() {
        let machine = testing::machine()
            .with_wait("nanosleep", Overshoot::SlackPlus(Nanos(14_000)))
            .with_preempt_delay(Nanos(6_000));
        let sim = oversleep_model::sim::Sim::start(machine.build());
        let amount = Amount { count: 20, time: Nanos::MAX, rounds: 2 };
        let probe = WaitProbe::new(&*sim, ExperimentId::B5, "nanosleep", Nanos::from_millis(1), amount)
            .under(Conditions::as_found().with_load("spin", 2))
            .split(10);
        let measured = testing::measure_on(sim, vec![probe.boxed()]);
        let split = measured.series[0].split.as_ref().unwrap();
        assert_eq!((split.attributed_count, split.unattributed_count), (10, 0));
        let p50 = |part: &oversleep_record::Distribution| part.p50().unwrap();
        assert_eq!(p50(&split.run_queue), 6_000);
        assert_eq!(p50(&split.wake_return), 20, "one clock read");
        // The histogram keeps three digits.
        assert!((p50(&split.timer) - 64_000).abs() <= 64);
        assert!((p50(&split.total) - 70_020).abs() <= 70);
    }

    #[test]
    fn a_wait_that_never_left_its_cpu_is_unattributed() {
        let sim = oversleep_model::sim::Sim::start(testing::machine().build());
        let amount = Amount { count: 7, time: Nanos::MAX, rounds: 3 };
        let probe = WaitProbe::new(&*sim, ExperimentId::B5, "spin", Nanos::from_millis(1), amount).split(6);
        let series = testing::measure_on(sim, vec![probe.boxed()]).series.remove(0);
        let split = series.split.unwrap();
        assert_eq!((split.attributed_count, split.unattributed_count), (0, 6));
        assert_eq!(series.counts.recorded, 7, "the rounds share seven values, not three times three");
    }

    #[test]
    fn conditions_are_applied_recorded_and_restored() {
        let machine = testing::machine().with_wait("nanosleep", Overshoot::SlackPlus(Nanos(14_000)));
        let sim = oversleep_model::sim::Sim::start(machine.build());
        let amount = Amount { count: 30, time: Nanos::MAX, rounds: 3 };
        let slack = |ns| Conditions::as_found().with("slack", Setting::Nanos(Nanos(ns)));
        let probe = |suffix: &'static str, conditions| {
            WaitProbe::new(&*sim, ExperimentId::C2, "nanosleep", Nanos::from_millis(1), amount)
                .keyed(|key| key.word(suffix))
                .under(conditions)
                .boxed()
        };
        let probes = vec![probe("a", Conditions::as_found()), probe("b", slack(1)), probe("c", Conditions::as_found())];
        let measured = testing::measure_on(sim.clone(), probes);
        let p50: Vec<i64> = measured.series.iter().map(|series| series.distribution.p50().unwrap() / 1_000).collect();
        assert_eq!(p50, [64, 14, 64]);
        assert!(measured.series[1].conditions.all_held());
        assert_eq!(measured.series[0].rounds.len(), 3);
    }
}
