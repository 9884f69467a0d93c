//! The cost of holding a setting (C5): interrupts, wake-ups, idle states and power.

use oversleep_record::conditions::Held;
use oversleep_record::label::{Activity, Counted};
use oversleep_record::series::Quantity;
use oversleep_record::{ExperimentId, Nanos, ResultFile, label};

use super::Entry;
use super::slack::interrupts_counted;
use crate::view::select::{distinct, measured};
use crate::view::table::{Columns, Section};
use crate::words::{percent, value};

pub const ENTRY: Entry =
    Entry { id: "holding-cost", title: "Cost of holding a setting", experiments: &[ExperimentId::C5], build };

/// A row: the setting held, and what the thread did meanwhile.
type Row = (Held, Activity);

fn build(file: &ResultFile, section: Section) -> Section {
    let cell = move |row: &Row, counted: Counted, subject: Option<&str>| {
        let mut series = measured(file, ExperimentId::C5);
        let found = series.find(|series| {
            series.label(label::HELD).as_ref() == Some(&row.0)
                && series.label(label::ACTIVITY) == Some(row.1)
                && series.label(label::COUNTED) == Some(counted)
                && subject.is_none_or(|subject| series.subject == subject)
        })?;
        let median = found.distribution.p50()?;
        let is_share = found.quantity == Quantity::IdleResidency;
        Some(if is_share { percent(Nanos(median).as_secs_f64()) } else { value(found.unit, median) })
    };
    let mut columns = Columns::new()
        .words("held", |row: &Row| match &row.0 {
            Held::AsFound => "as found".to_owned(),
            Held::Setting(setting) => setting.to_string(),
        })
        .words("thread", |row| if row.1 == Activity::Idle { "idle" } else { "sleeps of 1 ms" })
        .figure(interrupts_counted(measured(file, ExperimentId::C5)), move |row| cell(row, Counted::Interrupts, None))
        .figure("its wake-ups", move |row| cell(row, Counted::Wakeups, None));
    let residency =
        measured(file, ExperimentId::C5).filter(|series| series.label(label::COUNTED) == Some(Counted::Residency));
    for state in distinct(residency.map(|series| series.subject.as_str())) {
        columns = columns.figure(format!("in {state}"), move |row| cell(row, Counted::Residency, Some(state))).rank(1);
    }
    let columns = columns.figure("power", move |row| cell(row, Counted::Power, None));
    let rows = distinct(
        measured(file, ExperimentId::C5)
            .filter_map(|series| Some((series.label(label::HELD)?, series.label(label::ACTIVITY)?))),
    );
    let table = columns.table("Interrupts, wake-ups, share of time in idle states, and power", rows);
    let note = "Interrupts, idle time and power are those of the whole machine, other programs included.";
    let note = table.is_some().then(|| note.to_owned());
    section.tables(table).notes(note)
}

#[cfg(test)]
mod tests {
    use oversleep_record::testing::Sheet;

    use super::super::generic::texts;
    use super::*;

    #[test]
    fn costs_have_a_row_for_each_setting_and_activity() {
        let file = Sheet::linux()
            .steady("C5/nanosleep/wakeups/idle/slack=1ns", 2)
            .steady("C5/nanosleep/wakeups/sleeping/slack=1ns", 980)
            .steady("C5/nanosleep/interrupts/sleeping/slack=1ns", 1_900)
            .steady("C5/C1/residency/sleeping/slack=1ns", 910_000_000)
            .steady("C5/C6/residency/sleeping/slack=1ns", 50_000_000)
            .file;
        let section = build(&file, Section::new("holding-cost", "Cost"));
        assert_eq!(
            texts(&section.tables[0]),
            [
                ["held", "thread", "timer interrupts", "its wake-ups", "in C1", "in C6"],
                ["1 ns", "idle", "–", "2/s", "–", "–"],
                ["1 ns", "sleeps of 1 ms", "1,900/s", "980/s", "91 %", "5 %"]
            ]
        );
    }
}
