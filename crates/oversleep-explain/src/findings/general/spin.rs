//! Waiting without sleeping: the gain and the cost of spinning, and the limits of a yield.

use oversleep_record::finding::Severity;
use oversleep_record::label::{self, Competition};
use oversleep_record::words::percent;
use oversleep_record::{ExperimentId, Nanos, ResultFile, Series, SeriesKey, TwoPeaks};

use crate::entry::{Checked, Conclusion, Scope};
use crate::figures::{p50, requested};
use crate::finding::{Check, FindingEntry, Pair, PairCheck};
use crate::names::HYBRID;
use crate::read::{COMMON_REQUEST, is_sound, needed, not_measured, sleep_like, sound, spinning};
use crate::remedies::linux::LOWER_TIMER_SLACK;
use crate::remedies::program::{BLOCK_INSTEAD_OF_YIELD, HYBRID_WAIT, SLEEP_WITH_OVERSLEEP};

/// A hybrid is worth its CPU time if a sleep is at least this many times as late.
const GAIN_FACTOR: i64 = 4;
/// A yield that takes longer has waited for something.
const YIELD_PROMPT: Nanos = Nanos(100_000);

pub(super) static FINDINGS: &[FindingEntry] = &[
    FindingEntry {
        id: "OVS-G007",
        name: "spin-accuracy",
        summary: "A hybrid wait, sleeping first and spinning at the end, is nearly as accurate as spinning and uses \
                  little CPU time.",
        applies_to: "every operating system",
        scope: Scope::Anywhere,
        severity: Severity::Note,
        meaning: "A thread that spins on the clock sees its deadline within a clock read, and keeps a CPU at 100 % until then. \
                  A thread that sleeps uses next to no CPU time and is late by the wake-up. A hybrid sleeps until shortly \
                  before the deadline and spins for the rest: it is late only when the sleep is later than the margin.",
        how_we_know: "oversleep measures spinning, spinning with yields and the hybrid alongside a plain sleep, with \
                      the CPU time that the measuring thread used. With more runnable threads than CPUs a spinner is \
                      preempted like any other thread, and one that yields can lose the CPU for milliseconds.",
        what_to_do: "If a fraction of a microsecond matters, use the hybrid, with a margin from the measured lateness of \
                     this machine's sleeps. Lower the timer slack first, so that the margin can be small.",
        sources: &[],
        remedies: &[&HYBRID_WAIT, &SLEEP_WITH_OVERSLEEP, &LOWER_TIMER_SLACK],
        check: Check::Pair(PairCheck {
            find: sleep_and_hybrid,
            enough: hybrid_has_one_peak,
            effect: None,
            differs: |_, pair| pair.differs_by_factor(GAIN_FACTOR),
            found: |file, pair| {
                let spinning = spin_like(file, &pair.better);
                let spinning = spinning.map(|spin| format!("spinning was {}, and ", lateness_and_cpu(spin)));
                Conclusion::found(format!(
                    "a hybrid wait of {} was {}: {}{} was {} late",
                    pair.requested(),
                    lateness_and_cpu(&pair.better),
                    spinning.unwrap_or_default(),
                    pair.worse.subject,
                    p50(&pair.worse)
                ))
            },
            absent: |_, pair| {
                let (sleep, late) = (&pair.worse.subject, p50(&pair.worse));
                format!(
                    "a hybrid wait of {} is hardly more accurate than {sleep} here: it was {}, and {sleep} was {late} \
                     late",
                    pair.requested(),
                    lateness_and_cpu(&pair.better)
                )
            },
        }),
    },
    FindingEntry {
        id: "OVS-G008",
        name: "yield-is-no-sleep",
        summary: "A yield returns at once if a CPU is free: it neither waits nor saves CPU time.",
        applies_to: "every operating system: sched_yield, Sleep(0), SwitchToThread",
        scope: Scope::Anywhere,
        severity: Severity::Note,
        meaning: "A yield offers the CPU to another runnable thread. If no other thread wants the CPU, the call \
                  returns within a microsecond: a loop of yields is a spin loop with system calls in it. With \
                  competitors it may return after a moment or after another thread's whole slice; the scheduler \
                  promises neither.",
        how_we_know: "oversleep times the call on an otherwise idle CPU, and with a competitor on the same CPU.",
        what_to_do: "Wait for the event itself: on a futex, a condition variable, a descriptor. A yield has its place in a \
                     short spin before parking, if the other side is known to be about to finish.",
        sources: &["https://man7.org/linux/man-pages/man2/sched_yield.2.html"],
        remedies: &[&BLOCK_INSTEAD_OF_YIELD],
        check: Check::Rule(yield_no_sleep),
    },
];

/// If a hybrid's margin is too short for half of its sleeps, its lateness is either tiny or that of the sleep, and
/// chance decides which of the two is its median.
fn hybrid_has_one_peak(file: &ResultFile, pair: &Pair<'_>) -> Checked<()> {
    /// Near this share, chance decides whether the median is in the lower or the higher peak.
    const HALF: std::ops::RangeInclusive<f64> = 0.3..=0.7;
    /// A hybrid that uses less of a CPU has overslept each time.
    const SPINS_MIN: f64 = 0.01;
    Pair::both_sound(file, pair)?;
    let sleep = p50(&pair.worse).0;
    let gains = |late: i64| late.saturating_mul(GAIN_FACTOR) <= sleep;
    let meanwhile = pair.better.disturbance();
    let spun = meanwhile.share(meanwhile.own_cpu_ns);
    if !gains(p50(&pair.better).0) && spun.is_some_and(|share| share < SPINS_MIN) {
        return Err(Conclusion::disturbed(format!(
            "a hybrid wait of {} was {}: it never spun, because its sleeps were later than its margin. Use a longer margin",
            pair.requested(),
            lateness_and_cpu(&pair.better)
        )));
    }
    let Some(peaks) = TwoPeaks::of(crate::figures::values(&pair.better)) else { return Ok(()) };
    if !HALF.contains(&peaks.low_share) || gains(peaks.low) == gains(peaks.high) {
        return Ok(());
    }
    Err(Conclusion::disturbed(format!(
        "a hybrid wait of {} was {} late in {} of cases and {} in the others, too close to tell whether it gains: its margin \
         is too short for many sleeps. Use a longer margin",
        pair.requested(),
        Nanos(peaks.low),
        percent(peaks.low_share),
        Nanos(peaks.high),
    )))
}

/// `110 ns late at 5.8 % CPU`.
fn lateness_and_cpu(series: &Series) -> String {
    let meanwhile = series.disturbance();
    match meanwhile.share(meanwhile.own_cpu_ns) {
        Some(share) => format!("{} late at {} CPU", p50(series), percent(share)),
        None => format!("{} late (its CPU time is not available)", p50(series)),
    }
}

fn spin_like<'a>(file: &'a ResultFile, hybrid: &Series) -> Option<&'a Series> {
    spinning(file, "spin").find(|spin| spin.requested_ns == hybrid.requested_ns).filter(|spin| is_sound(spin))
}

fn sleep_and_hybrid(file: &ResultFile) -> Checked<Pair<'_>> {
    let at_common_request = spinning(file, HYBRID).find(|series| series.requested_ns == Some(COMMON_REQUEST));
    let hybrid = at_common_request.or_else(|| spinning(file, HYBRID).next());
    let hybrid = needed(file, &SeriesKey::new(ExperimentId::B12, HYBRID).span(COMMON_REQUEST), hybrid)?;
    let sleep = sleep_like(file, hybrid).ok_or_else(|| {
        not_measured(file, ExperimentId::B5, format!("a sleep of {} alongside {}", requested(hybrid), hybrid.key))
    })?;
    let cited = [Some(hybrid), spin_like(file, hybrid), Some(sleep)];
    Ok(Pair::new(sleep, hybrid).citing(cited.into_iter().flatten()))
}

fn yield_no_sleep(file: &ResultFile) -> Checked {
    let yields = || file.experiment(ExperimentId::B7).filter(|series| series.has_values());
    let alone = yields().find(|series| {
        series.conditions.load.is_empty() && series.label(label::COMPETITION) != Some(Competition::Competing)
    });
    let alone = alone.ok_or_else(|| not_measured(file, ExperimentId::B7, "a yield with a free CPU")).and_then(sound)?;
    let contested = yields().find(|series| series.subject == alone.subject && series.key != alone.key);
    let with_others = match contested {
        Some(series) if p50(series).to_string() == p50(alone).to_string() => {
            ", and no later with competitors".to_owned()
        }
        Some(series) => format!(", and after {} with competitors", p50(series)),
        None => String::new(),
    };
    let (call, duration) = (&alone.subject, p50(alone));
    let conclusion = if duration < YIELD_PROMPT {
        Conclusion::found(format!("{call} is not a sleep: it returns after {duration} with a free CPU{with_others}"))
    } else {
        Conclusion::absent(format!("{call} returns only after {duration} with a free CPU{with_others}"))
    };
    Ok(conclusion.rests_on_series([Some(alone), contested].into_iter().flatten()))
}

#[cfg(test)]
mod tests {
    use oversleep_record::finding::{Tried, Verdict};

    use super::*;
    use crate::testing::{Explained, Sheet, rounds};

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
        sheet.finds(
            "OVS-G007",
            "a hybrid wait of 1 ms was 110 ns late at 5.8 % CPU: spinning was 80 ns late at 100 % CPU, and nanosleep was 66.1 µs \
             late",
        );
        let finding = sheet.finding("OVS-G007");
        let sources: Vec<&str> = finding.evidence.iter().map(|one| one.source.as_str()).collect();
        assert_eq!(sources, ["B12/hybrid/1ms", "B12/spin/1ms", "B5/nanosleep/1ms"]);
        let tried = &finding.advice[0].tried;
        assert!(matches!(tried, Tried::Measured { before_p50_ns: 66_100, after_p50_ns: 110, helped: true, .. }));
    }

    #[test]
    fn spinning_without_gain_data_or_peace() {
        let sleep = || Sheet::linux().steady("B5/nanosleep/1ms", 66_000);
        sleep().steady("B12/hybrid/1ms", 50_000).unseen().finds_no(
            "OVS-G007",
            "a hybrid wait of 1 ms is hardly more accurate than nanosleep here: it was 50 µs late (its CPU time is not \
             available), and nanosleep was 66 µs late",
        );
        Sheet::linux().lacks_data("OVS-G007");
        sleep().wild("B12/hybrid/1ms", 50_000).is_disturbed("OVS-G007");
    }

    #[test]
    fn a_hybrid_whose_median_is_a_matter_of_chance_is_too_close_to_tell() {
        let late_in_both = |low: u64, high: u64| {
            let mut series = rounds("B12/hybrid/1ms", &[1_200; 4], low);
            series.distribution.merge(&rounds("B12/hybrid/1ms", &[430_000; 4], high).distribution);
            Sheet::linux().steady("B5/nanosleep/1ms", 466_000).series(series)
        };
        for (low, high) in [(18, 22), (22, 18)] {
            late_in_both(low, high).is_disturbed("OVS-G007");
        }
        assert_eq!(late_in_both(36, 4).finding("OVS-G007").verdict, Verdict::Found, "its median is sure");
    }

    #[test]
    fn a_hybrid_that_never_spun_tells_nothing_about_hybrids() {
        let at = |cpu_per_round| {
            let sheet = Sheet::linux().steady("B5/nanosleep/1ms", 466_000);
            sheet.series(burning("B12/hybrid/1ms", 377_000, cpu_per_round)).finding("OVS-G007").verdict
        };
        assert_eq!((at(42_000), at(1_160_000)), (Verdict::TooDisturbed, Verdict::NotFound));
    }

    #[test]
    fn yields() {
        let idle = |late| Sheet::linux().steady("B7/sched-yield/idle", late);
        idle(610).steady("B7/sched-yield/competing", 1_900_000).finds(
            "OVS-G008",
            "sched-yield is not a sleep: it returns after 610 ns with a free CPU, and after 1.9 ms with competitors",
        );
        idle(250_000).finds_no("OVS-G008", "sched-yield returns only after 250 µs with a free CPU");
        Sheet::linux().lacks_data("OVS-G008");
        Sheet::linux().wild("B7/sched-yield/idle", 61_000).is_disturbed("OVS-G008");
    }
}
