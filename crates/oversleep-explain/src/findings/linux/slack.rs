//! Timer slack: the delay that it adds to waits, and the waits that ignore it.

use oversleep_record::conditions::Setting;
use oversleep_record::finding::Severity;
use oversleep_record::words::list;
use oversleep_record::{ExperimentId, FactName, Nanos, Os, ResultFile, Series};

use crate::entry::{Checked, Conclusion, Scope};
use crate::figures::{helped, p50};
use crate::finding::{Check, FindingEntry};
use crate::names::{LINUX_EXACT, LINUX_SIGNALLED, TIMERFD, tunable};
use crate::read::{
    common_wait, known, lacks_wait, quiet_enough, reference_sleep, slack_as_found, slack_during, sleep_like, sound,
    sound_pairs, sound_wait, trial_pair, waits_of,
};
use crate::remedies::linux::{CHOOSE_EXACT_PRIMITIVE, LOWER_TIMER_SLACK, REAL_TIME_POLICY};

const SLACK: FactName = FactName::TimerSlack;
/// Slack below this is indistinguishable from the noise of a wake-up.
const SLACK_MIN: Nanos = Nanos(2_000);

pub(super) static FINDINGS: &[FindingEntry] = &[
    FindingEntry {
        id: "OVS-L001",
        name: "timer-slack",
        summary: "The kernel ends every sleep and timeout of an ordinary thread late by up to its timer slack, 50 µs by default.",
        applies_to: "Linux 2.6.28 and later; threads under SCHED_OTHER, SCHED_BATCH and SCHED_IDLE",
        scope: Scope::Os(Os::Linux),
        severity: Severity::Cost,
        meaning: "Each thread has a timer slack. The kernel may end a wait at any time between the deadline and the deadline \
                  plus the slack, so that several wake-ups can share one interrupt. On a quiet processor there is nothing \
                  to share, and the wait ends when the slack is used up: with the default of 50 µs, every nanosleep, futex, \
                  condition variable, semaphore, poll, select and epoll timeout is 50 µs late before the thread even begins \
                  to wake. Threads under a real-time or deadline policy have no slack. Before Linux 6.12, and before its \
                  stable kernels took the change over, that was so for sleeps and polls only: under such a policy too, a \
                  timed wait on a futex, a condition variable or a semaphore was late by the slack.",
        how_we_know: "oversleep reads the slack with prctl(PR_GET_TIMERSLACK) and measures the same waits with the \
                      slack as found and with 1 ns, in alternating rounds. What disappears with the slack was caused \
                      by it. HZ makes no difference as long as high-resolution timers are on.",
        what_to_do: "Call prctl(PR_SET_TIMERSLACK, 1) in each thread that waits. A new thread, and a child made by \
                     fork, inherits its creator's current slack, both as its own value and as its default; exec keeps \
                     both. A value of 0 restores that default; it does not mean zero slack. Waits on a timerfd, a \
                     POSIX timer or io_uring ignore the slack. It costs more wake-ups, so leave the slack unchanged in \
                     threads that need not be on time.",
        sources: &["https://man7.org/linux/man-pages/man2/PR_SET_TIMERSLACK.2const.html"],
        remedies: &[&LOWER_TIMER_SLACK, &CHOOSE_EXACT_PRIMITIVE, &REAL_TIME_POLICY],
        check: Check::Rule(timer_slack),
    },
    FindingEntry {
        id: "OVS-L005",
        name: "waits-without-slack",
        summary: "timerfd, timer_create, setitimer, mq_timedreceive and io_uring timeouts ignore timer slack.",
        applies_to: "Linux 2.6.28 and later (io_uring from 5.4)",
        scope: Scope::Os(Os::Linux),
        severity: Severity::Note,
        meaning: "Timer slack applies if a system call puts its own thread to sleep until a given time. Timers that are \
                  kernel objects of their own (timerfd, POSIX timers, interval timers, io_uring timeouts) and \
                  mq_timedreceive are programmed for exactly their expiry time; the thread that waits for them sleeps \
                  without a timer of its own.",
        how_we_know: "oversleep measures all of them alongside nanosleep in the same rounds, without changing the \
                      slack.",
        what_to_do: "An event loop that can't change the slack of its thread gets accurate timeouts from a timerfd \
                     among its descriptors. That costs one descriptor and one extra system call to arm it.",
        sources: &["https://man7.org/linux/man-pages/man2/timerfd_create.2.html"],
        remedies: &[&CHOOSE_EXACT_PRIMITIVE],
        check: Check::Rule(waits_without_slack),
    },
];

fn timer_slack(file: &ResultFile) -> Checked {
    let pair = trial_pair(file, LOWER_TIMER_SLACK.id).or_else(|| slack_series(file));
    let baseline = match pair {
        Some((before, _)) => Ok(before),
        None => reference_sleep(file),
    };
    let slack = match &baseline {
        Ok(series) => slack_during(file, series),
        Err(_) => slack_as_found(file),
    };
    let slack = known(file, SLACK, "the timer slack of this thread", slack)?;
    if let Some(found) = kept_under_real_time(file).filter(|_| slack < SLACK_MIN || baseline.is_err()) {
        return Ok(found);
    }
    if slack < SLACK_MIN {
        let sentence = format!("timer slack is {slack} here, too little to delay a wait measurably");
        return Ok(Conclusion::absent(sentence).rests_on(SLACK, slack.to_string()));
    }
    let baseline = sound(baseline?)?;
    quiet_enough(file, baseline, slack)?;
    if let Some((before, after)) = pair {
        return Ok(compared(file, slack, before, sound(after)?));
    }
    let (wait, late) = (&baseline.subject, p50(baseline));
    let conclusion = if late >= slack {
        Conclusion::found(format!(
            "timer slack may make sleeps here up to {slack} late: {wait} was {late} late, and this run did not try a \
             lower slack"
        ))
    } else {
        Conclusion::absent(format!(
            "timer slack is {slack}, yet {wait} was only {late} late: other timers ended its waits"
        ))
    };
    Ok(conclusion.rests_on(SLACK, slack.to_string()).rests_on_series([baseline]))
}

/// Timed waits on locks under a real-time policy, on kernels that remove only the slack of sleeps.
fn kept_under_real_time(file: &ResultFile) -> Option<Conclusion> {
    const STATED: FactName = FactName::TimerRealTimeSlack;
    let slack = file.environment.nanos(STATED).filter(|&slack| slack >= SLACK_MIN)?;
    let is_real_time = |series: &&Series| slack_during(file, series) == Some(Nanos::ZERO) && sound(series).is_ok();
    let late = LINUX_SIGNALLED.iter().flat_map(|wait| waits_of(file, wait)).filter(is_real_time);
    let series = late.filter(|series| p50(series) >= slack).min_by_key(|series| p50(series))?;
    let sleep = sleep_like(file, series).filter(is_real_time);
    let beside = sleep.map(|sleep| format!(", and {}, which has none, {}", sleep.subject, p50(sleep)));
    let found = Conclusion::found(format!(
        "real-time threads keep their slack of {slack} in waits on locks here: {} was {} late{}",
        series.subject,
        p50(series),
        beside.unwrap_or_default()
    ));
    Some(found.rests_on(STATED, slack.to_string()).rests_on_series([Some(series), sleep].into_iter().flatten()))
}

/// The simplest sleep as found and, where no trial was run, in the slack experiment at 1 ns.
fn slack_series(file: &ResultFile) -> Option<(&Series, &Series)> {
    let before = reference_sleep(file).ok()?;
    let exact = Setting::Nanos(Nanos(1));
    let after = file.experiment(ExperimentId::C2).find(|series| {
        series.subject == before.subject
            && series.requested_ns == before.requested_ns
            && series.conditions.setting(tunable::SLACK) == Some(&exact)
            && series.conditions.all_held()
            && series.has_values()
    })?;
    Some((before, after))
}

fn compared(file: &ResultFile, slack: Nanos, before: &Series, after: &Series) -> Conclusion {
    let (wait, late, still_late) = (&before.subject, p50(before), p50(after));
    let rests = |conclusion: Conclusion| conclusion.rests_on(SLACK, slack.to_string()).rests_on_series([before, after]);
    if !helped(before, after) {
        return rests(Conclusion::absent(format!(
            "timer slack is {slack}, but a slack of 1 ns did not make {wait} less late ({still_late} instead of {late})"
        )));
    }
    let gain = late - still_late;
    // States the slack itself if the gain equals it to the shown precision, otherwise the gain.
    let is_whole = (gain - slack).0.saturating_abs().saturating_mul(20) <= slack.0;
    let share = if is_whole { slack } else { gain.min(slack) };
    // A gain beyond the slack came with the change, but has another cause.
    let more = match is_whole {
        true => String::new(),
        false if gain < slack => format!("; it allows {slack}"),
        false => format!("; {} of that is more than the slack, so something else ended later too", gain - slack),
    };
    let found = rests(Conclusion::found(format!(
        "timer slack makes every sleep here {share} late: with a slack of 1 ns, {wait} was {still_late} late instead of \
         {late}{more}"
    )));
    let others = sound_pairs(file, LOWER_TIMER_SLACK.id).into_iter().filter(|(other, _)| other.key != before.key);
    others.fold(found, |found, (other, exact)| {
        found.rests_on(&exact.key, format!("p50 {} instead of {}", p50(exact), p50(other)))
    })
}

fn waits_without_slack(file: &ResultFile) -> Checked {
    let reference = reference_sleep(file)?;
    let slack = known(file, SLACK, "the timer slack of this thread", slack_during(file, reference))?;
    if slack < SLACK_MIN {
        let sentence = format!("timer slack is {slack} here, so no wait gains by ignoring it");
        return Ok(Conclusion::absent(sentence).rests_on(SLACK, slack.to_string()));
    }
    quiet_enough(file, reference, slack)?;
    let measured: Vec<&Series> = LINUX_EXACT
        .iter()
        .filter_map(|wait| sound_wait(file, wait))
        .filter(|series| series.requested_ns == reference.requested_ns)
        .collect();
    let best = measured
        .iter()
        .min_by_key(|series| p50(series))
        .ok_or_else(|| lacks_wait(file, "a wait without slack", &common_wait(TIMERFD)))?;
    let (plain, late) = (&reference.subject, p50(reference));
    let exact: Vec<&&Series> = measured.iter().filter(|series| p50(series) < late - Nanos(slack.0 / 2)).collect();
    // The simplest of them is the example, since it is the one advised.
    let conclusion = match exact.first() {
        None => Conclusion::absent(format!(
            "no wait that ignores timer slack was clearly less late than {plain} ({late}); the best, {}, was {} late",
            best.subject,
            p50(best)
        )),
        Some(example) => {
            let names: Vec<&str> = exact.iter().map(|series| series.subject.as_str()).collect();
            let ignore = if names.len() == 1 { "ignores" } else { "ignore" };
            // If the difference is several times the slack, another rule contributes to it.
            let more =
                if late - p50(example) > slack * 3 { format!(", {slack} of it by slack") } else { String::new() };
            Conclusion::found(format!(
                "{} {ignore} timer slack: {} was {} late, {plain} {late}{more}",
                list(&names),
                example.subject,
                p50(example)
            ))
        }
    };
    Ok(conclusion.rests_on_series(measured.iter().copied().chain([reference])))
}

#[cfg(test)]
mod tests {
    use oversleep_record::finding::{Tried, Verdict};

    use super::*;
    use crate::testing::{Explained, Sheet, rounds};

    fn default_slack() -> Sheet {
        Sheet::linux().span(FactName::TimerSlack, 50_000)
    }

    /// PR_SET_TIMERSLACK(2const): a creator's current value becomes both values of what it creates, and they are "preserved
    /// across execve(2)".
    #[test]
    fn inheritance_of_slack_is_stated_as_the_manual_states_it() {
        let text = FINDINGS[0].what_to_do;
        assert!(
            text.contains("inherits its creator's current slack, both as its own value and as its default"),
            "{text}"
        );
        assert!(text.contains("exec keeps both"), "{text}");
        assert!(text.contains("A value of 0 restores that default"), "{text}");
    }

    #[test]
    fn slack_found_with_what_lowering_it_gained() {
        let mut sheet = default_slack().trial("lower-timer-slack", "futex", 67_000, 15_000).trial(
            "lower-timer-slack",
            "nanosleep",
            66_100,
            14_200,
        );
        // Two trials of one remedy become one trial of two waits.
        let second = sheet.file.trials.remove(1);
        sheet.file.trials[0].pairs.extend(second.pairs);
        let finding = sheet.finding("OVS-L001");
        assert_eq!(
            finding.sentence,
            "timer slack makes every sleep here 50 µs late: with a slack of 1 ns, nanosleep was 14.2 µs late instead of \
             66.1 µs"
        );
        assert_eq!((finding.verdict, finding.severity), (Verdict::Found, Severity::Cost));
        let futex = finding.evidence.iter().find(|evidence| evidence.source.contains("futex")).unwrap();
        assert_eq!(futex.text, "p50 15 µs instead of 67 µs");
        assert!(matches!(finding.advice[0].tried, Tried::Measured { helped: true, after_p50_ns: 14_200, .. }));
        assert!(finding.advice[0].example.as_ref().unwrap().contains("PR_SET_TIMERSLACK"));
    }

    #[test]
    fn slack_found_by_the_slack_experiment_or_by_its_size() {
        let by_series = default_slack().steady("B5/nanosleep/1ms", 66_100).steady("C2/nanosleep/1ms/slack=1ns", 36_100);
        by_series.finds(
            "OVS-L001",
            "timer slack makes every sleep here 30 µs late: with a slack of 1 ns, nanosleep was 36.1 µs late instead of \
             66.1 µs; it allows 50 µs",
        );
        default_slack().steady("B5/nanosleep/1ms", 88_500).steady("C2/nanosleep/1ms/slack=1ns", 22_000).finds(
            "OVS-L001",
            "timer slack makes every sleep here 50 µs late: with a slack of 1 ns, nanosleep was 22 µs late instead of \
             88.5 µs; 16.5 µs of that is more than the slack, so something else ended later too",
        );
        default_slack().steady("B5/nanosleep/1ms", 66_100).finds(
            "OVS-L001",
            "timer slack may make sleeps here up to 50 µs late: nanosleep was 66.1 µs late, and this run did not try a \
             lower slack",
        );
    }

    /// As on Linux 5.10, where PR_GET_TIMERSLACK states 50 µs under SCHED_FIFO and futexes honour it.
    #[test]
    fn slack_that_a_real_time_policy_does_not_take_away() {
        let stated = |ns| default_slack().text(FactName::SchedPolicy, "fifo:80").span(FactName::TimerRealTimeSlack, ns);
        stated(50_000).steady("B5/futex/1ms", 66_000).steady("B5/nanosleep/1ms", 17_000).finds(
            "OVS-L001",
            "real-time threads keep their slack of 50 µs in waits on locks here: futex was 66 µs late, and nanosleep, \
             which has none, 17 µs",
        );
        stated(50_000).steady("B5/futex/1ms", 66_000).finds(
            "OVS-L001",
            "real-time threads keep their slack of 50 µs in waits on locks here: futex was 66 µs late",
        );
        let absent = "timer slack is 0 ns here, too little to delay a wait measurably";
        stated(0).steady("B5/futex/1ms", 66_000).steady("B5/nanosleep/1ms", 17_000).finds_no("OVS-L001", absent);
        stated(50_000).steady("B5/futex/1ms", 17_000).steady("B5/nanosleep/1ms", 17_000).finds_no("OVS-L001", absent);
    }

    #[test]
    fn slack_absent_where_it_is_low_or_hidden() {
        Sheet::linux()
            .span(FactName::TimerSlack, 1)
            .finds_no("OVS-L001", "timer slack is 1 ns here, too little to delay a wait measurably");
        default_slack()
            .text(FactName::SchedPolicy, "fifo:80")
            .steady("B5/nanosleep/1ms", 9_000)
            .finds_no("OVS-L001", "timer slack is 0 ns here, too little to delay a wait measurably");
        default_slack().trial("lower-timer-slack", "nanosleep", 66_100, 65_800).finds_no(
            "OVS-L001",
            "timer slack is 50 µs, but a slack of 1 ns did not make nanosleep less late (65.8 µs instead of 66.1 µs)",
        );
        default_slack().steady("B5/nanosleep/1ms", 9_000).finds_no(
            "OVS-L001",
            "timer slack is 50 µs, yet nanosleep was only 9 µs late: other timers ended its waits",
        );
    }

    #[test]
    fn slack_without_data_or_peace_says_so() {
        Sheet::linux().steady("B5/nanosleep/1ms", 66_100).lacks(
            "OVS-L001",
            "the timer slack of this thread is not available (timer.slack_ns): this result does not record it",
        );
        default_slack().scarce("B5/nanosleep/1ms", 66_100).lacks_data("OVS-L001");
        default_slack().wild("B5/nanosleep/1ms", 66_100).is_disturbed("OVS-L001");
        let mut stolen = rounds("B5/nanosleep/1ms", &[66_100; 4], 20);
        stolen.rounds.iter_mut().for_each(|round| round.disturbance.steal_ns = Some(Nanos(1_000_000)));
        default_slack().series(stolen).is_disturbed("OVS-L001");
    }

    #[test]
    fn exact_waits_are_an_opportunity() {
        let sheet = || default_slack().steady("B5/nanosleep/1ms", 66_100);
        sheet()
            .steady("B5/timerfd/1ms", 14_900)
            .steady("B5/io-uring/1ms", 15_500)
            .steady("B5/setitimer/1ms", 62_000)
            .finds("OVS-L005", "timerfd and io-uring ignore timer slack: timerfd was 14.9 µs late, nanosleep 66.1 µs");
        sheet().steady("B5/timerfd/1ms", 65_000).finds_no(
            "OVS-L005",
            "no wait that ignores timer slack was clearly less late than nanosleep (66.1 µs); the best, timerfd, was \
             65 µs late",
        );
        sheet().lacks(
            "OVS-L005",
            "a wait without slack (B5/timerfd/1ms) was not measured. Run `oversleep check --only B5`",
        );
        sheet().steady("B5/timerfd/5ms", 14_900).lacks_data("OVS-L005");
        let wild = default_slack().wild("B5/nanosleep/1ms", 66_100).steady("B5/timerfd/1ms", 14_900);
        wild.is_disturbed("OVS-L005");
        let low = Sheet::linux().span(FactName::TimerSlack, 1).steady("B5/nanosleep/1ms", 14_000);
        assert_eq!(low.verdict("OVS-L005"), Verdict::NotFound);
    }
}
