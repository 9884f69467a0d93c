//! Each figure of a profile matters: there is a question whose answer follows from it, and which a changed figure
//! answers wrongly. A mistyped profile fails here by name.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use oversleep_model::platform;
use oversleep_record::series::Pace;
use oversleep_record::{Nanos, Unavailable};
use oversleep_system::SharedPlatform;

use crate::ask::{Question, Subject, ask};
use crate::machines::{describe, load, names};
use crate::verify::{self, Observation};

/// The rows, each with the changes that must make it wrong.
fn rules() -> Vec<(Observation, Vec<String>)> {
    let file: toml::Table = toml::from_str(include_str!("figures.toml")).expect("well-formed");
    let rows = file["rule"].as_array().expect("rows").iter().map(|row| {
        let mut row = row.as_table().expect("a row").clone();
        let breaks: Vec<String> = row.remove("breaks").expect("what breaks it").try_into().expect("changes");
        let id = row["id"].as_str().expect("an id").to_owned();
        (row.try_into().unwrap_or_else(|error| panic!("{id}: {error}")), breaks)
    });
    rows.collect()
}

#[test]
fn each_figure_decides_an_answer_and_another_figure_makes_it_wrong() {
    let mut wrong = Vec::new();
    for (rule, breaks) in rules() {
        let judged = verify::measured(&rule).unwrap_or_else(|error| panic!("{}: {error}", rule.id));
        if !judged.reproduced {
            wrong.push(format!("{} ({}): {}", rule.id, rule.published, judged.model));
        }
        for change in breaks {
            let mut changed = rule.clone();
            changed.set.push(change.clone());
            let judged = verify::measured(&changed).unwrap_or_else(|error| panic!("{} {change}: {error}", rule.id));
            if judged.reproduced {
                wrong.push(format!("{}: {change} goes unnoticed, {}", rule.id, judged.model));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Figures that are tested below, or that no answer shows.
const ELSEWHERE: &[&str] = &["wake.handoff", "wake.thread-start", "frequencies."];

#[test]
fn no_figure_of_a_rule_is_without_a_row() {
    let rules = rules();
    let broken: BTreeSet<&str> =
        rules.iter().flat_map(|(_, breaks)| breaks).filter_map(|change| change.split('=').next()).collect();
    let families = ["scheduler.", "timers.", "wake.", "steps.", "frequencies.", "shortest.", "tolerance.", "raises."];
    for name in names() {
        assert!(rules.iter().any(|(rule, _)| rule.machine.as_deref() == Some(name)), "{name} has no row of its own");
        for figure in describe(name, &[]).unwrap().figures {
            let path = figure.path.as_str();
            let is_of_a_rule = families.iter().any(|family| path.starts_with(family));
            let is_elsewhere = ELSEWHERE.iter().any(|prefix| path.starts_with(prefix));
            assert!(!is_of_a_rule || is_elsewhere || broken.contains(path), "{name}: nothing breaks with {path}");
        }
    }
    for (rule, _) in &rules {
        let machine = rule.machine.as_deref().expect("a machine");
        assert!(rule.id.starts_with(&format!("{machine}: ")), "{}", rule.id);
    }
}

fn on(name: &str, overrides: &[&str]) -> SharedPlatform {
    let overrides: Vec<String> = overrides.iter().map(|&change| change.to_owned()).collect();
    platform(name, &overrides, 1).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn counters_run_at_the_published_frequencies() {
    for (name, clock, hz) in [
        ("windows-7", "qpc", 2_876_910),
        ("windows-10-1909", "qpc", 10_000_000),
        ("windows-10-2004", "qpc", 10_000_000),
        ("windows-10-2004", "tsc", 2_945_956_000),
        ("wsl2", "tsc", 2_994_401_000),
        ("macos-14-m1", "mach-absolute", 24_000_000),
        ("macos-14-m1", "mach-continuous", 24_000_000),
        ("raspberry-pi-4", "cntvct", 54_000_000),
    ] {
        assert_eq!(on(name, &[]).clock(clock).unwrap().stated_frequency_hz(), Some(hz), "{name} {clock}");
    }
}

/// The longest time that a thread which computes beside a competitor is off its only CPU.
fn longest_gap(platform: &SharedPlatform) -> Nanos {
    let _load = platform.load("spin").unwrap().start(1).unwrap();
    let (end, mut last, mut gap) = (platform.now() + Nanos::from_secs(2), platform.now(), Nanos::ZERO);
    while last < end {
        platform.work(20);
        let now = platform.now();
        gap = gap.max(now - last - Nanos(20_000));
        last = now;
    }
    gap
}

#[test]
fn slices_are_as_long_as_stated() {
    for (name, slice_us) in [
        // Until the tick after it.
        ("linux-hz250", 4_000),
        ("linux-hz1000", 1_000),
        ("windows-10-2004", 31_250),
        ("windows-11", 31_250),
        ("windows-server-2022", 187_500),
        ("macos-14-m1", 10_000),
    ] {
        let gap = longest_gap(&on(name, &["cpus.count=1"])).0 / 1_000;
        assert!((slice_us * 9 / 10..=slice_us * 11 / 10).contains(&gap), "{name}: {gap} us for slices of {slice_us}");
    }
}

/// Medians of 50, in us, from a thread's creation and from a post until the other side runs.
fn starts_and_handoffs(platform: &SharedPlatform) -> (i64, i64) {
    let median = |mut spans: Vec<Nanos>| {
        spans.sort_unstable();
        spans[spans.len() / 2].0 / 1_000
    };
    let (mut starts, mut handoffs) = (Vec::new(), Vec::new());
    for _ in 0..50 {
        let handoff = platform.handoffs()[0].open().unwrap();
        let seen = Arc::new(Mutex::new((Nanos::ZERO, Nanos::ZERO)));
        let (waiter, there, inner) = (Arc::clone(&handoff), Arc::clone(&seen), platform.clone());
        let created = platform.now();
        let body = move || {
            let begun = inner.now();
            waiter.wait();
            *there.lock().unwrap() = (begun, inner.now());
        };
        let thread = platform.spawn("waiter", Box::new(body)).unwrap();
        platform.work(1_000);
        let posted = platform.now();
        handoff.post();
        thread.join();
        let (begun, woken) = *seen.lock().unwrap();
        starts.push(begun - created);
        handoffs.push(woken - posted);
    }
    (median(starts), median(handoffs))
}

#[test]
fn threads_start_and_are_woken_as_stated() {
    for (name, start_us, handoff_us) in
        [("linux-hz250", 25, 5), ("windows-10-2004", 60, 6), ("macos-14-m1", 20, 5), ("raspberry-pi-4", 80, 5)]
    {
        let (start, handoff) = starts_and_handoffs(&on(name, &[]));
        assert!((start_us - 1..=start_us + 1).contains(&start), "{name}: {start} us from creation");
        assert!((handoff_us - 1..=handoff_us + 1).contains(&handoff), "{name}: {handoff} us from a post");
    }
}

#[test]
fn no_timer_of_its_own_ends_early_on_windows() {
    for name in names().into_iter().filter(|name| name.starts_with("windows-")) {
        let lab = load(name, &[], 1).unwrap();
        let shared = on(name, &[]);
        let has_it = shared.wait("waitable-timer-high-resolution").is_some_and(|wait| wait.open(&shared).is_ok());
        assert_eq!(has_it, !matches!(name, "windows-xp" | "windows-7" | "windows-8.1"), "{name}");
        if !has_it {
            continue;
        }
        for wait in ["waitable-timer-high-resolution", "thread-sleep"] {
            for request_us in [100, 250, 300, 499, 500, 501, 600, 1_000, 1_500, 2_000, 5_000, 7_300, 10_000, 20_000] {
                let request = Nanos::from_micros(request_us);
                for pace in [Pace::BackToBack, Pace::RandomPhase] {
                    let subject = Subject::Wait { name: wait.to_owned(), request };
                    let question = Question { pace: Some(pace), count: 100, ..Question::of(subject) };
                    let answer = ask(&lab, &question).unwrap_or_else(|error| panic!("{name}: {error}"));
                    let (least, most) = (answer.min_ns(), answer.max_ns());
                    let requested = request.0 as f64;
                    // The timestamps are 100 ns apart.
                    assert!(least >= requested - 100.0, "{name} {wait} {request} {pace:?}: {least}");
                    assert!(most <= requested + 1_020_000.0, "{name} {wait} {request} {pace:?}: {most}");
                }
            }
        }
    }
}

/// Features of newer systems: the version as profiles state it, and the kernel or the build that introduced it.
const NEWER: &[(&str, &str, &[u64])] = &[
    ("epoll-pwait2", "Linux 5.11", &[5, 11]),
    ("io-uring", "Linux 5.4", &[5, 4]),
    ("system-time-precise", "Windows 8", &[9_200]),
    ("wait-on-address", "Windows 8", &[9_200]),
    ("interrupt-time", "Windows 10", &[10_240]),
    ("interrupt-time-precise", "Windows 10", &[10_240]),
    ("unbiased-interrupt-time-precise", "Windows 10", &[10_240]),
    ("waitable-timer-high-resolution", "Windows 10 1803", &[17_134]),
];

/// `5.10.102.1-microsoft` as comparable numbers.
fn version(text: &str) -> Vec<u64> {
    text.split(|c: char| !c.is_ascii_digit()).map_while(|part| part.parse().ok()).collect()
}

/// Why each clock, wait and hand-off with that name can't be used; `None` for one that can.
fn reasons(platform: &SharedPlatform, name: &str) -> Vec<Option<Unavailable>> {
    let clocks = platform.clocks().iter().filter(|clock| clock.info().name == name);
    let waits = platform.waits().iter().filter(|wait| wait.info().name == name);
    let handoffs = platform.handoffs().iter().filter(|handoff| handoff.info().name == name);
    clocks
        .map(|clock| clock.available().err())
        .chain(waits.map(|wait| wait.open(platform).err()))
        .chain(handoffs.map(|handoff| handoff.open().err()))
        .collect()
}

#[test]
fn no_machine_has_what_came_after_it() {
    let mut missing = 0;
    for name in names() {
        let platform = on(name, &[]);
        let facts = describe(name, &[]).unwrap().figures;
        let stated = ["facts.os.build", "facts.kernel.release"];
        let Some(own) = facts.iter().find(|figure| stated.contains(&figure.path.as_str())) else { continue };
        for (newer, needs, since) in NEWER {
            for reason in reasons(&platform, newer) {
                let expected =
                    (version(&own.value) < since.to_vec()).then(|| Unavailable::TooOld { needs: (*needs).to_owned() });
                assert_eq!(reason, expected, "{newer} on {name}, {}", own.value);
                missing += usize::from(expected.is_some());
            }
        }
    }
    assert!(missing >= 10, "{missing}");
}
