//! GetTickCount and GetTickCount64, which keep to the default tick.

use oversleep_record::finding::Severity;
use oversleep_record::series::Quantity;
use oversleep_record::{Nanos, ResultFile};

use super::super::super::entry::{Conclusion, FindingEntry, Scope, Statement};
use super::super::super::read::{Look, not_measured, settle};
use super::coarse_time::{Seen, seen_in, step_seen};
use super::{beside_neighbour, default_period};

/// The clocks of this family.
const TICK_COUNTS: [&str; 2] = ["get-tick-count-64", "get-tick-count"];
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
period than the default.\n\n\
Cure: QueryPerformanceCounter for durations.",
    remedies: &["use-precise-system-clock"],
    check: |file| settle(tick_count(file)),
};

/// The steps of a tick count while a finer period was in force, and that period.
fn under_a_finer_period(file: &ResultFile) -> Option<(Seen, Nanos)> {
    let is_finer = |period: Nanos| period.0.saturating_mul(2) <= default_period(file).0;
    let beside = beside_neighbour(file)
        .filter(|(held, series)| {
            is_finer(*held) && series.quantity == Quantity::Step && TICK_COUNTS.contains(&series.subject.as_str())
        })
        .min_by_key(|(held, _)| *held);
    if let Some((held, series)) = beside {
        return Some((seen_in(series)?, held));
    }
    let now = file.environment.nanos("timer.period_now_ns").filter(|&now| is_finer(now))?;
    Some((TICK_COUNTS.iter().find_map(|clock| step_seen(file, clock))?, now))
}

fn tick_count(file: &ResultFile) -> Look<Conclusion> {
    let Some((seen, period)) = under_a_finer_period(file) else {
        return Err(match TICK_COUNTS.iter().find_map(|clock| step_seen(file, clock)) {
            Some(seen) => Conclusion::lacks(format!(
                "{} moved in steps of {}, but no finer timer period than the default was in force meanwhile",
                seen.clock, seen.step
            )),
            None => not_measured(file, "the step of get-tick-count-64 (A4, B3)"),
        });
    };
    let statement = |sentence: String| {
        Statement::new(sentence)
            .rests_on(&seen.source, format!("steps of {}", seen.step))
            .rests_on("timer.period_now_ns", format!("a period of {period} meanwhile"))
    };
    Ok(if seen.step >= DEFAULT_STEP_MIN {
        Conclusion::Found(statement(format!(
            "{} moved in steps of {} while a timer period of {period} was in force: it ignores the resolution",
            seen.clock, seen.step
        )))
    } else {
        Conclusion::Absent(statement(format!(
            "{} moved in steps of {} while a timer period of {period} was in force",
            seen.clock, seen.step
        )))
    })
}

#[cfg(test)]
mod tests {
    use oversleep_record::finding::Verdict;

    use super::super::super::super::testing::Sheet;

    fn says(sheet: &Sheet) -> (Verdict, String) {
        let finding = sheet.finding("OVS-W006");
        (finding.verdict, finding.sentence)
    }

    #[test]
    fn the_tick_count_keeps_to_the_default_tick() {
        let raised =
            |step| Sheet::windows().span("timer.period_now_ns", 1_000_000).steady("B3/get-tick-count-64", step);
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
        let beside = Sheet::windows()
            .steady("C3/get-tick-count-64/step/neighbour=none", 15_600_000)
            .steady("C3/get-tick-count-64/step/neighbour=2ms", 15_600_000);
        assert_eq!(
            says(&beside).1,
            "get-tick-count-64 moved in steps of 15.6 ms while a timer period of 2 ms was in force: it ignores the \
             resolution"
        );
    }

    #[test]
    fn at_the_default_period_nothing_can_be_told() {
        let default =
            Sheet::windows().span("timer.period_now_ns", 15_625_000).steady("B3/get-tick-count-64", 15_600_000);
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
