//! A join that seems to take a tick, because of the clock or of polling.

use oversleep_record::clock::{COARSE_STEP_MIN, is_coarse};
use oversleep_record::finding::Severity;
use oversleep_record::label::{ClockRole, JoinStyle};
use oversleep_record::{ExperimentId, Nanos, ResultFile, Series, SeriesKey, label};

use crate::entry::{Checked, Conclusion, Scope};
use crate::figures::p50;
use crate::finding::{Check, FindingEntry};
use crate::read::{is_sound, needed, not_measured, tick};
use crate::remedies::program::{BLOCK_INSTEAD_OF_POLLING, USE_PRECISE_CLOCK};
use crate::remedies::windows::USE_PRECISE_SYSTEM_CLOCK;

/// The minimum that polling must add to be distinguishable from the noise of a join.
const POLLING_MIN: Nanos = Nanos(200_000);
/// The delay from polling varies between runs. Within this range of the threshold, another run may find the opposite.
const TOO_CLOSE: std::ops::Range<Nanos> = Nanos(150_000)..Nanos(270_000);
/// The gap between two readings of a clock in whole milliseconds differs from its step by less than this: each reading
/// is the difference of two truncated values, and so less than 1 ms off.
const WHOLE_MS: i64 = 2_000_000;

pub(super) static FINDINGS: &[FindingEntry] = &[FindingEntry {
    id: "OVS-G005",
    name: "fork-join-by-clock",
    summary: "A fork-join that seems to take whole ticks is timed by a coarse clock or joined by polling.",
    applies_to: "every operating system; the published case is Windows with GetTickCount64",
    scope: Scope::Anywhere,
    severity: Severity::Note,
    meaning: "It is often said that a fork-join can't be finer than 16 ms because the scheduler works in slices of that \
              length. But a thread that blocks until the last worker is done is woken at once when a CPU is free; the slice \
              plays no part. The 16 ms come from elsewhere: from a clock that moves once per tick, from a join that polls with \
              a timed sleep, or from more threads than CPUs.",
    how_we_know: "oversleep joins the same calibrated work blocked, spinning, and polling with 1 ms sleeps, and times \
                  each join with the precise and with the coarse clock at once. A step that only the coarse clock \
                  shows comes from the clock; a delay that only polling shows comes from polling.",
    what_to_do: "Block in the join, and time it with the precise clock.",
    sources: &["https://learn.microsoft.com/windows/win32/api/sysinfoapi/nf-sysinfoapi-gettickcount64"],
    remedies: &[&BLOCK_INSTEAD_OF_POLLING, &USE_PRECISE_CLOCK, &USE_PRECISE_SYSTEM_CLOCK],
    check: Check::Rule(fork_join),
}];

fn joined(file: &ResultFile, style: JoinStyle, role: ClockRole) -> Option<&Series> {
    file.experiment(ExperimentId::D1).find(|series| {
        series.has_values()
            && series.label(label::STYLE) == Some(style)
            && series.label(label::CLOCK_ROLE) == Some(role)
    })
}

fn fork_join(file: &ResultFile) -> Checked {
    let key = SeriesKey::new(ExperimentId::D1, JoinStyle::Blocked.as_str()).word(ClockRole::Precise);
    let blocked = needed(file, &key, joined(file, JoinStyle::Blocked, ClockRole::Precise))?;
    let polling = joined(file, JoinStyle::Polling, ClockRole::Precise).filter(|series| is_sound(series));
    let coarse = joined(file, JoinStyle::Blocked, ClockRole::Coarse);
    if polling.is_none() && coarse.is_none() {
        return Err(not_measured(file, ExperimentId::D1, "the polling join and the coarse clock"));
    }
    let added = polling.map(|series| p50(series) - p50(blocked));
    let disagree = polling.zip(added).is_some_and(|(polling, added)| {
        !is_one_sided(&added_by_round(blocked, polling))
            || unrest(blocked).max(unrest(polling)) > TOO_CLOSE.end.max(Nanos(added.0.abs()))
    });
    let too_close = added.filter(|added| disagree || TOO_CLOSE.contains(added));
    let added = added.filter(|&added| !disagree && added >= TOO_CLOSE.end);
    let step = coarse.and_then(|series| coarse_step(series, tick(file)));
    let threads = blocked.label(label::THREADS).map(|threads| format!(" of {threads} threads")).unwrap_or_default();
    let blocked_p50 = p50(blocked);
    let polled = |added| format!("polling added {added} to a fork-join{threads}");
    let stepped = |what: &str, step| format!("the coarse clock showed {what} in steps of {step}");
    if let (Some(added), None) = (too_close, step) {
        let sentence = match (disagree, added < Nanos::ZERO) {
            (true, true) => format!(
                "polling took {} off a fork-join{threads} in the median, which is less than its rounds differ by: what \
                 the CPUs do meanwhile decides. Close other programs and run `oversleep check --thorough --only D1`",
                Nanos(-added.0)
            ),
            (true, false) => format!(
                "{} in the median, which is less than its rounds differ by: what the CPUs do meanwhile decides. Close \
                 other programs and run `oversleep check --thorough --only D1`",
                polled(added)
            ),
            _ => format!(
                "{}, too close to {POLLING_MIN} to be told from noise. Run `oversleep check --thorough --only D1`",
                polled(added)
            ),
        };
        return Ok(Conclusion::disturbed(sentence).rests_on_series([Some(blocked), polling].into_iter().flatten()));
    }
    let conclusion = match (added, step) {
        (None, None) => Conclusion::absent(format!(
            "a blocking fork-join{threads} took {blocked_p50}: neither polling nor the coarse clock adds to it"
        )),
        (Some(added), None) => Conclusion::found(format!("{}: blocked, it took {blocked_p50}", polled(added))),
        (None, Some(step)) => Conclusion::found(format!(
            "{}: by the precise clock, it took {blocked_p50}",
            stepped(&format!("a fork-join{threads}"), step)
        )),
        (Some(added), Some(step)) => Conclusion::found(format!(
            "{}; {}: blocked and by the precise clock, it took {blocked_p50}",
            polled(added),
            stepped("it", step)
        )),
    };
    Ok(conclusion.rests_on_series([Some(blocked), polling, coarse].into_iter().flatten()))
}

/// What polling added in each round. The rounds of both are interleaved, so each pair saw the same machine.
fn added_by_round(blocked: &Series, polling: &Series) -> Vec<Nanos> {
    let pairs = blocked.rounds.iter().zip(&polling.rounds);
    pairs.filter_map(|(blocked, polling)| Some(Nanos(polling.median?.saturating_sub(blocked.median?)))).collect()
}

/// How far the medians of a series' rounds lie apart.
fn unrest(series: &Series) -> Nanos {
    let medians = || series.rounds.iter().filter_map(|round| round.median);
    Nanos(medians().max().unwrap_or(0).saturating_sub(medians().min().unwrap_or(0)))
}

/// Whether polling added something in each round, or in none.
fn is_one_sided(added: &[Nanos]) -> bool {
    added.iter().all(|&added| added >= TOO_CLOSE.start) || added.iter().all(|&added| added < TOO_CLOSE.end)
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
        (Some(step), Some(tick)) if (step - tick).0.abs() >= WHOLE_MS => Some(step),
        (_, Some(tick)) => Some(tick).filter(|&tick| is_coarse(tick)),
        (step, None) => step,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Explained, Sheet, rounds};

    fn join(style: &str, role: &str, values: &[i64]) -> Series {
        rounds(format!("D1/{style}/{role}"), values, 20)
    }

    #[test]
    fn the_tick_is_the_clocks_and_pollings() {
        let sheet = Sheet::linux()
            .series(join("blocked", "precise", &[40_200_000; 4]))
            .series(join("blocked", "coarse", &[40_000_000, 44_000_000, 40_000_000, 40_000_000]))
            .series(join("polling", "precise", &[40_900_000; 4]));
        sheet.finds(
            "OVS-G005",
            "polling added 700 µs to a fork-join of 8 threads; the coarse clock showed it in steps of 4 ms: blocked and \
             by the precise clock, it took 40.2 ms",
        );
    }

    #[test]
    fn a_clock_in_whole_milliseconds_moves_by_the_tick_all_the_same() {
        let tick = Some(Nanos(15_625_000));
        let step = |values: &[i64], tick| coarse_step(&join("blocked", "coarse", values), tick).map(|step| step.0);
        assert_eq!(step(&[0, 15_000_000, 16_000_000, 31_000_000, 16_000_000], tick), Some(15_625_000));
        // 31.25 ms as 32, and 46.875 ms as 46.
        assert_eq!(step(&[32_000_000, 46_000_000], tick), Some(15_625_000));
        // All readings are equal: the step that the system states is used.
        assert_eq!(step(&[16_000_000; 3], tick), Some(15_625_000));
        // A clock that follows a resolution in force, and one whose tick isn't known.
        assert_eq!(step(&[40_000_000, 50_000_000], Some(Nanos(4_000_000))).map(|ns| ns / 100_000), Some(99));
        assert_eq!(step(&[40_000_000, 44_000_000], None).map(|ns| (ns + 50_000) / 100_000), Some(40));
        // The shortest period that Windows grants.
        assert_eq!(step(&[0, 499_200], None).map(|ns| ns / 1_000), Some(499));
    }

    #[test]
    fn what_polling_adds_near_the_threshold_is_too_close_to_tell() {
        let polling = |added: i64| {
            let blocked = Sheet::linux().series(join("blocked", "precise", &[40_200_000; 4]));
            blocked.series(join("polling", "precise", &[40_200_000 + added; 4]))
        };
        for added in [160_000, 199_000, 201_000, 260_000] {
            polling(added).is_disturbed("OVS-G005");
        }
        polling(140_000).finds_no(
            "OVS-G005",
            "a blocking fork-join of 8 threads took 40.2 ms: neither polling nor the coarse clock adds to it",
        );
        polling(300_000)
            .finds("OVS-G005", "polling added 300 µs to a fork-join of 8 threads: blocked, it took 40.2 ms");
    }

    /// Found in two runs with other seeds: where more threads than CPUs take turns of a tick, rounds differ by more than
    /// polling can add, and one run found it and the other ruled it out.
    #[test]
    fn rounds_that_disagree_about_polling_decide_nothing() {
        let sheet = |polling: &[i64]| {
            let blocked = join("blocked", "precise", &[34_200_000, 34_030_000, 34_100_000]);
            Sheet::linux().series(blocked).series(join("polling", "precise", polling))
        };
        sheet(&[35_000_000, 33_500_000, 35_000_000]).is_disturbed("OVS-G005");
        sheet(&[33_600_000, 35_000_000, 33_400_000]).is_disturbed("OVS-G005");
        sheet(&[34_400_000, 33_200_000, 34_000_000]).is_disturbed("OVS-G005");
        sheet(&[36_500_000, 34_300_000, 35_470_000]).is_disturbed("OVS-G005");
        sheet(&[35_500_000, 34_700_000, 35_470_000])
            .finds("OVS-G005", "polling added 1.38 ms to a fork-join of 8 threads: blocked, it took 34.1 ms");
        sheet(&[34_200_000, 34_050_000, 34_000_000]).finds_no(
            "OVS-G005",
            "a blocking fork-join of 8 threads took 34.1 ms: neither polling nor the coarse clock adds to it",
        );
    }

    #[test]
    fn nothing_added_nothing_measured_nothing_sure() {
        let blocked = || Sheet::linux().series(join("blocked", "precise", &[40_200_000; 4]));
        let coarse = blocked().series(join("blocked", "coarse", &[40_200_000; 4]));
        coarse.series(join("polling", "precise", &[40_250_000; 4])).finds_no(
            "OVS-G005",
            "a blocking fork-join of 8 threads took 40.2 ms: neither polling nor the coarse clock adds \
             to it",
        );
        Sheet::linux().lacks("OVS-G005", "D1/blocked/precise was not measured. Run `oversleep check --only D1`");
        blocked().lacks_data("OVS-G005");
        let wild = [40_000_000, 400_000_000, 4_000_000, 900_000_000];
        Sheet::linux().series(join("blocked", "precise", &wild)).is_disturbed("OVS-G005");
    }
}
