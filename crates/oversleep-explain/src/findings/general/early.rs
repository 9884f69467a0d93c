//! Waits that end before their deadline.

use oversleep_record::finding::Severity;
use oversleep_record::series::Quantity;
use oversleep_record::stats::VALUES_MIN;
use oversleep_record::words::{list, percent};
use oversleep_record::{ExperimentId, Nanos, Os, ResultFile, Series};

use crate::entry::{Checked, Conclusion, Scope};
use crate::finding::{Check, FindingEntry};
use crate::names::{LINUX_TO_TIME_OF_DAY, MONOTONIC, SOCKET_TIMEOUT, STD_INSTANT};
use crate::read::not_measured;
use crate::remedies::program::COMPARE_WITHIN_ONE_CLOCK;
use crate::remedies::windows::WAIT_FOR_THE_REST;
use crate::verdicts;

/// If this share of the wake-ups is early, a program can't rely on the wait.
const OFTEN: f64 = 0.01;

pub(super) static FINDINGS: &[FindingEntry] = &[FindingEntry {
    id: "OVS-G003",
    name: "early-wake-ups",
    summary: "A wait ended before its deadline as read on another clock; code that assumes the deadline has passed \
              misbehaves.",
    applies_to: "every operating system; waits and timestamps on different clocks, timeouts that round down",
    scope: Scope::Anywhere,
    severity: Severity::Note,
    meaning: "A wait that never ends early on its own clock may still end early on another. NTP slews and steps \
              CLOCK_REALTIME, but not CLOCK_MONOTONIC_RAW or the bare counter; a coarse clock shows the time of the \
              last tick; a calibrated counter has an error of its own. A timeout that is rounded down to whole \
              milliseconds or ticks ends before the requested time on any clock. Windows before 10 ended timed waits \
              up to a tick early.",
    how_we_know: "Lateness is signed: oversleep counts early wake-ups and never clamps them to zero. For each wait it names the \
                  clock that the wait uses and the clock that timed it, and says whether the request was rounded down.",
    what_to_do: "Compute the deadline on the clock that the wait uses, check that clock after the wait, and wait again for the \
                 rest. Never assert in a test that at least the requested time has passed on another clock.",
    sources: &["https://man7.org/linux/man-pages/man2/clock_nanosleep.2.html"],
    remedies: &[&COMPARE_WITHIN_ONE_CLOCK, &WAIT_FOR_THE_REST],
    check: Check::Rule(early_wake_ups),
}];

/// The clock of a wait's timer, if it is known.
fn own_clock(file: &ResultFile, wait: &str) -> Option<&'static str> {
    (file.platform.is(Os::Linux)).then_some(match wait {
        SOCKET_TIMEOUT => "the tick",
        _ if LINUX_TO_TIME_OF_DAY.contains(&wait) => "realtime",
        _ => MONOTONIC,
    })
}

fn why_early(file: &ResultFile, series: &Series) -> String {
    if let (Some(rounded), Some(requested)) = (series.rounded_ns, series.requested_ns)
        && rounded < requested
    {
        return format!("{requested} was rounded down to {rounded}");
    }
    let is_monotonic = file.platform.is(Os::Linux) && series.clock == STD_INSTANT;
    let timed_by = if is_monotonic { MONOTONIC } else { series.clock.as_str() };
    match own_clock(file, &series.subject) {
        Some(own) if own == timed_by => format!("the wait uses {own}, which also timed it"),
        Some(own) => format!("the wait uses {own} and {timed_by} timed it"),
        None => format!("{timed_by} timed it"),
    }
}

/// Whether the clock that timed a series moves in steps as large as the apparent earliness, so that it can't tell.
fn is_within_a_step(file: &ResultFile, series: &Series) -> bool {
    let floor = file.floor.as_ref().filter(|floor| floor.clock == series.clock);
    let step = floor.map(|floor| floor.step_ns).or_else(|| file.clock(&series.clock).and_then(verdicts::step));
    let earliest = series.distribution.min().map(|min| Nanos(min.saturating_neg()));
    matches!((step, earliest), (Some(step), Some(by)) if by <= step)
}

fn early_wake_ups(file: &ResultFile) -> Checked {
    // Waits of language runtimes have a finding of their own.
    let is_wait = |series: &&Series| series.quantity == Quantity::Lateness && series.runtime.is_none();
    let waits = || file.series.iter().filter(is_wait);
    let recorded: u64 = waits().map(|series| series.counts.recorded).sum();
    if recorded < VALUES_MIN {
        return Err(not_measured(file, ExperimentId::B5, "a wait"));
    }
    let early: Vec<&Series> =
        waits().filter(|series| series.counts.early > 0 && !is_within_a_step(file, series)).collect();
    let share = |series: &Series| series.counts.early as f64 / series.counts.recorded.max(1) as f64;
    let Some(worst) = early.iter().max_by(|one, other| share(one).total_cmp(&share(other))) else {
        return Ok(Conclusion::absent(format!("none of {recorded} waits ended before its deadline")));
    };
    let earliest = worst.distribution.min().filter(|&min| min < 0).map(|min| Nanos(min.saturating_neg()));
    let by = earliest.map(|by| format!(" up to {by}")).unwrap_or_default();
    let others = early.iter().map(|series| series.subject.as_str()).filter(|&wait| wait != worst.subject);
    let mut others: Vec<&str> = others.collect();
    others.sort_unstable();
    others.dedup();
    let too = if others.is_empty() { String::new() } else { format!("; so did {}", list(&others)) };
    let found = Conclusion::found(format!(
        "{} ended{by} early: {} of {} waits ended before the deadline ({}){too}",
        worst.subject,
        worst.counts.early,
        worst.counts.recorded,
        why_early(file, worst)
    ))
    .matters(if share(worst) >= OFTEN { Severity::Fault } else { Severity::Note });
    Ok(early.iter().fold(found, |all, series| {
        all.rests_on(&series.key, format!("{} early; {}", percent(share(series)), why_early(file, series)))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Explained, Sheet, rounds};

    #[test]
    fn early_by_another_clock() {
        let sheet = Sheet::linux()
            .series(rounds("B5/sem-timedwait/1ms", &[66_000, 66_000, 66_000, -900], 20))
            .series(rounds("B5/poll/1ms", &[66_000; 4], 20));
        sheet.finds(
            "OVS-G003",
            "sem-timedwait ended up to 900 ns early: 20 of 80 waits ended before the deadline (the wait uses realtime and \
             monotonic timed it)",
        );
        assert_eq!(sheet.finding("OVS-G003").severity, Severity::Fault);
    }

    #[test]
    fn early_by_rounding_and_rarely() {
        let mut series = rounds("B5/epoll-wait/1.5ms", &[66_000; 10], 100);
        series.distribution.record(-430_000);
        series.counts.recorded += 1;
        series.counts.early = 1;
        series.rounded_ns = Some(Nanos::from_millis(1));
        let sheet = Sheet::linux().series(series);
        sheet.finds(
            "OVS-G003",
            "epoll-wait ended up to 430 µs early: 1 of 1001 waits ended before the deadline (1.5 ms was rounded down to 1 ms)",
        );
        assert_eq!(sheet.finding("OVS-G003").severity, Severity::Note);
    }

    #[test]
    fn none_early_or_none_measured() {
        let punctual = Sheet::linux().steady("B5/nanosleep/1ms", 66_000);
        punctual.finds_no("OVS-G003", "none of 80 waits ended before its deadline");
        Sheet::linux().lacks_data("OVS-G003");
    }
}
