//! Language runtimes on a modelled machine. No runtime is run: each of its calls is replaced by the system call that a
//! record names, with the translated request.

use std::cmp::Reverse;

use oversleep_measure::runtime_waits::{
    PUBLISHED_PARKS, PUBLISHED_PARKS_NS, RULE_REQUESTS_NS, beneath, beneath_once, count, requests, rounds, tick_count,
};
use oversleep_measure::{Amount, Bench, Plan, Probe, SeriesRecorder};
use oversleep_record::conditions::Setting;
use oversleep_record::label;
use oversleep_record::series::{Quantity, Runtime};
use oversleep_record::{Conditions, ExperimentId, Nanos, Unavailable};
use oversleep_system::runtime_calls::{CallWait, Host, Trick, all, call, takes_no_span, tricks};
use oversleep_system::tunables::names::RESOLUTION;
use oversleep_system::{Platform, SharedPlatform, WaitEnd};

use super::lateness::{Alone, Lateness, series_of};
use super::{HELD, Record};

/// How often each request that shows a rule is repeated in a round.
const FEW: u64 = 4;
/// The name of a result without a trick, beside those with one.
const AS_FOUND: &str = "as-found";

/// The waits of the runtimes that the plan names (all if it names none) and the system's own waits beneath them, as far
/// as they belong to these experiments. Records of the result that the machine is like come first.
pub(crate) fn probes(
    shared: &SharedPlatform,
    plan: &Plan,
    is_wanted: &dyn Fn(ExperimentId) -> bool,
    alone: Alone,
) -> Vec<Box<dyn Probe>> {
    let platform = &**shared;
    let os = platform.id().os;
    let own = platform.runtime_calls().iter().map(CallWait::record);
    let host = Host::of(platform);
    let is_meant = |record: &&Record| {
        let names = &plan.subjects;
        let is_named = |name: &String| name.eq_ignore_ascii_case(record.family());
        let runs = |version| record.covers(version) && host.lacks_for(record.family(), version).is_none();
        let is_version = plan.runtimes.version.as_ref().is_none_or(runs);
        let has = |part: &String| record.names.iter().any(|name| name.contains(part.as_str()));
        let is_in = plan.runtimes.only.is_empty() || plan.runtimes.only.iter().any(has);
        record.system == os
            && host.runs(record)
            && is_version
            && is_in
            && (names.is_empty() || names.iter().any(is_named))
    };
    let records = newest_first(own.chain(all()).filter(is_meant).collect());
    let mut all: Vec<Box<dyn Probe>> = Vec::new();
    if is_wanted(ExperimentId::R1) {
        let waits: Vec<String> =
            records.iter().map(|record| record.passes(|name| is_there(shared, name)).wait.to_owned()).collect();
        all.extend(beneath(platform, &waits, plan));
    }
    for record in &records {
        if is_wanted(ExperimentId::R1) {
            let late = |requested| -> Box<dyn Probe> { Box::new(Lateness::of(shared, record, requested, plan, alone)) };
            all.extend(requests_of(record, plan).into_iter().map(late));
        }
        // What takes no span shows no rule.
        if is_wanted(ExperimentId::R2) && !takes_no_span(&record.names[0]) {
            let rule =
                |ns| Call::of(record, ExperimentId::R2, Nanos(ns), FEW, rounds(plan)).held(&plan.conditions).boxed();
            all.extend(RULE_REQUESTS_NS.map(rule));
        }
    }
    let own_sleep = records.iter().find(|record| record.family() == "free-pascal" && record.wait == "sleep");
    if let Some(record) = own_sleep.filter(|_| is_wanted(ExperimentId::R4))
        && let Some(call) = oversleep_system::runtime_calls::wait(platform, &record.wait_name())
    {
        let runtime = Runtime { name: record.family().to_owned(), version: record.versions.clone() };
        all.extend(tick_count(platform, plan, oversleep_system::Wait::info(call).name, &runtime));
    }
    if let Some(first) = records.iter().find(|record| is_published_park(record)) {
        if is_wanted(ExperimentId::B10) {
            for ns in PUBLISHED_PARKS_NS {
                let amount = Amount { count: PUBLISHED_PARKS, time: Nanos::MAX, rounds: 1 };
                all.push(beneath_once(platform, ExperimentId::B10, &first.wait, Nanos(ns), amount));
                all.push(Call::of(first, ExperimentId::B10, Nanos(ns), PUBLISHED_PARKS, 1).boxed());
            }
        }
        if is_wanted(ExperimentId::B11) {
            let call = || {
                Call::of(
                    first,
                    ExperimentId::B11,
                    Nanos::from_millis(1),
                    count(plan, Nanos::from_millis(1)),
                    rounds(plan),
                )
            };
            all.push(call().named(AS_FOUND).boxed());
            let tricks = tricks().iter().filter(|trick| is_for(trick, first));
            all.extend(tricks.map(|trick| call().under(trick, platform).boxed()));
        }
    }
    all
}

/// The requests of a call: those of the plan, or the span that it waits where programs give it none.
fn requests_of(record: &Record, plan: &Plan) -> Vec<Nanos> {
    let alone = call(&record.names[0]).and_then(|call| call.alone.as_ref()?.parse().ok());
    alone.filter(|_| plan.requests.is_empty()).map_or_else(|| requests(plan), |alone| vec![alone])
}

/// The same records: those of a call stay together where the first of them is, the newest version first.
fn newest_first(mut records: Vec<&Record>) -> Vec<&Record> {
    let call = |record: &Record| (record.family().to_owned(), record.names[0].clone());
    let mut calls: Vec<_> = Vec::new();
    for record in &records {
        if !calls.contains(&call(record)) {
            calls.push(call(record));
        }
    }
    let place = |record: &Record| calls.iter().position(|known| *known == call(record));
    records.sort_by_cached_key(|record| (place(record), Reverse(record.from.clone())));
    records
}

/// Whether the published experiments on parks concern this record.
fn is_published_park(record: &Record) -> bool {
    tricks().iter().any(|trick| is_for(trick, record))
}

fn is_for(trick: &Trick, record: &Record) -> bool {
    record.family() == trick.family && record.names.contains(&trick.wait)
}

/// Whether the machine has a wait of that name that works.
fn is_there(platform: &SharedPlatform, name: &str) -> bool {
    platform.wait(name).is_some_and(|wait| wait.open(platform).is_ok())
}

/// One request of a runtime's call.
struct Call {
    /// Its name among waits.
    wait: String,
    requested: Nanos,
    /// The number of calls in each round.
    count: u64,
    rounds: u32,
    conditions: Conditions,
    recorder: SeriesRecorder,
}

impl Call {
    fn of(record: &Record, experiment: ExperimentId, requested: Nanos, count: u64, rounds: u32) -> Call {
        let is_duration = experiment == ExperimentId::R2;
        let quantity = if is_duration { Quantity::Duration } else { Quantity::Lateness };
        let series = series_of(record, experiment, quantity, requested);
        let recorder = SeriesRecorder::new(series, count * u64::from(rounds));
        Call { wait: record.wait_name(), requested, count, rounds, conditions: Conditions::as_found(), recorder }
    }

    fn named(mut self, variant: &str) -> Call {
        let series = self.recorder.series_mut();
        series.key = std::mem::take(&mut series.key).word(variant);
        series.labels.set(label::VARIANT, variant.to_owned());
        self
    }

    fn under(self, trick: &Trick, platform: &dyn Platform) -> Call {
        let mut call = self.named(&trick.name);
        // Other systems have no such setting for a process.
        if trick.holds_a_millisecond && platform.tunable(RESOLUTION).is_some() {
            call.conditions = holding();
            call.recorder.series_mut().conditions = holding();
        }
        call
    }

    /// The call made under these conditions.
    fn held(mut self, conditions: &Conditions) -> Call {
        self.conditions = conditions.clone();
        self.recorder.series_mut().conditions = conditions.clone();
        self
    }

    fn boxed(self) -> Box<dyn Probe> {
        Box::new(self)
    }
}

/// Conditions under which the process holds 1 ms.
fn holding() -> Conditions {
    Conditions::as_found().with(RESOLUTION, Setting::Nanos(HELD))
}

impl Probe for Call {
    fn label(&self) -> String {
        format!("{} {}", self.recorder.series().subject, self.requested)
    }

    fn rounds(&self) -> u32 {
        self.rounds
    }

    fn round_estimate(&self) -> Nanos {
        (self.requested + Nanos(70_000)) * i64::try_from(self.count).unwrap_or(i64::MAX)
    }

    fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    fn round(&mut self, bench: &Bench) -> Result<(), Unavailable> {
        self.recorder.series_mut().clock = bench.clock_name().to_owned();
        let mut waiter = bench.open_wait(&self.wait)?;
        let deadline = if self.recorder.series().quantity == Quantity::Lateness { self.requested } else { Nanos::ZERO };
        for _ in 0..self.count {
            if bench.stopped() {
                break;
            }
            let start = bench.stamp();
            match waiter.wait(bench.target(start, start + self.requested)) {
                WaitEnd::TimedOut => {
                    let duration = bench.stamp() - start;
                    self.recorder.record(bench.since_origin(start), (duration - deadline).0);
                }
                WaitEnd::Interrupted => self.recorder.count_interrupted(bench),
                WaitEnd::Failed(reason) => return Err(reason),
            }
        }
        Ok(())
    }

    fn recorders(&mut self) -> Vec<&mut SeriesRecorder> {
        vec![&mut self.recorder]
    }
}
