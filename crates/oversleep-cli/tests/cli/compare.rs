//! Comparisons of results from the command line: exact, since the results come from modelled machines.

use std::fs::{self, File};

use oversleep_record::comparison::{CaveatKind, Comparison, Verdict};
use oversleep_record::environment::FactValue;
use oversleep_record::{FactName, ResultFile};

use super::support::{Ended, Home};

/// Writes a measurement on a model to that file.
fn measure(home: &Home, file: &str, args: &[&str]) {
    let waits = ["waits", "--request", "1ms", "--count", "200", "--quiet", "--out", file];
    home.run(waits.iter().chain(args)).fine();
}

fn changed(home: &Home, file: &str, change: impl FnOnce(&mut ResultFile)) {
    let path = home.path().join(file);
    let mut result = ResultFile::read(&fs::read(&path).expect("written")).expect("a result");
    change(&mut result);
    fs::write(path, result.write()).expect("writable");
}

#[track_caller]
fn compared(ended: &Ended) -> Comparison {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {}", ended.stdout))
}

/// The verdict on each series at the median.
fn verdicts(comparison: &Comparison) -> Vec<(&str, &Verdict)> {
    comparison.verdicts(1).map(|(series, judged)| (series.key.as_str(), &judged.verdict)).collect()
}

#[test]
fn machines_differ_where_their_rules_do() {
    let home = Home::new();
    measure(&home, "slow.json", &["sleep", "--on", "windows-11"]);
    measure(&home, "fast.json", &["sleep", "--on", "windows-11", "--set", "tick=4ms"]);
    let ended = home.run(["compare", "slow.json", "fast.json", "--json"]).fine();
    let comparison = compared(&ended);
    assert_eq!(comparison.schema, "oversleep-comparison/3");
    assert_eq!(verdicts(&comparison), [("B5/sleep/1ms", &Verdict::Differs)]);
    let ratio = comparison.verdicts(1).next().and_then(|(_, judged)| judged.ratio).expect("both are late");
    assert!((0.19..0.22).contains(&ratio), "3 ms of 14.6: {ratio}");
    assert!(comparison.facts.iter().any(|fact| fact.name == "timer.period_now_ns"));
    let text = home.run(["compare", "slow.json", "fast.json"]).fine().stdout;
    assert!(text.starts_with("oversleep compare: 2 results (A modelled: windows-11; B modelled: windows-11"), "{text}");
    let differs =
        "B5/sleep/1ms is 3 ms instead of 14.6 ms (21 % of A's). B against A: of 1 series in common, 1 differs at";
    assert!(text.replace('\n', " ").contains(differs), "{text}");
}

#[test]
fn the_same_machine_again_is_not_told_apart() {
    let home = Home::new();
    for (file, seed) in [("a.json", "1"), ("b.json", "2"), ("c.json", "3")] {
        measure(&home, file, &["nanosleep", "timerfd", "poll", "--on", "linux-hz250", "--seed", seed]);
    }
    let comparison = compared(&home.run(["compare", "a.json", "b.json", "c.json", "--json"]).fine());
    for result in [1, 2] {
        let all: Vec<_> = comparison.verdicts(result).collect();
        assert_eq!(all.len(), 3);
        assert!(all.iter().all(|(_, judged)| judged.verdict == Verdict::Overlap), "{all:?}");
    }
    assert!(comparison.facts.is_empty());
}

#[test]
fn few_values_conclude_nothing_and_the_exit_code_says_so() {
    let home = Home::new();
    for file in ["a.json", "b.json"] {
        home.run(["waits", "nanosleep", "--request", "1ms", "--count", "3", "--on", "linux-hz250", "--out", file])
            .fine();
    }
    let ended = home.run(["compare", "a.json", "b.json"]).with_code(4);
    assert!(
        ended.stdout.contains("1 series inconclusive, because there are too few values; --full"),
        "{}",
        ended.stdout
    );
    assert!(ended.stdout.contains("Nothing could be concluded."), "{}", ended.stdout);
    let full = home.run(["compare", "a.json", "b.json", "--full"]).with_code(4);
    assert!(full.stdout.contains("inconclusive: the base has"), "{}", full.stdout);
}

#[test]
fn results_of_every_kind_compare_and_what_may_not_be_concluded_is_said() {
    let home = Home::new();
    measure(&home, "linux.json", &["thread-sleep", "--on", "linux-hz250"]);
    measure(&home, "wine.json", &["thread-sleep", "--on", "windows-11"]);
    changed(&home, "linux.json", |result| result.platform.modelled = None);
    changed(&home, "wine.json", |result| {
        result.platform.modelled = None;
        result.environment.set(FactName::OsWineVersion, FactValue::Text("8.0".into()), "ntdll");
    });
    fs::copy(home.path().join("linux.json"), home.path().join("arm.json")).expect("writable");
    changed(&home, "arm.json", |result| {
        result.platform.arch = "aarch64".into();
        result.environment.set(FactName::CpuModel, FactValue::Text("AMD EPYC".into()), "/proc/cpuinfo");
    });
    let comparison = compared(&home.run(["compare", "linux.json", "wine.json", "arm.json", "--json"]).fine());
    let kinds: Vec<_> = comparison.caveats.iter().map(|caveat| (caveat.result, caveat.kind)).collect();
    assert_eq!(kinds, [(1, CaveatKind::Wine), (2, CaveatKind::Emulated)]);
    let text = home.run(["compare", "linux.json", "wine.json", "arm.json"]).fine().stdout;
    assert!(text.contains("(B under Wine 8.0; C under an emulator)"), "{text}");
    assert!(text.contains("say anything about Windows"), "{text}");
}

#[test]
fn it_goes_where_it_is_wanted() {
    let home = Home::new();
    measure(&home, "a.json", &["nanosleep", "--on", "linux-hz250"]);
    let shown = home.run(["compare", "a.json", "a.json"]).fine().stdout;
    assert!(shown.contains("B5/nanosleep/1ms") && !shown.contains('\x1b'), "{shown}");
    let compare = ["compare", "a.json", "a.json", "--json=c.json", "--html", "c.html"];
    let written = home.run(compare).fine();
    assert_eq!((written.stdout.as_str(), written.stderr.as_str()), ("", "Written: c.json, c.html\n"));
    assert_eq!(home.run(compare.iter().chain(&["--quiet"])).fine().stderr, "");
    assert_eq!(home.files(), ["a.json", "c.html", "c.json"]);
    let printed = home.run(["compare", "a.json", "a.json", "--json"]).fine().stdout;
    assert_eq!(fs::read_to_string(home.path().join("c.json")).expect("text"), printed);
    assert!(fs::read_to_string(home.path().join("c.html")).expect("text").starts_with("<!DOCTYPE html>"));
    let mut command = home.command();
    let piped = File::open(home.path().join("a.json")).expect("readable");
    let output = command.args(["compare", "a.json", "-"]).stdin(piped).output().expect("it starts");
    assert!(Ended::of(output).fine().stdout.contains("B: standard input"));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let home = Home::new();
    measure(&home, "a.json", &["nanosleep", "--on", "linux-hz250"]);
    let many: Vec<&str> = std::iter::repeat_n("a.json", 27).collect();
    for (args, says) in [
        (&["a.json"][..], "2 values required"),
        (&["-", "-"], "standard input can be read only once"),
        (&["a.json", "a.json", "--json=a.json"], "--json 'a.json' would overwrite the result 'a.json'"),
        (&["a.json", "a.json", "--html", "a.json"], "--html 'a.json' would overwrite the result 'a.json'"),
        (&["a.json", "a.json", "--html", "-", "--json"], "standard output takes one document"),
        (&many, "can't compare 27 results; the maximum is 26"),
    ] {
        let ended = home.run(std::iter::once(&"compare").chain(args)).with_code(2);
        assert!(ended.stderr.contains(says), "{args:?}: {}", ended.stderr);
    }
    fs::write(home.path().join("text"), "hello").expect("writable");
    let ended = home.run(["compare", "a.json", "text"]).with_code(1);
    assert!(ended.stderr.starts_with("error: can't use 'text': not a result file: "), "{}", ended.stderr);
    let ended = home.run(["compare", "a.json", "a.json", "--html", "no/c.html"]).with_code(1);
    assert!(ended.stderr.contains("its directory does not exist"), "{}", ended.stderr);
}

#[test]
fn copies_for_others_are_read_as_results_and_a_folder_of_them_is_one_table() {
    let home = Home::new();
    measure(&home, "slow.json", &["sleep", "select", "--on", "windows-11", "--name", "ana"]);
    measure(&home, "fast.json", &["sleep", "select", "--on", "windows-11", "--set", "tick=4ms"]);
    fs::create_dir(home.path().join("all")).expect("a directory");
    for (file, copy) in [("slow.json", "all/slow.json"), ("fast.json", "all/fast.json")] {
        let told = home.run(["share", file, "--out", copy]).fine().stdout;
        assert!(told.contains("Shared result, reliability") && told.contains("Left out:"), "{told}");
    }
    let copy = fs::read_to_string(home.path().join("all/slow.json")).expect("written");
    assert!(!copy.contains("ana") && copy.contains("\"shared\""), "{copy}");
    home.run(["share", "slow.json"]).fine();
    assert!(home.files().contains(&"oversleep-shared.json".to_owned()), "{:?}", home.files());
    let report = home.run(["report", "all/slow.json"]).fine().stdout;
    assert!(report.contains("Shared result, reliability"), "{report}");
    let text = home.run(["report", "all"]).fine().stdout;
    for part in
        ["oversleep report: 2 results", "Median lateness of waits of 1 ms on Windows", "1 fast", "2 slow", "select"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json = home.run(["report", "all", "--json", "--html=all.html"]).fine().stdout;
    let document: serde_json::Value = serde_json::from_str(&json).expect("one document");
    assert_eq!(document[1]["waits"][0]["wait"], "select");
    assert!(fs::read_to_string(home.path().join("all.html")).expect("written").contains("2 slow"));
    fs::write(home.path().join("all/no.json"), "{}").expect("writable");
    let ended = home.run(["report", "all"]).with_code(1);
    assert!(ended.stdout.contains("1 fast") && ended.stderr.contains("no.json"), "{ended:?}");
    fs::create_dir(home.path().join("none")).expect("a directory");
    let ended = home.run(["report", "none"]).with_code(1);
    assert!(ended.stderr.contains("no result file (*.json)"), "{}", ended.stderr);
    let pictures = home.run(["report", "all", "--svg", "pictures"]).with_code(1);
    assert!(pictures.stderr.contains("this has no pictures") && !home.path().join("pictures").exists(), "{pictures:?}");
    let error = home.run(["share", "slow.json", "--out", "slow.json"]).with_code(2).stderr;
    assert!(error.contains("would overwrite the result"), "{error}");
}

#[test]
fn several_models_are_measured_and_compared_in_one_go() {
    let home = Home::new();
    let of_both = ["waits", "thread-sleep", "--request", "1ms", "--count", "200", "--on", "windows-11,linux-hz250"];
    let compared = compared(&home.run(of_both.iter().chain(&["--json", "-"])).fine());
    assert_eq!(verdicts(&compared), [("B5/thread-sleep/1ms", &Verdict::Differs)]);
    let text = home.run(of_both).fine().stdout;
    assert!(text.contains("A windows-11") && text.contains("B linux-hz250"), "{text}");
    for (more, says) in [
        (&["--name", "both"][..], "--name takes one machine"),
        (&["--on", "windows-11,windows-12"], "did you mean 'windows-11'?"),
    ] {
        let args = of_both[..6].iter().chain(if more[0] == "--on" { &[][..] } else { &of_both[6..] }).chain(more);
        let ended = home.run(args).with_code(2);
        assert!(ended.stderr.contains(says), "{more:?}: {}", ended.stderr);
    }
    assert_eq!(home.files(), [""; 0]);
    home.run(of_both.iter().chain(&["--out", "r.json", "--csv=r.csv"])).fine();
    assert_eq!(home.files(), ["r.csv", "r.json"]);
    let comparison = fs::read_to_string(home.path().join("r.json")).expect("written");
    assert!(comparison.starts_with(r#"{"schema":"oversleep-comparison/3""#), "{comparison}");
}

#[test]
fn the_page_has_the_pictures_of_both_from_files_and_from_standard_input() {
    let home = Home::new();
    for (file, machine) in [("a.json", "windows-11"), ("b.json", "linux-hz250")] {
        home.run(["check", "--only", "B1", "--quick", "--on", machine, "--quiet", "--no-remedies", "--out", file])
            .fine();
    }
    let figures = |page: &str| {
        let beside = |letter: &str| page.contains(&format!("<figure id=\"picture-{letter}-two-clocks\""));
        assert!(page.contains("<div class=\"beside\">") && beside("a") && beside("b"), "{page}");
    };
    figures(&home.run(["compare", "a.json", "b.json", "--html", "-"]).fine().stdout);
    let mut command = home.command();
    let piped = File::open(home.path().join("b.json")).expect("readable");
    let output = command.args(["compare", "a.json", "-", "--html", "-"]).stdin(piped).output().expect("it starts");
    figures(&Ended::of(output).fine().stdout);
}

#[test]
fn clocks_of_results_need_two_results() {
    let home = Home::new();
    home.run(["clocks", "--quick", "--on", "linux-hz250", "--quiet", "--out", "a.json"]).fine();
    let text = home.run(["clocks", "a.json", "a.json"]).fine().stdout;
    assert!(
        text.contains("The fastest clock that is valid on all of these machines is tsc, on one thread only"),
        "{text}"
    );
    for (args, says) in [
        (&["a.json"][..], "one result has nothing to compare with"),
        (&["a.json", "tsc"], "'tsc' is no result file"),
        (&["tsc", "--count", "9999"], "--count 9999 is too few"),
    ] {
        let ended = home.run(std::iter::once(&"clocks").chain(args)).with_code(2);
        assert!(ended.stderr.contains(says), "{args:?}: {}", ended.stderr);
    }
}
