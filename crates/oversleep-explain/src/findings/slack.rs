//! Timer slack: the delay it adds to every wait it binds, and the waits it does not bind.

use oversleep_record::conditions::Setting;
use oversleep_record::finding::Severity;
use oversleep_record::{ExperimentId, FactName, Nanos, ResultFile, Series};

use super::super::advice::{helped, sound_pairs, trial_pair, wait_named};
use super::super::entry::{Conclusion, FindingEntry, Scope, Statement};
use super::super::read::{
    Look, judge, not_measured, p50, quiet_enough, reference_sleep, settle, slack_during, summary,
};
use super::super::text::list;

/// Waits whose timers the kernel programs without slack.
pub(in super::super) const EXACT_WAITS: &[&str] =
    &["timerfd", "timer-create", "setitimer", "mq-timedreceive", "io-uring"];
/// Slack below which it can't be told from the grain of a wake-up.
const SLACK_WORTH: Nanos = Nanos(2_000);

pub(super) const TIMER_SLACK: FindingEntry = FindingEntry {
    id: "OVS-L001",
    name: "timer-slack",
    summary: "The kernel ends every sleep and timeout of an ordinary thread up to its timer slack late, 50 µs by default.",
    applies_to: "Linux 2.6.28 and later; threads under SCHED_OTHER, SCHED_BATCH and SCHED_IDLE",
    scope: Scope::Os("linux"),
    severity: Severity::Cost,
    explanation: "\
Each thread has a timer slack. The kernel may end a wait anywhere between the deadline and the deadline plus the slack, \
so that several wake-ups can share one interrupt. On a quiet processor there is nothing to share, and the wait ends at \
the end of that range: with the default of 50 µs every nanosleep, futex, condition variable, semaphore, poll, select \
and epoll timeout is 50 µs late before the thread even begins to wake. Threads under a real-time or deadline policy \
have none.\n\n\
How we know: the slack is read with prctl(PR_GET_TIMERSLACK), and the same waits are measured with the slack as found \
and with 1 ns, round by round in turn. What disappears with the slack is the slack's. HZ plays no part in it as long as \
high-resolution timers are on.\n\n\
Cure: prctl(PR_SET_TIMERSLACK, 1) in each thread that waits. A new thread, and a child made by fork, \
begins with the slack that its creator has at that moment, as its current value and as its default; exec keeps both. A \
value of 0 asks for that default, not for none. \
Waits on a timerfd, a POSIX timer or io_uring ignore the slack altogether. The price is more wake-ups: leave the slack \
of threads that need not be punctual alone.",
    remedies: &["lower-timer-slack", "choose-exact-primitive", "real-time-policy"],
    check: |file| settle(timer_slack(file)),
};

pub(super) const WAITS_WITHOUT_SLACK: FindingEntry = FindingEntry {
    id: "OVS-L005",
    name: "waits-without-slack",
    summary: "timerfd, timer_create, setitimer, mq_timedreceive and io_uring timeouts ignore timer slack.",
    applies_to: "Linux 2.6.28 and later (io_uring from 5.4)",
    scope: Scope::Os("linux"),
    severity: Severity::Note,
    explanation: "\
Timer slack is applied where a system call puts its own thread to sleep until a time. Timers that exist by themselves \
(timerfd, POSIX timers, interval timers, io_uring timeouts) and mq_timedreceive are programmed for their exact \
expiry; the thread that waits for them sleeps without a timer of its own.\n\n\
How we know: all of them are measured beside nanosleep, in the same rounds, with the slack left as it was found.\n\n\
What to make of it: an event loop that cannot change the slack of its thread gets exact timeouts from a timerfd among \
its descriptors. It costs a descriptor and one more system call to arm it.",
    remedies: &["choose-exact-primitive"],
    check: |file| settle(waits_without_slack(file)),
};

fn timer_slack(file: &ResultFile) -> Look<Conclusion> {
    let pair = trial_pair(file, "lower-timer-slack").or_else(|| slack_series(file));
    let baseline = match pair {
        Some((before, _)) => Ok(before),
        None => reference_sleep(file),
    };
    let slack = match &baseline {
        Ok(series) => slack_during(file, series),
        Err(_) => file.environment.nanos(FactName::TimerSlack),
    };
    let slack =
        slack.ok_or_else(|| Conclusion::lacks("the timer slack of this thread is not known (timer.slack_ns)"))?;
    if slack < SLACK_WORTH {
        return Ok(Conclusion::Absent(
            Statement::new(format!("timer slack is {slack} here: it delays nothing that can be measured"))
                .rests_on(FactName::TimerSlack, slack.to_string()),
        ));
    }
    let baseline = baseline?;
    judge(baseline)?;
    quiet_enough(file, baseline, slack)?;
    let rests = |statement: Statement| {
        statement.rests_on(FactName::TimerSlack, slack.to_string()).rests_on(&baseline.key, summary(baseline))
    };
    match pair {
        Some((before, after)) => {
            judge(after)?;
            Ok(compared(file, slack, before, after))
        }
        None if p50(baseline) >= slack => Ok(Conclusion::Found(rests(Statement::new(format!(
            "sleeps here may end up to {slack} late because of timer slack: {} was {} late; this run did not try a \
             lower slack",
            baseline.subject,
            p50(baseline)
        ))))),
        None => Ok(Conclusion::Absent(rests(Statement::new(format!(
            "timer slack is {slack}, yet {} was only {} late: other timers ended its waits in time",
            baseline.subject,
            p50(baseline)
        ))))),
    }
}

/// The slack experiment's series at 1 ns beside the plainest sleep, where no trial was run.
fn slack_series(file: &ResultFile) -> Option<(&Series, &Series)> {
    let before = reference_sleep(file).ok()?;
    let exact = Setting::Nanos(Nanos(1));
    let after = file.experiment(ExperimentId::C2).find(|series| {
        series.subject == before.subject
            && series.requested_ns == before.requested_ns
            && series.conditions.setting("slack") == Some(&exact)
            && series.conditions.all_held()
            && series.has_values()
    })?;
    Some((before, after))
}

fn compared(file: &ResultFile, slack: Nanos, before: &Series, after: &Series) -> Conclusion {
    let (late, still_late) = (p50(before), p50(after));
    let statement = |sentence: String| {
        Statement::new(sentence)
            .rests_on(FactName::TimerSlack, slack.to_string())
            .rests_on(&before.key, summary(before))
            .rests_on(&after.key, summary(after))
    };
    if !helped(before, after) {
        return Conclusion::Absent(statement(format!(
            "timer slack is {slack}, but lowering it to 1 ns did not shorten {} here ({still_late} late instead of \
             {late})",
            before.subject
        )));
    }
    let gain = late - still_late;
    // The slack itself where the gain is it, to the precision shown; else what was gained.
    let is_whole = (gain - slack).0.saturating_abs().saturating_mul(20) <= slack.0;
    let share = if is_whole { format!("{slack} late") } else { format!("{gain} late (of {slack} allowed)") };
    let others = sound_pairs(file, "lower-timer-slack").into_iter().filter(|(other, _)| other.key != before.key);
    let mut found = statement(format!(
        "every sleep here is {share} because of timer slack; with slack 1 ns {} was {still_late} late instead of {late}",
        before.subject
    ));
    for (other, exact) in others {
        found = found.rests_on(&exact.key, format!("p50 {} instead of {}", p50(exact), p50(other)));
    }
    Conclusion::Found(found)
}

fn waits_without_slack(file: &ResultFile) -> Look<Conclusion> {
    let reference = reference_sleep(file)?;
    let slack = slack_during(file, reference)
        .ok_or_else(|| Conclusion::lacks("the timer slack of this thread is not known (timer.slack_ns)"))?;
    if slack < SLACK_WORTH {
        return Ok(Conclusion::Absent(
            Statement::new(format!("timer slack is {slack} here, so no wait gains by ignoring it"))
                .rests_on(FactName::TimerSlack, slack.to_string()),
        ));
    }
    quiet_enough(file, reference, slack)?;
    let measured: Vec<&Series> = EXACT_WAITS
        .iter()
        .filter_map(|wait| wait_named(file, wait))
        .filter(|series| series.requested_ns == reference.requested_ns)
        .collect();
    let best = measured
        .iter()
        .min_by_key(|series| p50(series))
        .ok_or_else(|| not_measured(file, "a wait without slack (B5/timerfd/1ms)"))?;
    let statement = |sentence: String| {
        let evidence =
            measured.iter().fold(Statement::new(sentence), |all, series| all.rests_on(&series.key, summary(series)));
        evidence.rests_on(&reference.key, summary(reference))
    };
    let bound = p50(reference) - Nanos(slack.0 / 2);
    let exact: Vec<&str> =
        measured.iter().filter(|series| p50(series) < bound).map(|series| series.subject.as_str()).collect();
    if exact.is_empty() {
        return Ok(Conclusion::Absent(statement(format!(
            "no wait without slack was clearly earlier than {} ({} late; the best, {}, {})",
            reference.subject,
            p50(reference),
            best.subject,
            p50(best)
        ))));
    }
    // The plainest of them, which is the one advised.
    let example = measured.iter().find(|series| exact.contains(&series.subject.as_str())).unwrap_or(best);
    let ignore = if exact.len() == 1 { "ignores" } else { "ignore" };
    let beside = format!(
        "{} ended {} late where {} was {} late",
        example.subject,
        p50(example),
        reference.subject,
        p50(reference)
    );
    // Several times the slack is another rule's doing as well.
    let more = p50(reference) - p50(example) > slack * 3;
    let more = if more { format!(", of which slack is {slack}") } else { String::new() };
    Ok(Conclusion::Found(statement(format!("{} {ignore} timer slack: {beside}{more}", list(&exact)))))
}

#[cfg(test)]
mod tests {
    use oversleep_record::finding::{Tried, Verdict};

    use super::super::super::testing::{Explained, Sheet, rounds};
    use super::*;

    fn default_slack() -> Sheet {
        Sheet::linux().span(FactName::TimerSlack, 50_000)
    }

    fn says(sheet: &Sheet, id: &str) -> (Verdict, String) {
        let finding = sheet.finding(id);
        (finding.verdict, finding.sentence)
    }

    /// PR_SET_TIMERSLACK(2const): a creator's current value becomes both values of what it creates, and they are "preserved
    /// across execve(2)".
    #[test]
    fn what_becomes_of_slack_is_told_as_the_manual_has_it() {
        let text = TIMER_SLACK.explanation;
        assert!(text.contains("as its current value and as its default; exec keeps both"), "{text}");
        assert!(text.contains("A value of 0 asks for that default"), "{text}");
    }

    #[test]
    fn slack_found_with_what_lowering_it_gained() {
        let sheet = default_slack().trial("lower-timer-slack", "futex", 67_000, 15_000).trial(
            "lower-timer-slack",
            "nanosleep",
            66_100,
            14_200,
        );
        // Two trials of one remedy are one trial of two waits.
        let mut sheet = sheet;
        let second = sheet.file.trials.remove(1);
        sheet.file.trials[0].pairs.extend(second.pairs);
        let finding = sheet.finding("OVS-L001");
        assert_eq!(
            finding.sentence,
            "every sleep here is 50 µs late because of timer slack; with slack 1 ns nanosleep was 14.2 µs late \
             instead of 66.1 µs"
        );
        assert_eq!((finding.verdict, finding.severity), (Verdict::Found, Severity::Cost));
        let futex = finding.evidence.iter().find(|evidence| evidence.source.contains("futex")).unwrap();
        assert_eq!(futex.says, "p50 15 µs instead of 67 µs");
        assert!(matches!(finding.advice[0].tried, Tried::Measured { helped: true, after_p50_ns: 14_200, .. }));
        assert!(finding.advice[0].example.as_ref().unwrap().contains("PR_SET_TIMERSLACK"));
    }

    #[test]
    fn slack_found_by_the_slack_experiment_or_by_its_size() {
        let by_series = default_slack().steady("B5/nanosleep/1ms", 66_100).steady("C2/nanosleep/1ms/slack=1ns", 36_100);
        assert_eq!(
            says(&by_series, "OVS-L001").1,
            "every sleep here is 30 µs late (of 50 µs allowed) because of timer slack; with slack 1 ns nanosleep was \
             36.1 µs late instead of 66.1 µs"
        );
        let by_size = default_slack().steady("B5/nanosleep/1ms", 66_100);
        assert_eq!(
            says(&by_size, "OVS-L001"),
            (
                Verdict::Found,
                "sleeps here may end up to 50 µs late because of timer slack: nanosleep was 66.1 µs late; this run \
                 did not try a lower slack"
                    .into()
            )
        );
    }

    #[test]
    fn slack_absent_where_it_is_low_or_hidden() {
        let absent = |sheet: Sheet, sentence: &str| {
            assert_eq!(says(&sheet, "OVS-L001"), (Verdict::Absent, sentence.to_owned()));
        };
        absent(
            Sheet::linux().span(FactName::TimerSlack, 1),
            "timer slack is 1 ns here: it delays nothing that can be measured",
        );
        absent(
            default_slack().text(FactName::SchedPolicy, "fifo:80").steady("B5/nanosleep/1ms", 9_000),
            "timer slack is 0 ns here: it delays nothing that can be measured",
        );
        absent(
            default_slack().trial("lower-timer-slack", "nanosleep", 66_100, 65_800),
            "timer slack is 50 µs, but lowering it to 1 ns did not shorten nanosleep here (65.8 µs late instead of \
             66.1 µs)",
        );
        absent(
            default_slack().steady("B5/nanosleep/1ms", 9_000),
            "timer slack is 50 µs, yet nanosleep was only 9 µs late: other timers ended its waits in time",
        );
    }

    #[test]
    fn slack_without_data_or_peace_says_so() {
        assert_eq!(
            says(&Sheet::linux().steady("B5/nanosleep/1ms", 66_100), "OVS-L001"),
            (Verdict::NotEnoughData, "the timer slack of this thread is not known (timer.slack_ns)".into())
        );
        let scarce = default_slack().scarce("B5/nanosleep/1ms", 66_100);
        assert_eq!(says(&scarce, "OVS-L001").0, Verdict::NotEnoughData);
        let wild = default_slack().wild("B5/nanosleep/1ms", 66_100);
        assert_eq!(says(&wild, "OVS-L001").0, Verdict::TooDisturbed);
        let mut stolen = rounds("B5/nanosleep/1ms", &[66_100; 4], 20);
        stolen.rounds.iter_mut().for_each(|round| round.disturbance.steal_ns = Some(Nanos(1_000_000)));
        assert_eq!(
            says(&default_slack().series(stolen), "OVS-L001"),
            (
                Verdict::TooDisturbed,
                "the hypervisor took 50 µs of each wait of B5/nanosleep/1ms: too much to tell an effect of \
                 50 µs from it"
                    .into()
            )
        );
    }

    #[test]
    fn exact_waits_are_an_opportunity() {
        let sheet = default_slack()
            .steady("B5/nanosleep/1ms", 66_100)
            .steady("B5/timerfd/1ms", 14_900)
            .steady("B5/io-uring/1ms", 15_500)
            .steady("B5/setitimer/1ms", 62_000);
        assert_eq!(
            says(&sheet, "OVS-L005"),
            (
                Verdict::Found,
                "timerfd and io-uring ignore timer slack: timerfd ended 14.9 µs late where nanosleep was 66.1 µs late"
                    .into()
            )
        );
        let one = default_slack().steady("B5/nanosleep/1ms", 66_100).steady("B5/timerfd/1ms", 65_000);
        assert_eq!(
            says(&one, "OVS-L005"),
            (
                Verdict::Absent,
                "no wait without slack was clearly earlier than nanosleep (66.1 µs late; the best, timerfd, 65 µs)"
                    .into()
            )
        );
        let none = default_slack().steady("B5/nanosleep/1ms", 66_100);
        assert_eq!(
            says(&none, "OVS-L005"),
            (Verdict::NotEnoughData, "a wait without slack (B5/timerfd/1ms) was not measured in this run".into())
        );
        let wild = default_slack().wild("B5/nanosleep/1ms", 66_100).steady("B5/timerfd/1ms", 14_900);
        assert_eq!(says(&wild, "OVS-L005").0, Verdict::TooDisturbed);
        let low = Sheet::linux().span(FactName::TimerSlack, 1).steady("B5/nanosleep/1ms", 14_000);
        assert_eq!(says(&low, "OVS-L005").0, Verdict::Absent);
    }
}
