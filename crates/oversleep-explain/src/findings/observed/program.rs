//! What the program itself does: it calls its wait too late.

use oversleep_record::finding::Severity;
use oversleep_record::words::counted;
use oversleep_record::{Nanos, ResultFile};

use super::{APPLIES_TO, HOW};
use crate::entry::{Checked, Conclusion, Scope};
use crate::finding::{Check, FindingEntry};
use crate::observed::{Kind, WAITS_MIN, enough};
use crate::remedies::observed::SHORTEN_WORK;

/// A program is behind its deadlines if it is for one wait in so many.
const BEHIND_MIN: u64 = 20;

pub(super) static FINDINGS: &[FindingEntry] = &[FindingEntry {
    id: "OVS-Y018",
    name: "late-calls",
    summary: "The program calls its wait when the deadline has passed already.",
    applies_to: APPLIES_TO,
    scope: Scope::Observed,
    severity: Severity::Cost,
    meaning: "A loop with absolute deadlines that works longer than its period is behind before it waits. The wait then \
                  ends at once, and no timer can help. This time is no part of the wait's lateness.",
    how_we_know: HOW,
    what_to_do: "Shorten the work between two waits, or lengthen the period.",
    sources: &[],
    remedies: &[&SHORTEN_WORK],
    check: Check::Causes(late_calls),
}];

fn late_calls(file: &ResultFile) -> Checked<Vec<Conclusion>> {
    let all = enough(file)?;
    let is_behind = |kind: &&Kind<'_>| {
        let late = kind.waits.called_late.count();
        late != 0 && late.saturating_mul(BEHIND_MIN) >= kind.count() && kind.count() >= WAITS_MIN
    };
    let mut behind: Vec<&Kind<'_>> = all.iter().filter(is_behind).collect();
    if behind.is_empty() {
        return Err(Conclusion::absent("the program calls its waits before their deadlines"));
    }
    behind.sort_by_key(|kind| std::cmp::Reverse(kind.waits.called_late.sum()));
    let conclusion = |kind: &&Kind<'_>| {
        let late = &kind.waits.called_late;
        let mark = if late.count() < 20 { "~" } else { "" };
        let p50 = late.p50().map(|p50| format!("{mark}{}", Nanos(p50))).unwrap_or_default();
        let found = Conclusion::found(format!(
            "{} makes the call when its deadline has passed already, in {} of {} waits ({p50} at p50)",
            kind.identity,
            late.count(),
            kind.count()
        ));
        let explained = Nanos(i64::try_from(late.sum()).unwrap_or(i64::MAX));
        let says = format!(
            "called late by {p50} at p50, {} at most, {}",
            Nanos(late.max().unwrap_or(0)),
            counted(late.count(), "wait")
        );
        found.of_instance(kind.identity.to_string(), explained).rests_on(&kind.series.key, says)
    };
    Ok(behind.iter().take(4).map(conclusion).collect())
}
