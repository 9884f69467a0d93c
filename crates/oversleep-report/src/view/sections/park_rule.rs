//! Throughput by queue and park (E2), with the rule that it follows.

use oversleep_explain::idle::{ParkRule, Run, fit, held_out, held_out_by_queue, off_in_words, published, runs};
use oversleep_record::{ExperimentId, Nanos, ResultFile, queue_labels};

use super::Entry;
use crate::view::table::{Columns, Section, Table};
use crate::words::{grouped, list, percent};

pub const ENTRY: Entry =
    Entry { id: "throughput-by-park", title: "Throughput by queue and park", experiments: &[ExperimentId::E2], build };

fn build(file: &ResultFile, section: Section) -> Section {
    let runs = runs(file);
    let rule = fit(&runs);
    let of = move |run: &Run| rule.and_then(|rule| rule.of(run));
    let columns = Columns::new()
        .words("parks end", |run: &Run| run.grid.map_or("as found".to_owned(), |grid| format!("on a grid of {grid}")))
        .figure("queue", |run| run.queue)
        .figure("mean park", |run| run.park)
        .figure("items/s", |run| grouped(run.rate.round() as i64))
        .figure("rule", move |run| of(run).map(|rate| grouped(rate.round() as i64)))
        .figure("off by", move |run| of(run).map(|rate| percent(run.rate / rate - 1.0)))
        .rank(1)
        .words("bound by", move |run| rule.map(|rule| bound_by(&rule, run)))
        .rank(2)
        .figure("parks in vain", |run| run.series.idling.as_ref()?.vain_share().map(percent))
        .rank(2)
        .figure("CPU", |run| run.series.idling.as_ref()?.cores().map(percent))
        .rank(3)
        .figure("parks/s", |run| {
            run.series.idling.as_ref()?.parks_per_second().map(|rate| grouped(rate.round() as i64))
        })
        .rank(3)
        .figure("park overshoot p50", |run| run.series.idling.as_ref()?.park_overshoot.p50().map(Nanos))
        .rank(4);
    let has_runs = !runs.is_empty();
    let fitted = rule.map(|rule| in_words(&rule, &runs));
    let held = held_out(&runs).map(|(rule, [most, least], left)| {
        format!(
            "From two of the runs alone, the CPU rate of {} and the effective Q of {} ({}), the rule predicts the others within \
             {}.",
            most.series.key,
            least.series.key,
            figures(&rule),
            off_in_words(left.worst)
        )
    });
    let by_queue: Vec<String> = held_out_by_queue(&runs)
        .iter()
        .map(|(queue, worst)| {
            format!("{} (queue {})", off_in_words(*worst), grouped(i64::try_from(*queue).unwrap_or(i64::MAX)))
        })
        .collect();
    let by_queue = (!by_queue.is_empty()).then(|| {
        format!(
            "With that CPU rate and the effective Q of the longest parks of the same queue, it predicts its other parks within \
             {}.",
            list(&by_queue)
        )
    });
    let knee: Vec<&Run> = runs.iter().filter(|run| rule.is_some_and(|rule| rule.is_at_knee(run))).collect();
    let knee = (!knee.is_empty()).then(|| {
        format!(
            "{} bound by both, because a queue's work takes about as long as a park: the rule doesn't apply there, and \
             these runs are not judged.",
            if knee.len() == 1 { "1 run is".to_owned() } else { format!("{} runs are", knee.len()) }
        )
    });
    let vain = runs.iter().any(|run| run.useful < 1.0).then(|| {
        "A park is in vain if there is still nothing to do when it ends. If both sides wake at the same tick, it is chance \
         which one looks first, so up to half of the parks are in vain. The rule counts only the others."
            .to_owned()
    });
    let strategy = runs.first().map(|run| {
        let series = run.series;
        let parks = series.label(queue_labels::PARK_FROM).zip(series.label(queue_labels::PARK_TO));
        let parks = parks.map(|(from, to)| format!(", whose parks are {from} to {to}")).unwrap_or_default();
        format!("Every run is flat out with the strategy {}{parks}.", series.subject)
    });
    let published = has_runs.then(published).into_iter().flatten();
    let table = columns.table("Items per second, and what min(CPU rate, Q / park) gives", runs);
    section
        .tables(table.map(|table| Table { needs_all: true, ..table }))
        .notes([fitted, held, by_queue, knee, vain, strategy].into_iter().flatten().chain(published))
}

fn bound_by(rule: &ParkRule, run: &Run) -> &'static str {
    match (rule.is_at_knee(run), rule.is_bound_by_parks(run)) {
        (true, _) => "both",
        (false, true) => "parks",
        (false, false) => "CPU",
    }
}

fn figures(rule: &ParkRule) -> String {
    let rate = rule.cpu_rate.map(|rate| format!("CPU rate {} items/s", grouped(rate.round() as i64)));
    let queue = rule.queue_share.map(|share| format!("effective Q {share:.2} of the queue"));
    [rate, queue].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn in_words(rule: &ParkRule, runs: &[Run]) -> String {
    let left = rule.residual(runs).map(|left| {
        format!(
            "; half of the runs are within {} of it, all within {}",
            off_in_words(left.median),
            off_in_words(left.worst)
        )
    });
    let only = match (rule.cpu_rate, rule.queue_share) {
        (Some(_), Some(_)) => "",
        (Some(_), None) => " No run was bound by its parks.",
        _ => " Every run was bound by its parks, so the CPU rate is unknown.",
    };
    format!("Fitted: {}{}.{only}", figures(rule), left.unwrap_or_default())
}
