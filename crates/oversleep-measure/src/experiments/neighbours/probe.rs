//! One probe: neighbours hold one setting after another, and this process records the effects.

use oversleep_record::clock::Counts;
use oversleep_record::conditions::{HeldSettings, Outcome, Setting};
use oversleep_record::series::{Pace, Quantity, Series, Unit};
use oversleep_record::{Conditions, ExperimentId, Nanos, Unavailable, label};
use oversleep_system::{Neighbour, Platform, Scope, Target, Tunable, WaitInfo};

use super::are_spans;
use crate::bench::Bench;
use crate::experiments::{choose, clocks_together};
use crate::plan::{Limit, Plan};
use crate::probe::Probe;
use crate::recorder::SeriesRecorder;
use crate::wait_loop::{self, WaitTask};

/// The time until a change of the machine's timer shows: more than any default tick.
const SETTLING: Nanos = Nanos::from_millis(20);

/// The longest duration of a 1 ms sleep that ends on the default tick of Windows.
const DEFAULT_TICK: Nanos = Nanos(16_000_000);
/// The rounds and sleeps that a conclusion needs, and a few more sleeps.
const ROUNDS_JUDGED: u32 = 3;
const SLEEPS_JUDGED: i64 = 34;

/// How far the coarse clocks are followed: two default ticks.
const CLOCK_DISTANCE: Nanos = Nanos::from_millis(20);

/// The approximate time for a program to start and answer; longer if every program is scanned first.
pub(super) const STARTING: Nanos = Nanos::from_millis(50);

/// The priority of steps in a run that may be cut short: first those that findings compare (no request, 1 ms and 2 ms),
/// then whose request wins, then the ends and the middle of the curve, then the rest.
fn rank(steps: &[Vec<Setting>]) -> u32 {
    match steps {
        [held] => match held.first() {
            Some(Setting::Nanos(held)) => match held.0 / 1_000_000 {
                1 | 2 => 0,
                5 | 10 | 15 => 2,
                _ => 3,
            },
            _ => 0,
        },
        _ => 1,
    }
}

/// The recordings while the same neighbours hold the same settings.
struct Step {
    /// The settings of the neighbours; if empty, one neighbour holds nothing.
    held: Vec<Setting>,
    /// By request.
    sleeps: Vec<(Nanos, SeriesRecorder)>,
    /// By the clock's index in the platform's list.
    clock_steps: Vec<(usize, SeriesRecorder)>,
    /// The resolution that the system states, if it is a duration.
    stated: Option<SeriesRecorder>,
}

/// The neighbours of one step, by their setting.
type Neighbours = Vec<(Option<Setting>, Box<dyn Neighbour>)>;

/// Runs the steps in order in each round. A neighbour that the next step needs is kept.
pub(super) struct NeighbourProbe {
    steps: Vec<Step>,
    sleep: &'static str,
    /// Sleeps per step and round, and the longest time for them.
    count: u64,
    time: Nanos,
    /// The shortest duration of a sleep, for the estimate: the tick if it ends on one.
    tick: Nanos,
    rank: u32,
    rounds: u32,
    rounds_run: u32,
    conditions: Conditions,
}

impl NeighbourProbe {
    pub(super) fn boxed(
        platform: &dyn Platform,
        plan: &Plan,
        experiment: ExperimentId,
        steps: Vec<Vec<Setting>>,
    ) -> Option<Box<dyn Probe>> {
        let sleep = choose::simplest_sleep(platform)?;
        // A finding compares the effect of a neighbour that holds 1 or 2 ms with the case without any request. That
        // needs rounds that agree, and each sleep lasts until the default tick if this process doesn't follow.
        let is_fine = |setting: &Setting| matches!(setting, Setting::Nanos(held) if *held <= Nanos::from_millis(2));
        let is_shared = platform.resolution_tunable().is_some_and(|tunable| tunable.info().scope != Scope::Thread);
        let is_judged = steps.len() == 1 && is_shared && steps.iter().flatten().all(is_fine);
        let rounds = plan.depth.pick(1, 2, 10).max(if is_judged { ROUNDS_JUDGED } else { 1 });
        let enough = if is_judged { Nanos(DEFAULT_TICK.0 * SLEEPS_JUDGED / i64::from(rounds)) } else { Nanos::ZERO };
        let (count, time) = match plan.limit {
            None => (
                plan.depth.pick(40, 80, 500),
                plan.depth.pick(Nanos::from_millis(150), Nanos::from_millis(200), Nanos::from_secs(3)).max(enough),
            ),
            Some(Limit::Count(count)) => (count.div_ceil(u64::from(rounds)), Nanos::MAX),
            Some(Limit::Time(time)) => (u64::MAX, Nanos(time.0 / i64::from(rounds))),
        };
        let planned = count.min(10_000) * u64::from(rounds);
        let ends_by_tick = sleep.ends_at_tick();
        let tick = choose::coarse_clock(platform).and_then(|clock| clock.stated_step_ns()).filter(|_| ends_by_tick);
        let rank = rank(&steps);
        let steps = steps.into_iter().map(|held| Step::new(platform, plan, experiment, sleep, held, planned)).collect();
        let conditions = plan.conditions.clone();
        Some(Box::new(NeighbourProbe {
            steps,
            sleep: sleep.name,
            count,
            time,
            tick: tick.unwrap_or_default(),
            rank,
            rounds,
            rounds_run: 0,
            conditions,
        }))
    }
}

impl Step {
    fn new(
        platform: &dyn Platform,
        plan: &Plan,
        experiment: ExperimentId,
        sleep: &WaitInfo,
        held: Vec<Setting>,
        planned: u64,
    ) -> Step {
        let neighbours = HeldSettings(held.clone());
        let series = |subject: &str, quantity, what: &str| {
            let mut series = Series::new(experiment, subject, quantity, Unit::Ns);
            series.key = series.key.word(what).named(label::NEIGHBOUR.name(), &neighbours);
            series.labels.set(label::NEIGHBOUR, neighbours.clone());
            series.conditions = plan.conditions.clone();
            series
        };
        let sleep_of = |requested: Nanos| {
            let mut series = series(sleep.name, Quantity::Lateness, &requested.as_typed());
            series.requested_ns = Some(requested);
            series.rounded_ns = Some(sleep.rounded(requested));
            series.pace = Some(Pace::BackToBack);
            (requested, SeriesRecorder::new(series, planned))
        };
        let steps_of = |name: &'static str| {
            let index = platform.clocks().iter().position(|clock| clock.info().name == name);
            let mut series = series(name, Quantity::Step, "step");
            series.clock = name.to_owned();
            (index.expect("it is of this registry"), SeriesRecorder::new(series, 1_000))
        };
        let states_a_span = |tunable: &&dyn Tunable| are_spans(&tunable.settings_to_compare());
        let tunable = platform.resolution_tunable().filter(states_a_span).map(|tunable| tunable.info().name);
        let clocks = choose::coarse_clocks(platform).into_iter().map(|clock| clock.info());
        let counts_time = |counts: Counts| !matches!(counts, Counts::ProcessCpuTime | Counts::ThreadCpuTime);
        Step {
            sleeps: plan.requests_or(&[Nanos::from_millis(1)]).into_iter().map(sleep_of).collect(),
            clock_steps: clocks.filter(|info| counts_time(info.counts)).map(|info| steps_of(info.name)).collect(),
            stated: tunable.map(|name| SeriesRecorder::new(series(name, Quantity::StatedResolution, "stated"), 16)),
            held,
        }
    }

    fn recorders(&mut self) -> impl Iterator<Item = &mut SeriesRecorder> {
        let sleeps = self.sleeps.iter_mut().map(|(_, recorder)| recorder);
        let steps = self.clock_steps.iter_mut().map(|(_, recorder)| recorder);
        sleeps.chain(steps).chain(&mut self.stated)
    }

    fn unavailable(&mut self, reason: &Unavailable) {
        self.recorders().for_each(|recorder| recorder.unavailable(reason.clone()));
    }

    /// Measures beside the neighbours that this step needs, which must live from its beginning to its end.
    fn measure(
        &mut self,
        bench: &Bench,
        neighbours: &mut Neighbours,
        sleep: &str,
        task: &WaitTask,
    ) -> Result<(), Unavailable> {
        self.gather(bench, neighbours)?;
        self.record(bench, sleep, task);
        neighbours.iter_mut().try_for_each(|(_, neighbour)| neighbour.check())
    }

    /// Ends the neighbours that this step doesn't need, and starts those that are missing or have ended.
    fn gather(&mut self, bench: &Bench, neighbours: &mut Neighbours) -> Result<(), Unavailable> {
        let wanted: Vec<Option<Setting>> =
            if self.held.is_empty() { vec![None] } else { self.held.iter().cloned().map(Some).collect() };
        neighbours.retain_mut(|(holds, neighbour)| wanted.contains(holds) && neighbour.check().is_ok());
        for setting in wanted {
            if !neighbours.iter().any(|(holds, _)| *holds == setting) {
                let neighbour = bench.platform().neighbour(setting.as_ref())?;
                neighbours.push((setting, neighbour));
            }
        }
        let mut granted = Vec::new();
        for (_, neighbour) in neighbours.iter() {
            match neighbour.outcome() {
                Some(Outcome::Denied { why }) => return Err(why.clone()),
                Some(Outcome::Applied { now: is, .. } | Outcome::AlreadySo { is }) => granted.push(is.clone()),
                None => {}
            }
        }
        if !granted.is_empty() {
            let granted = HeldSettings(granted);
            self.recorders().for_each(|recorder| {
                recorder.series_mut().labels.set(label::GRANTED, granted.clone());
            });
        }
        Ok(())
    }

    fn record(&mut self, bench: &Bench, sleep: &str, task: &WaitTask) {
        let platform = bench.platform();
        let mut waiter = match bench.open_wait(sleep) {
            Ok(waiter) => waiter,
            Err(reason) => return self.unavailable(&reason),
        };
        waiter.wait(Target { remaining: SETTLING, deadline: platform.now() + SETTLING });
        let clock = bench.clock_name().to_owned();
        let now = || {
            platform.resolution_tunable().ok_or(Unavailable::NotOnThisPlatform).and_then(|tunable| tunable.current())
        };
        match (&mut self.stated, now()) {
            (None, _) => {}
            (Some(recorder), Ok(Setting::Nanos(stated))) => {
                recorder.series_mut().clock.clone_from(&clock);
                recorder.record(bench.since_origin(bench.stamp()), stated.0);
            }
            (Some(recorder), Ok(_)) => recorder.unavailable(Unavailable::missing("a resolution that is a duration")),
            (Some(recorder), Err(reason)) => recorder.unavailable(reason),
        }
        for (requested, recorder) in &mut self.sleeps {
            recorder.series_mut().clock.clone_from(&clock);
            let task = WaitTask { requested: *requested, ..*task };
            if let Err(reason) = wait_loop::run(bench, &mut *waiter, &task, recorder) {
                recorder.unavailable(reason);
            }
        }
        clocks_together::record_steps(bench, &mut self.clock_steps, CLOCK_DISTANCE);
    }
}

impl Probe for NeighbourProbe {
    fn label(&self) -> String {
        let held = self.steps.iter().flat_map(|step| &step.held).max().map(ToString::to_string);
        format!("{} beside a neighbour that holds {}", self.sleep, held.unwrap_or_else(|| "nothing".to_owned()))
    }

    fn rounds(&self) -> u32 {
        self.rounds
    }

    fn rank(&self) -> u32 {
        self.rank
    }

    fn round_estimate(&self) -> Nanos {
        let of_step = |step: &Step| {
            let count = i64::try_from(self.count).unwrap_or(i64::MAX);
            let one = |requested: Nanos| (requested + Nanos(70_000)).max(self.tick);
            let sleeps =
                step.sleeps.iter().map(|(requested, _)| Nanos(one(*requested).0.saturating_mul(count)).min(self.time));
            let clocks = if step.clock_steps.is_empty() { Nanos::ZERO } else { CLOCK_DISTANCE * 2 };
            let starting = STARTING * step.held.len().max(1) as i64;
            starting + SETTLING.max(self.tick * 2) + sleeps.sum::<Nanos>() + clocks
        };
        self.steps.iter().map(of_step).sum()
    }

    fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    fn round(&mut self, bench: &Bench) -> Result<(), Unavailable> {
        let task = WaitTask {
            requested: Nanos::ZERO,
            pace: Pace::BackToBack,
            count_max: self.count,
            time_max: self.time,
            round: self.rounds_run,
            tick: None,
            waits_again: false,
        };
        self.rounds_run += 1;
        let mut neighbours = Neighbours::new();
        for step in &mut self.steps {
            if bench.stopped()
                || step.stated.as_ref().is_none_or(SeriesRecorder::is_unavailable)
                    && step.sleeps.iter().all(|sleep| sleep.1.is_unavailable())
            {
                continue;
            }
            if let Err(reason) = step.measure(bench, &mut neighbours, self.sleep, &task) {
                step.unavailable(&reason);
            }
        }
        Ok(())
    }

    fn recorders(&mut self) -> Vec<&mut SeriesRecorder> {
        self.steps.iter_mut().flat_map(Step::recorders).collect()
    }
}
