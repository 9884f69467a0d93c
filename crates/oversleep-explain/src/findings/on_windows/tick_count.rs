//! GetTickCount and GetTickCount64, which keep to the default tick.

use oversleep_record::conditions::{Outcome, Setting};
use oversleep_record::finding::Severity;
use oversleep_record::series::Quantity;
use oversleep_record::{ExperimentId, FactName, Nanos, ResultFile, Series};

use super::super::super::entry::{Conclusion, FindingEntry, Scope, Statement};
use super::super::super::read::{Look, not_measured, pooled, settle};
use super::super::super::verdicts::step_in_words;
use super::coarse_time::{Seen, seen_in, step_seen};
use super::{beside_neighbour, default_period};

/// The clocks of this family.
pub(super) const TICK_COUNTS: [&str; 2] = ["get-tick-count-64", "get-tick-count"];
/// Step from which such a clock has kept to the default tick: it is floored to whole milliseconds, 15 or 16.
const DEFAULT_STEP_MIN: Nanos = Nanos::from_millis(10);

pub(in super::super) const TICK_COUNT: FindingEntry = FindingEntry {
    id: "OVS-W006",
    name: "tick-count-step",
    summary: "GetTickCount64 moves in steps of 15 or 16 ms whatever timer resolution is in force.",
    applies_to: "Windows, every version; programs and runtimes that take GetTickCount64 for a clock",
    scope: Scope::Os("windows"),
    severity: Severity::Note,
    explanation: "\
GetTickCount64 counts milliseconds and is advanced 64 times a second, at the default tick, also while the clock \
interrupt comes every millisecond. Shorter times read as 0, 15 or 16 on it. Charts made with it show a grid of 16 ms \
that has been taken for the scheduler's, and raising the resolution does not remove it.\n\n\
How we know: the clock is polled without pause and its steps recorded, while this process or another one holds a finer \
period than the default (B3, C3).\n\n\
Cure: QueryPerformanceCounter for durations.",
    remedies: &["use-precise-system-clock"],
    check: |file| settle(tick_count(file)),
};

/// The steps of a tick count while a finer period was in force, and what says that it was.
struct Polled {
    seen: Seen,
    /// In a sentence: `1 ms`, `1 ms to 7 ms`.
    period: String,
    /// Where the period was read that nobody here asked for.
    read_from: Option<FactName>,
}

fn is_finer(file: &ResultFile, period: Nanos) -> bool {
    period.0.saturating_mul(2) <= default_period(file).0
}

/// While this process held a finer period itself.
fn under_own_request(file: &ResultFile) -> Option<Polled> {
    file.experiment(ExperimentId::B3).filter(|series| TICK_COUNTS.contains(&series.subject.as_str())).find_map(
        |series| {
            let (Outcome::Applied { now: Setting::Nanos(granted), .. }
            | Outcome::AlreadySo { is: Setting::Nanos(granted) }) = series.conditions.outcomes.get("resolution")?
            else {
                return None;
            };
            let seen = is_finer(file, *granted).then(|| seen_in(series))??;
            Some(Polled { seen, period: granted.to_string(), read_from: None })
        },
    )
}

/// Beside neighbours that held finer ones: each lasts for few steps, all are of one kind.
fn beside_neighbours(file: &ResultFile) -> Option<Polled> {
    TICK_COUNTS.iter().find_map(|clock| {
        let (held, series): (Vec<Nanos>, Vec<&Series>) = beside_neighbour(file)
            .filter(|(held, series)| {
                series.quantity == Quantity::Step && series.subject == *clock && is_finer(file, *held)
            })
            .unzip();
        let seen = seen_in(&pooled(clock, &series)?)?;
        let (finest, coarsest) = (held.iter().min()?, held.iter().max()?);
        let period = if finest == coarsest { finest.to_string() } else { format!("{finest} to {coarsest}") };
        Some(Polled { seen, period, read_from: None })
    })
}

/// While somebody else's period was found in force.
fn as_found(file: &ResultFile) -> Option<Polled> {
    const PERIOD: FactName = FactName::TimerPeriodNow;
    let now = file.environment.nanos(PERIOD).filter(|&now| is_finer(file, now))?;
    let seen = TICK_COUNTS.iter().find_map(|clock| step_seen(file, clock))?;
    Some(Polled { seen, period: now.to_string(), read_from: Some(PERIOD) })
}

fn tick_count(file: &ResultFile) -> Look<Conclusion> {
    let ways = [under_own_request, beside_neighbours, as_found];
    let Some(Polled { seen, period, read_from }) = ways.iter().find_map(|way| way(file)) else {
        return Err(match TICK_COUNTS.iter().find_map(|clock| step_seen(file, clock)) {
            Some(seen) => Conclusion::lacks(format!(
                "{} moved in steps of {}, but no finer timer period than the default was in force meanwhile",
                seen.clock, seen.step
            )),
            None => not_measured(file, "the step of get-tick-count-64 (A4, B3)"),
        });
    };
    let step = step_in_words(seen.step, Some(default_period(file)));
    let sentence = format!("{} moved in steps of {step} while a timer period of {period} was in force", seen.clock);
    let statement = |sentence: String| {
        let statement = Statement::new(sentence).rests_on(&seen.source, format!("steps of {step}"));
        match read_from {
            Some(fact) => statement.rests_on(fact, format!("a period of {period} meanwhile")),
            None => statement,
        }
    };
    Ok(if seen.step >= DEFAULT_STEP_MIN {
        Conclusion::Found(statement(format!("{sentence}: it ignores the resolution")))
    } else {
        Conclusion::Absent(statement(sentence))
    })
}

#[cfg(test)]
mod tests {
    use oversleep_record::FactName;
    use oversleep_record::finding::Verdict;

    use super::super::super::super::testing::{Explained, Sheet, rounds};

    fn says(sheet: &Sheet) -> (Verdict, String) {
        let finding = sheet.finding("OVS-W006");
        (finding.verdict, finding.sentence)
    }

    #[test]
    fn the_tick_count_keeps_to_the_default_tick() {
        let raised =
            |step| Sheet::windows().span(FactName::TimerPeriodNow, 1_000_000).steady("B3/get-tick-count-64", step);
        assert_eq!(
            says(&raised(15_600_000)),
            (
                Verdict::Found,
                "get-tick-count-64 moved in steps of 15.6 ms while a timer period of 1 ms was in force: it ignores the \
                 resolution"
                    .into()
            )
        );
        assert_eq!(
            says(&raised(1_000_000)),
            (
                Verdict::Absent,
                "get-tick-count-64 moved in steps of 1 ms while a timer period of 1 ms was in force".into()
            )
        );
        let own = Sheet::windows()
            .steady("B3/get-tick-count-64", 15_600_000)
            .steady("B3/get-tick-count-64/resolution=1ms", 15_600_000);
        assert_eq!(
            says(&own).1,
            "get-tick-count-64 moved in steps of 15.6 ms while a timer period of 1 ms was in force: it ignores the \
             resolution"
        );
    }

    #[test]
    fn few_steps_beside_each_neighbour_are_enough_together() {
        let beside =
            |neighbour: &str| rounds(&format!("C3/get-tick-count-64/step/neighbour={neighbour}"), &[15_600_000; 2], 1);
        let one = Sheet::windows().series(beside("none")).series(beside("2ms"));
        assert_eq!(says(&one).0, Verdict::NotEnoughData);
        let three = one.series(beside("3ms")).series(beside("5ms")).series(beside("9ms"));
        assert_eq!(
            says(&three).1,
            "get-tick-count-64 moved in steps of 15.6 ms while a timer period of 2 ms to 5 ms was in force: it ignores \
             the resolution"
        );
    }

    #[test]
    fn at_the_default_period_nothing_can_be_told() {
        let default =
            Sheet::windows().span(FactName::TimerPeriodNow, 15_625_000).steady("B3/get-tick-count-64", 15_600_000);
        assert_eq!(
            says(&default),
            (
                Verdict::NotEnoughData,
                "get-tick-count-64 moved in steps of 15.6 ms, but no finer timer period than the default was in force \
                 meanwhile"
                    .into()
            )
        );
        assert_eq!(
            says(&Sheet::windows()),
            (Verdict::NotEnoughData, "the step of get-tick-count-64 (A4, B3) was not measured in this run".into())
        );
    }
}
