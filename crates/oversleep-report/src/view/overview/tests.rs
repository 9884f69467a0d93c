//! Tests of the overview.

use oversleep_record::conditions::{Conditions, Setting};
use oversleep_record::testing::Sheet;
use oversleep_system::tunables::names as tunable;

use super::super::testing::rich;
use super::*;

#[test]
fn waits_that_end_about_equally_late_are_one_group() {
    let mut sheet = Sheet::linux();
    for (wait, late) in [("futex", 61_000), ("timerfd", 13_800), ("poll", 64_000), ("io-uring", 14_200)] {
        sheet = sheet.steady(format!("B5/{wait}/1ms"), late);
    }
    let groups = groups(&sheet.file, Nanos::from_millis(1));
    let names: Vec<Vec<&str>> = groups.iter().map(|group| group.iter().map(|(wait, _)| *wait).collect()).collect();
    assert_eq!(names, [["timerfd", "io-uring"], ["futex", "poll"]]);
}

#[test]
fn sentences_are_cut_between_clauses_only() {
    let text = "clock showed 73 µs of a 100 ms wait: it counts CPU time; likewise others.";
    assert_eq!(clauses_within(text, 80), text.trim_end_matches('.'));
    assert_eq!(clauses_within(text, 60), "clock showed 73 µs of a 100 ms wait: it counts CPU time");
    assert_eq!(clauses_within(text, 40), "clock showed 73 µs of a 100 ms wait");
    assert_eq!(clauses_within(text, 20), text.trim_end_matches('.'));
    assert_eq!(clauses_within("it is late, because it rounds up", 30), "it is late");
    let named = "app (worker): nanosleep for 1 ms is late";
    assert_eq!(clauses_within(named, 30), named, "its name alone says nothing");
    assert_eq!(first_clause("Set it to 1 ns. A value of 0 means the default; beware."), "Set it to 1 ns");
    assert_eq!(
        first_clause("Await it (since 3.9; on Windows since 3.11). It helps."),
        "Await it (since 3.9; on Windows since 3.11)"
    );
    assert_eq!(
        clauses_within("await it (since 3.9; later on Windows): it helps", 40),
        "await it (since 3.9; later on Windows)"
    );
}

#[test]
fn a_remedy_that_helped_is_said_where_no_cost_was_found() {
    let sheet = Sheet::macos().steady("B5/nanosleep/1ms", 5_120_000);
    let sheet = sheet.steady("B8/nanosleep/1ms/policy=time-constraint", 7_000);
    // It doesn't grow with the request, so it is no leeway.
    let sheet = sheet.steady("B5/nanosleep/5ms", 5_120_000);
    let policy = Setting::Policy { policy: "time-constraint".into(), priority: 0 };
    let conditions = Conditions::as_found().with(tunable::POLICY, policy);
    let file = sheet.trial_under("time-constraint-policy", "nanosleep", conditions, 5_120_000, 7_000).file;
    let lines = bottom_line(&file, &Findings::of(&file));
    let last = lines.last().map(String::as_str).unwrap_or_default();
    assert!(last.starts_with("No cost was explained, but a remedy helped (time-constraint): "), "{lines:?}");
    assert!(last.ends_with("Tried here: p50\u{a0}5.12\u{a0}ms\u{a0}→\u{a0}7\u{a0}µs (731× lower)."), "{lines:?}");
}

#[test]
fn a_late_sleep_that_nothing_explains_is_no_sleep_without_a_cost() {
    let file = Sheet::macos().steady("B5/nanosleep/1ms", 5_120_000).file;
    let last = bottom_line(&file, &Findings::of(&file)).pop().unwrap_or_default();
    assert_eq!(last, "No finding explains why it is 5.12 ms late. Measure for longer: `oversleep check --thorough`.");
    let file = Sheet::macos().steady("B5/nanosleep/1ms", 60_000).file;
    let last = bottom_line(&file, &Findings::of(&file)).pop().unwrap_or_default();
    assert_eq!(last, "No cost was found that a remedy could recover.");
}

#[test]
fn a_model_s_assumption_is_no_headline() {
    let first_line = |floor: &str| {
        let mut sheet = Sheet::linux().floor(floor);
        sheet.file.platform.modelled = Some("macos-14-m1".to_owned());
        bottom_line(&sheet.file, &Findings::of(&sheet.file)).remove(0)
    };
    assert_eq!(first_line("mach-absolute"), "A clock read takes 20 ns (mach-absolute).");
    // Nobody has published what this one costs there.
    assert!(!first_line("mach-continuous").contains("clock read"));
}

#[test]
fn the_bottom_line_names_the_sleep_the_clock_and_the_largest_cost_with_its_cure() {
    let file = rich().steady("A1/std-instant", 31_000).file;
    let lines = bottom_line(&file, &Findings::of(&file));
    assert_eq!(lines[0], "A 1 ms sleep takes 1.07 ms (nanosleep); a clock read takes 24 ns (monotonic).");
    assert!(lines[1].starts_with("Largest cost of a plain sleep (nanosleep)"), "{lines:?}");
    assert!(lines[1].contains(": timer-slack. Set the timer slack"), "{lines:?}");
    assert!(lines[1].ends_with("Tried here: p50\u{a0}66.1\u{a0}µs\u{a0}→\u{a0}14.2\u{a0}µs (−79 %)."), "{lines:?}");
    let empty = bottom_line(&Sheet::linux().file, &Findings::of(&Sheet::linux().file));
    assert_eq!(empty, ["No cost was found that a remedy could recover."]);
}

#[test]
fn what_a_model_assumes_of_a_sleep_is_no_headline() {
    let mut file = Sheet::linux().steady("B5/nanosleep/1ms", 466_000).file;
    let first = |file: &ResultFile| bottom_line(file, &Findings::of(file)).remove(0);
    assert!(first(&file).starts_with("A 1 ms sleep takes 1.47 ms (nanosleep)"));
    file.platform.modelled = Some("wsl1".to_owned());
    let lines = bottom_line(&file, &Findings::of(&file));
    assert!(!lines.iter().any(|line| line.starts_with("A 1 ms sleep takes")), "{lines:?}");
    let said = "The model assumes how long a wake-up takes, so that nanosleep is 466 µs late for 1 ms shows its rules, not a \
                machine.";
    assert!(lines.iter().any(|line| line == said), "{lines:?}");
}

#[test]
fn a_cost_without_a_trial_says_why_it_has_none() {
    let sheet = Sheet::windows().span(oversleep_record::FactName::TimerPeriodDefault, 15_625_000);
    let file = sheet.steady("B5/sleep/1ms", 14_600_000).file;
    let lines = bottom_line(&file, &Findings::of(&file));
    let cost = lines.iter().find(|line| line.starts_with("Largest cost")).expect("it has one");
    assert!(cost.contains("It is 14.6 ms late (not tried: "), "{cost}");
}
