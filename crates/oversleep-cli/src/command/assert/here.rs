//! Measures this machine, or a model, until every assertion is decided or the time is used up.

use oversleep_explain as explain;
use oversleep_lab::assert::{Assertion, Claim, Subject};
use oversleep_lab::catalogue::Kind;
use oversleep_lab::{Laboratory, Request};
use oversleep_measure::{Command, Plan, Progress, StopFlag};
use oversleep_record::assertion::{Judged, Verdict};
use oversleep_record::samples::Samples;
use oversleep_record::{CommandName, Nanos, ResultFile, Series};
use oversleep_request::args::{ConditionArgs, DepthArgs};

use super::allowance::Allowance;
use super::{Assert, judge_all};
use crate::command::measuring::explain as why_not;
use crate::exit::Failure;
use crate::interrupt;
use crate::progress::Meter;
use crate::request::{MeasuringArgs, machine, names};

/// Measures and judges.
pub fn measure(
    assert: &Assert,
    assertions: &[Assertion],
    within: Nanos,
    is_interrupted: &mut bool,
) -> Result<Vec<Judged>, Failure> {
    let lab = machine::laboratory(&assert.machine)?;
    let requests = requests(&lab, assert, assertions, ConditionArgs::default())?;
    let stop = StopFlag::new();
    let signals = interrupt::raise_on_signal(&stop);
    let is_real = lab.platform_id().modelled.is_none();
    let mut meter = Meter::new(!assert.documents.quiet, is_real);
    let mut allowance = Allowance::new(within);
    let mut whole: Option<ResultFile> = None;
    let judged = loop {
        let more = run(&lab, &requests, &stop, &mut meter)?;
        let took = more.duration_ns;
        let file = add(&mut whole, more);
        file.findings = explain::findings_to_keep(file);
        let judged = judge_all(file, assertions)?;
        *is_interrupted = stop.is_raised();
        let is_open = |judged: &Judged| judged.verdict == Verdict::Undecided;
        let has_time = allowance.has_time((!is_real).then_some(took));
        if *is_interrupted || !judged.iter().any(is_open) || !has_time {
            break judged;
        }
    };
    drop(signals);
    meter.clear();
    Ok(judged)
}

/// Measures all of this, as one result.
pub fn run(
    lab: &Laboratory,
    requests: &[Request],
    stop: &StopFlag,
    progress: &mut dyn Progress,
) -> Result<ResultFile, Failure> {
    let mut whole: Option<ResultFile> = None;
    for request in requests {
        add(&mut whole, lab.run(request, stop, progress).map_err(|error| why_not(&error))?);
    }
    Ok(whole.expect("there is something to measure"))
}

/// What has to be measured for these assertions: clocks and waits apart.
pub fn requests(
    lab: &Laboratory,
    assert: &Assert,
    assertions: &[Assertion],
    conditions: ConditionArgs,
) -> Result<Vec<Request>, Failure> {
    let (mut waits, mut requests, mut clocks, mut check) = (Vec::new(), Vec::new(), Vec::new(), false);
    for assertion in assertions {
        let refused = |what: &str| Failure::usage(format!("'{}' needs a result: {what}", assertion.text));
        match &assertion.claim {
            Claim::Figure { subject: Subject::Wait { runtime: None, name, request }, .. } => {
                waits.push(match name.as_str() {
                    "sleep" => plain_sleep(lab).to_owned(),
                    name => name.to_owned(),
                });
                requests.push(*request);
            }
            Claim::Figure { subject: Subject::Clock(name), .. } => clocks.push(name.clone()),
            Claim::Figure { subject: Subject::Wait { .. }, .. } => {
                return Err(refused("measure it with `oversleep runtimes --out r.json`"));
            }
            Claim::Figure { subject: Subject::Series(_), .. } => {
                return Err(refused("measure it, and name the file"));
            }
            Claim::Figure { .. } | Claim::Presence { is_cause: true, .. } => {
                return Err(refused("follow the program with `oversleep why --out r.json -- PROGRAM`"));
            }
            Claim::Presence { .. } => check = true,
            Claim::Fact { .. } => {}
        }
    }
    let waits = names::checked(lab, Kind::Wait, waits)?;
    let clocks = names::checked(lab, Kind::Clock, clocks)?;
    let mut all = Vec::new();
    if check {
        all.push((CommandName::Check, Vec::new(), None, Vec::new(), Vec::new()));
    } else if !clocks.is_empty() {
        all.push((CommandName::Clocks, Command::Clocks.experiments(), Some(Kind::Clock), clocks, Vec::new()));
    }
    // A check has some waits, with requests of its own.
    if !waits.is_empty() || all.is_empty() {
        all.push((CommandName::Waits, Command::NamedWaits.experiments(), Some(Kind::Wait), waits, requests));
    }
    let request = |(command, experiments, subject_kind, subjects, requests)| {
        let args = MeasuringArgs::new(command, DepthArgs::default(), conditions.clone(), assert.machine.clone());
        let plan = Plan { subjects, requests, ..args.plan.clone() };
        Ok(MeasuringArgs { experiments, subject_kind, plan, ..args }.request(lab, None)?)
    };
    all.into_iter().map(request).collect()
}

/// The simplest sleep of the machine.
fn plain_sleep(lab: &Laboratory) -> &'static str {
    oversleep_system::waits::sets::plain_sleeps(&lab.platform_id().os).first().copied().unwrap_or("sleep")
}

/// Adds what was measured of the same series again, and what was measured beside them.
fn add(whole: &mut Option<ResultFile>, more: ResultFile) -> &mut ResultFile {
    let Some(whole) = whole else { return whole.insert(more) };
    whole.duration_ns.0 = whole.duration_ns.0.saturating_add(more.duration_ns.0);
    for other in more.clocks {
        match whole.clocks.iter_mut().find(|clock| clock.name == other.name) {
            Some(clock) if clock.cost_series.is_none() => *clock = other,
            Some(_) => {}
            None => whole.clocks.push(other),
        }
    }
    for other in more.series {
        let Some(series) = whole.series.iter_mut().find(|series| series.key == other.key) else {
            whole.series.push(other);
            continue;
        };
        let Series { counts, calls_only, rounds, .. } = series;
        rounds.extend(other.rounds);
        counts.recorded = counts.recorded.saturating_add(other.counts.recorded);
        counts.missed = counts.missed.saturating_add(other.counts.missed);
        counts.early = counts.early.saturating_add(other.counts.early);
        counts.backward = counts.backward.saturating_add(other.counts.backward);
        counts.interrupted = counts.interrupted.saturating_add(other.counts.interrupted);
        counts.expected = counts.expected.zip(other.counts.expected).map(|(one, two)| one.saturating_add(two));
        if calls_only.is_some() || other.calls_only.is_some() {
            let mut calls = calls_only.take().unwrap_or_else(|| series.distribution.clone());
            calls.merge(other.calls_only.as_ref().unwrap_or(&other.distribution));
            series.calls_only = Some(calls);
        }
        series.distribution.merge(&other.distribution);
        series.samples = Samples::default();
    }
    whole
}
