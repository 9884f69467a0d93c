//! What decides how exactly timers end (slack, resolution), held by the measuring thread: what it does to waits (C2) and
//! how it lets timers share interrupts (C6).

use std::collections::BTreeSet;

use oversleep_record::conditions::Setting;
use oversleep_record::label::Counted;
use oversleep_record::{ExperimentId, FactName, Nanos, ResultFile, Series, label};

use crate::view::select::{measured, subjects};
use crate::view::table::{Cell, Section, Table, Tone, figures};
use crate::view::words::{UNKNOWN, median_of, or_dash, value};

/// The tunable an experiment is about: the one its keys name.
pub fn tunable<'a>(file: &'a ResultFile, experiment: ExperimentId) -> Option<&'a str> {
    let of_series = |series: &'a Series| {
        let mut asked = series.conditions.requested.keys();
        asked.find(|name| series.key.names_tunable(name)).map(String::as_str)
    };
    file.experiment(experiment).find_map(of_series)
}

/// What a tunable is called in a sentence.
pub fn in_words(tunable: &str) -> &str {
    match tunable {
        "slack" => "timer slack",
        "resolution" => "timer resolution",
        other => other,
    }
}

/// The setting an experiment's series was measured at.
pub fn held<'a>(series: &'a Series, tunable: &str) -> Option<&'a Setting> {
    series.conditions.setting(tunable)
}

/// Every setting of an experiment, finest first.
pub fn settings(file: &ResultFile, experiment: ExperimentId) -> Vec<&Setting> {
    let Some(tunable) = tunable(file, experiment) else { return Vec::new() };
    let settings = measured(file, experiment).filter_map(|series| held(series, tunable));
    settings.collect::<BTreeSet<_>>().into_iter().collect()
}

/// The series of a wait at a setting, where the setting really held.
pub fn at<'a>(file: &'a ResultFile, wait: &str, setting: &Setting) -> Option<&'a Series> {
    let tunable = tunable(file, ExperimentId::C2)?;
    file.experiment(ExperimentId::C2)
        .find(|series| series.subject == wait && held(series, tunable) == Some(setting) && series.has_values())
        .filter(|series| series.conditions.all_held())
}

/// The setting as it was found.
fn found(file: &ResultFile, tunable: &str) -> Option<Nanos> {
    let fact = if tunable == "slack" { FactName::TimerSlack } else { FactName::TimerPeriodNow };
    file.environment.nanos(fact)
}

pub(crate) fn slack(file: &ResultFile) -> Option<Section> {
    let tunable = tunable(file, ExperimentId::C2)?;
    let waits = subjects(measured(file, ExperimentId::C2));
    let mut columns = vec![figures(format!("{tunable} held"), 0)];
    columns
        .extend(waits.iter().enumerate().map(|(index, wait)| figures(*wait, u8::try_from(index).unwrap_or(u8::MAX))));
    let asked = measured(file, ExperimentId::C2).find_map(|series| series.requested_ns);
    let at_asked = asked.map(|asked| format!(" at {asked}")).unwrap_or_default();
    let mut table = Table::new(format!("Median lateness{at_asked} by {}", in_words(tunable)), columns);
    let found = found(file, tunable);
    for setting in settings(file, ExperimentId::C2) {
        let as_found = found.map(Setting::Nanos).as_ref() == Some(setting);
        let mut row = vec![Cell::from(setting.to_string()).toned(if as_found { Tone::Strong } else { Tone::Plain })];
        row.extend(
            waits.iter().map(|wait| at(file, wait, setting).map_or_else(|| UNKNOWN.into(), |s| median_of(s).into())),
        );
        table.row(row);
    }
    let note =
        found.map(|found| format!("As found the {tunable} is {found}. A wait that does not move with it ignores it."));
    let title = if tunable == "slack" { "Timer slack" } else { "Timer resolution" };
    (!table.rows.is_empty()).then(|| Section::of("slack", title, &[ExperimentId::C2], table).note_if(note))
}

/// What the interrupts of an experiment's series were, as a column is called.
pub fn interrupts_counted<'a>(mut series: impl Iterator<Item = &'a Series>) -> &'static str {
    if series.any(|series| series.label(label::INTERRUPT_KIND) == Some(label::InterruptKind::AllKinds)) {
        "interrupts of all kinds"
    } else {
        "timer interrupts"
    }
}

/// Interrupts and wake-ups of those series of C6 that are wanted, as two cells.
fn counted<'a>(file: &'a ResultFile, wanted: impl Fn(&Series) -> bool + Copy + 'a) -> [Cell; 2] {
    [Counted::Interrupts, Counted::Wakeups].map(|what| {
        let series = measured(file, ExperimentId::C6)
            .find(|series| wanted(series) && series.label(label::COUNTED) == Some(what));
        or_dash(series.and_then(|series| series.distribution.p50().map(|found| value(series.unit, found)))).into()
    })
}

pub(crate) fn coalescing(file: &ResultFile) -> Option<Section> {
    let tunable = tunable(file, ExperimentId::C6)?;
    let by_setting = || measured(file, ExperimentId::C6).filter(|series| held(series, tunable).is_some());
    let mut table = Table::new(
        format!("Interrupts and wake-ups per second of many sleeping threads, by {}", in_words(tunable)),
        vec![
            figures(format!("{tunable} held"), 0),
            figures(interrupts_counted(by_setting()), 0),
            figures("wake-ups", 0),
        ],
    );
    for setting in settings(file, ExperimentId::C6) {
        let [interrupts, wakeups] = counted(file, |series| held(series, tunable) == Some(setting));
        table.row(vec![setting.to_string().into(), interrupts, wakeups]);
    }
    let threads = by_setting().find_map(|series| series.label(label::THREADS));
    let note = threads.map(|threads| format!("{threads} threads, each sleeping 1 ms over and over on its own phase."));
    (!table.rows.is_empty()).then(|| Section::of("coalescing", "Coalescing", &[ExperimentId::C6], table).note_if(note))
}

/// The tolerance of a timer's series, where its call takes one.
fn tolerance(series: &Series) -> Option<Nanos> {
    series.label(label::TOLERANCE)
}

pub(crate) fn tolerances(file: &ResultFile) -> Option<Section> {
    let tolerating = || measured(file, ExperimentId::C6).filter(|series| tolerance(series).is_some());
    let wait = tolerating().next()?.subject.as_str();
    let mut table = Table::new(
        format!("Interrupts and wake-ups per second of many threads in {wait}, by what it tolerates"),
        vec![figures("tolerated", 0), figures(interrupts_counted(tolerating()), 0), figures("wake-ups", 0)],
    );
    for allowed in tolerating().filter_map(tolerance).collect::<BTreeSet<_>>() {
        let [interrupts, wakeups] =
            counted(file, |series| series.subject == wait && tolerance(series) == Some(allowed));
        table.row(vec![allowed.to_string().into(), interrupts, wakeups]);
    }
    let threads = tolerating().find_map(|series| series.label(label::THREADS));
    let note = threads.map(|threads| {
        format!(
            "{threads} threads, each waiting 1 ms over and over, with the resolution as found. What is tolerated counts \
             where it is longer than the tick."
        )
    });
    Some(Section::of("tolerances", "Tolerated delays", &[ExperimentId::C6], table).note_if(note))
}

#[cfg(test)]
mod tests {
    use super::*;
    use oversleep_record::label::InterruptKind;
    use oversleep_record::testing::Sheet;

    fn rows(section: &Section) -> Vec<Vec<&str>> {
        section.tables[0].rows.iter().map(|row| row.iter().map(|cell| cell.text.as_str()).collect()).collect()
    }

    #[test]
    fn interrupts_of_every_kind_are_not_called_the_timers() {
        let sheet = |kind: Option<InterruptKind>| {
            let mut sheet = Sheet::linux()
                .steady("C6/nanosleep/slack=1ns/interrupts", 8_000)
                .steady("C6/nanosleep/slack=1ns/wakeups", 7_400);
            if let Some(kind) = kind {
                sheet.file.series[0].labels.set(label::INTERRUPT_KIND, kind);
            }
            sheet.file
        };
        let head = |file: &ResultFile| coalescing(file).expect("measured").tables[0].columns[1].head.clone();
        assert_eq!(head(&sheet(None)), "timer interrupts");
        assert_eq!(head(&sheet(Some(InterruptKind::AllKinds))), "interrupts of all kinds");
    }

    #[test]
    fn what_a_timer_tolerates_has_a_table_of_its_own() {
        let file = Sheet::windows()
            .steady("C6/waitable-timer-tolerant/tolerance=0ns/wakeups", 512)
            .steady("C6/waitable-timer-tolerant/tolerance=32ms/interrupts", 1_024)
            .steady("C6/waitable-timer-tolerant/tolerance=32ms/wakeups", 256)
            .file;
        assert!(coalescing(&file).is_none(), "no setting was held");
        let section = tolerances(&file).expect("measured");
        assert_eq!(rows(&section), [["0 ns", "–", "512/s"], ["32 ms", "1,024/s", "256/s"]]);
        assert!(section.tables[0].caption.contains("waitable-timer-tolerant"), "{}", section.tables[0].caption);
    }
}
