//! The loops of observed programs: how long their periods are and what fills them.

use oversleep_explain::{Loop, loops};
use oversleep_record::series::Unit;
use oversleep_record::{Nanos, ResultFile};

use super::observed::SomeIf;
use super::table::{Columns, Split, Table};
use crate::words::{median, quantile};

/// The most rows in brief.
const LOOPS_BRIEF: usize = 2;

/// The loops of threads that wait again and again, as a table: how long their periods are and what fills them.
pub fn table(file: &ResultFile, bar_width: usize) -> Option<Table> {
    // The periods of threads that a runtime moves its own between are none of the program.
    let of = loops(file).into_iter().filter(|of| !of.is_moved());
    let of_thread = |of: &Loop<'_>| of.identity.thread.clone().some_if(of.identity.thread != of.identity.program);
    let columns = Columns::new()
        .words("program", |of: &Loop<'_>| of.identity.program.clone())
        .words("thread", of_thread)
        .rank(3)
        .words("meant to take", |of| of.periods.intended_ns)
        .rank(2)
        .figure("periods", |of| of.lengths.count())
        .rank(4)
        .figure("p50", |of| median(Unit::Ns, of.lengths))
        .figure("p99", |of| quantile(Unit::Ns, of.lengths, 0.99))
        .rank(1)
        .figure("max", |of| of.lengths.max().map(Nanos))
        .words("per second", |of| of.rate().map(|rate| format!("{rate:.1}")))
        .figure("missed", |of| (of.periods.missed_count != 0).then_some(of.periods.missed_count))
        .rank(1)
        .split("split", bar_width, |of| Split::of(|part| of.periods.split.share(part)));
    let mut table = columns.table("Loops: from the end of one wait to the end of the next", of)?;
    table.rows_brief = LOOPS_BRIEF;
    Some(table)
}
