//! What `resolution watch` saw, over time (C7).

use oversleep_record::series::{Quantity, Series};
use oversleep_record::{ExperimentId, Nanos, ResultFile};

use super::{Drawing, Entry, us};
use crate::picture::{Timeline, TimelineLine, TimelineVisit};
use crate::view::sections::watch::name;
use crate::view::select::measured;

pub const ENTRY: Entry =
    Entry { name: "watch", experiment: Some(ExperimentId::C7), draw: |file| drawing(file).into_iter().collect() };

fn drawing(file: &ResultFile) -> Option<Drawing<'_>> {
    let lines: Vec<TimelineLine> = measured(file, ExperimentId::C7).map(line).collect();
    if lines.is_empty() {
        return None;
    }
    let (visits, duration_s) = (visits(file), seconds(file.duration_ns));
    Some(Drawing::new("What changed while the machine was used", "", move |frame| Timeline {
        frame,
        duration_s,
        lines,
        visits,
    }))
}

fn seconds(span: Nanos) -> f64 {
    span.as_millis_f64() / 1_000.0
}

/// Lateness is shown as the duration of the sleep.
fn line(series: &Series) -> TimelineLine {
    let base = match series.quantity {
        Quantity::Lateness => series.requested_ns.unwrap_or(Nanos::ZERO).0,
        _ => 0,
    };
    let samples = series.samples.start_ns.iter().zip(series.samples.value.iter());
    let points = samples.map(|(at, value)| (seconds(Nanos(at)), us(value.saturating_add(base)))).collect();
    TimelineLine { label: name(series), points }
}

/// What neighbours requested, from when they did until they requested something else or left, or to the end.
fn visits(file: &ResultFile) -> Vec<TimelineVisit> {
    const VISITS_MAX: usize = 12;
    let is_request = |change: &&oversleep_record::change::Change| {
        change.what.starts_with("neighbour ") && change.after.starts_with("requests ")
    };
    let comes = file.changes.iter().filter(is_request);
    let visit = |change: &oversleep_record::change::Change| {
        let mut leaves = file.changes.iter().filter(|later| later.what == change.what && later.at_ns > change.at_ns);
        let until = leaves.find(|later| later.before.is_some()).map_or(file.duration_ns, |later| later.at_ns);
        TimelineVisit {
            label: format!("{} {}", change.what, change.after),
            from_s: seconds(change.at_ns),
            until_s: seconds(until),
        }
    };
    comes.take(VISITS_MAX).map(visit).collect()
}
