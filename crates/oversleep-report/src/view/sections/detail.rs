//! A close-up of few series (B5): whole percentiles, the schedule as expected and as recorded, and the views that hide or
//! restore missed deadlines, side by side.

use oversleep_record::stats::{Steadiness, steadiness};
use oversleep_record::{Distribution, ExperimentId, ResultFile, Series};

use super::disturbance::summary;
use crate::view::select::{self, measured};
use crate::view::table::{Cell, Section, Table, Tone, figures, words};
use crate::view::words::{counted, grouped, or_dash, percent, quantile, value};

/// Most series a close-up is made of.
const SERIES_MAX: usize = 6;
/// The percentiles, each where the data allow.
const QUANTILES: [(&str, f64); 5] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("p99.99", 0.9999)];

/// Whether the waits of a result are few enough to be looked at one by one.
pub fn is_close_up(file: &ResultFile) -> bool {
    (1..=SERIES_MAX).contains(&measured(file, ExperimentId::B5).count())
}

pub fn detail(file: &ResultFile) -> Option<Section> {
    if !is_close_up(file) {
        return None;
    }
    let mut section =
        Section { id: "detail", title: "Lateness", experiments: vec![ExperimentId::B5], ..Section::default() };
    for series in measured(file, ExperimentId::B5) {
        section.tables.push(views(series));
        section.notes.push(story(series));
        section
            .notes
            .extend(summary(&series.disturbance()).map(|seen| format!("{}, meanwhile: {seen}.", name(series))));
    }
    Some(section)
}

fn name(series: &Series) -> String {
    let conditions = if series.conditions.is_as_found() { String::new() } else { format!(" ({})", series.conditions) };
    format!("{} {}{conditions}", series.subject, or_dash(series.requested_ns))
}

/// The views on one series: only the first is what was recorded.
fn views(series: &Series) -> Table {
    let mut columns = vec![words("view", 0), figures("waits", 1), figures("min", 2)];
    columns.extend(QUANTILES.iter().zip([0, 2, 0, 1, 3]).map(|((name, _), rank)| figures(*name, rank)));
    columns.push(figures("max", 0));
    let mut table = Table::new(format!("Lateness of {}", name(series)), columns);
    table.row(view(series, "as recorded", &series.distribution));
    let corrected = series.corrected();
    let has_missed = series.counts.missed > 0;
    let differs = corrected.as_ref().is_some_and(|corrected| corrected.count() != series.distribution.count());
    if has_missed || differs {
        match corrected {
            Some(corrected) => table.row(view(series, "corrected", &corrected)),
            None => table.row(vec!["corrected".into()]),
        }
        table.row(view(series, "calls only", series.calls()));
    }
    table.without_empty_columns()
}

fn view(series: &Series, name: &str, distribution: &Distribution) -> Vec<Cell> {
    let figure = |found: Option<i64>| Cell::from(or_dash(found.map(|found| value(series.unit, found))));
    let mut row = vec![Cell::from(name), grouped(distribution.count()).into(), figure(distribution.min())];
    row.extend(QUANTILES.iter().map(|(_, share)| or_dash(quantile(series.unit, distribution, *share)).into()));
    row.push(figure(distribution.max()).toned(Tone::Strong));
    row
}

/// The schedule and what became of it.
fn story(series: &Series) -> String {
    let counts = &series.counts;
    let mut parts = Vec::new();
    parts.push(match counts.expected {
        Some(expected) => {
            format!("{} recorded of {} expected", counted(counts.recorded, "deadline"), grouped(expected))
        }
        None => format!("{} recorded", counted(counts.recorded, "wait")),
    });
    if counts.expected.is_some() {
        let share = counts.missed as f64 / counts.recorded.max(1) as f64;
        parts.push(match counts.missed {
            0 => "none missed".to_owned(),
            missed => format!("{} ({}) had passed before the wait could be called", grouped(missed), percent(share)),
        });
    }
    parts.push(match counts.early {
        0 => "none early".to_owned(),
        early => format!("{} early", grouped(early)),
    });
    parts.extend(
        (counts.interrupted > 0).then(|| format!("{} ended by a signal, not counted", grouped(counts.interrupted))),
    );
    parts.extend((counts.backward > 0).then(|| format!("the clock went backwards {} times", grouped(counts.backward))));
    if let (Some(requested), Some(asked)) = (series.requested_ns, series.rounded_ns) {
        parts.extend((requested != asked).then(|| format!("{requested} was rounded to {asked} by the call")));
    }
    parts.extend(series.pace.map(|pace| pace.to_string()));
    parts.extend((!series.clock.is_empty()).then(|| format!("stamped by {}", series.clock)));
    parts.extend(
        (series.samples.beyond_cap > 0)
            .then(|| format!("{} kept in the histogram only", counted(series.samples.beyond_cap, "sample"))),
    );
    parts.extend(select::conditions(&series.conditions));
    if let Steadiness::Disturbed(spread) = steadiness(series) {
        parts.push(format!("its rounds disagree by {}: too disturbed to conclude from", percent(spread)));
    }
    format!("{}: {}.", name(series), parts.join(", "))
}

#[cfg(test)]
mod tests {
    use oversleep_record::series::Pace;

    use crate::view::table::Kind;

    use super::*;
    use oversleep_record::testing::{Sheet, rounds};

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
        let section = detail(&Sheet::linux().series(stalled()).file).unwrap();
        let table = &section.tables[0];
        let names: Vec<&str> = table.rows.iter().map(|row| row[0].text.as_str()).collect();
        assert_eq!(names, ["as recorded", "corrected", "calls only"]);
        let p90 = table.columns.iter().position(|column| column.head == "p90").unwrap();
        let shown: Vec<&str> = table.rows.iter().map(|row| row[p90].text.as_str()).collect();
        assert!(shown[0].ends_with(" ms") && shown[1].ends_with(" ms"), "{shown:?}");
        assert_eq!(shown[2], "66 µs", "the view that skips missed periods hides the stall");
        assert!(section.notes[0].contains("499 (11 %) had passed"), "{}", section.notes[0]);
        assert!(table.columns.iter().skip(1).all(|column| column.kind == Kind::Figure));
    }

    #[test]
    fn one_view_is_enough_where_nothing_was_missed() {
        let section = detail(&Sheet::linux().steady("B5/nanosleep/1ms", 66_000).file).unwrap();
        assert_eq!(section.tables[0].rows.len(), 1);
        assert!(section.notes[0].contains("none early"));
    }
}
