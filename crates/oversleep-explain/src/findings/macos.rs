//! Findings about macOS: the leeway that timers get by the class of their thread, and the policy that removes it.

use oversleep_record::conditions::Setting;
use oversleep_record::finding::Severity;
use oversleep_record::words::percent;
use oversleep_record::{ExperimentId, FactName, Nanos, Os, ResultFile, Series, quantile_interval};

use crate::entry::{Checked, Conclusion, Scope};
use crate::figures::{a_wait, p50, requested, values};
use crate::finding::{Check, FindingEntry, Pair, PairCheck};
use crate::names::{MACOS_EXACT, tunable};
use crate::read::{
    COMMON_REQUEST, is_sound, not_measured, quiet_enough, reference_sleep, refusal, sleeps_of, sound, sound_pairs,
    wait_series, waits_of,
};
use crate::remedies::macos::{STRICT_TIMER, TIME_CONSTRAINT_POLICY};
use crate::remedies::program::HYBRID_WAIT;

/// The longest request of the comparison: with a share of an eighth, the leeway stops growing at 8 ms.
const LONGEST: Nanos = Nanos::from_millis(8);
/// From this share of the request on, a wait's lateness grows with it.
const SHARE_MIN: f64 = 0.06;
/// The tolerance for assigning a share to a class.
const SHARE_TOLERANCE: f64 = 0.25;
/// A wait with leeway is at least this many times as late.
const LEEWAY_FACTOR: i64 = 2;

pub(super) static FINDINGS: &[FindingEntry] = &[
    FindingEntry {
        id: "OVS-M001",
        name: "timer-leeway",
        summary: "macOS ends a wait late by a share of its length, a quarter for threads of the default class.",
        applies_to: "macOS 10.9 and later; threads without a real-time policy",
        scope: Scope::Os(Os::Macos),
        severity: Severity::Cost,
        meaning: "macOS coalesces timers to let processors idle longer: a wait may end late by a share of its request. The \
                  share depends on the quality-of-service class of the thread: an eighth, at most 1 ms, for user-interactive \
                  threads and those without a class; a quarter, at most 5 ms, for the default and user-initiated classes; \
                  more for utility and background, up to tens of milliseconds. On a quiet machine there is nothing to share \
                  an interrupt with, and the wait ends when its leeway is used up: 1 ms takes 1.25 ms, 20 ms takes 25 ms.",
        how_we_know: "oversleep measures a plain sleep of several lengths. The lateness that grows with the request is \
                      the leeway; the rest is the wake-up. Where the values vary too much for that, a sleep that is at \
                      least twice as late as under a time-constraint policy has leeway.",
        what_to_do: "Give the thread a time-constraint policy, or use a strict timer (DISPATCH_TIMER_STRICT, NOTE_CRITICAL) \
                     for one wait.",
        sources: &[
            "https://github.com/apple-oss-distributions/xnu/blob/main/osfmk/kern/timer_call.c",
            "https://developer.apple.com/library/archive/technotes/tn2169/_index.html",
        ],
        remedies: &[&TIME_CONSTRAINT_POLICY, &STRICT_TIMER, &HYBRID_WAIT],
        check: Check::Rule(timer_leeway),
    },
    FindingEntry {
        id: "OVS-M003",
        name: "timers-put-off",
        summary: "macOS puts off the timers of a program in App Nap, by up to ten seconds on Intel's processors.",
        applies_to: "macOS 10.9 and later; programs in App Nap, and threads in the last latency tiers",
        scope: Scope::Os(Os::Macos),
        severity: Severity::Cost,
        meaning: "A program whose windows are hidden and that plays nothing may nap: its threads belong to the last latency \
                  tier, whose timers the kernel may put off. Every wait of such a thread ends with some other wake-up, or when \
                  the longest delay is over. Strict timers are exempt.",
        how_we_know: "oversleep measures a plain sleep beside strict timers of the same length.",
        what_to_do: "Tell the system that an activity of the user goes on (NSProcessInfo's beginActivityWithOptions), or wait \
                     on a strict timer.",
        sources: &["https://github.com/apple-oss-distributions/xnu/blob/main/osfmk/kern/timer_call.c"],
        remedies: &[&STRICT_TIMER, &TIME_CONSTRAINT_POLICY],
        check: Check::Pair(PairCheck {
            find: plain_and_strict,
            enough: |_, _| Ok(()),
            effect: None,
            differs: |_, pair| pair.worse.distribution.min().is_some_and(|least| least >= PUT_OFF_MIN.0),
            found: |_, pair| {
                let (late, strict) = pair.lateness();
                Conclusion::found(format!(
                    "this program's timers are put off: {} was {late} late, {} {strict}",
                    a_wait(&pair.worse),
                    pair.better.subject
                ))
            },
            absent: |_, pair| format!("timers are not put off: {} was {} late", a_wait(&pair.worse), pair.lateness().0),
        }),
    },
    FindingEntry {
        id: "OVS-M002",
        name: "time-constraint",
        summary: "A time-constraint policy frees a thread's waits from the leeway of timer coalescing.",
        applies_to: "macOS, every version; it takes no privilege",
        scope: Scope::Os(Os::Macos),
        severity: Severity::Note,
        meaning: "Threads under THREAD_TIME_CONSTRAINT_POLICY tell the kernel their period, how long they compute in \
                  each, and by when they must finish, as audio threads do. Their timers have no leeway, and they run \
                  ahead of all time-sharing threads. A thread that computes for longer than it stated is demoted.",
        how_we_know: "oversleep measures a plain sleep with and without the policy, in alternating rounds.",
        what_to_do: "Use the policy for threads that must be on time and do little each time. Leave all other threads \
                     in their class, which saves power.",
        sources: &["https://developer.apple.com/library/archive/technotes/tn2169/_index.html"],
        remedies: &[&TIME_CONSTRAINT_POLICY],
        check: Check::Pair(PairCheck {
            find: without_and_with,
            enough: Pair::both_sound,
            effect: None,
            differs: |_, pair| pair.differs_by_factor(LEEWAY_FACTOR),
            found: |_, pair| {
                Conclusion::found(format!(
                    "a time-constraint policy removes the leeway of waits: {}",
                    with_policy(pair)
                ))
            },
            absent: |_, pair| format!("a time-constraint policy gains nothing here: {}", with_policy(pair)),
        }),
    },
];

/// No leeway of an awake program is that long, so every wait of one that is later was put off.
const PUT_OFF_MIN: Nanos = Nanos::from_millis(150);
/// So few are enough, since all must be that late.
const PUT_OFF_COUNT_MIN: u64 = 5;

fn plain_and_strict(file: &ResultFile) -> Checked<Pair<'_>> {
    let missing = || not_measured(file, ExperimentId::B5, "a plain sleep beside a strict timer");
    let is_enough = |series: &&Series| series.distribution.count() >= PUT_OFF_COUNT_MIN;
    let plain = sleeps_of(file).iter().find_map(|sleep| wait_series(file, sleep)).filter(is_enough);
    let strict = MACOS_EXACT.iter().find_map(|timer| wait_series(file, timer)).filter(is_enough);
    let (plain, strict) = plain.zip(strict).ok_or_else(missing)?;
    Ok(Pair::new(plain, strict))
}

/// The families of macOS.
pub(super) static FAMILIES: &[&[FindingEntry]] = &[FINDINGS];

/// A share in words if it belongs to a class.
fn share_in_words(share: f64) -> String {
    let of_class = [(0.5, "a half"), (0.25, "a quarter"), (0.125, "an eighth")];
    let near = of_class.iter().find(|(whole, _)| (share - whole).abs() <= whole * SHARE_TOLERANCE);
    near.map_or_else(|| percent(share), |(_, words)| (*words).to_owned())
}

fn timer_leeway(file: &ResultFile) -> Checked {
    // Where no share can be told, the policy that has no leeway still tells whether there is one.
    growing_lateness(file).or_else(|refusal| late_without_policy(file).ok_or(refusal))
}

fn class_in_words(file: &ResultFile) -> String {
    file.environment.text(FactName::SchedQosClass).map(|class| format!(" (class {class})")).unwrap_or_default()
}

/// The plain sleep beside the same one under a time-constraint policy.
fn late_without_policy(file: &ResultFile) -> Option<Conclusion> {
    let (without, with) = sound_pairs(file, TIME_CONSTRAINT_POLICY.id).into_iter().next()?;
    let pair = Pair::new(without, with);
    let effect = Nanos((requested(without).0 as f64 * SHARE_MIN) as i64);
    // Under a load the policy also ends waiting for a CPU.
    let is_quiet = without.conditions.load.is_empty() && quiet_enough(file, without, effect).is_ok();
    let is_leeway = is_quiet && pair.differs_by_factor(LEEWAY_FACTOR) && pair.difference() >= effect;
    is_leeway.then(|| {
        let found = Conclusion::found(format!(
            "this thread's waits end late{}: {} was {} late, and {} under a time-constraint policy, which has no leeway",
            class_in_words(file),
            a_wait(without),
            p50(without),
            p50(with)
        ));
        found.rests_on_series([without, with])
    })
}

/// By how much a median grew from one series to another, at least and at most.
fn growth(short: &Series, long: &Series) -> Option<(i64, i64)> {
    let of = |series: &Series| quantile_interval::of_quantile(values(series), 0.5, 0);
    let (short, long) = (of(short)?, of(long)?);
    Some((long.low - short.high, long.high - short.low))
}

fn growing_lateness(file: &ResultFile) -> Checked {
    let plain = reference_sleep(file)?;
    if !plain.conditions.load.is_empty() {
        return Err(Conclusion::lacks(format!(
            "{} was measured under a load, and waiting for a CPU hides the leeway. Run this again without --load",
            plain.key
        )));
    }
    let mut waits: Vec<&Series> = waits_of(file, &plain.subject)
        .filter(|series| series.requested_ns >= Some(COMMON_REQUEST) && series.requested_ns <= Some(LONGEST))
        .filter(|series| series.has_values())
        .collect();
    waits.sort_by_key(|series| series.requested_ns);
    // The longest that supports a conclusion; if none does, the longest says why.
    let longest = waits.iter().skip(1).rfind(|series| is_sound(series)).or(waits.last());
    let (Some(&short), Some(&long)) = (waits.first(), longest) else {
        return Err(not_measured(file, ExperimentId::B5, "a sleep of 1 ms to 8 ms"));
    };
    let further = requested(long) - requested(short);
    if further <= Nanos::ZERO {
        return Err(Conclusion::lacks(format!(
            "this run measured only {} and a share needs two requests. Use --request 1ms,5ms",
            requested(short)
        )));
    }
    sound(short)?;
    sound(long)?;
    quiet_enough(file, long, Nanos((further.0 as f64 * SHARE_MIN) as i64))?;
    let share = (p50(long) - p50(short)).0 as f64 / further.0 as f64;
    let both = format!("{} was {} late, one of {} {}", a_wait(short), p50(short), requested(long), p50(long));
    let class = class_in_words(file);
    let least = (further.0 as f64 * SHARE_MIN) as i64;
    if growth(short, long).is_some_and(|(low, high)| low < least && high >= least) {
        return Err(Conclusion::lacks(format!(
            "the lateness varies too much to say whether it grows with the request: {both}. Use --thorough"
        ))
        .rests_on_series([short, long]));
    }
    let conclusion = if share >= SHARE_MIN {
        let share = share_in_words(share);
        Conclusion::found(format!("this thread's waits end late by {share} of the request{class}: {both}"))
    } else {
        Conclusion::absent(format!("the lateness does not grow with the request{class}: {both}"))
    };
    Ok(conclusion.rests_on_series([short, long]))
}

/// The plain sleep without and with the policy: of the trial, else of the policies experiment.
fn without_and_with(file: &ResultFile) -> Checked<Pair<'_>> {
    if let Some((without, with)) = sound_pairs(file, TIME_CONSTRAINT_POLICY.id).into_iter().next() {
        return Ok(Pair::new(without, with));
    }
    let plain = reference_sleep(file)?;
    let is_real_time = |series: &&Series| {
        let policy = series.conditions.setting(tunable::POLICY);
        matches!(policy, Some(Setting::Policy { policy, .. }) if policy == "time-constraint")
    };
    let is_like = |series: &&Series| series.subject == plain.subject && series.requested_ns == plain.requested_ns;
    let mut like = file.experiment(ExperimentId::B8).filter(is_real_time).filter(is_like);
    let with = like.find(|series| series.has_values());
    let with = with.ok_or_else(|| not_measured(file, ExperimentId::B8, "a sleep under a time-constraint policy"))?;
    if !with.conditions.all_held() {
        let why = refusal(with).unwrap_or_else(|| "its outcome is unknown".to_owned());
        return Err(Conclusion::lacks(format!("the policy that {} requested was refused: {why}", with.key)));
    }
    Ok(Pair::new(plain, with))
}

fn with_policy(pair: &Pair<'_>) -> String {
    let (late, still_late) = pair.lateness();
    format!("under it {} was {still_late} late instead of {late}", a_wait(&pair.worse))
}

#[cfg(test)]
mod tests {
    use oversleep_record::conditions::Outcome;
    use oversleep_record::finding::Verdict;
    use oversleep_record::{FactName, Unavailable};

    use crate::testing::{Explained, Sheet, rounds};

    fn sleeping(at_one: i64, at_five: i64) -> Sheet {
        Sheet::macos().steady("B5/nanosleep/1ms", at_one).steady("B5/nanosleep/5ms", at_five)
    }

    #[test]
    fn timers_of_a_napping_program_are_put_off() {
        let beside = |late: i64| {
            let sheet = Sheet::macos().series(rounds("B5/nanosleep/1ms", &[late], 6));
            sheet.steady("B5/kevent-timer-critical/1ms", 10_100)
        };
        beside(10_000_000_000).finds(
            "OVS-M003",
            "this program's timers are put off: a 1 ms nanosleep was 10 s late, kevent-timer-critical 10.1 µs",
        );
        beside(262_000).finds_no("OVS-M003", "timers are not put off: a 1 ms nanosleep was 262 µs late");
        Sheet::macos().lacks_data("OVS-M003");
    }

    #[test]
    fn leeway_is_a_share_of_the_request() {
        sleeping(262_000, 1_262_000).text(FactName::SchedQosClass, "default").finds(
            "OVS-M001",
            "this thread's waits end late by a quarter of the request (class default): a 1 ms nanosleep was 262 µs late, one of \
             5 ms 1.26 ms",
        );
        let interactive = sleeping(137_000, 637_000).says("OVS-M001").1;
        assert!(interactive.starts_with("this thread's waits end late by an eighth of the request: "), "{interactive}");
        let odd = sleeping(1_000_000, 5_000_000).says("OVS-M001").1;
        assert!(odd.starts_with("this thread's waits end late by 100 % of the request: "), "{odd}");
    }

    #[test]
    fn no_leeway_no_data_no_peace() {
        sleeping(12_000, 13_000).finds_no(
            "OVS-M001",
            "the lateness does not grow with the request: a 1 ms nanosleep was 12 µs late, one of 5 ms 13 µs",
        );
        let one = || Sheet::macos().steady("B5/nanosleep/1ms", 262_000);
        one().lacks("OVS-M001", "this run measured only 1 ms and a share needs two requests. Use --request 1ms,5ms");
        one().wild("B5/nanosleep/5ms", 1_262_000).is_disturbed("OVS-M001");
    }

    /// A wait that ends anywhere within its leeway: the medians of one machine differ from run to run.
    #[test]
    fn lateness_that_varies_is_leeway_in_every_run_or_in_none() {
        let spread = |key: &str, from: i64| {
            let mut series = rounds(key, &[from], 1);
            (0..31).for_each(|at| series.distribution.record(from + at * 40_000));
            series.rounds = rounds(key, &[from + 620_000; 4], 8).rounds;
            series
        };
        for five in [3_000, 90_000, 300_000] {
            let sheet =
                Sheet::macos().series(spread("B5/nanosleep/1ms", 10_000)).series(spread("B5/nanosleep/5ms", five));
            assert_eq!(sheet.verdict("OVS-M001"), Verdict::NotEnoughData, "{five}");
            let mut loaded =
                Sheet::macos().series(spread("B5/nanosleep/1ms", 10_000)).steady("B5/nanosleep/5ms", 1_900_000);
            for series in &mut loaded.file.series {
                series.conditions = series.conditions.clone().with_load("spin", 8);
            }
            assert_eq!(loaded.verdict("OVS-M001"), Verdict::NotEnoughData, "threads that spin delay it, too");
            sheet.trial("time-constraint-policy", "nanosleep", 314_000, 7_430).finds(
                "OVS-M001",
                "this thread's waits end late: a 1 ms nanosleep was 314 µs late, and 7.43 µs under a time-constraint policy, \
                 which has no leeway",
            );
        }
    }

    #[test]
    fn the_longest_request_that_can_be_judged_is_compared() {
        let one = || Sheet::macos().steady("B5/nanosleep/1ms", 262_000);
        one().steady("B5/nanosleep/2ms", 512_000).scarce("B5/nanosleep/5ms", 1_262_000).finds(
            "OVS-M001",
            "this thread's waits end late by a quarter of the request: a 1 ms nanosleep was 262 µs late, one of 2 ms 512 µs",
        );
        let (verdict, reason) = one().scarce("B5/nanosleep/5ms", 1_262_000).says("OVS-M001");
        assert_eq!(verdict, Verdict::NotEnoughData);
        assert!(reason.starts_with("B5/nanosleep/5ms has 3 values"), "{reason}");
    }

    #[test]
    fn a_time_constraint_removes_the_leeway() {
        let both = |with| sleeping(262_000, 1_262_000).steady("B8/nanosleep/1ms/policy=time-constraint", with);
        both(14_000).finds(
            "OVS-M002",
            "a time-constraint policy removes the leeway of waits: under it a 1 ms nanosleep was 14 µs late instead of 262 µs",
        );
        assert_eq!(both(255_000).verdict("OVS-M002"), Verdict::NotFound);
        let tried = Sheet::macos().trial("time-constraint-policy", "nanosleep", 262_000, 14_000);
        assert_eq!(tried.verdict("OVS-M002"), Verdict::Found);
        sleeping(262_000, 1_262_000).lacks_data("OVS-M002");
        let mut refused = both(14_000);
        let with = refused.file.series.last_mut().unwrap();
        let why = Unavailable::not_permitted("thread_policy_set", "run it outside the sandbox");
        with.conditions.outcomes.insert("policy".into(), Outcome::Denied { why });
        refused.lacks_data("OVS-M002");
    }
}
