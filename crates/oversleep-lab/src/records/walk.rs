//! One call is the same wait, however it is measured: every call, version and machine, at spans from nothing to days, as
//! found, under a held resolution, and beside a process that holds one. Of all spans each pair of a call and a machine gets
//! some, in turn, so that every call meets every span on some machine.

use oversleep_measure::{Limit, Plan};
use oversleep_model::sim::{Machine, Sim};
use oversleep_record::conditions::Setting;
use oversleep_record::series::Pace;
use oversleep_record::{CommandName, Conditions, ExperimentId, Series};
use oversleep_system::runtime_calls::{self, call, wait};
use oversleep_system::tunables::names::RESOLUTION;
use oversleep_system::{Neighbour, Target};

use super::tests::run_on;
use super::*;
use crate::Laboratory;
use crate::ask::{NoAnswer, Question, Subject, ask};

const SPANS: [Nanos; 9] = [
    Nanos::ZERO,
    Nanos::from_micros(100),
    Nanos::from_millis(1),
    Nanos(1_500_000),
    Nanos::from_millis(5),
    Nanos::from_millis(16),
    Nanos::from_secs(70),
    Nanos::from_secs(3 * 86_400),
    // More than 32 bits of milliseconds hold.
    Nanos::from_secs(50 * 86_400),
];
const COUNT: u64 = 3;
/// A call gets one in so many spans on a machine as found, and one in so many under other circumstances.
const TURNS: [usize; 2] = [3, 6];

/// The spans whose turn it is.
fn spans(turn: usize, under: &Under) -> impl Iterator<Item = Nanos> {
    let one_in = if under.is_as_found() { TURNS[0] } else { TURNS[1] };
    SPANS.into_iter().enumerate().filter(move |(at, _)| (at + turn).is_multiple_of(one_in)).map(|(_, span)| span)
}

/// The circumstances of a question.
#[derive(Clone, Debug, Default)]
struct Under {
    held: Option<Nanos>,
    neighbour: Option<Nanos>,
}

impl Under {
    /// Those that matter on a system.
    fn all(os: &str) -> Vec<Under> {
        let millisecond = Some(HELD);
        let mut all = vec![Under::default()];
        if os == "windows" {
            all.push(Under { held: millisecond, ..Under::default() });
            all.push(Under { neighbour: millisecond, ..Under::default() });
        }
        all
    }

    fn is_as_found(&self) -> bool {
        self.held.is_none() && self.neighbour.is_none()
    }

    fn conditions(&self) -> Conditions {
        let as_found = Conditions::as_found();
        self.held.map_or(as_found.clone(), |held| as_found.with(RESOLUTION, Setting::Nanos(held)))
    }

    fn start(&self, lab: &Laboratory) -> Option<Box<dyn Neighbour>> {
        let setting = Setting::Nanos(self.neighbour?);
        Some(lab.platform().neighbour(Some(&setting)).expect("a neighbour"))
    }
}

/// The modelled machines of a system.
fn machines(os: &str) -> Vec<(&'static str, Machine)> {
    let machine = |name| oversleep_model::machine(name, &[], 1).unwrap_or_else(|error| panic!("{error}"));
    let all = oversleep_model::names().into_iter().map(|name| (name, machine(name)));
    all.filter(|(_, machine)| machine.os == os).collect()
}

/// The records about versions that run on that machine.
fn of(machine: &Machine) -> Vec<&'static Record> {
    let host = Host::of(&*Sim::start(machine.clone()));
    runtimes().iter().filter(|record| record.system == machine.os && host.runs(record)).collect()
}

/// A series isn't one of a span of weeks, which some calls take for a millisecond.
fn takes(record: &Record, span: Nanos) -> bool {
    let subject = Subject::Wait { name: record.wait_name(), request: span };
    if span > Nanos::from_secs(3_600) && Question::of(subject).pace == Some(Pace::Periodic) {
        return false;
    }
    span > Nanos::ZERO || record.names.iter().filter_map(|name| call(name)).any(|call| call.takes_zero)
}

fn question(record: &Record, request: Nanos, count: u64, under: &Under) -> Question {
    let subject = Subject::Wait { name: record.wait_name(), request };
    let neighbours = under.neighbour.map(Setting::Nanos).into_iter().collect();
    Question { count, conditions: under.conditions(), neighbours, ..Question::of(subject) }
}

/// What `ask` says of such values: how long each call took, or how late each deadline was.
fn values(series: &Series) -> Vec<f64> {
    let base = if series.pace == Some(Pace::Periodic) { Nanos::ZERO } else { series.requested_ns.expect("a request") };
    let mut values: Vec<f64> = series.samples.value.iter().map(|late| (late + base.0) as f64).collect();
    values.sort_by(f64::total_cmp);
    values
}

/// What `waits NAME` gives of that call.
fn series_of(lab: &Laboratory, record: &Record, request: Nanos, pace: Pace, under: &Under) -> Series {
    let plan = Plan {
        subjects: vec![record.wait_name()],
        requests: vec![request],
        pace: Some(pace),
        limit: Some(Limit::Count(COUNT)),
        conditions: under.conditions(),
        ..Plan::default()
    };
    let neighbour = under.start(lab);
    let file = run_on(lab, CommandName::Waits, &[ExperimentId::B5], plan);
    drop(neighbour);
    file.series.into_iter().find(|series| series.subject == record.wait_name()).expect("its series")
}

/// `ask` and `waits NAME`, each as it is without an option but the request: the same pace, and each value, of every call
/// and of the library's own sleeps.
fn defaults_are_the_same(os: &str) {
    let mut compared = 0;
    for (name, machine) in machines(os) {
        let lab = || Laboratory::on(Sim::start(machine.clone()));
        let library = oversleep_measure::library_waits(&*lab().platform).iter().map(|wait| wait.info().name.to_owned());
        for wait in of(&machine).into_iter().map(Record::wait_name).chain(library) {
            let request = Nanos::from_millis(1);
            let what = format!("{name} {wait}");
            let usual = Question::of(Subject::Wait { name: wait.clone(), request });
            let Ok(answer) = ask(&lab(), &usual) else { continue };
            let plan = Plan { subjects: vec![wait.clone()], requests: vec![request], ..Plan::default() };
            let file = run_on(&lab(), CommandName::Waits, &[ExperimentId::B5], plan);
            let series = file.series.iter().find(|series| series.subject == wait).expect(&what);
            assert_eq!(series.pace, Some(usual.pace.unwrap_or(Pace::BackToBack)), "{what}");
            assert_eq!(values(series), answer.values_ns(), "{what}");
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared}");
}

/// `ask` and `waits NAME` at the same pace: each value is the same.
fn asks_and_waits_are_the_same(os: &str) {
    let mut compared = 0;
    for (turn, (name, machine)) in machines(os).into_iter().enumerate() {
        let lab = || Laboratory::on(Sim::start(machine.clone()));
        let all = Under::all(os);
        let of = of(&machine);
        let of = || of.iter().enumerate();
        let calls = all.iter().flat_map(|under| of().map(move |(at, record)| (under, turn + at, *record)));
        for (under, turn, record) in calls {
            for request in spans(turn, under).filter(|span| takes(record, *span)) {
                let what = format!("{name} {} {request} {under:?}", record.wait_name());
                let here = lab();
                let question = question(record, request, COUNT, under);
                let pace = question.pace.unwrap_or(Pace::BackToBack);
                let answer = match ask(&here, &question) {
                    Ok(answer) => answer,
                    Err(NoAnswer::Unavailable { .. }) => {
                        let call = wait(here.platform(), &record.wait_name()).expect("it is built in");
                        let left = call.passes(&here.platform).span(request, Nanos::ZERO);
                        let is_refused = call.refused(&here.platform, request).is_some();
                        let is_missing = oversleep_system::Wait::open(call, &here.platform).is_err();
                        assert!(left == Nanos::ZERO || is_refused || is_missing, "{what}: it is there");
                        if is_refused {
                            let series = series_of(&lab(), record, request, pace, under);
                            assert!(!series.has_values(), "{what}: `waits` gives figures of it");
                        }
                        continue;
                    }
                    Err(error) => panic!("{what}: {error}"),
                };
                let series = series_of(&lab(), record, request, pace, under);
                assert_eq!(values(&series), answer.values_ns(), "{what}");
                compared += 1;
            }
        }
    }
    assert!(compared > 200, "{compared}");
}

/// `runtimes --on`: each value is the same.
fn runtimes_and_asks_are_the_same(os: &str) {
    const MANY: u64 = 12;
    let mut compared = 0;
    for (turn, (name, machine)) in machines(os).into_iter().enumerate() {
        let lab = || Laboratory::on(Sim::start(machine.clone()));
        for under in Under::all(os) {
            let spans: Vec<Nanos> = spans(turn, &under).filter(|span| *span > Nanos::ZERO).collect();
            let (requests, conditions) = (spans.clone(), under.conditions());
            if requests.is_empty() {
                continue;
            }
            let plan = Plan { requests, conditions, limit: Some(Limit::Count(MANY)), ..Plan::default() };
            let measured = lab();
            let neighbour = under.start(&measured);
            let file = run_on(&measured, CommandName::Runtimes, &[ExperimentId::R1], plan);
            drop(neighbour);
            for (record, request) in
                of(&machine).iter().flat_map(|record| spans.iter().map(move |span| (record, *span)))
            {
                let Ok(answer) = ask(&lab(), &question(record, request, MANY, &under)) else { continue };
                let what = format!("{name} {} {request} {under:?}", record.wait_name());
                let is_it = |series: &&Series| {
                    let is_its = |runtime: &oversleep_record::series::Runtime| {
                        runtime.name == record.family() && runtime.version == record.versions
                    };
                    series.requested_ns == Some(request)
                        && series.runtime.as_ref().is_some_and(is_its)
                        && (record.names.contains(&series.subject)
                            || record.id.ends_with(&format!("/{}", series.subject)))
                };
                let series = file.series.iter().find(is_it).unwrap_or_else(|| panic!("{what}"));
                assert_eq!(values(series), answer.values_ns(), "{what}");
                compared += 1;
            }
        }
    }
    assert!(compared > 200, "{compared}");
}

#[test]
fn one_call_is_the_same_wait_however_it_is_asked_on_windows() {
    asks_and_waits_are_the_same("windows");
}

#[test]
fn one_call_is_the_same_wait_however_it_is_asked_on_linux() {
    asks_and_waits_are_the_same("linux");
}

#[test]
fn one_call_is_the_same_wait_however_it_is_asked_on_macos() {
    asks_and_waits_are_the_same("macos");
}

#[test]
fn ask_and_waits_have_the_same_defaults_on_windows() {
    defaults_are_the_same("windows");
}

#[test]
fn ask_and_waits_have_the_same_defaults_on_linux() {
    defaults_are_the_same("linux");
}

#[test]
fn ask_and_waits_have_the_same_defaults_on_macos() {
    defaults_are_the_same("macos");
}

#[test]
fn runtimes_makes_the_waits_that_ask_makes_on_windows() {
    runtimes_and_asks_are_the_same("windows");
}

#[test]
fn runtimes_makes_the_waits_that_ask_makes_on_linux() {
    runtimes_and_asks_are_the_same("linux");
}

#[test]
fn runtimes_makes_the_waits_that_ask_makes_on_macos() {
    runtimes_and_asks_are_the_same("macos");
}

/// A call whose runtime waits again until a clock shows its end is not early by that clock on any machine.
#[test]
fn a_call_that_looks_at_a_clock_is_never_early_by_it() {
    let mut looked = 0;
    for (name, machine) in machines("windows") {
        for record in of(&machine) {
            let platform: SharedPlatform = Sim::start(machine.clone());
            let call = wait(&*platform, &record.wait_name()).expect("it is built in");
            let Ok(mut waiter) = oversleep_system::Wait::open(call, &platform) else { continue };
            let Some(clock) = call.due_by(&platform) else { continue };
            let hz = i128::from(clock.stated_frequency_hz().expect("its frequency"));
            let shown = || Nanos((i128::from(clock.read()) * 1_000_000_000 / hz) as i64);
            for request in [Nanos::from_millis(1), Nanos(1_500_000), Nanos::from_millis(15), Nanos::from_millis(16)] {
                let (before, now) = (shown(), platform.now());
                let due = call.passes(&platform).due(record.counts, request, now);
                waiter.wait(Target { remaining: request, deadline: now + request });
                let passed = match record.counts {
                    Counts::MillisecondsShown => record.counts.passed(before, shown()),
                    Counts::Rounded | Counts::Exactly => shown() - before,
                };
                assert!(passed >= due, "{name} {} {request}: {passed}", record.wait_name());
                looked += 1;
            }
        }
    }
    assert!(looked > 500, "{looked}");
}

/// `step(time.monotonic)` is the step of the clock that the record names, for every clock, version and machine; and a call
/// whose record speaks of its programs' clock is asked by that name as by the system's.
#[test]
fn a_runtimes_clock_is_the_systems_clock_that_the_table_names_on_every_machine() {
    let mut compared = 0;
    for os in ["windows", "linux", "macos"] {
        for (name, machine) in machines(os) {
            for clock in runtime_calls::clocks().iter().filter(|clock| clock.system == os) {
                let lab = || Laboratory::on(Sim::start(machine.clone()));
                let asks = |clock: String| ask(&lab(), &Question { count: 1, ..Question::of(Subject::Cost { clock }) });
                // A name that the system itself has is the system's.
                let names = clock.names.iter().take(1).filter(|known| lab().platform().clock(known).is_none());
                for known in names.filter(|known| *known != "Instant::now" && !known.starts_with("std::")) {
                    let full = format!("{known}@{}-{}", clock.family, clock.from);
                    // Runtimes of one family may number their versions alike.
                    if !runtime_calls::find_clocks(os, &full, None).first().is_some_and(|meant| *meant == clock) {
                        continue;
                    }
                    let named = asks(full);
                    let systems = asks(clock.clock.clone());
                    match (named, systems) {
                        (Ok(named), Ok(systems)) => {
                            let seen: Vec<f64> = systems.values_ns().iter().map(|&ns| clock.cost_ns(ns)).collect();
                            assert_eq!(named.values_ns(), seen, "{name} {known}")
                        }
                        (Err(_), Err(_)) => continue,
                        (named, systems) => panic!("{name} {known}: {named:?} {systems:?}"),
                    }
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 100, "{compared}");
}
