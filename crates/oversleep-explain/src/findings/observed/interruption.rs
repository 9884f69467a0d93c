//! Waits that were interrupted: by signals, after which the program or the kernel waits anew, or by a stop.

use oversleep_record::finding::Severity;
use oversleep_record::observed::interruption::{Interruption, Sender, signal_name};
use oversleep_record::observed::wait::Outcome;
use oversleep_record::part::Part;
use oversleep_record::words::{counted, grouped};
use oversleep_record::{Identity, ResultFile, Series};

use super::{APPLIES_TO, period};
use crate::entry::{Checked, Conclusion, Scope};
use crate::finding::{Check, FindingEntry};
use crate::observed::{Cause, Kind, Said, WAITS_MIN, by_cause, delayed_by, own_series, process_of};
use crate::remedies::observed::{BLOCK_SIGNAL, FIND_WHO_STOPS_IT, SET_ABSOLUTE_DEADLINE};

const HOW: &str = "The kernel arms the timer again when the call goes on, and oversleep sees which signal reached the thread, who \
                   sent it, and what stopped it meanwhile. The time from the first expiry to the last one is this part.";

pub(super) static FINDINGS: &[FindingEntry] = &[
    FindingEntry {
        id: "OVS-Y006",
        name: "late-by-stop",
        summary: "Threads of the program were stopped while their time ran out.",
        applies_to: APPLIES_TO,
        scope: Scope::Observed,
        severity: Severity::Cost,
        meaning: "SIGSTOP and job control stop a process, a debugger or tracer stops a thread, and a paused container or a \
                  suspended system is frozen. A timer that expires meanwhile ends the wait when the thread goes on.",
        how_we_know: HOW,
        what_to_do: "Find who stops the program, and whether it should.",
        sources: &[
            "https://man7.org/linux/man-pages/man7/signal.7.html",
            "https://docs.kernel.org/admin-guide/cgroup-v2.html",
        ],
        remedies: &[&FIND_WHO_STOPS_IT],
        check: Check::Causes(stop),
    },
    FindingEntry {
        id: "OVS-Y021",
        name: "late-by-signal",
        summary: "Signals interrupt waits of the program, which are then started again with the rest of their time.",
        applies_to: APPLIES_TO,
        scope: Scope::Observed,
        severity: Severity::Cost,
        meaning: "A signal with a handler ends a sleep, and the program sleeps again for what is left. Each time the rest gets the \
                  timer slack anew and loses the time in between, so the whole sleep ends later, the more signals there are. \
                  Sampling profilers and interval timers send hundreds of them per second.",
        how_we_know: HOW,
        what_to_do: "Sleep until a point in time instead of for a span, or keep the signal from the threads that wait.",
        sources: &[
            "https://man7.org/linux/man-pages/man2/nanosleep.2.html",
            "https://man7.org/linux/man-pages/man7/signal.7.html",
        ],
        remedies: &[&SET_ABSOLUTE_DEADLINE, &BLOCK_SIGNAL],
        check: Check::Causes(signal),
    },
    FindingEntry {
        id: CUT_OFF,
        name: "cut-off-by-signal",
        summary: "Most waits of the program end early, because a signal cuts them off.",
        applies_to: APPLIES_TO,
        scope: Scope::Observed,
        severity: Severity::Cost,
        meaning: "A signal with a handler ends a call with EINTR. A program that takes that for the end of the wait goes on too \
                  early; one that calls again with the whole time, instead of the rest, never gets to the end of it.",
        how_we_know: "oversleep sees how each call ends, which signal reached the thread, and who sent it.",
        what_to_do: "Sleep until a point in time and call again after EINTR, or keep the signal from the threads that wait.",
        sources: &["https://man7.org/linux/man-pages/man7/signal.7.html"],
        remedies: &[&BLOCK_SIGNAL, &SET_ABSOLUTE_DEADLINE],
        check: Check::Rule(cut_off),
    },
    period::entry(
        "OVS-Y032",
        "held-up-by-stops",
        "Job control, a tracer or the freezer stops a thread of a loop between its waits.",
        "SIGSTOP and job control stop a process, a debugger or tracer stops a thread, and a paused container is frozen. The \
         loop goes on where it was, and all that it does comes later.",
        "Find who stops the program, and whether it should.",
        &[&FIND_WHO_STOPS_IT],
        Check::Causes(|file| period::held_up(file, Part::Stop)),
    ),
];

/// The id of the finding about waits that signals end.
pub(crate) const CUT_OFF: &str = "OVS-Y024";

fn cut_off(file: &ResultFile) -> Checked<Conclusion> {
    let of = |series: &Series| {
        let waits = series.observed.as_ref()?;
        let by_signal = waits.otherwise.get(&Outcome::Signal).copied().unwrap_or(0);
        Some((by_signal, series.counts.recorded.saturating_add(waits.otherwise_count())))
    };
    let counts = || own_series(file).filter_map(of);
    let (cut, all) =
        counts().fold((0_u64, 0_u64), |(cut, all), (one, of)| (cut.saturating_add(one), all.saturating_add(of)));
    if all < WAITS_MIN {
        return Err(Conclusion::lacks(format!(
            "it made fewer than {WAITS_MIN} timed waits. Follow it for longer, or where it waits"
        )));
    }
    if cut < WAITS_MIN || cut.saturating_mul(2) < all {
        return Err(Conclusion::absent("few waits are cut off by signals"));
    }
    let first = own_series(file).max_by_key(|series| of(series).map_or(0, |(cut, _)| cut));
    let named = first.and_then(|series| Some((series, Identity::of(series)?, series.observed.as_ref()?)));
    let Some((series, identity, waits)) = named else { return Err(Conclusion::lacks("nothing was followed")) };
    let by = waits.interruptions.iter().filter(|one| !one.by.is_stop()).max_by_key(|one| one.count);
    let by = by.map_or_else(|| "a signal".to_owned(), |one| one.by.to_string());
    let which = if cut == all {
        format!("all {} waits", grouped(all))
    } else {
        format!("{} of {}", grouped(cut), counted(all, "wait"))
    };
    Ok(Conclusion::found(format!("{identity}: {which} are cut off before their time by {by}"))
        .rests_on(&series.key, format!("{} ended by a signal", counted(of(series).map_or(0, |(cut, _)| cut), "wait"))))
}

/// An interruption, and how often it came; `None` where none was seen.
type Times<'a> = Option<(&'a Interruption, u64)>;

/// The interruptions of a kind that are of one sort, each with its share of the part by how often it came.
fn shares<'a>(kind: &Kind<'a>, part: Part, is_stop: bool) -> Vec<Said<Times<'a>>> {
    let all = kind.waits.interruptions.iter().filter(|one| one.by.is_stop() == is_stop);
    let times = all.clone().fold(0, |sum: u64, one| sum.saturating_add(one.count));
    let (total, max) = (kind.sum(part), kind.max(part).unsigned_abs());
    let share = |count: u64| u64::try_from(total * i128::from(count) / i128::from(times.max(1))).unwrap_or(u64::MAX);
    if times == 0 {
        return vec![(String::new(), u64::try_from(total).unwrap_or(u64::MAX), max, None)];
    }
    all.map(|one| (one.by.to_string(), share(one.count), max, Some((&one.by, one.count)))).collect()
}

const FIND_FREEZER: &str =
    "Find what freezes it: a paused container, the freezer of its control group, or a suspended system";
const FREEZER_OF_VERSION_1: &str = "# command\ncat /sys/fs/cgroup/freezerGROUP/freezer.state";

fn stop(file: &ResultFile) -> Checked<Vec<Conclusion>> {
    let kinds = delayed_by(file, Part::Stop, "a stop")?;
    let found = by_cause(Part::Stop, &kinds, |kind: &Kind<'_>| shares(kind, Part::Stop, true));
    let conclusion = |(cause, by): &(Cause<'_, '_>, Times<'_>)| {
        let (who, max) = (&cause.first().identity, cause.longest);
        // The group of the version 1 freezer that the process is in.
        let version_1 = process_of(file, cause.first().waits.tgid).and_then(|process| process.freezer.as_deref());
        let (what, advice) = match by.map(|(by, _)| by) {
            Some(Interruption::Frozen) if version_1.is_some() => ("frozen", Some((FIND_FREEZER, FREEZER_OF_VERSION_1))),
            Some(Interruption::Traced) => (
                "stopped by a tracer",
                Some((
                    "Detach the debugger or tracer: TracerPid in /proc/PID/status is its process",
                    "# command\ngrep TracerPid /proc/PID/status",
                )),
            ),
            Some(Interruption::Frozen) => (
                "frozen",
                Some((
                    FIND_FREEZER,
                    "# command\ncat /sys/fs/cgroup$(sed -n 's/^0:://p' /proc/PID/cgroup)/cgroup.freeze",
                )),
            ),
            Some(_) => ("stopped by job control", None),
            None => ("stopped, by what wasn't seen,", None),
        };
        let found = cause.found(format!("{who} was {what} while its time ran out, for up to {max}"));
        advice.into_iter().fold(found, |found, (advice, command)| {
            let command = command.replace("GROUP", version_1.unwrap_or_default());
            found.advising(&FIND_WHO_STOPS_IT, advice, Some(command))
        })
    };
    Ok(found.iter().map(conclusion).collect())
}

fn signal(file: &ResultFile) -> Checked<Vec<Conclusion>> {
    let kinds = delayed_by(file, Part::Signal, "signals")?;
    let found = by_cause(Part::Signal, &kinds, |kind: &Kind<'_>| shares(kind, Part::Signal, false));
    let conclusion = |(cause, by): &(Cause<'_, '_>, Times<'_>)| {
        let kind = cause.first();
        let (who, late) = (&kind.identity, kind.typical(Part::Signal));
        let Some((by, count)) = by else {
            return cause.found(format!(
                "{who} is interrupted by signals and waits again for the rest, which makes it {late} late; which signals, and \
                 who sent them, was not seen"
            ));
        };
        let rate =
            rate(kind, *count).map(|rate| format!(", about {rate} times per second of waiting")).unwrap_or_default();
        let found = cause.found(format!(
            "{who} is interrupted by {by} and waits again for the rest, which makes it {late} late: {} in {}{rate}",
            counted(*count, "interruption"),
            counted(kind.count(), "wait")
        ));
        let Interruption::Signal { number, sender } = by else { return found };
        let signal = signal_name(*number);
        let advice = match sender {
            Sender::Process { name, .. } => {
                let name = if name.is_empty() { "the sender" } else { name };
                format!(
                    "Or let {name} send {signal} less often, or not to the threads that wait: a profiler that samples by \
                         perf events sends none. A program can block {signal} in these threads (pthread_sigmask)"
                )
            }
            Sender::OwnTimer { call } => format!(
                "Or don't let the timer ({call}) interrupt: block {signal} in the threads that wait (pthread_sigmask), or take \
                 its expirations from a timerfd"
            ),
            Sender::Kernel => format!("Or block {signal} in the threads that wait (pthread_sigmask)"),
        };
        found.advising(&BLOCK_SIGNAL, advice, None)
    };
    Ok(found.iter().map(conclusion).collect())
}

/// How often a second these waits are interrupted, while they last.
fn rate(kind: &Kind<'_>, count: u64) -> Option<String> {
    let each = i128::from(kind.identity.requested_ns?.0) + i128::from(kind.series.distribution.p50()?);
    let waited_ns = each.checked_mul(i128::from(kind.count())).filter(|&all| all > 0)?;
    let rate = count as f64 / (waited_ns as f64 / 1e9);
    (rate >= 1.0).then(|| grouped(rate.round() as u64))
}

#[cfg(test)]
mod tests {
    use oversleep_record::observed::interruption::Interrupted;
    use oversleep_record::observed::{Named, Observation};
    use oversleep_record::part::Parts;
    use oversleep_record::testing::Sheet;

    use super::*;
    use crate::observed::testing::{found, waits};

    fn interrupted(parts: Parts, by: &[(Interruption, u64)], name: &str) -> Vec<String> {
        let mut series = waits(20, 100, parts);
        series.observed.as_mut().unwrap().interruptions =
            by.iter().map(|(by, count)| Interrupted { by: by.clone(), count: *count }).collect();
        found(vec![series], name)
    }

    #[test]
    fn signals_are_named_with_their_sender_and_rate() {
        let parts = Parts { signal: 900_000, ..Parts::default() };
        let sender = Sender::Process { pid: 77, name: "sampler".to_owned() };
        let by = Interruption::Signal { number: 10, sender };
        let said = interrupted(parts, &[(by.clone(), 1_700)], "late-by-signal");
        assert_eq!(
            said,
            [
                "app: nanosleep for 20 ms is interrupted by SIGUSR1 from sampler (77) and waits again for the rest, which makes it \
              900 µs late: 1,700 interruptions in 100 waits, about 813 times per second of waiting"
            ]
        );
        assert_eq!(interrupted(parts, &[(by, 1_700)], "late-by-stop"), [""; 0], "nobody stopped it");
        let unseen = interrupted(parts, &[], "late-by-signal");
        assert!(unseen[0].ends_with("which signals, and who sent them, was not seen"), "{unseen:?}");
    }

    #[test]
    fn waits_that_a_signal_cuts_off_are_the_finding() {
        let sender = Sender::OwnTimer { call: "setitimer".to_owned() };
        let by = Interruption::Signal { number: 14, sender };
        let cut = |by_timer: u64, by_signal: u64| {
            let mut series = waits(10, by_timer, Parts::default());
            let observed = series.observed.as_mut().unwrap();
            observed.otherwise.insert(Outcome::Signal, by_signal);
            observed.interruptions = vec![Interrupted { by: by.clone(), count: by_signal }];
            found(vec![series], "cut-off-by-signal")
        };
        assert_eq!(
            cut(0, 300),
            [
                "app: nanosleep for 10 ms: all 300 waits are cut off before their time by SIGALRM of its own timer (setitimer)"
            ]
        );
        assert!(cut(12, 2_672)[0].contains("2,672 of 2,684 waits"), "{:?}", cut(12, 2_672));
        assert_eq!([cut(300, 7), cut(300, 200)].concat(), [""; 0]);
    }

    #[test]
    fn a_stop_is_named_by_what_stopped_the_thread() {
        let parts = Parts { stop: 9_000_000, ..Parts::default() };
        for (by, says) in [
            (Interruption::Stopped, "stopped by job control"),
            (Interruption::Traced, "stopped by a tracer"),
            (Interruption::Frozen, "frozen"),
        ] {
            let said = interrupted(parts, &[(by, 3)], "late-by-stop");
            assert_eq!(said, [format!("app: nanosleep for 20 ms was {says} while its time ran out, for up to 9 ms")]);
        }
        let command = |freezer: Option<&str>| {
            let mut series = waits(20, 100, parts);
            let observed = series.observed.as_mut().unwrap();
            (observed.tgid, observed.interruptions) = (7, vec![Interrupted { by: Interruption::Frozen, count: 3 }]);
            let process = Named { tgid: 7, freezer: freezer.map(str::to_owned), ..Named::default() };
            let mut file = Sheet::linux().series(series).file;
            file.observation = Some(Observation { processes: vec![process], ..Observation::default() });
            let found = crate::findings(&file).into_iter().find(|one| one.name == "late-by-stop").unwrap();
            found.advice[0].example.clone().unwrap_or_default()
        };
        assert!(
            command(Some("/box")).ends_with("cat /sys/fs/cgroup/freezer/box/freezer.state"),
            "{}",
            command(Some("/box"))
        );
        assert!(command(None).ends_with("/cgroup.freeze"), "{}", command(None));
        let unseen = interrupted(parts, &[], "late-by-stop");
        assert!(unseen[0].contains("was stopped, by what wasn't seen, while its time ran out"), "{unseen:?}");
    }
}
