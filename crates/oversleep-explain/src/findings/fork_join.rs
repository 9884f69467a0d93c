//! The join that seems to take a tick: it is the clock, or the polling.

use oversleep_record::clock::{COARSE_STEP_MIN, is_coarse};
use oversleep_record::finding::Severity;
use oversleep_record::label::{ClockRole, JoinStyle};
use oversleep_record::{ExperimentId, Nanos, ResultFile, Series, SeriesKey, label};

use super::super::entry::{Conclusion, FindingEntry, Scope, Statement};
use super::super::read::{Look, judge, not_measured, p50, settle, summary};

/// What polling must add before it can be told from the grain of a join.
const POLLING_WORTH: Nanos = Nanos(200_000);
/// By so much a clock in whole milliseconds shows a step too long or too short.
const WHOLE_MS: i64 = 1_000_000;

pub(super) const FORK_JOIN: FindingEntry = FindingEntry {
    id: "OVS-G005",
    name: "fork-join-by-clock",
    summary: "A fork–join that seems to take whole ticks is timed by a coarse clock or joined by polling.",
    applies_to: "every operating system; the published case is Windows with GetTickCount64",
    scope: Scope::Anywhere,
    severity: Severity::Note,
    explanation: "\
It is often told that a fork–join cannot be finer than 16 ms because the scheduler works in slices of that length. A \
thread that blocks until the last worker is done is woken at once when a CPU is free; the slice does not enter. The \
16 ms come from elsewhere: from timing with a clock that moves once per tick, from a join that polls with a timed sleep, \
or from more threads than CPUs.\n\n\
How we know: the same calibrated work is joined blocked, spinning, and polling with 1 ms sleeps, and each join is timed \
with the precise and with the coarse clock at once. What only the coarse clock shows is the clock's; what only the \
polling shows is the polling's.\n\n\
Cure: block in the join and time it with the precise clock.",
    remedies: &["block-instead-of-polling", "use-precise-clock", "use-precise-system-clock"],
    check: |file| settle(fork_join(file)),
};

fn of<'a>(file: &'a ResultFile, style: JoinStyle, role: ClockRole) -> Option<&'a Series> {
    file.experiment(ExperimentId::D1).find(|series| {
        series.has_values()
            && series.label(label::STYLE) == Some(style)
            && series.label(label::CLOCK_ROLE) == Some(role)
    })
}

fn fork_join(file: &ResultFile) -> Look<Conclusion> {
    let needed = |style, role| {
        of(file, style, role)
            .ok_or_else(|| not_measured(file, SeriesKey::new(ExperimentId::D1, style.as_str()).word(role).as_str()))
    };
    let blocked = needed(JoinStyle::Blocked, ClockRole::Precise)?;
    judge(blocked)?;
    let polling = of(file, JoinStyle::Polling, ClockRole::Precise).filter(|series| judge(series).is_ok());
    let coarse = of(file, JoinStyle::Blocked, ClockRole::Coarse);
    let step = coarse.and_then(|series| coarse_step(series, super::super::read::tick(file)));
    let added = polling.map(|series| p50(series) - p50(blocked)).filter(|&added| added >= POLLING_WORTH);
    let threads = blocked.label(label::THREADS).map(|threads| format!(" of {threads} threads")).unwrap_or_default();
    let statement = |sentence: String| {
        let series = [Some(blocked), polling, coarse];
        series
            .into_iter()
            .flatten()
            .fold(Statement::new(sentence), |all, series| all.rests_on(&series.key, summary(series)))
    };
    let took = format!("a fork–join{threads} took {} with the main thread blocked", p50(blocked));
    let polled = added.map(|added| format!("polling added {added}"));
    let stepped = step.map(|step| format!("the coarse clock showed it in steps of {step}"));
    Ok(match (polled, stepped) {
        (None, None) if polling.is_none() && coarse.is_none() => {
            return Err(not_measured(file, "the polling join and the coarse clock (D1)"));
        }
        (None, None) => {
            Conclusion::Absent(statement(format!("{took}; neither polling nor the coarse clock adds to it")))
        }
        (polled, stepped) => {
            let adds: Vec<String> = [polled, stepped].into_iter().flatten().collect();
            Conclusion::Found(statement(format!("{took}; {}: neither is the join's own", adds.join(", "))))
        }
    })
}

/// The coarse clock's grid: the smallest gap between two different readings. A clock in whole milliseconds on a tick of
/// 15.6 ms counts 15 or 16 at a time, so readings less than half a tick apart show the same step, and the tick is what
/// it moves by.
fn coarse_step(series: &Series, tick: Option<Nanos>) -> Option<Nanos> {
    let half = Nanos(tick.map_or(0, |tick| tick.0 / 2)).max(COARSE_STEP_MIN);
    let values: Vec<i64> = series.distribution.buckets().map(|(value, _)| value).collect();
    let gaps = values.windows(2).map(|pair| Nanos(pair[1].saturating_sub(pair[0])));
    let step = gaps.filter(|&gap| gap >= half).min();
    match (step, tick) {
        (Some(step), Some(tick)) if (step - tick).0.abs() > WHOLE_MS => Some(step),
        (_, Some(tick)) => Some(tick).filter(|&tick| is_coarse(tick)),
        (step, None) => step,
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::finding::Verdict;

    use super::super::super::testing::{Explained, Sheet, rounds};
    use super::*;

    fn join(style: &str, role: &str, values: &[i64]) -> Series {
        let mut series = rounds(&format!("D1/{style}/{role}"), values, 20);
        series.labels.set(label::THREADS, 8);
        series
    }

    fn says(sheet: &Sheet) -> (Verdict, String) {
        let finding = sheet.finding("OVS-G005");
        (finding.verdict, finding.sentence)
    }

    #[test]
    fn the_tick_is_the_clocks_and_the_pollings() {
        let sheet = Sheet::linux()
            .series(join("blocked", "precise", &[40_200_000; 4]))
            .series(join("blocked", "coarse", &[40_000_000, 44_000_000, 40_000_000, 40_000_000]))
            .series(join("polling", "precise", &[40_900_000; 4]));
        assert_eq!(
            says(&sheet),
            (
                Verdict::Found,
                "a fork–join of 8 threads took 40.2 ms with the main thread blocked; polling added 700 µs, the coarse \
                 clock showed it in steps of 4 ms: neither is the join's own"
                    .into()
            )
        );
    }

    #[test]
    fn a_clock_in_whole_milliseconds_moves_by_the_tick_all_the_same() {
        let tick = Some(Nanos(15_625_000));
        let step = |values: &[i64], tick| coarse_step(&join("blocked", "coarse", values), tick).map(|step| step.0);
        assert_eq!(step(&[0, 15_000_000, 16_000_000, 31_000_000, 16_000_000], tick), Some(15_625_000));
        // Every reading the same: the system says how the clock moves.
        assert_eq!(step(&[16_000_000; 3], tick), Some(15_625_000));
        // A clock that follows a resolution in force, and one whose tick isn't known.
        assert_eq!(step(&[40_000_000, 50_000_000], Some(Nanos(4_000_000))).map(|ns| ns / 100_000), Some(99));
        assert_eq!(step(&[40_000_000, 44_000_000], None).map(|ns| (ns + 50_000) / 100_000), Some(40));
    }

    #[test]
    fn nothing_added_nothing_measured_nothing_sure() {
        let fine = Sheet::linux()
            .series(join("blocked", "precise", &[40_200_000; 4]))
            .series(join("blocked", "coarse", &[40_200_000; 4]))
            .series(join("polling", "precise", &[40_250_000; 4]));
        assert_eq!(
            says(&fine),
            (
                Verdict::Absent,
                "a fork–join of 8 threads took 40.2 ms with the main thread blocked; neither polling nor the coarse \
                 clock adds to it"
                    .into()
            )
        );
        assert_eq!(
            says(&Sheet::linux()),
            (Verdict::NotEnoughData, "D1/blocked/precise was not measured in this run".into())
        );
        let only = Sheet::linux().series(join("blocked", "precise", &[40_200_000; 4]));
        assert_eq!(says(&only).0, Verdict::NotEnoughData);
        let wild =
            Sheet::linux().series(join("blocked", "precise", &[40_000_000, 400_000_000, 4_000_000, 900_000_000]));
        assert_eq!(says(&wild).0, Verdict::TooDisturbed);
    }
}
