//! Help and lists: their texts, and that they are complete.

use super::support::{Home, commands, os};

/// The help text, with the program's name made the same everywhere.
fn stdout(args: &[&str]) -> String {
    Home::new().run(args).fine().stdout.replace("oversleep.exe", "oversleep")
}

#[test]
fn help_opens_with_examples_and_ends_with_exit_codes() {
    for command in commands().iter().map(String::as_str).chain([""]) {
        for option in ["-h", "--help"] {
            let args: Vec<&str> = command.split_whitespace().chain([option]).collect();
            let help = stdout(&args);
            let places = ["Examples:\n  oversleep", "\nUsage: oversleep", "\nOptions:\n", "\nExit codes:\n"];
            let places: Vec<_> = places.iter().map(|heading| help.find(heading)).collect();
            assert!(places[0] == Some(0) && places.is_sorted(), "{command}: {places:?} in\n{help}");
        }
    }
}

#[test]
fn examples_name_what_this_system_has() {
    let names = stdout(&["waits", "--list"]);
    let help = stdout(&["waits", "-h"]);
    let examples = help.lines().skip(1).take_while(|line| !line.is_empty());
    let named: Vec<&str> = examples
        // The typed part ends at the end of its column.
        .filter_map(|line| line.trim().split("  ").next()?.strip_prefix("oversleep waits "))
        .flat_map(|typed| typed.split_whitespace().take_while(|word| !word.starts_with("--")))
        .collect();
    assert!(!named.is_empty(), "{help}");
    for name in named {
        assert!(names.lines().any(|line| line.split_whitespace().next() == Some(name)), "{name} is not in {names}");
    }
}

#[test]
fn every_command_explains_itself() {
    for command in commands() {
        let words: Vec<&str> = command.split(' ').collect();
        let of = |before: &[&'static str], after: &[&'static str]| stdout(&[before, &words, after].concat());
        let (short, long) = (of(&[], &["-h"]), of(&[], &["--help"]));
        assert!(short.contains(&format!("Usage: oversleep {command}")), "{command}");
        assert!(long.len() >= short.len(), "{command}");
        assert_eq!(long, of(&["help"], &[]), "{command}");
        assert!(short.starts_with("Examples:\n  oversleep "), "{command}: {short}");
    }
}

#[test]
fn commands_that_run_programs_name_the_exit_codes_that_they_have() {
    for command in ["run", "why", "emulate"] {
        let help = stdout(&[command, "--help"]);
        let codes = help.split_once("Exit codes:\n").expect("exit codes").1;
        assert!(codes.contains("program") && !codes.contains("the models reproduce"), "{command}: {codes}");
        assert!(codes.lines().all(|line| line.chars().count() <= 92), "{command}: {codes}");
    }
}

#[test]
fn the_version_is_the_crates() {
    let version = format!("oversleep {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(stdout(&["--version"]), version);
    assert_eq!(stdout(&["-V"]), version);
}

#[test]
fn experiments_are_listed_and_explained() {
    let list = stdout(&["experiments"]);
    for id in ["A1", "A6", "B12", "C6", "D4"] {
        assert!(list.lines().any(|line| line.starts_with(&format!("{id} "))), "{id}: {list}");
    }
    let one = stdout(&["experiments", "b2"]);
    assert!(one.starts_with("B2 ") && one.contains("Published by others") && one.contains("Windows"), "{one}");
    let all = json(&["experiments", "--json"]);
    assert_eq!(all.as_array().expect("a list").len(), 36);
    assert_eq!(json(&["experiments", "B2", "--json"])["id"], "B2");
}

#[test]
fn findings_are_listed_and_explained() {
    let list = stdout(&["explain"]);
    assert!(list.contains("OVS-L001  timer-slack"), "{list}");
    let by_id = stdout(&["explain", "ovs-l001"]);
    assert_eq!(by_id, stdout(&["explain", "timer-slack"]));
    assert!(
        by_id.contains("How oversleep knows")
            && by_id.contains("lower-timer-slack")
            && by_id.contains("PR_SET_TIMERSLACK")
    );
    assert_eq!(json(&["explain", "timer-slack", "--json"])["id"], "OVS-L001");
    assert!(json(&["explain", "--json"]).as_array().expect("a list").len() >= 20);
}

#[test]
fn a_word_is_explained_by_the_findings_that_mention_it_and_by_what_is_named_so() {
    let quota = stdout(&["explain", "quota"]);
    assert!(quota.starts_with("Findings that mention quota\n"), "{quota}");
    assert!(quota.contains("OVS-L013  cgroup-quota") && !quota.contains("OVS-L001"), "{quota}");
    let ids = |document: &serde_json::Value| -> Vec<String> {
        document.as_array().expect("a list").iter().filter_map(|one| Some(one["id"].as_str()?.to_owned())).collect()
    };
    let listed = ids(&json(&["explain", "quota", "--json"]));
    assert!(listed.len() > 1 && listed.iter().all(|id| quota.contains(id.as_str())), "{listed:?} {quota}");
    let nanosleep = stdout(&["explain", "nanosleep"]);
    assert!(nanosleep.starts_with("nanosleep  ") && nanosleep.contains("timer-slack"), "{nanosleep}");
    // One finding is shown itself, one system's clock on every other.
    let one = stdout(&["explain", "PR_GET_TIMERSLACK"]);
    assert!(one.starts_with("OVS-L001 timer-slack\n"), "{one}");
    assert_eq!(ids(&json(&["explain", "PR_GET_TIMERSLACK", "--json"])), ["OVS-L001"]);
    assert!(stdout(&["explain", "QueryPerformanceCounter"]).starts_with("qpc  "));
    let clock = json(&["explain", "CLOCK_REALTIME", "--json"]);
    assert!(clock.as_array().expect("a list").iter().any(|one| one["name"] == "realtime"), "{clock}");
}

#[test]
fn registries_are_listed() {
    for (command, names) in [
        ("clocks", ["std-instant", "oversleep"]),
        ("waits", ["thread-sleep", "hybrid"]),
        ("handoff", ["condvar", "condvar"]),
        ("idle", ["jet", "oversleep"]),
    ] {
        let list = stdout(&[command, "--list"]);
        for name in names {
            assert!(list.lines().any(|line| line.starts_with(&format!("{name}  "))), "{name}: {list}");
            assert_eq!(json(&[command, "--list", name, "--json"])[0]["name"], name);
        }
    }
}

#[test]
fn doctor_says_what_can_be_changed() {
    let text = stdout(&["doctor"]);
    let (options, release): (&[&str], &str) = match os().as_str() {
        "linux" => {
            (&["--slack", "--policy", "--pin", "--tune slice", "--lock-memory", "--dma-latency"], "kernel.release")
        }
        "windows" => (
            &[
                "--resolution",
                "--tune time-begin-period  ",
                "--policy",
                "--pin",
                "--tune power-throttling  ",
                "--tune mmcss  ",
            ],
            "os.build",
        ),
        _ => return oversleep_testing::skip("options of another system"),
    };
    for option in options {
        assert!(text.contains(option), "{option}: {text}");
    }
    let document = json(&["doctor", "--json"]);
    assert_eq!(document["tunables"].as_array().expect("a list").len(), options.len());
    assert!(document["environment"][release].is_object(), "{document}");
    for follower in ["following programs in the kernel", "following programs by a supervisor"] {
        assert!(text.contains(follower), "{follower}: {text}");
        assert!(document["abilities"].as_array().expect("a list").iter().any(|ability| ability["name"] == follower));
    }
    for ability in document["abilities"].as_array().expect("a list") {
        let field = if ability["present"] == true { "how" } else { "why" };
        assert!(ability[field].is_string() || ability[field].is_object(), "{ability}");
    }
}

#[test]
fn one_entry_has_the_row_that_it_has_in_the_list() {
    for (list, one) in [(&["explain", "--csv"], "timer-slack"), (&["experiments", "--csv"], "B2")] {
        let (all, row) = (stdout(list), stdout(&[list[0], one, list[1]]));
        let lines: Vec<&str> = row.lines().collect();
        assert_eq!((lines.len(), lines[0]), (2, all.lines().next().expect("heads")), "{row}");
        assert!(lines[1].contains(one) && all.lines().any(|line| line == lines[1]), "{row}");
    }
}

#[test]
fn what_doctor_finds_is_a_table_with_every_ability_and_setting() {
    let (rows, document) = (stdout(&["doctor", "--csv"]), json(&["doctor", "--json"]));
    assert!(rows.starts_with("kind,name,present,"), "{rows}");
    for (list, kind) in [("abilities", "ability"), ("tunables", "setting")] {
        for one in document[list].as_array().expect("a list") {
            let begins = format!("{kind},{},", one["name"].as_str().expect("a name"));
            assert!(rows.lines().any(|row| row.starts_with(&begins)), "{begins}: {rows}");
        }
    }
}

#[test]
fn lists_have_no_styles_where_nobody_asked() {
    assert!(!stdout(&["doctor"]).contains('\x1b'));
    assert!(!stdout(&["--color", "never", "doctor"]).contains('\x1b'));
    assert!(stdout(&["doctor", "--color", "always"]).contains('\x1b'));
    let home = Home::new();
    let output = home.command().args(["doctor"]).env("NO_COLOR", "1").output().expect("it starts");
    assert!(!output.stdout.contains(&0x1b));
}

fn json(args: &[&str]) -> serde_json::Value {
    serde_json::from_str(&stdout(args)).expect("one JSON document")
}
