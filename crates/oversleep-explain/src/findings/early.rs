//! Waits that end before their deadline.

use oversleep_record::finding::Severity;
use oversleep_record::series::Quantity;
use oversleep_record::stats::VALUES_MIN;
use oversleep_record::{Nanos, ResultFile, Series};

use super::super::entry::{Conclusion, FindingEntry, Scope, Statement};
use super::super::read::{Look, not_measured, settle};
use super::super::text::{list, percent};

/// Share of early wake-ups from which a program can't rely on a wait.
const OFTEN: f64 = 0.01;

pub(super) const EARLY_WAKE_UPS: FindingEntry = FindingEntry {
    id: "OVS-G003",
    name: "early-wake-ups",
    summary: "A wait ended before its deadline as another clock saw it; code that assumes it is over misbehaves.",
    applies_to: "every operating system; waits and stamps on different clocks, timeouts that round down",
    scope: Scope::Anywhere,
    severity: Severity::Note,
    explanation: "\
No wait of these ends early on its own clock. It does on another: CLOCK_REALTIME is slewed and stepped by NTP while \
CLOCK_MONOTONIC_RAW and the bare counter are not, a coarse clock shows the time of the last tick, and a calibrated \
counter has an error of its own. A timeout that is rounded down to whole milliseconds or ticks is over before the span \
that was wanted, whatever the clock. Windows before 10 ended timed waits up to a tick early.\n\n\
How we know: lateness is signed, early wake-ups are counted and never clamped to zero. For each wait the clock it runs \
on and the clock that stamped it are named, and whether the request was rounded down.\n\n\
Cure: compute the deadline on the clock the wait uses, check that clock after the wait, and wait again for what is left. \
Never assert in a test that at least the span has passed on another clock.",
    remedies: &["compare-within-one-clock", "wait-for-the-rest"],
    check: |file| settle(early_wake_ups(file)),
};

/// The clock a wait's timer runs on, where that is known.
fn own_clock(file: &ResultFile, wait: &str) -> Option<&'static str> {
    if file.platform.os != "linux" {
        return None;
    }
    Some(match wait {
        "sem-timedwait" | "mq-timedreceive" => "realtime",
        "so-rcvtimeo" => "the tick",
        _ => "monotonic",
    })
}

fn why_early(file: &ResultFile, series: &Series) -> String {
    if let (Some(asked), Some(wanted)) = (series.asked_ns, series.requested_ns)
        && asked < wanted
    {
        return format!("{wanted} were rounded down to {asked}");
    }
    let is_linux_std = file.platform.os == "linux" && series.clock == "std-instant";
    let stamps = if is_linux_std { "monotonic" } else { series.clock.as_str() };
    match own_clock(file, &series.subject) {
        Some(own) if own == stamps => format!("wait and stamps both on {own}"),
        Some(own) => format!("the wait runs on {own}, the stamps are {stamps}'s"),
        None => format!("stamped with {stamps}"),
    }
}

/// Whether the clock that stamped moves in steps as large as what seems early: it can't tell then.
fn within_the_stamps_step(file: &ResultFile, series: &Series) -> bool {
    let floor = file.floor.as_ref().filter(|floor| floor.clock == series.clock);
    let step = floor.map(|floor| floor.step_ns).or(file.clock(&series.clock).and_then(super::super::verdicts::step));
    let earliest = series.distribution.min().map(|min| Nanos(min.saturating_neg()));
    matches!((step, earliest), (Some(step), Some(by)) if by <= step)
}

fn early_wake_ups(file: &ResultFile) -> Look<Conclusion> {
    let waits = || file.series.iter().filter(|series| series.quantity == Quantity::Lateness);
    let recorded: u64 = waits().map(|series| series.counts.recorded).sum();
    if recorded < VALUES_MIN {
        return Err(not_measured(file, "a wait"));
    }
    let early: Vec<&Series> =
        waits().filter(|series| series.counts.early > 0 && !within_the_stamps_step(file, series)).collect();
    let share = |series: &Series| series.counts.early as f64 / series.counts.recorded.max(1) as f64;
    let Some(worst) = early.iter().max_by(|one, other| share(one).total_cmp(&share(other))) else {
        return Ok(Conclusion::Absent(Statement::new(format!("none of {recorded} waits ended before its deadline"))));
    };
    let earliest =
        |series: &Series| series.distribution.min().filter(|&min| min < 0).map(|min| Nanos(min.saturating_neg()));
    let by = earliest(worst).map(|by| format!(", by up to {by}")).unwrap_or_default();
    let mut others: Vec<&str> =
        early.iter().map(|series| series.subject.as_str()).filter(|&wait| wait != worst.subject).collect();
    others.sort_unstable();
    others.dedup();
    let also = if others.is_empty() { String::new() } else { format!("; also {}", list(&others)) };
    let found = Statement::new(format!(
        "{} ended before its deadline in {} of {} waits{by} ({}){also}",
        worst.subject,
        worst.counts.early,
        worst.counts.recorded,
        why_early(file, worst)
    ));
    let found = early.iter().fold(found, |all, series| {
        all.rests_on(&series.key, format!("{} early; {}", percent(share(series)), why_early(file, series)))
    });
    let severity = if share(worst) >= OFTEN { Severity::Fault } else { Severity::Note };
    Ok(Conclusion::Found(found.matters(severity)))
}

#[cfg(test)]
mod tests {
    use oversleep_record::finding::Verdict;

    use super::super::super::testing::{Explained, Sheet, rounds};
    use super::*;

    fn says(sheet: &Sheet) -> (Verdict, Severity, String) {
        let finding = sheet.finding("OVS-G003");
        (finding.verdict, finding.severity, finding.sentence)
    }

    #[test]
    fn early_by_another_clock() {
        let sheet = Sheet::linux()
            .series(rounds("B5/sem-timedwait/1ms", &[66_000, 66_000, 66_000, -900], 20))
            .series(rounds("B5/poll/1ms", &[66_000; 4], 20));
        assert_eq!(
            says(&sheet),
            (
                Verdict::Found,
                Severity::Fault,
                "sem-timedwait ended before its deadline in 20 of 80 waits, by up to 900 ns (the wait runs on realtime, \
                 the stamps are monotonic's)"
                    .into()
            )
        );
    }

    #[test]
    fn early_by_rounding_and_rarely() {
        let mut series = rounds("B5/epoll-wait/1.5ms", &[66_000; 10], 100);
        series.distribution.record(-430_000);
        series.counts.recorded += 1;
        series.counts.early = 1;
        series.asked_ns = Some(Nanos::from_millis(1));
        assert_eq!(
            says(&Sheet::linux().series(series)),
            (
                Verdict::Found,
                Severity::Note,
                "epoll-wait ended before its deadline in 1 of 1001 waits, by up to 430 µs (1.5 ms were rounded down to \
                 1 ms)"
                    .into()
            )
        );
    }

    #[test]
    fn none_early_or_none_measured() {
        let punctual = Sheet::linux().steady("B5/nanosleep/1ms", 66_000);
        assert_eq!(says(&punctual).2, "none of 80 waits ended before its deadline");
        assert_eq!(says(&punctual).0, Verdict::Absent);
        assert_eq!(says(&Sheet::linux()).0, Verdict::NotEnoughData);
    }
}
