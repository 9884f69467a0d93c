//! Destinations of results: standard output, files, pictures; and stored results.

use std::fs;

use oversleep_record::conditions::Setting;
use oversleep_record::file::Completion;
use oversleep_record::{ExperimentId, Nanos, ResultFile};

use super::support::{Home, SHORT, commands, os};

fn short_with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    SHORT.iter().chain(more).copied().collect()
}

fn read(home: &Home, name: &str) -> ResultFile {
    ResultFile::read(&fs::read(home.path().join(name)).expect("it is there")).expect("it is a result")
}

#[test]
fn a_measurement_shows_its_report_and_leaves_nothing() {
    let home = Home::new();
    let ended = home.run(SHORT).fine();
    assert!(ended.stdout.contains("thread-sleep"), "{}", ended.stdout);
    assert!(!ended.stdout.contains('\x1b'), "styles without a terminal");
    assert!(home.files().is_empty() && home.temporary_files().is_empty());
    let coloured = home.run(short_with(&["--color", "always"])).fine();
    assert!(coloured.stdout.contains('\x1b'));
}

#[test]
fn json_on_standard_output_is_one_document_and_nothing_else() {
    let home = Home::new();
    for option in [&["--json"][..], &["--json", "-"], &["--out", "-"], &["--json", "--quiet"]] {
        let result = home.run(short_with(option)).fine().result();
        assert_eq!((result.command.as_str(), result.completion), ("waits", Completion::Complete));
        let series = result.series("B5/thread-sleep/1ms").expect("measured");
        assert_eq!(series.counts.recorded, 3);
        assert_eq!(result.name, None);
    }
    assert!(home.files().is_empty());
}

#[test]
fn files_are_written_where_they_are_wanted() {
    let home = Home::new();
    // Every system's model has values enough for pictures.
    let measure = ["waits", "thread-sleep", "--request", "1ms", "--on", "windows-11"];
    let outputs = ["--out", "r.json", "--json", "s.json", "--html", "r.html", "--svg", "pictures", "--name", "a name"];
    let ended = home.run(measure.iter().chain(&outputs)).fine();
    assert_eq!(home.files(), ["pictures", "r.html", "r.json", "s.json"]);
    assert!(ended.stderr.contains("Written: "), "{}", ended.stderr);
    assert!(ended.stdout.contains("thread-sleep"), "the report is shown too");
    assert_eq!(read(&home, "r.json"), read(&home, "s.json"));
    assert_eq!(read(&home, "r.json").name.as_deref(), Some("a name"));
    let page = fs::read_to_string(home.path().join("r.html")).expect("text");
    assert!(page.to_lowercase().starts_with("<!doctype html>"));
    for picture in fs::read_dir(home.path().join("pictures")).expect("made") {
        let path = picture.expect("readable").path();
        assert!(fs::read_to_string(&path).expect("text").contains("<svg"), "{path:?}");
    }
}

#[test]
fn a_named_file_is_replaced() {
    let home = Home::new();
    fs::write(home.path().join("r.json"), "old").expect("writable");
    let ended = home.run(short_with(&["--out", "r.json", "--quiet"])).fine();
    assert_eq!(ended.stderr, "", "quiet");
    assert_eq!(read(&home, "r.json").command, "waits");
    assert_eq!(home.files(), ["r.json"]);
}

#[test]
fn a_report_shows_a_result_again() {
    let home = Home::new();
    let shown = home.run(short_with(&["--out", "r.json"])).fine().stdout;
    assert_eq!(home.run(["report", "r.json"]).fine().stdout, shown);
    let json = home.run(["report", "r.json", "--json"]).fine().stdout;
    assert_eq!(json.into_bytes(), fs::read(home.path().join("r.json")).expect("readable"));
    let twice = home.run(["report", "r.json", "r.json"]).fine().stdout;
    assert_eq!(twice, format!("{shown}{shown}"));
    let written = home.run(["report", "r.json", "--html", "r.html", "--json=s.json", "--quiet"]).fine();
    assert_eq!((written.stdout.as_str(), written.stderr.as_str()), ("", ""));
    assert_eq!(read(&home, "s.json"), read(&home, "r.json"));
    assert!(home.files().contains(&"r.html".to_owned()));
    let page = home.run(["report", "r.json", "--html", "-"]).fine().stdout;
    assert_eq!(page, fs::read_to_string(home.path().join("r.html")).expect("text"));
    let mut command = home.command();
    let from_stdin = fs::File::open(home.path().join("r.json")).expect("readable");
    let output = command.args(["report", "-"]).stdin(from_stdin).output().expect("it starts");
    assert_eq!(String::from_utf8(output.stdout).expect("text"), shown);
}

/// With their source, for slides and papers: red and blue of 100 sleeps are among them.
#[test]
fn pictures_are_png_too_or_the_command_says_how_to_get_one_that_has_them() {
    let home = Home::new();
    home.run(["check", "--only", "B1", "--on", "windows-11", "--out", "r.json", "--quiet"]).fine();
    let drawn = home.run(["report", "r.json", "--png", "pictures"]);
    if !cfg!(feature = "png") {
        let drawn = drawn.with_code(1);
        assert!(drawn.stderr.contains("without PNG") && drawn.stderr.contains("--features png"), "{}", drawn.stderr);
        assert!(drawn.stderr.contains("Use --svg and convert its files (`rsvg-convert -z 2"), "{}", drawn.stderr);
        return assert_eq!(home.files(), ["r.json"]);
    }
    if drawn.stderr.contains("has no font") {
        return oversleep_testing::skip("this machine has no font");
    }
    let ended = drawn.fine();
    assert!(ended.stderr.contains("pictures"), "{}", ended.stderr);
    let picture = fs::read(home.path().join("pictures/two-clocks.png")).expect("drawn");
    assert_eq!(&picture[..8], b"\x89PNG\r\n\x1a\n");
    assert_eq!(picture[16..20], 1440_u32.to_be_bytes(), "two pixels for each px");
    home.run(["report", "r.json", "--svg", "pictures"]).fine();
    let text = fs::read_to_string(home.path().join("pictures/two-clocks.svg")).expect("drawn");
    assert!(text.contains("Source: oversleep"), "{text}");
}

/// Whether it was just measured, read or put together.
#[test]
fn where_there_are_no_pictures_no_directory_is_left() {
    let home = Home::new();
    let recording = format!("{}/../oversleep-why/tests/recorded/fifo.why", env!("CARGO_MANIFEST_DIR"));
    home.run(["why", &recording, "--out", "w.json", "--quiet"]).fine();
    let none = "warning: this has no pictures, so --svg writes nothing to 'p/q'; --html writes a page\n";
    for args in [
        &["why", &recording, "--svg", "p/q"][..],
        &["report", "w.json", "--svg", "p/q", "--quiet"],
        &["report", "w.json", "w.json", "--svg", "p/q"],
        &["report", ".", "--svg", "p/q"],
    ] {
        let ended = home.run(args).fine();
        assert_eq!((&*ended.stdout, &*ended.stderr), ("", none), "{args:?}");
        assert_eq!(home.files(), ["w.json"], "{args:?}");
    }
    for (args, message) in [
        (
            &["report", "w.json", "--svg", "w.json/p"][..],
            "error: can't write 'w.json/p': 'w.json' is a file; name a directory\n",
        ),
        (&["man", "--out", "w.json"], "error: can't write 'w.json': it is a file; name a directory\n"),
    ] {
        assert_eq!(home.run(args).with_code(1).stderr, message);
    }
}

#[test]
fn several_results_are_one_table_in_every_document() {
    let home = Home::new();
    for (wait, name) in [("nanosleep", "a.json"), ("poll", "b.json")] {
        home.run(["waits", wait, "--on", "linux-hz250", "--count", "3", "--out", name, "--quiet"]).fine();
    }
    for option in ["--json", "--csv", "--md", "--html=-", "--out=-"] {
        let of_both = home.run(["report", "a.json", "b.json", option]).fine();
        assert_eq!(of_both.stdout, home.run(["report", ".", option]).fine().stdout, "{option}");
        assert!(of_both.stdout.contains("b.json") || option == "--md", "{}", of_both.stdout);
    }
}

#[test]
fn every_command_names_the_files_that_it_writes() {
    let home = Home::new();
    let measured =
        ["waits", "thread-sleep", "--request", "1ms", "--count", "3", "--on", "windows-11", "--out", "a.json"];
    assert_eq!(home.run(measured).fine().stderr, "Written: a.json\n");
    fs::create_dir(home.path().join("results")).expect("writable");
    fs::copy(home.path().join("a.json"), home.path().join("results/a.json")).expect("writable");
    // One for each command, and one for all.
    let pages = format!("{} pages in man", commands().len() + 1);
    for (command, written) in [
        (&["check", "--only", "B5", "--count", "3", "--on", "windows-11,windows-7", "--html", "b.html"][..], "b.html"),
        (&["waits", "thread-sleep", "--count", "3", "--on", "windows-11,windows-7", "--json", "b.json"], "b.json"),
        (&["compare", "a.json", "a.json", "--html", "c.html"], "c.html"),
        (&["clocks", "./a.json", "./a.json", "--html", "d.html"], "d.html"),
        (&["report", "a.json", "--html", "e.html", "--json=e.json"], "e.json, e.html"),
        (&["report", "results", "--html", "f.html"], "f.html"),
        (&["waits", "--list", "--on", "windows-11", "--json", "./g.json"], "./g.json"),
        (&["page", "a.json", "--html", "h.html"], "h.html; open it in a browser"),
        (&["man", "--out", "man"], &pages),
    ] {
        let ended = home.run(command);
        assert!(matches!(ended.code, Some(0 | 4)), "{command:?}: {ended:?}");
        assert_eq!((&*ended.stdout, ended.stderr), ("", format!("Written: {written}\n")), "{command:?}");
        assert_eq!(home.run(command.iter().chain(&["--quiet"])).stderr, "", "{command:?}");
    }
}

#[test]
fn check_leaves_a_result_and_a_page_and_clobbers_none() {
    let home = Home::new();
    let check = ["check", "--quick", "--only", "B5", "--request", "1ms", "--count", "3", "--no-remedies"];
    let ended = home.run(check).measured();
    let files = home.files();
    let [page, result] = files.as_slice() else { panic!("{files:?}") };
    assert!(page.starts_with("oversleep-20") && page.ends_with("Z.html"), "{page}");
    assert!(result.starts_with("oversleep-20") && result.ends_with("Z.json"), "{result}");
    assert!(ended.stderr.contains(&format!("Written: {result}, {page}")), "{}", ended.stderr);
    assert!(!ended.stdout.contains("Written"), "{}", ended.stdout);
    assert_eq!(read(&home, result).command, "check");
    // Without a command it is check. Within the same second, it chooses other names.
    home.run(&check[1..]).measured();
    assert_eq!(home.files().len(), 4);
    home.run(check.into_iter().chain(["--json"])).measured();
    assert_eq!(home.files().len(), 4, "a named place is the only one");
    // What nobody named is said in any case.
    let quiet = home.run(check.into_iter().chain(["--quiet"])).measured();
    let [result, page] =
        quiet.stderr.strip_prefix("Written: ").expect("their names").trim().split(", ").collect::<Vec<_>>()[..]
    else {
        panic!("{}", quiet.stderr)
    };
    assert!(result.ends_with(".json") && page.ends_with(".html") && !quiet.stdout.contains("Written"), "{quiet:?}");
    assert!([result, page].iter().all(|name| home.path().join(name).exists()), "{quiet:?}");
    let named = home.run(check.into_iter().chain(["--quiet", "--out", "r.json"])).measured();
    assert_eq!((named.stderr.as_str(), named.stdout.contains("Written")), ("", false));
    let copy = home.run(["share", "r.json", "--quiet"]).fine();
    let name = copy.stderr.trim().strip_prefix("Written: ").expect("its name");
    assert!(home.path().join(name).exists() && copy.stdout.is_empty(), "{copy:?}");
}

#[test]
fn conditions_reach_the_measurement() {
    let home = Home::new();
    let (tunable, option, setting) = match os().as_str() {
        "linux" => ("slack", "--slack", Nanos(1)),
        "windows" => ("resolution", "--resolution", Nanos::from_millis(1)),
        _ => return oversleep_testing::skip("no span of a timer can be set here"),
    };
    let typed = setting.to_string().replace(' ', "");
    let result = home.run(short_with(&[option, &typed, "--load", "spin:1", "--json"])).fine().result();
    let conditions = &result.series("B5/thread-sleep/1ms").expect("measured").conditions;
    assert_eq!(conditions.setting(tunable), Some(&Setting::Nanos(setting)));
    assert_eq!(conditions.load[0].to_string(), "spin:1");
    assert!(conditions.outcomes.contains_key(tunable));
}

#[test]
fn a_condition_that_is_refused_is_a_warning() {
    let home = Home::new();
    if os() == "windows" {
        return oversleep_testing::skip("this policy has another name here");
    }
    let ended = home.run(short_with(&["--policy", "fifo:1", "--json"])).fine();
    let result = ended.result();
    let conditions = &result.series("B5/thread-sleep/1ms").expect("measured").conditions;
    let warned = ended.stderr.contains("warning: measured without policy=fifo:1: ");
    assert_eq!(warned, !conditions.all_held(), "{}", ended.stderr);
}

#[test]
fn yields_and_spins_are_measured_by_name_too() {
    let home = Home::new();
    let spin = home.run(["waits", "spin", "--request", "1ms", "--count", "3", "--json"]).fine().result();
    assert!(spin.series("B5/spin/1ms").is_some_and(|series| series.counts.recorded == 3));
    let name = if os() == "windows" { "switch-to-thread" } else { "sched-yield" };
    let yields = home.run(["waits", name, "--count", "3", "--json"]).measured().result();
    assert!(yields.series(format!("B7/{name}/idle")).is_some_and(|series| series.has_values()));
}

#[test]
fn experiments_without_measurements_of_their_own_show_facts_or_what_they_read() {
    let home = Home::new();
    let facts = home.run(["check", "--only", "C1", "--no-remedies"]).measured();
    assert!(facts.stdout.contains("Timestamps: "), "{}", facts.stdout);
    let verdict =
        home.run(["check", "--only", "A6", "--count", "10000", "--no-remedies", "--json"]).measured().result();
    assert!(verdict.clocks.iter().any(|clock| clock.steps.is_some() && clock.cost_series.is_some()));
}

#[test]
fn clocks_and_hand_offs_are_measured_by_name() {
    let home = Home::new();
    let clocks = home.run(["clocks", "std-instant", "--count", "10000", "--json"]).measured().result();
    assert_eq!(clocks.command, "clocks");
    assert!(clocks.clock("std-instant").is_some_and(|clock| clock.cost_series.is_some()));
    let handoff = home.run(["handoff", "condvar", "--count", "6", "--json"]).measured().result();
    assert!(handoff.series("D4/condvar/one-way").is_some_and(|series| series.has_values()));
    assert!(handoff.series.iter().all(|series| series.subject == "condvar"));
}

#[test]
fn fork_joins_are_measured() {
    let result = Home::new().run(["forkjoin", "--quick", "--count", "3", "--json"]).measured().result();
    assert!(result.experiment(ExperimentId::D1).any(|series| series.has_values()));
}

#[test]
fn records_of_a_result_say_where_and_how_they_were_found() {
    let home = Home::new();
    home.run(["runtimes", "java", "--on", "linux-hz250", "--name", "model", "--out", "r.json", "--quiet"]).fine();
    let records = home.run(["report", "r.json", "--records", "records.toml"]).fine();
    assert_eq!(records.stderr, "Written: records.toml\n");
    let text = fs::read_to_string(home.path().join("records.toml")).expect("written");
    let head: Vec<&str> = text.lines().take_while(|line| line.starts_with('#')).collect();
    assert_eq!(head.len(), 3, "{text}");
    // A model has no date.
    assert_eq!(head[0], "# What waits of language runtimes make of a request, found on an unknown day.");
    assert!(head[1].starts_with("# Machine: Linux "), "{}", head[1]);
    for line in ["id = \"java-17.0.15/Thread.sleep(ms)\"", "rounds = \"down-to-zero\"", "source = \"model\""] {
        assert!(text.contains(&format!("\n{line}\n")), "{line}: {text}");
    }
    let named = home.run(["runtimes", "cobol", "--on", "linux-hz250"]).with_code(2);
    assert!(named.stderr.contains("no record says what 'cobol' makes of a request"), "{}", named.stderr);
}

#[test]
fn a_runtime_with_a_version_is_that_version_on_a_modelled_machine() {
    let home = Home::new();
    let quick = ["--on", "linux-hz250", "--quick", "--request", "1ms", "--json"];
    let of = |words: &[&str]| home.run([&["runtimes"][..], words, &quick].concat()).measured();
    let (named, option) = (of(&["java-17"]), of(&["java", "--version", "17"]));
    assert_eq!(named.result().series, option.result().series);
    for (words, why) in [
        (&["java-17", "--version", "8"][..], "'java-17' and --version 8 state two versions"),
        (&["java-17", "go"], "one version is meant of all runtimes"),
        (&["java-x"], "no record says what 'java-x' makes"),
    ] {
        let refused = home.run([&["runtimes"][..], words, &["--on", "linux-hz250"]].concat()).with_code(2);
        assert!(refused.stderr.contains(why), "{}", refused.stderr);
    }
}
