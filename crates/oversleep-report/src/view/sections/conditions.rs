//! The same waits under other policies (B8) and under load (B9).

use oversleep_record::conditions::{Outcome, Setting};
use oversleep_record::{ExperimentId, FactName, Nanos, ResultFile, Series};

use super::clocks::extreme;
use crate::view::select::{self, measured};
use crate::view::table::{Cell, Section, Table, Tone, figures, words};
use crate::view::words::{UNKNOWN, grouped, median_of, or_dash, quantile};

pub fn policies(file: &ResultFile) -> Option<Section> {
    let mut table = Table::new(
        "Lateness under each scheduling policy",
        vec![
            words("policy", 0),
            words("wait", 0),
            figures("asked", 1),
            figures("p50", 0),
            figures("p90", 1),
            figures("max", 0),
            figures("waits", 3),
            words("granted?", 0),
        ],
    );
    for series in file.experiment(ExperimentId::B8) {
        let asked = select::setting(series, "policy");
        let granted = match series.conditions.outcomes.get("policy") {
            Some(Outcome::Denied { why }) => Cell::from(format!("no: {why}")).toned(Tone::Warn),
            Some(_) => "yes".into(),
            None => UNKNOWN.into(),
        };
        // Figures under a policy that was refused are figures of another policy.
        let holds = series.conditions.outcomes.get("policy").is_some_and(Outcome::holds);
        let shown = |text: String| Cell::from(if holds { text } else { UNKNOWN.to_owned() });
        table.row(vec![
            or_dash(asked.map(name_of)).into(),
            series.subject.as_str().into(),
            or_dash(series.requested_ns).into(),
            shown(median_of(series)),
            shown(or_dash(quantile(series.unit, &series.distribution, 0.9))),
            shown(extreme(series, series.distribution.max()).text),
            shown(grouped(series.counts.recorded)),
            granted,
        ]);
    }
    (!table.rows.is_empty())
        .then(|| Section::of("policies", "Scheduling policies", &[ExperimentId::B8], table.without_empty_columns()))
}

/// `other, nice 5`, `fifo, priority 1`.
fn name_of(setting: &Setting) -> String {
    match setting {
        Setting::Policy { policy, priority: 0 } => policy.clone(),
        Setting::Policy { policy, priority } if ["fifo", "rr"].contains(&policy.as_str()) => {
            format!("{policy}, priority {priority}")
        }
        Setting::Policy { policy, priority } => format!("{policy}, nice {priority}"),
        other => other.to_string(),
    }
}

pub fn load(file: &ResultFile) -> Option<Section> {
    let mut table = Table::new(
        "Lateness beside busy threads, and without them",
        vec![
            words("wait", 0),
            figures("asked", 2),
            words("load", 0),
            figures("p50", 0),
            figures("p90", 2),
            figures("max", 0),
            figures("p50 idle", 1),
            figures("waits", 3),
        ],
    );
    for series in measured(file, ExperimentId::B9) {
        table.row(vec![
            series.subject.as_str().into(),
            or_dash(series.requested_ns).into(),
            or_dash(select::load(series)).into(),
            median_of(series).into(),
            or_dash(quantile(series.unit, &series.distribution, 0.9)).into(),
            extreme(series, series.distribution.max()),
            idle_twin(file, series).map_or_else(|| UNKNOWN.to_owned(), median_of).into(),
            grouped(series.counts.recorded).into(),
        ]);
    }
    let cpus = file.environment.integer(FactName::CpuAllowed).or(file.environment.integer(FactName::CpuCount));
    let note = cpus.map(|cpus| format!("{cpus} CPUs may be used; load is given as kind and number of busy threads."));
    (!table.rows.is_empty())
        .then(|| Section::of("load", "Under load", &[ExperimentId::B9], table.without_empty_columns()).note_if(note))
}

/// The same wait and request measured as found.
fn idle_twin<'a>(file: &'a ResultFile, series: &Series) -> Option<&'a Series> {
    let same = |other: &&Series| {
        other.subject == series.subject
            && other.requested_ns.unwrap_or(Nanos::ZERO) == series.requested_ns.unwrap_or(Nanos::ZERO)
            && other.conditions.requested == series.conditions.requested
            && other.conditions.load.is_empty()
    };
    file.series
        .iter()
        .filter(|other| [ExperimentId::B5, ExperimentId::B12].contains(&other.experiment) && other.has_values())
        .find(same)
}
