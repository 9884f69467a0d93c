//! Every wait (B5): median lateness by request, one request more closely, and what can't be had here.

use std::collections::BTreeMap;

use oversleep_record::{ExperimentId, Nanos, ResultFile, Series};

use super::clocks::extreme;
use super::detail;
use crate::view::select::{self, common_request, measured, requests, subjects};
use crate::view::table::{Cell, Section, Table, Tone, figures, words};
use crate::view::words::{FEW_VALUES, UNKNOWN, grouped, median, median_of, or_dash, percent, quantile, value};

/// Which requests go first where room is scarce: the common one stays, then the shortest, then the rest.
fn rank(requests: &[Nanos], index: usize, common: Nanos) -> u8 {
    match requests[index] {
        asked if asked == common => 0,
        _ if index == 0 => 1,
        _ => u8::try_from(index + 1).unwrap_or(u8::MAX),
    }
}

/// Waits, least late first at the common request; those without it last.
fn in_order(file: &ResultFile, common: Nanos) -> Vec<&str> {
    let mut waits = subjects(measured(file, ExperimentId::B5));
    let lateness = |wait: &str| find(file, wait, common).and_then(|series| series.distribution.p50());
    waits.sort_by_key(|wait| (lateness(wait).is_none(), lateness(wait)));
    waits
}

fn find<'a>(file: &'a ResultFile, wait: &str, asked: Nanos) -> Option<&'a Series> {
    file.experiment(ExperimentId::B5)
        .find(|series| series.subject == wait && series.requested_ns == Some(asked) && series.has_values())
}

pub fn waits(file: &ResultFile) -> Option<Section> {
    let asked = requests(measured(file, ExperimentId::B5));
    let common = common_request(measured(file, ExperimentId::B5))?;
    if detail::is_close_up(file) || asked.len() < 2 {
        return None;
    }
    let mut columns = vec![words("wait", 0)];
    columns
        .extend(asked.iter().enumerate().map(|(index, ask)| figures(format!("{ask:#}"), rank(&asked, index, common))));
    let mut table = Table::new("Median lateness of every wait, by what was asked for; least late first", columns);
    let mut few = false;
    for wait in in_order(file, common) {
        let mut row = vec![Cell::from(wait)];
        for &ask in &asked {
            let cell = find(file, wait, ask).and_then(|series| {
                let rounded = series.rounded_ns.is_some() && series.rounded_ns != series.requested_ns;
                let text = median(series.unit, &series.distribution)?;
                few |= text.starts_with('~');
                Some(Cell::from(text).toned(if rounded { Tone::Warn } else { Tone::Plain }))
            });
            row.push(cell.unwrap_or_else(|| UNKNOWN.into()));
        }
        table.row(row);
    }
    let mut section = Section::of("waits", "Waits: how late they end", &[ExperimentId::B5], table);
    section.notes.extend(roundings(file));
    section.notes.extend(schedules_missed(file));
    Some(section.note_if(few.then(|| format!("{}.", FEW_VALUES))))
}

/// What the waits' own rounding made of the requests, waits with the same rounding together.
pub fn roundings(file: &ResultFile) -> Option<String> {
    let mut by_wait: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for series in measured(file, ExperimentId::B5) {
        if let (Some(requested), Some(asked)) = (series.requested_ns, series.rounded_ns)
            && requested != asked
        {
            by_wait.entry(&series.subject).or_default().push(format!("{requested:#} → {asked:#}"));
        }
    }
    let mut by_rounding: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (wait, roundings) in by_wait {
        by_rounding.entry(roundings.join(", ")).or_default().push(wait);
    }
    let all: Vec<String> =
        by_rounding.into_iter().map(|(rounding, waits)| format!("{}: {rounding}", waits.join(", "))).collect();
    (!all.is_empty()).then(|| format!("Asked of the system after the call's own rounding: {}.", all.join("; ")))
}

/// Share of missed deadlines from which a median says more about the schedule than about the wait.
const MISSED_WORTH: f64 = 0.05;

/// Series whose medians are those of a schedule that could not be kept.
fn schedules_missed(file: &ResultFile) -> Option<String> {
    let share = |series: &Series| series.counts.missed as f64 / series.counts.recorded.max(1) as f64;
    let missed: Vec<String> = measured(file, ExperimentId::B5)
        .filter(|series| share(series) >= MISSED_WORTH)
        .map(|series| {
            let calls = or_dash(median(series.unit, series.calls()));
            format!(
                "{} {} ({} missed; the calls alone {calls})",
                series.subject,
                or_dash(series.requested_ns),
                percent(share(series))
            )
        })
        .collect();
    (!missed.is_empty()).then(|| {
        format!(
            "Deadlines that passed before the wait could be called count with the lateness they had: {}.",
            missed.join("; ")
        )
    })
}

pub fn at_one_request(file: &ResultFile) -> Option<Section> {
    let common = common_request(measured(file, ExperimentId::B5))?;
    if detail::is_close_up(file) {
        return None;
    }
    let mut table = Table::new(
        format!("Lateness of every wait asked for {common}; least late first"),
        vec![
            words("wait", 0),
            words("asked → got", 4),
            figures("min", 3),
            figures("p50", 0),
            figures("p90", 1),
            figures("p99", 1),
            figures("p99.9", 2),
            figures("max", 0),
            figures("early", 2),
            figures("missed", 1),
            figures("waits", 2),
        ],
    );
    for wait in in_order(file, common) {
        let Some(series) = find(file, wait, common) else { continue };
        table.row(close_row(series));
    }
    let section = Section::of(
        "waits-at-one-request",
        "Waits, one request closely",
        &[ExperimentId::B5],
        table.without_empty_columns(),
    );
    Some(section.note("A percentile is shown where at least ten waits lie beyond it. Missed: deadlines that passed while the thread was away, of those expected."))
}

fn close_row(series: &Series) -> Vec<Cell> {
    let (counts, all) = (&series.counts, &series.distribution);
    let got = series.rounded_ns.filter(|_| series.rounded_ns != series.requested_ns);
    let q = |share| Cell::from(or_dash(quantile(series.unit, all, share)));
    let noticed = |count: u64| Cell::from(grouped(count)).toned(if count > 0 { Tone::Warn } else { Tone::Soft });
    let missed = counts.expected.map(|_| noticed(counts.missed)).unwrap_or_else(|| UNKNOWN.into());
    let waits = match counts.expected {
        Some(expected) if expected != counts.recorded => {
            format!("{} of {}", grouped(counts.recorded), grouped(expected))
        }
        _ => grouped(counts.recorded),
    };
    vec![
        series.subject.as_str().into(),
        got.map(|got| format!("{} → {got}", or_dash(series.requested_ns))).unwrap_or_default().into(),
        extreme(series, all.min()),
        median_of(series).into(),
        q(0.9),
        q(0.99),
        q(0.999),
        extreme(series, all.max()),
        noticed(counts.early),
        missed,
        waits.into(),
    ]
}

/// Waits, hand-offs and the rest that have no figures, with the reason.
pub fn unavailable(file: &ResultFile) -> Option<Section> {
    let mut reasons: Vec<(String, Vec<&str>, Vec<ExperimentId>)> = Vec::new();
    for series in file.series.iter().filter(|series| series.experiment != ExperimentId::A1) {
        let Some(reason) = select::unavailable(series) else { continue };
        let reason = reason.to_string();
        let id = oversleep_measure::experiment(series.experiment).map(|experiment| experiment.id);
        let index = reasons.iter().position(|(known, _, _)| *known == reason).unwrap_or_else(|| {
            reasons.push((reason, Vec::new(), Vec::new()));
            reasons.len() - 1
        });
        let (_, subjects, ids) = &mut reasons[index];
        if !subjects.contains(&series.subject.as_str()) {
            subjects.push(&series.subject);
        }
        if let Some(id) = id.filter(|id| !ids.contains(id)) {
            ids.push(id);
        }
    }
    if reasons.is_empty() {
        return None;
    }
    let mut table = Table::new("What could not be measured here, and why", vec![words("what", 0), words("why", 0)]);
    let mut experiments = Vec::new();
    for (reason, subjects, ids) in &reasons {
        table.row(vec![subjects.join(", ").into(), reason.as_str().into()]);
        experiments.extend(ids.iter().filter(|id| !experiments.contains(*id)).collect::<Vec<_>>());
    }
    Some(Section::of("unavailable", "Not to be had here", &experiments, table))
}

/// A value of a series' distribution, or the dash.
pub(super) fn at(series: &Series, share: f64) -> String {
    or_dash(series.distribution.quantile(share).map(|found| value(series.unit, found)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use oversleep_record::testing::{Sheet, rounds};

    #[test]
    fn a_schedule_that_could_not_be_kept_is_named() {
        let mut series = rounds("B5/poll/300us", &[760_000; 4], 20);
        series.calls_only = Some(series.distribution.clone());
        (0..160).for_each(|_| series.distribution.record(160_000));
        (series.counts.recorded, series.counts.missed) = (240, 160);
        let sheet = Sheet::linux().steady("B5/poll/1ms", 66_000).series(series);
        assert_eq!(
            schedules_missed(&sheet.file).unwrap(),
            "Deadlines that passed before the wait could be called count with the lateness they had: poll 300 µs (67 % \
             missed; the calls alone 760 µs)."
        );
        assert_eq!(schedules_missed(&Sheet::linux().steady("B5/poll/1ms", 66_000).file), None);
    }
}
