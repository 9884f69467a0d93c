//! Waits while the measuring thread holds a timer slack or a timer resolution (C2).

use std::collections::BTreeSet;

use oversleep_record::conditions::Setting;
use oversleep_record::label::InterruptKind;
use oversleep_record::{ExperimentId, FactName, ResultFile, Series, label};
use oversleep_system::tunables::names;

use super::Entry;
use crate::view::select::{distinct, measured};
use crate::view::table::{Columns, Section, ToCell, Tone};
use crate::words::{capitalised, median_of};

/// The section.
pub const ENTRY: Entry = Entry { id: "slack", title: "Timer settings", experiments: &[ExperimentId::C2], build };

fn build(file: &ResultFile, mut section: Section) -> Section {
    let Some(tunable) = tunable(file, ExperimentId::C2) else { return section };
    section.title = capitalised(in_words(tunable));
    let as_found =
        file.environment.nanos(if tunable == names::SLACK { FactName::TimerSlack } else { FactName::TimerPeriodNow });
    let mut columns = Columns::new().figure(format!("{tunable} held"), |setting: &&Setting| {
        let is_as_found = as_found.map(Setting::Nanos).as_ref() == Some(*setting);
        setting.to_string().toned(if is_as_found { Tone::Strong } else { Tone::Plain })
    });
    let waits = distinct(measured(file, ExperimentId::C2).map(|series| series.subject.as_str()));
    for (index, wait) in waits.into_iter().enumerate() {
        let cell = move |setting: &&Setting| at(file, wait, setting).map(median_of);
        columns = columns.figure(wait, cell).rank(u8::try_from(index).unwrap_or(u8::MAX));
    }
    let request = measured(file, ExperimentId::C2).find_map(|series| series.requested_ns);
    let at_request = request.map(|request| format!(" at {request}")).unwrap_or_default();
    let caption = format!("Median lateness{at_request} by {}", in_words(tunable));
    let note = |found| {
        format!("The {} was {found} before the measurement. Waits that ignore it are unaffected.", in_words(tunable))
    };
    section.tables(columns.table(caption, settings(file, ExperimentId::C2))).notes(as_found.map(note))
}

/// The tunable of an experiment, as its keys name it.
pub fn tunable<'a>(file: &'a ResultFile, experiment: ExperimentId) -> Option<&'a str> {
    let of_series = |series: &'a Series| {
        let mut requested = series.conditions.requested.keys();
        requested.find(|name| series.key.names_tunable(name)).map(String::as_str)
    };
    file.experiment(experiment).find_map(of_series)
}

/// The name of a tunable in a sentence.
pub fn in_words(tunable: &str) -> &str {
    match tunable {
        names::SLACK => "timer slack",
        names::RESOLUTION => "timer resolution",
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

/// The series of a wait at a setting, if the setting was in effect.
pub fn at<'a>(file: &'a ResultFile, wait: &str, setting: &Setting) -> Option<&'a Series> {
    let tunable = tunable(file, ExperimentId::C2)?;
    measured(file, ExperimentId::C2)
        .find(|series| series.subject == wait && held(series, tunable) == Some(setting))
        .filter(|series| series.conditions.all_held())
}

/// The kind of these series' interrupts, as the head of their column.
pub fn interrupts_counted<'a>(mut series: impl Iterator<Item = &'a Series>) -> &'static str {
    if series.any(|series| series.label(label::INTERRUPT_KIND) == Some(InterruptKind::AllKinds)) {
        "interrupts of all kinds"
    } else {
        "timer interrupts"
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::testing::Sheet;

    use super::*;

    #[test]
    fn the_setting_as_found_stands_out() {
        let sheet = Sheet::linux().span(FactName::TimerSlack, 50_000).steady("C2/nanosleep/1ms/slack=1ns", 16_000);
        let file = sheet.steady("C2/nanosleep/1ms/slack=50us", 66_000).file;
        let section = build(&file, Section::new("slack", "Slack"));
        let rows = section.tables[0].rows.iter().map(|row| (row[0].text.as_str(), row[0].tone)).collect::<Vec<_>>();
        assert_eq!(rows, [("1 ns", Tone::Plain), ("50 µs", Tone::Strong)]);
    }
}
