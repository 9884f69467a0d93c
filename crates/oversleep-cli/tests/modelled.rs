//! Modelled machines from the command line: measured on, asked, listed, held against what others published.

mod support;

use oversleep_record::ResultFile;
use serde_json::Value;
use support::Home;

/// A measurement on a model: the file it leaves.
fn result(home: &Home, args: &[&str]) -> ResultFile {
    home.run(args.iter().chain(&["--quiet", "--out", "r.json"])).fine();
    ResultFile::read(&std::fs::read(home.path().join("r.json")).expect("written")).expect("a result")
}

#[test]
fn every_measuring_command_runs_on_a_model_and_says_so() {
    for command in [
        &["check", "--only", "B2,D1"][..],
        &["clocks", "qpc", "get-tick-count-64"],
        &["waits", "sleep", "--ask", "1ms"],
        &["forkjoin", "--quick"],
        &["handoff", "--quick"],
        &["resolution", "sweep", "sleep", "--quick"],
        &["resolution", "neighbours", "--quick"],
    ] {
        let home = Home::new();
        let args: Vec<&str> = command.iter().copied().chain(["--on", "windows-10-2004"]).collect();
        let file = result(&home, &args);
        assert_eq!(file.platform.modelled.as_deref(), Some("windows-10-2004"), "{command:?}");
        assert_eq!(file.taken_unix_s, None, "{command:?}");
        let shown = home.run(["report", "r.json"]).fine();
        assert!(shown.stdout.contains("(modelled: windows-10-2004)"), "{command:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_does_not() {
    let bytes = |more: &[&str]| {
        let home = Home::new();
        let args = ["waits", "nanosleep", "--ask", "1ms", "--count", "50", "--on", "linux-hz250"];
        result(&home, &args.into_iter().chain(more.iter().copied()).collect::<Vec<_>>()).write()
    };
    assert_eq!(bytes(&[]), bytes(&["--seed", "1"]));
    assert_ne!(bytes(&[]), bytes(&["--seed", "2"]));
}

#[test]
fn a_figure_of_a_model_can_be_changed() {
    let home = Home::new();
    let ask = ["waits", "sleep", "--ask", "1ms", "--count", "50", "--on", "windows-11", "--set", "tick=4ms"];
    let p50 = result(&home, &ask).series[0].distribution.p50().expect("values");
    assert!((2_900_000..3_100_000).contains(&p50), "{p50}");
}

#[test]
fn a_machine_is_modelled_on_its_own_result() {
    let home = Home::new();
    let real = result(&home, &["waits", "sleep", "--ask", "1ms", "--count", "200", "--on", "windows-7"]);
    let mut stripped = real.clone();
    stripped.platform.modelled = None;
    std::fs::write(home.path().join("colleague.json"), stripped.write()).expect("writable");
    let like = ["waits", "sleep", "--ask", "1ms", "--count", "200", "--like", "colleague.json"];
    let learned = result(&home, &like);
    assert!(learned.platform.modelled.is_some());
    let (real, learned) = (&real.series[0].distribution, &learned.series[0].distribution);
    let (real, learned) = (real.p50().expect("values") as f64, learned.p50().expect("values") as f64);
    assert!((learned / real - 1.0).abs() < 0.1, "{learned} {real}");
}

#[test]
fn what_makes_no_sense_is_refused_with_what_would() {
    for (args, says) in [
        (&["check", "--on", "windows-12"][..], "no modelled machine 'windows-12'; did you mean 'windows-11'?"),
        (&["check", "--set", "tick=1ms"], "name one with --on or --like"),
        (&["check", "--on", "windows-11", "--set", "tick"], "write it as KEY=VALUE"),
        (&["check", "--on", "windows-11", "--set", "tick=fast"], "'tick=fast'"),
        (&["check", "--on", "windows-11", "--like", "r.json"], "cannot be used with"),
        (&["waits", "nanosleep", "--on", "windows-11"], "nanosleep"),
        (&["ask", "sleep", "--on", "windows-11"], "a question reads sleep(1ms)"),
        (&["ask", "sleep(1ms)", "--on", "windows-12"], "did you mean 'windows-11'?"),
        (&["machines", "windows-12"], "did you mean 'windows-11'?"),
    ] {
        let ended = Home::new().run(args).with_code(2);
        assert!(ended.stderr.contains(says), "{args:?}: {}", ended.stderr);
    }
    Home::new().run(["check", "--like", "no-such-file.json"]).with_code(1);
    let ended = Home::new().run(["ask", "nanosleep(1ms)", "--on", "windows-11"]).with_code(1);
    assert!(ended.stderr.contains("windows-11 has no wait 'nanosleep'"), "{}", ended.stderr);
}

#[test]
fn machines_answer_side_by_side_with_their_rules() {
    let asked = ["ask", "sleep(1ms)", "--on", "windows-10-1909,windows-10-2004", "--neighbour", "2ms"];
    let text = Home::new().run(asked).fine().stdout;
    assert!(text.contains("interrupts come every 2 ms") && text.contains("served at every 8th only"), "{text}");
    let json = Home::new().run(asked.iter().chain(&["--json"])).fine().stdout;
    let told: Value = serde_json::from_str(&json).expect("JSON");
    let mean = |index: usize| told[index]["mean_ns"].as_f64().expect("a mean") / 1e6;
    assert!((1.95..2.05).contains(&mean(0)) && (15.7..16.3).contains(&mean(1)), "{json}");
}

#[test]
fn the_machines_are_listed_explained_and_verified() {
    let home = Home::new();
    let list = home.run(["machines"]).fine().stdout;
    for name in ["windows-7", "windows-11", "linux-fifo", "macos-14-m1", "raspberry-pi-4", "wsl1"] {
        assert!(list.contains(name), "{list}");
        let one = home.run(["machines", name]).fine().stdout;
        assert!(one.contains("cost") && one.contains("--set KEY=VALUE"), "{one}");
    }
    let verified = home.run(["machines", "verify", "--json"]).fine().stdout;
    let document: Value = serde_json::from_str(&verified).expect("JSON");
    assert!(document["reproduced"].as_u64() >= Some(150), "{}", document["reproduced"]);
}
