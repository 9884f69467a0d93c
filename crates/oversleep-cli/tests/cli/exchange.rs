//! Files of other programs in, and results out in forms that other programs read.

use std::fs;
use std::path::PathBuf;

use oversleep_record::ResultFile;

use super::support::Home;

/// A sample file of another program.
fn sample(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../oversleep-exchange/tests/files");
    folder.join(name).display().to_string()
}

fn result(home: &Home, name: &str) -> ResultFile {
    ResultFile::read(&fs::read(home.path().join(name)).expect("it is there")).expect("it is a result")
}

#[test]
fn every_command_that_takes_a_result_takes_other_programs_files() {
    let home = Home::new();
    let ended = home.run(["report", &sample("cyclictest.json")]).fine();
    for text in [
        "Measured by cyclictest, not by oversleep",
        "Lateness of clock-nanosleep-abs 1 ms, thread 1",
        "7 more above 400 µs whose size",
    ] {
        assert!(ended.stdout.contains(text), "{text}: {}", ended.stdout);
    }
    let model =
        ["waits", "clock-nanosleep-abs", "--request", "1ms", "--on", "linux-hz250", "--quiet", "--out", "own.json"];
    home.run(model).fine();
    let compared = home.run(["compare", &sample("cyclictest.json"), "own.json"]).fine().stdout;
    assert!(compared.contains("1 differs at the median"), "{compared}");
    assert!(compared.contains("cyclictest measured this, in its own way"), "{compared}");
    assert!(compared.contains("sched.policy") && compared.contains("timer.slack_ns"), "{compared}");
    home.run(["share", &sample("hyperfine.json"), "--out", "shared.json"]).fine();
    assert!(!fs::read_to_string(home.path().join("shared.json")).expect("text").contains("sleep 0.01"));
}

#[test]
fn what_can_not_be_a_result_is_named() {
    let home = Home::new();
    let ended = home.run(["report", &sample("perf-sched-latency.txt")]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.contains("it is perf sched latency text"), "{}", ended.stderr);
    let ended = home.run(["why", &sample("cyclictest.json")]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.contains("cyclictest JSON; `oversleep report` shows it"), "{}", ended.stderr);
}

#[test]
fn an_exported_log_comes_back_with_the_same_values() {
    let home = Home::new();
    let model = ["waits", "nanosleep", "timerfd", "--request", "1ms", "--on", "linux-hz250", "--quiet"];
    home.run(model.iter().chain(&["--out", "r.json", "--export", "hlog=first.hlog"])).fine();
    home.run(["export", "first.hlog", "--to", "json=back.json", "--to", "hlog=second.hlog"]).fine();
    let values = |name: &str| -> Vec<_> {
        let of = |series: &oversleep_record::Series| {
            let values = &series.distribution;
            (series.key.clone(), series.quantity, values.count(), values.p50(), values.p99(), values.max())
        };
        result(&home, name).series.iter().filter(|series| !series.distribution.is_empty()).map(of).collect()
    };
    assert_eq!(values("back.json"), {
        let mut sorted = values("r.json");
        sorted.sort_by(|one, two| one.0.cmp(&two.0));
        sorted
    });
    let payloads = |name: &str| {
        let text = fs::read_to_string(home.path().join(name)).expect("text");
        let mut tags: Vec<(String, String)> = text
            .lines()
            .filter(|line| line.starts_with("Tag="))
            .map(|line| (line.split(',').next().unwrap().to_owned(), line.rsplit(',').next().unwrap().to_owned()))
            .collect();
        tags.sort();
        tags
    };
    assert_eq!(payloads("first.hlog"), payloads("second.hlog"));
}

#[test]
fn each_format_is_written_and_another_is_refused() {
    let home = Home::new();
    home.run(["waits", "nanosleep", "--request", "1ms", "--on", "linux-hz250", "--quiet", "--out", "r.json"]).fine();
    for (format, text) in [
        ("hgrm", "#[Series = B5/nanosleep/1ms]"),
        ("buckets", "key,unit,highest_value,count"),
        ("bencher", "\"lateness-p99\": {"),
        ("csv", "key,experiment"),
        ("md", "# oversleep waits"),
    ] {
        let written = home.run(["export", "r.json", "--to", format]).fine().stdout;
        assert!(written.contains(text), "{format}: {written}");
    }
    let ended = home.run(["export", "r.json", "--to", "parquet=x"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("'parquet' is no format; there are hlog"), "{}", ended.stderr);
    let ended = home.run(["compare", "r.json", "r.json", "--export", "hlog=x.hlog"]);
    assert!(ended.code == Some(1) && ended.stderr.contains("only a result has values"), "{}", ended.stderr);
}
