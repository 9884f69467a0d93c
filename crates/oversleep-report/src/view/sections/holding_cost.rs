//! The cost of holding a setting (C5): interrupts, wake-ups, idle states and power.

use oversleep_record::series::Quantity;
use oversleep_record::{Nanos, ResultFile};

use super::Entry;
use super::slack::{interrupts_counted, setting_in_words};
use crate::view::select::{distinct, measured};
use crate::view::table::{Columns, Section};
use crate::words::{percent, value};

pub const ENTRY: Entry = Entry { id: "holding-cost", title: "Cost of holding a setting", experiments: &["C5"], build };

/// A row: the setting held, and what the thread did meanwhile.
type Row<'a> = (&'a str, &'a str);

fn build(file: &ResultFile, section: Section) -> Section {
    let cell = move |row: &Row, counted: &str, subject: Option<&str>| {
        let mut series = measured(file, "C5");
        let found = series.find(|series| {
            (series.label("held"), series.label("activity")) == (Some(row.0), Some(row.1))
                && series.label("counted") == Some(counted)
                && subject.is_none_or(|subject| series.subject == subject)
        })?;
        let median = found.distribution.p50()?;
        let is_share = found.quantity == Quantity::IdleResidency;
        Some(if is_share { percent(Nanos(median).as_secs_f64()) } else { value(found.unit, median) })
    };
    let mut columns = Columns::new()
        .words("held", |row: &Row| setting_in_words(row.0))
        .words("thread", |row| if row.1 == "idle" { "idle" } else { "sleeps of 1 ms" })
        .figure(interrupts_counted(measured(file, "C5")), move |row| cell(row, "interrupts", None))
        .figure("its wake-ups", move |row| cell(row, "wakeups", None));
    let residency = measured(file, "C5").filter(|series| series.label("counted") == Some("residency"));
    for state in distinct(residency.map(|series| series.subject.as_str())) {
        columns = columns.figure(format!("in {state}"), move |row| cell(row, "residency", Some(state))).rank(1);
    }
    let columns = columns.figure("power", move |row| cell(row, "power", None));
    let rows =
        distinct(measured(file, "C5").filter_map(|series| Some((series.label("held")?, series.label("activity")?))));
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
            .file;
        let section = build(&file, Section::new("holding-cost", "Cost"));
        assert_eq!(
            texts(&section.tables[0]),
            [
                ["held", "thread", "timer interrupts", "its wake-ups", "in C1"],
                ["1 ns", "idle", "–", "2/s", "–"],
                ["1 ns", "sleeps of 1 ms", "1,900/s", "980/s", "91 %"]
            ]
        );
    }
}
