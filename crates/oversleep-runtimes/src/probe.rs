//! One operation of one runtime as a probe of the laboratory: a process in each round, whose records fill the series.

use std::process::Command;

use oversleep_measure::{Bench, Measured, Plan, Probe, SeriesRecorder};
use oversleep_record::label::{self, ClockRole, Ended};
use oversleep_record::probe::{OpKind, Reads, Record, Samples, Windows};
use oversleep_record::series::{Pace, Quantity, Runtime, Series, Unit};
use oversleep_record::{Conditions, ExperimentId, Nanos, Unavailable};

use crate::descriptor::{Op, Variant};
use crate::limits::{self, START_MAX};
use crate::session::{Session, add_cpu};
use crate::steps::{self, Step, rounds, steps};
use crate::supervise::{Event, OUTPUT_BYTES_MAX, Running};
use crate::{engine, rate};

/// How long a start is estimated to take.
const START: Nanos = Nanos::from_millis(120);

/// Which of a step's series: timed by the probe's clock, or by another one.
type By = Option<String>;

/// How the program of a probe is started.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program and its arguments before the steps.
    pub words: Vec<String>,
    /// The runtime, as results name it.
    pub runtime: Runtime,
    /// Tells it from others in keys: `java-17`.
    pub id: String,
}

/// One operation of one runtime.
pub struct RuntimeProbe {
    launch: Launch,
    op: String,
    kind: OpKind,
    variant: Option<(String, Option<String>)>,
    steps: Vec<Step>,
    /// With the place of its step in `steps`.
    recorders: Vec<(SeriesRecorder, usize, By)>,
    /// What the program's clock shows of a second.
    second: Option<SeriesRecorder>,
    rounds: u32,
    conditions: Conditions,
    /// The first step that never returned; none from there on is run again.
    stuck: Option<usize>,
}

impl RuntimeProbe {
    /// A probe of that operation. `is_first` of its runtime: it also compares the program's clock with the system's.
    pub fn new(launch: &Launch, op: &Op, plan: &Plan, os: &str, is_first: bool) -> RuntimeProbe {
        let rounds = if engine::passes_items(op.kind) { engine::rounds(plan) } else { rounds(plan) };
        RuntimeProbe::of(launch, op, steps(op, plan), rounds, os, is_first && !engine::passes_items(op.kind))
    }

    /// The same as it was published: as many calls, in one process.
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
            second: None,
            rounds: if op.slow { rounds.min(2) } else { rounds },
            conditions: Conditions::as_found(),
            stuck: None,
        };
        for (at, step) in steps.into_iter().enumerate() {
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
            let mut series = Series::new(ExperimentId::R3, "clock", Quantity::Duration, Unit::Ns);
            series.key = series.key.word(&launch.id).word("second");
            series.runtime = Some(launch.runtime.clone());
            series.requested_ns = Some(Nanos::from_secs(1));
            probe.second = Some(SeriesRecorder::new(series, u64::from(probe.rounds)));
        }
        probe
    }

    /// The same under an option or condition of the runtime, as the experiment that tries those.
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

    /// The same, not available for this reason.
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
        if let Some(second) = &mut self.second {
            second.unavailable(reason.clone());
        }
    }

    /// The steps of this round.
    fn tokens(&self) -> Vec<String> {
        let condition = self.variant.as_ref().and_then(|(_, step)| step.clone());
        let steps = &self.steps[..self.stuck.unwrap_or(self.steps.len())];
        condition
            .into_iter()
            .chain(steps.iter().map(|step| format!("{}@{}@{}", self.op, step.requested.0, step.count)))
            .collect()
    }

    /// Runs the program once.
    ///
    /// # Errors
    /// Why its operation can't be measured.
    fn run(&mut self, bench: &Bench) -> Result<(), Unavailable> {
        let failed = |what: String| Unavailable::failed("the probe", what);
        let platform = bench.shared_platform().clone();
        let mut command = Command::new(&self.launch.words[0]);
        command.args(&self.launch.words[1..]).args(self.tokens());
        let started = Running::start(&mut command, move || platform.now());
        let mut running = started.map_err(|error| failed(format!("it can't be started: {error}")))?;
        let mut session = Session::default();
        let mut longest = START_MAX;
        loop {
            match running.next(longest, &|| bench.stopped()) {
                Event::Stopped => return Ok(()),
                Event::TooMuch => return Err(failed(format!("it wrote more than {} MiB", OUTPUT_BYTES_MAX >> 20))),
                Event::Closed => return Err(failed(format!("it ended too early, with {}", running.last_words()))),
                Event::Silent => return self.silent(&session).map_err(failed),
                Event::Line(arrived, line) => {
                    let Some(record) = Record::read(&line).map_err(|error| failed(error.to_string()))? else {
                        continue;
                    };
                    let is_last = matches!(record, Record::End { .. });
                    self.take(bench, &mut session, record, arrived)?;
                    if is_last {
                        return Ok(());
                    }
                    longest = limits::longest(self.kind, self.steps.get(session.done));
                }
            }
        }
    }

    /// Nothing came in time.
    ///
    /// # Errors
    /// Unless it was a short request, which then means forever.
    fn silent(&mut self, session: &Session) -> Result<(), String> {
        let at = session.done;
        if session.hello.is_none() {
            return Err(format!("it had not said hello after {} s", START_MAX.as_secs()));
        }
        let Some(step) = self.steps.get(at) else { return Err("it had not ended after its last step".to_owned()) };
        let requested = step.requested;
        let longest = Nanos::from_micros(limits::longest(self.kind, Some(step)).as_micros() as i64);
        if !limits::is_short(self.kind, step) {
            return Err(format!("{}@{} did not return within {longest}", self.op, requested.as_typed()));
        }
        self.stuck = Some(at);
        for (recorder, of, _) in self.recorders.iter_mut().filter(|(_, of, _)| *of >= at) {
            recorder.series_mut().labels.set(label::ENDED, Ended::Never);
            recorder.unavailable(Unavailable::failed(
                &self.op,
                match *of == at {
                    true => format!("a request of {requested} had not returned after {longest}"),
                    false => format!("not tried, because a request of {requested} had not returned after {longest}"),
                },
            ));
        }
        Ok(())
    }

    fn take(
        &mut self,
        bench: &Bench,
        session: &mut Session,
        record: Record,
        arrived: Nanos,
    ) -> Result<(), Unavailable> {
        match record {
            Record::Hello(hello) => {
                let clock = hello.clock.clone();
                self.all_series().for_each(|series| series.clock.clone_from(&clock));
                session.hello = Some((hello.now, arrived));
                session.pairs.push((hello.now, arrived));
                Ok(())
            }
            Record::Skip { op, why } if op == self.op => {
                let reason = Unavailable::missing(format!("{op} ({why})"));
                let skipped = self.recorders.iter_mut().filter(|(_, at, _)| *at == session.done);
                skipped.for_each(|(recorder, ..)| recorder.unavailable(reason.clone()));
                session.done += 1;
                Ok(())
            }
            Record::S(samples) if samples.op == self.op => {
                if let (Some(start), Some(duration), None) = (samples.t.last(), samples.d.last(), &samples.by) {
                    session.pairs.push((start.saturating_add(*duration), arrived));
                }
                self.record(bench, session, &samples)
            }
            Record::C(reads) if reads.op == self.op => {
                session.done += 1;
                self.record_reads(bench, arrived, &reads);
                Ok(())
            }
            Record::R(windows) if windows.op == self.op => self.record_windows(bench, session, &windows),
            Record::End { .. } if session.done == 0 => {
                Err(Unavailable::failed("the probe", "it ended without a record of any step"))
            }
            Record::End { now } => {
                session.pairs.push((now, arrived));
                if let (Some(second), Some(second_ns)) = (&mut self.second, rate::second(&session.pairs)) {
                    second.record(bench.since_origin(arrived), second_ns);
                }
                Ok(())
            }
            Record::S(Samples { op, .. }) | Record::C(Reads { op, .. }) | Record::R(Windows { op, .. }) => {
                Err(Unavailable::failed("the probe", format!("it reports {op}, which it wasn't asked for")))
            }
            Record::Op { .. } | Record::Skip { .. } => Ok(()),
        }
    }

    fn all_series(&mut self) -> impl Iterator<Item = &mut Series> {
        self.recorders.iter_mut().map(|(recorder, ..)| recorder).chain(&mut self.second).map(|one| one.series_mut())
    }

    /// The step that a record is about, which must be the last one that was done.
    fn step(&self, session: &Session, requested: i64) -> Result<usize, Unavailable> {
        let is_next = |&at: &usize| self.steps.get(at).is_some_and(|step| step.requested.0 == requested);
        session.done.checked_sub(1).filter(is_next).ok_or_else(|| {
            let what = format!("it reports a request of {}, which was not the next one", Nanos(requested));
            Unavailable::failed("the probe", what)
        })
    }

    fn record_windows(&mut self, bench: &Bench, session: &mut Session, all: &Windows) -> Result<(), Unavailable> {
        session.done += 1;
        let at = self.step(session, all.requested)?;
        let offset = session.offset();
        let Some((recorder, ..)) = self.recorders.iter_mut().find(|(_, of, _)| *of == at) else { return Ok(()) };
        if recorder.series().quantity != Quantity::ItemsPerSecond {
            return Err(Unavailable::failed(
                "the probe",
                format!("it reports windows of {}, which counts none", all.op),
            ));
        }
        add_cpu(recorder.series_mut(), all.cpu);
        all.rates().for_each(|(start, rate)| recorder.record(bench.since_origin(Nanos(start) + offset), rate));
        Ok(())
    }

    fn record(&mut self, bench: &Bench, session: &mut Session, samples: &Samples) -> Result<(), Unavailable> {
        session.done += usize::from(samples.by.is_none());
        let at = self.step(session, samples.requested)?;
        let offset = session.offset();
        let meant = self.recorders.iter_mut().find(|(_, of, by)| *of == at && *by == samples.by);
        let Some((recorder, ..)) = meant else { return Ok(()) };
        let series = recorder.series_mut();
        series.rounded_ns = Some(Nanos(samples.rounded));
        if let Some(by) = &samples.by {
            series.clock.clone_from(by);
        }
        if let Some(collections) = samples.gc {
            series.labels.set(label::COLLECTIONS, series.label(label::COLLECTIONS).unwrap_or(0) + collections);
        }
        add_cpu(series, samples.cpu);
        if series.quantity == Quantity::ItemsPerSecond {
            return Err(Unavailable::failed(
                "the probe",
                format!("it reports durations of {}, not windows", samples.op),
            ));
        }
        let deadline = if series.quantity == Quantity::Lateness { samples.requested } else { 0 };
        for (&start, &duration) in samples.t.iter().zip(&samples.d) {
            if duration < 0 {
                recorder.count_backward();
            } else {
                recorder.record(bench.since_origin(Nanos(start) + offset), duration - deadline);
            }
        }
        Ok(())
    }

    fn record_reads(&mut self, bench: &Bench, arrived: Nanos, reads: &Reads) {
        let at = bench.since_origin(arrived);
        for (recorder, _, by) in &mut self.recorders {
            match by {
                None => reads.d.iter().for_each(|d| recorder.record(at, d.saturating_mul(1_000) / reads.reads)),
                Some(_) => reads.step.iter().for_each(|&step| recorder.record(at, step)),
            }
        }
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

    fn round(&mut self, bench: &Bench) {
        if let Err(reason) = self.run(bench) {
            self.mark(&reason);
        }
    }

    fn recorders(&mut self) -> Vec<&mut SeriesRecorder> {
        self.recorders.iter_mut().map(|(recorder, ..)| recorder).chain(&mut self.second).collect()
    }

    fn finish(self: Box<Self>, partial: bool, measured: &mut Measured) {
        let recorders = self.recorders.into_iter().map(|(recorder, ..)| recorder).chain(self.second);
        measured.series.extend(recorders.map(|recorder| recorder.into_series(partial)));
    }
}
