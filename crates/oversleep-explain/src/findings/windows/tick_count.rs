//! GetTickCount and GetTickCount64, which keep the step of the default tick.

use oversleep_record::finding::Severity;
use oversleep_record::series::Quantity;
use oversleep_record::{ExperimentId, FactName, Nanos, Os, ResultFile, Series};

use super::coarse_time::{Seen, seen_in, step_seen};
use crate::entry::{Checked, Conclusion, Scope};
use crate::figures::pooled;
use crate::finding::{Check, FindingEntry};
use crate::names::tick_counts;
use crate::read::not_measured;
use crate::read::windows::{beside_neighbour, default_period, in_effect, period_as_found};
use crate::remedies::windows::USE_PRECISE_SYSTEM_CLOCK;
use crate::verdicts::step_in_words;

/// A clock with at least this step has kept the default tick: it is floored to whole milliseconds, 15 or 16.
const DEFAULT_STEP_MIN: Nanos = Nanos::from_millis(10);

pub(super) static FINDINGS: &[FindingEntry] = &[FindingEntry {
    id: "OVS-W006",
    name: "tick-count-step",
    summary: "GetTickCount64 moves in steps of 15 or 16 ms whatever timer resolution is in force.",
    applies_to: "Windows, every version; programs and runtimes that use GetTickCount64 as a clock",
    scope: Scope::Os(Os::Windows),
    severity: Severity::Note,
    meaning: "GetTickCount64 counts milliseconds and advances 64 times a second, at the default tick, even while the \
              clock interrupt comes every millisecond. It shows shorter durations as 0, 15 or 16 ms. Charts made with \
              it show steps of 16 ms that have been mistaken for the scheduler's, and a finer timer resolution does \
              not remove it.",
    how_we_know: "oversleep polls the clock continuously and records its steps, while this process or another one \
                  holds a finer timer resolution than the default (B3, C3).",
    what_to_do: "Measure durations with QueryPerformanceCounter.",
    sources: &["https://learn.microsoft.com/windows/win32/api/sysinfoapi/nf-sysinfoapi-gettickcount64"],
    remedies: &[&USE_PRECISE_SYSTEM_CLOCK],
    check: Check::Rule(tick_count),
}];

/// The steps of a tick count while a finer period was in force, and the evidence for that period.
struct Polled {
    seen: Seen,
    /// In a sentence: `1 ms`, `1 ms to 7 ms`.
    period: String,
    /// The fact with the period that no process here requested.
    read_from: Option<FactName>,
}

fn is_finer(file: &ResultFile, period: Nanos) -> bool {
    period.0.saturating_mul(2) <= default_period(file).0
}

/// While this process held a finer period itself.
fn under_own_request(file: &ResultFile) -> Option<Polled> {
    let polled = file.experiment(ExperimentId::B3).filter(|series| tick_counts().any(|clock| series.subject == clock));
    polled.filter_map(|series| Some((series, in_effect(series)?))).find_map(|(series, granted)| {
        let seen = is_finer(file, granted).then(|| seen_in(series))??;
        Some(Polled { seen, period: granted.to_string(), read_from: None })
    })
}

/// Beside neighbours that held finer ones: each series has few steps, but all are of one kind.
fn beside_neighbours(file: &ResultFile) -> Option<Polled> {
    tick_counts().find_map(|clock| {
        let (held, series): (Vec<Nanos>, Vec<&Series>) = beside_neighbour(file)
            .filter(|(held, series)| {
                series.quantity == Quantity::Step && series.subject == clock && is_finer(file, *held)
            })
            .unzip();
        let seen = seen_in(&pooled(clock, &series)?)?;
        let (finest, coarsest) = (held.iter().min()?, held.iter().max()?);
        let period = if finest == coarsest { finest.to_string() } else { format!("{finest} to {coarsest}") };
        Some(Polled { seen, period, read_from: None })
    })
}

/// While a period that another process held was found in force.
fn as_found(file: &ResultFile) -> Option<Polled> {
    let now = period_as_found(file).filter(|&now| is_finer(file, now))?;
    let seen = tick_counts().find_map(|clock| step_seen(file, clock))?;
    Some(Polled { seen, period: now.to_string(), read_from: Some(FactName::TimerPeriodNow) })
}

fn tick_count(file: &ResultFile) -> Checked {
    let ways = [under_own_request, beside_neighbours, as_found];
    let Some(Polled { seen, period, read_from }) = ways.iter().find_map(|way| way(file)) else {
        return Err(match tick_counts().find_map(|clock| step_seen(file, clock)) {
            Some(seen) => Conclusion::lacks(format!(
                "{} moved in steps of {}, but no process held a finer timer resolution than the default meanwhile. Run \
                 `oversleep check --only C3`",
                seen.clock, seen.step
            )),
            None => not_measured(file, ExperimentId::B3, "the step of get-tick-count-64"),
        });
    };
    let step = step_in_words(seen.step, Some(default_period(file)));
    let moved = format!("it moved in steps of {step} while a timer resolution of {period} was in force");
    let conclusion = if seen.step >= DEFAULT_STEP_MIN {
        Conclusion::found(format!("{} ignores the timer resolution: {moved}", seen.clock))
    } else {
        Conclusion::absent(format!("{} follows the timer resolution: {moved}", seen.clock))
    };
    let conclusion = conclusion.rests_on(&seen.source, format!("steps of {step}"));
    Ok(match read_from {
        Some(fact) => conclusion.rests_on(fact, format!("a period of {period} meanwhile")),
        None => conclusion,
    })
}

#[cfg(test)]
mod tests {
    use oversleep_record::FactName;

    use crate::testing::{Explained, Sheet, rounds};

    #[test]
    fn the_tick_count_keeps_to_the_default_tick() {
        const IGNORES: &str = "get-tick-count-64 ignores the timer resolution: it moved in steps of 15.6 ms while a timer \
                               resolution of 1 ms was in force";
        let raised =
            |step| Sheet::windows().span(FactName::TimerPeriodNow, 1_000_000).steady("B3/get-tick-count-64", step);
        raised(15_600_000).finds("OVS-W006", IGNORES);
        raised(1_000_000).finds_no(
            "OVS-W006",
            "get-tick-count-64 follows the timer resolution: it moved in steps of 1 ms while a timer resolution of 1 ms was in \
             force",
        );
        let own = Sheet::windows().steady("B3/get-tick-count-64", 15_600_000);
        own.steady("B3/get-tick-count-64/resolution=1ms", 15_600_000).finds("OVS-W006", IGNORES);
    }

    #[test]
    fn few_steps_beside_each_neighbour_are_enough_together() {
        let beside =
            |neighbour: &str| rounds(format!("C3/get-tick-count-64/step/neighbour={neighbour}"), &[15_600_000; 2], 1);
        let one = Sheet::windows().series(beside("none")).series(beside("2ms"));
        one.lacks_data("OVS-W006");
        one.series(beside("3ms")).series(beside("5ms")).series(beside("9ms")).finds(
            "OVS-W006",
            "get-tick-count-64 ignores the timer resolution: it moved in steps of 15.6 ms while a timer resolution of 2 ms to \
             5 ms was in force",
        );
    }

    #[test]
    fn at_the_default_period_nothing_can_be_concluded() {
        let default = Sheet::windows().span(FactName::TimerPeriodNow, 15_625_000);
        default.steady("B3/get-tick-count-64", 15_600_000).lacks(
            "OVS-W006",
            "get-tick-count-64 moved in steps of 15.6 ms, but no process held a finer timer resolution than the default \
             meanwhile. Run `oversleep check --only C3`",
        );
        Sheet::windows()
            .lacks("OVS-W006", "the step of get-tick-count-64 was not measured. Run `oversleep check --only B3`");
    }
}
