//! The slack that select, poll and epoll allow themselves: a share of the timeout, more of it for a nice thread.

use oversleep_record::conditions::Setting;
use oversleep_record::finding::Severity;
use oversleep_record::{ExperimentId, FactName, Nanos, ResultFile, Series};

use super::super::entry::{Conclusion, FindingEntry, Scope, Statement};
use super::super::read::{
    Look, judge, not_measured, p50, pooled, quiet_enough, settle, slack_during, sleeps_of, summary, values, waits_of,
};

/// Waits whose slack grows with the timeout.
const SHARE_WAITS: [&str; 6] = ["poll", "ppoll", "select", "pselect", "epoll-wait", "epoll-pwait2"];
/// Longest slack by that rule.
const SHARE_MAX: Nanos = Nanos::from_millis(100);
/// Fewest long timeouts that confirm a rule.
const TIMEOUTS_MIN: u64 = 3;
/// Waits from which on a CPU idles about as deeply as in the longest.
const IDLES_AS_DEEPLY: Nanos = Nanos::from_millis(5);
/// Extra slack below which it can't be told from the grain of a wake-up.
const EXTRA_WORTH: Nanos = Nanos(10_000);

pub(super) const NICE_POLL_SLACK: FindingEntry = FindingEntry {
    id: "OVS-L002",
    name: "nice-poll-slack",
    summary: "A positive nice value widens the slack of select, poll and epoll from 0.1 % to 0.5 % of the timeout.",
    applies_to: "Linux 2.6.28 and later; threads with a nice value above 0",
    scope: Scope::Os("linux"),
    severity: Severity::Note,
    explanation: "\
select, poll and epoll estimate how exact a timeout has to be: 0.1 % of it, but 0.5 % of it where the thread is nice. \
A batch job started with nice therefore gets timeouts that are five times as vague, also on an idle machine, where the \
nice value should cost it nothing. A timeout of 100 ms may end 500 µs late, one of 10 s 50 ms.\n\n\
How we know: poll is measured with the same 100 ms timeout at nice 0 and at nice 5, round by round in turn.\n\n\
Cure: bound the CPU share of background services with a cgroup weight instead of nice, or wait on a timerfd, which has \
no slack of this kind.",
    remedies: &["keep-nice-at-zero", "absolute-timerfd-for-long-timeouts"],
    check: |file| settle(nice_poll_slack(file)),
};

pub(super) const LONG_TIMEOUT_SLACK: FindingEntry = FindingEntry {
    id: "OVS-L003",
    name: "long-timeout-slack",
    summary: "select, poll and epoll may end 0.1 % of their timeout late, up to 100 ms.",
    applies_to: "Linux 2.6.28 and later; threads under SCHED_OTHER, SCHED_BATCH and SCHED_IDLE",
    scope: Scope::Os("linux"),
    severity: Severity::Note,
    explanation: "\
For the timeouts of select, poll and epoll the kernel uses the larger of the thread's timer slack and 0.1 % of the \
timeout, at most 100 ms. Above 50 ms of timeout this share exceeds the default slack of 50 µs: 100 ms ends 100 µs late, \
1 s ends 1 ms late, 100 s and more ends 100 ms late. Lowering the timer slack does not help, since the share is a lower \
bound of its own.\n\n\
How we know: these calls are measured beside plain sleeps of the same length in the same rounds; the share is what the \
calls are later by.\n\n\
Cure: where a long timeout must end on time, put a timerfd with an absolute deadline among the descriptors and wait \
without a timeout.",
    remedies: &["absolute-timerfd-for-long-timeouts"],
    check: |file| settle(long_timeout_slack(file)),
};

/// Whether few long timeouts are plain all the same: their quartiles lie on one side of half of what the kernel's rule
/// adds, all later than the others by more, or all by less. Of three values that takes all of them.
fn is_plain_with_few(plain: &Series, late: &Series, by_rule: Nanos) -> bool {
    let quartile = |series: &Series, at| values(series).quantile(at).unwrap_or_default();
    let enough = [plain, late].iter().all(|series| values(series).count() >= TIMEOUTS_MIN);
    let apart = |late_at, plain_at| quartile(late, late_at).saturating_sub(quartile(plain, plain_at)).saturating_mul(2);
    enough && (apart(0.25, 0.75) > by_rule.0 || apart(0.75, 0.25) < by_rule.0)
}

/// Refuses both series where they can carry no conclusion, unless the effect, or its absence, is plain with few values.
fn judge_both(plain: &Series, late: &Series, by_rule: Nanos) -> Look<()> {
    match judge(plain).and_then(|()| judge(late)) {
        Err(Conclusion::NotEnoughData(_)) if is_plain_with_few(plain, late, by_rule) => Ok(()),
        judged => judged,
    }
}

fn nice_value(series: &Series) -> Option<i32> {
    match series.conditions.setting("policy")? {
        Setting::Policy { policy, priority } if policy == "other" => Some(*priority),
        _ => None,
    }
}

fn nice_poll_slack(file: &ResultFile) -> Look<Conclusion> {
    let is_long = |series: &&Series| {
        SHARE_WAITS.contains(&series.subject.as_str()) && series.requested_ns >= Some(Nanos::from_millis(20))
    };
    let of_nice = |nice: fn(i32) -> bool, like: Option<&Series>| {
        file.experiment(ExperimentId::B8).filter(is_long).find(|series| {
            nice_value(series).is_some_and(nice)
                && like.is_none_or(|like| like.subject == series.subject && like.requested_ns == series.requested_ns)
        })
    };
    let missing = || not_measured(file, "poll at nice 0 and at a positive nice value (B8/poll/100ms)");
    let nice = of_nice(|nice| nice > 0, None).ok_or_else(missing)?;
    let plain = of_nice(|nice| nice == 0, Some(nice)).ok_or_else(missing)?;
    if !nice.conditions.all_held() {
        return Err(Conclusion::lacks(format!("the nice value asked for in {} was refused", nice.key)));
    }
    let requested = nice.requested_ns.unwrap_or_default();
    let expected = Nanos(requested.0 / 250).min(SHARE_MAX);
    judge_both(plain, nice, expected)?;
    quiet_enough(file, nice, expected)?;
    let (value, wait) = (nice_value(nice).unwrap_or_default(), &nice.subject);
    let statement = |sentence: String| {
        Statement::new(sentence).rests_on(&plain.key, summary(plain)).rests_on(&nice.key, summary(nice))
    };
    if (p50(nice) - p50(plain)).0.saturating_mul(2) < expected.0 {
        return Ok(Conclusion::Absent(statement(format!(
            "nice {value} did not make {wait}'s {requested} timeout later ({} instead of {})",
            p50(nice),
            p50(plain)
        ))));
    }
    let own_nice = file.environment.integer(FactName::SchedNice).filter(|&own| own > 0);
    let mut found = statement(format!(
        "at nice {value} {wait}'s {requested} timeout ended {} late instead of {}: a positive nice value widens the \
         slack of select, poll and epoll from 0.1 % to 0.5 % of the timeout",
        p50(nice),
        p50(plain)
    ));
    if let Some(own) = own_nice {
        found.sentence.push_str(&format!("; this process runs at nice {own}"));
        found = found.rests_on(FactName::SchedNice, own.to_string()).matters(Severity::Cost);
    }
    Ok(Conclusion::Found(found))
}

fn long_timeout_slack(file: &ResultFile) -> Look<Conclusion> {
    let measured = |waits: &[&'static str]| -> Vec<&Series> {
        waits.iter().flat_map(|wait| waits_of(file, wait)).filter(|series| series.has_values()).collect()
    };
    let polls = measured(&SHARE_WAITS);
    let missing = || not_measured(file, "a long timeout of poll beside a wait without its share (B5/poll/100ms)");
    let longest = polls.iter().filter_map(|series| series.requested_ns).max().ok_or_else(missing)?;
    let asked = |series: Vec<&'_ Series>, span: Nanos| -> Vec<Series> {
        series.into_iter().filter(|series| series.requested_ns == Some(span)).cloned().collect()
    };
    let pool = |name: &str, series: &[Series]| pooled(name, &series.iter().collect::<Vec<_>>());
    let long = asked(measured(&SHARE_WAITS), longest);
    let calls = pool("select, poll and epoll", &long).ok_or_else(missing)?;
    let slack = slack_during(file, &long[0])
        .ok_or_else(|| Conclusion::lacks("the timer slack of this thread is not known (timer.slack_ns)"))?;
    let is_nice = file.environment.integer(FactName::SchedNice).is_some_and(|nice| nice > 0);
    let part = if is_nice { 200 } else { 1_000 };
    let share = Nanos(longest.0 / part).min(SHARE_MAX);
    let extra = share - slack;
    // Beside them sleeps of that length; where these are too few, all waits long enough to let the CPU idle as deeply
    // whose lateness the slack covers. A pool that is earlier only because its waits are shorter must not decide, so the
    // few sleeps of that length must agree with it.
    let is_covered = |series: &&Series| {
        series.asked_ns == series.requested_ns
            && series.requested_ns <= Some(slack * part)
            && series.requested_ns < Some(longest)
    };
    let sleeps = measured(sleeps_of(file));
    let same_length = pool("plain sleeps", &asked(sleeps.clone(), longest));
    let covered = |from: Nanos| {
        let is_long = |series: &&Series| series.requested_ns >= Some(from) && series.requested_ns < Some(longest);
        let polls = polls.iter().copied().filter(is_covered).filter(is_long);
        let members: Vec<Series> = polls.chain(sleeps.iter().copied().filter(is_long)).cloned().collect();
        members
    };
    let shorter = polls.iter().copied().filter(is_covered).filter_map(|series| series.requested_ns).max();
    let others = match same_length {
        Some(sleeps) if judge_both(&sleeps, &calls, extra).is_ok() => Some(sleeps),
        Some(few) => {
            let mut members = covered(IDLES_AS_DEEPLY);
            members.extend(asked(sleeps.clone(), longest));
            let wider = pool("plain sleeps and shorter timeouts", &members);
            let is_later = |other: &Series| (p50(&calls) - p50(other)).0.saturating_mul(2) > extra.0;
            wider.filter(|wider| few.has_values() && is_later(wider) == is_later(&few)).or(Some(few))
        }
        None => shorter.and_then(|span| pool(&format!("timeouts of {span}"), &asked(polls.clone(), span))),
    };
    if slack > Nanos::ZERO && extra < EXTRA_WORTH {
        return Err(Conclusion::lacks(format!(
            "the longest timeout measured, {longest}, is too short for its share to exceed the timer slack of {slack}"
        )));
    }
    let others = others.ok_or_else(missing)?;
    judge_both(&others, &calls, extra)?;
    quiet_enough(file, &calls, extra)?;
    let rests =
        |statement: Statement| statement.rests_on(&calls.key, summary(&calls)).rests_on(&others.key, summary(&others));
    let (late, plain) = (p50(&calls), p50(&others));
    if (late - plain).0.saturating_mul(2) < extra.0 || slack == Nanos::ZERO {
        return Ok(Conclusion::Absent(rests(Statement::new(format!(
            "{} with {longest} of timeout ended {late} late, {} {plain}: no share of the timeout was added",
            calls.subject, others.subject
        )))));
    }
    Ok(Conclusion::Found(rests(Statement::new(format!(
        "{} with {longest} of timeout ended {late} late where {} ended {plain} late: they allow themselves {} % of \
         the timeout, {share} here",
        calls.subject,
        others.subject,
        if is_nice { "0.5" } else { "0.1" }
    )))))
}

#[cfg(test)]
mod tests {
    use oversleep_record::finding::Verdict;

    use super::super::super::testing::{Explained, Sheet};
    use super::*;

    const PLAIN: &str = "B8/poll/100ms/policy=other";
    const NICE: &str = "B8/poll/100ms/policy=other:5";

    fn says(sheet: &Sheet, id: &str) -> (Verdict, Severity, String) {
        let finding = sheet.finding(id);
        (finding.verdict, finding.severity, finding.sentence)
    }

    #[test]
    fn nice_widens_poll_slack() {
        let sheet = Sheet::linux().steady(PLAIN, 166_000).steady(NICE, 566_000);
        assert_eq!(
            says(&sheet, "OVS-L002"),
            (
                Verdict::Found,
                Severity::Note,
                "at nice 5 poll's 100 ms timeout ended 566 µs late instead of 166 µs: a positive nice value widens \
                 the slack of select, poll and epoll from 0.1 % to 0.5 % of the timeout"
                    .into()
            )
        );
        let (_, severity, sentence) = says(&sheet.integer(FactName::SchedNice, 10), "OVS-L002");
        assert_eq!(severity, Severity::Cost);
        assert!(sentence.ends_with("; this process runs at nice 10"), "{sentence}");
    }

    #[test]
    fn nice_without_effect_data_or_peace() {
        let equal = Sheet::linux().steady(PLAIN, 166_000).steady(NICE, 170_000);
        assert_eq!(
            says(&equal, "OVS-L002").2,
            "nice 5 did not make poll's 100 ms timeout later (170 µs instead of 166 µs)"
        );
        assert_eq!(says(&equal, "OVS-L002").0, Verdict::Absent);
        assert_eq!(says(&Sheet::linux().steady(PLAIN, 166_000), "OVS-L002").0, Verdict::NotEnoughData);
        let wild = Sheet::linux().steady(PLAIN, 166_000).wild(NICE, 566_000);
        assert_eq!(says(&wild, "OVS-L002").0, Verdict::TooDisturbed);
    }

    #[test]
    fn few_long_timeouts_suffice_where_they_are_clear() {
        let few = |plain: &[i64], nice: &[i64]| {
            use super::super::super::testing::rounds;
            says(&Sheet::linux().series(rounds(PLAIN, plain, 1)).series(rounds(NICE, nice, 1)), "OVS-L002").0
        };
        assert_eq!(few(&[166_000, 170_000, 160_000], &[566_000, 560_000, 590_000]), Verdict::Found);
        assert_eq!(few(&[166_000, 470_000, 160_000], &[566_000, 560_000, 590_000]), Verdict::NotEnoughData);
        assert_eq!(few(&[166_000, 170_000], &[566_000, 560_000]), Verdict::NotEnoughData);
        assert_eq!(few(&[166_000, 170_000, 160_000], &[168_000, 161_000, 190_000]), Verdict::Absent);
    }

    fn long(polls: i64, sleeps: i64) -> Sheet {
        Sheet::linux()
            .span(FactName::TimerSlack, 50_000)
            .steady("B5/poll/100ms", polls)
            .steady("B5/epoll-wait/100ms", polls)
            .steady("B5/nanosleep/100ms", sleeps)
    }

    #[test]
    fn long_timeouts_have_their_share() {
        assert_eq!(
            says(&long(116_000, 66_000), "OVS-L003"),
            (
                Verdict::Found,
                Severity::Note,
                "select, poll and epoll with 100 ms of timeout ended 116 µs late where plain sleeps ended 66 µs late: they \
                 allow themselves 0.1 % of the timeout, 100 µs here"
                    .into()
            )
        );
        assert_eq!(
            says(&long(66_000, 66_000), "OVS-L003").2,
            "select, poll and epoll with 100 ms of timeout ended 66 µs late, plain sleeps 66 µs: no share of the \
             timeout was added"
        );
    }

    #[test]
    fn long_timeouts_beside_shorter_ones() {
        let sheet = Sheet::linux()
            .span(FactName::TimerSlack, 50_000)
            .steady("B5/poll/100ms", 116_000)
            .steady("B5/poll/16ms", 66_000)
            .steady("B5/poll/1ms", 65_000);
        assert_eq!(
            says(&sheet, "OVS-L003").2,
            "select, poll and epoll with 100 ms of timeout ended 116 µs late where timeouts of 16 ms ended 66 µs late: they \
             allow themselves 0.1 % of the timeout, 100 µs here"
        );
        let alone = Sheet::linux().span(FactName::TimerSlack, 50_000).steady("B5/poll/100ms", 116_000);
        assert_eq!(says(&alone, "OVS-L003").0, Verdict::NotEnoughData);
    }

    #[test]
    fn long_timeouts_with_few_values_each_are_pooled() {
        let mut sheet = long(116_000, 66_000);
        for series in &mut sheet.file.series {
            let value = if series.subject == "nanosleep" { 66_000 } else { 116_000 };
            let count = if series.subject == "nanosleep" { 10 } else { 5 };
            *series = super::super::super::testing::rounds(&series.key, &[value; 3], count);
        }
        assert_eq!(says(&sheet, "OVS-L003").0, Verdict::Found);
    }

    /// What a survey of all waits holds: three values of each long one.
    fn survey(polls: i64, sleeps: &[i64], shorter: i64) -> Sheet {
        use super::super::super::testing::rounds;
        let mut sheet =
            Sheet::linux().span(FactName::TimerSlack, 50_000).series(rounds("B5/nanosleep/100ms", sleeps, 1));
        for wait in SHARE_WAITS {
            sheet = sheet.series(rounds(&format!("B5/{wait}/100ms"), &[polls; 3], 1));
            sheet = sheet.series(rounds(&format!("B5/{wait}/16ms"), &[shorter; 3], 1));
        }
        sheet.series(rounds("B5/nanosleep/16ms", &[shorter; 3], 1)).series(rounds("B5/usleep/16ms", &[shorter; 3], 1))
    }

    #[test]
    fn three_sleeps_one_of_them_disturbed_do_not_forbid_the_conclusion() {
        let noisy = survey(116_000, &[66_000, 68_000, 190_000], 67_000);
        assert_eq!(
            says(&noisy, "OVS-L003"),
            (
                Verdict::Found,
                Severity::Note,
                "select, poll and epoll with 100 ms of timeout ended 116 µs late where plain sleeps and shorter timeouts \
                 ended 67 µs late: they allow themselves 0.1 % of the timeout, 100 µs here"
                    .into()
            )
        );
        // Waits of 100 ms are late here whatever they are: a deeper idle state, not a share.
        let deep = survey(116_000, &[116_000, 117_000, 300_000], 66_000);
        assert_eq!(says(&deep, "OVS-L003").0, Verdict::Absent);
        let between = survey(116_000, &[80_000, 110_000, 115_000], 66_000);
        assert_eq!(says(&between, "OVS-L003").0, Verdict::NotEnoughData);
        let none = survey(67_000, &[66_000, 66_000, 68_000], 66_000);
        assert_eq!(says(&none, "OVS-L003").0, Verdict::Absent);
    }

    #[test]
    fn long_timeouts_without_data_or_peace() {
        let short = Sheet::linux()
            .span(FactName::TimerSlack, 50_000)
            .steady("B5/poll/1ms", 66_000)
            .steady("B5/nanosleep/1ms", 66_000);
        assert_eq!(
            says(&short, "OVS-L003").2,
            "the longest timeout measured, 1 ms, is too short for its share to exceed the timer slack of 50 µs"
        );
        let wild = Sheet::linux()
            .span(FactName::TimerSlack, 50_000)
            .wild("B5/poll/100ms", 116_000)
            .steady("B5/nanosleep/100ms", 66_000);
        assert_eq!(says(&wild, "OVS-L003").0, Verdict::TooDisturbed);
    }
}
