//! Who inherits timer slack: measured with a thread and real child processes.

use std::io;
use std::os::unix::process::CommandExt;

use oversleep_record::conditions::Setting;
use oversleep_record::{Nanos, Unavailable};
use oversleep_system::ResolutionRow;

use super::os;
use crate::neighbour_process;

/// Values that no default and no other program uses.
const HELD: Nanos = Nanos(777_777);
const HELD_LATER: Nanos = Nanos(333_333);

/// Each way of starting something, with its initial slack. Measured on a temporary thread.
pub fn rows() -> Vec<ResolutionRow> {
    let measured = std::thread::Builder::new().name("inheritance".to_owned()).spawn(measured);
    let measured = measured.map_err(|error| Unavailable::failed("pthread_create", error));
    let rows = measured.and_then(|thread| thread.join().map_err(|_| Unavailable::NotMeasured)?);
    rows.unwrap_or_else(|reason| vec![row("who inherits it", "", Err(reason))])
}

fn row(what: &'static str, how: &'static str, says: Result<String, Unavailable>) -> ResolutionRow {
    ResolutionRow { what, says, how }
}

fn measured() -> Result<Vec<ResolutionRow>, Unavailable> {
    let failed = |error: io::Error| os::refused("prctl(PR_SET_TIMERSLACK)", &error, "allow prctl in the sandbox");
    let default = os::timer_slack().map_err(failed)?;
    os::set_timer_slack(HELD).map_err(failed)?;
    let verdict = |found: Result<Nanos, Unavailable>| found.map(|found| verdict(found, default));
    Ok(vec![
        row("a new thread", "set here, read in a thread started from here", verdict(in_a_thread())),
        row("a child: set, fork, exec", "set here, read by a program started from here", verdict(in_a_child(None))),
        row(
            "a child: fork, set, exec",
            "set between fork and exec, read by the program",
            in_a_child(Some(HELD_LATER)).map(after_exec),
        ),
    ])
}

fn verdict(found: Nanos, default: Nanos) -> String {
    match found {
        HELD => format!("inherits it: {found} as held"),
        found if found == default => format!("does not inherit it: back to {found}"),
        found => format!("has {found}, neither the held value nor the default"),
    }
}

fn after_exec(found: Nanos) -> String {
    match found {
        HELD_LATER => format!("keeps it: {found} as set"),
        HELD => format!("loses it: exec restores the parent's {found}"),
        found => format!("has {found}, neither the value set nor the parent's"),
    }
}

fn in_a_thread() -> Result<Nanos, Unavailable> {
    let thread = std::thread::Builder::new().spawn(os::timer_slack);
    let thread = thread.map_err(|error| Unavailable::failed("pthread_create", error))?;
    let found = thread.join().map_err(|_| Unavailable::NotMeasured)?;
    found.map_err(|error| Unavailable::failed("prctl(PR_GET_TIMERSLACK)", error))
}

/// The slack that a program started from here finds, optionally with a slack set between fork and exec.
fn in_a_child(set_after_fork: Option<Nanos>) -> Result<Nanos, Unavailable> {
    let child = neighbour_process::start_with(None, |command| {
        if let Some(slack) = set_after_fork {
            // SAFETY: the closure makes one system call and takes no lock that another thread could hold.
            unsafe { command.pre_exec(move || os::set_timer_slack(slack)) };
        }
    })?;
    match child.found()? {
        Setting::Nanos(found) => Ok(found),
        other => Err(Unavailable::Nonsense { what: format!("a slack of {other}") }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_inherits_and_the_callers_slack_is_unchanged() {
        let before = match os::timer_slack() {
            Ok(before) => before,
            Err(why) => return oversleep_testing::skip(why),
        };
        let rows = rows();
        assert_eq!(os::timer_slack().expect("as before"), before);
        let Some(thread) = rows.iter().find(|row| row.what == "a new thread") else {
            return oversleep_testing::skip("a thread's slack can't be set");
        };
        assert!(thread.says.as_ref().is_ok_and(|says| says.starts_with("inherits it")), "{thread:?}");
        // A child is another instance of this program, and a test harness can't act as a neighbour.
        assert!(rows.iter().filter(|row| row.what.starts_with("a child")).all(|row| row.says.is_err()), "{rows:?}");
    }

    #[test]
    fn verdicts_are_distinct() {
        let default = Nanos(50_000);
        assert_eq!(verdict(HELD, default), "inherits it: 778 µs as held");
        assert_eq!(verdict(default, default), "does not inherit it: back to 50 µs");
        assert!(verdict(Nanos(3), default).starts_with("has 3 ns"));
        assert_eq!(after_exec(HELD), "loses it: exec restores the parent's 778 µs");
        assert_eq!(after_exec(HELD_LATER), "keeps it: 333 µs as set");
    }
}
