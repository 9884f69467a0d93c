//! Each kind of waits in its parts, with who ran instead and what came before the timer interrupt.

use oversleep_explain::housekeeping;
use oversleep_record::Identity;
use oversleep_record::observed::culprit::policy_words;
use oversleep_record::observed::interruption::Interrupted;
use oversleep_record::observed::wait::signed;
use oversleep_record::observed::{Blame, IrqBlame, ObservedWaits};
use oversleep_record::part::Part;
use oversleep_record::series::Unit;
use oversleep_record::split::PartSplit;
use oversleep_record::{Distribution, Nanos, ResultFile, Series};

use super::super::markup::Markup;
use super::super::tables::draw;
use crate::view::observed::{irq_words, why_words};
use crate::view::table::{Columns, Table};
use crate::words::{counted, median, percent, quantile};

/// The number of kinds whose parts are listed.
const DETAILED: usize = 40;

/// The section.
pub fn section(m: &mut Markup, file: &ResultFile) {
    let mut kinds: Vec<&Series> = file.series.iter().filter(|series| series.has_values()).collect();
    kinds.sort_by_key(|series| housekeeping::of(file, series).is_some());
    if kinds.is_empty() {
        return;
    }
    super::section(m, "kinds", "Each kind of waits in parts", |m| {
        kinds.iter().take(DETAILED).for_each(|series| detail(m, file, series));
        if let Some(rest) = kinds.len().checked_sub(DETAILED).filter(|&rest| rest > 0) {
            m.leaf("p", &[("class", "quiet")], &format!("The result has {}.", counted(rest, "more kind")));
        }
    });
}

fn detail(m: &mut Markup, file: &ResultFile, series: &Series) {
    let (Some(identity), Some(split), Some(waits)) = (Identity::of(series), &series.why, &series.observed) else {
        return;
    };
    m.element("details", &[], |m| {
        let purpose = housekeeping::of(file, series).map(|of| format!(" ({})", of.what)).unwrap_or_default();
        m.leaf("summary", &[], &format!("{identity}{purpose}"));
        let tables = [parts(split), blames(waits), causes(waits), interruptions(waits)];
        tables.into_iter().flatten().for_each(|table| draw(m, &table, ""));
        unseen(split, waits).iter().for_each(|text| m.leaf("p", &[("class", "quiet")], text));
        if let Some(clock) = waits.clock {
            m.leaf("p", &[("class", "quiet")], &format!("Their timers are on {}, {}.", clock.name(), clock.about()));
        }
        let otherwise = waits.otherwise_count();
        if otherwise != 0 {
            let other = counted(otherwise, "wait");
            let text = format!("{other} of this kind ended for another reason than their timer.");
            m.leaf("p", &[("class", "quiet")], &text);
        }
    });
}

fn parts(split: &PartSplit) -> Option<Table> {
    let rows: Vec<(Part, &Distribution)> = split.parts.iter().map(|(&part, values)| (part, values)).collect();
    let sum = |part: Part| Nanos(i64::try_from(split.sum(part)).unwrap_or(i64::MAX));
    Columns::new()
        .words("part", |(part, _): &&(Part, &Distribution)| part.name())
        .figure("share", |(part, _)| percent(split.share(*part)))
        .figure("p50", |(_, values)| median(Unit::Ns, values))
        .figure("p99", |(_, values)| quantile(Unit::Ns, values, 0.99))
        .figure("max", |(_, values)| values.max().map(Nanos))
        .figure("in all", move |(part, _)| sum(*part))
        .words("what it is", |(part, _)| part.about())
        .table("Parts of the lateness", &rows)
}

fn blames(waits: &ObservedWaits) -> Option<Table> {
    let columns = Columns::new()
        .words("ran instead", |blame: &&Blame| blame.name.clone())
        .words("policy", |blame| policy_words(blame.policy, blame.prio))
        .figure("count", |blame| blame.count)
        .figure("in all", |blame| Nanos(signed(blame.total_ns)))
        .figure("max", |blame| Nanos(signed(blame.max_ns)))
        .words("because", |blame| why_words(blame.why));
    columns.table("Who ran while these threads waited for a CPU", waits.by_blame())
}

fn interruptions(waits: &ObservedWaits) -> Option<Table> {
    let columns = Columns::new()
        .words("interrupted by", |one: &&Interrupted| one.by.to_string())
        .figure("count", |one| one.count);
    columns.table("What ended their calls before their time", waits.interruptions.iter())
}

/// For how long nobody was seen to run while these threads waited for a CPU, so that what stands above adds up.
fn unseen(split: &PartSplit, waits: &ObservedWaits) -> Option<String> {
    let (all, seen) =
        (split.sum(Part::Runq), waits.blames.iter().map(|blame| i128::from(blame.total_ns)).sum::<i128>());
    let unseen = all.saturating_sub(seen);
    let nanos = |ns: i128| Nanos(i64::try_from(ns).unwrap_or(i64::MAX));
    (unseen > 0 && seen > 0)
        .then(|| format!("For {} of {} in the run queue, nobody was seen to run.", nanos(unseen), nanos(all)))
}

fn causes(waits: &ObservedWaits) -> Option<Table> {
    let columns = Columns::new()
        .words("before the interrupt", |blame: &&IrqBlame| irq_words(&blame.cause))
        .figure("count", |blame| blame.count)
        .figure("in all", |blame| Nanos(signed(blame.total_ns)))
        .figure("max", |blame| Nanos(signed(blame.max_ns)));
    columns.table("What its CPU did while the timer interrupt was due", waits.by_irq())
}
