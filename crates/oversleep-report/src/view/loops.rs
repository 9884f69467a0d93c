//! The loops of observed programs: how long their periods are and what fills them.

use std::collections::BTreeSet;

use oversleep_explain::housekeeping;
use oversleep_record::observed::period::Periods;
use oversleep_record::series::Unit;
use oversleep_record::{Distribution, Identity, Nanos, ResultFile};

use super::observed::SomeIf;
use super::table::{Columns, Split, Table};
use crate::words::{median, quantile};

/// The most rows in brief.
const LOOPS_BRIEF: usize = 2;

/// The loops of threads that wait again and again, as a table: how long their periods are and what fills them.
pub fn loops(file: &ResultFile, bar_width: usize) -> Option<Table> {
    struct Row<'a> {
        identity: Identity,
        periods: &'a Periods,
        lengths: &'a Distribution,
    }
    let own = file.series.iter().filter(|series| housekeeping::of(file, series).is_none());
    let of = own.filter_map(|series| {
        let periods = series.observed.as_ref()?.periods.as_ref()?;
        Some(Row { identity: Identity::of(series)?, periods, lengths: periods.lengths()? })
    });
    let mut rows: Vec<Row<'_>> = of.collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.lengths.count()));
    // The waits that a thread makes most often are its pace.
    let mut threads = BTreeSet::new();
    rows.retain(|row| threads.insert((row.identity.program.clone(), row.identity.thread.clone())));
    let per_second = |row: &Row<'_>| {
        let mean = row.lengths.mean().filter(|mean| *mean > 0.0)?;
        Some(format!("{:.1}", 1e9 / mean))
    };
    let columns = Columns::new()
        .words("program", |row: &Row<'_>| row.identity.program.clone())
        .words("thread", |row| row.identity.thread.clone().some_if(row.identity.thread != row.identity.program))
        .rank(3)
        .words("meant to take", |row| row.periods.intended_ns)
        .rank(2)
        .figure("periods", |row| row.lengths.count())
        .rank(4)
        .figure("p50", |row| median(Unit::Ns, row.lengths))
        .figure("p99", |row| quantile(Unit::Ns, row.lengths, 0.99))
        .rank(1)
        .figure("max", |row| row.lengths.max().map(Nanos))
        .words("per second", per_second)
        .figure("missed", |row| (row.periods.missed_count != 0).then_some(row.periods.missed_count))
        .rank(1)
        .split("split", bar_width, |row| Split::of(|part| row.periods.split.share(part)));
    let mut table = columns.table("Loops: from the end of one wait to the end of the next", rows)?;
    table.rows_brief = LOOPS_BRIEF;
    Some(table)
}
