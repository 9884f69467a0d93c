//! What the program itself does: it calls its wait too late, or somebody stops it.

use oversleep_record::finding::Severity;
use oversleep_record::part::Part;
use oversleep_record::words::counted;
use oversleep_record::{Nanos, ResultFile};

use super::{APPLIES_TO, HOW};
use crate::entry::{Checked, Conclusion, Scope};
use crate::finding::{Check, FindingEntry};
use crate::observed::{Cause, Kind, WAITS_MIN, delayed_by, enough};
use crate::remedies::observed::{FIND_WHO_STOPS_IT, SHORTEN_WORK};

/// A program is behind its deadlines if it is for one wait in so many.
const BEHIND_MIN: u64 = 20;

pub(super) static FINDINGS: &[FindingEntry] = &[
    FindingEntry {
        id: "OVS-Y006",
        name: "late-by-stop",
        summary: "Threads of the program were stopped, or their calls restarted, while their time ran out.",
        applies_to: APPLIES_TO,
        scope: Scope::Observed,
        severity: Severity::Cost,
        meaning: "SIGSTOP, a debugger, job control and a paused container stop a process. A signal with a handler ends a call, \
                  which is then started again with the rest of its time. What passes meanwhile is added to the wait.",
        how_we_know: "The kernel arms the timer again when the call goes on. The time between the first expiry and that is the \
                      stop.",
        what_to_do: "Find who sends the signals, and stop that.",
        sources: &["https://man7.org/linux/man-pages/man7/signal.7.html"],
        remedies: &[&FIND_WHO_STOPS_IT],
        check: Check::Causes(stop),
    },
    FindingEntry {
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
    },
];

fn stop(file: &ResultFile) -> Checked<Vec<Conclusion>> {
    let kinds = delayed_by(file, Part::Stop, "a stop")?;
    let cause = Cause::whole(Part::Stop, &kinds);
    let (who, max) = (&cause.first().identity, cause.longest);
    Ok(vec![cause.found(format!("{who} was stopped while its time ran out, for up to {max}"))])
}

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
