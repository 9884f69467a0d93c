//! Clocks that move in steps of a tick.

use oversleep_record::clock::{COARSE_STEP_MIN, is_coarse};
use oversleep_record::finding::Severity;
use oversleep_record::words::percent;
use oversleep_record::{ExperimentId, Nanos, ResultFile, Series, label};

use crate::entry::{Checked, Conclusion, Scope};
use crate::figures::{median_of, p50, requested};
use crate::finding::{Check, FindingEntry};
use crate::read::{STEPS_MIN, hz, is_sound, not_measured, sound};
use crate::remedies::program::USE_PRECISE_CLOCK;
use crate::remedies::windows::USE_PRECISE_SYSTEM_CLOCK;
use crate::verdicts::{is_few_times, step_in_words};

/// A sleep counts as invisible if a coarse clock shows no more than this for it; its steps are longer.
const NOTHING_MAX: i64 = COARSE_STEP_MIN.0 / 2;
/// How far the quartiles of steps may lie apart, as a share of a step, for a few of them to be enough.
const STEP_SPREAD_MAX: f64 = 0.1;

pub(super) static FINDINGS: &[FindingEntry] = &[FindingEntry {
    id: "OVS-G002",
    name: "coarse-clock-step",
    summary: "Coarse clocks move once per tick, so they show a short wait as nothing or as a whole tick.",
    applies_to: "every operating system: CLOCK_*_COARSE on Linux (1/HZ), GetTickCount64 on Windows (15.6 ms)",
    scope: Scope::Anywhere,
    severity: Severity::Note,
    meaning: "A coarse clock is a variable that the timer interrupt updates. Reading it costs a few nanoseconds and \
              gives the time of the last tick. On Linux the tick is 1/HZ: 1 ms to 10 ms. Two readings differ by a \
              whole number of ticks. Anything shorter than a tick reads as zero or as one, at random, and the average \
              comes out right only over many readings. Charts made with such a clock show steps that belong to the \
              clock, and have been published as steps of the scheduler.",
    how_we_know: "oversleep polls the clock continuously until it has moved often enough; the differences are its \
                  steps. It then times the same sleeps with the coarse and with the precise clock.",
    what_to_do: "Use the precise clock for durations. Use the coarse one for timestamps in logs, caches and statistics, where \
                 its cost counts and a tick does not.",
    sources: &["https://man7.org/linux/man-pages/man2/clock_gettime.2.html"],
    remedies: &[&USE_PRECISE_CLOCK, &USE_PRECISE_SYSTEM_CLOCK],
    check: Check::Rule(coarse_clock),
}];

/// If this share of the differences is one step, the step is known, however many steps were missed.
const STEPS_SEEN_MIN: f64 = 0.4;

/// The step of a coarse clock that was polled: the same figure in tables and in sentences.
pub fn coarse_step(file: &ResultFile, polled: &Series) -> Nanos {
    step_seen(polled, timed_beside(file, polled), stated_step(file, polled)).0
}

fn stated_step(file: &ResultFile, polled: &Series) -> Option<Nanos> {
    file.clock(&polled.subject).and_then(|clock| clock.stated_step_ns)
}

/// Sleeps that a coarse clock timed.
fn timed(file: &ResultFile) -> Option<&Series> {
    let is_coarse = |series: &&Series| series.label(label::CLOCK_ROLE) == Some(label::ClockRole::Coarse);
    file.experiment(ExperimentId::B1).filter(is_coarse).find(|series| series.has_values())
}

/// Sleeps that this clock timed while nothing was held that it wasn't polled under.
fn timed_beside<'a>(file: &'a ResultFile, polled: &Series) -> Option<&'a Series> {
    timed(file).filter(|timed| timed.clock == polled.subject && is_own(polled))
}

/// Only each clock's own series; the experiment also polls one of them under a request of its own.
fn is_own(polled: &Series) -> bool {
    polled.key.parts().next().is_none()
}

/// The step of a clock, and whether it is certain. A difference consists of one step or several: some are missed while
/// something else has the CPU. So the shortest one is the step, if it occurred more than once or nothing did; it is certain
/// if all are multiples of it and many are it. If all are multiples of the stated step, that is the step even if each
/// poll missed some.
fn step_seen(polled: &Series, timed: Option<&Series>, stated: Option<Nanos>) -> (Nanos, bool) {
    let all = [Some(polled), timed].into_iter().flatten().flat_map(|series| series.distribution.buckets());
    let differences: Vec<(i64, u64)> = all.filter(|&(value, _)| value > NOTHING_MAX).collect();
    let is_near = |value: i64, step: i64| (value - step).saturating_abs() as f64 <= step as f64 * STEP_SPREAD_MAX / 2.0;
    let count =
        |step: i64| differences.iter().filter(|&&(value, _)| is_near(value, step)).map(|&(_, n)| n).sum::<u64>();
    let values = || differences.iter().map(|&(value, _)| value);
    let Some(shortest) = values().filter(|&value| count(value) > 1).min().or(values().min()) else {
        return (p50(polled), false);
    };
    let is_multiple_of = |value: i64, step: i64| is_near(value - (value + step / 2) / step.max(1) * step + step, step);
    let is_multiple = |value: i64| is_multiple_of(value, shortest);
    if let Some(stated) = stated.filter(|&stated| is_coarse(stated) && is_few_times(Nanos(shortest), stated))
        && values().all(|value| is_multiple_of(value, stated.0))
    {
        return (stated, true);
    }
    let total: u64 = differences.iter().map(|&(_, n)| n).sum();
    if !differences.iter().all(|&(value, _)| is_multiple(value)) {
        return (Nanos(shortest), false);
    }
    let is_as_stated = stated.is_some_and(|stated| is_near(shortest, stated.0));
    (Nanos(shortest), is_as_stated || count(shortest) as f64 >= total as f64 * STEPS_SEEN_MIN)
}

/// Whether a few steps are enough, because the clock's steps are the same each time.
fn steps_agree(series: &Series) -> bool {
    let quartile = |at| series.distribution.quantile(at).unwrap_or_default();
    let spread = quartile(0.75) - quartile(0.25);
    series.distribution.count() >= STEPS_MIN && spread as f64 <= median_of(series) as f64 * STEP_SPREAD_MAX
}

fn coarse_clock(file: &ResultFile) -> Checked {
    // Prefers the clock that also timed the sleeps.
    let timed = timed(file);
    let polled = || file.experiment(ExperimentId::B3).filter(|series| series.has_values() && is_own(series));
    let series = polled()
        .find(|series| timed.is_some_and(|timed| timed.clock == series.subject))
        .or_else(|| polled().max_by_key(|series| p50(series)))
        .ok_or_else(|| not_measured(file, ExperimentId::B3, "the step of a coarse clock"))?;
    let stated = stated_step(file, series);
    let (step, is_certain) = step_seen(series, timed_beside(file, series), stated);
    if !is_certain && !steps_agree(series) {
        sound(series)?;
    }
    if !is_coarse(step) {
        let absent = Conclusion::absent(format!("{} moves in steps of {step}", series.subject));
        return Ok(absent.rests_on_series([series]));
    }
    let tick = match hz(file) {
        Some(hz) if (Nanos(1_000_000_000 / hz) - step).0.saturating_abs().saturating_mul(20) < step.0 => {
            format!(" (1/HZ, HZ {hz})")
        }
        _ => String::new(),
    };
    let steps = step_in_words(step, stated);
    let found = Conclusion::found(format!("{} moves in steps of {steps}{tick}: ", series.subject));
    let coarse = timed.filter(|timed| timed.clock == series.subject && is_sound(timed));
    Ok(match coarse.and_then(|coarse| Some((coarse, precise_beside(file, coarse)?))) {
        Some((coarse, precise)) => found
            .and(format!("{}, while the precise clock shows {}", sleeps_in_words(coarse), p50(precise)))
            .rests_on_series([series, coarse, precise]),
        None => found.and("it shows anything shorter as 0 or as a whole step").rests_on_series([series]),
    })
}

/// The same sleeps by the precise clock.
fn precise_beside<'a>(file: &'a ResultFile, coarse: &Series) -> Option<&'a Series> {
    file.experiment(ExperimentId::B1).find(|precise| {
        precise.label(label::CLOCK_ROLE) == Some(label::ClockRole::Precise)
            && precise.subject == coarse.subject
            && precise.requested_ns == coarse.requested_ns
            && precise.has_values()
    })
}

/// The readings of a coarse clock for the sleeps that it timed.
fn sleeps_in_words(coarse: &Series) -> String {
    let (readings, requested) = (&coarse.distribution, requested(coarse));
    let nothing = readings.count() - readings.count_above(NOTHING_MAX);
    // The readings, not the step: a clock that was polled at a bad moment seems to take longer steps.
    let least = readings.buckets().map(|(value, _)| value).find(|&value| value > NOTHING_MAX).map(Nanos);
    match (nothing, least) {
        (0, Some(least)) => format!("it shows none of the {requested} sleeps as less than {least}"),
        (_, None) => format!("it shows every {requested} sleep as 0"),
        (_, Some(least)) => format!(
            "it shows {} of the {requested} sleeps as 0 and the others as {least} or more",
            percent(nothing as f64 / readings.count() as f64)
        ),
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::ClockResult;
    use oversleep_record::FactName;
    use oversleep_record::finding::Verdict;

    use super::*;
    use crate::testing::{Explained, Sheet, good_clock, rounds};

    fn role(key: &str, clock: &str, values: &[i64]) -> Series {
        let mut series = rounds(key, values, 20);
        series.clock = clock.into();
        // Sleeps alternate between steps; only the rounds as a whole agree.
        let median = series.distribution.p50();
        series.rounds.iter_mut().for_each(|round| round.median = median);
        series
    }

    #[test]
    fn a_coarse_clock_and_what_it_makes_of_sleeps() {
        let polled = |step| Sheet::linux().integer(FactName::TimerHz, 250).steady("B3/monotonic-coarse", step);
        polled(4_000_000).finds(
            "OVS-G002",
            "monotonic-coarse moves in steps of 4 ms (1/HZ, HZ 250): it shows anything shorter as 0 or as a whole step",
        );
        let timed = |sheet: Sheet, coarse: &[i64]| {
            sheet.series(role("B1/nanosleep/1ms/coarse", "monotonic-coarse", coarse)).series(role(
                "B1/nanosleep/1ms/precise",
                "monotonic",
                &[1_066_000; 4],
            ))
        };
        timed(polled(4_000_000), &[0, 0, 0, 4_000_000]).finds(
            "OVS-G002",
            "monotonic-coarse moves in steps of 4 ms (1/HZ, HZ 250): it shows 75 % of the 1 ms sleeps as 0 and the \
             others as 4 ms or more, while the precise clock shows 1.07 ms",
        );
        // A reading of a sleep is not always a step that was seen when the clock was polled.
        timed(polled(8_000_000), &[0, 8_000_000, 4_000_000, 8_000_000]).finds(
            "OVS-G002",
            "monotonic-coarse moves in steps of 4 ms (1/HZ, HZ 250): it shows 25 % of the 1 ms sleeps as 0 and the others \
             as 4 ms or more, while the precise clock shows 1.07 ms",
        );
    }

    /// On a busy machine most steps are missed, and the median of the differences is twice the step.
    #[test]
    fn steps_that_were_missed_do_not_make_a_step_longer() {
        let busy = |stated| {
            let clock = ClockResult { stated_step_ns: stated, ..good_clock("monotonic-coarse") };
            let values = [4_000_000, 8_000_000, 12_000_000, 8_000_000, 16_000_000, 8_000_000];
            let sheet = Sheet::linux().integer(FactName::TimerHz, 250).clock(clock);
            sheet.series(rounds("B3/monotonic-coarse", &values, 3))
        };
        busy(Some(Nanos(4_000_000))).finds(
            "OVS-G002",
            "monotonic-coarse moves in steps of 4 ms (1/HZ, HZ 250): it shows anything shorter as 0 or as a whole step",
        );
        assert_eq!(busy(None).verdict("OVS-G002"), Verdict::NotEnoughData, "a sixth of the differences");
        // Each poll missed a step or two.
        let clock = ClockResult { stated_step_ns: Some(Nanos(4_000_000)), ..good_clock("monotonic-coarse") };
        let polled = rounds("B3/monotonic-coarse", &[8_000_000, 12_000_000, 12_000_000], 3);
        let missed = Sheet::linux().integer(FactName::TimerHz, 250).clock(clock).series(polled);
        missed.finds(
            "OVS-G002",
            "monotonic-coarse moves in steps of 4 ms (1/HZ, HZ 250): it shows anything shorter as 0 or as a whole step",
        );
        assert_eq!(coarse_step(&missed.file, &missed.file.series[0]), Nanos(4_000_000), "the table has the same");
    }

    #[test]
    fn the_tick_count_of_windows_moves_by_15_or_16_ms() {
        let tick = ClockResult { stated_step_ns: Some(Nanos(15_625_000)), ..good_clock("get-tick-count-64") };
        let coarse = [15_000_000, 16_000_000, 16_000_000, 16_000_000];
        Sheet::windows()
            .clock(tick)
            .steady("B3/get-tick-count-64", 16_000_000)
            .series(role("B1/sleep/1ms/coarse", "get-tick-count-64", &coarse))
            .series(role("B1/sleep/1ms/precise", "qpc", &[15_600_000; 4]))
            .finds(
                "OVS-G002",
                "get-tick-count-64 moves in steps of 15 or 16 ms: it shows none of the 1 ms sleeps as less than 15 ms, \
                 while the precise clock shows 15.6 ms",
            );
    }

    #[test]
    fn a_fine_clock_no_clock_or_a_nervous_one() {
        let fine = Sheet::linux().steady("B3/monotonic-coarse", 1_000);
        fine.finds_no("OVS-G002", "monotonic-coarse moves in steps of 1 µs");
        let two = fine.steady("B3/realtime-coarse", 4_000_000).steady("B3/tai", 2_000);
        assert!(two.says("OVS-G002").1.starts_with("realtime-coarse moves in steps of 4 ms"), "the coarsest counts");
        Sheet::linux().lacks_data("OVS-G002");
        Sheet::linux().wild("B3/monotonic-coarse", 4_000_000).is_disturbed("OVS-G002");
        let few = |values: &[i64]| Sheet::linux().series(rounds("B3/monotonic-coarse", values, 2)).verdict("OVS-G002");
        assert_eq!(few(&[10_000_000; 3]), Verdict::Found, "steps repeat exactly");
        assert_eq!(few(&[10_000_000, 2_000_000, 30_000_000]), Verdict::NotEnoughData);
        assert_eq!(
            few(&[2_000_000, 10_000_000, 10_000_000, 10_000_000]),
            Verdict::NotEnoughData,
            "one in four is short"
        );
    }
}
