//! One operation of one runtime as a probe of the laboratory. Each round runs a process, whose records fill the series.

mod round;

use std::collections::BTreeMap;
use std::ops::Range;
use std::process::Command;

use oversleep_measure::runtime_waits::rounds;
use oversleep_measure::{Bench, Plan, Probe, SeriesRecorder};
use oversleep_record::label::{self, ClockRole};
use oversleep_record::probe::OpKind;
use oversleep_record::series::{Pace, Quantity, Runtime, Series, Unit};
use oversleep_record::{Conditions, ExperimentId, Nanos, Unavailable};

use crate::descriptor::{Op, Variant};
use crate::engine;
use crate::instrument::Instrument;
use crate::limits::Limits;
use crate::steps::{self, Step, steps};

/// An estimate of the time to start a program.
const START: Nanos = Nanos::from_millis(120);

/// The clock of one of a step's series; `None` for the probe's own clock.
type By = Option<String>;

/// How to start the program of a probe.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program and the arguments that precede the steps.
    pub words: Vec<String>,
    /// Additional environment variables.
    pub environment: BTreeMap<String, String>,
    /// The runtime, as results name it.
    pub runtime: Runtime,
    /// Its name in keys: `java-17`.
    pub id: String,
    /// How long the program may take.
    pub limits: Limits,
}

impl Launch {
    /// The command that runs the program with these steps.
    pub fn command(&self, tokens: &[String]) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).args(tokens).envs(&self.environment);
        command
    }
}

/// One operation of one runtime.
pub struct RuntimeProbe {
    launch: Launch,
    op: String,
    kind: OpKind,
    variant: Option<(String, Option<String>)>,
    steps: Vec<Step>,
    /// Each with the index of its step in `steps`.
    recorders: Vec<(SeriesRecorder, usize, By)>,
    /// The program's own clock, if this probe compares it with the system's.
    instrument: Option<Instrument>,
    /// The indices of the steps that only show its rate.
    rate: Range<usize>,
    rounds: u32,
    conditions: Conditions,
    /// The index of the first step that never returned. Later rounds stop before it.
    stuck: Option<usize>,
}

impl RuntimeProbe {
    /// A probe of that operation. The first one of a runtime also compares the program's clock with the system's.
    pub fn new(launch: &Launch, op: &Op, plan: &Plan, os: &str, is_first: bool) -> RuntimeProbe {
        let rounds = if engine::passes_items(op.kind) { engine::rounds(plan) } else { rounds(plan) };
        let steps = steps(op, plan);
        let is_instrument = is_first && !engine::passes_items(op.kind);
        let (steps, rate) = match is_instrument && op.kind == OpKind::Wait && !op.slow {
            true => steps::with_rate(steps, plan),
            false => (steps, 0..0),
        };
        RuntimeProbe { rate, ..RuntimeProbe::of(launch, op, steps, rounds, os, is_instrument) }
    }

    /// The operation's published experiment, with its number of calls, in one process.
    pub fn published(launch: &Launch, op: &Op, os: &str) -> RuntimeProbe {
        RuntimeProbe::of(launch, op, steps::published(op), 1, os, false)
    }

    fn of(launch: &Launch, op: &Op, steps: Vec<Step>, rounds: u32, os: &str, is_first: bool) -> RuntimeProbe {
        let mut probe = RuntimeProbe {
            launch: launch.clone(),
            op: op.name.clone(),
            kind: op.kind,
            variant: None,
            steps: steps.clone(),
            recorders: Vec::new(),
            instrument: None,
            rate: 0..0,
            rounds: if op.slow { rounds.min(2) } else { rounds },
            conditions: Conditions::as_found(),
            stuck: None,
        };
        let is_of_rate = |step: &Step| step.experiment == ExperimentId::R3 && op.kind != OpKind::Clock;
        for (at, step) in steps.into_iter().enumerate().filter(|(_, step)| !is_of_rate(step)) {
            let is_timed_twice = step.experiment == ExperimentId::R4;
            let by: &[By] = if is_timed_twice { &[None, Some("GetTickCount64".to_owned())] } else { &[None] };
            for by in by {
                let mut series = probe.series(step, by);
                if let Some(wait) = op.beneath.get(os) {
                    series.labels.set(label::BENEATH, wait.clone());
                }
                if let Some(threads) = op.published.as_ref().and_then(|published| published.threads) {
                    let work = step.requested * i64::try_from(threads).unwrap_or(1);
                    series.labels = series.labels.with(label::THREADS, threads).with(label::WORK, work);
                }
                let expected = step.count * u64::from(probe.rounds);
                probe.recorders.push((SeriesRecorder::new(series, expected), at, by.clone()));
            }
            if op.kind == OpKind::Clock {
                let mut series = probe.series(step, &None);
                (series.quantity, series.unit) = (Quantity::Step, Unit::Ns);
                series.key = series.key.word("step");
                probe.recorders.push((SeriesRecorder::new(series, 64), at, Some("step".to_owned())));
            }
        }
        if is_first {
            probe.instrument = Some(Instrument::of(&launch.id, &launch.runtime, probe.rounds));
        }
        probe
    }

    /// The operation with an option or condition of the runtime; without one, as found for comparison.
    pub fn varied(launch: &Launch, op: &Op, variant: Option<&Variant>, plan: &Plan) -> RuntimeProbe {
        let plain = Op { published: None, ..op.clone() };
        let mut probe = RuntimeProbe::new(launch, &plain, plan, "", false);
        let step = match engine::passes_items(op.kind) {
            true => steps::items(op.kind, plan),
            false => Step {
                experiment: ExperimentId::B11,
                requested: Nanos::from_millis(1),
                count: plan.depth.pick(15, 12, 50),
            },
        };
        probe.steps = vec![step];
        probe.variant = variant.map(|variant| (variant.name.clone(), variant.step.clone()));
        if let Some(option) = variant.and_then(|variant| variant.option.as_ref()) {
            probe.launch.words.insert(1, option.clone());
        }
        let mut series = probe.series(step, &None);
        let name = variant.map_or("as-found", |variant| variant.name.as_str());
        series.key = series.key.word(name);
        series.labels.set(label::VARIANT, name.to_owned());
        probe.recorders = vec![(SeriesRecorder::new(series, step.count * u64::from(probe.rounds)), 0, None)];
        probe
    }

    /// Marks the probe as not available for this reason.
    pub fn unavailable(mut self, reason: &Unavailable) -> RuntimeProbe {
        self.mark(reason);
        self
    }

    fn series(&self, step: Step, by: &By) -> Series {
        let (quantity, unit) = match (self.kind, step.experiment) {
            (kind, _) if engine::passes_items(kind) => engine::quantity(kind).expect("it has one"),
            (OpKind::Clock, _) => (Quantity::Cost, Unit::Ps),
            (_, ExperimentId::R2 | ExperimentId::R4) => (Quantity::Duration, Unit::Ns),
            _ => (Quantity::Lateness, Unit::Ns),
        };
        let mut series = Series::new(step.experiment, &self.op, quantity, unit);
        if self.kind != OpKind::Clock {
            series.key = series.key.span(step.requested);
            series.requested_ns = Some(step.requested);
            series.pace = Some(Pace::BackToBack);
        }
        series.key = series.key.word(&self.launch.id);
        if step.experiment == ExperimentId::R4 {
            let role = if by.is_some() { ClockRole::Coarse } else { ClockRole::Precise };
            series.key = series.key.word(role);
            series.labels.set(label::CLOCK_ROLE, role);
        }
        series.runtime = Some(self.launch.runtime.clone());
        series
    }

    fn mark(&mut self, reason: &Unavailable) {
        self.recorders.iter_mut().for_each(|(recorder, ..)| recorder.unavailable(reason.clone()));
        if let Some(instrument) = &mut self.instrument {
            instrument.unavailable(reason);
        }
    }
}

impl RuntimeProbe {
    fn every_recorder(&mut self) -> impl Iterator<Item = &mut SeriesRecorder> {
        let of_instrument = self.instrument.iter_mut().flat_map(Instrument::recorders);
        self.recorders.iter_mut().map(|(recorder, ..)| recorder).chain(of_instrument)
    }
}

impl Probe for RuntimeProbe {
    fn label(&self) -> String {
        let variant = self.variant.as_ref().map(|(name, _)| format!(", {name}")).unwrap_or_default();
        format!("{} {}{variant}", self.launch.id, self.op)
    }

    fn rounds(&self) -> u32 {
        self.rounds
    }

    fn round_estimate(&self) -> Nanos {
        let step = |step: &Step| (step.requested + Nanos(300_000)) * i64::try_from(step.count).unwrap_or(i64::MAX);
        let start = if engine::passes_items(self.kind) { engine::START } else { START };
        start + self.steps.iter().map(step).sum()
    }

    fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    fn round(&mut self, bench: &Bench) -> Result<(), Unavailable> {
        self.run(bench)
    }

    fn recorders(&mut self) -> Vec<&mut SeriesRecorder> {
        self.every_recorder().collect()
    }
}
