//! How timers share interrupts (C6), by the setting held and by the tolerance of the call.

use std::collections::BTreeSet;

use oversleep_record::label::Counted;
use oversleep_record::{ExperimentId, Nanos, ResultFile, Series, label};

use super::Entry;
use super::slack::{held, in_words, interrupts_counted, settings, tunable};
use crate::view::select::measured;
use crate::view::table::{Columns, Section, Table};
use crate::words::value;

pub const ENTRY: Entry = Entry { id: "coalescing", title: "Timer coalescing", experiments: &[ExperimentId::C6], build };

fn build(file: &ResultFile, section: Section) -> Section {
    let section = section.tables(by_setting(file)).tables(by_tolerance(file));
    let threads = measured(file, ExperimentId::C6).find_map(|series| series.label(label::THREADS));
    section
        .notes(threads.map(|threads| format!("{threads} threads, each waiting 1 ms repeatedly at its own phase.")))
        .notes(tolerating(file).next().map(|_| "A tolerance matters only if it is longer than the tick.".to_owned()))
}

/// Interrupts or wake-ups in the first matching series of C6.
fn rate(file: &ResultFile, counted: Counted, is_wanted: impl Fn(&Series) -> bool) -> Option<String> {
    let mut series = measured(file, ExperimentId::C6);
    let series = series.find(|series| is_wanted(series) && series.label(label::COUNTED) == Some(counted))?;
    Some(value(series.unit, series.distribution.p50()?))
}

fn by_setting(file: &ResultFile) -> Option<Table> {
    let tunable = tunable(file, ExperimentId::C6)?;
    let of = measured(file, ExperimentId::C6).filter(|series| held(series, tunable).is_some());
    let at = move |counted, setting| rate(file, counted, |series| held(series, tunable) == Some(setting));
    let columns = Columns::new()
        .figure(format!("{tunable} held"), |setting: &&_| ToString::to_string(*setting))
        .figure(interrupts_counted(of), move |setting| at(Counted::Interrupts, *setting))
        .figure("wake-ups", move |setting| at(Counted::Wakeups, *setting));
    columns.table(
        format!("Interrupts and wake-ups of many sleeping threads by {}", in_words(tunable)),
        settings(file, ExperimentId::C6),
    )
}

/// The tolerance of a timer's call, if it takes one.
fn tolerance(series: &Series) -> Option<Nanos> {
    series.label(label::TOLERANCE)
}

fn tolerating(file: &ResultFile) -> impl Iterator<Item = &Series> {
    measured(file, ExperimentId::C6).filter(|series| tolerance(series).is_some())
}

fn by_tolerance(file: &ResultFile) -> Option<Table> {
    let wait = tolerating(file).next()?.subject.as_str();
    let at = move |counted, allowed: &Nanos| {
        rate(file, counted, |series| series.subject == wait && tolerance(series) == Some(*allowed))
    };
    let columns = Columns::new()
        .figure("tolerance", |allowed: &Nanos| *allowed)
        .figure(interrupts_counted(tolerating(file)), move |allowed| at(Counted::Interrupts, allowed))
        .figure("wake-ups", move |allowed| at(Counted::Wakeups, allowed));
    let tolerances: BTreeSet<Nanos> = tolerating(file).filter_map(tolerance).collect();
    columns.table(format!("Interrupts and wake-ups of many threads in {wait} by its tolerance"), tolerances)
}

#[cfg(test)]
mod tests {
    use oversleep_record::label::InterruptKind;
    use oversleep_record::testing::Sheet;

    use super::super::generic::texts;
    use super::*;

    fn coalescing(sheet: Sheet) -> Section {
        build(&sheet.file, Section::new("coalescing", "Timer coalescing"))
    }

    #[test]
    fn interrupts_of_every_kind_are_not_called_the_timers() {
        let head = |kind: Option<InterruptKind>| {
            let mut sheet = Sheet::linux()
                .steady("C6/nanosleep/slack=1ns/interrupts", 8_000)
                .steady("C6/nanosleep/slack=1ns/wakeups", 7_400);
            if let Some(kind) = kind {
                sheet.file.series[0].labels.set(label::INTERRUPT_KIND, kind);
            }
            coalescing(sheet).tables[0].columns[1].head.clone()
        };
        assert_eq!([head(None), head(Some(InterruptKind::AllKinds))], ["timer interrupts", "interrupts of all kinds"]);
    }

    #[test]
    fn what_a_timer_tolerates_has_a_table_of_its_own() {
        let sheet = Sheet::windows()
            .steady("C6/waitable-timer-tolerant/tolerance=0ns/wakeups", 512)
            .steady("C6/waitable-timer-tolerant/tolerance=32ms/interrupts", 1_024)
            .steady("C6/waitable-timer-tolerant/tolerance=32ms/wakeups", 256);
        let section = coalescing(sheet);
        let [table] = &section.tables[..] else { panic!("no setting was held") };
        assert_eq!(texts(table)[1..], [["0 ns", "–", "512/s"], ["32 ms", "1,024/s", "256/s"]]);
        assert!(table.caption.contains("waitable-timer-tolerant"), "{}", table.caption);
    }
}
