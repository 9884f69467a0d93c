//! A resolution of 0.5 ms, which can be worse than a slightly longer one.

use oversleep_record::finding::Severity;
use oversleep_record::words::percent;
use oversleep_record::{Nanos, Os, Series};

use crate::entry::{Conclusion, Scope};
use crate::figures::{a_wait, requested, values};
use crate::finding::{Check, FindingEntry, Pair, PairCheck};
use crate::read::windows::{half_and_above, in_effect, requested_resolution};
use crate::remedies::windows::{REQUEST_JUST_ABOVE_HALF, USE_HIGH_RESOLUTION_TIMER};

/// A lateness that comes from one more tick rather than from the noise of wake-ups.
const TICK_MIN: Nanos = Nanos(200_000);
/// Where idle states decide, a part of the waits takes the tick. From this difference of the two shares on it is seen.
const SEEN_MIN: f64 = 0.2;
/// Below this one it isn't. Thirty waits don't decide what lies between.
const UNSEEN_MAX: f64 = 0.05;

pub(super) static FINDINGS: &[FindingEntry] = &[FindingEntry {
    id: "OVS-W005",
    name: "half-millisecond",
    summary: "Requesting exactly 0.5 ms can make a 1 ms wait longer than requesting 0.507 ms does.",
    applies_to: "Windows 10 and 11 if 0.5 ms is granted, exactly or rounded down by the timer's hardware",
    scope: Scope::Os(Os::Windows),
    severity: Severity::Note,
    meaning: "A program that waits in a loop makes each call a few microseconds after a tick, so its deadline 1 ms \
              later also lies a few microseconds after a multiple of 0.5 ms. Two ticks of 0.5 ms end just before the \
              deadline, and a wait, which never ends early, takes three. This happens if 0.5 ms is granted exactly, \
              and even more if the timer's hardware makes it 0.4992 ms. Two ticks of 0.507 ms, 1.014 ms in all, end \
              just after the deadline. It does not help that 1 ms is a whole multiple of 0.5 ms.",
    how_we_know: "oversleep measures the plain sleep of 1 ms while this process holds 0.5 ms and 0.507 ms, in alternating \
                  rounds, and counts the sleeps that took one tick more: over 1.2 ms.",
    what_to_do: "Measure a few values around 0.5 ms on the hardware that matters and request the best, or wait on a \
                 high-resolution timer.",
    sources: &["https://github.com/valleyofdoom/PC-Tuning"],
    remedies: &[&REQUEST_JUST_ABOVE_HALF, &USE_HIGH_RESOLUTION_TIMER],
    check: Check::Pair(PairCheck {
        find: |file| half_and_above(file).map(|(half, above)| Pair::new(half, above)),
        enough: |file, pair| {
            Pair::both_sound(file, pair)?;
            match more_ticks(pair) {
                more if (UNSEEN_MAX..SEEN_MIN).contains(&more) => Err(Conclusion::lacks(format!(
                    "the difference is too small for so few waits: {}. Measure for longer with --thorough",
                    both(pair)
                ))),
                _ => Ok(()),
            }
        },
        effect: None,
        differs: |_, pair| more_ticks(pair) >= SEEN_MIN,
        found: |_, pair| {
            let above = above_half(pair);
            Conclusion::found(format!("a timer resolution of 0.5 ms costs one tick more than {above}: {}", both(pair)))
        },
        absent: |_, pair| {
            format!("a timer resolution of 0.5 ms is no worse here than {}: {}", above_half(pair), both(pair))
        },
    }),
}];

fn above_half(pair: &Pair<'_>) -> String {
    format!("0.{} ms", requested_resolution(&pair.better).unwrap_or_default().0 / 1_000)
}

/// The share of the waits that took one tick more.
fn one_more_tick(series: &Series) -> f64 {
    let values = values(series);
    values.count_above(TICK_MIN.0) as f64 / values.count().max(1) as f64
}

/// How much larger that share is with 0.5 ms.
fn more_ticks(pair: &Pair<'_>) -> f64 {
    one_more_tick(&pair.worse) - one_more_tick(&pair.better)
}

/// That share of the calls, in words.
fn calls(share: f64) -> String {
    match share {
        0.0 => "no call".to_owned(),
        1.0 => "every call".to_owned(),
        share => format!("{} of calls", percent(share)),
    }
}

fn both(pair: &Pair<'_>) -> String {
    let in_effect = |series: &Series| in_effect(series).map(|is| format!(" ({is} in effect)")).unwrap_or_default();
    format!(
        "{} took over {} in {} with the first requested{}, and in {} with the second{}",
        a_wait(&pair.worse),
        requested(&pair.worse) + TICK_MIN,
        calls(one_more_tick(&pair.worse)),
        in_effect(&pair.worse),
        calls(one_more_tick(&pair.better)),
        in_effect(&pair.better)
    )
}

#[cfg(test)]
mod tests {
    use oversleep_record::Distribution;
    use oversleep_record::FactName;
    use oversleep_record::conditions::{Outcome, Setting};
    use oversleep_record::finding::{Tried, Verdict};

    use super::*;
    use crate::testing::{Explained, Sheet};

    fn held(half: i64, above: i64) -> Sheet {
        let sheet = Sheet::windows().steady("C2/sleep/1ms/resolution=500us", half);
        sheet.steady("C2/sleep/1ms/resolution=507us", above)
    }

    #[test]
    fn the_finer_request_is_the_worse_one() {
        let sheet = held(496_000, 21_000);
        sheet.finds(
            "OVS-W005",
            "a timer resolution of 0.5 ms costs one tick more than 0.507 ms: a 1 ms sleep took over 1.2 ms in every \
             call with the first requested (500 µs in effect), and in no call with the second (507 µs in effect)",
        );
        let tried = &sheet.finding("OVS-W005").advice[0].tried;
        assert!(matches!(tried, Tried::Measured { before_p50_ns: 496_000, after_p50_ns: 21_000, helped: true, .. }));
    }

    /// Published figures have 1.4968 ms with exactly 0.5 ms in effect, and with 0.4992 ms.
    #[test]
    fn it_needs_no_grid_that_misses_half_a_millisecond() {
        let entry = &FINDINGS[0];
        assert!(!entry.applies_to.contains("does not hold"), "{}", entry.applies_to);
        assert!(entry.meaning.contains("This happens if 0.5 ms is granted exactly"));
    }

    #[test]
    fn requests_that_changed_nothing_are_not_compared() {
        let neighbour = held(15_000, 15_000).span(FactName::TimerPeriodNow, 500_000);
        neighbour.lacks(
            "OVS-W005",
            "another process held 500 µs already, so this process's waits ended on that. Close it and run this again",
        );
        assert_eq!(
            held(496_000, 21_000).span(FactName::TimerPeriodNow, 15_625_000).verdict("OVS-W005"),
            Verdict::Found
        );

        let mut coarse = held(950_000, 950_000);
        for series in &mut coarse.file.series {
            let is = Setting::Nanos(Nanos::from_millis(1));
            series.conditions.outcomes.insert("resolution".into(), Outcome::AlreadySo { is });
        }
        let (verdict, reason) = coarse.says("OVS-W005");
        assert_eq!(verdict, Verdict::NotEnoughData);
        assert!(reason.starts_with("the period was 1 ms with either request"), "{reason}");
    }

    /// 100 waits with either request, of which so many took one more tick.
    fn mixed(half: u64, above: u64) -> Sheet {
        let mut sheet = held(21_000, 21_000);
        for (series, more) in sheet.file.series.iter_mut().zip([half, above]) {
            series.distribution = Distribution::of_counts([(21_000, 100 - more), (460_000, more)]);
        }
        sheet
    }

    /// The medians of two runs of one machine, 57 and 43 of 100 waits, lie on two ticks; the shares don't.
    #[test]
    fn where_a_part_of_the_waits_takes_a_tick_more_the_part_decides() {
        for half in [57, 43] {
            assert_eq!(mixed(half, 10).verdict("OVS-W005"), Verdict::Found, "{half}");
        }
        mixed(43, 10).finds(
            "OVS-W005",
            "a timer resolution of 0.5 ms costs one tick more than 0.507 ms: a 1 ms sleep took over 1.2 ms in 43 % of \
             calls with the first requested (500 µs in effect), and in 10 % of calls with the second (507 µs in effect)",
        );
        let (verdict, reason) = mixed(25, 10).says("OVS-W005");
        assert_eq!(verdict, Verdict::NotEnoughData);
        assert!(reason.starts_with("the difference is too small for so few waits"), "{reason}");
        assert_eq!(mixed(12, 10).verdict("OVS-W005"), Verdict::NotFound);
    }

    #[test]
    fn no_worse_not_measured_or_disturbed() {
        held(15_000, 21_000).finds_no(
            "OVS-W005",
            "a timer resolution of 0.5 ms is no worse here than 0.507 ms: a 1 ms sleep took over 1.2 ms in no call with \
             the first requested (500 µs in effect), and in no call with the second (507 µs in effect)",
        );
        Sheet::windows().steady("C2/sleep/1ms/resolution=500us", 15_000).lacks_data("OVS-W005");
        let wild = Sheet::windows().wild("C2/sleep/1ms/resolution=500us", 496_000);
        wild.steady("C2/sleep/1ms/resolution=507us", 21_000).is_disturbed("OVS-W005");
    }
}
