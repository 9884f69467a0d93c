//! Every wait (B5): its median lateness for each request.

use std::collections::BTreeMap;

use oversleep_record::{ExperimentId, Nanos, ResultFile, Series};

use super::{Entry, detail};
use crate::view::select::{common_request, distinct, measured, requests};
use crate::view::table::{Columns, Section, ToCell, Tone};
use crate::words::{median, or_dash, percent};

pub const ENTRY: Entry =
    Entry { id: "waits", title: "Waits: lateness by request", experiments: &[ExperimentId::B5], build };

/// Share of missed deadlines from which a median describes the schedule rather than the wait.
const MISSED_SHARE_MIN: f64 = 0.05;

fn build(file: &ResultFile, section: Section) -> Section {
    let requests = requests(measured(file, ExperimentId::B5));
    let Some(common) = common_request(measured(file, ExperimentId::B5)) else { return section };
    if detail::is_close_up(file) || requests.len() < 2 {
        return section;
    }
    let mut columns = Columns::new().words("wait", |wait: &&str| *wait);
    for (index, &request) in requests.iter().enumerate() {
        let cell = move |wait: &&str| {
            let series = find(file, wait, request)?;
            let is_rounded = series.rounded_ns.is_some() && series.rounded_ns != series.requested_ns;
            let tone = if is_rounded { Tone::Warn } else { Tone::Plain };
            Some(median(series.unit, &series.distribution)?.toned(tone))
        };
        columns = columns.figure(format!("{request:#}"), cell).rank(rank(request, index, common));
    }
    section
        .tables(
            columns.table(
                "Median lateness of each wait by the duration requested, least late first",
                in_order(file, common),
            ),
        )
        .notes(roundings(file))
        .notes(missed_schedules(file))
}

/// The rank of a request's column: the common request stays, then the shortest, then the rest.
fn rank(request: Nanos, index: usize, common: Nanos) -> u8 {
    match index {
        _ if request == common => 0,
        0 => 1,
        _ => u8::try_from(index + 1).unwrap_or(u8::MAX),
    }
}

/// Waits, least late first at the common request; those without it last.
pub fn in_order(file: &ResultFile, common: Nanos) -> Vec<&str> {
    let mut waits = distinct(measured(file, ExperimentId::B5).map(|series| series.subject.as_str()));
    let lateness = |wait: &str| find(file, wait, common).and_then(|series| series.distribution.p50());
    waits.sort_by_cached_key(|wait| (lateness(wait).is_none(), lateness(wait)));
    waits
}

/// The series of a wait at a request.
pub fn find<'a>(file: &'a ResultFile, wait: &str, request: Nanos) -> Option<&'a Series> {
    measured(file, ExperimentId::B5).find(|series| series.subject == wait && series.requested_ns == Some(request))
}

/// How the calls round the requests, with waits of the same rounding together.
pub fn roundings(file: &ResultFile) -> Option<String> {
    let mut by_wait: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for series in measured(file, ExperimentId::B5) {
        if let (Some(requested), Some(rounded)) = (series.requested_ns, series.rounded_ns)
            && requested != rounded
        {
            by_wait.entry(&series.subject).or_default().push(format!("{requested:#} → {rounded:#}"));
        }
    }
    let mut by_rounding: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (wait, roundings) in by_wait {
        by_rounding.entry(roundings.join(", ")).or_default().push(wait);
    }
    let all: Vec<String> =
        by_rounding.into_iter().map(|(rounding, waits)| format!("{rounding} ({})", waits.join(", "))).collect();
    (!all.is_empty()).then(|| format!("Rounded by the call: {}.", all.join("; ")))
}

/// Series whose schedule could not be kept, so that their medians describe the schedule.
fn missed_schedules(file: &ResultFile) -> Option<String> {
    let share = |series: &Series| series.counts.missed as f64 / series.counts.recorded.max(1) as f64;
    let missed: Vec<String> = measured(file, ExperimentId::B5)
        .filter(|series| share(series) >= MISSED_SHARE_MIN)
        .map(|series| {
            let (wait, request, missed) = (&series.subject, or_dash(series.requested_ns), percent(share(series)));
            format!(
                "{wait} {request} ({missed} missed; p50 of the calls {})",
                or_dash(median(series.unit, series.calls()))
            )
        })
        .collect();
    (!missed.is_empty()).then(|| {
        format!(
            "These schedules could not be kept; each missed deadline counts with its lateness: {}.",
            missed.join("; ")
        )
    })
}

#[cfg(test)]
mod tests {
    use oversleep_record::testing::Sheet;

    use super::*;

    #[test]
    fn what_a_call_rounds_stands_out() {
        let sheet = Sheet::linux().steady("B5/poll/100us", 960_000).steady("B5/poll/1ms", 60_000);
        let others = ["nanosleep", "select", "futex", "timerfd", "clock-nanosleep-rel"];
        let mut file = others
            .iter()
            .flat_map(|wait| [format!("B5/{wait}/100us"), format!("B5/{wait}/1ms")])
            .fold(sheet, |sheet, key| sheet.steady(&key, 60_000))
            .file;
        for series in file.series.iter_mut().filter(|series| series.subject == "poll") {
            series.rounded_ns = Some(Nanos(1_000_000));
        }
        let section = build(&file, Section::new("waits", "Waits"));
        let row = |wait: &str| section.tables[0].rows.iter().find(|row| row[0].text == wait).expect("it is there");
        let tones = |wait: &str| row(wait).iter().skip(1).map(|cell| cell.tone).collect::<Vec<_>>();
        assert_eq!(tones("poll"), [Tone::Warn, Tone::Plain]);
        assert_eq!(tones("nanosleep"), [Tone::Plain, Tone::Plain]);
    }
}
