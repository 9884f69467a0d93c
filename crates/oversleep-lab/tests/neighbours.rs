//! Real neighbours. This program is its own neighbour, so it has its own `main` instead of a test harness.

use std::process::{Command, ExitCode};

use oversleep_native::run_if_neighbour;
use oversleep_record::Nanos;
use oversleep_record::conditions::{Outcome, Setting};
use oversleep_system::{self, Platform};
use oversleep_testing::skip;

fn main() -> ExitCode {
    let native = oversleep_native::here();
    // This program has not been registered as a neighbour yet: started as one, it would start neighbours itself.
    assert!(std::env::args().any(|argument| argument.starts_with("hold-as")) || native.neighbour(None).is_err());
    if let Some(code) = run_if_neighbour() {
        return code;
    }
    if std::env::args().any(|argument| argument == STARTED_BY_ITSELF) {
        println!("{STARTED_BY_ITSELF}");
        return ExitCode::SUCCESS;
    }
    if !can_be_started_by_itself() {
        skip("programs like this one can't be started from here (an emulator)");
        return ExitCode::SUCCESS;
    }
    one_that_holds_nothing(&*native);
    one_that_holds_something(&*native);
    one_that_is_killed(&*native);
    many_one_after_the_other(&*native);
    println!("neighbours: 4 passed");
    ExitCode::SUCCESS
}

/// An argument, and the answer to it.
const STARTED_BY_ITSELF: &str = "--started-by-itself";

/// Not under a user-mode emulator that the kernel isn't configured for.
fn can_be_started_by_itself() -> bool {
    let program = std::env::current_exe().expect("this program has a place");
    let answered = Command::new(program).arg(STARTED_BY_ITSELF).output();
    answered.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).trim() == STARTED_BY_ITSELF)
}

fn one_that_holds_nothing(native: &dyn Platform) {
    let neighbour = native.neighbour(None).expect("this program answers");
    assert_eq!(neighbour.outcome(), None);
}

fn one_that_holds_something(native: &dyn Platform) {
    let requested = Setting::Nanos(Nanos::from_millis(2));
    let own = || native.resolution_tunable().and_then(|tunable| tunable.current().ok());
    let before = own();
    let neighbour = native.neighbour(Some(&requested)).expect("this program answers");
    let outcome = neighbour.outcome().expect("it was asked");
    match native.resolution_tunable() {
        Some(tunable) if tunable.validate(&requested).is_ok() => assert!(outcome.holds(), "{outcome:?}"),
        _ => assert!(matches!(outcome, Outcome::Denied { .. }), "{outcome:?}"),
    }
    drop(neighbour);
    assert_eq!(own(), before, "what it held is gone with it");
}

/// The user or the system may kill a neighbour at any moment. Without a `/proc` that lists processes, the test can't find
/// its pid.
fn one_that_is_killed(native: &dyn Platform) {
    let mut neighbour = native.neighbour(None).expect("this program answers");
    assert_eq!(neighbour.check(), Ok(()));
    let children = children();
    for pid in &children {
        let killed = Command::new("kill").args(["-KILL", &pid.to_string()]).status();
        assert!(killed.is_ok_and(|status| status.success()), "{pid}");
    }
    if children.is_empty() {
        return skip("no /proc that lists processes");
    }
    // The signal takes a moment.
    let ended = loop {
        std::thread::sleep(std::time::Duration::from_millis(1));
        if let Err(ended) = neighbour.check() {
            break ended;
        }
    };
    assert!(ended.to_string().contains("signal: 9"), "{ended}");
}

/// The child processes of this one.
fn children() -> Vec<u32> {
    let is_child = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let parent = stat.rsplit(')').next().and_then(|fields| fields.split_whitespace().nth(1)?.parse().ok());
        parent == Some(std::process::id())
    };
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let processes = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    processes.filter(is_child).collect()
}

/// Each of them ends: a hundred remaining processes would be noticed, and waiting for one that never ends would hang.
fn many_one_after_the_other(native: &dyn Platform) {
    for _ in 0..20 {
        drop(native.neighbour(None).expect("this program answers"));
    }
    assert_eq!(children(), [0; 0], "children are left");
}
