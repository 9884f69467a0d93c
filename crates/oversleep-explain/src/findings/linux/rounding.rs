//! Timeouts that count in coarse units: whole milliseconds, whole ticks.

use oversleep_record::finding::Severity;
use oversleep_record::{ExperimentId, FactName, Nanos, Os, ResultFile, Series, SeriesKey};

use crate::entry::{Checked, Conclusion, Scope};
use crate::figures::{a_wait, duration, p50, requested, summary};
use crate::finding::{Check, FindingEntry};
use crate::names::{EPOLL_WAIT, LINUX_MILLISECOND_POLLS, SOCKET_TIMEOUT};
use crate::read::{
    common_wait, hz, known, lacks_wait, needed_for_median, quiet_enough, sound, tick, wait_series, waits_of,
};
use crate::remedies::linux::{FINER_TIMEOUT_CALL, POLL_BEFORE_RECEIVE, POLL_THE_EPOLL_DESCRIPTOR};

pub(super) static FINDINGS: &[FindingEntry] = &[
    FindingEntry {
        id: "OVS-L004",
        name: "millisecond-timeout",
        summary: "poll and epoll_wait take whole milliseconds, so a fractional timeout is rounded up to the next whole \
                  one.",
        applies_to: "Linux, every version; any runtime whose event loop ends in poll or epoll_wait",
        scope: Scope::Os(Os::Linux),
        severity: Severity::Cost,
        meaning: "The timeout of poll and epoll_wait is an int of milliseconds. A caller that wants 300 µs must pass 0 and \
                  spin, or pass 1 and wait more than three times as long. A caller that must never be early rounds up, as \
                  event loops do. A runtime that sleeps through its event loop (Go's short sleeps, many async runtimes) \
                  passes this rounding on to every timer it has.",
        how_we_know: "oversleep records what it requested and what it passed to the call after rounding. The difference \
                      needs no measurement; the lateness that follows from it is measured.",
        what_to_do: "Call ppoll or epoll_pwait2 (Linux 5.11), which take a timespec in nanoseconds. If a runtime owns the \
                     loop, a timerfd among its descriptors has the same effect.",
        sources: &["https://man7.org/linux/man-pages/man2/epoll_wait.2.html"],
        remedies: &[&FINER_TIMEOUT_CALL, &POLL_THE_EPOLL_DESCRIPTOR],
        check: Check::Rule(millisecond_timeout),
    },
    FindingEntry {
        id: "OVS-L006",
        name: "socket-timeout-tick",
        summary: "SO_RCVTIMEO and SO_SNDTIMEO count whole ticks of 1/HZ and end one to two ticks late.",
        applies_to: "Linux, every version; the tick is 1 ms to 10 ms (CONFIG_HZ 1000 to 100)",
        scope: Scope::Os(Os::Linux),
        severity: Severity::Cost,
        meaning: "The kernel keeps socket timeouts in jiffies and runs them on the timer wheel, not on high-resolution \
                  timers. It rounds the request up to whole ticks, and the wheel adds up to another tick so as never to be \
                  early. With HZ 250 a receive timeout of 1 ms ends after 4 to 8 ms. Longer timeouts go to coarser levels of \
                  the wheel and are late by up to an eighth of their length.",
        how_we_know: "oversleep measures a receive with SO_RCVTIMEO on an idle socket alongside the other waits, and \
                      compares it with the tick that the coarse clock shows.",
        what_to_do: "Wait with ppoll, then receive with MSG_DONTWAIT.",
        sources: &["https://man7.org/linux/man-pages/man7/socket.7.html"],
        remedies: &[&POLL_BEFORE_RECEIVE],
        check: Check::Rule(socket_timeout_tick),
    },
];

/// The part of the lateness that rounding alone adds; `None` if it adds nothing or is unknown.
fn rounded_by(series: &Series) -> Option<Nanos> {
    let added = series.rounded_ns? - series.requested_ns?;
    (added > Nanos::ZERO).then_some(added)
}

fn millisecond_timeout(file: &ResultFile) -> Checked {
    let measured: Vec<&Series> = LINUX_MILLISECOND_POLLS
        .iter()
        .flat_map(|wait| waits_of(file, wait))
        .filter(|series| series.has_values() && series.rounded_ns.is_some())
        .collect();
    if measured.is_empty() {
        let key = SeriesKey::new(ExperimentId::B5, EPOLL_WAIT).span(Nanos::from_micros(300));
        return Err(lacks_wait(file, "poll or epoll_wait below a millisecond", &key));
    }
    let is_fractional = |series: &&Series| requested(series).0 % 1_000_000 != 0;
    let fractional: Vec<&Series> = measured.iter().copied().filter(is_fractional).collect();
    if fractional.is_empty() {
        return Err(Conclusion::lacks(
            "this run requested only whole milliseconds of poll and epoll_wait. Use --request 300us",
        ));
    }
    let rounded: Vec<(&Series, Nanos)> =
        measured.into_iter().filter_map(|series| Some((series, rounded_by(series)?))).collect();
    // The largest ratio is the clearest example.
    let ratio = |&&(series, added): &&(&Series, Nanos)| {
        (added.0.saturating_mul(1_000) / series.requested_ns.unwrap_or(Nanos(1)).0.max(1), p50(series))
    };
    let Some(&(worst, added)) = rounded.iter().max_by_key(ratio) else {
        let absent = Conclusion::absent("poll and epoll_wait were passed exactly what was requested");
        return Ok(absent.rests_on_series(fractional));
    };
    quiet_enough(file, sound(worst)?, added)?;
    let found = Conclusion::found(format!(
        "{} took {}: poll and epoll_wait take whole milliseconds, and rounding up to {} caused {added} of the {} by which it was late",
        a_wait(worst),
        duration(worst),
        worst.rounded_ns.unwrap_or_default(),
        p50(worst)
    ));
    Ok(rounded.iter().fold(found, |found, (series, added)| {
        found.rests_on(&series.key, format!("{}; {added} of it by rounding", summary(series)))
    }))
}

fn socket_timeout_tick(file: &ResultFile) -> Checked {
    // Each of them takes two ticks, so a short check has few.
    let series = needed_for_median(file, &common_wait(SOCKET_TIMEOUT), wait_series(file, SOCKET_TIMEOUT))?;
    let tick = known(file, FactName::TimerHz, "the kernel's tick", tick(file))?;
    quiet_enough(file, series, tick)?;
    let conclusion = if p50(series).0.saturating_mul(4) < tick.0 {
        Conclusion::absent(format!(
            "a receive timeout of {} was {} late, far less than the tick of {tick}",
            requested(series),
            p50(series)
        ))
    } else {
        let hz = hz(file).map(|hz| format!(" (HZ {hz})")).unwrap_or_default();
        Conclusion::found(format!(
            "a receive timeout (SO_RCVTIMEO) of {} took {}: socket timeouts count whole ticks of {tick}{hz}",
            requested(series),
            duration(series)
        ))
    };
    Ok(conclusion.rests_on_series([series]).rests_on(FactName::TimerCoarseStep, format!("a tick of {tick}")))
}

#[cfg(test)]
mod tests {
    use oversleep_record::Unavailable;
    use oversleep_record::finding::Verdict;
    use oversleep_record::series::Pace;

    use super::*;
    use crate::testing::{Explained, Sheet, rounds};

    fn passed(key: &str, late: i64, passed: i64) -> Series {
        Series { rounded_ns: Some(Nanos(passed)), ..rounds(key, &[late; 4], 20) }
    }

    #[test]
    fn milliseconds_round_up() {
        let sheet = Sheet::linux()
            .series(passed("B5/poll/1.5ms", 566_000, 2_000_000))
            .series(passed("B5/epoll-wait/300us", 760_000, 1_000_000))
            .series(passed("B5/epoll-wait/1ms", 66_000, 1_000_000));
        sheet.finds(
            "OVS-L004",
            "a 300 µs epoll-wait took 1.06 ms: poll and epoll_wait take whole milliseconds, and rounding up to 1 ms caused 700 µs of the 760 µs by which it was late",
        );
        let evidence = sheet.finding("OVS-L004").evidence;
        assert_eq!(evidence.len(), 2, "the request of a whole millisecond proves nothing");
    }

    #[test]
    fn a_call_that_is_not_there_is_not_advised() {
        let sheet = || Sheet::linux().series(passed("B5/epoll-wait/300us", 760_000, 1_000_000));
        let advised = |sheet: Sheet| {
            let advice = sheet.finding("OVS-L004").advice;
            advice.iter().map(|one| one.remedy.clone()).collect::<Vec<_>>()
        };
        assert_eq!(advised(sheet()), ["finer-timeout-call"], "unknown");
        assert_eq!(advised(sheet().steady("B5/epoll-pwait2/300us", 60_000)), ["finer-timeout-call"]);
        let old = sheet().unavailable("B5/epoll-pwait2/300us", Unavailable::TooOld { needs: "Linux 5.11".into() });
        assert_eq!(advised(old), ["poll-the-epoll-descriptor"]);
    }

    #[test]
    fn missed_deadlines_do_not_enter_the_duration_of_a_call() {
        let mut periodic = passed("B5/poll/300us", 760_000, 1_000_000);
        periodic.pace = Some(Pace::Periodic);
        periodic.calls_only = Some(periodic.distribution.clone());
        for late in [160_000, 460_000] {
            (0..80).for_each(|_| periodic.distribution.record(late));
        }
        periodic.counts.missed = 160;
        let (_, sentence) = Sheet::linux().series(periodic).says("OVS-L004");
        assert!(sentence.starts_with("a 300 µs poll took 1.06 ms: "), "{sentence}");
    }

    #[test]
    fn milliseconds_absent_or_unknown() {
        Sheet::linux()
            .series(passed("B5/poll/300us", 60_000, 300_000))
            .finds_no("OVS-L004", "poll and epoll_wait were passed exactly what was requested");
        Sheet::linux().series(passed("B5/poll/1ms", 66_000, 1_000_000)).lacks(
            "OVS-L004",
            "this run requested only whole milliseconds of poll and epoll_wait. Use --request 300us",
        );
        Sheet::linux().lacks_data("OVS-L004");
        let mut wild = rounds("B5/poll/300us", &[760_000, 9_000_000, 100_000, 4_000_000], 20);
        wild.rounded_ns = Some(Nanos(1_000_000));
        Sheet::linux().series(wild).is_disturbed("OVS-L004");
    }

    #[test]
    fn socket_timeouts_end_on_the_tick() {
        let sheet = |late| {
            let sheet = Sheet::linux().span(FactName::TimerCoarseStep, 4_000_000).integer(FactName::TimerHz, 250);
            sheet.steady("B5/so-rcvtimeo/1ms", late)
        };
        sheet(6_900_000).finds(
            "OVS-L006",
            "a receive timeout (SO_RCVTIMEO) of 1 ms took 7.9 ms: socket timeouts count whole ticks of 4 ms (HZ 250)",
        );
        sheet(70_000).finds_no("OVS-L006", "a receive timeout of 1 ms was 70 µs late, far less than the tick of 4 ms");
        assert_eq!(Sheet::linux().steady("B5/so-rcvtimeo/1ms", 6_900_000).verdict("OVS-L006"), Verdict::NotEnoughData);
        let few = |values: &[i64]| {
            let series = rounds("B5/so-rcvtimeo/1ms", values, 3);
            Sheet::linux().span(FactName::TimerCoarseStep, 4_000_000).series(series).verdict("OVS-L006")
        };
        assert_eq!(few(&[6_990_000, 6_980_000, 7_010_000, 6_990_000]), Verdict::Found, "twelve that agree are enough");
        assert_eq!(few(&[6_990_000, 5_000_000, 6_000_000, 6_990_000]), Verdict::NotEnoughData);
        Sheet::linux().integer(FactName::TimerHz, 250).wild("B5/so-rcvtimeo/1ms", 6_900_000).is_disturbed("OVS-L006");
    }
}
