//! The sweep of requests (B2): the duration of a sleep for each request.

use oversleep_record::label::{self, ClockRole};
use oversleep_record::{ExperimentId, Nanos, ResultFile, Series};

use super::Entry;
use crate::view::select::{distinct, measured};
use crate::view::table::{Columns, Section};

/// The section.
pub const ENTRY: Entry = Entry { id: "sweep", title: "Sweep of requests", experiments: &[ExperimentId::B2], build };

fn build(file: &ResultFile, section: Section) -> Section {
    let waits = distinct(measured(file, ExperimentId::B2).map(|series| series.subject.as_str()));
    section.tables(waits.into_iter().filter_map(|wait| {
        let of_wait = || by_precise_clock(file).filter(move |series| series.subject == wait);
        let coarse = |series: &Series| by_coarse_clock(file).find(|other| is_same_sleep(other, series));
        let clock = of_wait().find_map(coarse).map(|series| series.clock.as_str()).unwrap_or_default();
        let longest = of_wait().filter_map(|series| series.distribution.p50()).max().unwrap_or(0);
        Columns::new()
            .figure("requested", |series: &&Series| series.requested_ns)
            .min_and_median()
            .max()
            .rank(3)
            .count()
            .figure("lateness", |series| Some(Nanos(series.distribution.p50()?) - series.requested_ns?))
            .rank(1)
            .words(format!("by {clock}"), move |series| {
                let distribution = &coarse(series)?.distribution;
                let (least, most) = (Nanos(distribution.min()?), Nanos(distribution.max()?));
                Some(if least == most { least.to_string() } else { format!("{least} to {most}") })
            })
            .bar("p50", move |series| bar(series.distribution.p50(), longest))
            .rank(2)
            .table(format!("Duration of {wait} for each request; lateness at the median"), of_wait())
    }))
}

/// The sleeps as timed by the precise clock.
pub fn by_precise_clock(file: &ResultFile) -> impl Iterator<Item = &Series> {
    measured(file, ExperimentId::B2).filter(|series| series.label(label::CLOCK_ROLE) != Some(ClockRole::Coarse))
}

/// The same sleeps as timed by the coarse clock.
pub fn by_coarse_clock(file: &ResultFile) -> impl Iterator<Item = &Series> {
    measured(file, ExperimentId::B2).filter(|series| series.label(label::CLOCK_ROLE) == Some(ClockRole::Coarse))
}

fn is_same_sleep(one: &Series, other: &Series) -> bool {
    (&one.subject, one.requested_ns) == (&other.subject, other.requested_ns)
}

/// A bar to the scale of the longest: the bars of a sweep form a line, or flat steps where a coarse tick ends the
/// waits.
fn bar(duration: Option<i64>, longest: i64) -> String {
    const LENGTH: f64 = 20.0;
    let share = duration.unwrap_or(0).max(0) as f64 / longest.max(1) as f64;
    "█".repeat((share.min(1.0) * LENGTH).round() as usize)
}
