//! The separate slack of select, poll and epoll: a share of the timeout, and a larger one for a nice thread.

use oversleep_record::conditions::Setting;
use oversleep_record::finding::{Severity, Verdict};
use oversleep_record::words::list;
use oversleep_record::{ExperimentId, FactName, Nanos, Os, ResultFile, Series, SeriesKey};

use crate::entry::{Checked, Conclusion, Scope};
use crate::figures::{p50, pooled, requested, values};
use crate::finding::{Check, FindingEntry, Pair, PairCheck};
use crate::names::{LINUX_TIMEOUT_SHARE, POLL, tunable};
use crate::read::{known, lacks_wait, refusal, slack_during, sleeps_of, sound, waits_of};
use crate::remedies::linux::{KEEP_NICE_AT_ZERO, TIMERFD_FOR_LONG_TIMEOUTS};

/// The upper bound of the slack by that rule.
const SHARE_MAX: Nanos = Nanos::from_millis(100);
/// Fewest long timeouts that confirm a rule.
const TIMEOUTS_MIN: u64 = 3;
/// The shortest timeout for which a nice value widens the slack visibly.
const LONG_TIMEOUT_MIN: Nanos = Nanos::from_millis(20);

/// The key of a series whose timeouts show it.
fn long_poll(experiment: ExperimentId) -> SeriesKey {
    SeriesKey::new(experiment, POLL).span(Nanos::from_millis(100))
}
/// Waits of at least this length let a CPU idle about as deeply as the longest ones.
const DEEP_IDLE_MIN: Nanos = Nanos::from_millis(5);
/// Extra slack below this is indistinguishable from the noise of a wake-up.
const EXTRA_MIN: Nanos = Nanos(10_000);

pub(super) static FINDINGS: &[FindingEntry] = &[
    FindingEntry {
        id: "OVS-L002",
        name: "nice-poll-slack",
        summary: "A positive nice value widens the slack of select, poll and epoll from 0.1 % to 0.5 % of the timeout.",
        applies_to: "Linux 2.6.28 and later; threads with a nice value above 0",
        scope: Scope::Os(Os::Linux),
        severity: Severity::Note,
        meaning: "The kernel gives a timeout of select, poll or epoll a slack of 0.1 % of its length, or 0.5 % if the \
                  thread has a positive nice value. A batch job that runs under nice therefore gets five times the \
                  slack, even on an idle machine, where the nice value should cost it nothing. A timeout of 100 ms may \
                  end 500 µs late, and one of 10 s may end 50 ms late.",
        how_we_know: "oversleep measures the same 100 ms timeout at nice 0 and at nice 5, in alternating rounds.",
        what_to_do: "Limit the CPU time of background services with a cgroup weight instead of nice, or wait on a timerfd, \
                     which has no slack of this kind.",
        sources: &["https://github.com/torvalds/linux/blob/master/fs/select.c"],
        remedies: &[&KEEP_NICE_AT_ZERO, &TIMERFD_FOR_LONG_TIMEOUTS],
        check: Check::Pair(PairCheck {
            find: nice_and_plain,
            enough: |_, pair| enough_for(&pair.better, &pair.worse, nice_share(pair)),
            effect: Some(|_, pair| nice_share(pair)),
            differs: |_, pair| pair.differs_by_half_of(nice_share(pair)),
            found: |file, pair| {
                let (late, plain) = pair.lateness();
                let found = Conclusion::found(format!(
                    "nice {} makes {}'s {} timeout {late} late: at nice 0 it is {plain}, and a positive nice value widens the slack of \
                     select, poll and epoll from 0.1 % to 0.5 % of the timeout",
                    nice_value(&pair.worse).unwrap_or_default(),
                    pair.worse.subject,
                    pair.requested()
                ));
                match file.environment.integer(FactName::SchedNice).filter(|&own| own > 0) {
                    Some(own) => found
                        .and(format!("; this process runs at nice {own}"))
                        .rests_on(FactName::SchedNice, own.to_string())
                        .matters(Severity::Cost),
                    None => found,
                }
            },
            absent: |_, pair| {
                let ((late, plain), wait) = (pair.lateness(), &pair.worse.subject);
                let nice = nice_value(&pair.worse).unwrap_or_default();
                format!(
                    "nice {nice} did not make {wait}'s {} timeout later ({late} instead of {plain})",
                    pair.requested()
                )
            },
        }),
    },
    FindingEntry {
        id: "OVS-L003",
        name: "long-timeout-slack",
        summary: "select, poll and epoll may end late by 0.1 % of their timeout, up to 100 ms.",
        applies_to: "Linux 2.6.28 and later; threads under SCHED_OTHER, SCHED_BATCH and SCHED_IDLE",
        scope: Scope::Os(Os::Linux),
        severity: Severity::Note,
        meaning: "For the timeouts of select, poll and epoll the kernel uses the larger of the thread's timer slack \
                  and 0.1 % of the timeout, at most 100 ms. For timeouts above 50 ms, this share exceeds the default \
                  slack of 50 µs: a timeout of 100 ms ends 100 µs late, one of 1 s ends 1 ms late, and one of 100 s or \
                  more ends 100 ms late. Lowering the timer slack does not help, because the share still applies.",
        how_we_know: "oversleep measures these calls alongside plain sleeps of the same length in the same rounds. The \
                      extra lateness of the calls is the share.",
        what_to_do: "If a long timeout must end on time, add a timerfd with an absolute deadline to the descriptors and \
                     wait without a timeout.",
        sources: &["https://github.com/torvalds/linux/blob/master/fs/select.c"],
        remedies: &[&TIMERFD_FOR_LONG_TIMEOUTS],
        check: Check::Pair(PairCheck {
            find: polls_and_sleeps,
            enough: |file, pair| enough_for(&pair.better, &pair.worse, share_of(file, &pair.worse).extra),
            effect: Some(|file, pair| share_of(file, &pair.worse).extra),
            differs: |file, pair| {
                let share = share_of(file, &pair.worse);
                pair.differs_by_half_of(share.extra) && share.slack != Nanos::ZERO
            },
            found: |file, pair| {
                let ((late, plain), share) = (pair.lateness(), share_of(file, &pair.worse));
                Conclusion::found(format!(
                    "{} have a slack of their own: with a timeout of {} they were {late} late, {} {plain}; the kernel allows them {} % \
                     of the timeout, {} here",
                    pair.worse.subject,
                    pair.requested(),
                    pair.better.subject,
                    if share.part == 200 { "0.5" } else { "0.1" },
                    share.whole
                ))
            },
            absent: |_, pair| {
                let (late, plain) = pair.lateness();
                format!(
                    "{} with a timeout of {} were {late} late, {} {plain}: no share of the timeout was added",
                    pair.worse.subject,
                    pair.requested(),
                    pair.better.subject
                )
            },
        }),
    },
];

/// Whether the few long timeouts of a run are conclusive nevertheless: their quartiles lie on the same side of half of
/// the kernel's share, so all are later than the others by more than that, or all by less. Three values must all do so.
fn is_clear_with_few(plain: &Series, late: &Series, by_rule: Nanos) -> bool {
    let quartile = |series: &Series, at| values(series).quantile(at).unwrap_or_default();
    let is_enough = [plain, late].iter().all(|series| values(series).count() >= TIMEOUTS_MIN);
    let apart = |late_at, plain_at| quartile(late, late_at).saturating_sub(quartile(plain, plain_at)).saturating_mul(2);
    is_enough && (apart(0.25, 0.75) > by_rule.0 || apart(0.75, 0.25) < by_rule.0)
}

/// Refuses both series if they don't support a conclusion, unless the effect, or its absence, is clear with few values.
fn enough_for(plain: &Series, late: &Series, by_rule: Nanos) -> Checked<()> {
    match sound(plain).and_then(|_| sound(late)) {
        Err(refusal) if refusal.verdict == Verdict::NotEnoughData && is_clear_with_few(plain, late, by_rule) => Ok(()),
        Err(refusal) => Err(refusal),
        Ok(_) => Ok(()),
    }
}

fn nice_value(series: &Series) -> Option<i32> {
    match series.conditions.setting(tunable::POLICY)? {
        Setting::Policy { policy, priority } if policy == "other" => Some(*priority),
        _ => None,
    }
}

/// What a nice value adds to a timeout: 0.4 % of it.
fn nice_share(pair: &Pair<'_>) -> Nanos {
    Nanos(pair.requested().0 / 250).min(SHARE_MAX)
}

fn nice_and_plain(file: &ResultFile) -> Checked<Pair<'_>> {
    let is_long = |series: &&Series| {
        LINUX_TIMEOUT_SHARE.contains(&series.subject.as_str()) && series.requested_ns >= Some(LONG_TIMEOUT_MIN)
    };
    let long = || file.experiment(ExperimentId::B8).filter(is_long);
    let missing = || lacks_wait(file, "poll at nice 0 and at a positive nice value", &long_poll(ExperimentId::B8));
    let first = long().find(|series| nice_value(series).is_some_and(|nice| nice > 0)).ok_or_else(missing)?;
    let is_like = |series: &&Series, nice| nice_value(series) == nice && series.requested_ns == first.requested_ns;
    let plain = |wait: &str| long().find(|series| is_like(series, Some(0)) && series.subject == wait);
    // Few values each, because they are long; those of several calls are enough together.
    let nice = long().filter(|series| is_like(series, nice_value(first)));
    let (nice, plain): (Vec<&Series>, Vec<&Series>) =
        nice.filter_map(|nice| plain(&nice.subject).map(|plain| (nice, plain))).unzip();
    if let Some(refused) = nice.iter().find(|nice| !nice.conditions.all_held()) {
        let why = refusal(refused).unwrap_or_else(|| "its outcome is unknown".to_owned());
        return Err(Conclusion::lacks(format!("the nice value that {} requested was refused: {why}", refused.key)));
    }
    let calls = list(&nice.iter().map(|series| series.subject.as_str()).collect::<Vec<_>>());
    let pair = pooled(&calls, &nice).zip(pooled(&calls, &plain)).ok_or_else(missing)?;
    Ok(Pair::of_pools(pair.0, pair.1).citing(plain.into_iter().chain(nice)))
}

/// The slack of long timeouts.
struct Share {
    /// The thread's own slack.
    slack: Nanos,
    /// The share as one part in this many of the timeout.
    part: i64,
    /// That share of the timeout.
    whole: Nanos,
    /// How much the share exceeds the slack.
    extra: Nanos,
}

fn share_of(file: &ResultFile, calls: &Series) -> Share {
    let slack = slack_during(file, calls).unwrap_or_default();
    let is_nice = file.environment.integer(FactName::SchedNice).is_some_and(|nice| nice > 0);
    let part = if is_nice { 200 } else { 1_000 };
    let whole = Nanos(requested(calls).0 / part).min(SHARE_MAX);
    Share { slack, part, whole, extra: whole - slack }
}

/// The longest timeouts, and sleeps of the same length; if these are too few, all waits that let the CPU idle as deeply
/// and whose lateness the slack covers.
fn polls_and_sleeps(file: &ResultFile) -> Checked<Pair<'_>> {
    let measured = |waits: &[&'static str]| -> Vec<&Series> {
        waits.iter().flat_map(|wait| waits_of(file, wait)).filter(|series| series.has_values()).collect()
    };
    let missing =
        || lacks_wait(file, "a long timeout of poll alongside a wait without that slack", &long_poll(ExperimentId::B5));
    let (polls, sleeps) = (measured(LINUX_TIMEOUT_SHARE), measured(sleeps_of(file)));
    let longest = polls.iter().filter_map(|series| series.requested_ns).max().ok_or_else(missing)?;
    let of_length = |series: &[&'_ Series], span: Nanos| -> Vec<Series> {
        series.iter().copied().filter(|series| series.requested_ns == Some(span)).cloned().collect()
    };
    let pool = |name: &str, series: &[Series]| pooled(name, &series.iter().collect::<Vec<_>>());
    let calls = pool("select, poll and epoll", &of_length(&polls, longest)).ok_or_else(missing)?;
    known(file, FactName::TimerSlack, "the timer slack of this thread", slack_during(file, &calls))?;
    let Share { slack, part, extra, .. } = share_of(file, &calls);
    if slack > Nanos::ZERO && extra < EXTRA_MIN {
        return Err(Conclusion::lacks(format!(
            "the longest timeout measured, {longest}, is too short for its share to exceed the timer slack of {slack}. \
             Use --request 100ms"
        )));
    }
    let is_covered = |series: &&Series| {
        series.rounded_ns == series.requested_ns
            && series.requested_ns <= Some(slack * part)
            && series.requested_ns < Some(longest)
    };
    let covered = || polls.iter().copied().filter(is_covered);
    let others = match pool("plain sleeps", &of_length(&sleeps, longest)) {
        Some(alike) if enough_for(&alike, &calls, extra).is_ok() => Some(alike),
        // A larger pool that is earlier only because its waits are shorter must not decide, so the few sleeps of that
        // length must agree with it.
        Some(few) => {
            let is_deep =
                |series: &&Series| series.requested_ns >= Some(DEEP_IDLE_MIN) && series.requested_ns < Some(longest);
            let shorter = covered().chain(sleeps.iter().copied()).filter(is_deep).cloned();
            let members: Vec<Series> = shorter.chain(of_length(&sleeps, longest)).collect();
            let is_later = |other: &Series| (p50(&calls) - p50(other)).0.saturating_mul(2) > extra.0;
            let wider = pool("plain sleeps and shorter timeouts", &members);
            wider.filter(|wider| few.has_values() && is_later(wider) == is_later(&few)).or(Some(few))
        }
        None => {
            let longest_covered = covered().filter_map(|series| series.requested_ns).max();
            longest_covered.and_then(|span| pool(&format!("timeouts of {span}"), &of_length(&polls, span)))
        }
    };
    Ok(Pair::of_pools(calls, others.ok_or_else(missing)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Explained, Sheet, rounds};

    const PLAIN: &str = "B8/poll/100ms/policy=other";
    const NICE: &str = "B8/poll/100ms/policy=other:5";

    #[test]
    fn nice_widens_poll_slack() {
        let sheet = Sheet::linux().steady(PLAIN, 166_000).steady(NICE, 566_000);
        sheet.finds(
            "OVS-L002",
            "nice 5 makes poll's 100 ms timeout 566 µs late: at nice 0 it is 166 µs, and a positive nice value widens the slack \
             of select, poll and epoll from 0.1 % to 0.5 % of the timeout",
        );
        assert_eq!(sheet.finding("OVS-L002").severity, Severity::Note);
        let nice = sheet.integer(FactName::SchedNice, 10).finding("OVS-L002");
        assert_eq!(nice.severity, Severity::Cost);
        assert!(nice.sentence.ends_with("; this process runs at nice 10"), "{}", nice.sentence);
    }

    #[test]
    fn nice_without_effect_data_or_peace() {
        Sheet::linux()
            .steady(PLAIN, 166_000)
            .steady(NICE, 170_000)
            .finds_no("OVS-L002", "nice 5 did not make poll's 100 ms timeout later (170 µs instead of 166 µs)");
        Sheet::linux().steady(PLAIN, 166_000).lacks_data("OVS-L002");
        Sheet::linux().steady(PLAIN, 166_000).wild(NICE, 566_000).is_disturbed("OVS-L002");
    }

    #[test]
    fn few_long_timeouts_suffice_where_they_are_clear() {
        let few = |plain: &[i64], nice: &[i64]| {
            Sheet::linux().series(rounds(PLAIN, plain, 1)).series(rounds(NICE, nice, 1)).verdict("OVS-L002")
        };
        assert_eq!(few(&[166_000, 170_000, 160_000], &[566_000, 560_000, 590_000]), Verdict::Found);
        assert_eq!(few(&[166_000, 470_000, 160_000], &[566_000, 560_000, 590_000]), Verdict::NotEnoughData);
        assert_eq!(few(&[166_000, 170_000], &[566_000, 560_000]), Verdict::NotEnoughData);
        assert_eq!(few(&[166_000, 170_000, 160_000], &[168_000, 161_000, 190_000]), Verdict::NotFound);
        // A timer that ended one of them early, within its slack.
        let (plain, nice) = ([211_000, 209_000, 180_000], [605_000, 647_000, 283_000]);
        assert_eq!(few(&plain, &nice), Verdict::NotEnoughData);
        let of_two = Sheet::linux().series(rounds(PLAIN, &plain, 1)).series(rounds(NICE, &nice, 1));
        let of_two = of_two.series(rounds("B8/select/100ms/policy=other", &[205_000, 190_000, 214_000], 1));
        let of_two = of_two.series(rounds("B8/select/100ms/policy=other:5", &[611_000, 598_000, 640_000], 1));
        of_two.finds(
            "OVS-L002",
            "nice 5 makes poll and select's 100 ms timeout 605 µs late: at nice 0 it is 205 µs, and a positive nice value widens \
             the slack of select, poll and epoll from 0.1 % to 0.5 % of the timeout",
        );
    }

    fn default_slack() -> Sheet {
        Sheet::linux().span(FactName::TimerSlack, 50_000)
    }

    fn long(polls: i64, sleeps: i64) -> Sheet {
        let sheet = default_slack().steady("B5/poll/100ms", polls).steady("B5/epoll-wait/100ms", polls);
        sheet.steady("B5/nanosleep/100ms", sleeps)
    }

    #[test]
    fn long_timeouts_have_their_share() {
        long(116_000, 66_000).finds(
            "OVS-L003",
            "select, poll and epoll have a slack of their own: with a timeout of 100 ms they were 116 µs late, plain sleeps \
             66 µs; the kernel allows them 0.1 % of the timeout, 100 µs here",
        );
        long(66_000, 66_000).finds_no(
            "OVS-L003",
            "select, poll and epoll with a timeout of 100 ms were 66 µs late, plain sleeps 66 µs: no share of the timeout \
             was added",
        );
    }

    #[test]
    fn long_timeouts_beside_shorter_ones() {
        let alone = || default_slack().steady("B5/poll/100ms", 116_000);
        alone().steady("B5/poll/16ms", 66_000).steady("B5/poll/1ms", 65_000).finds(
            "OVS-L003",
            "select, poll and epoll have a slack of their own: with a timeout of 100 ms they were 116 µs late, timeouts of 16 ms \
             66 µs; the kernel allows them 0.1 % of the timeout, 100 µs here",
        );
        alone().lacks_data("OVS-L003");
    }

    #[test]
    fn long_timeouts_with_few_values_each_are_pooled() {
        let few = |key: &str, value, count| rounds(key, &[value; 3], count);
        let sheet = default_slack()
            .series(few("B5/poll/100ms", 116_000, 5))
            .series(few("B5/epoll-wait/100ms", 116_000, 5))
            .series(few("B5/nanosleep/100ms", 66_000, 10));
        assert_eq!(sheet.verdict("OVS-L003"), Verdict::Found);
    }

    /// A survey of all waits: three values of each long one.
    fn survey(polls: i64, sleeps: &[i64], shorter: i64) -> Sheet {
        let mut sheet = default_slack().series(rounds("B5/nanosleep/100ms", sleeps, 1));
        for wait in LINUX_TIMEOUT_SHARE {
            sheet = sheet.series(rounds(format!("B5/{wait}/100ms"), &[polls; 3], 1));
            sheet = sheet.series(rounds(format!("B5/{wait}/16ms"), &[shorter; 3], 1));
        }
        sheet.series(rounds("B5/nanosleep/16ms", &[shorter; 3], 1)).series(rounds("B5/usleep/16ms", &[shorter; 3], 1))
    }

    #[test]
    fn three_sleeps_one_of_them_disturbed_do_not_forbid_the_conclusion() {
        survey(116_000, &[66_000, 68_000, 190_000], 67_000).finds(
            "OVS-L003",
            "select, poll and epoll have a slack of their own: with a timeout of 100 ms they were 116 µs late, plain sleeps and \
             shorter timeouts 67 µs; the kernel allows them 0.1 % of the timeout, 100 µs here",
        );
        // All waits of 100 ms are late here: a deeper idle state, not a share.
        let verdict = |sleeps: &[i64], polls, shorter| survey(polls, sleeps, shorter).verdict("OVS-L003");
        assert_eq!(verdict(&[116_000, 117_000, 300_000], 116_000, 66_000), Verdict::NotFound);
        assert_eq!(verdict(&[80_000, 110_000, 115_000], 116_000, 66_000), Verdict::NotEnoughData);
        assert_eq!(verdict(&[66_000, 66_000, 68_000], 67_000, 66_000), Verdict::NotFound);
    }

    #[test]
    fn long_timeouts_without_data_or_peace() {
        default_slack().steady("B5/poll/1ms", 66_000).steady("B5/nanosleep/1ms", 66_000).lacks(
            "OVS-L003",
            "the longest timeout measured, 1 ms, is too short for its share to exceed the timer slack of 50 µs. Use \
             --request 100ms",
        );
        let wild = default_slack().wild("B5/poll/100ms", 116_000).steady("B5/nanosleep/100ms", 66_000);
        wild.is_disturbed("OVS-L003");
    }
}
