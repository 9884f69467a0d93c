//! How clocks move: in steps of a tick, or backwards.

use oversleep_record::clock::{COARSE_STEP_MIN, Counts, is_coarse};
use oversleep_record::finding::Severity;
use oversleep_record::{ClockResult, ExperimentId, FactName, Nanos, ResultFile, Series, label};

use super::super::entry::{Conclusion, FindingEntry, Scope, Statement};
use super::super::read::{Look, judge, median_of, not_measured, p50, settle, summary};
use super::super::text::{counted, percent};
use super::super::verdicts::{only_unfenced, step_in_words};

/// What a coarse clock shows of a sleep within which it did not move; its steps are longer.
const NOTHING: i64 = COARSE_STEP_MIN.0 / 2;

/// Fewest steps that say how long one is, and how far their quartiles may lie apart.
const STEPS_MIN: u64 = 5;
const STEP_SPREAD_MAX: f64 = 0.1;

pub(super) const COARSE_CLOCK: FindingEntry = FindingEntry {
    id: "OVS-G002",
    name: "coarse-clock-step",
    summary: "Coarse clocks move once per tick, so a short wait reads as nothing or as a whole tick on them.",
    applies_to: "every operating system: CLOCK_*_COARSE on Linux (1/HZ), GetTickCount64 on Windows (15.6 ms)",
    scope: Scope::Anywhere,
    severity: Severity::Note,
    explanation: "\
A coarse clock is a variable that the timer interrupt updates; reading it costs a few nanoseconds and tells the time of \
the last tick. On Linux the tick is 1/HZ: 1 ms to 10 ms. Two readings differ by a whole number of ticks. Whatever is \
shorter than a tick reads as zero or as one, at random, and the average comes out right only over many. Charts made \
with such a clock show steps that belong to the clock, and have been published as steps of the scheduler.\n\n\
How we know: the clock is polled without pause until it has moved often enough, and the differences are its steps. The \
same sleeps are then stamped by the coarse and by the precise clock.\n\n\
Cure: the precise clock for durations; the coarse one for time stamps in logs, caches and statistics, where its price \
counts and a tick does not.",
    remedies: &["use-precise-clock", "use-precise-system-clock"],
    check: |file| settle(coarse_clock(file)),
};

pub(super) const BACKWARD_CLOCK: FindingEntry = FindingEntry {
    id: "OVS-G004",
    name: "backward-clock",
    summary: "A clock of elapsed time went backwards, on one thread or from one CPU to another.",
    applies_to: "every operating system; counters read without a fence, skewed counters, clocks of sick hypervisors",
    scope: Scope::Anywhere,
    severity: Severity::Fault,
    explanation: "\
Two readings of a monotonic clock that follow each other must not decrease, also when the second happens on another CPU. \
They do where each CPU has its own counter and the counters are not in step, where a hypervisor keeps them so badly, or \
where the processor executes the read of the counter before what precedes it in the program. Durations then come out \
negative, and unsigned arithmetic turns them into centuries.\n\n\
How we know: each clock is read without pause on one thread, and in turn by threads on different CPUs that hand over to \
each other, so that the second read certainly happens later. Decreases are counted, not clamped.\n\n\
Cure: read the operating system's clock, which hides the skew; with a bare counter use the fenced or serialising read \
(lfence; rdtsc or rdtscp). Where the system's own monotonic clock goes backwards, change the clocksource.",
    remedies: &["use-os-clock", "use-tsc-clocksource", "read-with-a-fence"],
    check: |file| settle(backward_clock(file)),
};

/// Whether a few steps are enough: the clock makes them, and they come out the same each time.
fn steps_agree(series: &Series) -> bool {
    let quartile = |at| series.distribution.quantile(at).unwrap_or_default();
    let spread = quartile(0.75) - quartile(0.25);
    series.distribution.count() >= STEPS_MIN && spread as f64 <= median_of(series) as f64 * STEP_SPREAD_MAX
}

fn coarse_clock(file: &ResultFile) -> Look<Conclusion> {
    // The clock that also stamped the sleeps, where there is a choice.
    let stamps: Option<&Series> = file
        .experiment(ExperimentId::B1)
        .find(|series| series.label(label::CLOCK_ROLE) == Some(label::ClockRole::Coarse) && series.has_values());
    // Each clock's own series; the experiment polls one of them under a request of its own too.
    let is_own = |series: &&Series| series.key.parts().next().is_none();
    let polled = || file.experiment(ExperimentId::B3).filter(|series| series.has_values()).filter(is_own);
    let series = polled()
        .find(|series| stamps.is_some_and(|stamps| stamps.clock == series.subject))
        .or_else(|| polled().max_by_key(|series| p50(series)))
        .ok_or_else(|| not_measured(file, "the step of a coarse clock (B3)"))?;
    if !steps_agree(series) {
        judge(series)?;
    }
    let step = p50(series);
    if !is_coarse(step) {
        return Ok(Conclusion::Absent(
            Statement::new(format!("{} moves in steps of {step}", series.subject))
                .rests_on(&series.key, summary(series)),
        ));
    }
    let hz = file.environment.integer(FactName::TimerHz).filter(|&hz| hz > 0);
    let tick = match hz {
        Some(hz) if (Nanos(1_000_000_000 / hz) - step).0.saturating_abs().saturating_mul(20) < step.0 => {
            format!(" (1/HZ, HZ {hz})")
        }
        _ => String::new(),
    };
    let stated = file.clock(&series.subject).and_then(|clock| clock.stated_step_ns);
    let steps = step_in_words(step, stated);
    let mut found = Statement::new(format!("{} moves in steps of {steps}{tick}", series.subject))
        .rests_on(&series.key, summary(series));
    let two_clocks =
        stamps.filter(|stamps| stamps.clock == series.subject && judge(stamps).is_ok()).and_then(|coarse| {
            let precise = file.experiment(ExperimentId::B1).find(|precise| {
                precise.label(label::CLOCK_ROLE) == Some(label::ClockRole::Precise)
                    && precise.subject == coarse.subject
                    && precise.requested_ns == coarse.requested_ns
                    && precise.has_values()
            })?;
            Some((coarse, precise))
        });
    match two_clocks {
        Some((coarse, precise)) => {
            let seen = &coarse.distribution;
            let nothing = seen.count() - seen.count_above(NOTHING);
            // What they read as, not the step: a clock that was looked at in a bad moment seems to take longer ones.
            let least = seen.buckets().map(|(value, _)| value).find(|&value| value > NOTHING).map(Nanos);
            let requested = coarse.requested_ns.unwrap_or_default();
            let read = match (nothing, least) {
                (0, Some(least)) => format!("none of the sleeps of {requested} reads as less than {least} on it"),
                (_, None) => format!("every sleep of {requested} reads as 0 on it"),
                (_, Some(least)) => format!(
                    "{} of the sleeps of {requested} read as 0 on it, the others as {least} or more",
                    percent(nothing as f64 / seen.count() as f64)
                ),
            };
            found.sentence.push_str(&format!(": {read}, while the precise clock shows {}", p50(precise)));
            found = found.rests_on(&coarse.key, summary(coarse)).rests_on(&precise.key, summary(precise));
        }
        None => found.sentence.push_str(": anything shorter reads as 0 or as a whole step on it"),
    }
    Ok(Conclusion::Found(found))
}

fn backward_clock(file: &ResultFile) -> Look<Conclusion> {
    let is_elapsed = |clock: &&ClockResult| clock.counts == Counts::ElapsedTime && clock.unavailable.is_none();
    let observed: Vec<&ClockResult> = file
        .clocks
        .iter()
        .filter(is_elapsed)
        .filter(|clock| clock.steps.is_some_and(|steps| steps.reads > 0))
        .collect();
    let stamped: Vec<&Series> = file.series.iter().filter(|series| series.counts.backward > 0).collect();
    if observed.is_empty() && stamped.is_empty() {
        return Err(Conclusion::lacks("no clock was watched for backward steps (A4) in this run"));
    }
    let mut faults = Vec::new();
    let mut is_grave = !stamped.is_empty();
    let mut statement = Statement::default();
    for clock in &observed {
        let steps = clock.steps.unwrap_or_default();
        let how_far = |far: Option<Nanos>| far.map(|far| format!(", by up to {far}")).unwrap_or_default();
        let mut says = Vec::new();
        if steps.backward_on_one_thread > 0 {
            says.push(format!(
                "went backwards {} on one thread{}",
                counted(steps.backward_on_one_thread, "time"),
                how_far(steps.backward_on_one_thread_ns)
            ));
        }
        if steps.backward_across_cpus > 0 {
            says.push(format!(
                "was earlier on another CPU in {} of {} hand-overs{}",
                steps.backward_across_cpus,
                steps.cross_cpu_reads,
                how_far(steps.backward_across_cpus_ns)
            ));
        }
        if !says.is_empty() && only_unfenced(file, clock) {
            says.push(
                "which the reads with a fence never were: the processor moved the read, the counters are in step"
                    .into(),
            );
        } else if !says.is_empty() {
            is_grave = true;
        }
        if !says.is_empty() {
            let joined = if only_unfenced(file, clock) { says.join(", ") } else { says.join(" and ") };
            faults.push(format!("{} {joined}", clock.name));
            statement = statement.rests_on(&clock.name, says.join("; "));
        }
    }
    for series in &stamped {
        let says =
            format!("{} went backwards {} between two reads", series.clock, counted(series.counts.backward, "time"));
        faults.push(format!("{says} while {} was measured", series.key));
        statement = statement.rests_on(&series.key, says);
    }
    if !faults.is_empty() {
        statement.sentence = faults.join("; ");
        if is_grave {
            return Ok(Conclusion::Found(statement.matters(Severity::Fault)));
        }
        return Ok(Conclusion::Found(
            statement.matters(Severity::Note).cured_by(&["read-with-a-fence", "use-os-clock"]),
        ));
    }
    let reads: u64 = observed.iter().filter_map(|clock| clock.steps).map(|steps| steps.reads).sum();
    let crossed: u64 = observed.iter().filter_map(|clock| clock.steps).map(|steps| steps.cross_cpu_reads).sum();
    statement.sentence = if crossed == 0 {
        format!("no clock went backwards in {reads} reads; between CPUs nothing was compared")
    } else {
        format!("no clock went backwards in {reads} reads and {crossed} hand-overs between CPUs")
    };
    Ok(Conclusion::Absent(statement))
}

#[cfg(test)]
mod tests {
    use oversleep_record::clock::Steps;
    use oversleep_record::finding::Verdict;
    use oversleep_record::label::ClockRole;

    use super::super::super::testing::{Explained, Sheet, good_clock, rounds};
    use super::*;

    fn says(sheet: &Sheet, id: &str) -> (Verdict, String) {
        let finding = sheet.finding(id);
        (finding.verdict, finding.sentence)
    }

    fn role(key: &str, role: ClockRole, clock: &str, values: &[i64]) -> Series {
        let mut series = rounds(key, values, 20);
        series.labels.set(label::CLOCK_ROLE, role);
        series.clock = clock.into();
        // Sleeps alternate between steps; the rounds as such agree.
        let median = series.distribution.p50();
        series.rounds.iter_mut().for_each(|round| round.median = median);
        series
    }

    #[test]
    fn a_coarse_clock_and_what_it_does_to_sleeps() {
        let polled = || Sheet::linux().integer(FactName::TimerHz, 250).steady("B3/monotonic-coarse", 4_000_000);
        assert_eq!(
            says(&polled(), "OVS-G002"),
            (
                Verdict::Found,
                "monotonic-coarse moves in steps of 4 ms (1/HZ, HZ 250): anything shorter reads as 0 or as a whole step \
                 on it"
                    .into()
            )
        );
        let both = polled()
            .series(role("B1/nanosleep/1ms/coarse", ClockRole::Coarse, "monotonic-coarse", &[0, 0, 0, 4_000_000]))
            .series(role("B1/nanosleep/1ms/precise", ClockRole::Precise, "monotonic", &[1_066_000; 4]));
        assert_eq!(
            says(&both, "OVS-G002").1,
            "monotonic-coarse moves in steps of 4 ms (1/HZ, HZ 250): 75 % of the sleeps of 1 ms read as 0 on it, the \
             others as 4 ms or more, while the precise clock shows 1.07 ms"
        );
        // What they read as is not always a step that was seen when the clock was polled.
        let busy = Sheet::linux()
            .integer(FactName::TimerHz, 250)
            .steady("B3/monotonic-coarse", 8_000_000)
            .series(role(
                "B1/nanosleep/1ms/coarse",
                ClockRole::Coarse,
                "monotonic-coarse",
                &[0, 8_000_000, 4_000_000, 8_000_000],
            ))
            .series(role("B1/nanosleep/1ms/precise", ClockRole::Precise, "monotonic", &[1_066_000; 4]));
        assert_eq!(
            says(&busy, "OVS-G002").1,
            "monotonic-coarse moves in steps of 8 ms: 25 % of the sleeps of 1 ms read as 0 on it, the others as 4 ms or \
             more, while the precise clock shows 1.07 ms"
        );
        let tick = Sheet::windows()
            .clock(ClockResult { stated_step_ns: Some(Nanos(15_625_000)), ..good_clock("get-tick-count-64") })
            .steady("B3/get-tick-count-64", 16_000_000)
            .series(role(
                "B1/sleep/1ms/coarse",
                ClockRole::Coarse,
                "get-tick-count-64",
                &[15_000_000, 16_000_000, 16_000_000, 16_000_000],
            ))
            .series(role("B1/sleep/1ms/precise", ClockRole::Precise, "qpc", &[15_600_000; 4]));
        assert_eq!(
            says(&tick, "OVS-G002").1,
            "get-tick-count-64 moves in steps of 15 or 16 ms: none of the sleeps of 1 ms reads as less than 15 ms on it, \
             while the precise clock shows 15.6 ms"
        );
        assert_eq!(
            says(&Sheet::windows().steady("B3/get-tick-count-64", 15_600_000), "OVS-G002").1,
            "get-tick-count-64 moves in steps of 15.6 ms: anything shorter reads as 0 or as a whole step on it"
        );
    }

    #[test]
    fn a_fine_clock_no_clock_or_a_nervous_one() {
        let fine = Sheet::linux().steady("B3/monotonic-coarse", 1_000);
        assert_eq!(says(&fine, "OVS-G002"), (Verdict::Absent, "monotonic-coarse moves in steps of 1 µs".into()));
        assert_eq!(says(&Sheet::linux(), "OVS-G002").0, Verdict::NotEnoughData);
        assert_eq!(says(&Sheet::linux().wild("B3/monotonic-coarse", 4_000_000), "OVS-G002").0, Verdict::TooDisturbed);
        let few = |values: &[i64]| says(&Sheet::linux().series(rounds("B3/monotonic-coarse", values, 2)), "OVS-G002").0;
        assert_eq!(few(&[10_000_000; 3]), Verdict::Found, "steps repeat exactly");
        assert_eq!(few(&[10_000_000, 2_000_000, 30_000_000]), Verdict::NotEnoughData);
    }

    #[test]
    fn clocks_that_go_backwards() {
        let steps = Steps {
            reads: 1_000,
            cross_cpu_reads: 500,
            backward_on_one_thread: 1,
            backward_across_cpus: 7,
            backward_across_cpus_ns: Some(Nanos(420)),
            ..Steps::default()
        };
        let skewed = Sheet::linux().clock(ClockResult { steps: Some(steps), ..good_clock("tsc") });
        assert_eq!(
            says(&skewed, "OVS-G004"),
            (
                Verdict::Found,
                "tsc went backwards 1 time on one thread and was earlier on another CPU in 7 of 500 hand-overs, by up to \
                 420 ns"
                    .into()
            )
        );
        let reordered = Steps { backward_on_one_thread: 0, ..steps };
        let unfenced = ClockResult { steps: Some(reordered), ..good_clock("tsc") };
        let unfenced = Sheet::linux().clock(unfenced).clock(good_clock("tsc-fenced")).finding("OVS-G004");
        assert_eq!(unfenced.severity, Severity::Note);
        let remedies: Vec<&str> = unfenced.advice.iter().map(|advice| advice.remedy.as_str()).collect();
        assert_eq!(remedies, ["read-with-a-fence", "use-os-clock"], "nothing is wrong with the machine's clocksource");
        assert_eq!(
            unfenced.sentence,
            "tsc was earlier on another CPU in 7 of 500 hand-overs, by up to 420 ns, which the reads with a fence never \
             were: the processor moved the read, the counters are in step"
        );
        let mut stamped = rounds("B5/nanosleep/1ms", &[66_000; 4], 20);
        stamped.counts.backward = 2;
        assert_eq!(
            says(&Sheet::linux().series(stamped), "OVS-G004").1,
            "monotonic went backwards 2 times between two reads while B5/nanosleep/1ms was measured"
        );
        assert_eq!(
            says(&Sheet::linux().clock(good_clock("tsc")), "OVS-G004"),
            (Verdict::Absent, "no clock went backwards in 1000 reads and 1000 hand-overs between CPUs".into())
        );
        // Time of day may be set back; that is its nature and no fault.
        let set_back = ClockResult { steps: Some(steps), counts: Counts::TimeOfDay, ..good_clock("realtime") };
        assert_eq!(says(&Sheet::linux().clock(set_back), "OVS-G004").0, Verdict::NotEnoughData);
    }
}
