//! What the program itself does: it calls its wait too late, or waits by a clock that others set.

use oversleep_record::finding::Severity;
use oversleep_record::observed::wait::TimerClock;
use oversleep_record::words::{counted, grouped};
use oversleep_record::{Identity, Nanos, ResultFile};

use super::{APPLIES_TO, HOW};
use crate::entry::{Checked, Conclusion, Scope};
use crate::finding::{Check, FindingEntry};
use crate::observed::{KINDS_MAX, Kind, WAITS_MIN, enough_calls, kinds};
use crate::remedies::observed::{SHORTEN_WORK, WAIT_ON_MONOTONIC};

/// A program is behind its deadlines if it is for one wait in so many.
const BEHIND_MIN: u64 = 20;

pub(super) static FINDINGS: &[FindingEntry] = &[
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
        what_to_do: "Shorten the work between two waits, or lengthen the period. Where the waits before ended late, cure that.",
        sources: &[],
        remedies: &[&SHORTEN_WORK],
        check: Check::Causes(late_calls),
    },
    FindingEntry {
        id: "OVS-Y022",
        name: "wait-on-wall-clock",
        summary: "Waits of the program end at a time of day, so that setting the clock moves their end.",
        applies_to: "programs on Linux, followed in the kernel",
        scope: Scope::Observed,
        severity: Severity::Note,
        meaning: "A deadline on CLOCK_REALTIME or CLOCK_TAI moves with the time of day. If NTP or a person sets the clock back by \
                  an hour, the wait lasts an hour longer. Conditions of POSIX wait on CLOCK_REALTIME unless they are told \
                  otherwise; a condition variable of C++ does for system_clock, and before GCC 10 for any clock.",
        how_we_know: "The kernel keeps each timer with its clock. A wait for a span has none of these, whatever clock it names, \
                      because the kernel moves it to CLOCK_MONOTONIC.",
        what_to_do: "Wait on CLOCK_MONOTONIC.",
        sources: &[
            "https://man7.org/linux/man-pages/man3/pthread_cond_timedwait.3p.html",
            "https://man7.org/linux/man-pages/man3/pthread_condattr_setclock.3p.html",
            "https://man7.org/linux/man-pages/man2/timer_create.2.html",
        ],
        remedies: &[&WAIT_ON_MONOTONIC],
        check: Check::Rule(wall_clock),
    },
];

/// Whether waits are of the same thread and call, for whatever time.
fn is_of_same_loop(one: &Identity, other: &Identity) -> bool {
    let rest = |of: &Identity| Identity { requested_ns: None, ..of.clone() };
    rest(one) == rest(other)
}

fn wall_clock(file: &ResultFile) -> Checked<Conclusion> {
    let all = kinds(file);
    let clock = |kind: &Kind<'_>| kind.waits.clock;
    if !all.iter().any(|kind| clock(kind).is_some()) {
        return Err(Conclusion::lacks(
            "the clocks of these waits were not seen. Follow them in the kernel (`--by kernel`)",
        ));
    }
    let mut found: Vec<&Kind<'_>> =
        all.iter().filter(|kind| clock(kind).is_some_and(TimerClock::is_set_by_people)).collect();
    found.sort_by_key(|kind| std::cmp::Reverse(kind.count()));
    let Some(first) = found.first() else {
        return Err(Conclusion::absent("no wait ends by a clock that people set"));
    };
    let also = match found.len() - 1 {
        0 => String::new(),
        1 => ", and so does another kind of waits".to_owned(),
        more => format!(", and so do {more} more kinds of waits"),
    };
    let name = clock(first).map_or("", TimerClock::name);
    let conclusion = Conclusion::found(format!(
        "{} waits on {name}{also}: setting the time of day makes these waits longer or shorter",
        first.identity
    ));
    let shown = found.iter().take(KINDS_MAX);
    Ok(shown.fold(conclusion, |all, kind| {
        let name = clock(kind).map_or("", TimerClock::name);
        all.rests_on(&kind.series.key, format!("{} on {name}", counted(kind.count(), "wait")))
    }))
}

/// What makes a thread call late that does nothing wrong itself.
const WAITS_BEFORE: &str = "waits that had ended late, or of what kept it from a CPU since";

fn late_calls(file: &ResultFile) -> Checked<Vec<Conclusion>> {
    let all = enough_calls(file)?;
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
        // Those that were called in time are other kinds, by what was left of their time.
        let of_loop: u64 =
            all.iter().filter(|other| is_of_same_loop(&kind.identity, &other.identity)).map(Kind::count).sum();
        let after_late = kind.waits.late_after_late_count;
        let why = match after_late {
            0 => String::new(),
            count if count == late.count() => format!("; each time because of {WAITS_BEFORE}"),
            count => format!("; in {} of them because of {WAITS_BEFORE}", grouped(count)),
        };
        let found = Conclusion::found(format!(
            "{} makes the call when its deadline has passed already, in {} of {} ({p50} at p50){why}",
            kind.identity,
            grouped(late.count()),
            counted(of_loop, "wait")
        ));
        let explained = Nanos(i64::try_from(late.sum()).unwrap_or(i64::MAX));
        let says = format!(
            "called late by {p50} at p50, {} at most, {}",
            Nanos(late.max().unwrap_or(0)),
            counted(late.count(), "wait")
        );
        let found = found.of_instance(kind.identity.to_string(), explained).rests_on(&kind.series.key, says);
        match after_late.saturating_mul(2) >= late.count() {
            // Whatever delays the waits delays these calls.
            true => found.matters(Severity::Note).cured_by(&[]),
            false => found,
        }
    };
    Ok(behind.iter().take(4).map(conclusion).collect())
}

#[cfg(test)]
mod tests {
    use oversleep_record::part::Parts;

    use super::*;
    use crate::observed::testing::{found, waits};

    #[test]
    fn a_wait_that_a_step_of_the_clock_moves_is_noted() {
        let on = |clock| {
            let mut series = waits(100, 12, Parts::default());
            series.observed.as_mut().unwrap().clock = clock;
            found(vec![series], "wait-on-wall-clock")
        };
        assert_eq!(
            on(Some(TimerClock::Realtime)),
            [
                "app: nanosleep for 100 ms waits on CLOCK_REALTIME: setting the time of day makes these waits longer or shorter"
            ]
        );
        assert_eq!([on(Some(TimerClock::Monotonic)), on(Some(TimerClock::Boottime)), on(None)].concat(), [""; 0]);
    }
}
