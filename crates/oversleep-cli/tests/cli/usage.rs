//! An invalid command line ends with one message and exit code 2, before anything is measured.

use super::support::{Ended, Home};

#[track_caller]
fn refused(args: &[&str]) -> String {
    let home = Home::new();
    let Ended { stdout, stderr, .. } = home.run(args).with_code(2);
    assert_eq!(stdout, "", "{args:?}");
    assert!(home.files().is_empty(), "{args:?} left {:?}", home.files());
    stderr
}

#[track_caller]
fn refused_with(args: &[&str], message: &str) {
    let stderr = refused(args);
    assert_eq!(stderr.lines().next(), Some(message), "{args:?}: {stderr}");
}

#[test]
fn unknown_names_come_with_a_suggestion() {
    for (args, message) in [
        (
            &["waits", "thread-slep"][..],
            "error: unknown wait 'thread-slep'; did you mean 'thread-sleep'? `oversleep waits --list` lists them all",
        ),
        (
            &["waits", "thread-sleep", "thread_slep"],
            "error: unknown wait 'thread_slep'; did you mean 'thread-sleep'? `oversleep waits --list` lists them all",
        ),
        (
            &["clocks", "std-instan"],
            "error: unknown clock 'std-instan'; did you mean 'std-instant'? `oversleep clocks --list` lists them all",
        ),
        (
            &["waits", "--clock", "std-instan"],
            "error: unknown clock 'std-instan'; did you mean 'std-instant'? `oversleep clocks --list` lists them all",
        ),
        (
            &["handoff", "condvra"],
            "error: unknown hand-off 'condvra'; did you mean 'condvar'? `oversleep handoff --list` lists them all",
        ),
        (
            &["idle", "jett"],
            "error: unknown idle strategy 'jett'; did you mean 'jet'? `oversleep idle --list` lists them all",
        ),
        (&["idle", "--park", "qq-zz"], "error: unknown wait 'qq-zz'; `oversleep waits --list` lists them all"),
        (&["handoff", "--list", "q"], "error: unknown hand-off 'q'; `oversleep handoff --list` lists them all"),
        (
            &["waits", "--load", "spim:2"],
            "error: unknown load 'spim'; did you mean 'spin'? Choose from spin, memory, syscalls, timers",
        ),
        (
            &["check", "--only", "B2,B99"],
            "error: unknown experiment 'B99'; did you mean 'B9'? `oversleep experiments` lists them all",
        ),
        (
            &["explain", "timer-slak"],
            "error: unknown finding 'timer-slak'; did you mean 'timer-slack'? `oversleep explain` lists them all",
        ),
        (
            &["explain", "zzz"],
            "error: no finding, clock or wait is named 'zzz', and no finding mentions it; `oversleep explain` lists all \
             findings",
        ),
        (
            &["machines", "win11"],
            "error: unknown modelled machine 'win11'; did you mean 'windows-11' or 'windows-11-half-ms'? `oversleep \
             machines` lists them all",
        ),
        (
            &["check", "--only", "timer-slack"],
            "error: 'timer-slack' is a finding, not an experiment; experiment B5 shows it: oversleep check --only B5. \
             `oversleep explain timer-slack` explains it",
        ),
        (
            &["run", "--policy", "fifo:80", "true"],
            "error: put the program after --: oversleep run --policy fifo:80 -- true",
        ),
        (&["run", "--slack", "1ns", "ls", "-l"], "error: put the program after --: oversleep run --slack 1ns -- ls -l"),
        (
            &["waits", "--json", "thread-sleep"],
            "error: --json would write to a file 'thread-sleep'; put names before it: oversleep waits thread-sleep --json",
        ),
        (
            &["waits", "--list", "--json", "thread-sleep"],
            "error: --json would write to a file 'thread-sleep'; put names before it: oversleep waits --list thread-sleep \
             --json",
        ),
        (
            &["runtimes", "--list", "--json", "java"],
            "error: --json would write to a file 'java'; put names before it: oversleep runtimes --list java --json",
        ),
        (
            &["runtimes", "--json", "java-17"],
            "error: --json would write to a file 'java-17'; put names before it: oversleep runtimes java-17 --json",
        ),
        (
            &["waits", "nanosleep", "--on", "linux-hz250,windows-11"],
            "error: windows-11: unknown wait 'nanosleep'; `oversleep waits --list` lists them all",
        ),
        (&["chekc"], "error: unrecognized subcommand 'chekc'"),
        (
            &["resolution", "hold", "1ms", "true", "-x"],
            "error: put the program after --: oversleep resolution hold 1ms -- true -x",
        ),
        (
            &["why", "--for", "1s", "oversleep", "--json", "1"],
            "error: put the program after --: oversleep why --for 1s -- oversleep --json 1",
        ),
        (&["why", "-p", "1", "oversleep"], "error: the argument '--pid <PID>' cannot be used with '[FILE]...'"),
        (&["why", "oversleep", "-x"], "error: put the program after --: oversleep why -- oversleep -x"),
        (&["why", "oversleep", "1", "2"], "error: put the program after --: oversleep why -- oversleep 1 2"),
        (
            &["report", "a.json", "--json", "b.json"],
            "error: --json takes its file behind an equals sign: --json=b.json",
        ),
        (&["compare", "a", "b", "--md", "c.md"], "error: --md takes its file behind an equals sign: --md=c.md"),
        (&["doctor", "--json", "d.json"], "error: --json takes its file behind an equals sign: --json=d.json"),
        (&["why", "a.json", "--csv", "a.csv"], "error: --csv takes its file behind an equals sign: --csv=a.csv"),
        (
            &["ask", "sleep(1ms)", "--on", "windows-11", "--json", "e.json"],
            "error: --json takes its file behind an equals sign: --json=e.json",
        ),
        (&["machines", "--csv", "m.csv"], "error: --csv takes its file behind an equals sign: --csv=m.csv"),
        (&["explain", "--md", "e.md"], "error: --md takes its file behind an equals sign: --md=e.md"),
    ] {
        refused_with(args, message);
    }
    for (machine, typed, meant) in [("linux-hz250", "fofo:80", "fifo"), ("windows-11", "highst", "highest")] {
        let message = refused(&["waits", "--on", machine, "--policy", typed]);
        assert!(message.contains(&format!("did you mean '{meant}'?")), "{message}");
    }
}

#[test]
fn absurd_durations_are_refused() {
    let waits = |option, value| refused(&["waits", "thread-sleep", option, value]);
    for (option, value, what) in [
        ("--request", "1 parsec", "'parsec' in '1 parsec' is not a unit of time here; use ns, us, ms, s, min, h or d"),
        ("--request", "1e30", "'e30' in '1e30' is not a unit of time here"),
        ("--request", "0ms", "a request must be longer than 0"),
        ("--request", "-1ms", "a request must be longer than 0"),
        ("--request", "5", "'5' has no unit"),
        ("--request", "", "an empty duration"),
        ("--request", "1ms,", "an empty duration"),
        ("--request", "61s", "a request is at most 60s; name a modelled machine with --on"),
        ("--request", "1441h", "a request is at most 60 days (60d)"),
        ("--request", "99999999999999h", "longer than 292 years"),
        ("--request", "0.5ns", "finer than a nanosecond"),
        ("--for", "25h", "the time to run is at most 24h"),
        ("--for", "0s", "the time to run must be longer than 0"),
        ("--for", "-5s", "the time to run must be longer than 0"),
        ("--slack", "0ns", "1ns (the shortest)"),
        ("--resolution", "0ms", "a timer resolution must be longer than 0"),
        ("--dma-latency", "500ns", "a whole number of microseconds"),
        ("--dma-latency", "-1us", "can't be negative"),
    ] {
        let stderr = waits(option, value);
        assert!(stderr.contains(what) && stderr.contains(option), "{option} {value}: {stderr}");
    }
}

#[test]
fn absurd_counts_and_lists_are_refused() {
    for (option, value, what) in [
        ("--count", "0", "a series needs at least one value"),
        ("--count", "-5", "'-5' is negative"),
        ("--count", "1e30", "'1e30' is not a whole number"),
        ("--count", "1000000001", "a series takes at most 1000000000 values"),
        ("--count", "", "the count is empty"),
        ("--load", "spin:0", "not a number of threads"),
        ("--load", "", "the kind of load is missing"),
        ("--pin", "", "not a list of CPUs"),
        ("--pin", "3-1", "'3-1' runs backwards"),
        ("--pin", "-1", "not a list of CPUs"),
        ("--policy", "fifo:high", "'high' is not a priority"),
        ("--policy", "", "the policy has no name"),
        ("--policy", "fifo:100", "can't use --policy fifo:100: "),
        ("--policy", "fifo:0", "can't use --policy fifo:0: "),
        ("--policy", "fifo", "can't use --policy fifo:0: "),
        ("--name", "", "the name is empty"),
        ("--pace", "sometimes", "invalid value 'sometimes'"),
    ] {
        let stderr = refused(&["waits", "thread-sleep", option, value]);
        assert!(stderr.contains(what) && stderr.contains(option), "{option} {value}: {stderr}");
    }
}

#[test]
fn a_long_list_is_not_repeated_in_full() {
    let typed = "0-8191";
    for args in [["waits", "--pin", typed], ["waits", "--tune", &format!("pin={typed}")]] {
        let Ended { code, stderr, .. } = Home::new().run(args.into_iter().chain(["--count", "1", "--quiet"]));
        assert!(stderr.len() < 400 && (code != Some(2) || stderr.contains(typed)), "{} bytes", stderr.len());
    }
}

#[test]
fn a_time_too_short_for_one_wait_is_refused() {
    refused_with(
        &["waits", "thread-sleep", "--request", "1ms,60s", "--for", "1s"],
        "error: --for 1s is shorter than --request 60s; give --for 60s or more, or a shorter --request",
    );
    refused_with(
        &["waits", "spin", "--for", "1ns"],
        "error: --for 1ns is shorter than the longest request, 16ms; give --for 16ms or more, or shorter requests with \
         --request",
    );
    // Call by call, the wait in progress when the time is up is finished.
    let home = Home::new();
    let args = ["waits", "spin", "--request", "2ms", "--for", "1ms", "--pace", "back-to-back", "--quiet"];
    assert!(home.run(args).with_code(0).stdout.contains("2 ms"));
    home.run(["waits", "spin", "--request", "2ms", "--for", "2ms", "--quiet"]).with_code(0);
    // A measurement without a schedule has at least one value.
    home.run(["handoff", "condvar", "--for", "1ns", "--quiet"]).measured();
    home.run(["forkjoin", "--for", "1ms", "--quiet"]).measured();
}

#[test]
fn parks_become_longer() {
    refused_with(
        &["idle", "--park-from", "1ms", "--park-to", "10us"],
        "error: --park-from 1ms is longer than --park-to 10us; parks become longer, so give the shorter one first",
    );
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    for args in [
        &["waits", "--count", "3", "--for", "1s"][..],
        &["check", "--quick", "--thorough"],
        &["waits", "--json", "-", "--html", "-"],
        &["waits", "--out", "r", "--html", "r"],
        &["report"],
        &["report", "a", "b", "--records", "c"],
        &["report", "a.json", "--json=a.json"],
        &["man"],
        &["completions", "csh"],
    ] {
        let stderr = refused(args);
        assert!(stderr.starts_with("error: "), "{args:?}: {stderr}");
    }
}

#[test]
fn places_that_can_not_be_written_are_found_before_measuring() {
    let home = Home::new();
    for (args, what) in [
        (["--out", "no/r.json"], "error: can't write 'no/r.json': its directory does not exist; create it first\n"),
        (["--html", "temp"], "error: can't write 'temp': it is a directory; name a file in it\n"),
        (["--json", ""], "error: a value is required for '--json [<FILE>]' but none was supplied\n"),
    ] {
        // If the destination were checked last, an hour of measuring would come first.
        let ended = home.run(["waits", "thread-sleep", "--for", "1h"].into_iter().chain(args));
        assert!(matches!(ended.code, Some(1 | 2)), "{args:?}: {:?}", ended.code);
        assert!(ended.stderr.starts_with(what), "{args:?}: {}", ended.stderr);
        assert_eq!(ended.stdout, "");
    }
    assert!(home.files().is_empty(), "{:?}", home.files());
}

#[test]
fn results_that_can_not_be_read_are_named() {
    let home = Home::new();
    let write = |name: &str, text: &str| std::fs::write(home.path().join(name), text).expect("writable");
    write("empty", "");
    write("text", "hello");
    write("other", r#"{"schema":"oversleep-result/99"}"#);
    write("short", r#"{"schema":"oversleep-result/2"}"#);
    for (name, what) in [
        ("nothing", "error: can't read 'nothing': "),
        ("temp", "error: can't report on 'temp': there is no result file (*.json) in it"),
        ("empty", "error: can't use 'empty': it is empty, not a result file"),
        ("text", "error: can't use 'text': not a result file: "),
        ("other", "error: can't use 'other': written in schema 'oversleep-result/99'; this version reads "),
        ("short", "error: can't use 'short': not a result file: missing field"),
    ] {
        let ended = home.run(["report", name]).with_code(1);
        assert!(ended.stderr.starts_with(what), "{name}: {}", ended.stderr);
        assert_eq!(ended.stdout, "");
    }
}

#[test]
fn a_watch_and_a_copy_that_can_not_be_meant_are_refused() {
    for (args, part) in [
        (
            &["resolution", "watch", "--on", "windows-11", "--neighbour", "1ms@5s..2s"][..],
            "a neighbour leaves after it came",
        ),
        (&["resolution", "watch", "--on", "windows-11", "--neighbour", "1ms@2s"], "write SETTING@FROM..UNTIL"),
        (
            &["resolution", "watch", "--on", "windows-11", "--neighbour", "highest"],
            "no neighbour can hold highest here",
        ),
        (&["resolution", "watch", "--every", "1ms"], "--every must be at least 100ms"),
        (&["ask", "sleep(1ms)", "--on", "windows-11", "--after-neighbour"], "--neighbour"),
    ] {
        let stderr = refused(args);
        assert!(stderr.contains(part), "{args:?}: {stderr}");
    }
}

#[test]
fn a_process_that_can_not_exist_is_refused() {
    for id in ["0", "abc", "-1", "99999999999"] {
        let stderr = refused(&["why", &format!("--pid={id}")]);
        assert!(stderr.contains("is not the id of a process; write a whole number from 1"), "{id}: {stderr}");
    }
}

#[test]
fn no_error_advises_to_pass_an_unknown_option_as_a_value() {
    for args in [&["clocks", "--cvs"][..], &["experiments", "--cvs"], &["run", "--cvs", "true"], &["check", "--jsno"]] {
        let error = Home::new().run(args).with_code(2).stderr;
        assert!(error.contains("unexpected argument") && !error.contains("as a value"), "{args:?}: {error}");
    }
}

#[test]
fn a_name_after_json_is_the_name_and_no_file() {
    let home = Home::new();
    for (args, says) in [
        (["explain", "--json", "timer-slack"], "\"OVS-L001\""),
        (["experiments", "--json", "B2"], "\"B2\""),
        (["machines", "--json", "windows-11"], "\"windows-11\""),
    ] {
        let document = home.run(args).fine().stdout;
        assert!(document.starts_with('{') && document.contains(says), "{args:?}: {document}");
    }
    assert_eq!(home.files(), [""; 0]);
}
