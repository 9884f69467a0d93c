//! Generations per second (D3), by how the main thread waits and by task size.

use std::collections::BTreeSet;

use oversleep_record::{ExperimentId, Nanos, ResultFile, label};

use super::Entry;
use crate::view::select::{distinct, measured};
use crate::view::table::{Columns, Section};
use crate::words::grouped;

pub const ENTRY: Entry =
    Entry { id: "generations", title: "Generations per second", experiments: &[ExperimentId::D3], build };

fn build(file: &ResultFile, section: Section) -> Section {
    let tasks: BTreeSet<Nanos> =
        measured(file, ExperimentId::D3).filter_map(|series| series.label(label::TASK)).collect();
    let mut columns = Columns::new().words("main thread", |style: &&str| *style);
    for task in tasks {
        columns = columns.figure(format!("tasks of {task}"), move |style| {
            let mut series = measured(file, ExperimentId::D3);
            let rate = series.find(|series| series.subject == *style && series.label(label::TASK) == Some(task))?;
            rate.distribution.p50().map(grouped)
        });
    }
    let styles = distinct(measured(file, ExperimentId::D3).map(|series| series.subject.as_str()));
    let tasks = measured(file, ExperimentId::D3).find_map(|series| series.label(label::TASKS));
    section
        .tables(columns.table("Median by task size and by how the main thread waits", styles))
        .notes(tasks.map(|tasks| format!("A generation is a fork-join of {tasks} tasks, one for each worker.")))
}
