//! Idle strategies (E1): throughput flat out, latency at each rate, and the cost of waiting for both.

use oversleep_explain::idle::{Strategy, rates, strategies};
use oversleep_record::{ExperimentId, Idling, Nanos, ResultFile, Series, queue_labels};

use super::Entry;
use crate::view::select::measured;
use crate::view::table::{Columns, Section, ToCell, Tone};
use crate::words::{counted, grouped, percent};

pub const ENTRY: Entry = Entry {
    id: "idle-strategies",
    title: "Idle strategies: while a queue is empty",
    experiments: &[ExperimentId::E1],
    build,
};

/// CPUs from which the cost of waiting is marked.
const CORES_MARKED: f64 = 0.5;

fn build(file: &ResultFile, section: Section) -> Section {
    let all = strategies(file);
    let flat_out = Columns::new()
        .subject("strategy")
        .figure("items/s", |series: &&Series| series.distribution.p50().map(grouped))
        .figure("min", |series| series.distribution.min().map(grouped))
        .rank(4)
        .figure("max", |series| series.distribution.max().map(grouped))
        .rank(4);
    let rows = all.iter().filter_map(|strategy| strategy.flat_out);
    let caption = "Flat out: items per second, median of the rounds, and what source and worker spent";
    let mut tables: Vec<_> = cost(flat_out).table(caption, rows).into_iter().collect();
    for rate in rates(&all) {
        let columns = Columns::new().subject("strategy").min_and_median().percentile("p99", 0.99).max();
        let columns =
            columns.rank(3).figure("missed", |series: &&Series| Some(series.counts.missed).filter(|&n| n > 0));
        let rows = all.iter().filter_map(|strategy: &Strategy| strategy.at(rate));
        let caption = format!("{}/s: from when an item was due until its worker had it", counted(rate, "item"));
        tables.extend(cost(columns).table(caption, rows));
    }
    tables.iter_mut().for_each(|table| table.needs_all = true);
    section.tables(tables).notes(pipeline(file).into_iter().chain(strategies_in_words(file)))
}

/// What waiting costs, beside the rate or the latency.
pub fn cost<'a>(columns: Columns<'a, &'a Series>) -> Columns<'a, &'a Series> {
    fn idling<'a>(series: &&'a Series) -> Option<&'a Idling> {
        series.idling.as_ref()
    }
    columns
        .figure("CPU", |series| {
            let cores = idling(series)?.cores()?;
            Some(percent(cores).toned(if cores > CORES_MARKED { Tone::Warn } else { Tone::Plain }))
        })
        .figure("CPU per item", |series| idling(series)?.cpu_per_item())
        .rank(2)
        .figure("parks/s", |series| idling(series)?.parks_per_second().map(|rate| grouped(rate.round() as i64)))
        .rank(1)
        .figure("park overshoot p50", |series| idling(series)?.park_overshoot.p50().map(Nanos))
        .rank(2)
        .figure("park overshoot p99", |series| idling(series)?.park_overshoot.safe_quantile(0.99).map(Nanos))
        .rank(4)
}

/// The pipeline that every row has in common.
pub fn pipeline(file: &ResultFile) -> Option<String> {
    let series = measured(file, ExperimentId::E1).next()?;
    let (queue, workers) = (series.label(queue_labels::QUEUE)?, series.label(queue_labels::WORKERS)?);
    let item = series.label(queue_labels::ITEM)?;
    let queues = if workers > 1 { "each queue holds" } else { "the queue holds" };
    Some(format!(
        "{} with {item} of work for an item; {queues} {}, {} of work. CPU is what the workers took of one CPU, and flat out \
         the source too.",
        counted(workers, "worker"),
        counted(queue, "item"),
        item * i64::try_from(queue).unwrap_or(i64::MAX)
    ))
}

/// What the back-off strategies do.
fn strategies_in_words(file: &ResultFile) -> Option<String> {
    let mut seen: Vec<&str> = Vec::new();
    let mut parts = Vec::new();
    let mut park = None;
    for series in measured(file, ExperimentId::E1) {
        let Some((from, to)) = series.label(queue_labels::PARK_FROM).zip(series.label(queue_labels::PARK_TO)) else {
            continue;
        };
        if seen.contains(&series.subject.as_str()) {
            continue;
        }
        seen.push(&series.subject);
        park = park.or_else(|| series.label(queue_labels::PARK));
        let turns = |count: Option<u64>, noun: &str| count.filter(|&count| count > 0).map(|count| counted(count, noun));
        let spins = turns(series.label(queue_labels::SPINS), "spin");
        let yields = turns(series.label(queue_labels::YIELDS), "yield");
        let parks = if from == to { format!("parks of {from}") } else { format!("parks of {from} to {to}") };
        let steps: Vec<String> = spins.into_iter().chain(yields).chain([parks]).collect();
        parts.push(format!("{}: {}", series.subject, steps.join(", ")));
    }
    Some(format!("Back-offs: {}. They park with {}.", parts.join("; "), park?))
}
