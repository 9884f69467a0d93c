//! Alternative names of waits and clocks: the call as the system writes it (`Sleep`, `GetTickCount64`,
//! `CLOCK_MONOTONIC_COARSE`), and the call of a language's runtime (`parkNanos`, `time.sleep`).

use oversleep_measure::{find_wait, library_waits};
use oversleep_record::conditions::Setting;
use oversleep_record::{Nanos, Unavailable};
use oversleep_system::runtime_calls::{self, CallWait};
use oversleep_system::tunables::names::RESOLUTION;
use oversleep_system::{Clock, Family, Platform, SharedPlatform, Wait};

use super::answer::NoAnswer;
use super::clocks;
use super::question::{Question, Subject};
use crate::records;
use crate::session::Laboratory;

/// The question in registry names and, for a runtime's call, a sentence about the translation.
///
/// # Errors
/// The runtime's call does not wait for such a short request, or no record is about that version.
pub(crate) fn in_registry_names(lab: &Laboratory, question: &Question) -> Result<(Question, String), NoAnswer> {
    let platform = lab.platform();
    let mut question = question.clone();
    let mut translation = String::new();
    match &mut question.subject {
        Subject::Step { clock } | Subject::Cost { clock } | Subject::Shows { clock } => {
            let (name, read) = clock_of(lab, clock)?;
            *clock = name;
            translation = read.map(|read| read.translation).unwrap_or_default();
        }
        Subject::Yield { name } => {
            let of_family = platform.waits().iter().filter(|wait| wait.info().family == Family::Yield);
            if let Some(found) = by_name(of_family.map(AsRef::as_ref), name) {
                found.info().name.clone_into(name);
            }
        }
        Subject::Wait { name, request } => match (of_system(platform, name), of_runtime(lab, name)?) {
            (None, Some(call)) => {
                let record = call.record();
                let is_nothing = call.passes(&lab.platform).span(*request, Nanos::ZERO) == Nanos::ZERO;
                let nothing = || is_nothing.then(|| records::nothing_left(record, *request));
                if let Some(why) = records::refusal(&lab.platform, call, *request).or_else(nothing) {
                    let reason = Unavailable::failed("requesting it", why);
                    return Err(NoAnswer::Unavailable { what: name.clone(), reason });
                }
                translation = records::sentence(&lab.platform, call, name, *request);
                call.info().name.clone_into(name);
            }
            _ => {
                if let Some(found) = wait_called(platform, name) {
                    found.clone_into(name);
                }
            }
        },
        Subject::Resolution | Subject::ForkJoin { .. } => {}
    }
    if let Some(name) = &question.clock {
        question.clock = Some(clock_of(lab, name)?.0);
    }
    Ok((question, translation))
}

/// Registry name of the clock that is called so, and what is known of it if a runtime calls it so.
pub(super) fn clock_of(lab: &Laboratory, name: &str) -> Result<(String, Option<clocks::Read>), NoAnswer> {
    if let Some(found) = clock(lab.platform(), name) {
        return Ok((found.info().name.to_owned(), None));
    }
    let read = clocks::of_runtime(lab, name)?;
    Ok((read.as_ref().map_or_else(|| name.to_owned(), |read| read.of.clock.clone()), read))
}

/// The question about the wait that a runtime's call makes, under what it holds meanwhile.
pub(crate) fn beneath(platform: &SharedPlatform, question: &Question) -> Option<Question> {
    let Subject::Wait { name, request } = &question.subject else { return None };
    let call = runtime_calls::wait(&**platform, name).filter(|_| name.contains('@'))?;
    let passes = call.passes(platform);
    let span = passes.span(*request, Nanos::ZERO);
    let subject = Subject::Wait { name: passes.wait.to_owned(), request: span };
    let conditions = question.conditions.clone();
    let has = platform.tunable(RESOLUTION).is_some() && conditions.setting(RESOLUTION).is_none();
    let conditions = match passes.holds(span).filter(|_| has) {
        Some(period) => conditions.with(RESOLUTION, Setting::Nanos(period)),
        None => conditions,
    };
    Some(Question { subject, conditions, ..question.clone() })
}

impl Laboratory {
    /// The registry name of a wait that is called so: `WaitForSingleObject`, `Parker`.
    pub fn wait_called(&self, name: &str) -> Option<&'static str> {
        wait_called(self.platform(), name)
    }
}

/// The registry name of the platform's wait, or the library's, that is called so.
fn wait_called(platform: &dyn Platform, name: &str) -> Option<&'static str> {
    // `sleep` means the simplest sleep; without this, it would find a wait whose call begins with that word.
    if of_system(platform, name).is_none() && name.eq_ignore_ascii_case("sleep") {
        return platform.simplest(Family::Sleep).map(|wait| wait.info().name);
    }
    // A composed wait has no call of its own: its description begins with another wait's call.
    let library = library_waits(platform).iter();
    by_name(platform.waits().iter().chain(library).map(AsRef::as_ref), name).map(|wait| wait.info().name)
}

/// The platform's or a composed wait of that registry name.
fn of_system<'a>(platform: &'a dyn Platform, name: &str) -> Option<&'a dyn Wait> {
    find_wait(platform, name).filter(|_| !name.contains('@'))
}

/// The call of a runtime by that name, unless a wait of the system has it.
pub(super) fn of_runtime<'a>(lab: &'a Laboratory, name: &str) -> Result<Option<&'a CallWait>, NoAnswer> {
    let unknown = |reason: String| NoAnswer::Unavailable {
        what: name.to_owned(),
        reason: Unavailable::failed("translating it", reason),
    };
    if of_system(lab.platform(), name).is_some() {
        return Ok(None);
    }
    let found = lab.runtime_call(name).map_err(unknown)?;
    Ok(found.and_then(|name| runtime_calls::wait(lab.platform(), name)))
}

/// The clock with that registry name or call.
fn clock<'a>(platform: &'a dyn Platform, name: &str) -> Option<&'a dyn Clock> {
    let clocks = || platform.clocks().iter().map(AsRef::as_ref);
    let fits =
        |how: fn(&str, &str, &str) -> bool| clocks().find(|clock| how(name, clock.info().name, clock.info().call));
    let by_end = || clocks().find(|clock| clocks::names(clock.info(), name));
    fits(is_exact).or_else(|| fits(is_call)).or_else(|| fits(is_alike)).or_else(by_end)
}

/// The wait with that registry name or call.
fn by_name<'a>(waits: impl Iterator<Item = &'a dyn Wait>, name: &str) -> Option<&'a dyn Wait> {
    let waits: Vec<&dyn Wait> = waits.collect();
    let fits = |how: fn(&str, &str, &str) -> bool| {
        waits.iter().copied().find(|wait| how(name, wait.info().name, wait.info().call))
    };
    fits(is_exact).or_else(|| fits(is_call)).or_else(|| fits(is_alike)).or_else(|| fits(is_part))
}

fn is_exact(typed: &str, name: &str, _: &str) -> bool {
    typed == name
}

/// Whether it is the function in the call, or the name of its argument.
fn is_call(typed: &str, _: &str, call: &str) -> bool {
    let mut words =
        call.split(|c: char| !c.is_ascii_alphanumeric() && !"_:.".contains(c)).filter(|word| !word.is_empty());
    let first = words.next();
    [first, words.next_back()].contains(&Some(typed))
}

/// Whether it is some word of the call: `CREATE_WAITABLE_TIMER_HIGH_RESOLUTION`. A function of Windows may lack the W.
fn is_part(typed: &str, _: &str, call: &str) -> bool {
    let mut words = call.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.any(|word| word == typed || word.strip_suffix('W') == Some(typed))
}

fn is_alike(typed: &str, name: &str, call: &str) -> bool {
    let [typed, call] = [typed, call].map(|text| text.to_ascii_lowercase().replace('-', "_"));
    typed.replace('_', "-") == name || is_call(&typed, name, &call)
}

#[cfg(test)]
mod tests {
    use oversleep_model::platform;

    use super::*;

    /// The translated question on that machine, and the sentence about it.
    fn becomes(machine: &str, typed: &str) -> (String, String) {
        let lab = Laboratory::on(platform(machine, &[], 1).unwrap_or_else(|error| panic!("{error}")));
        let question = Question::of(typed.parse().expect(typed));
        let (question, translation) = in_registry_names(&lab, &question).expect(typed);
        (question.subject.to_string(), translation)
    }

    #[test]
    fn waits_and_clocks_are_found_by_their_calls() {
        for (machine, typed, means) in [
            ("windows-11", "Sleep(1ms)", "sleep(1ms)"),
            ("windows-11", "SLEEP(1ms)", "sleep(1ms)"),
            ("windows-11", "timeSetEvent(1ms)", "time-set-event(1ms)"),
            ("windows-11", "CreateWaitableTimerEx(1ms)", "waitable-timer-high-resolution(1ms)"),
            ("windows-11", "CREATE_WAITABLE_TIMER_HIGH_RESOLUTION(1ms)", "waitable-timer-high-resolution(1ms)"),
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
            ("windows-11", "oversleep::Pacer::wait(7ms)", "oversleep-pacer(7ms)"),
            ("windows-11", "oversleep-sleep-until(7ms)", "oversleep-sleep-until(7ms)"),
        ] {
            assert_eq!(becomes(machine, typed), (means.to_owned(), String::new()), "{typed}");
        }
    }

    #[test]
    fn a_runtime_s_call_becomes_a_wait_of_the_system() {
        for (machine, typed, means, part) in [
            (
                "windows-11",
                "parkNanos(1ns)",
                "LockSupport.parkNanos@java-8-and-later(1ns)",
                "calls WaitForSingleObject, rounded down",
            ),
            ("windows-11", "parkNanos(1999us)", "LockSupport.parkNanos@java-8-and-later(1.999ms)", "2 ms becomes 1 ms"),
            ("windows-11", "Thread.sleep(1ms)", "Thread.sleep@java-21-and-later(1ms)", "holds 1 ms meanwhile"),
            ("windows-11", "Thread.sleep@java-17(1ms)", "Thread.sleep@java-14-to-20(1ms)", "holds 1 ms meanwhile"),
            ("windows-11", "Thread.Sleep(1ms)", "Thread.Sleep@dotnet-5-to-10(1ms)", "of .NET"),
            ("windows-11", "time.sleep(1ms)", "time.sleep@python-3.11-and-later(1ms)", "CPython since 3.11"),
            (
                "windows-8.1",
                "time.sleep(1ms)",
                "time.sleep@python-3.11-and-later(1ms)",
                "calls SetWaitableTimer + WaitForSingleObject",
            ),
            ("windows-7", "time.sleep(1ms)", "time.sleep@python-3.8(1ms)", "calls WaitForSingleObject"),
            ("windows-11", "time.Sleep(1ms)", "time.Sleep@go-1.23-and-later(1ms)", "Go since 1.23"),
            ("windows-11", "thread::sleep(1ms)", "thread::sleep@rust-1.75-and-later(1ms)", "Rust since 1.75"),
            ("windows-11", "sleep_for(1500us)", "std::this_thread::sleep_for@cpp(1.5ms)", "1.5 ms becomes 2 ms"),
            ("windows-11", "SDL_Delay@sdl-2(1ms)", "SDL_Delay@sdl-2(1ms)", "Its library holds 1 ms all the time"),
            ("windows-11", "setTimeout(600h)", "setTimeout@node-6-and-later(25d)", "25 d becomes 1 ms"),
            ("windows-11", "WM_TIMER(1ms)", "WM_TIMER@win32(1ms)", "calls SetTimer"),
            (
                "linux-hz250",
                "Thread.sleep(1500us)",
                "Thread.sleep@java-21-and-later(1.5ms)",
                "OpenJDK 12 to 20 and 8 to 11 pass 2 ms",
            ),
            ("linux-hz250", "parknanos(55us)", "LockSupport.parkNanos@java-8-and-later(55us)", "of the JDK"),
            ("linux-hz250", "setTimeout(1999us)", "setTimeout@node-4-and-later(1.999ms)", "of Node"),
            ("macos-14-m1", "time.sleep(1ms)", "time.sleep@python-3.11-and-later(1ms)", "CPython"),
        ] {
            let (question, translation) = becomes(machine, typed);
            assert_eq!(question, means, "{typed}");
            assert!(translation.contains(part), "{typed}: {translation}");
        }
        assert_eq!(becomes("linux-hz250", "WM_TIMER(1ms)").0, "WM_TIMER(1ms)", "Linux has none");
    }
}
