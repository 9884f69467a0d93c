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
        "7,989 values recorded, 7 more of 400 µs or above whose size",
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
    // What cyclictest doesn't state is no difference.
    assert!(!compared.contains("cpu.count") && compared.contains(" more facts aren't stated by A."), "{compared}");
    home.run(["share", &sample("hyperfine.json"), "--out", "shared.json"]).fine();
    assert!(!fs::read_to_string(home.path().join("shared.json")).expect("text").contains("sleep 0.01"));
}

/// Only what a user may have named is left out: command lines, programs, tags.
#[test]
fn a_copy_for_others_keeps_what_other_programs_measured() {
    let home = Home::new();
    for (file, kept, heading) in [
        ("cyclictest.json", 3, "Linux 6.18.44-fc x86_64"),
        ("cyclictest-hist.txt", 3, "Linux"),
        ("rtla-timerlat-hist.txt", 6, "Linux"),
        ("rtla-osnoise-hist.txt", 3, "Linux"),
        ("hyperfine.json", 2, "a machine that the file doesn't name"),
        ("jhiccup.hlog", 1, "a machine that the file doesn't name"),
        ("jhiccup.hgrm", 1, "a machine that the file doesn't name"),
        ("measuresleep.txt", 1, "Windows"),
        ("timerres-bench.csv", 4, "Windows"),
        ("clockres.txt", 1, "Windows"),
        ("energy-report.html", 0, "Windows · build 19045"),
    ] {
        home.run(["share", &sample(file), "--quiet", "--out", "shared.json"]).fine();
        assert_eq!(result(&home, "shared.json").series.len(), kept, "{file}");
        let report = home.run(["report", "shared.json"]).fine().stdout;
        let head: Vec<&str> = report.lines().take(2).collect();
        assert_eq!(head, ["oversleep import", heading], "{file}");
        let words = "without rounds that could disagree";
        assert!(report.split_whitespace().collect::<Vec<_>>().join(" ").contains(words), "{file}: {report}");
    }
}

/// The page tells neither oversleep's own method nor its options of what another program measured.
#[test]
fn the_page_of_another_program_s_file_tells_its_method() {
    let home = Home::new();
    home.run(["report", &sample("cyclictest.json"), "--quiet", "--html", "r.html"]).fine();
    let page = fs::read_to_string(home.path().join("r.html")).expect("text");
    for words in [
        "cyclictest measured, in its own way. Its values are whole microseconds",
        "Measured by cyclictest, at an unknown time. Read by oversleep 0",
        "has no rounds in this file",
        "On that machine, run `oversleep check --only B5`",
    ] {
        assert!(page.replace("<code>", "`").replace("</code>", "`").contains(words), "{words}");
    }
    for words in ["interleaved rounds", "Use --thorough", "in 0 ns"] {
        assert!(!page.contains(words), "{words}");
    }
}

#[test]
fn waits_without_a_request_are_compared_with_none_and_it_is_said_why() {
    let home = Home::new();
    home.run([
        "waits",
        "clock-nanosleep-abs",
        "--request",
        "1ms",
        "--on",
        "linux-hz250",
        "--quiet",
        "--out",
        "own.json",
    ])
    .fine();
    let ended = home.run(["compare", &sample("cyclictest-hist.txt"), "own.json"]).with_code(4);
    let text = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "no series in common; only the same wait with the same request is compared",
        "(`oversleep waits NAME --request SPAN --count N`)",
    ] {
        assert!(text.contains(words), "{text}");
    }
    let text = home.run(["report", &sample("cyclictest-hist.txt")]).fine().stdout;
    assert!(text.contains("Nor does it state the interval"), "{text}");
}

/// A model has from a file what the file states, and a note says what that is; what states too little is refused.
#[test]
fn a_machine_is_modelled_on_what_another_program_measured() {
    let home = Home::new();
    for (file, p50, note) in [
        (
            "cyclictest.json",
            25_999,
            "the lateness of clock-nanosleep-abs, kernel.release, sched.policy, timer.slack_ns",
        ),
        ("cyclictest-hist.txt", 25_999, "the lateness of clock-nanosleep-abs from this file of cyclictest"),
        ("rtla-timerlat-hist.txt", 1_999, "the lateness of clock-nanosleep-abs, timer.slack_ns from this file of rtla"),
    ] {
        let waits = ["waits", "clock-nanosleep-abs", "--request", "1ms", "--count", "1000", "--out", "r.json"];
        let ended = home.run(waits.iter().copied().chain(["--like", sample(file).as_str()])).fine();
        assert!(ended.stderr.contains(note) && ended.stderr.contains("are those of linux-hz250"), "{}", ended.stderr);
        let is = result(&home, "r.json").series[0].distribution.p50().expect("values") as f64;
        assert!((is / f64::from(p50) - 1.0).abs() < 0.1, "{file}: {is}");
    }
    for (file, why) in [
        ("jhiccup.hlog", "it doesn't say on which system it was measured"),
        ("hyperfine.json", "it doesn't say on which system it was measured"),
        ("cyclictest-quiet.txt", "the sizes of its values aren't known"),
        ("clockres.txt", "it holds neither waits nor clocks as found"),
    ] {
        let ended = home.run(["waits", "--like", &sample(file)]).with_code(2);
        assert!(ended.stderr.contains(why), "{file}: {}", ended.stderr);
    }
}

#[test]
fn values_of_unknown_size_leave_as_their_number() {
    let home = Home::new();
    let quiet = sample("cyclictest-quiet.txt");
    for (format, words) in [
        (
            "hlog",
            "#[2000 values of B5/clock-nanosleep-abs/1ms, of 10000 ns or more, have no known size and are not in it]",
        ),
        ("hgrm", "#[Max     =     0.764999, Total count    =         2000]"),
        ("buckets", "B5/clock-nanosleep-abs/1ms,ns,764999,2000"),
    ] {
        let written = home.run(["export", &quiet, "--to", format]).fine().stdout;
        assert!(written.contains(words), "{format}: {written}");
    }
}

#[test]
fn what_can_not_be_a_result_is_named() {
    let home = Home::new();
    let ended = home.run(["report", &sample("perf-sched-latency.txt")]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.contains("it is perf sched latency text"), "{}", ended.stderr);
    assert!(ended.stderr.contains("`oversleep why perf.data` reads the recording"), "{}", ended.stderr);
    fs::write(home.path().join("other.json"), "{\"a\":1}").expect("a file");
    let ended = home.run(["assert", "other.json", "series(*).p50 < 1s"]).with_code(1);
    assert!(ended.stderr.contains("`oversleep export --help` names those that are read"), "{}", ended.stderr);
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
    assert!(ended.stderr.contains("`oversleep export RESULT") && !ended.stderr.contains("another place"));
}
