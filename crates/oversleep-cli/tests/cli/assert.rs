//! Assertions: every form with each verdict, names that there are not, and what can't be read. Results are modelled or
//! recorded, so that verdicts are exact.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::support::{Ended, Home};

fn recorded(name: &str) -> String {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/recorded").join(name).display().to_string()
}

fn sample(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../oversleep-exchange/tests/files");
    folder.join(name).display().to_string()
}

/// Results that assertions are about: many waits, three waits, a check, a runtime, two observed programs.
fn results(home: &Home) {
    for (count, name) in [("4000", "many.json"), ("3", "few.json")] {
        let wait = ["waits", "nanosleep", "--request", "1ms", "--on", "linux-hz250", "--quiet", "--count", count];
        home.run(wait.iter().chain(&["--out", name])).fine();
    }
    home.run(["check", "--quick", "--on", "linux-hz250", "--quiet", "--out", "check.json"]).fine();
    home.run(["runtimes", "java", "--request", "1ms", "--on", "linux-hz250", "--quiet", "--out", "java.json"]).fine();
    for (recording, name) in [("rust-slack.why", "slack.json"), ("quota.why", "quota.json")] {
        home.run(["why", &recorded(recording), "--quiet", "--out", name]).fine();
    }
}

#[test]
fn every_form_passes_fails_and_is_undecided() {
    let home = Home::new();
    results(&home);
    let (pass, fail, undecided) = (0, 3, 4);
    for (file, assertion, code) in [
        ("many.json", "nanosleep(1ms).p50 < 1ms", pass),
        ("many.json", "nanosleep(1ms).p50 < 10us", fail),
        ("many.json", "nanosleep(1ms).p50 < 64us", undecided),
        ("many.json", "nanosleep(1ms).p50 > 10us", pass),
        ("many.json", "sleep(1ms).p50 >= 1ms", fail),
        ("few.json", "nanosleep(1ms).p50 < 1ms", undecided),
        ("many.json", "nanosleep(1ms).p99 < 1ms", undecided),
        ("many.json", "nanosleep(1ms).p99 < 10us", fail),
        ("many.json", "nanosleep(1ms).mean <= 1ms", pass),
        ("many.json", "nanosleep(1ms).mean <= 1us", fail),
        ("few.json", "nanosleep(1ms).mean <= 1us", undecided),
        ("many.json", "nanosleep(1ms).max < 1s", pass),
        ("many.json", "nanosleep(1ms).max < 1us", fail),
        ("many.json", "nanosleep(1ms).missed < 1%", pass),
        ("few.json", "nanosleep(1ms).missed < 1%", undecided),
        ("many.json", "nanosleep(1ms).missed <= 0", pass),
        ("many.json", "nanosleep(1ms).early >= 1", fail),
        ("many.json", "nanosleep(1ms).steal < 1%", pass),
        ("many.json", "nanosleep(1ms).steal > 1%", fail),
        ("many.json", "series(B5/*).p50 < 1ms", pass),
        ("many.json", "series(B5/nanosleep/1ms).p50 < 1us", fail),
        ("few.json", "series(*).p50 < 1us", undecided),
        ("check.json", "cost(monotonic) < 1us", pass),
        ("check.json", "cost(monotonic) < 1ns", fail),
        ("many.json", "cost(monotonic) < 1us", 2),
        ("check.json", "clock(monotonic).p99 < 1us", undecided),
        ("check.json", "clock(monotonic).step < 1us", pass),
        ("check.json", "step(monotonic) < 1ns", fail),
        ("check.json", "clock(monotonic).backward <= 0", pass),
        ("check.json", "clock(monotonic).backward > 0", fail),
        ("java.json", "java:Thread.sleep(1ms).p50 < 1ms", pass),
        ("java.json", "java:Thread.sleep(1ms).p50 < 1us", fail),
        ("java.json", "java:Thread.sleep(1ms).p99 < 1ms", undecided),
        ("check.json", "finding(timer-slack) present", pass),
        ("check.json", "finding(timer-slack) absent", fail),
        ("many.json", "finding(slow-clock-read) absent", 2),
        ("few.json", "finding(wake-up-baseline) absent", undecided),
        ("many.json", "timer.slack_ns = 50us", pass),
        ("many.json", "timer.slack_ns = 1us", fail),
        ("many.json", "cpu.count != 1", pass),
        ("many.json", "timer.high_resolution = yes", pass),
        ("many.json", "timer.high_resolution = off", fail),
        ("many.json", "thermal.sensor = none", undecided),
        ("slack.json", "why(t16/t16/clock_nanosleep).p50 < 1s", pass),
        ("slack.json", "why(t16).p50 < 1ms", fail),
        ("slack.json", "why(t16).p99 < 1s", undecided),
        ("slack.json", "why(t16).slack.p50 < 1ms", fail),
        ("slack.json", "why(*).runq.p50 < 1ms", pass),
        ("slack.json", "why(t16).runq.p99 < 1s", undecided),
        ("slack.json", "why(t16).slack.p99 < 1ms", fail),
        ("slack.json", "why(t16).slack.share > 90%", pass),
        ("slack.json", "period(t16/t16).p50 > 50ms", pass),
        ("slack.json", "period(t16).p50 < 50ms", fail),
        ("slack.json", "period(t16).p99.9 < 1s", undecided),
        ("slack.json", "period(t16).work.p50 < 1ms", pass),
        ("slack.json", "period(t16).missed <= 0", pass),
        ("slack.json", "cause(late-by-slack).share > 50%", pass),
        ("slack.json", "cause(late-by-slack).share < 50%", fail),
        ("quota.json", "cause(held-up-by-quota).share < 50%", undecided),
        ("slack.json", "cause(late-by-quota) absent", pass),
        ("slack.json", "cause(late-by-slack) absent", fail),
    ] {
        let ended = home.run(["assert", file, assertion]);
        assert_eq!(ended.code, Some(code), "{file} {assertion}: {}{}", ended.stdout, ended.stderr);
    }
    for (file, assertion, words) in [
        ("slack.json", "why(t16).p99 < 1s", "it takes 1,000 values, in 10 rounds of 100; 0 of its "),
        (
            "many.json",
            "nanosleep(1ms).p99 < 1ms",
            "it takes 1,000 values, in 10 rounds of 100; 5 of its 5 rounds have as many; measure",
        ),
    ] {
        let text = home.run(["assert", file, assertion]).stdout;
        assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains(words), "{text}");
    }
}

#[test]
fn one_run_decides_waits_clocks_findings_and_facts() {
    let home = Home::new();
    let on = ["--on", "linux-hz250", "--quiet"];
    let clocks_and_waits = ["assert", "nanosleep(7ms).p50 < 1ms", "cost(tsc) < 1us", "step(monotonic) < 1us"];
    home.run(clocks_and_waits.iter().chain(&on)).fine();
    // A check has no wait of 7 ms.
    let with_finding = [
        "assert",
        "nanosleep(7ms).p50 < 1ms",
        "cost(tsc) < 1ns",
        "finding(timer-slack) present",
        "cpu.count = 4",
        "--json",
    ];
    let ended = home.run(with_finding.iter().chain(&on)).with_code(3);
    let document: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let verdicts = document["assertions"].as_array().expect("a list").iter();
    let verdicts: Vec<&str> = verdicts.filter_map(|one| one["verdict"].as_str()).collect();
    assert_eq!(verdicts, ["pass", "fail", "pass", "pass"], "{}", ended.stderr);
}

#[test]
fn a_name_that_matches_nothing_is_no_silent_pass() {
    let home = Home::new();
    results(&home);
    for (file, assertion, words) in [
        ("many.json", "nanoslep(1ms).p50 < 1ms", "unknown wait 'nanoslep(1ms)'; did you mean 'nanosleep(1ms)'?"),
        ("many.json", "java:Thread.sleep(1ms).p50 < 1ms", "unknown wait 'java:Thread.sleep(1ms)'"),
        ("check.json", "cost(monotonik) < 1us", "unknown clock 'monotonik'; did you mean 'monotonic'?"),
        ("many.json", "series(B6/*).p50 < 1ms", "unknown series 'B6/*'"),
        ("many.json", "finding(timer-slak) absent", "unknown finding 'timer-slak'; did you mean 'timer-slack'?"),
        ("many.json", "timer.slak_ns = 1us", "unknown fact 'timer.slak_ns'; did you mean 'timer.slack_ns'?"),
        ("slack.json", "why(t17).p50 < 1ms", "unknown observed wait 't17'"),
        ("slack.json", "period(t17).p50 < 1ms", "unknown loop 't17'; choose from t16/t16"),
        ("slack.json", "cause(timer-slack) absent", "unknown cause 'timer-slack'; did you mean 'late-by-slack'?"),
        ("slack.json", "nanosleep(1ms).p50 < 1ms", "choose from why(t16/t16/clock_nanosleep)"),
        ("many.json", "slack_ns = 1us", "unknown fact 'slack_ns'; did you mean 'timer.slack_ns'?"),
        ("many.json", "timer.high_resolution = high", "unknown value of a fact 'high'; choose from yes, no"),
    ] {
        let ended = home.run(["assert", file, assertion]).with_code(2);
        assert!(ended.stderr.contains(words), "{assertion}: {}", ended.stderr);
    }
}

#[test]
fn what_can_not_be_read_has_a_mark_under_it_and_files_have_lines() {
    let home = Home::new();
    results(&home);
    let ended = home.run(["assert", "many.json", "nanosleep(1ms).p9 < 1ms"]).with_code(2);
    let lines = "\n  nanosleep(1ms).p9 < 1ms\n                 ^^\n";
    assert!(ended.stderr.contains("unknown figure 'p9'") && ended.stderr.contains(lines), "{}", ended.stderr);
    fs::write(home.path().join("timing.assert"), "# ours\nsleep(1ms).p50 < 1ms\n\nsleep(1ms).p50 < 1us # too little\n")
        .expect("a file");
    let ended = home.run(["assert", "--file", "timing.assert", "many.json", "--format", "github"]).with_code(3);
    assert!(
        ended.stdout.starts_with("::error file=timing.assert,line=4,title=sleep(1ms).p50 < 1us fail::"),
        "{}",
        ended.stdout
    );
    fs::write(home.path().join("wrong.assert"), "sleep(1ms).p50 < 1ms\nsleep(1ms).p50 1us\n").expect("a file");
    let ended = home.run(["assert", "--file", "wrong.assert", "many.json"]).with_code(2);
    assert!(ended.stderr.contains("wrong.assert:2: a comparison is missing"), "{}", ended.stderr);
    for (text, message) in [
        (
            "\u{feff}# ours\r\nsleep(1ms).p50 < 1\r\n",
            "rules.assert:2: p50 is a span of time, like 2ms\n  sleep(1ms).p50 < 1\n                   ^\n",
        ),
        ("sleep(1ms).p50 < 1s\nsleep(1ms.p50 < 1s\n", "rules.assert:2: the closing parenthesis is missing\n"),
        (
            "sleep(1ms).p50 < 1s\n\nslep(1ms).p50 < 1s\n",
            "rules.assert:3: 'slep(1ms).p50 < 1s': unknown wait 'slep(1ms)'",
        ),
        ("# nothing\n", "'rules.assert' has no assertion; write one a line"),
    ] {
        fs::write(home.path().join("rules.assert"), text).expect("a file");
        let ended = home.run(["assert", "--file", "rules.assert", "many.json"]).with_code(2);
        assert!(ended.stderr.contains(message), "{text}: {}", ended.stderr);
    }
    fs::write(home.path().join("rules.assert"), " ".repeat(1_000_001)).expect("a file");
    let ended = home.run(["assert", "--file", "rules.assert", "many.json"]).with_code(1);
    assert!(ended.stderr.contains("'rules.assert' is longer than 1 MB"), "{}", ended.stderr);
    let ended = home.run(["assert", "--file", "none.assert", "many.json"]).with_code(1);
    assert!(ended.stderr.starts_with("error: can't read 'none.assert': "), "{}", ended.stderr);
    for (args, words) in [
        (&["assert", "many.json"][..], "there is nothing to assert"),
        (&["assert", "./old", "./new"], "or compare two programs with --base and --new"),
        (&["assert", "many.json", "sleep(1ms).p50 < 1s", "--within", "1s"], "is measured already"),
        (&["assert", "sleep(1ms)", "--base-setting", "slack=1us"], "belong together"),
        (&["assert", "sleep(1ms)", "--baseline", "many.json"], "needs a result to judge"),
        (&["assert", "thread-slep(1ms).p50 < 1ms"], "did you mean 'thread-sleep'?"),
        (&["assert", "why(app).p50 < 1ms"], "follow the program with `oversleep why"),
    ] {
        let ended = home.run(args).with_code(2);
        assert!(ended.stderr.contains(words), "{args:?}: {}", ended.stderr);
    }
}

#[test]
fn verdicts_leave_in_every_format() {
    let home = Home::new();
    results(&home);
    let args = ["assert", "many.json", "sleep(1ms).p50 < 1ms", "sleep(1ms).p50 < 1us", "sleep(1ms).p99 < 1ms"];
    let json = home.run(args.iter().chain(&["--json"])).with_code(3).stdout;
    let document: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(document["schema"], "oversleep-assertions/1");
    assert_eq!(document["verdict"], "fail");
    let verdicts: Vec<&str> =
        document["assertions"].as_array().expect("a list").iter().filter_map(|one| one["verdict"].as_str()).collect();
    assert_eq!(verdicts, ["pass", "fail", "undecided"]);
    let ended = home.run(args.iter().chain(&["--junit", "r.xml"])).with_code(3);
    assert!(ended.stdout.contains("oversleep assert: fail"), "a build's log says why: {}", ended.stdout);
    let junit = fs::read_to_string(home.path().join("r.xml")).expect("a file");
    assert!(junit.contains("tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\""), "{junit}");
    home.run(args.iter().chain(&["--html", "r.html"])).with_code(3);
    let page = fs::read_to_string(home.path().join("r.html")).expect("a file");
    assert!(page.contains("<p>3 assertions: 1 pass, 1 fail, 1 undecided"), "{page}");
    let mut command = home.command();
    let summary = home.path().join("summary.md");
    let output = command.args(args).args(["--format", "github"]).env("GITHUB_STEP_SUMMARY", &summary).output();
    let ended = Ended::of(output.expect("it runs")).with_code(3);
    assert!(ended.stdout.contains("::error title=") && ended.stdout.contains("::warning title="), "{}", ended.stdout);
    let table = fs::read_to_string(&summary).expect("a file");
    assert!(table.contains("| fail | sleep(1ms).p50 &lt; 1us |"), "{table}");
    // Another step adds its own, and each table is whole.
    let again = home.command().args(args).args(["--format", "github"]).env("GITHUB_STEP_SUMMARY", &summary).output();
    Ended::of(again.expect("it runs")).with_code(3);
    assert_eq!(fs::read_to_string(&summary).expect("a file"), table.repeat(2));
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with('|')).collect();
    let columns = |row: &&str| row.matches('|').count();
    assert!(rows.len() == 5 && rows.iter().all(|row| columns(row) == columns(&rows[0])), "{table}");
    home.run(["assert", "many.json", "sleep(1ms).p99 < 1ms", "--inconclusive", "pass"]).fine();
    home.run(["assert", "many.json", "sleep(1ms).p99 < 1ms", "--inconclusive", "fail"]).with_code(3);
}

#[test]
fn a_machine_is_measured_until_it_is_decided() {
    let home = Home::new();
    let on = ["--on", "linux-hz250", "--quiet"];
    home.run(["assert", "sleep(1ms).p50 < 1ms", "finding(timer-slack) present"].iter().chain(&on)).with_code(0);
    home.run(["assert", "nanosleep(1ms).p99 < 1ms", "--within", "60s"].iter().chain(&on)).fine();
    home.run(["assert", "nanosleep(1ms).p99 < 1ms", "--within", "1s"].iter().chain(&on)).with_code(4);
    home.run(["assert", "nanosleep(1ms).p99 < 20us", "--within", "60s"].iter().chain(&on)).with_code(3);
}

#[test]
fn two_settings_are_told_apart_and_the_same_one_passes() {
    let home = Home::new();
    let gate = |base: &str, new: &str, tolerance: &str| {
        let args =
            ["assert", "nanosleep(1ms)", "--on", "linux-hz250", "--within", "60s", "--quiet", "--max-regression"];
        let settings = [tolerance, "--base-setting", base, "--new-setting", new];
        home.run(args.iter().chain(&settings)).code
    };
    assert_eq!(gate("slack=50us", "slack=50us", "25%"), Some(0));
    assert_eq!(gate("slack=50us", "slack=100us", "25%"), Some(3));
    assert_eq!(gate("slack=50us", "slack=60us", "5%"), Some(3));
    assert_eq!(gate("slack=50us", "slack=1us", "25%"), Some(0));
}

#[test]
fn a_baseline_of_another_machine_decides_nothing() {
    let home = Home::new();
    results(&home);
    let windows = ["waits", "sleep", "--request", "1ms", "--on", "windows-11", "--quiet", "--out", "other.json"];
    home.run(windows).fine();
    home.run(["assert", "many.json", "--baseline", "many.json", "--max-regression", "5%"]).fine();
    home.run(["assert", "many.json", "nanosleep(1ms).p50 < baseline * 0.9", "--baseline", "many.json"]).with_code(3);
    home.run(["assert", "many.json", "nanosleep(1ms).p50 <= baseline", "--baseline", "many.json"]).with_code(4);
    let ended = home.run(["assert", "many.json", "nanosleep(1ms)", "--baseline", "other.json"]).with_code(4);
    let text = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("the baseline is from another machine: platform (a model, windows-11, now a model,"),
        "{text}"
    );
    assert!(text.contains("os.name"), "{text}");
}

#[test]
fn files_of_other_programs_are_judged_by_their_values() {
    let home = Home::new();
    let ended = home.run(["assert", &sample("jhiccup.hlog"), "series(*jhiccup*).p99 < 5ms"]).fine();
    let text = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("from the values alone, because the file has no rounds"), "{text}");
    home.run(["assert", &sample("cyclictest.json"), "clock-nanosleep-abs(1ms).p50 < 1us"]).with_code(3);
    home.run(["assert", &sample("hyperfine.json"), "series(*sleep-command*).p99 < 1s"]).with_code(4);
}

/// What a file doesn't state is neither zero nor nothing: the message says what there is instead.
#[test]
fn what_a_file_of_another_program_lacks_is_said() {
    let home = Home::new();
    for (file, assertion, code, words) in [
        ("cyclictest-quiet.txt", "clock-nanosleep-abs(1ms).max < 1ms", 0, "765 µs; a maximum grows"),
        ("cyclictest-quiet.txt", "clock-nanosleep-abs(1ms).max < 500us", 3, "765 µs"),
        (
            "cyclictest-quiet.txt",
            "clock-nanosleep-abs(1ms).p50 < 1s",
            4,
            "of its 2,000 values, only the largest has a known size",
        ),
        ("cyclictest.json", "clock-nanosleep-abs(1ms).missed <= 0", 4, "cyclictest doesn't state it"),
        ("hyperfine.csv", "sleep-command(10ms).p50 < 1s", 4, "it takes about 11 values for that percentile; it has 1"),
        ("rtla-timerlat-hist.txt", "series(B5/timerlat-thread).p99 < 1ms", 0, "pass: 3 µs; from the values alone"),
        (
            "cyclictest-hist.txt",
            "clock-nanosleep-abs(1ms).p50 < 1ms",
            2,
            "choose from series(B5/clock-nanosleep-abs), series(",
        ),
        ("timerres-bench.csv", "sleep(1ms).p50 < 1ms", 2, "choose from series(B5/sleep/1ms/resolution=500us), series("),
    ] {
        let ended = home.run(["assert", &sample(file), assertion]).with_code(code);
        let text = format!("{}{}", ended.stdout, ended.stderr);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(words), "{file} {assertion}: {text}");
    }
}

/// The assertions of `schema/golden/assertions-v1/log.json`, which shows each verdict.
const GOLDEN: [&str; 4] = [
    "series(*jhiccup*).p99 < 5ms",
    "series(*jhiccup*).p50 < 1us",
    "series(*jhiccup*).mean < 75us",
    "series(*jhiccup*).p50 < 70us",
];

#[test]
fn the_published_verdicts_are_what_is_written() {
    let golden = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../schema/golden/assertions-v1/log.json");
    let Ok(golden) = fs::read_to_string(&golden) else {
        return oversleep_testing::skip("the crate is tested without the project's schemas");
    };
    let home = Home::new();
    let log = sample("jhiccup.hlog");
    let ended = home.run(["assert", &log].into_iter().chain(GOLDEN).chain(["--json"])).with_code(3);
    let read = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
    let (mut written, mut golden) = (read(&ended.stdout), read(&golden));
    for document in [&mut written, &mut golden] {
        document["tool"]["version"] = Value::Null;
    }
    assert_eq!(written, golden);
}
