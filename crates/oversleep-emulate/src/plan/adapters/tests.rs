//! What the ports of programs make of their calls.

use oversleep_system::runtime_calls::Rule;

use super::super::recognised::runtime_named;
use super::*;

fn plan(name: &str) -> Plan {
    Plan::named(name, &[], Some(1)).expect("a machine")
}

fn file(name: &str) -> Executed {
    Executed { file: name.to_owned(), ..Executed::default() }
}

fn go() -> Executed {
    let note = [&[0x7f; 64][..], &4_u32.to_le_bytes(), &8_u32.to_le_bytes(), &4_u32.to_le_bytes(), b"Go\0\0build-id"];
    Executed { file: "server".to_owned(), head: note.concat(), ..Executed::default() }
}

fn wait_of(plan: &Plan, adapted: Option<&Adapted>, class: Class, is_own_code: bool) -> (&'static str, bool) {
    let origin = Origin { is_own_code, is_within: &|_| false };
    let own = plan.wait_of(class, adapted.map(|adapted| (adapted, &origin))).expect("a wait");
    (own.wait.info.name, own.passes.rounds == Rule::TruncatesToAtLeastOne)
}

#[test]
fn go_waits_as_its_windows_port_of_that_version() {
    let windows = plan("windows-10-2004");
    let of = |version| windows.adapted(&go(), &[], true, |_| version).expect("adapters");
    let (new, old, ancient) = (of(Some([26, 8])), of(Some([22, 1])), of(Some([15, 0])));
    assert_eq!(wait_of(&windows, Some(&new), Class::Epoll, true), ("waitable-timer-high-resolution", false));
    assert_eq!(wait_of(&windows, Some(&old), Class::Epoll, true), ("get-queued-completion-status", true));
    assert_eq!(wait_of(&windows, Some(&old), Class::Sleep, true), ("waitable-timer-high-resolution", false));
    assert_eq!(wait_of(&windows, Some(&ancient), Class::Sleep, true), ("sleep", false));
    assert_eq!(
        wait_of(&windows, Some(&new), Class::Epoll, false),
        ("get-queued-completion-status", false),
        "a library's"
    );
    assert_eq!(
        wait_of(&windows, Some(&of(None)), Class::Epoll, true).0,
        "waitable-timer-high-resolution",
        "the newest"
    );
}

#[test]
fn erlang_reads_the_tick_count_by_which_its_timers_are_due() {
    let of = |version| plan("windows-11").adapted(&file("beam.smp"), &[], true, |_| Some(version));
    let adapted = of([22, 0]).expect("adapters");
    assert_eq!(adapted.clocks, "monotonic=get-tick-count-64".parse().ok());
    assert_eq!(adapted.described[0].runtime, "erlang 22.0");
    assert!(of([25, 0]).is_none(), "it reads the performance counter from OTP 24 on");
}

#[test]
fn python_and_java_wait_and_read_clocks_as_their_ports() {
    let windows = plan("windows-11");
    let python = windows.adapted(&file("python3.11"), &[], true, |_| None).expect("adapters");
    assert_eq!(wait_of(&windows, Some(&python), Class::SleepUntil, false).0, "waitable-timer-high-resolution");
    let realtime = (LinuxClock::Realtime, Some("system-time".to_owned()));
    assert_eq!(python.clocks, Some(ClockChoice::These(vec![realtime.clone()])), "one function alone reads that clock");
    let of_loop = |name: &str| {
        let python = windows.adapted(&file(name), &[], true, |_| None).expect("it has an event loop");
        let does: Vec<String> = python.described.into_iter().map(|one| one.does).collect();
        (does.iter().any(|does| does.starts_with("asyncio.sleep calls GetQueuedCompletionStatus")), does)
    };
    let ((old_names, old), (new_names, new)) = (of_loop("python3.9"), of_loop("python3.13"));
    assert!(old_names && new_names, "{old:?} {new:?}");
    let says = |does: &[String]| does.iter().any(|does| does.starts_with("time.monotonic reads GetTickCount64"));
    assert!(says(&old) && !says(&new), "{old:?} {new:?}");
    let apart = |name: &str| {
        let python = windows.adapted(&file(name), &[], true, |_| None).expect("it is recognised");
        python.apart.map(|apart| (apart.clock, apart.stands_for))
    };
    assert_eq!(apart("python3.12"), Some((LinuxClock::Monotonic, "get-tick-count-64")));
    assert_eq!(apart("python3.13"), None);
    assert!(new.iter().any(|does| does.starts_with("time.monotonic reads QueryPerformanceCounter")), "{new:?}");
    let go = windows.adapted(&go(), &[], true, |_| Some([26, 8])).expect("adapters");
    let why = "time.Since and time.Now stay exact here: Go's own one-shot timers move that clock on, too, and --clocks \
               monotonic=interrupt-time";
    assert!(go.clocks.is_none() && go.described.iter().any(|one| one.does.contains(why)), "{:?}", go.described);
    let java = windows.adapted(&file("java"), &[], true, |_| None).expect("adapters");
    assert_eq!(wait_of(&windows, Some(&java), Class::FutexUntil, false), ("wait-for-single-object", true));
    assert_eq!(java.clocks, Some(ClockChoice::These(vec![realtime])));
    assert_eq!(windows.adapted(&file("sleep"), &[], true, |_| None).map(|_| ()), None);
    assert_eq!(plan("linux-hz250").adapted(&file("java"), &[], true, |_| None).map(|_| ()), None, "its own system");
}

#[test]
fn a_version_that_does_not_run_there_is_emulated_and_said_to_be_too_new() {
    let too_new = |machine: &str, name: &str| -> Vec<String> {
        let adapted = plan(machine).adapted(&file(name), &[], true, |_| None).expect("adapters");
        adapted.described.into_iter().map(|one| one.does).filter(|does| does.contains("doesn't run there")).collect()
    };
    let of_python = too_new("windows-7", "python3.11");
    assert_eq!(of_python.len(), 1, "{of_python:?}");
    assert!(of_python[0].starts_with("it doesn't run there: CPython needs Windows 8.1 from version 3.9 on"));
    assert!(of_python[0].contains("and windows-7 is older"), "{of_python:?}");
    assert!(too_new("windows-7", "python3.8").is_empty() && too_new("windows-11", "python3.11").is_empty());
    let go = plan("windows-7").adapted(&go(), &[], true, |_| Some([26, 0])).expect("adapters");
    assert!(go.described.iter().any(|one| one.does.contains("Go needs Windows 10 from version 1.21 on")));
}

#[test]
fn a_runtime_without_an_adapter_is_recognised_and_said_to_wait_as_a_plain_port() {
    let of = |machine: &str, program: &Executed| plan(machine).not_adapted(program, |_| None);
    let macos = plan("macos-14-m1");
    assert!(macos.adapted(&file("python3.11"), &[], true, |_| None).is_none());
    let described = of("macos-14-m1", &file("python3.11"));
    assert_eq!(described.len(), 1, "{described:?}");
    assert_eq!(described[0].runtime, "python 3.11");
    assert!(described[0].does.starts_with("its port to macOS isn't adapted: its sleeps stand for "));
    assert!(described[0].evidence.ends_with("; --as CALL says what its sleeps stand for"));
    assert_eq!(of("macos-14-m1", &file("sleep")), []);
    assert_eq!(of("windows-11", &file("beam.smp")).len(), 1, "a version that reads no other clock");
}

#[test]
fn rust_sleeps_as_its_windows_port_of_that_version() {
    let windows = plan("windows-11");
    let of = |comment: &str| {
        let program = Executed { comment: comment.to_owned(), file: "game".to_owned(), ..Executed::default() };
        windows
            .adapted(&program, &[], true, |_| None)
            .map(|adapted| wait_of(&windows, Some(&adapted), Class::Sleep, false).0)
    };
    assert_eq!(of("GCC: (Debian)\0rustc version 1.95.0 (5980 2026)"), Some("waitable-timer-high-resolution"));
    assert_eq!(of("rustc version 1.70.0 (90c5 2023)"), Some("sleep"));
    assert_eq!(of("GCC: (Debian)"), None);
}

/// What a record says about calls of Linux is said in names that exist.
#[test]
fn each_class_of_a_record_is_one_and_its_runtime_is_recognised() {
    for record in runtime_calls::all().iter().filter(|record| record.on_linux.is_some()) {
        let on_linux = record.on_linux.as_ref().expect("it was asked");
        assert!(on_linux.class.parse::<Class>().is_ok(), "{}: {}", record.id, on_linux.class);
        assert!(runtime_named(record.family()).is_some(), "{}: {}", record.id, record.family());
    }
}
