//! Clocks that show the time of the last clock interrupt.

use oversleep_record::clock::is_coarse;
use oversleep_record::finding::Severity;
use oversleep_record::{ExperimentId, Nanos, ResultFile, Series};

use super::super::super::entry::{Conclusion, FindingEntry, Scope, Statement};
use super::super::super::read::{Look, not_measured, p50, settle};
use super::super::super::text::list;

/// Clocks that are advanced by the clock interrupt, and the precise one beside each.
pub(super) const AT_THE_INTERRUPT: [(&str, &str); 4] = [
    ("system-time", "system-time-precise"),
    ("time-get-time", "qpc"),
    ("interrupt-time", "interrupt-time-precise"),
    ("unbiased-interrupt-time", "unbiased-interrupt-time-precise"),
];
/// Fewest steps that say how long one is.
const STEPS_MIN: u64 = 5;

pub(in super::super) const COARSE_SYSTEM_TIME: FindingEntry = FindingEntry {
    id: "OVS-W007",
    name: "coarse-system-time",
    summary: "GetSystemTimeAsFileTime, timeGetTime and QueryInterruptTime show the time of the last clock interrupt.",
    applies_to: "Windows, every version; whatever stamps with the system time in units of 100 ns and trusts them",
    scope: Scope::Os("windows"),
    severity: Severity::Note,
    explanation: "\
These clocks are variables that the clock interrupt advances. Their units (100 ns, 1 ms) say nothing about their steps: \
15.6 ms at the default period, and the finest period any process asked for otherwise, in every process. Two stamps \
within a step are equal, and durations come out in whole steps that change when a browser is opened.\n\n\
How we know: each clock is polled without pause until it has moved often enough; the differences are its steps.\n\n\
Cure: QueryPerformanceCounter for durations, GetSystemTimePreciseAsFileTime (Windows 8) for the time of day.",
    remedies: &["use-precise-system-clock"],
    check: |file| settle(coarse_system_time(file)),
};

/// A step that was seen.
pub(super) struct Seen {
    pub(super) clock: String,
    pub(super) step: Nanos,
    /// Series or clock it was seen in.
    pub(super) source: String,
}

/// The step in a series of steps, where it holds enough of them.
pub(super) fn seen_in(series: &Series) -> Option<Seen> {
    (series.distribution.count() >= STEPS_MIN).then(|| Seen {
        clock: series.subject.clone(),
        step: p50(series),
        source: series.key.to_string(),
    })
}

/// The step a clock was seen to move by.
pub(super) fn step_seen(file: &ResultFile, clock: &str) -> Option<Seen> {
    let polled = file.experiment(ExperimentId::B3).find(|series| series.subject == clock).and_then(seen_in);
    polled.or_else(|| {
        let step = file.clock(clock)?.steps?.median_ns?;
        Some(Seen { clock: clock.to_owned(), step, source: clock.to_owned() })
    })
}

fn coarse_system_time(file: &ResultFile) -> Look<Conclusion> {
    let seen: Vec<(Seen, &str)> =
        AT_THE_INTERRUPT.iter().filter_map(|&(coarse, precise)| Some((step_seen(file, coarse)?, precise))).collect();
    let Some((first, _)) = seen.first() else {
        return Err(not_measured(file, "the step of system-time (A4, B3)"));
    };
    let evidence = |sentence: String| {
        let rests =
            |all: Statement, (seen, _): &(Seen, &str)| all.rests_on(&seen.source, format!("steps of {}", seen.step));
        seen.iter().fold(Statement::new(sentence), rests)
    };
    let coarse: Vec<&(Seen, &str)> = seen.iter().filter(|(seen, _)| is_coarse(seen.step)).collect();
    let Some((worst, precise)) = coarse.first() else {
        return Ok(Conclusion::Absent(evidence(format!("{} moves in steps of {}", first.clock, first.step))));
    };
    let others: Vec<&str> = coarse[1..].iter().map(|(seen, _)| seen.clock.as_str()).collect();
    let likewise = if others.is_empty() { String::new() } else { format!(", likewise {}", list(&others)) };
    let beside = step_seen(file, precise).map(|fine| format!("; {} moves by {}", fine.clock, fine.step));
    Ok(Conclusion::Found(evidence(format!(
        "{} moves in steps of {}, with the clock interrupt{likewise}{}",
        worst.clock,
        worst.step,
        beside.unwrap_or_default()
    ))))
}

#[cfg(test)]
mod tests {
    use oversleep_record::ClockResult;
    use oversleep_record::clock::Steps;
    use oversleep_record::finding::Verdict;

    use super::super::super::super::testing::{Explained, Sheet, good_clock, rounds};
    use super::*;

    fn says(sheet: &Sheet) -> (Verdict, String) {
        let finding = sheet.finding("OVS-W007");
        (finding.verdict, finding.sentence)
    }

    fn stepping(name: &str, step: i64) -> ClockResult {
        ClockResult { steps: Some(Steps { median_ns: Some(Nanos(step)), ..Steps::default() }), ..good_clock(name) }
    }

    #[test]
    fn the_system_time_moves_with_the_interrupt() {
        let sheet = Sheet::windows()
            .steady("B3/system-time", 15_600_000)
            .clock(stepping("time-get-time", 15_000_000))
            .clock(stepping("interrupt-time", 15_600_000))
            .clock(stepping("system-time-precise", 100));
        assert_eq!(
            says(&sheet),
            (
                Verdict::Found,
                "system-time moves in steps of 15.6 ms, with the clock interrupt, likewise time-get-time and \
                 interrupt-time; system-time-precise moves by 100 ns"
                    .into()
            )
        );
        let raised = Sheet::windows().clock(stepping("time-get-time", 1_000_000));
        assert_eq!(says(&raised).1, "time-get-time moves in steps of 1 ms, with the clock interrupt");
    }

    #[test]
    fn fine_clocks_and_none() {
        let fine = Sheet::windows().clock(stepping("system-time", 100));
        assert_eq!(says(&fine), (Verdict::Absent, "system-time moves in steps of 100 ns".into()));
        assert_eq!(
            says(&Sheet::windows()),
            (Verdict::NotEnoughData, "the step of system-time (A4, B3) was not measured in this run".into())
        );
        let few = Sheet::windows().series(rounds("B3/system-time", &[15_600_000], 4));
        assert_eq!(says(&few).0, Verdict::NotEnoughData, "four steps");
    }
}
