//! Waits that spin (B12): their precision, and the CPU time that they use for it.

use oversleep_record::{ExperimentId, Nanos, ResultFile, Series};

use super::Entry;
use crate::view::select::measured;
use crate::view::table::{Columns, Section, ToCell, Tone};
use crate::words::percent;

pub const ENTRY: Entry = Entry { id: "spinning", title: "Waits that spin", experiments: &[ExperimentId::B12], build };

/// Share of a CPU from which the cost of spinning is marked.
const CPU_SHARE_MARKED: f64 = 0.5;

fn build(file: &ResultFile, section: Section) -> Section {
    let columns = Columns::new()
        .subject("wait")
        .requested()
        .values()
        .figure("CPU per wait", |series: &&Series| {
            let waits = i64::try_from(series.counts.recorded).unwrap_or(i64::MAX).max(1);
            Some(Nanos(series.disturbance().own_cpu_ns?.0 / waits))
        })
        .rank(2)
        .figure("CPU", |series| {
            let disturbance = series.disturbance();
            let share = disturbance.share(disturbance.own_cpu_ns)?;
            Some(percent(share).toned(if share > CPU_SHARE_MARKED { Tone::Warn } else { Tone::Plain }))
        });
    section
        .tables(columns.table("Lateness, and the CPU time of the thread that waits", measured(file, ExperimentId::B12)))
}
