//! The same waits under load (B9), beside the figure without it.

use oversleep_record::{ExperimentId, FactName, ResultFile, Series};

use super::Entry;
use crate::view::select::{self, measured};
use crate::view::table::{Columns, Section};
use crate::words::{counted, median};

pub const ENTRY: Entry = Entry { id: "load", title: "Under load", experiments: &[ExperimentId::B9], build };

fn build(file: &ResultFile, section: Section) -> Section {
    let columns = Columns::new()
        .subject("wait")
        .requested()
        .words("load", |series: &&Series| select::load(series))
        .values()
        .figure("p50 idle", |series| {
            let idle = idle_twin(file, series)?;
            median(idle.unit, &idle.distribution)
        })
        .rank(1);
    let section =
        section.tables(columns.table("Lateness with and without busy threads", measured(file, ExperimentId::B9)));
    let cpus = file.environment.integer(FactName::CpuAllowed).or(file.environment.integer(FactName::CpuCount));
    let note = |cpus| format!("Load is given as kind:threads; this process may use {}.", counted(cpus, "CPU"));
    let has_rows = !section.tables.is_empty();
    section.notes(cpus.filter(|_| has_rows).map(note))
}

/// The same wait and request without the load.
fn idle_twin<'a>(file: &'a ResultFile, series: &Series) -> Option<&'a Series> {
    [ExperimentId::B5, ExperimentId::B12].into_iter().flat_map(|id| measured(file, id)).find(|other| {
        other.subject == series.subject
            && other.requested_ns == series.requested_ns
            && other.conditions.requested == series.conditions.requested
            && other.conditions.load.is_empty()
    })
}
