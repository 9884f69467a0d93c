//! Other names for waits and clocks than those of the registries: the call as the system writes it (`Sleep`,
//! `GetTickCount64`, `CLOCK_MONOTONIC_COARSE`), and the call of a language's runtime (`parkNanos`, `time.sleep`).

use oversleep_record::Nanos;
use oversleep_record::conditions::Setting;
use oversleep_system::tunables::names;

use super::question::{Question, Subject};
use oversleep_measure::find_wait;
use oversleep_system::{Clock, Family, Platform, Wait};

/// How a runtime rounds a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rounds {
    Not,
    /// Up to whole milliseconds.
    Up,
    /// Down to whole milliseconds, but to at least one.
    Down,
}

/// A wait of a language's runtime, and the call of the system that it makes.
struct Runtime {
    names: &'static [&'static str],
    /// Whose runtime it is.
    owner: &'static str,
    /// The wait by system: Windows, Linux, macOS.
    waits: [(&'static str, Rounds); 3],
    /// Whether it requests 1 ms of Windows while it waits, unless the request is a multiple of 10 ms.
    holds_a_millisecond: bool,
}

const SYSTEMS: [&str; 3] = ["windows", "linux", "macos"];

use Rounds::{Down, Not, Up};

/// One runtime a row: its names, whose they are, and the waits of Windows, Linux and macOS with their rounding.
macro_rules! runtimes {
    ($([$($name:literal),+] of $owner:literal: $($how:ident $wait:literal),+ $(; holds $held:literal)?)+) => {
        &[$(Runtime {
            names: &[$($name),+],
            owner: $owner,
            waits: [$(($wait, $how)),+],
            holds_a_millisecond: false $(|| $held)?,
        }),+]
    };
}

/// Where names differ only in case and the typed case fits none, the first is meant.
const RUNTIMES: &[Runtime] = runtimes! {
    // os::PlatformEvent::park and Parker::park in os_windows.cpp and os_posix.cpp of OpenJDK.
    ["LockSupport.parkNanos", "parkNanos"] of "the JDK":
        Down "wait-for-single-object", Not "cond-timedwait", Not "cond-timedwait"
    ["Thread.sleep"] of "the JDK":
        Up "wait-for-single-object", Up "cond-timedwait", Up "cond-timedwait"; holds true
    ["Thread.Sleep"] of ".NET": Down "sleep-ex", Down "cond-timedwait", Down "cond-timedwait"
    // pysleep in Modules/timemodule.c.
    ["time.sleep"] of "CPython since 3.11":
        Not "waitable-timer-high-resolution", Not "clock-nanosleep-abs", Not "nanosleep"
    // runtime/os_windows.go, netpoll_epoll.go, netpoll_kqueue.go.
    ["time.Sleep"] of "Go since 1.23, with nothing else to run":
        Not "waitable-timer-high-resolution", Up "epoll-wait", Not "kevent"
    ["std::this_thread::sleep_for", "this_thread::sleep_for", "sleep_for"] of "C++ (MSVC, libstdc++, libc++)":
        Up "sleep", Not "nanosleep", Not "nanosleep"
    ["setTimeout"] of "Node": Down "get-queued-completion-status", Down "epoll-wait", Down "kevent"
    ["WM_TIMER"] of "a message loop": Not "set-timer", Not "", Not ""
    ["MsgWaitForMultipleObjects", "MsgWaitForMultipleObjectsEx"] of "a message loop":
        Not "wait-for-multiple-objects", Not "", Not ""
};

/// The question in the names of the registries, and, for a runtime's call, a sentence that says what it becomes.
pub(crate) fn in_registry_names(platform: &dyn Platform, question: &Question) -> (Question, String) {
    let mut question = question.clone();
    let mut translation = String::new();
    let clock_of = |name: &str| clock(platform, name).map_or(name.to_owned(), |clock| clock.info().name.to_owned());
    match &mut question.subject {
        Subject::Step { clock } | Subject::Cost { clock } | Subject::Shows { clock } => *clock = clock_of(clock),
        Subject::Yield { name } => {
            let of_family = platform.waits().iter().filter(|wait| wait.info().family == Family::Yield);
            if let Some(found) = by_name(of_family.map(AsRef::as_ref), name) {
                found.info().name.clone_into(name);
            }
        }
        Subject::Wait { name, request } => match (find_wait(platform, name), runtime_of(platform, name)) {
            (None, Some((runtime, wait, rounds))) => {
                let rounded = rounds.of(*request);
                translation = runtime.sentence(name, wait, rounds, (*request, rounded));
                if runtime.holds_while(platform, rounded) && question.conditions.setting(names::RESOLUTION).is_none() {
                    question.conditions = question.conditions.with(names::RESOLUTION, Setting::Nanos(MILLISECOND));
                    translation += "it holds 1 ms meanwhile, because the request is not a multiple of 10 ms; ";
                }
                (*name, *request) = (wait.info().name.to_owned(), rounded);
            }
            // Everybody calls the simplest sleep so; without this, a wait whose call begins with that word would be
            // found.
            (None, None) if name.eq_ignore_ascii_case("sleep") => {
                if let Some(found) = platform.simplest(Family::Sleep) {
                    found.info().name.clone_into(name);
                }
            }
            _ => {
                // A composed wait has no call of its own: what describes it begins with another wait's call.
                if let Some(found) = by_name(platform.waits().iter().map(AsRef::as_ref), name) {
                    found.info().name.clone_into(name);
                }
            }
        },
        Subject::Resolution | Subject::ForkJoin { .. } => {}
    }
    question.clock = question.clock.map(|name| clock_of(&name));
    (question, translation)
}

const MILLISECOND: Nanos = Nanos::from_millis(1);

impl Rounds {
    fn of(self, request: Nanos) -> Nanos {
        match self {
            Not => request,
            Up => request.round_up_to(MILLISECOND),
            Down => request.round_down_to(MILLISECOND).max(MILLISECOND),
        }
    }
}

impl Runtime {
    fn sentence(&self, name: &str, wait: &dyn Wait, rounds: Rounds, (request, rounded): (Nanos, Nanos)) -> String {
        let how = match rounds {
            Not => String::new(),
            Up => ", rounded up to whole milliseconds".to_owned(),
            Down => ", rounded down to whole milliseconds, at least one".to_owned(),
        };
        let what = if rounded == request { String::new() } else { format!(": {request} becomes {rounded}") };
        format!("{name} of {} calls {}{how}{what}; ", self.owner, wait.info().call)
    }

    fn holds_while(&self, platform: &dyn Platform, rounded: Nanos) -> bool {
        self.holds_a_millisecond && platform.id().os == SYSTEMS[0] && rounded.0 % (10 * MILLISECOND.0) != 0
    }
}

fn runtime_of<'a>(platform: &'a dyn Platform, name: &str) -> Option<(&'static Runtime, &'a dyn Wait, Rounds)> {
    let named =
        |fits: &dyn Fn(&str) -> bool| RUNTIMES.iter().find(|runtime| runtime.names.iter().any(|known| fits(known)));
    let runtime = named(&|known| known == name).or_else(|| named(&|known| known.eq_ignore_ascii_case(name)))?;
    let system = SYSTEMS.iter().position(|&system| system == platform.id().os)?;
    let (wait, rounds) = runtime.waits[system];
    Some((runtime, find_wait(platform, wait)?, rounds))
}

/// The clock of that registry name or call.
fn clock<'a>(platform: &'a dyn Platform, name: &str) -> Option<&'a dyn Clock> {
    let clocks = || platform.clocks().iter().map(AsRef::as_ref);
    let fits =
        |how: fn(&str, &str, &str) -> bool| clocks().find(|clock| how(name, clock.info().name, clock.info().call));
    fits(is_exact).or_else(|| fits(is_call)).or_else(|| fits(is_alike))
}

/// The wait of that registry name or call.
fn by_name<'a>(waits: impl Iterator<Item = &'a dyn Wait>, name: &str) -> Option<&'a dyn Wait> {
    let waits: Vec<&dyn Wait> = waits.collect();
    let fits = |how: fn(&str, &str, &str) -> bool| {
        waits.iter().copied().find(|wait| how(name, wait.info().name, wait.info().call))
    };
    fits(is_exact).or_else(|| fits(is_call)).or_else(|| fits(is_alike))
}

fn is_exact(typed: &str, name: &str, _: &str) -> bool {
    typed == name
}

/// Whether it is the function in the call, or what its argument names.
fn is_call(typed: &str, _: &str, call: &str) -> bool {
    let mut words =
        call.split(|c: char| !c.is_ascii_alphanumeric() && !"_:.".contains(c)).filter(|word| !word.is_empty());
    let first = words.next();
    [first, words.next_back()].contains(&Some(typed))
}

fn is_alike(typed: &str, name: &str, call: &str) -> bool {
    let plain = |text: &str| text.to_ascii_lowercase().replace('_', "-");
    plain(typed) == name || is_call(&plain(typed), name, &plain(call))
}

#[cfg(test)]
mod tests {
    use super::*;
    use oversleep_model::platform;

    /// What a question becomes there, and the sentence about it.
    fn becomes(machine: &str, typed: &str) -> (String, String) {
        let platform = platform(machine, &[], 1).unwrap_or_else(|error| panic!("{error}"));
        let (question, translation) = in_registry_names(&*platform, &Question::of(typed.parse().expect(typed)));
        (question.subject.to_string() + if question.conditions.is_as_found() { "" } else { " at 1 ms" }, translation)
    }

    #[test]
    fn waits_and_clocks_are_found_by_their_calls() {
        for (machine, typed, means) in [
            ("windows-11", "Sleep(1ms)", "sleep(1ms)"),
            ("windows-11", "SLEEP(1ms)", "sleep(1ms)"),
            ("windows-11", "timeSetEvent(1ms)", "time-set-event(1ms)"),
            ("windows-11", "step(GetTickCount64)", "step(get-tick-count-64)"),
            ("windows-11", "cost(QueryPerformanceCounter)", "cost(qpc)"),
            ("windows-11", "yield(SwitchToThread)", "yield(switch-to-thread)"),
            ("windows-11", "Sleep(0)", "yield(sleep-zero)"),
            ("linux-hz250", "sleep(1ms)", "nanosleep(1ms)"),
            ("macos-14-m1", "Sleep(1ms)", "nanosleep(1ms)"),
            ("linux-hz250", "Nanosleep(1ms)", "nanosleep(1ms)"),
            ("linux-hz250", "epoll_wait(1ms)", "epoll-wait(1ms)"),
            ("linux-hz250", "SO_RCVTIMEO(1ms)", "so-rcvtimeo(1ms)"),
            ("linux-hz250", "step(CLOCK_MONOTONIC_COARSE)", "step(monotonic-coarse)"),
            ("linux-hz250", "shows(CLOCK_REALTIME)", "shows(realtime)"),
            ("linux-hz250", "yield(sched_yield)", "yield(sched-yield)"),
            ("linux-hz250", "spin(1ms)", "spin(1ms)"),
        ] {
            assert_eq!(becomes(machine, typed), (means.to_owned(), String::new()), "{typed}");
        }
    }

    #[test]
    fn a_runtime_s_call_becomes_a_wait_of_the_system() {
        for (machine, typed, means, part) in [
            ("windows-11", "parkNanos(1ns)", "wait-for-single-object(1ms)", "calls WaitForSingleObject, rounded down"),
            ("windows-11", "parkNanos(1999us)", "wait-for-single-object(1ms)", "2 ms becomes 1 ms"),
            ("windows-11", "LockSupport.parkNanos(5ms)", "wait-for-single-object(5ms)", "of the JDK"),
            ("windows-11", "Thread.sleep(1ms)", "wait-for-single-object(1ms) at 1 ms", "holds 1 ms meanwhile"),
            ("windows-11", "Thread.sleep(10ms)", "wait-for-single-object(10ms)", "of the JDK"),
            ("windows-11", "Thread.Sleep(1ms)", "sleep-ex(1ms)", "of .NET"),
            ("windows-11", "time.sleep(1ms)", "waitable-timer-high-resolution(1ms)", "CPython since 3.11"),
            ("windows-11", "time.Sleep(1ms)", "waitable-timer-high-resolution(1ms)", "Go since 1.23"),
            ("windows-11", "sleep_for(1500us)", "sleep(2ms)", "1.5 ms becomes 2 ms"),
            ("windows-11", "WM_TIMER(1ms)", "set-timer(1ms)", "calls SetTimer"),
            ("windows-11", "MsgWaitForMultipleObjects(1ms)", "wait-for-multiple-objects(1ms)", "calls"),
            ("linux-hz250", "Thread.sleep(1500us)", "cond-timedwait(2ms)", "rounded up"),
            ("linux-hz250", "parknanos(55us)", "cond-timedwait(55us)", "of the JDK"),
            ("linux-hz250", "setTimeout(1999us)", "epoll-wait(1ms)", "of Node"),
            ("macos-14-m1", "time.sleep(1ms)", "nanosleep(1ms)", "CPython"),
        ] {
            let (question, translation) = becomes(machine, typed);
            assert_eq!(question, means, "{typed}");
            assert!(translation.contains(part), "{typed}: {translation}");
        }
        assert_eq!(becomes("linux-hz250", "WM_TIMER(1ms)").0, "WM_TIMER(1ms)", "Linux has none");
    }

    /// A row whose wait doesn't exist would never be found.
    #[test]
    fn runtimes_call_waits_that_exist() {
        for (system, machine) in ["windows-11", "linux-hz250", "macos-14-m1"].into_iter().enumerate() {
            let platform = platform(machine, &[], 1).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(platform.id().os, SYSTEMS[system]);
            for runtime in RUNTIMES {
                let wait = runtime.waits[system].0;
                assert!(wait.is_empty() || find_wait(&*platform, wait).is_some(), "{wait} on {machine}");
            }
        }
    }
}
