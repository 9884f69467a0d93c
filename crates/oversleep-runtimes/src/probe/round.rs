//! One round of a probe: runs its program and puts its records into the series.

use std::ops::Range;
use std::time::Duration;

use oversleep_measure::{Bench, SeriesRecorder};
use oversleep_record::label::{self, Ended};
use oversleep_record::probe::{Reads, Record, Samples, Windows};
use oversleep_record::series::{Quantity, Series};
use oversleep_record::{Nanos, Unavailable};

use super::RuntimeProbe;
use crate::limits;
use crate::session::{Session, add_cpu};
use crate::supervise::{Event, Limit, OUTPUT_BYTES_MAX, Running, brief};

/// The number of further runs for the rate of a program's clock if its lines arrive too irregularly.
const RATE_ATTEMPTS_MORE: u32 = 3;

impl RuntimeProbe {
    /// Some of the steps in the syntax of the protocol.
    fn tokens(&self, steps: Range<usize>) -> Vec<String> {
        let condition = self.variant.as_ref().and_then(|(_, step)| step.clone());
        condition.into_iter().chain(self.steps[steps].iter().map(|step| step.token(&self.op))).collect()
    }

    /// Runs the program once, and again as long as the rate of its clock is unknown.
    ///
    /// # Errors
    /// The reason if its operation can't be measured.
    pub(super) fn run(&mut self, bench: &Bench) -> Result<(), Unavailable> {
        let mut is_told = self.run_steps(bench, 0..self.stuck.unwrap_or(self.steps.len()))?;
        for _ in 0..RATE_ATTEMPTS_MORE {
            if is_told || self.rate.is_empty() || self.stuck.is_some_and(|at| at < self.rate.end) || bench.stopped() {
                break;
            }
            is_told = self.run_steps(bench, self.rate.clone())?;
        }
        Ok(())
    }

    /// Runs the program with some of the steps. Returns whether the rate of its clock is known now.
    fn run_steps(&mut self, bench: &Bench, steps: Range<usize>) -> Result<bool, Unavailable> {
        let failed = |what: String| Unavailable::failed("the probe", what);
        let platform = bench.shared_platform().clone();
        let started = Running::start(&mut self.launch.command(&self.tokens(steps.clone())), move || platform.now());
        let mut running = started.map_err(|error| failed(format!("it can't be started: {error}")))?;
        let mut session = Session { done: steps.start, ..Session::default() };
        let mut limit = Limit::of(self.launch.limits.hello);
        loop {
            match running.next(limit, &|| bench.stopped()) {
                Event::Stopped => return Ok(false),
                Event::TooMuch => return Err(failed(format!("it wrote more than {} MiB", OUTPUT_BYTES_MAX >> 20))),
                Event::Closed => return Err(failed(format!("it {}", running.last_words(self.launch.limits.end)))),
                Event::Silent => return self.silent(&session).map(|()| false).map_err(failed),
                Event::Line(arrived, line) => {
                    let Some(record) = Record::read(&line).map_err(|error| failed(error.to_string()))? else {
                        continue;
                    };
                    if let Record::End { now } = record {
                        return self.end(bench, &mut session, now, arrived, steps.start);
                    }
                    let before = session.progress();
                    self.take(bench, &mut session, record, arrived)?;
                    if session.progress() != before {
                        limit = Limit::of(self.longest(session.done));
                    }
                }
            }
        }
    }

    /// How long that step may take.
    fn longest(&self, step: usize) -> Duration {
        self.launch.limits.longest(self.kind, self.steps.get(step))
    }

    /// The program wrote nothing within the time limit.
    ///
    /// # Errors
    /// The reason, except after a short request, which then means forever.
    fn silent(&mut self, session: &Session) -> Result<(), String> {
        let at = session.done;
        if session.hello.is_none() {
            return Err(format!("it had not said hello after {} s", self.launch.limits.hello.as_secs()));
        }
        let Some(step) = self.steps.get(at) else { return Err("it had not ended after its last step".to_owned()) };
        let requested = step.requested;
        let longest = Nanos::from_micros(self.longest(at).as_micros() as i64);
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
        let failed = |what: &str| Err(Unavailable::failed("the probe", what));
        match record {
            Record::Hello(_) if session.hello.is_some() => failed("it said `hello` twice"),
            Record::Hello(hello) => {
                let clock = hello.clock.clone();
                self.all_series().for_each(|series| series.clock.clone_from(&clock));
                session.hello = Some((hello.now, arrived));
                session.pairs.push((hello.now, arrived));
                Ok(())
            }
            _ if session.hello.is_none() => failed("it reports before it has said `hello`"),
            Record::Skip { op, why } if op == self.op => {
                let reason = Unavailable::failed(op, brief(&why));
                let skipped = self.recorders.iter_mut().filter(|(_, at, _)| *at == session.done);
                skipped.for_each(|(recorder, ..)| recorder.unavailable(reason.clone()));
                session.done += 1;
                Ok(())
            }
            Record::S(samples) if samples.op == self.op => {
                if let (Some(start), Some(duration), None) = (samples.t.last(), samples.d.last(), &samples.by) {
                    session.pairs.push((start.saturating_add(*duration), arrived));
                    session.stamps.add(&samples.t, &samples.d);
                }
                self.record(bench, session, &samples)
            }
            Record::C(reads) if reads.op == self.op => {
                session.done += 1;
                self.record_reads(bench, arrived, &reads);
                Ok(())
            }
            Record::R(windows) if windows.op == self.op => self.record_windows(bench, session, &windows),
            Record::S(Samples { op, .. }) | Record::C(Reads { op, .. }) | Record::R(Windows { op, .. }) => {
                Err(Unavailable::failed("the probe", format!("it reports {op}, which it wasn't asked for")))
            }
            Record::Op { .. } | Record::Skip { .. } | Record::End { .. } => Ok(()),
        }
    }

    /// Handles the last record. Returns whether the rate of the program's clock is known now.
    fn end(
        &mut self,
        bench: &Bench,
        session: &mut Session,
        now: i64,
        arrived: Nanos,
        begun: usize,
    ) -> Result<bool, Unavailable> {
        if session.done == begun {
            return Err(Unavailable::failed("the probe", "it ended without a record of any step"));
        }
        session.pairs.push((now, arrived));
        let instrument = self.instrument.as_mut();
        Ok(instrument.is_some_and(|one| one.record(bench, arrived, &session.pairs, &session.stamps)))
    }

    fn all_series(&mut self) -> impl Iterator<Item = &mut Series> {
        self.every_recorder().map(SeriesRecorder::series_mut)
    }

    /// The index of the step that a record is about, which must be the latest.
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
            series
                .labels
                .set(label::COLLECTIONS, series.label(label::COLLECTIONS).unwrap_or(0).saturating_add(collections));
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
