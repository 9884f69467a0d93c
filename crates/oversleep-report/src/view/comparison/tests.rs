//! What a comparison shows, whatever it is shown on.

use oversleep_record::conditions::{Conditions, Setting};
use oversleep_record::{FactName, Nanos, ResultFile};

use super::*;
use crate::view::head;
use oversleep_record::testing::{Sheet, held, rounds};

fn viewed(results: &[ResultFile], full: bool) -> View {
    view(&oversleep_explain::compare::compare(results, head::machine), &[], full)
}

/// The rows of a section, cells apart by bars.
fn rows(view: &View, id: &str) -> Vec<String> {
    let section = view.sections.iter().find(|section| section.id == id).expect(id);
    let texts = |row: &Vec<Cell>| row.iter().map(|cell| cell.text.as_str()).collect::<Vec<_>>().join("|");
    section.tables.iter().flat_map(|table| table.rows.iter().map(texts)).collect()
}

#[test]
fn what_differs_most_comes_first() {
    let sheet = |poll: i64, sleep: i64, futex: i64| {
        Sheet::linux()
            .steady("B5/poll/1ms", poll)
            .steady("B5/nanosleep/1ms", sleep)
            .steady("B5/futex/1ms", futex)
            .series(rounds("B5/select/1ms", &[1_000], 3))
            .file
    };
    let view = viewed(&[sheet(50_000, 60_000, 70_000), sheet(50_000, 90_000, 7_000)], true);
    assert_eq!(
        rows(&view, "lateness"),
        [
            "B5/futex/1ms|70 µs|7 µs|0.100|70 µs|7 µs|0.100|differs",
            "B5/nanosleep/1ms|60 µs|90 µs|1.50|60 µs|90 µs|1.50|differs",
            "B5/poll/1ms|50 µs|50 µs|1.00|50 µs|50 µs|1.00|inconclusive (1.00 to 1.00)",
            "B5/select/1ms|~1 µs|~1 µs|1.00|1 µs|1 µs|1.00|inconclusive: the base has only 3 values in 1 round",
        ]
    );
    assert_eq!(
        view.summary,
        [
            "B against A: of 4 series in common, 2 differ at the median (1 higher in B, 1 lower), 1 inconclusive (difference \
             within the uncertainty), 1 inconclusive (too few values)."
        ]
    );
}

#[test]
fn many_that_are_alike_do_not_hide_what_differs() {
    let sheet = |slow: i64, alike: i64| {
        let mut sheet = Sheet::linux().steady("B5/futex/1ms", slow);
        for index in 1..=alike {
            sheet = sheet.steady(format!("B5/wait-{index}/1ms"), 50_000);
        }
        sheet.file
    };
    let notes = |view: &View| view.sections.iter().find(|section| section.id == "lateness").unwrap().notes.clone();
    let few = viewed(&[sheet(70_000, 15), sheet(7_000, 15)], false);
    assert_eq!((rows(&few, "lateness").len(), notes(&few)), (16, Vec::new()));
    let many = viewed(&[sheet(70_000, 16), sheet(7_000, 16)], false);
    assert_eq!(rows(&many, "lateness"), ["B5/futex/1ms|70 µs|7 µs|0.100|70 µs|7 µs|0.100|differs"]);
    assert_eq!(
        notes(&many),
        ["16 series more inconclusive, because the difference is within the uncertainty; --full shows them."]
    );
    assert_eq!(rows(&viewed(&[sheet(70_000, 16), sheet(7_000, 16)], true), "lateness").len(), 17);
}

#[test]
fn each_result_is_held_against_the_first() {
    let sheet = |sleep: i64| Sheet::linux().steady("B5/nanosleep/1ms", sleep).file;
    let view = viewed(&[sheet(60_000), sheet(60_000), sheet(120_000)], false);
    assert_eq!(
        rows(&view, "lateness"),
        [
            "B5/nanosleep/1ms|60 µs|60 µs|1.00|120 µs|2.00|60 µs|60 µs|1.00|120 µs|2.00|B: inconclusive (1.00 to 1.00); C: \
             differs"
        ]
    );
    assert_eq!(view.summary.len(), 2);
    assert!(view.summary[0].contains("none differs at the median"), "{:?}", view.summary);
}

#[test]
fn the_same_key_under_other_conditions_is_another_series() {
    let plain = rounds("B5/nanosleep/1ms", &[66_000; 4], 20);
    let mut eager = rounds("B5/nanosleep/1ms", &[16_000; 4], 20);
    eager.conditions = held(Conditions::as_found().with("slack", Setting::Nanos(Nanos(1))));
    let view = viewed(&[Sheet::linux().series(plain).file, Sheet::linux().series(eager).file], true);
    assert_eq!(
        rows(&view, "unmatched"),
        ["B5/nanosleep/1ms (as found)|66 µs|–", "B5/nanosleep/1ms (slack=1 ns)|–|16 µs"]
    );
}

#[test]
fn facts_stand_side_by_side() {
    let sheet = |slack: i64| Sheet::linux().span(FactName::TimerSlack, slack).integer(FactName::CpuCount, 2);
    let view = viewed(&[sheet(50_000).file, sheet(1).text(FactName::CpufreqGovernor, "powersave").file], false);
    assert_eq!(rows(&view, "facts"), ["timer.slack_ns|50 µs|1 ns", "cpufreq.governor|–|powersave"]);
}

#[test]
fn a_result_is_named_by_its_file_and_what_it_is() {
    let mut named = Sheet::linux().file;
    named.name = Some("the new kernel".into());
    named.environment.set(
        FactName::CpuModel,
        oversleep_record::environment::FactValue::Text("Intel Xeon".into()),
        "test",
    );
    named.platform.arch = "aarch64".into();
    let compared = oversleep_explain::compare::compare(&[Sheet::linux().file, named], head::machine);
    let view = view(&compared, &["a.json".into(), "b.json".into()], false);
    assert_eq!(view.results[0].0, "A: a.json, the base");
    assert_eq!(view.results[1].0, "B: b.json, the new kernel (under an emulator)");
    assert_eq!(view.marks, " (B under an emulator)");
    assert!(
        view.warnings[0].starts_with("B: this was measured under an emulator (a program for aarch64 on Intel Xeon)")
    );
}
