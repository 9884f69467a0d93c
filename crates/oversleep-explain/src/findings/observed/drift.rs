//! Loops that drift, because each period counts from the present time.

use oversleep_record::finding::Severity;
use oversleep_record::observed::wait::Request;
use oversleep_record::part::Part;
use oversleep_record::words::grouped;
use oversleep_record::{Nanos, ResultFile};
use oversleep_system::calls::Call;

use super::period::{APPLIES_TO, HOW, LOOPS_MAX, seen};
use crate::entry::{Checked, Conclusion, Scope};
use crate::finding::{Check, FindingEntry};
use crate::observed::period::Loop;
use crate::remedies::observed::PACE_BY_DEADLINES;

/// The least work of a loop that may take it from what it waits for.
const WORK_MIN_NS: i64 = 50_000;
/// The fewest changes of what it requests that tell why it does.
const CHANGES_MIN: u64 = 8;
/// Its name; those of what holds loops up begin with the other one.
pub(crate) const DRIFTS: &str = "loop-drifts";

pub(super) static FINDINGS: &[FindingEntry] = &[FindingEntry {
    id: "OVS-Y030",
    name: DRIFTS,
    summary: "A loop that waits for spans takes longer than what it requests, by its own work and by late waits.",
    applies_to: APPLIES_TO,
    scope: Scope::Observed,
    severity: Severity::Note,
    meaning: "A span counts from the call. Whatever a loop does before it, and however late the wait ends, is added to every \
              period, and a span in whole milliseconds can't make up for it: 16 ms make 62.5 frames per second, not 60.",
    how_we_know: HOW,
    what_to_do: "Where a pace is meant, wait until the last deadline plus the period.",
    sources: &[],
    remedies: &[&PACE_BY_DEADLINES],
    check: Check::Rule(drift),
}];

fn drift(file: &ResultFile) -> Checked<Conclusion> {
    let loops = seen(file)?;
    let drifting = loops.iter().filter_map(|of| Some((of, of.drift()?, of.rate()?)));
    let mut drifting: Vec<(&Loop<'_>, Nanos, f64)> = drifting.collect();
    drifting.sort_by_key(|(of, ..)| std::cmp::Reverse(of.lengths.count()));
    let Some((of, by, rate)) = drifting.first() else {
        return Err(Conclusion::absent("no loop waits for spans at a steady pace"));
    };
    let split = &of.periods.split;
    let requested = Nanos(split.p50(Part::Requested));
    // What wasn't seen is no work of 0.
    let work = match split.p50(Part::Unattributed) {
        0 => format!("; {} are its own work", Nanos(split.p50(Part::Work))),
        _ => String::new(),
    };
    let also = match drifting.len() - 1 {
        0 => String::new(),
        1 => ", and so does another loop".to_owned(),
        more => format!(", and so do {more} more loops"),
    };
    let whole = if in_milliseconds(of) { " in whole milliseconds" } else { "" };
    let rate = per_second(*rate);
    let (p50, count) = (Nanos(of.lengths.p50().unwrap_or(0)), i64::try_from(of.lengths.count()).unwrap_or(i64::MAX));
    // Who asks for what is left each time means to keep a pace.
    let conclusion = if waits_for_rest(of) {
        let total = Nanos(by.0.saturating_mul(count));
        Conclusion::found(format!(
            "{} waits for what is left of each period, counted from the present time{whole}{also}: its periods take {p50} at \
             p50 and come {rate} times per second; rounding makes them shorter, late ends make them longer",
            of.name()
        ))
        .of_instance(of.name(), total)
        .matters(Severity::Cost)
    } else {
        Conclusion::found(format!(
            "{} waits for a span each time{also}: its periods take {by} longer than the {requested} that it requests{whole}, {rate} \
             per second{work}",
            of.identity
        ))
    };
    Ok(drifting.iter().take(LOOPS_MAX).fold(conclusion, |all, (of, by, rate)| {
        all.rests_on(&of.series.key, format!("{} per second, {by} more than requested at p50", per_second(*rate)))
    }))
}

/// Whether it asks for what its work has left of the period: its requests differ, mostly against what it did before.
fn waits_for_rest(of: &Loop<'_>) -> bool {
    let (changed, follow) = (of.periods.requests_changed_count, of.periods.requests_follow_count);
    let follows = changed >= CHANGES_MIN && follow.saturating_mul(5) >= changed.saturating_mul(4);
    follows && !is_rounded(of) && of.periods.split.p50(Part::Work) >= WORK_MIN_NS
}

/// Whether its requests are one span, of which a runtime has lost a millisecond at times: it counts in milliseconds, and one
/// more of them passes while there is more to do.
fn is_rounded(of: &Loop<'_>) -> bool {
    const MS: i64 = 1_000_000;
    let range = of.series.observed.as_ref().and_then(|waits| waits.requested_ns).filter(|_| in_milliseconds(of));
    range.is_some_and(|[least, most]| most.0 - least.0 <= MS && most.0 - of.periods.split.p50(Part::Requested) < MS / 2)
}

/// Whether its requests are whole milliseconds that differ.
pub(crate) fn in_milliseconds(of: &Loop<'_>) -> bool {
    const MS: i64 = 1_000_000;
    // A runtime that adds the present time to a span has lost a few microseconds of it at the call.
    let lost = if of.identity.request == Request::Deadline { 10_000 } else { 0 };
    let is_whole = |ns: Nanos| ns.0 > 0 && (MS - 1 - (ns.0 - 1) % MS) <= lost;
    let range = of.series.observed.as_ref().and_then(|waits| waits.requested_ns);
    let by_call = of.is_varied && Call::is_in_milliseconds(&of.identity.call);
    by_call || range.is_some_and(|range| range.into_iter().all(is_whole))
}

pub(crate) fn per_second(rate: f64) -> String {
    if rate >= 99.95 { grouped(rate.round() as u64) } else { format!("{rate:.1}") }
}

#[cfg(test)]
mod tests {
    use oversleep_record::Nanos;
    use oversleep_record::part::Parts;

    use crate::observed::testing::{found, periods};

    const MS: i64 = 1_000_000;

    #[test]
    fn who_waits_for_the_rest_of_a_period_is_told_from_who_loses_a_millisecond() {
        let said = |requested: i64, range: [i64; 2], follow: u64| {
            let of = Parts { requested: requested * MS, work: 2 * MS, late: MS / 4, ..Parts::default() };
            let mut series = periods(None, &[(100, of)]);
            let waits = series.observed.as_mut().unwrap();
            waits.requested_ns = Some(range.map(|ms| Nanos(ms * MS)));
            let periods = waits.periods.as_mut().unwrap();
            (periods.requests_changed_count, periods.requests_follow_count) = (20, follow);
            found(vec![series], "loop-drifts").concat()
        };
        let rest = "waits for what is left of each period, counted from the present time in whole milliseconds";
        assert!(said(14, [13, 15], 18).contains(rest), "{}", said(14, [13, 15], 18));
        assert!(said(14, [14, 15], 18).contains(rest));
        assert!(said(14, [13, 15], 12).contains("waits for a span each time"), "its requests don't follow its work");
        assert!(said(10, [9, 10], 18).contains("waits for a span each time"), "one of 10 ms, less what was lost");
    }

    #[test]
    fn a_loop_of_spans_is_noted_with_its_rate() {
        let of = Parts { requested: 14 * MS, work: 2 * MS, late: MS / 4, ..Parts::default() };
        assert_eq!(
            found(vec![periods(None, &[(100, of)])], "loop-drifts"),
            [
                "app: nanosleep for 10 ms waits for a span each time: its periods take 2.25 ms longer than the 14 ms that it requests, \
                 61.5 per second; 2 ms are its own work"
            ]
        );
        let unseen = Parts { work: 0, unattributed: 2 * MS, ..of };
        assert!(found(vec![periods(None, &[(100, unseen)])], "loop-drifts")[0].ends_with("61.5 per second"));
    }
}
