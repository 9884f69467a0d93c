//! Sleeps looked at from other sides: a sweep of requests (B2), usleep and the phase (B4, B6), spinning (B12), yields (B7).

use oversleep_record::label::{Competition, Phase};
use oversleep_record::{ExperimentId, Nanos, ResultFile, Series, label};

use super::clocks::extreme;
use super::waits::at;
use crate::view::select::{measured, subjects};
use crate::view::table::{Cell, Column, Kind, Section, Table, Tone, figures, words};
use crate::view::words::{UNKNOWN, grouped, median_of, or_dash, percent, quantile};

pub fn sweep(file: &ResultFile) -> Option<Section> {
    let mut tables = Vec::new();
    for wait in subjects(measured(file, ExperimentId::B2)) {
        let mut table = Table::new(
            format!("What {wait} took for each request"),
            vec![
                figures("asked", 0),
                figures("least", 2),
                figures("median", 0),
                figures("most", 0),
                figures("over by", 1),
                figures("sleeps", 3),
                Column { head: "took".to_owned(), kind: Kind::Bar, rank: 2 },
            ],
        );
        let longest = measured(file, ExperimentId::B2)
            .filter(|series| series.subject == wait)
            .filter_map(|series| series.distribution.p50())
            .max()
            .unwrap_or(0);
        for series in measured(file, ExperimentId::B2).filter(|series| series.subject == wait) {
            let over = series.requested_ns.zip(series.distribution.p50()).map(|(asked, took)| Nanos(took) - asked);
            table.row(vec![
                or_dash(series.requested_ns).into(),
                extreme(series, series.distribution.min()),
                at(series, 0.5).into(),
                extreme(series, series.distribution.max()),
                or_dash(over).into(),
                grouped(series.counts.recorded).into(),
                bar(series.distribution.p50(), longest).into(),
            ]);
        }
        tables.push(table);
    }
    (!tables.is_empty()).then(|| Section {
        id: "sweep",
        title: "Sweep of requests",
        experiments: vec![ExperimentId::B2],
        tables,
        ..Section::default()
    })
}

/// A bar to the scale of the longest: a line or a tube, as characters.
fn bar(took: Option<i64>, longest: i64) -> String {
    const LENGTH: f64 = 30.0;
    let share = took.unwrap_or(0).max(0) as f64 / longest.max(1) as f64;
    "█".repeat((share.min(1.0) * LENGTH).round() as usize)
}

pub fn usleep_and_phase(file: &ResultFile) -> Option<Section> {
    let mut table = Table::new(
        "Lateness of plain sleeps, call after call and at random phase",
        vec![
            words("sleep", 0),
            figures("asked", 0),
            words("how", 0),
            figures("p50", 0),
            figures("p90", 1),
            figures("p99", 2),
            figures("max", 0),
            figures("waits", 3),
        ],
    );
    let mut experiments = Vec::new();
    for id in [ExperimentId::B4, ExperimentId::B6] {
        for series in measured(file, id) {
            if !experiments.contains(&id) {
                experiments.push(id);
            }
            let how = match (series.label(label::PHASE), series.label(label::CPU_KIND)) {
                (Some(Phase::Random), _) => "random phase".to_owned(),
                (Some(Phase::BackToBack), _) => "back to back".to_owned(),
                (None, Some(kind)) => format!("on a CPU of kind {kind}"),
                (None, None) => or_dash(series.pace),
            };
            table.row(vec![
                series.subject.as_str().into(),
                or_dash(series.requested_ns).into(),
                how.into(),
                median_of(series).into(),
                or_dash(quantile(series.unit, &series.distribution, 0.9)).into(),
                or_dash(quantile(series.unit, &series.distribution, 0.99)).into(),
                extreme(series, series.distribution.max()),
                grouped(series.counts.recorded).into(),
            ]);
        }
    }
    (!table.rows.is_empty())
        .then(|| Section::of("phase", "Plain sleeps and their phase", &experiments, table.without_empty_columns()))
}

/// CPU time of the measuring thread over the time waited for: 1.0 is a whole CPU.
pub fn cpu_share(series: &Series) -> Option<f64> {
    let disturbance = series.disturbance();
    disturbance.share(disturbance.own_cpu_ns)
}

pub fn spinning(file: &ResultFile) -> Option<Section> {
    let mut table = Table::new(
        "How exact waits that spin are, and the CPU time they burn for it",
        vec![
            words("wait", 0),
            figures("asked", 1),
            figures("p50", 0),
            figures("p90", 1),
            figures("max", 0),
            figures("CPU per wait", 2),
            figures("CPU", 0),
            figures("waits", 3),
        ],
    );
    for series in measured(file, ExperimentId::B12) {
        let own = series.disturbance().own_cpu_ns;
        let waits = i64::try_from(series.counts.recorded).unwrap_or(i64::MAX).max(1);
        let share = cpu_share(series);
        let tone = if share.is_some_and(|share| share > 0.5) { Tone::Warn } else { Tone::Plain };
        table.row(vec![
            series.subject.as_str().into(),
            or_dash(series.requested_ns).into(),
            median_of(series).into(),
            or_dash(quantile(series.unit, &series.distribution, 0.9)).into(),
            extreme(series, series.distribution.max()),
            or_dash(own.map(|own| Nanos(own.0 / waits))).into(),
            Cell::from(or_dash(share.map(percent))).toned(tone),
            grouped(series.counts.recorded).into(),
        ]);
    }
    (!table.rows.is_empty())
        .then(|| Section::of("spinning", "Waits that spin", &[ExperimentId::B12], table.without_empty_columns()))
}

pub fn yields(file: &ResultFile) -> Option<Section> {
    let mut table = Table::new(
        "What giving the CPU away costs",
        vec![
            words("yield", 0),
            words("competition", 0),
            figures("p50", 0),
            figures("p90", 1),
            figures("p99", 1),
            figures("max", 0),
            figures("calls", 3),
        ],
    );
    for series in measured(file, ExperimentId::B7) {
        let competition = match (series.label(label::COMPETITION), crate::view::select::load(series)) {
            (Some(Competition::Idle), _) => "none".to_owned(),
            (_, Some(load)) => load,
            (Some(other), None) => other.to_string(),
            (None, None) => UNKNOWN.to_owned(),
        };
        table.row(vec![
            series.subject.as_str().into(),
            competition.into(),
            median_of(series).into(),
            or_dash(quantile(series.unit, &series.distribution, 0.9)).into(),
            or_dash(quantile(series.unit, &series.distribution, 0.99)).into(),
            extreme(series, series.distribution.max()),
            grouped(series.counts.recorded).into(),
        ]);
    }
    (!table.rows.is_empty())
        .then(|| Section::of("yield", "Yielding", &[ExperimentId::B7], table.without_empty_columns()))
}
