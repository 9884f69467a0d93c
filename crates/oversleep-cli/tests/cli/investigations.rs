//! The published investigations in `docs/investigations.md`: every command of the page runs, and its results on
//! modelled machines are compared with the published figures.

use std::fs;

use oversleep_record::comparison::{Comparison, Verdict};
use oversleep_record::label::{self, ClockRole};
use oversleep_record::series::Quantity;
use oversleep_record::{ExperimentId, Nanos, ResultFile, Series};

use super::support::Home;

/// The words of a command, whose arguments with parentheses are quoted.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for letter in line.chars() {
        match letter {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(String::new()),
            letter => words.last_mut().expect("never empty").push(letter),
        }
    }
    words
}

fn result(args: &[&str]) -> ResultFile {
    Home::new().run(args.iter().chain(&["--json", "--quiet"])).fine().result()
}

fn series<'a>(file: &'a ResultFile, key: &str) -> &'a Series {
    file.series(key).unwrap_or_else(|| panic!("{key} is missing"))
}

fn p50_us(file: &ResultFile, key: &str) -> f64 {
    Nanos(series(file, key).distribution.p50().expect("values")).as_micros_f64()
}

/// The values of a series in whole ms, without duplicates.
fn whole_ms(series: &Series) -> Vec<i64> {
    let mut values: Vec<i64> = series.samples.value.iter().map(|ns| (ns + 500_000) / 1_000_000).collect();
    values.sort_unstable();
    values.dedup();
    values
}

#[test]
fn every_command_of_the_page_runs_and_several_machines_are_compared() {
    let path = format!("{}/../../docs/investigations.md", env!("CARGO_MANIFEST_DIR"));
    let Ok(page) = fs::read_to_string(&path) else {
        return oversleep_testing::skip(format!("the crate is tested without {path}"));
    };
    let home = Home::new();
    let commands: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("$ oversleep ")).collect();
    assert!(commands.len() > 10, "{commands:?}");
    for command in commands {
        let ended = home.run(words(command));
        assert!(matches!(ended.code, Some(0 | 4)), "{command}: {}", ended.stderr);
    }
    for page in ["sleeps.html", "forkjoin.html", "rule-change.html"] {
        let page = fs::read_to_string(home.path().join(page)).expect("written");
        assert!(page.contains("<div class=\"beside\">"), "two results stand side by side");
    }
    // Clocks of three machines: the counter of x86 is not on all of them.
    let shared = home.run(["clocks", "windows.json", "wsl.json", "pi.json"]).fine().stdout;
    let sentence = shared.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(sentence.contains("valid on all of these machines is std::time::Instant: "), "{shared}");
    let two = home.run(["clocks", "windows.json", "wsl.json"]).fine().stdout;
    let sentence = two.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(sentence.contains("is tsc, on one thread only: "), "{two}");
    assert!(sentence.contains("across threads too, std::time::Instant: "), "{two}");
    assert!(shared.lines().all(|line| line.chars().count() <= 100), "{shared}");
    // 10,000,000 calls, as published: costs of the Windows machine.
    let file = ResultFile::read(&fs::read(home.path().join("windows.json")).expect("written")).expect("a result");
    for (clock, ns) in [("tsc", 9.9), ("system-time", 15.4), ("clock", 44.8), ("std-instant", 47.3)] {
        let cost = series(&file, &format!("A1/{clock}"));
        assert_eq!(cost.label(label::CALLS), Some(10_000_000), "{clock}");
        let p50 = cost.distribution.p50().expect("values") as f64 / 1e3;
        assert!((p50 / ns - 1.0).abs() < 0.01, "{clock}: {p50} ns");
    }
    rule_change(&home);
}

/// The table of 1909 and 2004: the duration of Sleep(1) beside each setting.
fn rule_change(home: &Home) {
    let printed = home.run(["compare", "1909.json", "2004.json", "--json"]).fine().stdout;
    let comparison: Comparison = serde_json::from_str(&printed).expect("JSON");
    let mean = |experiment: ExperimentId, held: &str, result: u32| {
        let series = comparison.series.iter().find(|series| {
            series.experiment == experiment
                && series.quantity == Quantity::Lateness
                && series.labels.get(label::NEIGHBOUR) == held.parse().ok()
        });
        let side = series.and_then(|series| series.side(result)).unwrap_or_else(|| panic!("{held} in {result}"));
        1.0 + Nanos(side.mean.expect("values")).as_millis_f64()
    };
    let is_within = |share: f64, experiment, held: &str, result, ms: f64| {
        let mean = mean(experiment, held, result);
        assert!((mean / ms - 1.0).abs() < share, "{held} in {result}: {mean} ms, not {ms}");
    };
    let is_near = |experiment, held: &str, result, ms: f64| is_within(0.02, experiment, held, result, ms);
    let c3 = ExperimentId::C3;
    // 1909: the neighbour's setting, except that 1 ms gives 2.
    is_near(c3, "1ms", 0, 2.0);
    (2..=15).for_each(|ms| is_near(c3, &format!("{ms}ms"), 0, f64::from(ms)));
    // 2004: its own tick, in multiples of the neighbour's setting; from 9 ms on the setting.
    for (held, ms) in [("1ms", 16.0), ("2ms", 16.0)] {
        is_near(c3, held, 1, ms);
    }
    // Uneven waits come in pairs, the last of which the end of the series may cut.
    for (held, ms) in [("6ms", 12.0), ("7ms", 14.0)] {
        is_within(0.04, c3, held, 1, ms);
    }
    (9..=15).for_each(|ms| is_near(c3, &format!("{ms}ms"), 1, f64::from(ms)));
    // The lowest request wins.
    for (held, ms) in [("2ms", 2.0), ("2ms+4ms", 2.0), ("4ms", 4.0)] {
        is_near(ExperimentId::C4, held, 0, ms);
    }
    // All series are in both, and differ where the rule does.
    assert!(comparison.series.iter().all(|series| series.sides.len() == 2));
    let differs = |held: &str| {
        let of_sleep = |key: &str| key.starts_with("C3/sleep/1ms") && key.ends_with(&format!("neighbour={held}"));
        let found = comparison.verdicts(1).find(|(series, _)| of_sleep(series.key.as_str()));
        found.map(|(_, judged)| judged.verdict == Verdict::Differs)
    };
    assert_eq!([differs("1ms"), differs("none"), differs("12ms")], [Some(true), Some(false), Some(false)]);
    let text = home.run(["compare", "1909.json", "2004.json"]).fine().stdout;
    assert!(text.contains("A: A neighbour's setting reached this process"), "{text}");
    assert!(text.contains("B: This process did not follow its neighbours"), "{text}");
    assert!(text.lines().any(|line| line.starts_with("6 ms") && line.contains(" 12")), "{text}");
}

#[test]
fn sixteen_milliseconds_are_the_clocks() {
    let windows = result(&["check", "--only", "B1,B2", "--on", "windows-11", "--no-remedies"]);
    assert_eq!(whole_ms(series(&windows, "B1/sleep/1ms/coarse")), [15, 16]);
    for ms in 1..=15 {
        let precise = p50_us(&windows, &format!("B2/sleep/{ms}ms"));
        assert!((15_400.0..15_700.0).contains(&precise), "a flat band: {ms} ms took {precise} µs");
        let coarse = whole_ms(series(&windows, &format!("B2/sleep/{ms}ms/coarse")));
        assert!(coarse.iter().all(|ms| [15, 16].contains(ms)), "{coarse:?}");
    }
    let linux = result(&["check", "--only", "B1,B2", "--on", "linux-hz1000", "--no-remedies"]);
    for ms in 1..=15 {
        let late = p50_us(&linux, &format!("B2/nanosleep/{ms}ms")) - f64::from(ms) * 1e3;
        assert!((50.0..120.0).contains(&late), "a line: {ms} ms was {late} µs late");
    }
    let joins = result(&["forkjoin", "--threads", "8", "--work", "10..20ms", "--count", "100", "--on", "windows-11"]);
    let blocked = series(&joins, "D1/blocked/coarse");
    assert_eq!(blocked.counts.recorded, 100, "--count means what it says");
    assert!(whole_ms(blocked).iter().all(|ms| [15, 16, 31, 32].contains(ms)), "{:?}", whole_ms(blocked));
    let precise = series(&joins, "D1/blocked/precise");
    assert!(precise.distribution.max() < Some(20_500_000) && whole_ms(precise).len() > 3, "{:?}", whole_ms(precise));
    let single = joins.series.iter().find(|series| {
        series.experiment == ExperimentId::D2 && series.label(label::CLOCK_ROLE) == Some(ClockRole::Coarse)
    });
    let single = single.expect("measured");
    assert!(whole_ms(single).iter().all(|ms| [0, 15, 16, 31, 32].contains(ms)), "{:?}", whole_ms(single));
    let mode = |ms: i64| single.samples.value.iter().filter(|ns| (ns + 500_000) / 1_000_000 == ms).count();
    assert!([0, 15, 31, 32].iter().all(|&other| mode(16) >= mode(other)), "mostly 16");
}

#[test]
fn as_many_fork_joins_are_asked_for_as_are_given() {
    let ask = |count: &[&str]| {
        let args = ["ask", "forkjoin(single, coarse)", "--on", "windows-11", "--json"];
        let told = Home::new().run(args.iter().chain(count)).fine().stdout;
        serde_json::from_str::<serde_json::Value>(&told).expect("JSON")[0]["count"].as_u64()
    };
    assert_eq!([ask(&[]), ask(&["--count", "101"]), ask(&["--count", "7"])], [Some(100), Some(101), Some(7)]);
}

#[test]
fn sleep_loops_drift_by_their_rule() {
    for (machine, at_1_ms, at_300_us) in
        [("macos-14-m1", 250.0..271.0, 79.0..87.0), ("linux-hz1000", 78.0..83.0, 53.0..56.0)]
    {
        let file = result(&["check", "--only", "B4", "--on", machine, "--no-remedies"]);
        let late = [p50_us(&file, "B4/usleep/1ms"), p50_us(&file, "B4/usleep/300us")];
        assert!(at_1_ms.contains(&late[0]) && at_300_us.contains(&late[1]), "{machine}: {late:?} µs");
    }
    let told = Home::new().run(["check", "--only", "B4", "--on", "macos-14-m1", "--full"]).fine().stdout;
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("A loop of usleep drifts") && told.contains("1,000 calls of 1 ms take 1.26 s"), "{told}");
}
