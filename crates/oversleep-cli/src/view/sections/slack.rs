//! Timer slack held by the measuring thread: what it does to waits (C2) and how it lets timers share interrupts (C6).

use std::collections::BTreeSet;

use oversleep_record::conditions::Setting;
use oversleep_record::{Nanos, ResultFile, Series};

use crate::view::select::{measured, subjects};
use crate::view::table::{Cell, Section, Table, Tone, figures};
use crate::view::words::{UNKNOWN, median_of, or_dash};

/// The resolution a series was measured at.
pub fn held(series: &Series) -> Option<Nanos> {
    match series.conditions.setting("slack") {
        Some(Setting::Nanos(slack)) => Some(*slack),
        _ => None,
    }
}

/// Every setting of an experiment, finest first.
pub fn settings(file: &ResultFile, experiment: &str) -> Vec<Nanos> {
    measured(file, experiment).filter_map(held).collect::<BTreeSet<_>>().into_iter().collect()
}

/// The series of a wait at a setting, where the setting really held.
pub fn at<'a>(file: &'a ResultFile, wait: &str, slack: Nanos) -> Option<&'a Series> {
    file.experiment("C2")
        .find(|series| series.subject == wait && held(series) == Some(slack) && series.has_values())
        .filter(|series| series.conditions.all_held())
}

pub fn slack(file: &ResultFile) -> Option<Section> {
    let waits = subjects(measured(file, "C2"));
    let mut columns = vec![figures("slack held", 0)];
    columns
        .extend(waits.iter().enumerate().map(|(index, wait)| figures(*wait, u8::try_from(index).unwrap_or(u8::MAX))));
    let asked = measured(file, "C2").find_map(|series| series.requested_ns);
    let mut table = Table::new(
        format!("Median lateness{} by timer slack", asked.map(|asked| format!(" at {asked}")).unwrap_or_default()),
        columns,
    );
    let found = file.environment.nanos("timer.slack_ns");
    for setting in settings(file, "C2") {
        let as_found = found == Some(setting);
        let mut row = vec![Cell::from(setting.to_string()).toned(if as_found { Tone::Strong } else { Tone::Plain })];
        row.extend(
            waits.iter().map(|wait| at(file, wait, setting).map_or_else(|| UNKNOWN.into(), |s| median_of(s).into())),
        );
        table.row(row);
    }
    let note =
        found.map(|found| format!("As found the slack is {found}. A wait that does not move with it ignores it."));
    (!table.rows.is_empty()).then(|| Section::of("slack", "Timer slack", &["C2"], table).note_if(note))
}

pub fn coalescing(file: &ResultFile) -> Option<Section> {
    let mut table = Table::new(
        "Interrupts and wake-ups per second of many sleeping threads, by timer slack",
        vec![figures("slack held", 0), figures("timer interrupts", 0), figures("wake-ups", 0)],
    );
    for setting in settings(file, "C6") {
        let counted = |what: &str| {
            measured(file, "C6")
                .find(|series| held(series) == Some(setting) && series.label("counted") == Some(what))
                .and_then(|series| series.distribution.p50().map(|found| crate::view::words::value(series.unit, found)))
        };
        table.row(vec![
            setting.to_string().into(),
            or_dash(counted("interrupts")).into(),
            or_dash(counted("wakeups")).into(),
        ]);
    }
    let threads = measured(file, "C6").find_map(|series| series.label("threads").map(str::to_owned));
    let note = threads.map(|threads| format!("{threads} threads, each sleeping 1 ms over and over on its own phase."));
    (!table.rows.is_empty()).then(|| Section::of("coalescing", "Coalescing", &["C6"], table).note_if(note))
}
