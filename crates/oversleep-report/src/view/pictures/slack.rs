//! The median lateness of waits by the setting the measuring thread holds (C2).

use oversleep_record::conditions::Setting;
use oversleep_record::{ExperimentId, ResultFile};

use super::{Drawing, Entry, us};
use crate::picture::HeatMap;
use crate::view::sections::slack;
use crate::view::select::{distinct, measured};

pub const ENTRY: Entry =
    Entry { name: "slack", experiment: Some(ExperimentId::C2), draw: |file| drawing(file).into_iter().collect() };

fn drawing(file: &ResultFile) -> Option<Drawing<'_>> {
    let tunable = slack::in_words(slack::tunable(file, ExperimentId::C2)?);
    let settings = slack::settings(file, ExperimentId::C2);
    let waits = distinct(measured(file, ExperimentId::C2).map(|series| series.subject.as_str()));
    let row = |wait: &str| {
        let lateness = |setting: &&Setting| slack::at(file, wait, setting)?.distribution.p50().map(us);
        (wait.to_owned(), settings.iter().map(lateness).collect())
    };
    let rows: Vec<(String, Vec<Option<f64>>)> = waits.into_iter().map(row).collect();
    let exact = |setting: &&Setting| match setting {
        Setting::Nanos(span) => format!("{span:#}"),
        other => other.to_string(),
    };
    let columns: Vec<String> = settings.iter().map(exact).collect();
    let has_values = rows.iter().any(|(_, values)| values.iter().any(Option::is_some));
    let note = format!("Columns: the {tunable} that the measuring thread holds. Waits that ignore it are unaffected.");
    (columns.len() > 1 && has_values).then(|| {
        let svg = move |frame| HeatMap { frame, columns, rows, ..HeatMap::default() };
        Drawing::new(format!("Median lateness by {tunable}"), note, svg)
    })
}
