//! What decides how exactly timers end (slack, resolution), held by the measuring thread: what it does to waits (C2) and
//! how it lets timers share interrupts (C6).

use std::collections::BTreeSet;

use oversleep_record::conditions::Setting;
use oversleep_record::{Nanos, ResultFile, Series};

use crate::view::select::{measured, subjects};
use crate::view::table::{Cell, Section, Table, Tone, figures};
use crate::view::words::{UNKNOWN, median_of, or_dash};

/// The tunable an experiment is about: the one its keys name.
pub fn tunable<'a>(file: &'a ResultFile, experiment: &'a str) -> Option<&'a str> {
    let of_series = |series: &'a Series| {
        let mut asked = series.conditions.asked.keys();
        asked.find(|name| series.key.contains(&format!("/{name}="))).map(String::as_str)
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
pub fn settings<'a>(file: &'a ResultFile, experiment: &'a str) -> Vec<&'a Setting> {
    let Some(tunable) = tunable(file, experiment) else { return Vec::new() };
    let settings = measured(file, experiment).filter_map(|series| held(series, tunable));
    settings.collect::<BTreeSet<_>>().into_iter().collect()
}

/// The series of a wait at a setting, where the setting really held.
pub fn at<'a>(file: &'a ResultFile, wait: &str, setting: &Setting) -> Option<&'a Series> {
    let tunable = tunable(file, "C2")?;
    file.experiment("C2")
        .find(|series| series.subject == wait && held(series, tunable) == Some(setting) && series.has_values())
        .filter(|series| series.conditions.all_held())
}

/// The setting as it was found.
fn found(file: &ResultFile, tunable: &str) -> Option<Nanos> {
    let fact = if tunable == "slack" { "timer.slack_ns" } else { "timer.period_now_ns" };
    file.environment.nanos(fact)
}

pub fn slack(file: &ResultFile) -> Option<Section> {
    let tunable = tunable(file, "C2")?;
    let waits = subjects(measured(file, "C2"));
    let mut columns = vec![figures(format!("{tunable} held"), 0)];
    columns
        .extend(waits.iter().enumerate().map(|(index, wait)| figures(*wait, u8::try_from(index).unwrap_or(u8::MAX))));
    let asked = measured(file, "C2").find_map(|series| series.requested_ns);
    let at_asked = asked.map(|asked| format!(" at {asked}")).unwrap_or_default();
    let mut table = Table::new(format!("Median lateness{at_asked} by {}", in_words(tunable)), columns);
    let found = found(file, tunable);
    for setting in settings(file, "C2") {
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
    (!table.rows.is_empty()).then(|| Section::of("slack", title, &["C2"], table).note_if(note))
}

pub fn coalescing(file: &ResultFile) -> Option<Section> {
    let tunable = tunable(file, "C6")?;
    let mut table = Table::new(
        format!("Interrupts and wake-ups per second of many sleeping threads, by {}", in_words(tunable)),
        vec![figures(format!("{tunable} held"), 0), figures("timer interrupts", 0), figures("wake-ups", 0)],
    );
    for setting in settings(file, "C6") {
        let counted = |what: &str| {
            measured(file, "C6")
                .find(|series| held(series, tunable) == Some(setting) && series.label("counted") == Some(what))
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
