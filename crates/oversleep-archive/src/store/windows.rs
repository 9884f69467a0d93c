//! What samplers covered. `serve` answers with its last hour, so two of its answers may have waits in common, and the same
//! values would count twice.

use std::collections::{BTreeSet, HashMap, HashSet};

use oversleep_record::{CommandName, ExperimentId, ResultFile};

use super::StoreError;
use super::folder::Archive;
use super::read::Reader;
use crate::column::Column;
use crate::query::day_of;
use crate::row::Row;

const SECOND_US: i64 = 1_000_000;
/// The longest time that a result of `serve` covers, with its last slice.
const WINDOW_US: i64 = 2 * 3_600 * SECOND_US;
/// Times in results are in whole seconds, so two that follow one another may seem to overlap by as much.
const ROUNDING_US: i64 = 2 * SECOND_US;
/// A timer starts a collection now a little earlier, now a little later: a part that small is no second answer.
const EDGE: i64 = 20;

/// A wait of a machine: its source, the wait, the request and the conditions.
pub type Wait = (String, String, Option<i64>, String);

/// When a wait was sampled, in µs since 1970, by which result.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    content: i64,
    begin_us: i64,
    end_us: i64,
}

/// What samplers covered, of the days that were looked at.
#[derive(Debug, Default)]
pub struct Windows {
    days: HashSet<String>,
    spans: HashMap<Wait, Vec<Span>>,
}

/// Whether a result is of `serve`.
pub fn is_window(file: &ResultFile) -> bool {
    file.command == CommandName::Serve.as_str()
}

fn wait(row: &Row) -> Wait {
    (row.source.clone(), row.subject.clone(), row.request_ns, row.conditions.clone())
}

fn span(row: &Row) -> Span {
    let length_us = (row.seconds * SECOND_US as f64) as i64;
    Span { content: row.content, begin_us: row.taken_us, end_us: row.taken_us.saturating_add(length_us) }
}

/// What the rows of a result cover.
pub fn covered(rows: &[Row]) -> Vec<(Wait, Span)> {
    rows.iter().map(|row| (wait(row), span(row))).collect()
}

impl Windows {
    /// How long these rows of one result cover time that other results in the archive cover, in µs; 0 if that is no more
    /// than an edge, or if the result itself is there.
    ///
    /// # Errors
    /// A file can't be read.
    pub fn overlap_us(&mut self, archive: &Archive, rows: &[Row]) -> Result<i64, StoreError> {
        let Some(Span { begin_us, end_us, .. }) = rows.first().map(span) else { return Ok(0) };
        let early_us = begin_us.saturating_sub(WINDOW_US);
        for us in (0..).map(|half_days| early_us.saturating_add(half_days * 43_200 * SECOND_US)) {
            self.look(archive, &day_of(us.min(end_us)))?;
            if us >= end_us {
                break;
            }
        }
        let mut most_us = 0;
        for row in rows {
            let own = span(row);
            let others = self.spans.get(&wait(row)).map_or(&[][..], Vec::as_slice);
            if others.iter().any(|other| other.content == own.content) {
                return Ok(0);
            }
            let common = |other: &Span| (own.end_us.min(other.end_us) - own.begin_us.max(other.begin_us)).max(0);
            most_us = most_us.max(others.iter().map(common).sum());
        }
        Ok(if most_us > ROUNDING_US + (end_us - begin_us) / EDGE { most_us } else { 0 })
    }

    /// Takes in what a result of `serve` covers.
    pub fn insert(&mut self, covered: Vec<(Wait, Span)>) {
        for (wait, own) in covered {
            let spans = self.spans.entry(wait).or_default();
            if spans.iter().all(|other| other.content != own.content) {
                spans.push(own);
            }
        }
    }

    /// Takes in those of a day that are in the archive.
    fn look(&mut self, archive: &Archive, day: &str) -> Result<(), StoreError> {
        if !self.days.insert(day.to_owned()) {
            return Ok(());
        }
        let columns = BTreeSet::from([
            Column::Source,
            Column::Content,
            Column::Taken,
            Column::Seconds,
            Column::Experiment,
            Column::Subject,
            Column::RequestNs,
            Column::Conditions,
        ]);
        // Only samplers have the waits of B5 without a request, which are their pauses, and no other experiment.
        let mut results: HashMap<(i64, i64), (bool, bool, Vec<Row>)> = HashMap::new();
        for path in archive.files_of(day)?.0 {
            let Ok(()) = Reader::open(&path)?.each(&columns, |row| {
                let (is_other, has_pauses, rows) = results.entry((row.taken_us, row.content)).or_default();
                *is_other |= row.experiment != ExperimentId::B5.to_string();
                *has_pauses |= row.request_ns.is_none();
                if *is_other {
                    rows.clear();
                } else {
                    rows.push(row.clone());
                }
                Ok::<(), std::convert::Infallible>(())
            })?;
        }
        let windows = results.into_values().filter(|(is_other, has_pauses, _)| !is_other && *has_pauses);
        windows.for_each(|(_, _, rows)| self.insert(covered(&rows)));
        Ok(())
    }
}
