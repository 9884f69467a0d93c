//! The findings for runtimes with exact figures.

use oversleep_record::{Unavailable, label};

use crate::testing::{Explained, Sheet};

const REQUESTS: [(&str, i64); 7] = [
    ("R1", 300_000),
    ("R1", 1_000_000),
    ("R2", 999_000),
    ("R2", 1_100_000),
    ("R2", 1_500_000),
    ("R2", 1_999_000),
    ("R2", 2_000_000),
];

/// A wait of Java whose duration is the request rounded by `rule`, plus 70 µs.
fn wait(mut sheet: Sheet, name: &str, rule: fn(i64) -> i64) -> Sheet {
    for (experiment, ns) in REQUESTS {
        let took = rule(ns) + 70_000 - if experiment == "R1" { ns } else { 0 };
        let request = oversleep_record::Nanos(ns).as_typed();
        sheet = sheet.steady(format!("{experiment}/{name}/{request}/java-17"), took).of_runtime("java", "17.0.15");
    }
    sheet
}

fn truncated(ns: i64) -> i64 {
    ns / 1_000_000 * 1_000_000
}

#[test]
fn a_result_without_runtimes_is_not_asked_about_them() {
    let sheet = Sheet::linux().steady("B5/nanosleep/1ms", 66_000);
    assert!((1..=8).all(|number| !sheet.lists(&format!("OVS-R00{number}"))));
}

#[test]
fn a_wait_that_truncates_is_named_beside_one_that_is_exact() {
    let sheet = wait(wait(Sheet::linux(), "Thread.sleep(ms)", truncated), "LockSupport.parkNanos", |ns| ns);
    sheet.finds(
        "OVS-R001",
        "Thread.sleep(ms) of java 17.0.15 truncates to ms: 300 µs took 70 µs; LockSupport.parkNanos for the same request \
         took 370 µs",
    );
    sheet.finds_no("OVS-R002", "none of 2 waits does");
    sheet.finds_no("OVS-R003", "none of 2 waits ended early often");
}

#[test]
fn a_millisecond_less_of_days_is_no_cost() {
    let days = 3 * 86_400_000_000_000_i64;
    let long = |mut sheet: Sheet| {
        for series in &mut sheet.file.series {
            if series.experiment == oversleep_record::ExperimentId::R1 {
                series.requested_ns = Some(oversleep_record::Nanos(days));
            }
        }
        sheet
    };
    let sheet = long(wait(Sheet::linux(), "Thread.sleep(ms)", truncated));
    sheet.finds_no("OVS-R001", "every request was 100 ms or longer");
}

#[test]
fn what_is_due_at_a_rate_is_late_and_takes_no_time() {
    let mut sheet = wait(Sheet::linux(), "PeriodicTimer", truncated);
    sheet.file.series.iter_mut().for_each(|series| series.pace = Some(oversleep_record::series::Pace::Periodic));
    sheet.finds("OVS-R001", "PeriodicTimer of java 17.0.15 truncates to ms: deadlines 300 µs apart were 230 µs early");
}

#[test]
fn a_request_of_zero_that_never_returns_is_told() {
    let sheet = wait(Sheet::linux(), "Object.wait", |ns| ns);
    sheet.lacks("OVS-R004", "no wait of a runtime was requested for 0. Run `oversleep runtimes`");
    let sheet = sheet
        .unavailable("R2/Object.wait/0ns/java-17", Unavailable::failed("Object.wait", "it had not returned"))
        .of_runtime("java", "17.0.15")
        .labelled(label::ENDED, label::Ended::Never);
    sheet.finds("OVS-R004", "a request of 0 never returns with some calls: Object.wait of java 17.0.15");
}

#[test]
fn an_instrument_that_runs_slow_is_a_fault() {
    let second = |shown| {
        let mut sheet = Sheet::linux().steady("R3/clock/engine/second", shown).of_runtime("engine", "1");
        let series = sheet.file.series.last_mut().unwrap();
        (series.requested_ns, series.clock) = (Some(oversleep_record::Nanos::from_secs(1)), "engine clock".to_owned());
        sheet
    };
    second(880_000_000)
        .finds("OVS-R005", "engine clock of engine 1 runs slow by 12.00 %: it showed 0.8800 s of a second");
    second(1_000_400_000).finds_no("OVS-R005", "1 clock compared with the system's: within 0.04 %");
    second(1_015_300_000)
        .finds("OVS-R005", "engine clock of engine 1 runs fast by 1.53 %: it showed 1.0153 s of a second");
    let mut once = second(1_015_300_000);
    once.file.series.last_mut().unwrap().counts.recorded = 1;
    once.finds("OVS-R005", "engine clock of engine 1 runs fast by 1.53 %: it showed 1.0153 s of a second");
    second(3_000_000).finds("OVS-R005", "engine clock of engine 1 doesn't count time: it showed 0.0030 s of a second");
    let step = |ns| second(1_000_400_000).steady("R3/instrument/engine/step", ns).of_runtime("engine", "1");
    step(40).finds_no("OVS-R005", "1 clock compared with the system's: within 0.04 %");
    step(15_625_000)
        .finds("OVS-R005", "engine clock of engine 1 moves in steps of 15.6 ms: too coarse for a wait of 1 ms");
    let mut back = step(40);
    back.file.series.last_mut().unwrap().counts.backward = 2;
    back.finds("OVS-R005", "engine clock of engine 1 goes back: 2 of its timestamps were before an earlier one");
}

#[test]
fn durations_of_a_wrong_clock_lead_to_no_other_finding() {
    let early = |shown| {
        let sheet = wait(wait(Sheet::linux(), "nap", |ns| ns - 160_000), "nap(busy)", |ns| ns + 5_000_000);
        let mut sheet = sheet.steady("R3/clock/java-17/second", shown).of_runtime("java", "17.0.15");
        sheet.file.series.last_mut().unwrap().requested_ns = Some(oversleep_record::Nanos::from_secs(1));
        sheet
    };
    let right = early(1_000_000_000);
    assert!(right.says("OVS-R003").1.starts_with("nap of java 17.0.15 ends early"), "{:?}", right.says("OVS-R003"));
    let slow = early(900_000_000);
    let nothing = "the clock of java 17.0.15 runs slow, so the durations that it timed show nothing";
    ["OVS-R001", "OVS-R002", "OVS-R003"].iter().for_each(|id| slow.lacks(id, nothing));
    slow.lacks_data("OVS-R006");
}

#[test]
fn a_busy_runtime_is_compared_with_an_idle_one() {
    let sheet = wait(Sheet::linux(), "time.sleep", |ns| ns);
    sheet.lacks_data("OVS-R006");
    let sheet = wait(sheet, "time.sleep(busy)", |ns| ns + 5_000_000);
    sheet.finds(
        "OVS-R006",
        "time.sleep of java 17.0.15 takes longer beside a busy one: 1 ms took 6.07 ms, and 1.07 ms in an idle program",
    );
}

#[test]
fn tricks_that_change_nothing_are_told_as_that() {
    let tried = |late| {
        Sheet::linux()
            .steady("B11/LockSupport.parkNanos/1ms/java-17/as-found", 66_000)
            .of_runtime("java", "17.0.15")
            .labelled(label::VARIANT, "as-found".to_owned())
            .steady("B11/LockSupport.parkNanos/1ms/java-17/sleeping-thread", late)
            .of_runtime("java", "17.0.15")
            .labelled(label::VARIANT, "sleeping-thread".to_owned())
    };
    let nothing = "no trick changes a wait here: sleeping-thread of java 17.0.15 (66 µs → 64 µs)";
    tried(64_000).finds("OVS-R007", nothing);
    tried(-900_000).finds(
        "OVS-R007",
        "sleeping-thread makes a wait finer here: sleeping-thread of java 17.0.15 (66 µs → −900 µs)",
    );
}
