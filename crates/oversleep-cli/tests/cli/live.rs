//! What is shown while it is sampled. Nothing here looks at how late a wait was.

use oversleep_record::file::Completion;
use oversleep_record::{Nanos, ResultFile};
use serde_json::Value;

use super::support::{Home, os};

#[test]
fn a_watch_prints_lines_of_json_alone_and_leaves_the_result_that_was_named() {
    let home = Home::new();
    // A nanosecond is less than any lateness, so every wait is named.
    let ended = home.run(["watch", "--for", "1500ms", "--late", "1ns", "--json-lines", "--out", "r.json"]).fine();
    let lines: Vec<Value> = ended
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    assert!(lines.iter().any(|line| line["event"] == "late" && line["requested_ns"] == 1_000_000), "{}", ended.stdout);
    let second = lines.iter().find(|line| line["event"] == "second").expect("a second passed");
    assert!(second["burst"]["all"]["count"].is_u64(), "{second}");
    let file = ResultFile::read(&std::fs::read(home.path().join("r.json")).expect("written")).expect("a result");
    assert_eq!((file.command.as_str(), file.completion), ("watch", Completion::Complete));
    assert_eq!(file.series[0].requested_ns, Some(Nanos::from_millis(1)));
    let report = home.run(["report", "r.json"]).fine().stdout;
    assert!(report.contains(", pauses of random length"), "{report}");
    // What it leaves can be shared, compared and judged as any result can.
    let shared = home.run(["share", "r.json", "--out", "s.json"]);
    assert_eq!(shared.code, Some(0), "{}", shared.stderr);
    let copy = ResultFile::read(&std::fs::read(home.path().join("s.json")).expect("written")).expect("a result");
    assert_eq!(copy.series.len(), file.series.len());
}

#[test]
fn a_wait_later_than_the_bound_ends_a_live_measurement_and_is_named() {
    let home = Home::new();
    let ended =
        home.run(["waits", "thread-sleep", "--live", "--break-above", "1ns", "--for", "60s", "--out", "r.json"]).fine();
    assert!(ended.stderr.contains("stopped at ") && ended.stderr.contains("1 ms ended "), "{}", ended.stderr);
    let file = ResultFile::read(&std::fs::read(home.path().join("r.json")).expect("written")).expect("a result");
    assert_eq!((file.command.as_str(), file.completion), ("waits", Completion::Complete));
    assert!(file.series[0].counts.recorded > 0);
}

#[test]
fn the_kernel_names_who_ran_where_it_may_and_what_grants_it_is_said_where_it_may_not() {
    let home = Home::new();
    let args = ["waits", "thread-sleep", "--live", "--break-above", "1ns", "--for", "60s", "--events", "e.why"];
    let ended = home.run(args);
    if ended.code != Some(0) {
        // Nothing is measured without what was named, and what grants it is said.
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        assert!(!home.path().join("e.why").exists() && !ended.stderr.contains("stopped at"), "{}", ended.stderr);
        return oversleep_testing::skip(ended.stderr);
    }
    assert!(ended.stderr.contains("`oversleep why e.why` shows them"), "{}", ended.stderr);
    let again = home.run(["why", "e.why"]).fine().stdout;
    assert!(again.contains("sampler"), "{again}");
    let args = ["watch", "--for", "1500ms", "--late", "1ns", "--json-lines", "--by", "kernel"];
    let lines = home.run(args).fine().stdout;
    let named = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut parts = named.filter_map(|line| line["kernel"]["parts_ns"].as_object().cloned());
    assert!(parts.next().is_some(), "{lines}");
    let args = ["watch", "--for", "1500ms", "--late", "1ns", "--json-lines", "--by", "counters"];
    let lines = home.run(args).fine().stdout;
    assert!(!lines.contains("\"kernel\""), "{lines}");
}

#[test]
fn each_cpu_has_its_series_in_one_result() {
    let home = Home::new();
    let args = ["waits", "thread-sleep", "--live", "--each-cpu", "--for", "300ms", "--out", "r.json"];
    let ended = home.run(args);
    if os() == "macos" {
        // No CPU can be chosen there.
        ended.with_code(1);
        return;
    }
    ended.measured();
    let file = ResultFile::read(&std::fs::read(home.path().join("r.json")).expect("written")).expect("a result");
    let cpus = oversleep_native::here().cpus().len();
    assert_eq!(file.series.len(), 2 * cpus);
    let mut pinned: Vec<String> = file.series.iter().map(|series| format!("{:?}", series.conditions)).collect();
    pinned.dedup();
    assert_eq!(pinned.len(), cpus, "{pinned:?}");
    home.run(["report", "r.json"]).fine();
    let shared = home.run(["share", "r.json", "--out", "s.json"]);
    assert_eq!(shared.code, Some(0), "{}", shared.stderr);
    let copy = ResultFile::read(&std::fs::read(home.path().join("s.json")).expect("written")).expect("a result");
    assert_eq!(copy.series.len(), file.series.len());
}

#[test]
fn what_live_does_not_know_is_refused() {
    let home = Home::new();
    for (args, says) in [
        (&["waits", "--live", "--on", "windows-11"][..], "'--on <MACHINE>'"),
        (&["waits", "--live", "--count", "3"], "'--count"),
        (&["waits", "--live", "--request", "1ms,2ms"], "one wait for one request"),
        (&["waits", "--break-above", "1ms"], "--live"),
        (&["waits", "--each-cpu"], "--live"),
        (&["watch", "nosuch"], "there is no wait 'nosuch' here"),
        (&["watch", "--json-lines", "--json"], "both take standard output"),
    ] {
        let ended = home.run(args);
        assert_eq!(ended.code, Some(2), "{args:?}");
        assert!(ended.stderr.contains(says), "{args:?}: {}", ended.stderr);
    }
}
