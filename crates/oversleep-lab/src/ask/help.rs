//! What would make a late wait end closer to its time on a modelled machine: each candidate is tried there.

use oversleep_record::conditions::Setting;
use oversleep_record::series::Pace;
use oversleep_system::runtime_calls::{self, Record};
use oversleep_system::waits::SLEEP_UNTIL;
use oversleep_system::{Family, Platform, Wait, examples};

use super::answer::{Answer, Meaning};
use super::measured::ask;
use super::question::{Question, Subject};
use crate::session::Laboratory;

/// What helps, and what the call took with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Help {
    /// What to do, with the call.
    pub what: String,
    /// The median with it, ns.
    pub p50_ns: f64,
}

/// A wait that is less late than this, or than a tenth of its request, needs no help.
const LATE_NS: f64 = 20_000.0;
/// What doesn't take away a quarter of the lateness is no help.
const WORTHWHILE: f64 = 0.75;

/// What would make that wait end closer to its time: a setting, another sleep of the runtime or of the system, and the
/// library's sleep, each if it helps. Nothing for a real machine, where trying takes real time, and for a wait that is on
/// time.
pub fn helps(machine: &Laboratory, question: &Question, answer: &Answer) -> Vec<Help> {
    let Subject::Wait { name, request } = &question.subject else { return Vec::new() };
    let platform = machine.platform();
    let requested_ns = request.0 as f64;
    let late_ns = answer.quantile_ns(0.5) - requested_ns;
    let is_back_to_back = question.pace.unwrap_or(Pace::BackToBack) == Pace::BackToBack;
    if platform.id().modelled.is_none()
        || answer.meaning() != Meaning::Itself
        || !is_back_to_back
        || late_ns < LATE_NS.max(requested_ns / 10.0)
    {
        return Vec::new();
    }
    let with = |what: String, question: Question| {
        let answer = ask(machine, &question).ok()?;
        let p50_ns = answer.quantile_ns(0.5);
        let is_better = p50_ns - requested_ns <= late_ns * WORTHWHILE && answer.min_ns() >= requested_ns;
        is_better.then_some(Help { what, p50_ns })
    };
    let instead = |what: String, name: &str| {
        let subject = Subject::Wait { name: name.to_owned(), request: *request };
        with(what, Question { subject, ..question.clone() })
    };
    let call = record_of(machine, name);
    let others = match call {
        Some(record) => of_runtime(platform, record),
        None => of_system(platform, name),
    };
    let others = others.into_iter().filter_map(|(what, name)| instead(what, &name));
    let library = match call.map_or("", Record::family) {
        "" | "rust" | "cpp" | "c" | "python" | "java" => {
            instead(format!("this project's library, which spins at the end ({})", SLEEP_UNTIL.name), SLEEP_UNTIL.name)
        }
        _ => None,
    };
    let setting = finer(platform, question).and_then(|(what, question)| with(what, question));
    let best = others.min_by(|one, other| one.p50_ns.total_cmp(&other.p50_ns));
    [setting, best, library.filter(|_| may_block(call, name))].into_iter().flatten().collect()
}

/// The record of a runtime's call by that name.
fn record_of<'a>(machine: &'a Laboratory, name: &str) -> Option<&'a Record> {
    let found = machine.runtime_call(name).ok().flatten()?;
    Some(runtime_calls::wait(machine.platform(), found)?.record())
}

/// The setting that makes waits of this system finer, unless the question has it already.
fn finer(platform: &dyn Platform, question: &Question) -> Option<(String, Question)> {
    let id = platform.id();
    let (name, setting) = examples::of(&id.os, &id.arch)?.finer;
    let info = platform.tunable(name)?.info();
    if question.conditions.setting(name).is_some() {
        return None;
    }
    let setting: Setting = setting.parse().ok()?;
    let what = format!("{name} {setting} ({})", info.call);
    let conditions = question.conditions.clone().with(name, setting);
    Some((what, Question { conditions, ..question.clone() }))
}

/// Whether the thread may do nothing but wait in that call: an event loop may not.
fn may_block(call: Option<&Record>, name: &str) -> bool {
    call.map_or_else(|| name == "sleep" || !name.contains("poll"), is_sleep)
}

fn is_sleep(record: &Record) -> bool {
    const LOOPS: [&str; 5] = ["asyncio", "tokio", "async_io", "timer:", "virtual"];
    record.names.iter().any(|name| {
        let last = name.rsplit(['.', ':']).next().unwrap_or(name);
        let is_blocking = !LOOPS.iter().any(|one| name.starts_with(one));
        is_blocking && (last.to_ascii_lowercase().starts_with("sleep") || last.starts_with("park"))
    })
}

/// The other blocking sleeps of that runtime's version, if the call is one.
fn of_runtime(platform: &dyn Platform, call: &Record) -> Vec<(String, String)> {
    if !is_sleep(call) {
        return Vec::new();
    }
    let os = platform.id().os;
    let fits = |one: &&Record| {
        one.system == os && one.family() == call.family() && one.overlaps(call) && one.id != call.id && is_sleep(one)
    };
    let ends_early = |name: &str| name.rsplit('.').next().is_some_and(|last| last.starts_with("park"));
    let named = |one: &Record| {
        let what = match ends_early(&call.names[0]) && !ends_early(&one.names[0]) {
            true => format!("{}, where nothing has to wake the thread earlier", one.names[0]),
            false => one.names[0].clone(),
        };
        (what, one.wait_name())
    };
    runtime_calls::all().iter().filter(fits).map(named).collect()
}

/// The system's other sleeps and timers, for a sleep or timer.
fn of_system(platform: &dyn Platform, name: &str) -> Vec<(String, String)> {
    let is_kin = |wait: &dyn Wait| matches!(wait.info().family, Family::Sleep | Family::Timer);
    let waits = || platform.waits().iter().map(AsRef::as_ref).filter(|wait| is_kin(*wait));
    if name != "sleep" && !waits().any(|wait| wait.info().name == name || wait.info().call.contains(name)) {
        return Vec::new();
    }
    waits().map(|wait| (wait.info().call.to_owned(), wait.info().name.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use oversleep_model::platform;

    use super::*;

    fn helped(machine: &str, text: &str) -> Vec<Help> {
        let lab = Laboratory::on(platform(machine, &[], 1).expect("a machine"));
        let question = Question::of(text.parse().expect("a question"));
        let answer = ask(&lab, &question).unwrap_or_else(|error| panic!("{error}"));
        helps(&lab, &question, &answer)
    }

    fn texts(machine: &str, text: &str) -> Vec<String> {
        helped(machine, text).into_iter().map(|help| help.what).collect()
    }

    #[test]
    fn each_late_wait_has_its_cure() {
        let of_windows = texts("windows-11", "Sleep(1ms)");
        assert!(of_windows[0].starts_with("resolution 1 ms (NtSetTimerResolution)"), "{of_windows:?}");
        assert!(of_windows[1].contains("HIGH_RESOLUTION"), "{of_windows:?}");
        assert!(of_windows[2].contains("library"), "{of_windows:?}");
        let of_java = texts("windows-11", "parkNanos(1ms)");
        assert!(of_java[1].starts_with("Thread.sleep, where nothing has to wake the thread earlier"), "{of_java:?}");
    }

    #[test]
    fn a_wait_on_time_and_an_event_loop_get_no_blocking_sleep() {
        assert_eq!(texts("linux-hz250", "nanosleep(10ms)"), Vec::<String>::new());
        let of_loop = texts("windows-11", "asyncio.sleep(1ms)");
        assert!(of_loop.iter().all(|help| !help.contains("time.sleep") && !help.contains("library")), "{of_loop:?}");
    }
}
