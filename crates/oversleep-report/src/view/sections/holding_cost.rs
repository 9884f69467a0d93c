//! What holding a setting costs (C5).

use oversleep_record::conditions::Held;
use oversleep_record::label::{Activity, Counted};
use oversleep_record::series::Quantity;
use oversleep_record::{ExperimentId, Nanos, ResultFile, Series, label};

use super::slack::interrupts_counted;
use crate::view::select::measured;
use crate::view::table::{Cell, Section, Table, figures, words};
use crate::view::words::{or_dash, percent, value};

/// What holding a setting costs.
pub fn costs(file: &ResultFile) -> Option<Section> {
    let counted = |series: &Series, what| series.label(label::COUNTED) == Some(what);
    let mut states: Vec<&str> = Vec::new();
    let mut rows: Vec<(Held, Activity)> = Vec::new();
    for series in measured(file, ExperimentId::C5) {
        if counted(series, Counted::Residency) && !states.contains(&series.subject.as_str()) {
            states.push(&series.subject);
        }
        let row = (series.label(label::HELD)?, series.label(label::ACTIVITY)?);
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    let mut columns = vec![
        words("held", 0),
        words("thread", 0),
        figures(interrupts_counted(measured(file, ExperimentId::C5)), 0),
        figures("its wake-ups", 0),
    ];
    columns.extend(states.iter().map(|state| figures(format!("in {state}"), 1)));
    columns.push(figures("power", 0));
    let mut table =
        Table::new("Interrupts, wake-ups, share of the time in idle states, and power, by what is held", columns);
    let shown = |series: &Series| {
        let median = series.distribution.p50()?;
        let is_share = series.quantity == Quantity::IdleResidency;
        Some(if is_share { percent(Nanos(median).as_secs_f64()) } else { value(series.unit, median) })
    };
    for (held, activity) in rows {
        let of_row = |what, subject: Option<&str>| {
            let mut series = measured(file, ExperimentId::C5).filter(|series| {
                series.label(label::HELD).as_ref() == Some(&held) && series.label(label::ACTIVITY) == Some(activity)
            });
            let found = series
                .find(|series| counted(series, what) && subject.is_none_or(|subject| series.subject == subject))
                .and_then(shown);
            Cell::from(or_dash(found))
        };
        let mut row: Vec<Cell> = vec![
            match &held {
                Held::AsFound => "as found".into(),
                Held::Setting(setting) => setting.to_string().into(),
            },
            if activity == Activity::Idle { "sleeps through".into() } else { "sleeps 1 ms each".into() },
            of_row(Counted::Interrupts, None),
            of_row(Counted::Wakeups, None),
        ];
        row.extend(states.iter().map(|state| of_row(Counted::Residency, Some(state))));
        row.push(of_row(Counted::Power, None));
        table.row(row);
    }
    let note = "Interrupts, idle time and power are the whole machine's, other programs included.";
    (!table.rows.is_empty()).then(|| {
        Section::of("resolution-cost", "What holding costs", &[ExperimentId::C5], table.without_empty_columns())
            .note(note)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use oversleep_record::testing::Sheet;

    #[test]
    fn costs_have_a_row_for_each_setting_and_activity() {
        let file = Sheet::linux()
            .steady("C5/nanosleep/wakeups/idle/slack=1ns", 2)
            .steady("C5/nanosleep/wakeups/sleeping/slack=1ns", 980)
            .steady("C5/nanosleep/interrupts/sleeping/slack=1ns", 1_900)
            .steady("C5/C1/residency/sleeping/slack=1ns", 910_000_000)
            .file;
        let section = costs(&file).expect("there are values");
        let rows: Vec<Vec<&str>> =
            section.tables[0].rows.iter().map(|row| row.iter().map(|cell| cell.text.as_str()).collect()).collect();
        assert_eq!(
            rows,
            [["1 ns", "sleeps through", "–", "2/s", "–"], ["1 ns", "sleeps 1 ms each", "1,900/s", "980/s", "91 %"]]
        );
    }
}
