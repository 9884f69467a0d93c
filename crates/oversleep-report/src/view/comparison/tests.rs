//! The contents of a comparison, independent of the renderer.

use oversleep_record::clock::{ClockResult, Counts};
use oversleep_record::conditions::{Conditions, Setting};
use oversleep_record::testing::{Sheet, good_clock, held, rounds};
use oversleep_record::{FactName, Nanos, ResultFile};

use super::*;
use crate::view::head;

fn viewed(results: &[ResultFile], full: bool) -> View {
    view(&oversleep_explain::compare::compare(results, head::machine), &Sketch::of_all(results), &[], full)
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
            "B5/poll/1ms|50 µs|50 µs|1.00|50 µs|50 µs|1.00|the same within 2 %",
            "B5/select/1ms|~1 µs|~1 µs|1.00|1 µs|1 µs|1.00|inconclusive: the base has only 3 values in 1 round",
        ]
    );
    assert_eq!(
        view.sentences().collect::<Vec<_>>(),
        [
            "B against A, what differs most: B5/futex/1ms is 7 µs instead of 70 µs (10 % of A's), B5/nanosleep/1ms is 90 µs \
             instead of 60 µs (1.50 times A's).",
            "B against A: of 4 series in common, 2 differ at the median (1 higher in B, 1 lower), 1 the same within 2 %, \
             1 inconclusive (too few values).",
            "No fact that matters for timing differs, so what else the machine did, or the program that was measured, makes the \
             difference.",
        ]
    );
}

#[test]
fn what_differs_most_names_each_call_once_and_nothing_that_other_cpus_make_unlike() {
    let of = |cpus, late: i64, round: i64| {
        let sheet = Sheet::linux().integer(FactName::CpuCount, cpus).steady("B5/nanosleep/1ms", late);
        sheet.steady("B6/nanosleep/1ms/back-to-back", late + 1_000).steady("D1/spinning", round).file
    };
    let most = |base, file| viewed(&[base, file], false).most.join("; ");
    let [plain, thrice] = [of(4, 60_000, 10_000_000), of(4, 60_500, 30_000_000)];
    assert!(most(plain.clone(), thrice).contains("D1/spinning is 30 ms instead of 10 ms"));
    assert_eq!(
        most(plain, of(16, 600_000, 30_000_000)),
        "B against A, what differs most: B5/nanosleep/1ms is 600 µs instead of 60 µs (10.0 times A's)."
    );
}

/// `clock()` counts CPU time on Linux and elapsed time on Windows.
#[test]
fn what_differs_most_has_no_clock_that_counts_something_else_on_one_side() {
    let of = |ps, counts| {
        let clock = ClockResult { counts, ..good_clock("clock") };
        Sheet::linux().clock(clock).steady("A1/clock", ps).steady("B5/nanosleep/1ms", ps).file
    };
    let most = |counts| {
        let files = [of(20_000, Counts::ElapsedTime), of(300_000, counts)];
        viewed(&files, false).most.join("; ")
    };
    assert!(most(Counts::ElapsedTime).contains("A1/clock is"), "{}", most(Counts::ElapsedTime));
    let other = most(Counts::ProcessCpuTime);
    assert!(!other.contains("A1/clock") && other.contains("B5/nanosleep"), "{other}");
}

#[test]
fn the_view_of_clocks_says_which_is_the_fastest_once() {
    let of = |ps| Sheet::linux().clock(good_clock("monotonic")).steady("A1/monotonic", ps).file;
    let comparison = oversleep_explain::compare::compare(&[of(20_000), of(30_000)], head::machine);
    let clocks = clocks_view(&comparison, &[], &[], true);
    assert!(clocks.summary[0].starts_with("The fastest clock"), "{:?}", clocks.summary);
    assert_eq!(clocks.sections.iter().map(|section| section.id.as_str()).next(), Some("clocks"));
    assert!(clocks.sections.iter().all(|section| !section.notes.contains(&clocks.summary[0])));
}

/// Two versions of Java in each of two results.
fn of_two_javas(late: i64) -> ResultFile {
    let mut sheet = Sheet::linux();
    for (id, version) in [("java-17", "17.0.15"), ("java-25", "25.0.3")] {
        for (request, ns) in [("300us", 300_000), ("1ms", 1_000_000), ("1500us", 1_500_000), ("2ms", 2_000_000)] {
            let key = format!("R1/LockSupport.parkNanos/{request}/{id}");
            sheet = sheet.steady(key, late).of_runtime("java", version);
            let key = format!("R2/LockSupport.parkNanos/{request}/{id}");
            sheet = sheet.steady(key, ns + late).of_runtime("java", version);
        }
        let key = format!("B11/LockSupport.parkNanos/1ms/{id}/sleeping-thread");
        sheet = sheet.steady(key, 3 * late).of_runtime("java", version);
    }
    sheet.file.command = "runtimes".to_owned();
    sheet.file
}

#[test]
fn the_same_picture_of_a_runtime_stands_beside_itself() {
    let view = viewed(&[of_two_javas(90_000), of_two_javas(30_000)], false);
    let names: Vec<Vec<&str>> =
        view.pictures.iter().map(|row| row.iter().map(|picture| picture.name.as_str()).collect()).collect();
    let of_maps = |version: &str| ["a", "b"].map(|letter| format!("{letter}-runtimes-java-{version}"));
    for version in ["17_0_15", "25_0_3"] {
        assert!(names.iter().any(|row| *row == of_maps(version)), "{names:?}");
    }
    assert!(names.iter().all(|row| row.len() == 2), "each has its counterpart: {names:?}");
}

#[test]
fn each_runtime_shows_how_machines_differ() {
    let view = viewed(&[of_two_javas(90_000), of_two_javas(30_000)], false);
    let section = view.sections.iter().find(|section| section.id == "machines").unwrap();
    let heads: Vec<&str> = section.tables[0].rows.iter().map(|row| row[0].text.as_str()).collect();
    let first = ["LockSupport.parkNanos 1 ms java-17", "LockSupport.parkNanos 1 ms java-25"];
    assert_eq!(heads[..2].iter().filter(|head| first.contains(head)).count(), 2, "{heads:?}");
}

#[test]
fn runtimes_are_measured_again_by_their_own_command() {
    let few = |late| {
        let mut file = Sheet::linux().series(rounds("R1/nanosleep/1ms", &[late], 3)).file;
        file.command = "runtimes".to_owned();
        file
    };
    let view = viewed(&[few(90_000), few(30_000)], false);
    assert!(
        view.summary.iter().any(|sentence| sentence.contains("`oversleep runtimes --thorough`")),
        "{:?}",
        view.summary
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
    assert_eq!(notes(&many), ["16 series more the same within 2 %; --full shows them."]);
    assert_eq!(rows(&viewed(&[sheet(70_000, 16), sheet(7_000, 16)], true), "lateness").len(), 17);
}

#[test]
fn many_that_were_disturbed_are_counted_and_a_reason_that_many_give_is_given_once() {
    let unsteady = |futex: i64, count: i64| {
        let mut sheet = Sheet::linux().steady("B5/futex/1ms", futex);
        for index in 0..count {
            sheet = sheet.series(rounds(format!("B5/wait-{index}/1ms"), &[20_000, 60_000, 60_000, 100_000], 20));
        }
        sheet.file
    };
    let notes = |view: &View| view.sections.iter().find(|section| section.id == "lateness").unwrap().notes.clone();
    let reason = "[1] The rounds of the base leave its median uncertain by more than half.";
    let seen = |count: i64, full: bool| viewed(&[unsteady(70_000, count), unsteady(7_000, count)], full);
    let two = seen(2, true);
    assert!(
        rows(&two, "lateness")[2]
            .ends_with("|inconclusive: the rounds of the base leave its median uncertain by more than half"),
        "{:?}",
        rows(&two, "lateness")
    );
    assert_eq!(notes(&two), [""; 0]);
    let full = seen(20, true);
    assert_eq!((rows(&full, "lateness").len(), notes(&full)), (21, vec![reason.to_owned()]));
    assert!(rows(&full, "lateness")[1..].iter().all(|row| row.ends_with("|inconclusive [1]")));
    let few = seen(15, false);
    assert_eq!((rows(&few, "lateness").len(), notes(&few)), (16, vec![reason.to_owned()]));
    let brief = seen(20, false);
    assert_eq!(rows(&brief, "lateness").len(), 1);
    assert_eq!(notes(&brief), ["20 series more inconclusive, because they were disturbed; --full shows them."]);
}

#[test]
fn each_result_is_held_against_the_first() {
    let sheet = |sleep: i64| Sheet::linux().steady("B5/nanosleep/1ms", sleep).file;
    let view = viewed(&[sheet(60_000), sheet(60_000), sheet(120_000)], false);
    assert_eq!(
        rows(&view, "lateness"),
        [
            "B5/nanosleep/1ms|A|60 µs|–|60 µs|–|–",
            "|B|60 µs|1.00|60 µs|1.00|the same within 2 %",
            "|C|120 µs|2.00|120 µs|2.00|differs",
        ]
    );
    assert_eq!((view.most.len(), view.summary.len()), (1, 2));
    assert!(view.headlines.is_empty(), "three have no single difference");
    assert!(view.summary[0].contains("none differs at the median"), "{:?}", view.summary);
}

#[test]
fn headlines_are_of_different_calls_and_say_their_conditions_in_words() {
    let sheet = |late: i64| {
        let sheet =
            Sheet::windows().steady("C3/sleep/1ms/neighbour=1ms", late).steady("C4/sleep/1ms/neighbour=2ms", late);
        sheet.steady("B5/poll/1ms", 60_000 + late / 100).file
    };
    let headlines = viewed(&[sheet(1_000_000), sheet(15_000_000)], false).headlines;
    let what: Vec<&str> = headlines.iter().map(|one| one.what.as_str()).collect();
    assert_eq!(what[1..], ["lateness of sleep 1 ms with neighbour 1ms", "lateness of poll 1 ms"]);
}

#[test]
fn another_system_is_what_changed() {
    let linux = Sheet::linux().text(FactName::OsName, "Linux 6.14").steady("B5/nanosleep/1ms", 66_000).file;
    let windows = Sheet::windows().text(FactName::OsName, "Windows 11").steady("B5/sleep/1ms", 14_600_000).file;
    let summary = viewed(&[linux, windows], false).summary;
    let changed = summary.iter().find(|sentence| sentence.starts_with("What changed from A to B: the system, "));
    assert!(changed.is_some_and(|sentence| sentence.contains(" → Windows 11")), "{summary:?}");
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
    let view = view(&compared, &[], &["a.json".into(), "b.json".into()], false);
    assert_eq!(view.results[0].0, "A: a.json, the base");
    assert_eq!(view.results[1].0, "B: b.json, the new kernel (under an emulator)");
    assert_eq!(view.marks, " (B under an emulator)");
    assert!(
        view.warnings[0].starts_with("B: this was measured under an emulator (a program for aarch64 on Intel Xeon)")
    );
}

/// A result of the experiment with neighbours: the sleep of 1 ms beside each setting, in ms.
fn beside_neighbours(model: &str, sleeps: [(&str, i64); 3]) -> ResultFile {
    let mut sheet = Sheet::windows();
    for (held, ms) in sleeps {
        sheet = sheet
            .steady(format!("C3/sleep/1ms/neighbour={held}"), (ms - 1) * 1_000_000)
            .steady(format!("C3/resolution/stated/neighbour={held}"), 1_000_000);
    }
    sheet.file.platform.modelled = Some(model.to_owned());
    sheet.file
}

#[test]
fn neighbours_of_several_machines_make_one_table_and_one_curve() {
    let follows = beside_neighbours("windows-10-1909", [("none", 16), ("1ms", 2), ("2ms", 2)]);
    let alone = beside_neighbours("windows-10-2004", [("none", 16), ("1ms", 16), ("2ms", 16)]);
    let view = viewed(&[follows.clone(), alone], false);
    let table = rows(&view, "neighbours");
    assert!(table[0].starts_with("nothing|1 ms|16 ms|") && table[1].starts_with("1 ms|1 ms|2 ms|"), "{table:?}");
    assert!(table[1].contains("|1 ms|16 ms|"), "{table:?}");
    let [_, _, one, other] = &view.summary[..] else { panic!("{:?}", view.summary) };
    let most = &view.most[0];
    assert!(most.starts_with("B against A, what differs most: C3/sleep/1ms/neighbour=1ms is 15 ms"), "{most}");
    assert!(one.starts_with("A: A neighbour's setting reached this process"), "{one}");
    assert!(other.starts_with("B: No neighbour's setting reached"), "{other}");
    let [curve] = &view.pictures[0][..] else { panic!("one picture of both") };
    let plain = curve.forms.alone.replace('\u{a0}', " ");
    assert!(plain.contains("takes 2 ms to 16 ms on A: windows-10-1909, 16 ms to 16 ms on B"), "{plain}");
    assert_eq!(view.pictures[1].iter().map(|picture| picture.kind).collect::<Vec<_>>(), ["neighbours"; 2]);
    assert!(viewed(&[follows, Sheet::linux().file], false).sections.iter().all(|section| section.id != "neighbours"));
}

#[test]
fn twenty_six_machines_are_one_table() {
    let sheet = |index: i64| {
        let sheet = Sheet::linux().steady("B5/nanosleep/1ms", 60_000 + 1_000 * index).steady("B5/timerfd/1ms", 15_000);
        sheet.steady("A1/std-instant", 30_000).file
    };
    let view = viewed(&(0..26).map(sheet).collect::<Vec<_>>(), false);
    let table = rows(&view, "machines");
    assert_eq!((table.len(), table[0].as_str()), (26, "A |60 µs|30 ns|15 µs"));
    assert_eq!(table[25], "Z |85 µs|30 ns|15 µs");
}

#[test]
fn plain_sleeps_of_two_systems_are_held_against_each_other() {
    let linux = Sheet::linux().steady("B5/nanosleep/1ms", 66_000).file;
    let windows = Sheet::windows().steady("B5/sleep/1ms", 14_600_000).file;
    let view = viewed(&[linux, windows], false);
    assert_eq!(rows(&view, "lateness"), ["B5/nanosleep/1ms / sleep|66 µs|14.6 ms|221|66 µs|14.6 ms|221|differs"]);
    assert_eq!(rows(&view, "machines"), ["plain sleep 1 ms|66 µs|14.6 ms"]);
}

#[test]
fn what_makes_results_differ_is_warned_of_before_what_limits_each() {
    let sheet = |late| Sheet::linux().steady("B5/nanosleep/1ms", late).file;
    let results = [sheet(66_000), sheet(16_000)];
    let mut compared = oversleep_explain::compare::compare(&results, head::machine);
    compared.caveats = [(CaveatKind::Quick, "few values"), (CaveatKind::OtherCpus, "other CPUs")]
        .map(|(kind, sentence)| Caveat { result: 1, kind, sentence: sentence.to_owned() })
        .to_vec();
    let view = view(&compared, &Sketch::of_all(&results), &[], false);
    assert_eq!(view.warnings, ["B: other CPUs.", "B: few values."]);
}

#[test]
fn of_many_series_without_a_counterpart_a_few_are_named() {
    let waits = ["poll", "select", "futex", "ppoll", "pselect", "timerfd"];
    let base = waits.iter().fold(Sheet::linux(), |sheet, wait| sheet.steady(format!("B5/{wait}/1ms"), 66_000)).file;
    let other = Sheet::linux().steady("B5/nanosleep/1ms", 66_000).file;
    let notes = |full| {
        let view = viewed(&[base.clone(), other.clone()], full);
        view.sections.into_iter().find(|section| section.id == "unmatched").expect("unmatched").notes
    };
    assert_eq!(
        notes(false),
        [
            "Only in A (6 series): B5 poll, select, futex, ppoll, 2 more. --full lists them.",
            "Only in B (1 series): B5 nanosleep."
        ]
    );
    assert!(notes(true).is_empty(), "a table has them");
}

#[test]
fn facts_that_all_have_come_before_those_that_one_lacks() {
    let linux = Sheet::linux().text(FactName::KernelRelease, "6.18").integer(FactName::CpuCount, 4);
    let windows = Sheet::windows().integer(FactName::CpuCount, 16);
    let view = viewed(&[windows.file, linux.file], true);
    let facts = rows(&view, "facts");
    assert_eq!(facts.first().map(String::as_str), Some("cpu.count|16|4"), "{facts:?}");
    assert!(facts.contains(&"kernel.release|–|6.18".to_owned()), "{facts:?}");
}
