//! D1 and D2: a fork-join of several threads, and the work of one of them alone.

use std::sync::{Arc, OnceLock};

use oversleep_record::label::{self, ClockRole, JoinStyle};
use oversleep_record::series::{Quantity, Series, Unit};
use oversleep_record::{Conditions, ExperimentId, Labels, Nanos, Unavailable};
use oversleep_system::{Platform, ThreadHandle, Waiter};

use super::choose;
use super::join_style::{THREADED, wait_for_workers};
use super::portions::Portions;
use crate::amount::Amount;
use crate::bench::Bench;
use crate::experiment::{Column, Command, Experiment};
use crate::plan::Plan;
use crate::probe::{Measured, Probe};
use crate::recorder::SeriesRecorder;
use crate::still::{Reads, StillClock};

const COLUMNS: &[Column] = &[
    Column {
        name: label::STYLE.name(),
        meaning: "How the main thread waits: blocked, spinning, polling; single is without threads.",
    },
    Column { name: label::CLOCK_ROLE.name(), meaning: "coarse or precise: the clock that timed it." },
    Column { name: label::THREADS.name(), meaning: "How many threads share the work." },
    Column { name: label::WORK.name(), meaning: "The work of all of them together, in ns of one CPU, on average." },
];

pub(super) static D1: Experiment = Experiment {
    id: ExperimentId::D1,
    title: "fork-join",
    question: "Is a fork-join really quantised to 16 ms, or does that come from its clock, or from the way the main \
               thread waits?",
    method: "Eight threads of calibrated work are created and joined. The work of each is drawn from 10 to 20 ms, as \
             published, if the run is thorough, else from a tenth of that; --threads and --work set both. \
             Each fork-join is timed by the coarse and by the precise clock at once. The main thread waits \
             (a) blocked in the join, (b) spinning, (c) checking every millisecond. If the coarse clock shows \
             steps and the precise one doesn't, the steps are the clock's; if (c) shows them and (a) doesn't, they \
             are the poll's. The join itself wakes the main thread at once. A spinning join takes a CPU from the workers and \
             no conclusion rests on it, so a check that isn't thorough repeats it less often.",
    quantities: &[Quantity::ForkJoin],
    columns: COLUMNS,
    commands: &[Command::ForkJoin],
    probes: |platform, plan| THREADED.map(|style| probe(platform, plan, D1.id, style)).into(),
    ..Experiment::BLANK
};

pub(super) static D2: Experiment = Experiment {
    id: ExperimentId::D2,
    title: "the work of one thread alone",
    question: "How does the work of one of D1's threads look by both clocks, without any fork or join?",
    method: "The measuring thread itself does the work of one of D1's threads, drawn as there, timed by both clocks. The \
             coarse clock shows its steps here, too, so they have nothing to do with threads. The precise clock shows \
             the work as it was drawn, and what the machine added to it.",
    quantities: &[Quantity::ForkJoin],
    columns: COLUMNS,
    commands: &[Command::ForkJoin],
    probes: |platform, plan| vec![probe(platform, plan, D2.id, JoinStyle::Single)],
    ..Experiment::BLANK
};

/// A fork-join that spins for this multiple of its work never ends.
const SPIN_FACTOR: i64 = 20;
const ROUNDS: u32 = 3;
/// The shortest duration of timed work, and the most units of it, which take a few seconds.
const TIMED_MIN: Nanos = Nanos::from_millis(2);
const UNITS_MAX: u64 = 1 << 32;
/// Work between two checks of the clock and of the flag that ends the run: about a millisecond.
const UNITS_AT_ONCE: u64 = 1 << 20;

fn probe(platform: &dyn Platform, plan: &Plan, id: ExperimentId, style: JoinStyle) -> Box<dyn Probe> {
    // A join that spins takes a CPU from the workers, and no conclusion rests on it.
    let repeats = if style == JoinStyle::Spinning { plan.depth.pick(9, 9, 100) } else { plan.depth.pick(15, 30, 100) };
    named(platform, plan, style, repeats, |role, _| {
        let mut series = Series::new(id, style.as_str(), Quantity::ForkJoin, Unit::Ns);
        series.key = series.key.word(role);
        series
    })
}

/// The probe of that many fork-joins of one style. `of` names its series, given the clock's role and the mean work of a
/// thread.
pub(super) fn named(
    platform: &dyn Platform,
    plan: &Plan,
    style: JoinStyle,
    repeats: u64,
    of: impl Fn(ClockRole, Nanos) -> Series,
) -> Box<dyn Probe> {
    let all = Portions::of(plan);
    let portions = if style == JoinStyle::Single { all.of_one() } else { all };
    let amount = Amount::values(repeats, ROUNDS).limited_by(plan);
    // A clock that the user chose replaces the coarse one; the precise one times every run beside it.
    let chosen = plan.clock.as_deref().and_then(|name| platform.clock(name));
    let coarse = chosen.or_else(|| choose::coarse_clock(platform)).map(|clock| clock.info().name);
    let recorder = |role, clock: &str| {
        let mut series = of(role, portions.mean());
        series.clock = clock.to_owned();
        series.conditions = plan.conditions.clone();
        series.labels = Labels::new()
            .with(label::STYLE, style)
            .with(label::CLOCK_ROLE, role)
            .with(label::THREADS, u64::from(portions.threads()))
            .with(label::WORK, portions.mean_total());
        SeriesRecorder::new(series, amount.planned(portions.mean()))
    };
    Box::new(ForkJoin {
        style,
        portions,
        coarse_index: platform.clocks().iter().position(|clock| Some(clock.info().name) == coarse),
        coarse: recorder(ClockRole::Coarse, coarse.unwrap_or_default()),
        precise: recorder(ClockRole::Precise, platform.reference_clock()),
        amount,
        cpus: platform.cpus().len().max(1),
        work_units: Arc::clone(&plan.work_units),
        conditions: plan.conditions.clone(),
    })
}

/// Units of [`Platform::work`] in a millisecond, from an earlier experiment of the run or measured now. `None` if the
/// run must end, for example because the clock can't time work.
pub(super) fn calibrated_work(bench: &Bench, known: &OnceLock<u64>) -> Option<u64> {
    if let Some(units) = known.get() {
        return Some(*units);
    }
    let units = calibrate_work(bench)?;
    Some(*known.get_or_init(|| units))
}

fn calibrate_work(bench: &Bench) -> Option<u64> {
    let reference = bench.platform().clock(bench.platform().reference_clock());
    let step = reference.and_then(|clock| clock.stated_step_ns()).unwrap_or_default();
    // A clock that moves in ticks must have moved by several ticks: by its stated step, or by the observed one if it didn't
    // move at all.
    let mut enough = TIMED_MIN.max(step * 8);
    let (mut stood, mut least) = (false, Nanos::MAX);
    let mut still = StillClock::default();
    let mut units = 256;
    while units <= UNITS_MAX {
        let time = timed(bench, &mut still, units)?;
        if time >= enough {
            // The fastest of three was disturbed least. If it took no time, the first was disturbed, or timed by a single
            // tick.
            let mut three = [Nanos::ZERO; 3];
            for time in &mut three {
                *time = timed(bench, &mut still, units)?;
            }
            let best = three.into_iter().min().unwrap_or_default();
            stood |= best == Nanos::ZERO;
            least = three.into_iter().filter(|&time| time > Nanos::ZERO).fold(least.min(time), Nanos::min);
            if stood {
                enough = enough.max(least * 8);
            }
            if best.0 >= enough.0 / 2 {
                return Some((units as f64 * 1e6 / best.0 as f64).round().max(1.0) as u64);
            }
        }
        stood |= time == Nanos::ZERO;
        units *= 2;
    }
    bench.give_up(Unavailable::failed(
        "calibrating work",
        format!("{UNITS_MAX} units of work took less than {enough} by the clock"),
    ));
    None
}

/// The time that work takes by the reference clock; `None` if the run must end.
fn timed(bench: &Bench, still: &mut StillClock, units: u64) -> Option<Nanos> {
    let platform = bench.platform();
    let before = platform.now();
    let mut left = units;
    while left > 0 {
        let part = left.min(UNITS_AT_ONCE);
        platform.work(part);
        left -= part;
        if left > 0 || units >= UNITS_AT_ONCE {
            // A unit takes about a ns, a read about 20.
            bench.note(still, platform.now(), Reads(part / 16));
        }
        if bench.stopped() {
            return None;
        }
    }
    Some(platform.now() - before)
}

struct ForkJoin {
    style: JoinStyle,
    portions: Portions,
    coarse_index: Option<usize>,
    coarse: SeriesRecorder,
    precise: SeriesRecorder,
    amount: Amount,
    cpus: usize,
    work_units: Arc<OnceLock<u64>>,
    conditions: Conditions,
}

impl ForkJoin {
    /// One fork and join, with the work drawn for its number.
    ///
    /// # Errors
    /// Why it could not be done as described; every started thread has ended.
    fn once(&self, bench: &Bench, work: Vec<u64>, sleeper: &mut dyn Waiter) -> Result<(), Unavailable> {
        let platform = bench.platform();
        if self.style == JoinStyle::Single {
            work.into_iter().for_each(|units| platform.work(units));
            return Ok(());
        }
        let mut workers: Vec<Box<dyn ThreadHandle>> = Vec::with_capacity(work.len());
        for units in work {
            let there = Arc::clone(bench.shared_platform());
            match platform.spawn("worker", Box::new(move || there.work(units))) {
                Ok(worker) => workers.push(worker),
                Err(reason) => {
                    workers.into_iter().for_each(|worker| worker.join());
                    return Err(reason);
                }
            }
        }
        let spin_max = self.portions.total_max() * SPIN_FACTOR;
        let are_done = || workers.iter().all(|worker| worker.is_finished());
        let waited = wait_for_workers(self.style, platform, sleeper, spin_max, are_done);
        workers.into_iter().for_each(|worker| worker.join());
        waited
    }
}

fn units(work: Nanos, units_per_ms: u64) -> u64 {
    let units = u128::from(work.0.unsigned_abs()) * u128::from(units_per_ms) / 1_000_000;
    u64::try_from(units).unwrap_or(u64::MAX)
}

impl Probe for ForkJoin {
    fn label(&self) -> String {
        format!("fork-join, {}", self.style.as_str())
    }

    fn rounds(&self) -> u32 {
        self.amount.rounds
    }

    fn round_estimate(&self) -> Nanos {
        let cpus = u32::try_from(self.cpus).unwrap_or(u32::MAX).min(self.portions.threads());
        self.amount.round_estimate(Nanos(self.portions.mean_total().0 / i64::from(cpus.max(1))))
    }

    fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    fn round(&mut self, bench: &Bench) -> Result<(), Unavailable> {
        let platform = bench.platform();
        let Some(units_per_ms) = calibrated_work(bench, &self.work_units) else { return Ok(()) };
        let scale = self.coarse_index.map(|index| choose::scale_of(platform, index)).transpose();
        let coarse = self.coarse_index.zip(scale?);
        let mut sleeper = bench.open_simplest_sleep()?;
        let mut share = self.amount.share(bench, self.precise.series().counts.recorded);
        while share.next(bench) {
            let work = self.portions.draw(self.precise.series().counts.recorded);
            let work = work.map(|work| units(work, units_per_ms)).collect();
            let read_coarse = || coarse.map(|(index, _)| platform.clocks()[index].read());
            let coarse_start = read_coarse();
            let start = platform.now();
            self.once(bench, work, &mut *sleeper)?;
            let end = platform.now();
            let coarse_end = read_coarse();
            let at = bench.since_origin(start);
            self.precise.record(at, (end - start).0);
            if let (Some((_, scale)), Some(from), Some(to)) = (coarse, coarse_start, coarse_end) {
                self.coarse.record(at, scale.span(from, to).0);
            }
        }
        Ok(())
    }

    fn recorders(&mut self) -> Vec<&mut SeriesRecorder> {
        vec![&mut self.coarse, &mut self.precise]
    }

    fn finish(self: Box<Self>, partial: bool, measured: &mut Measured) {
        if self.coarse_index.is_some() {
            measured.series.push(self.coarse.into_series(partial));
        }
        measured.series.push(self.precise.into_series(partial));
    }
}

#[cfg(test)]
mod tests {
    use oversleep_model::sim::{Overshoot, Sim};

    use super::*;
    use crate::StopFlag;
    use crate::plan::Limit;
    use crate::testing;

    #[test]
    fn the_steps_are_the_clocks_and_the_polls() {
        // A CPU for each worker and one for the main thread.
        let machine = testing::machine().with_wait("nanosleep", Overshoot::Fixed(Nanos(66_000))).with_cpus(9);
        let sim = Sim::start(machine.build());
        let measured = testing::measure_on(sim.clone(), (D1.probes)(&*sim, &Plan::default()));
        let series = |key: &str| measured.series.iter().find(|series| series.key == key).expect(key);
        assert!(series("D1/blocked/coarse").samples.value.iter().all(|ns| ns % 4_000_000 == 0));
        // The longest of eight portions of 1 to 2 ms, plus the start of its thread; nothing more for a blocked join.
        let all = &series("D1/blocked/precise").samples.value;
        let longest = |number: usize| Portions::of(&Plan::default()).draw(number as u64).max().unwrap().0;
        assert!(all.iter().enumerate().all(|(number, ns)| (0..100_000).contains(&(ns - longest(number)))), "{all:?}");
        let blocked = series("D1/blocked/precise").distribution.p50().unwrap();
        let polling = series("D1/polling/precise").distribution.p50().unwrap();
        assert!(polling - blocked > 100_000, "a poll comes late: {polling} against {blocked}");
        assert_eq!(series("D1/spinning/precise").counts.recorded, 9);
    }

    #[test]
    fn with_fewer_cpus_than_threads_the_work_is_shared_out() {
        let machine = testing::machine().with_wait("nanosleep", Overshoot::Fixed(Nanos(66_000)));
        let sim = Sim::start(machine.build());
        let measured =
            testing::measure_on(sim.clone(), vec![probe(&*sim, &Plan::default(), D1.id, JoinStyle::Blocked)]);
        let precise = measured.series.iter().find(|series| series.key == "D1/blocked/precise").unwrap();
        // Half of all the work on each of two CPUs, the longer half, and the start of a thread.
        for (number, ns) in precise.samples.value.iter().enumerate() {
            let half = Portions::of(&Plan::default()).draw(number as u64).sum::<Nanos>().0 / 2;
            assert!((0..2_000_000).contains(&(ns - half)), "{ns} for {half}");
        }
    }

    #[test]
    fn a_limit_of_time_is_heeded() {
        let sim = Sim::start(testing::machine().with_wait("nanosleep", Overshoot::Fixed(Nanos(66_000))).build());
        let plan = Plan { limit: Some(Limit::Time(Nanos::from_millis(100))), ..Plan::default() };
        let measured = testing::measure_on(sim.clone(), vec![probe(&*sim, &plan, D2.id, JoinStyle::Single)]);
        // The fork-join in progress when the time is up is finished.
        let precise = measured.series.iter().find(|series| series.key == "D2/single/precise").expect("measured");
        let all: i64 = precise.samples.value.iter().sum();
        assert!((99_000_000..104_000_000).contains(&all), "{all}");
    }

    #[test]
    fn work_is_calibrated_to_the_model() {
        let sim = Sim::start(testing::machine().build());
        let bench = Bench::new(sim, StopFlag::new(), None).unwrap();
        assert_eq!(calibrate_work(&bench), Some(1_000), "a unit is 1 µs there");
    }
}
