//! The investigation of GetTickCount64 in Free Pascal (R4): what two clocks show of the same sleeps and fork-joins.

use oversleep_record::label::{self, ClockRole};
use oversleep_record::{ExperimentId, Nanos, ResultFile, Series};

use super::Entry;
use crate::view::select::measured;
use crate::view::table::{Columns, Section};

/// The section.
pub const ENTRY: Entry =
    Entry { id: "tick-count", title: "GetTickCount64 in Free Pascal", experiments: &[ExperimentId::R4], build };

/// The series as one of the two clocks shows them.
pub fn by(file: &ResultFile, role: ClockRole) -> impl Iterator<Item = &Series> {
    measured(file, ExperimentId::R4).filter(move |series| series.label(label::CLOCK_ROLE) == Some(role))
}

/// Whether it is work, which has threads; a sleep has none.
pub fn is_work(series: &Series) -> bool {
    series.label(label::THREADS).is_some()
}

/// Whether two series are of the same calls, shown by two clocks.
pub fn is_same(one: &Series, other: &Series) -> bool {
    (&one.subject, one.requested_ns, &one.runtime) == (&other.subject, other.requested_ns, &other.runtime)
}

fn build(file: &ResultFile, section: Section) -> Section {
    let coarse = |series: &Series| by(file, ClockRole::Coarse).find(|other| is_same(other, series));
    let clock = by(file, ClockRole::Coarse).next().map(|series| series.clock.as_str()).unwrap_or_default();
    let columns = || {
        Columns::new()
            .words("call", |series: &&Series| series.subject.as_str())
            .figure("requested", |series| series.requested_ns)
            .min_and_median()
            .max()
            .count()
            .figure(format!("p50 by {clock}"), move |series| coarse(series)?.distribution.p50().map(Nanos))
            .words(format!("by {clock}"), move |series| {
                let distribution = &coarse(series)?.distribution;
                let (least, most) = (Nanos(distribution.min()?), Nanos(distribution.max()?));
                Some(if least == most { least.to_string() } else { format!("{least} to {most}") })
            })
            .rank(1)
    };
    let (work, sleeps): (Vec<&Series>, Vec<&Series>) = by(file, ClockRole::Precise).partition(|series| is_work(series));
    section
        .tables(
            columns()
                .table("Fork-join, and the work of one thread alone; the mean work of a thread is requested", work),
        )
        .tables(columns().table("Duration of a sleep for each request", sleeps))
}
