//! Timeouts that count in coarse units: whole milliseconds, whole ticks.

use oversleep_record::finding::Severity;
use oversleep_record::{FactName, Nanos, ResultFile, Series};

use super::super::entry::{Conclusion, FindingEntry, Scope, Statement};
use super::super::read::{Look, judge, not_measured, p50, quiet_enough, settle, summary, tick, wait_series, waits_of};
use super::super::text::list;

/// Waits whose timeout argument is a whole number of milliseconds.
const MILLISECOND_WAITS: [&str; 2] = ["poll", "epoll-wait"];

pub(super) const MILLISECOND_TIMEOUT: FindingEntry = FindingEntry {
    id: "OVS-L004",
    name: "millisecond-timeout",
    summary: "poll and epoll_wait take whole milliseconds: a shorter or fractional timeout becomes the next one.",
    applies_to: "Linux, every version; any runtime whose event loop ends in poll or epoll_wait",
    scope: Scope::Os("linux"),
    severity: Severity::Cost,
    explanation: "\
The timeout of poll and of epoll_wait is an int of milliseconds. A caller that wants 300 µs must pass 0, and spin, or \
1, and wait more than three times as long; whoever wants never to be early rounds up, as event loops do. A runtime that \
sleeps through its event loop (Go's short sleeps, many async runtimes) hands this rounding on to every timer it has.\n\n\
How we know: what was wanted and what the call was asked for after rounding are recorded apart. The difference needs no \
measuring, the lateness that follows from it is measured.\n\n\
Cure: ppoll and epoll_pwait2 (Linux 5.11) take a timespec in nanoseconds. Where the runtime owns the loop, a timerfd \
among its descriptors has the same effect.",
    remedies: &["finer-timeout-call"],
    check: |file| settle(millisecond_timeout(file)),
};

pub(super) const SOCKET_TIMEOUT_TICK: FindingEntry = FindingEntry {
    id: "OVS-L006",
    name: "socket-timeout-tick",
    summary: "SO_RCVTIMEO and SO_SNDTIMEO count whole ticks of 1/HZ and end one to two ticks late.",
    applies_to: "Linux, every version; the tick is 1 ms to 10 ms (CONFIG_HZ 1000 to 100)",
    scope: Scope::Os("linux"),
    severity: Severity::Cost,
    explanation: "\
Socket timeouts are kept in jiffies and run on the timer wheel, not on high-resolution timers. The request is rounded \
up to whole ticks, and the wheel adds up to another one so as never to be early. With HZ 250 a receive timeout of 1 ms \
ends after 4 to 8 ms. Longer timeouts fall into coarser levels of the wheel: they are up to an eighth late.\n\n\
How we know: a receive on an idle socket with SO_RCVTIMEO is measured beside the other waits, and compared with the \
tick that the coarse clock shows.\n\n\
Cure: wait with ppoll or epoll_pwait2, then receive with MSG_DONTWAIT.",
    remedies: &["poll-before-receive"],
    check: |file| settle(socket_timeout_tick(file)),
};

/// What rounding alone adds to a request; `None` where it adds nothing or what was asked is not known.
fn rounded_by(series: &Series) -> Option<Nanos> {
    let added = series.asked_ns? - series.requested_ns?;
    (added > Nanos::ZERO).then_some(added)
}

fn millisecond_timeout(file: &ResultFile) -> Look<Conclusion> {
    let measured: Vec<&Series> = MILLISECOND_WAITS
        .iter()
        .flat_map(|wait| waits_of(file, wait))
        .filter(|series| series.has_values() && series.asked_ns.is_some())
        .collect();
    let is_fractional = |series: &&&Series| series.requested_ns.is_some_and(|asked| asked.0 % 1_000_000 != 0);
    if measured.is_empty() {
        return Err(not_measured(file, "poll or epoll_wait below a millisecond (B5/epoll-wait/300us)"));
    }
    if measured.iter().filter(is_fractional).count() == 0 {
        return Err(Conclusion::lacks("poll and epoll_wait were asked for whole milliseconds only"));
    }
    let rounded: Vec<&&Series> = measured.iter().filter(|series| rounded_by(series).is_some()).collect();
    // The worst in proportion is the clearest example.
    let ratio = |series: &Series| {
        rounded_by(series).unwrap_or_default().0.saturating_mul(1_000)
            / series.requested_ns.unwrap_or(Nanos(1)).0.max(1)
    };
    let Some(worst) = rounded.iter().max_by_key(|series| (ratio(series), p50(series))) else {
        let evidence = measured.iter().filter(is_fractional);
        return Ok(Conclusion::Absent(
            evidence
                .fold(Statement::new("poll and epoll_wait were asked for exactly what was wanted"), |all, series| {
                    all.rests_on(&series.key, summary(series))
                }),
        ));
    };
    judge(worst)?;
    let (wanted, asked) = (worst.requested_ns.unwrap_or_default(), worst.asked_ns.unwrap_or_default());
    let added = rounded_by(worst).unwrap_or_default();
    quiet_enough(file, worst, added)?;
    let mut waits: Vec<&str> = rounded.iter().map(|series| series.subject.as_str()).collect();
    waits.dedup();
    let found = Statement::new(format!(
        "{} asked for {wanted} waited {}: the timeout of {} is in whole milliseconds, so {wanted} became {asked}, \
         {added} of the {} it was late",
        worst.subject,
        wanted + p50(worst),
        list(&waits),
        p50(worst)
    ));
    Ok(Conclusion::Found(rounded.iter().fold(found, |all, series| {
        let added = rounded_by(series).unwrap_or_default();
        all.rests_on(&series.key, format!("{}; {added} of it by rounding", summary(series)))
    })))
}

fn socket_timeout_tick(file: &ResultFile) -> Look<Conclusion> {
    let series = wait_series(file, "so-rcvtimeo").ok_or_else(|| not_measured(file, "B5/so-rcvtimeo/1ms"))?;
    judge(series)?;
    let tick = tick(file).ok_or_else(|| Conclusion::lacks("the kernel's tick is not known (timer.hz)"))?;
    quiet_enough(file, series, tick)?;
    let (wanted, late) = (series.requested_ns.unwrap_or_default(), p50(series));
    let statement = |sentence: String| {
        let statement = Statement::new(sentence).rests_on(&series.key, summary(series));
        statement.rests_on(FactName::TimerCoarseStep, format!("a tick of {tick}"))
    };
    if late.0.saturating_mul(4) < tick.0 {
        return Ok(Conclusion::Absent(statement(format!(
            "a receive timeout of {wanted} ended {late} late, far less than the tick of {tick}"
        ))));
    }
    let hz = file.environment.integer(FactName::TimerHz).map(|hz| format!(" (HZ {hz})")).unwrap_or_default();
    Ok(Conclusion::Found(statement(format!(
        "a receive timeout (SO_RCVTIMEO) of {wanted} ended after {}: socket timeouts count whole ticks of {tick}{hz}",
        wanted + late
    ))))
}

#[cfg(test)]
mod tests {
    use oversleep_record::finding::Verdict;

    use super::super::super::testing::{Explained, Sheet, rounds};
    use super::*;

    fn says(sheet: &Sheet, id: &str) -> (Verdict, String) {
        let finding = sheet.finding(id);
        (finding.verdict, finding.sentence)
    }

    fn asked(key: &str, late: i64, asked: i64) -> Series {
        Series { asked_ns: Some(Nanos(asked)), ..rounds(key, &[late; 4], 20) }
    }

    #[test]
    fn milliseconds_round_up() {
        let sheet = Sheet::linux()
            .series(asked("B5/poll/1.5ms", 566_000, 2_000_000))
            .series(asked("B5/epoll-wait/300us", 760_000, 1_000_000))
            .series(asked("B5/epoll-wait/1ms", 66_000, 1_000_000));
        let finding = sheet.finding("OVS-L004");
        assert_eq!(
            finding.sentence,
            "epoll-wait asked for 300 µs waited 1.06 ms: the timeout of poll and epoll-wait is in whole milliseconds, \
             so 300 µs became 1 ms, 700 µs of the 760 µs it was late"
        );
        assert_eq!(finding.evidence.len(), 2, "the request of a whole millisecond proves nothing");
        assert_eq!(finding.verdict, Verdict::Found);
    }

    #[test]
    fn missed_deadlines_do_not_enter_what_a_call_waited() {
        let mut periodic = asked("B5/poll/300us", 760_000, 1_000_000);
        periodic.pace = Some(oversleep_record::series::Pace::Periodic);
        periodic.calls_only = Some(periodic.distribution.clone());
        for late in [160_000, 460_000] {
            (0..80).for_each(|_| periodic.distribution.record(late));
        }
        periodic.counts.missed = 160;
        assert_eq!(
            says(&Sheet::linux().series(periodic), "OVS-L004").1,
            "poll asked for 300 µs waited 1.06 ms: the timeout of poll is in whole milliseconds, so 300 µs became 1 ms, \
             700 µs of the 760 µs it was late"
        );
    }

    #[test]
    fn milliseconds_absent_or_unknown() {
        let exact = Sheet::linux().series(asked("B5/poll/300us", 60_000, 300_000));
        assert_eq!(
            says(&exact, "OVS-L004"),
            (Verdict::Absent, "poll and epoll_wait were asked for exactly what was wanted".into())
        );
        let whole = Sheet::linux().series(asked("B5/poll/1ms", 66_000, 1_000_000));
        assert_eq!(
            says(&whole, "OVS-L004"),
            (Verdict::NotEnoughData, "poll and epoll_wait were asked for whole milliseconds only".into())
        );
        assert_eq!(says(&Sheet::linux(), "OVS-L004").0, Verdict::NotEnoughData);
        let mut wild = rounds("B5/poll/300us", &[760_000, 9_000_000, 100_000, 4_000_000], 20);
        wild.asked_ns = Some(Nanos(1_000_000));
        assert_eq!(says(&Sheet::linux().series(wild), "OVS-L004").0, Verdict::TooDisturbed);
    }

    #[test]
    fn socket_timeouts_end_on_the_tick() {
        let sheet = |late| {
            Sheet::linux()
                .span(FactName::TimerCoarseStep, 4_000_000)
                .integer(FactName::TimerHz, 250)
                .steady("B5/so-rcvtimeo/1ms", late)
        };
        assert_eq!(
            says(&sheet(6_900_000), "OVS-L006"),
            (
                Verdict::Found,
                "a receive timeout (SO_RCVTIMEO) of 1 ms ended after 7.9 ms: socket timeouts count whole ticks of 4 ms \
                 (HZ 250)"
                    .into()
            )
        );
        assert_eq!(
            says(&sheet(70_000), "OVS-L006"),
            (Verdict::Absent, "a receive timeout of 1 ms ended 70 µs late, far less than the tick of 4 ms".into())
        );
        let no_tick = Sheet::linux().steady("B5/so-rcvtimeo/1ms", 6_900_000);
        assert_eq!(
            says(&no_tick, "OVS-L006"),
            (Verdict::NotEnoughData, "the kernel's tick is not known (timer.hz)".into())
        );
        let wild = Sheet::linux().integer(FactName::TimerHz, 250).wild("B5/so-rcvtimeo/1ms", 6_900_000);
        assert_eq!(says(&wild, "OVS-L006").0, Verdict::TooDisturbed);
    }
}
