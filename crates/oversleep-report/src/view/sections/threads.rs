//! Threads: fork–join (D1, D2), generations per second (D3), hand-offs (D4).

use std::collections::BTreeSet;

use oversleep_record::label::{JoinStyle, Way};
use oversleep_record::{ExperimentId, Nanos, ResultFile, label};

use super::clocks::extreme;
use crate::view::select::{measured, subjects};
use crate::view::table::{Cell, Section, Table, figures, words};
use crate::view::words::{UNKNOWN, grouped, median_of, or_dash, quantile};

pub(crate) fn fork_join(file: &ResultFile) -> Option<Section> {
    let mut table = Table::new(
        "Duration of one fork–join by the way the main thread waits, timed by two clocks",
        vec![
            words("main thread", 0),
            words("timed by", 0),
            figures("least", 1),
            figures("median", 0),
            figures("most", 0),
            figures("times", 2),
        ],
    );
    let mut experiments = Vec::new();
    for id in [ExperimentId::D1, ExperimentId::D2] {
        for series in measured(file, id) {
            if !experiments.contains(&id) {
                experiments.push(id);
            }
            let style = match (id, series.label(label::STYLE)) {
                (ExperimentId::D2, _) => "alone, one thread".to_owned(),
                (_, Some(JoinStyle::Polling)) => "polling every 1 ms".to_owned(),
                (_, style) => style.map_or_else(|| series.subject.clone(), |style| style.to_string()),
            };
            table.row(vec![
                style.into(),
                series.clock.as_str().into(),
                extreme(series, series.distribution.min()),
                median_of(series).into(),
                extreme(series, series.distribution.max()),
                grouped(series.counts.recorded).into(),
            ]);
        }
    }
    let first = measured(file, ExperimentId::D1).next();
    let work = first.and_then(|series| series.label(label::WORK));
    let note =
        first.and_then(|series| Some(format!("{} threads share {} of work.", series.label(label::THREADS)?, work?)));
    (!table.rows.is_empty()).then(|| Section::of("fork-join", "Fork–join", &experiments, table).note_if(note))
}

pub(crate) fn generations(file: &ResultFile) -> Option<Section> {
    let tasks: BTreeSet<Nanos> =
        measured(file, ExperimentId::D3).filter_map(|series| series.label(label::TASK)).collect();
    let mut columns = vec![words("main thread", 0)];
    columns.extend(tasks.iter().map(|task| figures(format!("tasks of {task}"), 0)));
    let mut table = Table::new("Generations per second by task size and by the way the main thread waits", columns);
    for style in subjects(measured(file, ExperimentId::D3)) {
        let mut row = vec![Cell::from(if style == "polling" { "polling every 1 ms" } else { style })];
        for &task in &tasks {
            let series = measured(file, ExperimentId::D3)
                .find(|series| series.subject == style && series.label(label::TASK) == Some(task));
            let rate = series.and_then(|series| series.distribution.p50()).map(grouped);
            row.push(or_dash(rate).into());
        }
        table.row(row);
    }
    let tasks = measured(file, ExperimentId::D3).find_map(|series| series.label(label::TASKS));
    let note = tasks.map(|tasks| format!("A generation is a fork–join of {tasks} tasks, one per worker."));
    (!table.rows.is_empty())
        .then(|| Section::of("generations", "Generations per second", &[ExperimentId::D3], table).note_if(note))
}

pub(crate) fn handoffs(file: &ResultFile) -> Option<Section> {
    let mut table = Table::new(
        "From the signal until the woken thread runs; there and back for ping-pong",
        vec![
            words("hand-off", 0),
            figures("one way p50", 0),
            figures("p90", 1),
            figures("p99", 2),
            figures("max", 2),
            figures("ping-pong p50", 0),
            figures("p99", 3),
        ],
    );
    let of = |name: &str, way| {
        measured(file, ExperimentId::D4).find(|series| series.subject == name && series.label(label::WAY) == Some(way))
    };
    let mut names = subjects(measured(file, ExperimentId::D4));
    names.sort_by_key(|name| {
        let lateness = of(name, Way::OneWay).and_then(|series| series.distribution.p50());
        (lateness.is_none(), lateness)
    });
    for name in names {
        let q = |way, share| {
            Cell::from(or_dash(of(name, way).and_then(|series| quantile(series.unit, &series.distribution, share))))
        };
        let p50 = |way| Cell::from(of(name, way).map_or_else(|| UNKNOWN.to_owned(), median_of));
        table.row(vec![
            name.into(),
            p50(Way::OneWay),
            q(Way::OneWay, 0.9),
            q(Way::OneWay, 0.99),
            of(name, Way::OneWay).map_or_else(|| UNKNOWN.into(), |series| extreme(series, series.distribution.max())),
            p50(Way::PingPong),
            q(Way::PingPong, 0.99),
        ]);
    }
    (!table.rows.is_empty())
        .then(|| Section::of("hand-offs", "Waking another thread", &[ExperimentId::D4], table.without_empty_columns()))
}
