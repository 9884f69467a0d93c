//! What is shown of many results.

use oversleep_record::SeriesKey;
use oversleep_record::testing::{Sheet, rounds};

use super::*;

fn machines() -> Vec<Machine> {
    let linux = |late: i64| {
        Sheet::linux()
            .series(rounds("B5/nanosleep/1ms", &[late; 4], 300))
            .steady("B5/poll/1ms", late + 4_000)
            .steady("B5/timerfd/1ms", 12_000)
    };
    let windows = Sheet::windows().steady("B5/sleep/1ms", 14_600_000);
    let mut modelled = linux(64_000);
    modelled.file.platform.modelled = Some("linux-hz250".into());
    vec![
        Machine::of(&linux(61_000).file, "oversleep-shared-2026-11-22.json"),
        Machine::of(&windows.file, "desk.json"),
        Machine::of(&modelled.wild("B5/select/1ms", 60_000).wild("B5/futex/1ms", 9_000).file, "model.json"),
    ]
}

#[test]
fn of_several_threads_all_together_are_shown() {
    let mut sheet = Sheet::linux().steady("B5/nanosleep/1ms", 60_000).steady("B5/poll/1ms", 90_000);
    let one = &mut sheet.file.series[1];
    (one.subject, one.key) = ("nanosleep".to_owned(), SeriesKey::from("B5/nanosleep/1ms/thread=0"));
    one.labels.set(label::THREAD, "0".to_owned());
    let p50 = |sheet: &Sheet| Machine::of(&sheet.file, "c.json").waits["nanosleep"].p50_ns;
    let whole = p50(&sheet);
    sheet.file.series.reverse();
    assert_eq!((p50(&sheet), whole < 70_000), (whole, true));
}

#[test]
fn of_hundreds_the_furthest_from_the_median_come_first() {
    let one = |n: i64| {
        let late = if n == 250 { 900_000 } else { 60_000 + 10 * n };
        Machine::of(&Sheet::linux().steady("B5/nanosleep/1ms", late).file, &format!("host-{n}.json"))
    };
    let machines: Vec<Machine> = (1..=300).map(one).collect();
    let brief = view(&machines, false);
    let rows = |view: &View| view.sections[0].tables[0].rows.iter().map(|row| row[0].text.clone()).collect::<Vec<_>>();
    assert_eq!((rows(&brief).len(), rows(&brief)[0].as_str()), (ROWS_BRIEF, "250 host-250"));
    assert!(
        brief.results.is_empty() && brief.summary[0].contains("on machine 250 (host-250.json)"),
        "{:?}",
        brief.summary
    );
    assert_eq!(
        brief.sections[0].notes,
        ["These 20 of 300 results are the furthest from the median plain sleep, 61.5 µs late. The others are \
             within a factor of 1.02 of it. --full shows all, and --csv writes all."]
    );
    let full = view(&machines, true);
    assert_eq!((rows(&full).len(), rows(&full)[0].as_str(), full.results.len()), (300, "250 host-250", 300));
    assert_eq!(sheet(&machines).rows.count(), 300);
}

#[test]
fn one_of_many_is_an_outlier_only_if_its_figure_shows_that() {
    let note = |late_of_last: i64| {
        let one = |n: i64| {
            let late = if n == 40 { late_of_last } else { 60_000 };
            Machine::of(&Sheet::linux().steady("B5/nanosleep/1ms", late).file, &format!("host-{n}.json"))
        };
        view(&(1..=40).map(one).collect::<Vec<_>>(), false).sections[0].notes.clone()
    };
    let more = "The others are within a factor of 1.00 of it. --full shows all, and --csv writes all.";
    assert_eq!(
        note(90_000),
        [format!("This one of 40 results is the furthest from the median plain sleep, 60 µs late. {more}")]
    );
    for same in [60_000, 60_004] {
        assert_eq!(note(same), [format!("Of 40 results, none is far from the median plain sleep, 60 µs late. {more}")]);
    }
}

#[test]
fn machines_and_waits_are_one_table_for_each_system() {
    let view = view(&machines(), false);
    let heads: Vec<Vec<&str>> = view
        .sections
        .iter()
        .map(|section| section.tables[0].columns.iter().map(|column| column.head.as_str()).collect())
        .collect();
    assert_eq!(heads[0][..2], ["machine", "nanosleep"]);
    assert!(heads[0].contains(&"timerfd"), "{heads:?}");
    assert_eq!(heads[1], ["machine", "sleep"]);
    let rows = &view.sections[0].tables[0].rows;
    assert_eq!((rows[0][0].text.as_str(), rows[0][1].text.as_str()), ("1 2026-11-22", "61 µs"));
    assert_eq!((rows[1][0].text.as_str(), rows[1][0].tone), ("3 model", Tone::Warn), "its rounds disagree");
    assert_eq!(
        view.warnings,
        [
            "Not taken on a real machine: 3 is modelled: linux-hz250.",
            "Don't rely on 3: something else used the machine, or too little was measured."
        ]
    );
    assert_eq!(
        view.summary[0],
        "Linux: nanosleep of 1 ms was 61 µs late on machine 1, and nanosleep of 1 ms was 64 µs late on machine 3 \
         (medians)."
    );
    assert_eq!(view.summary[1], "Windows: sleep of 1 ms was 14.6 ms late on machine 2 (medians).");
}

#[test]
fn a_few_machines_with_many_waits_are_columns() {
    let names = ["nanosleep", "usleep", "poll", "ppoll", "select", "pselect", "futex", "timerfd", "sigtimedwait"];
    let sheet = names.iter().fold(Sheet::linux(), |sheet, wait| sheet.steady(format!("B5/{wait}/1ms"), 60_000));
    let machines = ["a.json", "b.json"].map(|name| Machine::of(&sheet.file, name));
    let table = &view(&machines, false).sections[0].tables[0];
    assert_eq!(table.columns.iter().map(|column| column.head.as_str()).collect::<Vec<_>>(), ["wait", "1 a", "2 b"]);
    assert_eq!((table.rows.len(), table.rows[0][0].text.as_str()), (names.len(), "nanosleep"));
}

#[test]
fn in_full_there_is_p99_and_a_document_has_every_wait() {
    let titles: Vec<String> = view(&machines(), true).sections.into_iter().map(|section| section.title).collect();
    assert!(titles.contains(&"99th percentile of the lateness of waits of 1 ms on Linux".to_owned()), "{titles:?}");
    assert_eq!(titles.len(), 3, "on Windows none has a p99: {titles:?}");
    let document = document(&machines());
    assert_eq!(document[0]["waits"].as_array().map(Vec::len), Some(3));
    assert_eq!(document[2]["mark"], "modelled: linux-hz250");
}
