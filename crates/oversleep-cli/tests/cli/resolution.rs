//! `resolution`: its messages, settings and measurements, and that neighbours end with the measurement.

use std::fs;
use std::process::{Child, Stdio};
use std::time::Duration;

use oversleep_record::series::{Quantity, Status};
use oversleep_record::{ExperimentId, label};

use super::support::{Home, os};

#[test]
fn show_says_what_decides_and_names_nobody_unasked() {
    let home = Home::new();
    let text = home.run(["resolution", "show"]).fine().stdout;
    for heading in
        ["What decides how precisely timers end", "What the system states", "Which processes hold which setting"]
    {
        assert!(text.contains(heading), "{heading}: {text}");
    }
    let json = home.run(["resolution", "show", "--json"]).fine().stdout;
    let document: serde_json::Value = serde_json::from_str(&json).expect("one JSON document");
    assert!(document["facts"].is_object() && document["found_now"].is_array(), "{json}");
    for held in document["holders"]["settings"].as_array().into_iter().flatten() {
        let fields: Vec<&String> = held.as_object().expect("an object").keys().collect();
        assert_eq!(fields, ["processes", "setting"], "names are for the terminal alone");
    }
    home.run(["resolution", "show", "--json", "--processes"]).with_code(2);
}

/// Timer slack as Linux shows it to the process itself.
const OWN_SLACK: &str = "/proc/self/timerslack_ns";

#[test]
fn children_inherit_what_is_held_when_they_are_started() {
    if os() != "linux" {
        return oversleep_testing::skip("no timer slack here");
    }
    let text = Home::new().run(["resolution", "show"]).fine().stdout;
    assert!(text.contains("a child: set, fork, exec  inherits it: 778 µs as held"), "{text}");
}

#[test]
fn a_program_runs_with_what_is_held_and_its_exit_code_is_passed_on() {
    let home = Home::new();
    if os() != "linux" {
        return oversleep_testing::skip("no timer slack here");
    }
    let script = format!("cat {OWN_SLACK}; exit 7");
    let ended = home.run(["resolution", "hold", "2ms", "--", "sh", "-c", &script]).with_code(7);
    assert_eq!(ended.stdout, "2000000\n");
    assert!(ended.stderr.starts_with("slack is held at 2 ms (before: "), "{}", ended.stderr);
    let quiet = home.run(["resolution", "hold", "-q", "1ns", "--", "cat", OWN_SLACK]).fine();
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("1\n", ""));
    let killed = home.run(["resolution", "hold", "-q", "1ns", "--", "sh", "-c", "kill -KILL $$"]);
    assert_eq!(killed.code, None, "the signal ends this command, too: {killed:?}");
}

#[test]
fn what_can_not_be_held_or_run_is_said() {
    let home = Home::new();
    for (args, code, says) in [
        (&["resolution", "hold", "0ms", "--", "true"][..], 2, "must be longer than 0"),
        (&["resolution", "hold", "no-such-word", "--", "true"], 2, "error: can't hold "),
        (
            &["resolution", "hold", "1ms", "-q", "--", "no-such-program-anywhere"],
            127,
            "error: can't run 'no-such-program",
        ),
        (&["resolution", "hold", "1ms", "-q", "--", "/"], 126, "error: can't run '/'"),
        (&["resolution", "hold"], 2, "error: "),
        (&["resolution", "hold", "1ms", "true"], 2, "error: "),
        (&["resolution"], 2, "Examples:"),
        (&["resolution", "sweep", "thread-slep"], 2, "did you mean 'thread-sleep'?"),
    ] {
        let ended = home.run(args).with_code(code);
        assert!(ended.stderr.contains(says), "{args:?}: {}", ended.stderr);
    }
}

#[test]
fn a_setting_goes_by_its_name_on_this_system() {
    let home = Home::new();
    if os() != "linux" {
        return oversleep_testing::skip("no timer slack here");
    }
    let ended = home.run(["waits", "nanosleep", "--resolution", "1ms", "--count", "1"]).with_code(2);
    assert!(
        ended.stderr.contains("can't use --resolution 1 ms") && ended.stderr.contains("on this system, use --slack")
    );
}

#[test]
fn a_sweep_has_a_series_for_each_setting() {
    let home = Home::new();
    let result = home.run(["resolution", "sweep", "--count", "2", "--json"]).measured().result();
    assert_eq!(result.command, "resolution sweep");
    assert!(result.series.len() > 3 && result.series.iter().all(|series| series.experiment == ExperimentId::C2));
    assert!(result.series.iter().any(|series| series.has_values()));
}

#[test]
fn a_sweep_holds_what_it_is_told_to() {
    let home = Home::new();
    let sweep = ["resolution", "sweep", "sleep", "--on", "windows-11", "--count", "2", "--json", "--hold"];
    let result = home.run([&sweep[..], &["3ms,500us,3ms"]].concat()).fine().result();
    let keys: Vec<&str> = result.series.iter().map(|series| series.key.as_str()).collect();
    assert_eq!(keys, ["C2/sleep/1ms/resolution=3ms", "C2/sleep/1ms/resolution=500us"]);
    let refused = home.run([&sweep[..], &["high"]].concat()).with_code(2).stderr;
    assert!(refused.contains("can't use --hold high"), "{refused}");
}

#[test]
fn neighbours_are_measured_beside_and_shown() {
    let home = Home::new();
    let args = ["resolution", "neighbours", "--quick", "--count", "2", "--out", "r.json", "--html", "r.html"];
    let ended = home.run(args).measured();
    assert!(ended.stdout.contains("Neighbours: settings that other processes hold"), "{}", ended.stdout);
    let bytes = fs::read(home.path().join("r.json")).expect("written");
    let result = oversleep_record::ResultFile::read(&bytes).expect("a result");
    for experiment in [ExperimentId::C3, ExperimentId::C4] {
        let steps: Vec<String> = result
            .experiment(experiment)
            .filter(|series| series.quantity == Quantity::Lateness)
            .map(|series| series.label(label::NEIGHBOUR).expect("labelled").to_string())
            .collect();
        assert!(steps.iter().any(|held| held == "none") && steps.len() >= 4, "{experiment}: {steps:?}");
    }
    for series in &result.series {
        assert_eq!(series.status, Status::Complete, "{}", series.key);
        assert!(series.conditions.is_as_found(), "{}: this process asks for nothing", series.key);
    }
    let page = fs::read_to_string(home.path().join("r.html")).expect("written");
    assert!(page.contains("What a neighbour"), "the picture is part of the page");
}

/// Tiers and classes are words, so a missing span is no fault.
#[test]
fn where_settings_are_words_no_stated_span_is_missed() {
    let home = Home::new();
    let result = home.run(["resolution", "neighbours", "--on", "macos-14-m1", "--quick", "--json"]).fine().result();
    let keys = || result.series.iter().map(|series| series.key.as_str());
    assert!(keys().any(|key| key.starts_with("C4/nanosleep/1ms/")), "{:?}", keys().collect::<Vec<_>>());
    assert!(result.series.iter().all(|series| !matches!(series.status, Status::Unavailable { .. })));
}

/// The running children of a process; `None` if they can't be listed.
fn children(parent: &Child) -> Option<Vec<u32>> {
    let processes = fs::read_dir("/proc").ok()?.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_child = |pid: &u32| status(*pid).is_some_and(|(_, its_parent)| its_parent == parent.id());
    Some(processes.filter(is_child).collect())
}

/// State and parent of a process.
fn status(pid: u32) -> Option<(char, u32)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = text.get(text.rfind(')')? + 1..)?.split_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

#[test]
fn neighbours_die_with_a_parent_that_is_killed() {
    if os() != "linux" {
        return oversleep_testing::skip("no list of processes here");
    }
    let home = Home::new();
    let mut command = home.command();
    command.args(["resolution", "neighbours", "--for", "1h", "--quiet"]);
    let mut parent = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let mut seen = Vec::new();
    while seen.is_empty() {
        assert!(parent.try_wait().expect("it is ours").is_none(), "it had no neighbour");
        std::thread::sleep(Duration::from_millis(20));
        seen = children(&parent).expect("/proc lists processes");
    }
    parent.kill().expect("it runs");
    parent.wait().expect("it ends");
    assert_eq!(seen.len(), 1, "one neighbour at a time");
    // An ended process that nobody has waited for remains as a zombie.
    let is_gone = |pid: &u32| status(*pid).is_none_or(|(state, _)| state == 'Z');
    while !seen.iter().all(is_gone) {
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_watch_prints_a_line_for_each_change_and_leaves_a_result() {
    let home = Home::new();
    let watch = ["resolution", "watch", "--on", "windows-10-1909", "--neighbour", "1ms@2s..5s", "--quiet"];
    let ended = home.run(watch.iter().chain(&["--out", "w.json", "--html", "w.html"])).fine();
    let line = |what: &str| {
        ended.stdout.lines().position(|line| line.contains(what)).unwrap_or_else(|| panic!("{what}: {ended:?}"))
    };
    let came = line("0:00:02.0  neighbour 1               requests 1 ms");
    assert!(came < line("sleep(1ms)                15.6 ms → 1.99 ms"));
    assert!(line("holds 1 ms → has exited") < line("sleep(1ms)                1.99 ms → 15.6 ms"));
    let read = fs::read(home.path().join("w.json")).expect("written");
    let result = oversleep_record::ResultFile::read(&read).expect("a result");
    assert!(result.changes.len() >= 8 && result.command == "resolution watch");
    let page = fs::read_to_string(home.path().join("w.html")).expect("written");
    assert!(page.contains("picture-watch") && page.contains("neighbour 1 requests 1 ms from 2.0 s to 5.0 s"));
    let json = home.run(watch.iter().chain(&["--json"])).fine();
    assert_eq!(json.result().changes.len(), result.changes.len(), "nothing but the result on standard output");
}

#[test]
fn a_watch_here_ends_after_its_time() {
    let ended = Home::new().run(["resolution", "watch", "--for", "300ms", "--every", "100ms"]).measured();
    // When a change was seen, and what changed.
    let (at, change) = ended.stdout.trim_start().split_once("  ").expect("a line");
    assert!(at.starts_with("0:") && at.len() == "0:00:00.0".len() && !change.is_empty(), "{ended:?}");
}
