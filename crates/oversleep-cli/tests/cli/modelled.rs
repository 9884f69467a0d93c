//! Modelled machines from the command line: measured, asked, listed, compared with published figures.

use oversleep_record::finding::Verdict;
use oversleep_record::{FactName, ResultFile};
use serde_json::Value;

use super::support::Home;

/// The result file of a measurement on a model.
fn result(home: &Home, args: &[&str]) -> ResultFile {
    home.run(args.iter().chain(&["--quiet", "--out", "r.json"])).fine();
    ResultFile::read(&std::fs::read(home.path().join("r.json")).expect("written")).expect("a result")
}

#[test]
fn every_measuring_command_runs_on_a_model_and_says_so() {
    for command in [
        &["check", "--only", "B2,D1"][..],
        &["clocks", "qpc", "get-tick-count-64"],
        &["waits", "sleep", "--request", "1ms"],
        &["forkjoin", "--quick"],
        &["handoff", "--quick"],
        &["idle", "jet", "condvar", "--quick"],
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
        let args = ["waits", "nanosleep", "--request", "1ms", "--count", "50", "--on", "linux-hz250"];
        result(&home, &args.into_iter().chain(more.iter().copied()).collect::<Vec<_>>()).write()
    };
    assert_eq!(bytes(&[]), bytes(&["--seed", "1"]));
    assert_ne!(bytes(&[]), bytes(&["--seed", "2"]));
}

#[test]
fn a_figure_of_a_model_can_be_changed() {
    let home = Home::new();
    let ask = ["waits", "sleep", "--request", "1ms", "--count", "50", "--on", "windows-11", "--set", "tick=4ms"];
    let p50 = result(&home, &ask).series[0].distribution.p50().expect("values");
    assert!((2_900_000..3_100_000).contains(&p50), "{p50}");
}

#[test]
fn what_was_changed_of_a_model_stands_in_every_heading_and_in_the_file() {
    let home = Home::new();
    let changed = ["--on", "windows-11", "--set", "tick=1ms", "--set", "count=2", "--seed", "77"];
    let args: Vec<&str> = ["waits", "sleep", "--request", "1ms", "--count", "50"].into_iter().chain(changed).collect();
    let file = result(&home, &args);
    let full = "windows-11 with tick=1ms, count=2, seed 77";
    assert_eq!(file.platform.modelled.as_deref(), Some(full));
    let facts = &file.environment;
    assert_eq!(facts.text(FactName::ModelName), Some("windows-11"));
    assert_eq!(facts.integer(FactName::ModelSeed), Some(77));
    assert_eq!(facts.list(FactName::ModelSet), Some(&["tick=1ms".to_owned(), "count=2".to_owned()][..]));
    let report = home.run(["report", "r.json"]).fine();
    home.run(["report", "r.json", "--html", "r.html"]).fine();
    let page = std::fs::read_to_string(home.path().join("r.html")).expect("written");
    for shown in [&report.stdout, &page] {
        assert!(shown.contains(&format!("(modelled: {full})")), "{shown}");
    }
    let plain = result(&home, &["waits", "sleep", "--request", "1ms", "--count", "50", "--on", "windows-11"]);
    assert_eq!(plain.platform.modelled.as_deref(), Some("windows-11"));
    assert_eq!(
        (plain.environment.integer(FactName::ModelSeed), plain.environment.list(FactName::ModelSet)),
        (Some(1), None)
    );

    let ask = |more: &[&str]| {
        let arguments: Vec<&str> =
            ["ask", "sleep(1ms)"].into_iter().chain(changed).chain(more.iter().copied()).collect();
        Home::new().run(arguments).fine().stdout
    };
    let text = ask(&["--neighbour", "2ms", "--resolution", "1ms"]);
    let heading = "sleep(1ms), neighbour 2 ms, conditions resolution=1 ms (modelled with tick=1ms, count=2, seed 77)";
    assert!(text.contains(heading), "{text}");
    let document: Value = serde_json::from_str(&ask(&["--neighbour", "2ms", "--json"])).expect("JSON");
    assert_eq!(document[0]["machine"], "windows-11");
    assert_eq!(document[0]["modelled"], full);
    assert_eq!(document[0]["under"]["neighbour"], "2 ms");
    let here: Value =
        serde_json::from_str(&Home::new().run(["ask", "sleep(1ms)", "--count", "3", "--json"]).fine().stdout)
            .expect("JSON");
    assert_eq!(here[0]["modelled"], Value::Null, "this machine is none");
}

/// Here, too, the answer names the record by which a runtime's call became one of this system.
#[test]
fn what_a_runtime_makes_of_a_request_is_said_on_this_machine() {
    let text = Home::new().run(["ask", "LockSupport.parkNanos(5ms)", "--count", "3"]).fine().stdout;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("of the JDK calls") && text.contains("The runtime was not run"), "{text}");
}

#[test]
fn an_answer_is_of_all_values_and_says_what_they_are() {
    let ask = |more: &[&str]| {
        let arguments = ["ask", "sleep(1ms)", "--on", "windows-11"].into_iter().chain(more.iter().copied());
        Home::new().run(arguments).fine().stdout
    };
    let told: Value = serde_json::from_str(&ask(&["--count", "150000", "--json"])).expect("JSON");
    assert_eq!(told[0]["count"], 150_000);
    assert_eq!(told[0]["quantity"], "duration");
    let (least, mean) = (told[0]["min_ns"].as_f64().expect("ns"), told[0]["mean_ns"].as_f64().expect("ns"));
    assert!(least > 15e6 && (15.6e6..15.7e6).contains(&mean), "{told}");
    let late = ask(&["--pace", "periodic"]);
    assert!(late.contains("sleep(1ms), pace periodic: lateness of each deadline (modelled)"), "{late}");
    let late: Value = serde_json::from_str(&ask(&["--pace", "periodic", "--json"])).expect("JSON");
    assert_eq!(late[0]["quantity"], "lateness");
    assert!(late[0]["min_ns"].as_f64().expect("ns") < 1e6, "a deadline may be served at once: {late}");
}

#[test]
fn figures_that_no_run_would_end_with_are_refused() {
    for change in ["steps.qpc=1h", "steps.qpc=1s", "costs.qpc=0ns", "costs.qpc=0.001ns", "slice=1ns", "since.sleep="] {
        let ended = Home::new().run(["check", "--on", "windows-11", "--set", change]).with_code(2);
        let name = change.split_once('=').expect("a change").0;
        let name = name.rsplit('.').next().expect("a name");
        assert!(ended.stderr.contains(name), "{change}: {}", ended.stderr);
    }
    let home = Home::new();
    let mut file = result(&home, &["clocks", "tsc", "monotonic", "--on", "linux-hz250"]);
    file.platform.modelled = None;
    for clock in &mut file.clocks {
        clock.stated_step_ns = Some(oversleep_record::Nanos(i64::MAX));
    }
    std::fs::write(home.path().join("hostile.json"), file.write()).expect("writable");
    let ended = home.run(["waits", "nanosleep", "--like", "hostile.json"]).with_code(2);
    assert!(ended.stderr.contains("its clock") && ended.stderr.contains("it steps by"), "{}", ended.stderr);
}

#[test]
fn a_machine_is_modelled_on_its_own_result() {
    let home = Home::new();
    let real = result(&home, &["waits", "sleep", "--request", "1ms", "--count", "200", "--on", "windows-7"]);
    let mut stripped = real.clone();
    stripped.platform.modelled = None;
    std::fs::write(home.path().join("colleague.json"), stripped.write()).expect("writable");
    let like = ["waits", "sleep", "--request", "1ms", "--count", "200", "--like", "colleague.json"];
    let learned = result(&home, &like);
    assert!(learned.platform.modelled.is_some());
    let (real, learned) = (&real.series[0].distribution, &learned.series[0].distribution);
    let (real, learned) = (real.p50().expect("values") as f64, learned.p50().expect("values") as f64);
    assert!((learned / real - 1.0).abs() < 0.1, "{learned} {real}");
}

#[test]
fn what_makes_no_sense_is_refused_with_what_would() {
    for (args, says) in [
        (&["check", "--on", "windows-12"][..], "unknown modelled machine 'windows-12'; did you mean 'windows-11'?"),
        (&["check", "--set", "tick=1ms"], "name one with --on or --like"),
        (&["check", "--on", "windows-11", "--set", "tick"], "write it as KEY=VALUE"),
        (&["check", "--on", "windows-11", "--set", "tick=fast"], "'tick=fast'"),
        (
            &["check", "--on", "linux-hz250", "--set", "hz=0"],
            "'hz=0': 'timers.hz' can be 1 to 1,000,000 ticks per second",
        ),
        (&["machines", "windows-11", "--set", "margin=1s"], "'margin=1s': 'timers.margin': it is not shorter"),
        (&["check", "--on", "windows-11", "--like", "r.json"], "cannot be used with"),
        (&["waits", "nanosleep", "--on", "windows-11"], "nanosleep"),
        (&["ask", "sleep", "--on", "windows-11"], "write a question like sleep(1ms)"),
        (&["ask", "sleep(1ms)", "--on", "windows-12"], "did you mean 'windows-11'?"),
        (&["machines", "windows-12"], "did you mean 'windows-11'?"),
    ] {
        let ended = Home::new().run(args).with_code(2);
        assert!(ended.stderr.contains(says), "{args:?}: {}", ended.stderr);
    }
    Home::new().run(["check", "--like", "no-such-file.json"]).with_code(1);
    let ended = Home::new().run(["ask", "nanosleep(1ms)", "--on", "windows-11"]).with_code(1);
    assert!(ended.stderr.contains("windows-11 has no wait 'nanosleep'"), "{}", ended.stderr);
    let ended = Home::new().run(["ask", "sleep(1ms)", "--on", "windows-11", "--clock", "monotonic"]).with_code(1);
    assert_eq!(ended.stderr, "error: windows-11 has no clock 'monotonic'; did you mean 'time.monotonic'?\n");
}

#[test]
fn machines_answer_side_by_side_with_their_rules() {
    let arguments = ["ask", "sleep(1ms)", "--on", "windows-10-1909,windows-10-2004", "--neighbour", "2ms"];
    let text = Home::new().run(arguments).fine().stdout;
    // The lines of a rule are broken at the width of the page.
    let rules = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(rules.contains("interrupts come every 2 ms") && rules.contains("served only at every 8th"), "{text}");
    let json = Home::new().run(arguments.iter().chain(&["--json"])).fine().stdout;
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
    let covered = |part: &str| document[part]["covered"].as_u64().expect("a count");
    assert_eq!(Some(covered("fitted") + covered("predicted")), document["covered"].as_u64());
    assert!(document["reproduced"].as_u64() >= Some(120), "{}", document["reproduced"]);
    let rows = document["observations"].as_array().expect("a list");
    let all = |verdict: &str, as_exactly: bool| {
        rows.iter().filter(|row| row["verdict"] == verdict && row["as_exactly"] == as_exactly).count()
    };
    assert_eq!(all("off", true), 0);
    assert!(all("reproduced", true) > 300 && all("reproduced", false) > 20, "costs of other machines are held to them");
}

#[test]
fn first_looks_are_shown_with_the_shares_and_each_answer() {
    let home = Home::new();
    let text = home.run(["machines", "verify", "--first-look"]).fine().stdout;
    for part in ["not covered", "by what decides the figure", "by system", "by grade of the source", "over time"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json = home.run(["machines", "verify", "--first-look", "--json"]).fine().stdout;
    let document: Value = serde_json::from_str(&json).expect("JSON");
    let looks = document["looks"].as_array().expect("a list");
    let right = looks.iter().filter(|look| look["verdict"] == "right" && look["grade"] != "C").count();
    assert_eq!(document["shares"]["all"][0]["right"].as_u64(), Some(right as u64), "{json}");
    home.run(["machines", "verify", "--first-look", "--leave-out"]).with_code(2);
}

#[test]
fn a_check_has_values_enough_to_conclude_about_the_timers_of_windows() {
    let file = result(&Home::new(), &["check", "--only", "B5", "--on", "windows-11"]);
    for id in ["OVS-W001", "OVS-W009", "OVS-W010"] {
        let finding = file.findings.iter().find(|finding| finding.id == id).expect(id);
        assert_eq!(finding.verdict, Verdict::Found, "{id}: {}", finding.sentence);
    }
}

/// The accepted tunables are those of the measured machine, not of the one that runs the model.
#[test]
fn every_tunable_of_a_model_can_be_given() {
    let mean_us = |args: &[&str]| {
        let arguments: Vec<&str> = ["ask", "--json", "--count", "50"].iter().chain(args).copied().collect();
        let told: Value = serde_json::from_str(&Home::new().run(arguments).fine().stdout).expect("JSON");
        told[0]["mean_ns"].as_f64().expect("a mean") / 1e3
    };
    let mac = ["nanosleep(1ms)", "--on", "macos-14-m1"];
    let plain = mean_us(&mac);
    for (tune, share) in [("latency=tier-0", 0.125), ("qos=background", 4.0), ("latency=tier-2", 0.5)] {
        let tuned = mean_us(&[&mac[..], &["--tune", tune]].concat());
        let wanted = plain + (share - 0.25) * 1e3;
        assert!((tuned - wanted).abs() < 5.0, "{tune}: {tuned}, not {wanted}");
    }
    let hidden = ["sleep(1ms)", "--on", "windows-11", "--set", "window-hidden=true", "--resolution", "1ms"];
    assert!(mean_us(&hidden) > 15_000.0);
    assert!(mean_us(&[&hidden[..], &["--tune", "power-throttling=off"]].concat()) < 2_100.0);
}

#[test]
fn what_cannot_be_tuned_is_said_with_what_can() {
    let refused = |args: &[&str]| {
        let arguments: Vec<&str> =
            ["ask", "nanosleep(1ms)", "--on", "macos-14-m1"].iter().chain(args).copied().collect();
        Home::new().run(arguments).with_code(2).stderr
    };
    let said = refused(&["--slack", "1us"]);
    assert!(said.contains("on this system, use --tune latency="), "{said}");
    let said = refused(&["--tune", "latncy=tier-0"]);
    assert!(said.contains("did you mean 'latency'? Choose from"), "{said}");
    let said = refused(&["--tune", "latency=tier-9"]);
    assert!(said.contains("can't use --tune latency=tier-9") && said.contains("tier-1"), "{said}");
    let said = refused(&["--tune", "policy=other:31", "--policy", "other:31"]);
    assert!(said.contains("given twice"), "{said}");
}

#[test]
fn answers_are_told_with_how_late_they_are_and_of_how_many_values() {
    let ask = |args: &[&str]| Home::new().run(["ask"].iter().chain(args)).fine().stdout;
    let text = ask(&["nanosleep(60s)", "--on", "linux-hz250", "--count", "20"]);
    assert!(text.contains("lateness") && text.contains(" µs") && text.contains("20 values"), "{text}");
    let text = ask(&["cost(tsc)", "--on", "linux-hz250"]);
    assert!(!text.contains("late"), "{text}");
}

#[test]
fn questions_are_understood_in_the_words_of_other_languages() {
    let arguments = ["ask", "parkNanos(1ns)", "step(GetTickCount64)", "Sleep(0)", "spin(1ms)", "--on", "windows-11"];
    let text = Home::new().run(arguments).fine().stdout;
    for says in ["parkNanos of the JDK calls WaitForSingleObject", "all ", "the thread itself reads the clock"] {
        assert!(text.contains(says), "{says}: {text}");
    }
    for (question, machine, says) in [
        ("parkNano(1ms)", "linux-hz250", "has no wait 'parkNano'"),
        ("nanoslep(1ms)", "linux-hz250", "did you mean 'nanosleep'?"),
        ("switch-to-thread(1ms)", "windows-11", "ask yield(switch-to-thread)"),
        ("step(interrupt-time)", "windows-7", "Windows 10"),
        ("forkjoin(single, coarse)", "macos-14-m1", "the coarse clock"),
        ("resolution()", "macos-14-m1", "it is not a duration here"),
    ] {
        let ended = Home::new().run(["ask", question, "--on", machine]).with_code(1);
        assert!(ended.stderr.contains(says), "{question}: {}", ended.stderr);
    }
}

/// The user's clock times a fork-join.
#[test]
fn a_fork_join_is_timed_by_the_clock_that_was_asked_for() {
    let arguments =
        ["ask", "forkjoin(blocked)", "--on", "windows-11", "--clock", "get-tick-count", "--json", "--count", "9"];
    let told: Value = serde_json::from_str(&Home::new().run(arguments).fine().stdout).expect("JSON");
    let least = told[0]["min_ns"].as_f64().expect("a least") / 1e6;
    assert!([15.0, 16.0, 31.0, 32.0].contains(&least), "{least} ms are no steps of it");
    assert!(told[0]["rule"].as_str().is_some_and(|rule| rule.contains("get-tick-count times the fork-join")), "{told}");
}

#[test]
fn virtual_time_is_not_announced_as_time() {
    let long = ["waits", "sleep", "--on", "windows-11", "--request", "1s", "--count", "5000", "--out", "r.json"];
    let ended = Home::new().run(long).fine();
    assert!(!ended.stderr.contains("will take"), "{}", ended.stderr);
}

#[test]
fn a_runtime_is_a_record_a_measured_machine_a_model_and_a_neighbour_may_have_left() {
    let home = Home::new();
    let ask = |args: &[&str]| {
        home.run(["ask"].iter().chain(args)).fine().stdout.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let park = ask(&["parkNanos(1ms)", "--on", "windows-11", "--count", "50"]);
    assert!(park.contains("record R01, published: OpenJDK") && park.contains("The runtime was not run"), "{park}");
    let json = ask(&["parkNanos(1ms)", "--on", "windows-11", "--count", "50", "--json"]);
    assert!(json.contains("record R01") && json.contains("The runtime was not run"), "{json}");
    let beside = ask(&["sleep(1ms)", "--on", "windows-10-1909", "--neighbour", "1ms", "--count", "50", "--json"]);
    let after = ask(&[
        "sleep(1ms)",
        "--on",
        "windows-10-1909",
        "--neighbour",
        "1ms",
        "--after-neighbour",
        "--count",
        "50",
        "--json",
    ]);
    let median =
        |told: &str| serde_json::from_str::<Value>(told).expect("JSON")[0]["p50_ns"].as_f64().expect("a median") / 1e6;
    assert!(median(&beside) < 2.1 && median(&after) > 15.0, "{beside} {after}");
    // A result of this very machine would not always do: a result under Wine doesn't support a model.
    let mut machine =
        result(&home, &["waits", "thread-sleep", "--request", "1ms", "--count", "50", "--on", "linux-hz250"]);
    machine.platform.modelled = None;
    std::fs::write(home.path().join("r.json"), machine.write()).expect("writable");
    let like = ask(&["thread-sleep(1ms)", "--like", "r.json", "--on", "windows-11", "--count", "50"]);
    assert!(like.contains("like r.json") && like.contains("windows-11"), "{like}");
}
