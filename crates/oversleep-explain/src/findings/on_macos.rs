//! macOS: the leeway timers get by the class of their thread, and the policy that takes it away.

use oversleep_record::conditions::Setting;
use oversleep_record::finding::Severity;
use oversleep_record::{ExperimentId, FactName, Nanos, ResultFile, Series};

use super::super::advice::sound_pairs;
use super::super::entry::{Conclusion, FindingEntry, Scope, Statement};
use super::super::read::{
    COMMON_REQUEST, Look, judge, not_measured, p50, quiet_enough, reference_sleep, settle, summary, waits_of,
};
use super::super::text::percent;

/// Longest request of the comparison: at a share of an eighth the leeway stops growing at 8 ms.
const LONGEST: Nanos = Nanos::from_millis(8);
/// Share of the request from which a wait's lateness grows with it.
const SHARE_MIN: f64 = 0.06;
/// How far a share may be from a class's to be that class's.
const SHARE_TOLERANCE: f64 = 0.25;

pub(super) const TIMER_LEEWAY: FindingEntry = FindingEntry {
    id: "OVS-M001",
    name: "timer-leeway",
    summary: "macOS ends a wait late by a share of its length, a quarter for threads of the default class.",
    applies_to: "macOS 10.9 and later; threads without a real-time policy",
    scope: Scope::Os("macos"),
    severity: Severity::Cost,
    explanation: "\
To let processors idle longer macOS coalesces timers: a wait may end late by a share of what was asked for. The share \
follows from the quality-of-service class of the thread: an eighth, at most 1 ms, for user-interactive threads and those \
without a class; a quarter, at most 5 ms, for the default and user-initiated classes; more for utility and background, \
up to tens of milliseconds. On a quiet machine there is nothing to share an interrupt with, and the wait ends at the end \
of its leeway: 1 ms takes 1.25 ms, 20 ms takes 25 ms.\n\n\
How we know: the plainest sleep is measured at several requests; the lateness that grows with the request is the \
leeway, the rest is the wake-up.\n\n\
Cure: a time-constraint policy for the thread, or a strict timer (DISPATCH_TIMER_STRICT, NOTE_CRITICAL) for one wait.",
    remedies: &["time-constraint-policy", "strict-timer", "hybrid-wait"],
    check: |file| settle(timer_leeway(file)),
};

pub(super) const TIME_CONSTRAINT: FindingEntry = FindingEntry {
    id: "OVS-M002",
    name: "time-constraint",
    summary: "A time-constraint policy frees a thread's waits from the leeway of timer coalescing.",
    applies_to: "macOS, every version; it takes no privilege",
    scope: Scope::Os("macos"),
    severity: Severity::Note,
    explanation: "\
Threads under THREAD_TIME_CONSTRAINT_POLICY tell the kernel a period, the computation in it and its constraint, as audio \
threads do. Their timers have no leeway, and they run before everything that shares time. A thread that computes for \
longer than it said is demoted.\n\n\
How we know: the plainest sleep is measured with and without the policy, round by round in turn.\n\n\
Cure: the policy for threads that must be on time and do little each time; everything else keeps its class, which saves \
power.",
    remedies: &["time-constraint-policy"],
    check: |file| settle(time_constraint(file)),
};

fn class(file: &ResultFile) -> String {
    let class = file.environment.text(FactName::SchedQosClass);
    class.map(|class| format!(" (class {class})")).unwrap_or_default()
}

/// A share in words where it is a class's.
fn share_text(share: f64) -> String {
    let of_class = [(0.5, "a half"), (0.25, "a quarter"), (0.125, "an eighth")];
    let near = of_class.iter().find(|(whole, _)| (share - whole).abs() <= whole * SHARE_TOLERANCE);
    near.map_or_else(|| percent(share), |(_, words)| (*words).to_owned())
}

fn timer_leeway(file: &ResultFile) -> Look<Conclusion> {
    let plain = reference_sleep(file)?;
    let mut waits: Vec<&Series> = waits_of(file, &plain.subject)
        .filter(|series| series.requested_ns >= Some(COMMON_REQUEST) && series.requested_ns <= Some(LONGEST))
        .filter(|series| series.has_values())
        .collect();
    waits.sort_by_key(|series| series.requested_ns);
    // The longest that can carry it; that none can is said of the longest there is.
    let longest = waits.iter().skip(1).rfind(|series| judge(series).is_ok()).or(waits.last());
    let (Some(&short), Some(&long)) = (waits.first(), longest) else {
        return Err(not_measured(file, "a sleep of 1 ms to 8 ms (B5)"));
    };
    let asked = |series: &Series| series.requested_ns.unwrap_or_default();
    let further = asked(long) - asked(short);
    if further <= Nanos::ZERO {
        return Err(Conclusion::lacks(format!("only {} was measured; a share needs two requests", asked(short))));
    }
    judge(short)?;
    judge(long)?;
    let grown = p50(long) - p50(short);
    quiet_enough(file, long, Nanos((further.0 as f64 * SHARE_MIN) as i64))?;
    let share = grown.0 as f64 / further.0 as f64;
    let statement = |end: String| {
        let sentence = format!(
            "{} of {} ended {} late, of {} {}: {end}",
            plain.subject,
            asked(short),
            p50(short),
            asked(long),
            p50(long)
        );
        Statement::new(sentence).rests_on(&short.key, summary(short)).rests_on(&long.key, summary(long))
    };
    Ok(if share >= SHARE_MIN {
        Conclusion::Found(statement(format!(
            "macOS lets this thread's waits be late by {} of what was asked{}",
            share_text(share),
            class(file)
        )))
    } else {
        Conclusion::Absent(statement(format!("their lateness does not grow with the request{}", class(file))))
    })
}

/// The plain sleep without and with the policy: of the trial, else of the policies experiment.
fn with_and_without(file: &ResultFile) -> Look<(&Series, &Series)> {
    if let Some(pair) = sound_pairs(file, "time-constraint-policy").into_iter().next() {
        return Ok(pair);
    }
    let plain = reference_sleep(file)?;
    let is_real_time = |series: &&Series| {
        let policy = series.conditions.setting("policy");
        matches!(policy, Some(Setting::Policy { policy, .. }) if policy == "time-constraint")
    };
    let with = file
        .experiment(ExperimentId::B8)
        .filter(is_real_time)
        .find(|series| {
            series.subject == plain.subject && series.requested_ns == plain.requested_ns && series.has_values()
        })
        .ok_or_else(|| not_measured(file, "a sleep under a time-constraint policy"))?;
    if !with.conditions.all_held() {
        return Err(Conclusion::lacks(format!("the policy asked for in {} was refused", with.key)));
    }
    judge(with)?;
    Ok((plain, with))
}

fn time_constraint(file: &ResultFile) -> Look<Conclusion> {
    let (without, with) = with_and_without(file)?;
    let requested = without.requested_ns.unwrap_or_default();
    let rests = |sentence: String| {
        Statement::new(sentence).rests_on(&without.key, summary(without)).rests_on(&with.key, summary(with))
    };
    let (late, still_late) = (p50(without), p50(with));
    let ended = format!(
        "under a time-constraint policy {} of {requested} ended {still_late} late instead of {late}",
        without.subject
    );
    Ok(if still_late.0.saturating_mul(2) <= late.0 {
        Conclusion::Found(rests(format!("{ended}: its waits have no leeway")))
    } else {
        Conclusion::Absent(rests(format!("{ended}: it frees them of nothing here")))
    })
}

#[cfg(test)]
mod tests {
    use oversleep_record::FactName;
    use oversleep_record::finding::Verdict;

    use super::super::super::testing::{Explained, Sheet};

    fn says(sheet: &Sheet, id: &str) -> (Verdict, String) {
        let finding = sheet.finding(id);
        (finding.verdict, finding.sentence)
    }

    fn sleeping(at_one: i64, at_five: i64) -> Sheet {
        Sheet::macos().steady("B5/nanosleep/1ms", at_one).steady("B5/nanosleep/5ms", at_five)
    }

    #[test]
    fn leeway_is_a_share_of_the_request() {
        assert_eq!(
            says(&sleeping(262_000, 1_262_000).text(FactName::SchedQosClass, "default"), "OVS-M001"),
            (
                Verdict::Found,
                "nanosleep of 1 ms ended 262 µs late, of 5 ms 1.26 ms: macOS lets this thread's waits be late by a quarter \
                 of what was asked (class default)"
                    .into()
            )
        );
        let interactive = says(&sleeping(137_000, 637_000), "OVS-M001").1;
        assert!(interactive.ends_with("be late by an eighth of what was asked"), "{interactive}");
        let odd = says(&sleeping(1_000_000, 5_000_000), "OVS-M001").1;
        assert!(odd.ends_with("be late by 100 % of what was asked"), "{odd}");
    }

    #[test]
    fn no_leeway_no_data_no_peace() {
        assert_eq!(
            says(&sleeping(12_000, 13_000), "OVS-M001"),
            (
                Verdict::Absent,
                "nanosleep of 1 ms ended 12 µs late, of 5 ms 13 µs: their lateness does not grow with the request"
                    .into()
            )
        );
        let one = Sheet::macos().steady("B5/nanosleep/1ms", 262_000);
        assert_eq!(
            says(&one, "OVS-M001"),
            (Verdict::NotEnoughData, "only 1 ms was measured; a share needs two requests".into())
        );
        let wild = Sheet::macos().steady("B5/nanosleep/1ms", 262_000).wild("B5/nanosleep/5ms", 1_262_000);
        assert_eq!(says(&wild, "OVS-M001").0, Verdict::TooDisturbed);
    }

    #[test]
    fn the_longest_request_that_can_be_judged_is_compared() {
        let few = |at_five| {
            Sheet::macos()
                .steady("B5/nanosleep/1ms", 262_000)
                .steady("B5/nanosleep/2ms", 512_000)
                .scarce("B5/nanosleep/5ms", at_five)
        };
        assert_eq!(
            says(&few(1_262_000), "OVS-M001"),
            (
                Verdict::Found,
                "nanosleep of 1 ms ended 262 µs late, of 2 ms 512 µs: macOS lets this thread's waits be late by a quarter \
                 of what was asked"
                    .into()
            )
        );
        let only = Sheet::macos().steady("B5/nanosleep/1ms", 262_000).scarce("B5/nanosleep/5ms", 1_262_000);
        assert_eq!(
            says(&only, "OVS-M001"),
            (Verdict::NotEnoughData, "B5/nanosleep/5ms holds 3 values; a conclusion needs 30".into())
        );
    }

    #[test]
    fn a_time_constraint_takes_the_leeway_away() {
        let both = |with| sleeping(262_000, 1_262_000).steady("B8/nanosleep/1ms/policy=time-constraint", with);
        assert_eq!(
            says(&both(14_000), "OVS-M002"),
            (
                Verdict::Found,
                "under a time-constraint policy nanosleep of 1 ms ended 14 µs late instead of 262 µs: its waits have no \
                 leeway"
                    .into()
            )
        );
        assert_eq!(says(&both(255_000), "OVS-M002").0, Verdict::Absent);
        let tried = Sheet::macos().trial("time-constraint-policy", "nanosleep", 262_000, 14_000);
        assert_eq!(says(&tried, "OVS-M002").0, Verdict::Found);
        assert_eq!(says(&sleeping(262_000, 1_262_000), "OVS-M002").0, Verdict::NotEnoughData);
        let mut refused = both(14_000);
        let with = refused.file.series.last_mut().unwrap();
        let why = oversleep_record::Unavailable::not_permitted("thread_policy_set", "run it outside the sandbox");
        with.conditions.outcomes.insert("policy".into(), oversleep_record::conditions::Outcome::Denied { why });
        assert_eq!(says(&refused, "OVS-M002").0, Verdict::NotEnoughData);
    }
}
