//! Generations per second (D3), by the way the main thread waits and by task size.

use std::collections::BTreeSet;

use oversleep_record::{Nanos, ResultFile};

use super::Entry;
use crate::view::select::{distinct, label_ns, measured};
use crate::view::table::{Columns, Section};
use crate::words::grouped;

pub const ENTRY: Entry = Entry { id: "generations", title: "Generations per second", experiments: &["D3"], build };

fn build(file: &ResultFile, section: Section) -> Section {
    let tasks: BTreeSet<Nanos> = measured(file, "D3").filter_map(|series| label_ns(series, "task_ns")).collect();
    let mut columns = Columns::new().words("main thread", |style: &&str| *style);
    for task in tasks {
        columns = columns.figure(format!("tasks of {task}"), move |style| {
            let mut series = measured(file, "D3");
            let rate = series.find(|series| series.subject == *style && label_ns(series, "task_ns") == Some(task))?;
            rate.distribution.p50().map(grouped)
        });
    }
    let styles = distinct(measured(file, "D3").map(|series| series.subject.as_str()));
    let tasks = measured(file, "D3").find_map(|series| series.label("tasks"));
    section
        .tables(columns.table("Median by task size and by the way the main thread waits", styles))
        .notes(tasks.map(|tasks| format!("A generation is a fork–join of {tasks} tasks, one for each worker.")))
}
