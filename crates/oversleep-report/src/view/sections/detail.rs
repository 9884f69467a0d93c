//! A close-up of a few series (B5): whole percentiles, the expected and the recorded schedule, and the views that hide
//! or restore missed deadlines, side by side.

use oversleep_record::quantile_interval::of_quantile;
use oversleep_record::series::Pace;
use oversleep_record::stats::{Steadiness, steadiness};
use oversleep_record::{Distribution, ExperimentId, ResultFile, Series, label};

use super::Entry;
use super::disturbance::summary;
use crate::view::select::{self, measured};
use crate::view::table::{Columns, Section, Table, ToCell, Tone};
use crate::words::{counted, grouped, percent, quantile, value};

pub const ENTRY: Entry = Entry { id: "detail", title: "Lateness in detail", experiments: &[ExperimentId::B5], build };

/// Most series a close-up is made of.
const SERIES_MAX: usize = 6;
/// The percentiles, each where the values allow, and the ranks of their columns.
const QUANTILES: [(&str, f64, u8); 5] =
    [("p50", 0.5, 0), ("p90", 0.9, 2), ("p99", 0.99, 0), ("p99.9", 0.999, 1), ("p99.99", 0.9999, 3)];

/// Whether the waits of a result are few enough to be shown one by one.
pub fn is_close_up(file: &ResultFile) -> bool {
    (1..=SERIES_MAX).contains(&measured(file, ExperimentId::B5).count())
}

fn build(file: &ResultFile, mut section: Section) -> Section {
    if !is_close_up(file) {
        return section;
    }
    for series in measured(file, ExperimentId::B5) {
        section = section.tables(views(series)).notes([story(file, series)]).notes(
            summary(&series.disturbance()).map(|seen| format!("{}: while it was measured: {seen}.", name(series))),
        );
    }
    section
}

fn name(series: &Series) -> String {
    let conditions = if series.conditions.is_as_found() { String::new() } else { format!(" ({})", series.conditions) };
    let request = match (series.requested_ns, series.pace, &series.observed) {
        (Some(request), ..) => format!(" {request}"),
        // Each wait requests another time, one after the other.
        (None, Some(Pace::BackToBack), None) => ", pauses of random length".to_owned(),
        (None, ..) => String::new(),
    };
    let thread = series.label(label::THREAD).filter(|_| series.observed.is_none());
    let held = series.label(label::HELD).map(|held| format!(", resolution {held}")).unwrap_or_default();
    let thread = thread.map(|thread| format!(", thread {thread}").replace("thread CPU", "CPU")).unwrap_or_default();
    format!("{}{request}{thread}{held}{conditions}", series.subject)
}

/// The views on one series; only the first is what was recorded.
fn views(series: &Series) -> Option<Table> {
    let figure = |found: Option<i64>| found.map(|found| value(series.unit, found));
    let mut columns = Columns::new()
        .words("view", |view: &(&str, Option<Distribution>)| view.0)
        .figure("count", |(_, view)| view.as_ref().map(Distribution::count))
        .rank(1)
        .figure("min", move |(_, view)| figure(view.as_ref()?.min()))
        .rank(2);
    for (head, share, rank) in QUANTILES {
        columns = columns.figure(head, move |(_, view)| quantile(series.unit, view.as_ref()?, share)).rank(rank);
    }
    let columns = columns.figure("max", move |(_, view)| Some(figure(view.as_ref()?.max())?.toned(Tone::Strong)));
    let mut views = vec![("as recorded", Some(series.distribution.clone()))];
    let corrected = series.corrected();
    let differs = corrected.as_ref().is_some_and(|corrected| corrected.count() != series.distribution.count());
    if series.counts.missed > 0 || differs {
        views.extend([("corrected", corrected), ("calls only", Some(series.calls().clone()))]);
    }
    columns.table(format!("Lateness of {}", name(series)), views)
}

/// The schedule and its outcome.
fn story(file: &ResultFile, series: &Series) -> String {
    let counts = &series.counts;
    let mut parts = vec![match counts.expected {
        Some(expected) => {
            format!("{} recorded of {} expected", counted(counts.recorded, "deadline"), grouped(expected))
        }
        // Another program's value may be that of several waits.
        None => {
            format!("{} recorded", counted(counts.recorded, if file.imported.is_some() { "value" } else { "wait" }))
        }
    }];
    if counts.expected.is_some() {
        let share = counts.missed as f64 / counts.recorded.max(1) as f64;
        parts.push(match counts.missed {
            0 => "none missed".to_owned(),
            missed => {
                format!("{} ({}) missed: passed before the wait could be called", grouped(missed), percent(share))
            }
        });
    }
    if let Some(beyond) = series.beyond {
        let max = beyond.max.map(|max| format!(", the largest {}", value(series.unit, max))).unwrap_or_default();
        parts.push(format!(
            "{} more of {} or above whose size the file doesn't state{max}",
            grouped(beyond.count),
            value(series.unit, beyond.from)
        ));
    }
    parts.extend(series.distribution.mean().map(|mean| format!("mean {}", value(series.unit, mean.round() as i64))));
    parts.extend(of_quantile(&series.distribution, 0.5, 0).map(|within| {
        let (low, high) = (value(series.unit, within.low), value(series.unit, within.high));
        format!("the median is from {low} to {high} with 99 % confidence")
    }));
    parts.push(match counts.early {
        0 => "none early".to_owned(),
        early => format!("{} early", grouped(early)),
    });
    let more = [
        (counts.interrupted, "ended by a signal and not counted"),
        (counts.backward, "clock reads that went backwards"),
        (series.samples.beyond_cap, "samples kept in the histogram only"),
    ];
    parts
        .extend(more.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{} {what}", grouped(*count))));
    if let (Some(requested), Some(rounded)) = (series.requested_ns, series.rounded_ns) {
        parts.extend((requested != rounded).then(|| format!("{requested} rounded to {rounded} by the call")));
    }
    parts.extend(series.pace.map(|pace| pace.to_string()));
    parts.extend((!series.clock.is_empty()).then(|| format!("timed by {}", series.clock)));
    parts.extend(select::conditions(&series.conditions));
    if let Steadiness::Disturbed(spread) = steadiness(series) {
        parts.push(format!("the rounds disagree by {}, so this series is inconclusive", percent(spread)));
    }
    format!("{}: {}.", name(series), parts.join(", "))
}

#[cfg(test)]
mod tests {
    use oversleep_record::series::Pace;
    use oversleep_record::testing::{Sheet, rounds};

    use super::super::generic::texts;
    use super::*;

    fn detail(sheet: Sheet) -> Section {
        build(&sheet.file, Section::new("detail", "Lateness in detail"))
    }

    fn stalled() -> Series {
        let mut series = rounds("B5/nanosleep/1ms", &[66_000; 4], 1_000);
        series.calls_only = Some(series.distribution.clone());
        for period in (1..=500).rev() {
            series.distribution.record(period * 1_000_000);
        }
        if let Some(calls) = &mut series.calls_only {
            calls.record(500_000_000);
        }
        series.pace = Some(Pace::Periodic);
        series.counts.missed = 499;
        series.counts.recorded = series.distribution.count();
        series.counts.expected = Some(series.counts.recorded);
        series
    }

    #[test]
    fn a_stall_shows_in_every_view_that_is_honest() {
        let section = detail(Sheet::linux().series(stalled()));
        let table = texts(&section.tables[0]);
        let p90 = table[0].iter().position(|head| *head == "p90").unwrap();
        let views: Vec<(&str, &str)> = table[1..].iter().map(|row| (row[0], row[p90])).collect();
        let [("as recorded", recorded), ("corrected", corrected), hidden] = views[..] else { panic!("{views:?}") };
        assert!(recorded.ends_with(" ms") && corrected.ends_with(" ms"), "{views:?}");
        assert_eq!(hidden, ("calls only", "66 µs"), "the view that skips missed periods hides the stall");
        assert!(section.notes[0].contains("499 (11 %) missed"), "{}", section.notes[0]);
    }

    #[test]
    fn one_view_is_enough_where_nothing_was_missed() {
        let section = detail(Sheet::linux().steady("B5/nanosleep/1ms", 66_000));
        assert_eq!(section.tables[0].rows.len(), 1);
        assert!(section.notes[0].contains("none early"));
    }
}
