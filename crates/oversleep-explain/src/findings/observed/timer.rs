//! Waits that end late because their timers do: slack, shares of timeouts, ticks, rounding.

use oversleep_record::finding::Severity;
use oversleep_record::part::Part;
use oversleep_record::{Nanos, ResultFile};

use super::{APPLIES_TO, HOW};
use crate::entry::{Checked, Conclusion, RemedyEntry, Scope};
use crate::finding::{Check, FindingEntry};
use crate::observed::{Cause, Kind, delayed_by, has_ended};
use crate::read;
use crate::remedies::linux::{LOWER_TIMER_SLACK, POLL_BEFORE_RECEIVE, TIMERFD_FOR_LONG_TIMEOUTS};
use crate::remedies::observed::{PASS_FINER_TIMEOUT, SET_ABSOLUTE_DEADLINE};
use crate::remedies::windows::{REQUEST_TIMER_RESOLUTION, USE_HIGH_RESOLUTION_TIMER};

/// Calls whose slack is a share of the timeout, if that exceeds the thread's slack.
const POLLING: [&str; 7] = ["poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2"];
/// What a time line calls the timer resolution.
const RESOLUTION: &str = "resolution";
/// A slack above this is not the thread's, unless somebody raised it.
const THREAD_SLACK_MAX_NS: i64 = 60_000;

pub(super) static FINDINGS: &[FindingEntry] = &[
    FindingEntry {
        id: "OVS-Y001",
        name: "late-by-slack",
        summary: "The kernel let timers of the program expire later, to share an interrupt with others.",
        applies_to: "programs on Linux, followed in the kernel",
        scope: Scope::Observed,
        severity: Severity::Cost,
        meaning: "Each thread has a timer slack, 50 µs by default, by which the kernel may delay its sleeps and timeouts. A \
                  thread inherits it from the thread that creates it. Real-time threads have none.",
        how_we_know: "oversleep sees the earliest and the latest time at which each timer may expire, and when it did. The \
                      time from the earliest one is slack, as long as the latest one had not passed.",
        what_to_do: "Lower the slack of the threads that must be on time, or give them a real-time policy.",
        sources: &["https://man7.org/linux/man-pages/man2/pr_set_timerslack.2const.html"],
        remedies: &[&LOWER_TIMER_SLACK],
        check: Check::Causes(slack),
    },
    FindingEntry {
        id: "OVS-Y002",
        name: "late-by-timeout-share",
        summary: "The slack of long timeouts of poll, select and epoll is a share of the timeout.",
        applies_to: "programs on Linux, followed in the kernel",
        scope: Scope::Observed,
        severity: Severity::Cost,
        meaning: "For poll, select and epoll the slack is 0.1 % of the timeout, and 0.5 % for a process with a nice value \
                  above zero, if that is more than the thread's slack. A timeout of 300 ms may end 300 µs late.",
        how_we_know: "oversleep sees the earliest and the latest time at which the timer of each of these calls may expire. \
                      Where they are further apart than a thread's slack, the share decides.",
        what_to_do: "Wait for a timerfd that is set to the deadline, and give the call itself no timeout.",
        sources: &["https://man7.org/linux/man-pages/man2/pr_set_timerslack.2const.html"],
        remedies: &[&TIMERFD_FOR_LONG_TIMEOUTS],
        check: Check::Causes(timeout_share),
    },
    FindingEntry {
        id: "OVS-Y003",
        name: "late-by-tick",
        summary: "Timeouts of the program's sockets end on the kernel's tick.",
        applies_to: "programs on Linux, followed in the kernel",
        scope: Scope::Observed,
        severity: Severity::Cost,
        meaning: "A timeout that is set with an option of a socket, such as SO_RCVTIMEO, is rounded up to ticks of 1 to 10 ms, and \
                  ends up to two ticks late. From 63 ticks on the kernel keeps it in coarser steps, so that it may end an eighth \
                  of its length late. Precise timers are used only by calls that take a timeout themselves.",
        how_we_know: "These calls have no timeout among their arguments, and their timer is one of the kernel's wheel. What is \
                      shown as requested is the timeout in whole ticks.",
        what_to_do: "Wait for the socket with ppoll or epoll_pwait2 and a timeout, then receive without blocking.",
        sources: &["https://docs.kernel.org/timers/hrtimers.html", "https://lwn.net/Articles/646950/"],
        remedies: &[&POLL_BEFORE_RECEIVE],
        check: Check::Causes(tick),
    },
    FindingEntry {
        id: "OVS-Y004",
        name: "late-by-rounding",
        summary: "The program passes a longer time to the kernel than it means to wait.",
        applies_to: "programs whose wish is stated with --want",
        scope: Scope::Observed,
        severity: Severity::Cost,
        meaning: "epoll_wait and poll take whole milliseconds, and some runtimes round all their waits up to them. The kernel \
                  sees only the rounded time, so the rounding is invisible unless you say what the program meant.",
        how_we_know: "With --want, oversleep counts lateness from the time that the program meant. What lies between that and \
                      the time that the kernel was asked for is rounding.",
        what_to_do: "Use a call or a function of the runtime that takes nanoseconds.",
        sources: &["https://man7.org/linux/man-pages/man2/epoll_wait.2.html"],
        remedies: &[&PASS_FINER_TIMEOUT],
        check: Check::Causes(rounding),
    },
    FindingEntry {
        id: "OVS-Y005",
        name: "late-by-entry",
        summary: "The thread was interrupted between entering the call and setting its timer.",
        applies_to: APPLIES_TO,
        scope: Scope::Observed,
        severity: Severity::Cost,
        meaning: "A span counts from the moment at which the kernel sets the timer. An interrupt, a preemption or a stop of \
                  the hypervisor on the way into the call moves the end of the wait by its length.",
        how_we_know: HOW,
        what_to_do: "Wait for an absolute deadline, which such an interruption can't move.",
        sources: &["https://man7.org/linux/man-pages/man2/clock_nanosleep.2.html"],
        remedies: &[&SET_ABSOLUTE_DEADLINE],
        check: Check::Causes(entry),
    },
    FindingEntry {
        id: "OVS-Y033",
        name: "late-by-resolution",
        summary: "Sleeps and timeouts of the program end at ticks of Windows' clock.",
        applies_to: "traces of Windows, for programs whose wish is stated with --want",
        scope: Scope::Observed,
        severity: Severity::Cost,
        meaning: "Windows looks for timers that are due at each tick of its clock. Their distance is the timer resolution: 15.6 ms, \
                  unless somebody requests less. Until Windows 10 1909 the lowest request holds for every process, since \
                  Windows 10 2004 each process has what it requests itself.",
        how_we_know: "The trace doesn't hold what a call requests, so lateness counts from the time that you state with \
                      --want. What lies between that and the interrupt that ended the wait is the tick's. Records of \
                      Microsoft-Windows-Kernel-Power say who requested which resolution.",
        what_to_do: "Request a resolution of 1 ms while it is needed, or use a high-resolution timer.",
        sources: &[
            "https://learn.microsoft.com/windows/win32/api/timeapi/nf-timeapi-timebeginperiod",
            "https://randomascii.wordpress.com/2020/10/04/windows-timer-resolution-the-great-rule-change/",
        ],
        remedies: &[&REQUEST_TIMER_RESOLUTION, &USE_HIGH_RESOLUTION_TIMER],
        check: Check::Causes(resolution),
    },
];

/// Whether the slack of these waits is a share of their timeout.
fn is_share(kind: &Kind<'_>) -> bool {
    POLLING.contains(&kind.identity.call.as_str())
        && kind.split.p50(Part::Slack) > THREAD_SLACK_MAX_NS
        && kind.identity.requested_ns.is_some_and(|span| span > Nanos::ZERO)
}

/// The kinds delayed by slack of one origin.
fn slack_of<'a>(file: &'a ResultFile, what: &str, is_meant: fn(&Kind<'_>) -> bool) -> Checked<Vec<Kind<'a>>> {
    let mut kinds = delayed_by(file, Part::Slack, what)?;
    kinds.retain(is_meant);
    match kinds.is_empty() {
        true => Err(Conclusion::absent(format!("{what} delayed no kind of waits by much"))),
        false => Ok(kinds),
    }
}

fn slack(file: &ResultFile) -> Checked<Vec<Conclusion>> {
    let kinds = slack_of(file, "timer slack", |kind| !is_share(kind) && !kind.is_on_tick())?;
    let cause = Cause::whole(Part::Slack, &kinds);
    let first = cause.first();
    let late = first.typical(Part::Slack);
    let outside = match (has_ended(file), first.waits.tgid) {
        (true, _) => "From outside, start it with `oversleep run --slack 1ns -- ./app`".to_owned(),
        // Nobody's: the result is a copy for others.
        (false, 0) => {
            "From outside, write 1 to /proc/TID/timerslack_ns for each of its threads (needs CAP_SYS_NICE)".to_owned()
        }
        (false, tgid) => format!(
            "From outside, write 1 to /proc/TID/timerslack_ns for each of its threads, which /proc/{tgid}/task lists (needs \
             CAP_SYS_NICE)"
        ),
    };
    let advice = format!(
        "Set the timer slack of the waiting threads to 1 ns: prctl(PR_SET_TIMERSLACK, 1) in the program, before it starts \
         other threads, which inherit it. {outside}"
    );
    // Those of others may be shares of timeouts.
    let is_raised = first.split.p50(Part::Slack) > THREAD_SLACK_MAX_NS && first.identity.requested_ns.is_some();
    let raised = if is_raised { ", which was raised above the default of 50 µs" } else { "" };
    let found = cause.found(format!("{} ends {late} late because of timer slack{raised}", first.identity));
    Ok(vec![found.advising(&LOWER_TIMER_SLACK, advice, None)])
}

fn timeout_share(file: &ResultFile) -> Checked<Vec<Conclusion>> {
    let kinds = slack_of(file, "the slack of long timeouts", |kind| is_share(kind) && !kind.is_on_tick())?;
    let cause = Cause::whole(Part::Slack, &kinds);
    let first = cause.first();
    let late = first.typical(Part::Slack);
    Ok(vec![cause.found(format!("{} ends {late} late: its slack is a share of the timeout", first.identity))])
}

fn tick(file: &ResultFile) -> Checked<Vec<Conclusion>> {
    let kinds = slack_of(file, "the tick", |kind| kind.is_on_tick() && !kind.is_of_windows())?;
    let cause = Cause::whole(Part::Slack, &kinds);
    let first = cause.first();
    let late = first.typical(Part::Slack);
    let steps = read::tick(file).zip(first.identity.requested_ns).map(|(tick, span)| wheel_step(tick, span));
    let steps = steps.map(|step| format!(", in steps of {step}")).unwrap_or_default();
    let found = format!("{} ends {late} late because its timeout is kept by the kernel's tick{steps}", first.identity);
    Ok(vec![cause.found(found)])
}

/// How finely the kernel's timer wheel keeps a timeout: its first level by single ticks, each further one by steps that are
/// eight times as long.
fn wheel_step(tick: Nanos, span: Nanos) -> Nanos {
    const LEVEL_TICKS: i64 = 63;
    let mut step = tick.0.max(1);
    while span.0 / step >= LEVEL_TICKS {
        step = step.saturating_mul(8);
    }
    Nanos(step)
}

fn want(file: &ResultFile) -> Option<Nanos> {
    file.observation.as_ref()?.want_ns
}

fn rounding(file: &ResultFile) -> Checked<Vec<Conclusion>> {
    let Some(want) = want(file) else {
        return Err(Conclusion::lacks(
            "what the program meant to wait for isn't known. State it with --want, like --want 1ms",
        ));
    };
    let kinds = delayed_by(file, Part::Api, "rounding")?;
    let cause = Cause::whole(Part::Api, &kinds);
    let first = cause.first();
    let added = first.typical(Part::Api);
    let finer = match first.identity.call.as_str() {
        "epoll_wait" | "epoll_pwait" => Some("Use epoll_pwait2, which takes nanoseconds (Linux 5.11)"),
        "poll" => Some("Use ppoll, which takes nanoseconds"),
        "select" => Some("Use pselect, which takes nanoseconds"),
        _ => None,
    };
    let found = cause.found(format!(
        "{} wants {want} and passes more to the call: {added} is added before the kernel sees it",
        first.identity
    ));
    let found = found.rests_on("--want", want.to_string());
    Ok(vec![match finer {
        Some(sentence) => found.advising(&PASS_FINER_TIMEOUT, sentence, None),
        None => found,
    }])
}

fn entry(file: &ResultFile) -> Checked<Vec<Conclusion>> {
    if want(file).is_some() {
        return Err(Conclusion::lacks("with --want, the way into the call isn't told from rounding. Leave it out"));
    }
    let kinds = delayed_by(file, Part::Api, "entering the call")?;
    let cause = Cause::whole(Part::Api, &kinds);
    let first = cause.first();
    let long = first.typical(Part::Api);
    Ok(vec![cause.found(format!("{} needs {long} to enter the call and set its timer", first.identity))])
}

/// The cures where ticks were fine all the time, or part of it.
const TIMER_ALONE: &[&RemedyEntry] = &[&USE_HIGH_RESOLUTION_TIMER];
const TIMER_FIRST: &[&RemedyEntry] = &[&USE_HIGH_RESOLUTION_TIMER, &REQUEST_TIMER_RESOLUTION];

fn resolution(file: &ResultFile) -> Checked<Vec<Conclusion>> {
    let kinds = slack_of(file, "the timer resolution", |kind| kind.is_of_windows())?;
    let cause = Cause::whole(Part::Slack, &kinds);
    let first = cause.first();
    let mut had: Vec<&str> = Vec::new();
    for change in file.changes.iter().filter(|change| change.what == RESOLUTION) {
        if !had.contains(&&*change.after) {
            had.push(&change.after);
        }
    }
    let was = match &had[..] {
        [] => String::new(),
        [one] => format!(", which come every {one}"),
        [all @ .., last] => format!(", which came every {} or {last}", all.join(", ")),
    };
    let late = first.typical(Part::Slack);
    let found = cause.found(format!("{} ends {late} late because timers end at ticks{was}", first.identity));
    // A tick of 1 ms was there for a part of the time, or for all of it: another request gains only the rest, or nothing.
    let is_fine = |after: &&str| after.ends_with("µs") || *after == "1 ms";
    let (fine, coarse): (Vec<&str>, Vec<&str>) = had.iter().partition(|after| is_fine(after));
    let timer =
        |or: &str| format!("{or} for a timer created with CREATE_WAITABLE_TIMER_HIGH_RESOLUTION (Windows 10 1803)");
    if fine.is_empty() {
        let advice = "Call timeBeginPeriod(1) while the program must be on time, and timeEndPeriod(1) afterwards";
        let found = found.advising(&REQUEST_TIMER_RESOLUTION, advice, None);
        return Ok(vec![found.advising(&USE_HIGH_RESOLUTION_TIMER, timer("Or wait"), None)]);
    }
    let found = found.advising(&USE_HIGH_RESOLUTION_TIMER, timer("Wait"), None);
    let Some(coarse) = coarse.first() else { return Ok(vec![found.cured_by(TIMER_ALONE)]) };
    let part = format!(
        "Or call timeBeginPeriod(1) for the whole time that the program must be on time, which gains what was lost while ticks \
         came every {coarse}, and nothing while they came every {}",
        fine[0]
    );
    let found = found.advising(&REQUEST_TIMER_RESOLUTION, part, None);
    Ok(vec![found.cured_by(TIMER_FIRST)])
}

#[cfg(test)]
mod tests {
    use oversleep_record::change::Change;
    use oversleep_record::environment::Os;
    use oversleep_record::finding::Verdict;
    use oversleep_record::observed::Observation;
    use oversleep_record::observed::culprit::WINDOWS_POLICY;
    use oversleep_record::observed::wait::Request;
    use oversleep_record::part::Parts;
    use oversleep_record::testing::Sheet;
    use oversleep_record::{Identity, Series};

    use super::*;
    use crate::observed::testing::{found, waits, waits_on_tick};

    #[test]
    fn a_slack_that_somebody_raised_is_told_from_the_default() {
        let late = |slack: i64| found(vec![waits(1, 100, Parts { slack, ..Parts::default() })], "late-by-slack");
        let says = "app: nanosleep for 1 ms ends 50 µs late because of timer slack";
        assert_eq!(late(50_000), [says]);
        let says =
            "app: nanosleep for 1 ms ends 1 s late because of timer slack, which was raised above the default of 50 µs";
        assert_eq!(late(1_000_000_000), [says]);
    }

    #[test]
    fn on_windows_it_is_the_tick_and_no_slack() {
        let mut file = Sheet::windows().file;
        let mut series = waits(1, 100, Parts { slack: 14_000_000, ..Parts::default() });
        series.observed.as_mut().unwrap().policy = Some((WINDOWS_POLICY, 23));
        file.series = vec![series];
        file.observation = Some(Observation::default());
        let change = |after: &str| Change {
            at_ns: Nanos::ZERO,
            what: RESOLUTION.to_owned(),
            before: None,
            after: after.to_owned(),
        };
        let sentences = |file: &ResultFile| {
            let all = crate::findings(file).into_iter().filter(|one| one.verdict == Verdict::Found);
            all.map(|one| format!("{}: {}", one.name, one.sentence)).collect::<Vec<_>>()
        };
        let says = "late-by-resolution: app: nanosleep for 1 ms ends 14 ms late because timers end at ticks";
        assert_eq!(sentences(&file), [says]);
        assert_eq!(
            crate::verdict::Verdict::of(&file).unwrap().sentence,
            "100 % of its lateness is the kernel's tick, at which timers of Windows end."
        );
        file.changes = vec![change("15.6 ms")];
        assert_eq!(sentences(&file), [format!("{says}, which come every 15.6 ms")]);
        file.changes = vec![change("15.6 ms"), change("1 ms"), change("15.6 ms")];
        assert_eq!(sentences(&file), [format!("{says}, which came every 15.6 ms or 1 ms")]);

        // What is there already is advised for the rest of the time only, or not at all.
        let advice = |file: &ResultFile| {
            let all = crate::findings(file).into_iter().find(|one| one.name == "late-by-resolution").unwrap().advice;
            all.into_iter().map(|advice| advice.sentence).collect::<Vec<_>>()
        };
        let partly = advice(&file);
        assert!(
            partly[0].contains("HIGH_RESOLUTION")
                && partly[1].ends_with("while ticks came every 15.6 ms, and nothing while they came every 1 ms"),
            "{partly:?}"
        );
        file.changes = vec![change("15.6 ms")];
        assert!(advice(&file)[0].starts_with("Call timeBeginPeriod(1) while"));
        file.changes = vec![change("1 ms"), change("500 µs")];
        assert_eq!(advice(&file).len(), 1);
    }

    #[test]
    fn timeouts_of_sockets_are_late_by_the_tick() {
        let late = |series: Series| found(vec![series], "late-by-tick");
        assert_eq!(
            late(waits_on_tick(12, 100, 3_990_000)),
            [
                "app: recvfrom with a timeout of 12 ms ends 3.99 ms late because its timeout is kept by the kernel's tick"
            ]
        );
        // Many kinds as one, some of which may have ended on a tick.
        let others = waits_on_tick(12, 100, 3_990_000);
        let identity = Identity { call: "any".to_owned(), ..Identity::of(&others).expect("it was observed") };
        assert_eq!(identity.request, Request::Unknown);
        let others = Series { why: others.why, ..Series::observed(&identity, Os::Linux, others.distribution) };
        assert_eq!(late(others), [""; 0]);
    }

    #[test]
    fn the_wheel_keeps_long_timeouts_in_longer_steps() {
        // The levels of kernel/time/timer.c for HZ = 250.
        let step = |ms: i64| wheel_step(Nanos::from_millis(4), Nanos::from_millis(ms)).0 / 1_000_000;
        assert_eq!([4, 251, 252, 2_015, 2_016, 16_128].map(step), [4, 4, 32, 32, 256, 2_048]);
    }
}
