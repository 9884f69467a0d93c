//! `why` without privileges: recordings and results, read on any system.

use std::path::PathBuf;

use oversleep_record::finding::Verdict;

use super::support::Home;

fn recording() -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../oversleep-why/tests/recorded/fifo.why");
    path.display().to_string()
}

#[test]
fn a_recording_is_shown_kept_and_shown_again() {
    let home = Home::new();
    let kept = home.run(["why", &recording(), "--out", "r.json", "--perfetto", "t.json"]).fine();
    assert_eq!((&*kept.stdout, &*kept.stderr), ("", "Written: r.json, t.json\n"));
    let shown = home.run(["why", &recording()]).fine();
    assert!(shown.stdout.contains("120 waits ended by their timer"), "{}", shown.stdout);
    let again = home.run(["why", "r.json"]).fine();
    assert_eq!(again.stdout, shown.stdout);
    let trace = std::fs::read(home.path().join("t.json")).unwrap();
    let trace: serde_json::Value = serde_json::from_slice(&trace).unwrap();
    assert!(trace["traceEvents"].as_array().unwrap().len() > 500);
    let json = home.run(["why", "r.json", "--json"]).fine();
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["schema"], "oversleep-result/3");
    assert_eq!(json["series"][0]["counts"]["recorded"], 120);
    assert_eq!(json["findings"][0]["id"], "OVS-Y015");
    assert_eq!(home.files(), ["r.json", "t.json"]);
}

#[test]
fn results_are_reported_compared_and_shared() {
    let home = Home::new();
    home.run(["why", &recording(), "--out", "a.json", "--html", "a.html", "--quiet"]).fine();
    let page = std::fs::read_to_string(home.path().join("a.html")).unwrap();
    assert!(page.contains("id=\"wait-10\"") && page.contains("burst"));
    let shown = home.run(["report", "a.json"]).fine();
    assert!(shown.stdout.contains("120 waits ended by their timer"), "{}", shown.stdout);
    assert_eq!(home.run(["report", &recording()]).fine().stdout, shown.stdout, "a recording is a result, too");
    let written = home.run(["report", "a.json", "--html", "b.html", "--json=b.json"]).fine();
    assert_eq!(written.stderr, "Written: b.json, b.html\n");
    assert_eq!(std::fs::read_to_string(home.path().join("b.html")).unwrap(), page);
    assert_eq!(std::fs::read(home.path().join("b.json")).unwrap(), std::fs::read(home.path().join("a.json")).unwrap());
    let compared = home.run(["compare", "a.json", "b.json", "--json=c.json"]).fine();
    assert_eq!(compared.stdout, "");
    let document: serde_json::Value =
        serde_json::from_slice(&std::fs::read(home.path().join("c.json")).unwrap()).unwrap();
    assert_eq!(document["schema"], "oversleep-comparison/3");
    assert_eq!(document["series"][0]["sides"][1]["against_base"]["p50"]["verdict"], "overlap");
    home.run(["compare", "a.json", "b.json", "--html", "c.html"]).fine();
    let shared = home.run(["share", "a.json", "--out", "s.json"]).fine();
    assert!(shared.stdout.contains("have numbers instead of names") && !shared.stdout.contains("burst"));
    assert!(home.run(["report", "s.json"]).fine().stdout.contains("program 1: clock_nanosleep for 1 ms"));
    std::fs::write(home.path().join("m.json"), oversleep_record::testing::Sheet::linux().file.write()).unwrap();
    let mixed = home.run(["compare", "m.json", "a.json"]).with_code(1);
    assert!(
        mixed.stderr.contains("can't compare 'a.json'") && mixed.stderr.contains("it is a result of `oversleep why`"),
        "{}",
        mixed.stderr
    );
    let wrong = home.run(["waits", "--on", "linux-hz250", "--like", "a.json"]);
    assert_ne!(wrong.code, Some(0));
}

#[test]
fn a_trace_of_windows_is_a_result_like_any_other() {
    let home = Home::new();
    let trace = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../oversleep-recordings/tests/recorded/game.etl");
    let trace = trace.display().to_string();
    let shown = home.run(["why", &trace, "--want", "1ms", "--out", "r.json"]).fine();
    assert_eq!(shown.stdout, "");
    let shown = home.run(["why", &trace, "--want", "1ms"]).fine().stdout;
    for says in [
        "66 % of its lateness is the kernel's tick, at which timers of Windows end; 33 % is waiting for a",
        "timers end at ticks, which came every 1 ms or 15.6 ms",
        "requests 1 ms  requests nothing",
        "so lateness counts from what you state",
        "OVS-Y015 late-by-run-queue: hog.exe (priority 12)",
    ] {
        assert!(shown.contains(says), "{says}: {shown}");
    }
    let without = home.run(["why", &trace]).fine().stdout;
    assert!(without.contains("State what the program meant: --want 1ms."), "{without}");
    assert!(without.contains("100 % of its lateness is waiting for a CPU") || without.contains("98 %"), "{without}");
    // Of a trace as of its result.
    home.run(["compare", &trace, &trace]).fine();
    home.run(["share", "r.json", "--out", "copy.json"]).fine();
    let shared = std::fs::read_to_string(home.path().join("copy.json")).unwrap();
    assert!(!shared.contains("hog") && !shared.contains("long name"), "{shared}");
    assert!(home.run(["why", "copy.json"]).fine().stdout.contains("OVS-Y033 late-by-resolution"));
    home.run(["assert", "r.json", "cause(late-by-resolution) present"]).fine();
    home.run(["assert", "r.json", "why(*).p50 < 1ms"]).with_code(3);
    home.run(["export", &trace, "--to", "csv=r.csv"]).fine();
    let page = home.run(["report", &trace, "--html", "r.html"]).fine();
    assert_eq!(page.stderr, "Written: r.html\n");
    assert!(std::fs::read_to_string(home.path().join("r.html")).unwrap().contains("Timer resolutions"));
    let commands = home.run(["why", "--how-to-record", "windows"]).fine().stdout;
    assert!(commands.contains("wpr -start waits.wprp -filemode") && commands.contains("xperf -on PROC_THREAD"));
}

/// As gzip writes it, but stored.
fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut file = b"\x1f\x8b\x08\0\0\0\0\0\0\x03".to_vec();
    for piece in bytes.chunks(65_535) {
        let size = piece.len() as u16;
        file.extend([&[0], &size.to_le_bytes()[..], &(!size).to_le_bytes(), piece].concat());
    }
    file.extend([1, 0, 0, 0xff, 0xff]);
    file.extend(crc32fast::hash(bytes).to_le_bytes());
    file.extend((bytes.len() as u32).to_le_bytes());
    file
}

#[test]
fn a_recording_may_be_compressed_by_gzip() {
    let home = Home::new();
    let text = include_bytes!("../../../oversleep-recordings/tests/recorded/tracefs.txt");
    std::fs::write(home.path().join("trace.txt"), text).unwrap();
    std::fs::write(home.path().join("trace.txt.gz"), packed(text)).unwrap();
    std::fs::write(home.path().join("cut.gz"), &packed(text)[..40_000]).unwrap();
    let shown = home.run(["why", "trace.txt"]).fine().stdout;
    assert_eq!(home.run(["why", "trace.txt.gz"]).fine().stdout, shown);
    home.run(["compare", "trace.txt", "trace.txt.gz"]).fine();
    let cut = home.run(["why", "cut.gz"]);
    assert_eq!(cut.code, Some(1));
    assert!(cut.stderr.contains("it is compressed by gzip, and is cut off or damaged"), "{}", cut.stderr);
    // Whose threads they are is said above the findings.
    let cmd = include_bytes!("../../../oversleep-recordings/tests/recorded/trace-cmd.txt");
    std::fs::write(home.path().join("cmd.txt"), cmd).unwrap();
    let shown = home.run(["why", "cmd.txt"]).fine().stdout;
    assert!(shown.contains("a program has the name of its thread"), "{shown}");
}

#[test]
fn a_recording_of_the_scheduler_alone_says_what_it_shows() {
    let home = Home::new();
    let all = include_str!("../../../oversleep-recordings/tests/recorded/tracefs.txt");
    let shown = |events: &[&str]| {
        let is_kept = |line: &&str| events.iter().any(|event| line.contains(&format!(" {event}: ")));
        let some: String = all.lines().filter(is_kept).flat_map(|line| [line, "\n"]).collect();
        std::fs::write(home.path().join("some.txt"), some).unwrap();
        let shown = home.run(["why", "some.txt"]).fine().stdout;
        shown.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let switches = shown(&["sched_switch"]);
    for says in [
        "Undecided: the recording doesn't show when threads wait. Record what it lacks.",
        "The recording has the scheduler's switches alone.",
        "5.92 ms · waits not recorded · recorded by tracefs, which rounds times to 1 µs",
    ] {
        assert!(switches.contains(says), "{says}: {switches}");
    }
    let wake_ups = shown(&["sched_switch", "sched_wakeup"]);
    for says in [
        "The recording has the scheduler's events alone.",
        " wake-ups · recorded by tracefs",
        "waited 2.59 ms for a CPU after waking up",
        "behind hog-fifo",
    ] {
        assert!(wake_ups.contains(says), "{says}: {wake_ups}");
    }
    let judged = |assertion: &str, code| {
        let judged = home.run(["assert", "some.txt", assertion]).with_code(code).stdout;
        judged.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for (cause, says) in [
        (
            "late-by-slack",
            "the recording doesn't show timer slack. `oversleep why --how-to-record linux` prints what records it",
        ),
        ("late-by-quota", "No other tool records that; `oversleep why` shows it while the program runs"),
        ("late-calls", "the recording doesn't show which calls the threads made"),
        ("cut-off-by-signal", "the recording doesn't show which calls the threads made"),
        ("interpreter-is-busy", "the recording doesn't tell which language runtime a program has"),
    ] {
        let judged = judged(&format!("cause({cause}) absent"), 4);
        assert!(judged.contains(says), "{cause}: {judged}");
    }
    assert!(judged("cause(late-by-slack).share < 10%", 4).contains("doesn't show timer slack"));
    let unknown = home.run(["assert", "some.txt", "cause(late-by-chance).share < 10%"]).with_code(2).stderr;
    assert!(unknown.contains("unknown cause 'late-by-chance'"), "{unknown}");
    let exported = |to: &str| home.run(["export", "some.txt", "--to", to]).fine().stdout;
    assert!(exported("csv=-").contains(",wake_up_latency,") && !exported("csv=-").contains("lateness"));
    assert!(exported("hlog=-").contains("wake_up_latency"));
    std::fs::write(
        home.path().join("none.txt"),
        all.lines().filter(|line| line.contains("sched_switch")).flat_map(|line| [line, "\n"]).collect::<String>(),
    )
    .unwrap();
    assert_eq!(home.run(["export", "none.txt", "--to", "hgrm=-"]).fine().stdout, "#[The result has no values]\n");
    for shown in [switches, wake_ups] {
        assert!(
            shown.contains("timer:hrtimer_start") && shown.contains("`oversleep why --how-to-record linux` prints"),
            "{shown}"
        );
        for not in ["by their timer", "computed from the parts", "the lateness", " · 0 ns"] {
            assert!(!shown.contains(not), "{not}: {shown}");
        }
    }
}

/// Without a tracepoint, a recording has no cause that the whole one hasn't, but those of what isn't seen; its verdict is
/// the same as far as it shows who ran; and what it lacks is undecided.
#[test]
fn a_recording_without_a_tracepoint_has_no_further_cause() {
    let home = Home::new();
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../oversleep-recordings/tests/recorded/waits.6.dat");
    let whole = std::fs::read(path).unwrap();
    let causes = |bytes: &[u8]| {
        std::fs::write(home.path().join("some.dat"), bytes).unwrap();
        let file = home.run(["why", "some.dat", "--json"]).fine().result();
        let found = file.findings.into_iter().filter(|of| of.verdict == Verdict::Found);
        let of_unseen = ["late-by-unseen-timer", "waits-not-split", "loop-drifts"];
        let named = found.filter(|of| !of_unseen.contains(&&*of.name));
        named.map(|of| (of.name, of.instance)).collect::<Vec<_>>()
    };
    let of_whole = causes(&whole);
    for (lacks, cause) in [
        ("sched_waking", "late-by-stop"),
        ("sched_wakeup", "late-by-run-queue"),
        ("sched_process_fork", "held-up-by-quota"),
        ("hrtimer_start", "late-by-slack"),
        ("hrtimer_expire_entry", "late-by-slack"),
        ("hrtimer_expire_exit", "late-by-stop"),
        ("local_timer_entry", "late-by-shared-interrupt"),
        ("local_timer_exit", "held-up-by-page-faults"),
        ("softirq_entry", "held-up-by-quota"),
        ("softirq_exit", "held-up-by-quota"),
        ("cpu_idle", "held-up-by-page-faults"),
        ("sys_enter", "late-calls"),
        ("sys_exit", "late-calls"),
    ] {
        let mut bytes = whole.clone();
        let name = format!("name: {lacks}\n");
        let place = bytes.windows(name.len()).position(|window| window == name.as_bytes()).unwrap();
        bytes[place + 6] = b'?';
        let found = causes(&bytes);
        let further: Vec<_> = found.iter().filter(|cause| !of_whole.contains(cause)).collect();
        assert!(further.is_empty(), "without {lacks}: {further:?}");
        assert_eq!(found.first() == of_whole.first(), lacks != "sched_wakeup", "without {lacks}: {found:?}");
        home.run(["assert", "some.dat", &format!("cause({cause}) absent")]).with_code(4);
        let shown = home.run(["why", "some.dat", "--full"]).fine().stdout;
        let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        let lacks_own_timers =
            ["sched_waking", "hrtimer_expire_entry", "hrtimer_expire_exit", "sys_enter", "sys_exit"].contains(&lacks);
        assert_eq!(shown.contains("Waits for timers that a program sets itself"), lacks_own_timers, "{lacks}: {shown}");
        assert_eq!(
            shown.contains("only waits are seen that request milliseconds"),
            lacks == "hrtimer_start",
            "{lacks}"
        );
    }
}

/// A selection by lateness leaves out what a loop does in between.
#[test]
fn waits_that_are_late_alone_tell_no_loop() {
    let home = Home::new();
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../oversleep-recordings/tests/recorded/waits.6.dat");
    let path = path.display().to_string();
    let is_of_loops = |name: &str| name.starts_with("held-up-by-") || name == "loop-drifts";
    let verdicts = |only: &[&str]| {
        let file = home.run([&["why", &path, "--json"], only].concat()).fine().result();
        let of_loops = file.findings.into_iter().filter(|of| is_of_loops(&of.name));
        of_loops.map(|of| of.verdict).collect::<Vec<_>>()
    };
    assert!(
        verdicts(&[]).contains(&Verdict::Found) && verdicts(&["--only", "clock_nanosleep"]).contains(&Verdict::Found)
    );
    assert!(verdicts(&["--only", ">100us"]).iter().all(|verdict| *verdict == Verdict::NotEnoughData));
    let shown = home.run(["why", &path, "--only", ">100us"]).fine().stdout;
    assert!(!shown.contains("The loop of"), "{shown}");
}

#[test]
fn a_result_comes_through_a_pipe_too() {
    let home = Home::new();
    home.run(["why", &recording(), "--out", "a.json", "--quiet"]).fine();
    for name in ["a.json", &recording()] {
        let path = if name == "a.json" { home.path().join(name) } else { PathBuf::from(name) };
        let mut command = home.command();
        command.args(["report", "-"]).stdin(std::fs::File::open(path).unwrap());
        let ended = command.output().unwrap();
        assert!(String::from_utf8_lossy(&ended.stdout).contains("120 waits ended by their timer"), "{ended:?}");
    }
}

#[test]
fn a_recording_and_a_result_are_read_from_standard_input() {
    let home = Home::new();
    let shown = home.run(["why", &recording()]).fine();
    home.run(["why", &recording(), "--out", "r.json"]).fine();
    for (file, says) in [(PathBuf::from(recording()), &*shown.stdout), (home.path().join("r.json"), &*shown.stdout)] {
        let mut command = home.command();
        command.args(["why", "-"]).stdin(std::fs::File::open(&file).expect("a file"));
        let output = command.output().expect("it starts");
        assert_eq!(String::from_utf8_lossy(&output.stdout), says, "{}", file.display());
    }
}

#[test]
fn check_follows_its_own_waits_or_says_what_it_lacks() {
    let home = Home::new();
    let modelled = home.run(["check", "--why", "--on", "linux-hz250"]).with_code(2);
    assert!(modelled.stderr.contains("--why follows waits in this machine's kernel"), "{}", modelled.stderr);
}

#[test]
fn no_bound_is_held_against_a_runtimes_own_threads() {
    let home = Home::new();
    home.run(["why", &recording(), "--out", "a.json", "--quiet"]).fine();
    let text = std::fs::read_to_string(home.path().join("a.json")).unwrap();
    let (app, java) = (
        r#""program":"app","request":"span","thread":"app""#,
        r#""program":"java","request":"span","thread":"VM Thread""#,
    );
    assert!(text.contains(app));
    std::fs::write(home.path().join("b.json"), text.replace(app, java)).unwrap();
    let judged = home.run(["why", "b.json", "--fail-if", "p99>1ms"]).with_code(4);
    let note = "not judged by --fail-if: 120 waits of the runtime's own housekeeping";
    assert!(judged.stderr.contains(note) && !judged.stderr.contains("--fail-if holds"), "{}", judged.stderr);
}

#[test]
fn a_bound_a_selection_and_a_wish_change_what_is_said() {
    let home = Home::new();
    let above = home.run(["why", &recording(), "--fail-if", "p99>50us"]).with_code(3);
    assert!(above.stderr.contains("--fail-if holds: app: clock_nanosleep for 1 ms: "), "{}", above.stderr);
    let few = home.run(["why", &recording(), "--fail-if", "p99>3ms"]).with_code(4);
    assert!(few.stderr.contains("not judged by --fail-if: app: clock_nanosleep for 1 ms: "), "{}", few.stderr);
    let within = home.run(["why", &recording(), "--fail-if", "max>4s"]).fine();
    assert!(within.stderr.contains("--fail-if doesn't hold of 1 kind"), "{}", within.stderr);
    let late = home.run(["why", &recording(), "--only", "clock_nanosleep >1ms"]).fine();
    assert!(late.stdout.contains("waits were not selected."), "{}", late.stdout);
    let none = home.run(["why", &recording(), "--only", "futex >1ms"]).fine();
    assert!(
        none.stdout.contains("No selected wait ended by its timer.\n120 waits were not selected."),
        "{}",
        none.stdout
    );
    let nothing = home.run(["why", &recording(), "--only", "futex >1ms", "--fail-if", "max>10ms"]).with_code(4);
    assert!(nothing.stderr.contains("no observed wait was recorded at all"), "{}", nothing.stderr);
    let wanted = home.run(["why", &recording(), "--want", "500us"]).fine();
    assert!(wanted.stdout.contains("wants 500 µs and passes more to the call"), "{}", wanted.stdout);
    let compared = home.run(["why", &recording(), &recording()]).fine();
    assert!(
        compared.stdout.contains("app: clock_nanosleep for 1 ms: no part differs by more than chance."),
        "{}",
        compared.stdout
    );
}

#[test]
fn what_cannot_be_meant_or_read_is_told() {
    let home = Home::new();
    std::fs::write(home.path().join("other.json"), "{}").unwrap();
    for (args, code, words) in [
        (&["why"][..], 2, "nothing to follow"),
        (&["why", "other.json"], 1, "neither a recording nor a result"),
        (&["why", "other.json"], 1, "what `oversleep why` reads: recordings of --record, trace.dat, perf.data, "),
        (&["why", "missing.why"], 1, "can't read"),
        (&["why", "--only", "fotex", "--system"], 2, "selects nothing that is known"),
        (&["why", "--fail-if", "often", "--system"], 2, "write an assertion like"),
    ] {
        let ended = home.run(args).with_code(code);
        assert!(ended.stderr.contains(words), "{args:?}: {}", ended.stderr);
    }
}
