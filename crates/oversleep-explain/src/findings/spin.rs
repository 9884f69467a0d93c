//! Waiting without sleeping: what spinning gains and costs, and what a yield is not.

use oversleep_record::finding::Severity;
use oversleep_record::label::{self, Competition};
use oversleep_record::{ExperimentId, Nanos, ResultFile, Series};

use super::super::advice::wait_like;
use super::super::entry::{Conclusion, FindingEntry, Scope, Statement};
use super::super::read::{COMMON_REQUEST, Look, judge, not_measured, p50, settle, sleeps_of, summary};
use super::super::text::percent;

/// How much more exact than a sleep a hybrid must be to be worth its CPU.
const WORTH_FACTOR: i64 = 4;
/// A yield longer than this has waited for something.
const YIELD_PROMPT: Nanos = Nanos(100_000);

pub(super) const SPIN_COST: FindingEntry = FindingEntry {
    id: "OVS-G007",
    name: "spin-accuracy",
    summary: "A hybrid wait, sleeping first and spinning at the end, is nearly as exact as spinning for little CPU.",
    applies_to: "every operating system",
    scope: Scope::Anywhere,
    severity: Severity::Note,
    explanation: "\
A thread that spins on the clock sees its deadline within a clock read, and keeps a CPU at 100 % until then. A thread \
that sleeps costs next to nothing and is late by the wake-up. A hybrid sleeps until shortly before the deadline and \
spins for the rest: it is late only when the sleep is later than the margin.\n\n\
How we know: spinning, spinning with yields and the hybrid are measured beside the plain sleep, with the CPU time the \
measuring thread used. With more runnable threads than CPUs a spinner is preempted like anybody else, and one that \
yields can lose the CPU for milliseconds.\n\n\
What to make of it: where a fraction of a microsecond matters, choose the hybrid, with a margin from the measured \
lateness of this machine's sleeps; lower the timer slack first, so that the margin can be small.",
    remedies: &["hybrid-wait", "sleep-with-oversleep", "lower-timer-slack"],
    check: |file| settle(spin_cost(file)),
};

pub(super) const YIELD_NO_SLEEP: FindingEntry = FindingEntry {
    id: "OVS-G008",
    name: "yield-is-no-sleep",
    summary: "A yield returns at once where a CPU is free: it neither waits nor saves CPU time.",
    applies_to: "every operating system: sched_yield, Sleep(0), SwitchToThread",
    scope: Scope::Anywhere,
    severity: Severity::Note,
    explanation: "\
A yield offers the CPU to another runnable thread. With a free CPU there is none to take it, and the call returns within \
a microsecond: a loop of yields is a spin loop with system calls in it. With competitors it may return after a moment or \
after somebody's whole slice; the scheduler promises neither.\n\n\
How we know: the call is timed on an otherwise idle CPU, and with a competitor on the same CPU.\n\n\
Cure: wait for what is being waited for: a futex, a condition variable, a descriptor. A yield has its place in a short \
spin before parking, where the other side is known to be about to finish.",
    remedies: &["block-instead-of-yield"],
    check: |file| settle(yield_no_sleep(file)),
};

fn spinner<'a>(file: &'a ResultFile, name: &str, requested: Option<Nanos>) -> Option<&'a Series> {
    file.experiment(ExperimentId::B12).find(|series| {
        series.subject == name && series.has_values() && (requested.is_none() || series.requested_ns == requested)
    })
}

/// `p50 110 ns at 5.8 % CPU`.
fn accuracy(series: &Series) -> String {
    let meanwhile = series.disturbance();
    match meanwhile.share(meanwhile.own_cpu_ns) {
        Some(share) => format!("{} at {} CPU", p50(series), percent(share)),
        None => format!("{} (its CPU time can't be seen)", p50(series)),
    }
}

fn spin_cost(file: &ResultFile) -> Look<Conclusion> {
    let hybrid = spinner(file, "hybrid", Some(COMMON_REQUEST))
        .or_else(|| spinner(file, "hybrid", None))
        .ok_or_else(|| not_measured(file, "B12/hybrid/1ms"))?;
    judge(hybrid)?;
    let requested = hybrid.requested_ns.unwrap_or_default();
    let sleep = sleeps_of(file)
        .iter()
        .find_map(|wait| wait_like(file, wait, hybrid))
        .ok_or_else(|| not_measured(file, &format!("a sleep of {requested} beside {}", hybrid.key)))?;
    let spin = spinner(file, "spin", hybrid.requested_ns).filter(|series| judge(series).is_ok());
    let rests = |sentence: String| {
        let series = [Some(hybrid), spin, Some(sleep)].into_iter().flatten();
        series.fold(Statement::new(sentence), |all, series| all.rests_on(&series.key, summary(series)))
    };
    if p50(hybrid).0.saturating_mul(WORTH_FACTOR) > p50(sleep).0 {
        return Ok(Conclusion::Absent(rests(format!(
            "the hybrid wait is hardly more exact than {} here: it ends a wait of {requested} late by {}, {} by {}",
            sleep.subject,
            accuracy(hybrid),
            sleep.subject,
            p50(sleep)
        ))));
    }
    let spinning = spin.map(|spin| format!(", spinning by {}", accuracy(spin))).unwrap_or_default();
    Ok(Conclusion::Found(rests(format!(
        "the hybrid wait ends a wait of {requested} late by {}{spinning}, {} by {}",
        accuracy(hybrid),
        sleep.subject,
        p50(sleep)
    ))))
}

fn yield_no_sleep(file: &ResultFile) -> Look<Conclusion> {
    let alone = file
        .experiment(ExperimentId::B7)
        .find(|series| {
            series.has_values()
                && series.conditions.load.is_empty()
                && series.label(label::COMPETITION) != Some(Competition::Competing)
        })
        .ok_or_else(|| not_measured(file, "a yield with a free CPU (B7)"))?;
    judge(alone)?;
    let contested = file
        .experiment(ExperimentId::B7)
        .find(|series| series.subject == alone.subject && series.key != alone.key && series.has_values());
    let mut statement = Statement::default().rests_on(&alone.key, summary(alone));
    let with_others = match contested {
        Some(series) => {
            statement = statement.rests_on(&series.key, summary(series));
            if p50(series).to_string() == p50(alone).to_string() {
                ", and no later with competitors".to_owned()
            } else {
                format!(", after {} with competitors", p50(series))
            }
        }
        None => String::new(),
    };
    let prompt = p50(alone) < YIELD_PROMPT;
    statement.sentence = if prompt {
        format!("{} returns after {} with a free CPU{with_others}: it is no sleep", alone.subject, p50(alone))
    } else {
        format!("{} took {} although a CPU was free{with_others}", alone.subject, p50(alone))
    };
    Ok(if prompt { Conclusion::Found(statement) } else { Conclusion::Absent(statement) })
}

#[cfg(test)]
mod tests {
    use oversleep_record::finding::{Tried, Verdict};

    use super::super::super::testing::{Explained, Sheet, rounds};
    use super::*;

    fn says(sheet: &Sheet, id: &str) -> (Verdict, String) {
        let finding = sheet.finding(id);
        (finding.verdict, finding.sentence)
    }

    fn burning(key: &str, late: i64, cpu_per_round: i64) -> Series {
        let mut series = rounds(key, &[late; 4], 20);
        series.rounds.iter_mut().for_each(|round| round.disturbance.own_cpu_ns = Some(Nanos(cpu_per_round)));
        series
    }

    #[test]
    fn spinning_against_its_price() {
        let sheet = Sheet::linux()
            .series(burning("B12/hybrid/1ms", 110, 1_160_000))
            .series(burning("B12/spin/1ms", 80, 20_000_000))
            .steady("B5/nanosleep/1ms", 66_100);
        assert_eq!(
            says(&sheet, "OVS-G007"),
            (
                Verdict::Found,
                "the hybrid wait ends a wait of 1 ms late by 110 ns at 5.8 % CPU, spinning by 80 ns at 100 % CPU, nanosleep \
                 by 66.1 µs"
                    .into()
            )
        );
        let tried = &sheet.finding("OVS-G007").advice[0].tried;
        assert!(matches!(tried, Tried::Measured { before_p50_ns: 66_100, after_p50_ns: 110, helped: true, .. }));
    }

    #[test]
    fn spinning_without_gain_data_or_peace() {
        let no_gain = Sheet::linux().steady("B12/hybrid/1ms", 50_000).steady("B5/nanosleep/1ms", 66_000).unseen();
        assert_eq!(
            says(&no_gain, "OVS-G007"),
            (
                Verdict::Absent,
                "the hybrid wait is hardly more exact than nanosleep here: it ends a wait of 1 ms late by 50 µs (its CPU \
                 time can't be seen), nanosleep by 66 µs"
                    .into()
            )
        );
        assert_eq!(says(&Sheet::linux(), "OVS-G007").0, Verdict::NotEnoughData);
        let wild = Sheet::linux().wild("B12/hybrid/1ms", 50_000).steady("B5/nanosleep/1ms", 66_000);
        assert_eq!(says(&wild, "OVS-G007").0, Verdict::TooDisturbed);
    }

    #[test]
    fn yields() {
        let both = Sheet::linux().steady("B7/sched-yield/idle", 610).steady("B7/sched-yield/competing", 1_900_000);
        assert_eq!(
            says(&both, "OVS-G008"),
            (
                Verdict::Found,
                "sched-yield returns after 610 ns with a free CPU, after 1.9 ms with competitors: it is no sleep"
                    .into()
            )
        );
        let slow = Sheet::linux().steady("B7/sched-yield/idle", 250_000);
        assert_eq!(
            says(&slow, "OVS-G008"),
            (Verdict::Absent, "sched-yield took 250 µs although a CPU was free".into())
        );
        assert_eq!(says(&Sheet::linux(), "OVS-G008").0, Verdict::NotEnoughData);
        assert_eq!(says(&Sheet::linux().wild("B7/sched-yield/idle", 61_000), "OVS-G008").0, Verdict::TooDisturbed);
    }
}
