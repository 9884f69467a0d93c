//! Clocks that show the time of the last clock interrupt.

use oversleep_record::clock::is_coarse;
use oversleep_record::finding::Severity;
use oversleep_record::words::list;
use oversleep_record::{ExperimentId, Nanos, Os, ResultFile, Series};

use crate::entry::{Checked, Conclusion, Scope};
use crate::figures::p50;
use crate::finding::{Check, FindingEntry};
use crate::names::interrupt_clocks;
use crate::read::{STEPS_MIN, not_measured};
use crate::remedies::windows::USE_PRECISE_SYSTEM_CLOCK;

pub(super) static FINDINGS: &[FindingEntry] = &[FindingEntry {
    id: "OVS-W007",
    name: "coarse-system-time",
    summary: "GetSystemTimeAsFileTime, timeGetTime and QueryInterruptTime show the time of the last clock interrupt.",
    applies_to: "Windows, every version; programs that rely on timestamps of the system time in units of 100 ns",
    scope: Scope::Os(Os::Windows),
    severity: Severity::Note,
    meaning: "These clocks are variables that the clock interrupt advances. Their units (100 ns, 1 ms) say nothing about \
              their steps. A step is 15.6 ms at the default timer resolution, and otherwise the finest period that any \
              process requested, in every process. Two timestamps within a step are equal, and durations come out in whole \
              steps whose length changes when a browser is opened.",
    how_we_know: "oversleep polls each clock continuously until it has moved often enough; the differences are its \
                  steps.",
    what_to_do: "Measure durations with QueryPerformanceCounter, and read the time of day with \
                 GetSystemTimePreciseAsFileTime (Windows 8).",
    sources: &["https://learn.microsoft.com/windows/win32/api/sysinfoapi/nf-sysinfoapi-getsystemtimeasfiletime"],
    remedies: &[&USE_PRECISE_SYSTEM_CLOCK],
    check: Check::Rule(coarse_system_time),
}];

/// An observed step.
pub(super) struct Seen {
    pub(super) clock: String,
    pub(super) step: Nanos,
    /// The series or clock it was seen in.
    pub(super) source: String,
}

/// The step in a series of steps, if it has enough of them.
pub(super) fn seen_in(series: &Series) -> Option<Seen> {
    (series.distribution.count() >= STEPS_MIN).then(|| Seen {
        clock: series.subject.clone(),
        step: p50(series),
        source: series.key.to_string(),
    })
}

/// The observed step of a clock.
pub(super) fn step_seen(file: &ResultFile, clock: &str) -> Option<Seen> {
    let polled = file.experiment(ExperimentId::B3).find(|series| series.subject == clock).and_then(seen_in);
    polled.or_else(|| {
        let step = file.clock(clock)?.steps?.median_ns?;
        Some(Seen { clock: clock.to_owned(), step, source: clock.to_owned() })
    })
}

fn coarse_system_time(file: &ResultFile) -> Checked {
    let seen: Vec<(Seen, &str)> = interrupt_clocks()
        .into_iter()
        .filter_map(|(coarse, precise)| Some((step_seen(file, coarse)?, precise)))
        .collect();
    let Some((first, _)) = seen.first() else {
        return Err(not_measured(file, ExperimentId::B3, "the step of system-time"));
    };
    let coarse: Vec<&(Seen, &str)> = seen.iter().filter(|(seen, _)| is_coarse(seen.step)).collect();
    let conclusion = match coarse.split_first() {
        None => Conclusion::absent(format!("{} moves in steps of {}", first.clock, first.step)),
        Some(((worst, precise), others)) => {
            let others: Vec<&str> = others.iter().map(|(seen, _)| seen.clock.as_str()).collect();
            let too = if others.is_empty() { String::new() } else { format!(", and so do {}", list(&others)) };
            let beside = step_seen(file, precise).map(|fine| format!("; {} moves by {}", fine.clock, fine.step));
            Conclusion::found(format!(
                "{} moves in steps of {}: it follows the clock interrupt{too}{}",
                worst.clock,
                worst.step,
                beside.unwrap_or_default()
            ))
        }
    };
    Ok(seen.iter().fold(conclusion, |all, (seen, _)| all.rests_on(&seen.source, format!("steps of {}", seen.step))))
}

#[cfg(test)]
mod tests {
    use oversleep_record::ClockResult;
    use oversleep_record::clock::Steps;

    use super::*;
    use crate::testing::{Explained, Sheet, good_clock, rounds};

    fn stepping(name: &str, step: i64) -> ClockResult {
        ClockResult { steps: Some(Steps { median_ns: Some(Nanos(step)), ..Steps::default() }), ..good_clock(name) }
    }

    #[test]
    fn the_system_time_moves_with_the_interrupt() {
        Sheet::windows()
            .steady("B3/system-time", 15_600_000)
            .clock(stepping("time-get-time", 15_000_000))
            .clock(stepping("interrupt-time", 15_600_000))
            .clock(stepping("system-time-precise", 100))
            .finds(
                "OVS-W007",
                "system-time moves in steps of 15.6 ms: it follows the clock interrupt, and so do time-get-time and \
                 interrupt-time; system-time-precise moves by 100 ns",
            );
        Sheet::windows()
            .clock(stepping("time-get-time", 1_000_000))
            .finds("OVS-W007", "time-get-time moves in steps of 1 ms: it follows the clock interrupt");
    }

    #[test]
    fn fine_clocks_and_none() {
        let fine = Sheet::windows().clock(stepping("system-time", 100));
        fine.finds_no("OVS-W007", "system-time moves in steps of 100 ns");
        Sheet::windows().lacks_data("OVS-W007");
        // Four steps.
        Sheet::windows().series(rounds("B3/system-time", &[15_600_000], 4)).lacks_data("OVS-W007");
    }
}
