//! Whether a series supports a conclusion: enough values, rounds that agree, a machine that was quiet enough.

use oversleep_record::comparison::Interval;
use oversleep_record::disturbance::Disturbance;
use oversleep_record::series::{Quantity, Status, Unit};
use oversleep_record::stats::{ROUNDS_MIN, Steadiness, VALUES_MIN, steadiness};
use oversleep_record::words::{counted, percent};
use oversleep_record::{ExperimentId, Nanos, ResultFile, Series, quantile_interval};

use crate::entry::{Checked, Conclusion};
use crate::figures::{interference, median_of, observed, per_value, value_text, values};

/// The fewest batches for a cost. A batch averages thousands of calls, so fewer are needed than of single waits.
const BATCHES_MIN: u64 = 10;

/// The fewest values for a median whose 99 % interval is at most an eighth of it.
const ALIKE_MIN: u64 = 8;

/// Returns the series if it supports a conclusion: it exists, has enough values, and its rounds agree.
pub(crate) fn sound(series: &Series) -> Checked<&Series> {
    sound_from(series, VALUES_MIN)
}

/// Returns the series if it supports a conclusion about its median, and about nothing that is rarer.
pub(crate) fn sound_median(series: &Series) -> Checked<&Series> {
    let of = values(series);
    let is_known = |(p50, within): (i64, Interval)| within.high.saturating_sub(within.low) <= p50 / 8;
    let is_alike = of.p50().zip(quantile_interval::of_quantile(of, 0.5, 0)).is_some_and(is_known);
    sound_from(series, if is_alike { ALIKE_MIN } else { VALUES_MIN })
}

fn sound_from(series: &Series, values_min: u64) -> Checked<&Series> {
    let key = &series.key;
    if let Status::Unavailable { reason } = &series.status {
        return Err(Conclusion::lacks(format!("{key} is not available: {reason}")));
    }
    let count = values(series).count();
    let is_batched = series.quantity == Quantity::Cost && series.unit == Unit::Ps;
    let needed = if is_batched { BATCHES_MIN } else { values_min };
    if count < needed {
        let cut = if series.status == Status::Partial { ", because it was stopped early," } else { "" };
        return Err(Conclusion::lacks(format!(
            "{key} has {}{cut} and a conclusion needs {needed}. Use --thorough or --count",
            counted(count, "value")
        )));
    }
    let rounds = series.rounds.iter().filter(|round| round.median.is_some()).count();
    match steadiness(series) {
        Steadiness::Disturbed(spread) => {
            let refusal = Conclusion::disturbed(format!(
                "the rounds of {key} disagree (their medians spread by {} around {}), so something else was using the \
                 machine. Close other programs or use --thorough",
                percent(spread),
                value_text(series, median_of(series))
            ));
            Err(refusal.rests_on(key, format!("the round medians spread by {}", percent(spread))))
        }
        Steadiness::TooFew if !is_batched && rounds < ROUNDS_MIN => Err(Conclusion::lacks(format!(
            "{key} was measured in {} and a conclusion needs {ROUNDS_MIN} that agree. Use --thorough",
            counted(rounds as u64, "round")
        ))),
        _ => Ok(series),
    }
}

/// What is said of rounds that disagree.
const BY_OTHERS: &str = ", so something else was using the machine. Close other programs or use --thorough";
/// What is said instead where nothing else runs, or was seen.
pub(crate) const BY_CHANCE: &str = "which is chance in the model";
pub(crate) const BY_THE_LOAD: &str = "so the requested load was using the machine";
pub(crate) const UNSEEN: &str = "though hardly anything else was seen using the machine";
/// Less CPU time of other programs than this share of one CPU disturbs nothing.
const HARDLY: f64 = 0.02;

/// A reason that blames other programs only if there were any.
pub(super) fn without_others(file: &ResultFile, reason: &str) -> String {
    let has_load = || file.experiment(ExperimentId::B5).any(|series| !series.conditions.load.is_empty());
    let share = |counter: fn(&Disturbance) -> Option<Nanos>| {
        observed(&file.series, counter).map(|(used, window)| used.0 as f64 / window.0.max(1) as f64)
    };
    let is_alone = || {
        share(|meanwhile| meanwhile.other_cpu_ns).is_some_and(|used| used < HARDLY)
            && share(|meanwhile| meanwhile.steal_ns).is_none_or(|stolen| stolen < HARDLY)
    };
    let why = match file.platform.modelled {
        Some(_) if has_load() => BY_THE_LOAD,
        Some(_) => BY_CHANCE,
        None if is_alone() => UNSEEN,
        None => return reason.to_owned(),
    };
    reason.replace(BY_OTHERS, &format!(", {why}. Use --thorough"))
}

/// Whether a series supports a conclusion.
pub(crate) fn is_sound(series: &Series) -> bool {
    sound(series).is_ok()
}

/// Refuses a conclusion about an effect of that size per wait if interference takes as much from each wait: steal, and
/// waiting for a CPU.
pub(crate) fn quiet_enough(file: &ResultFile, series: &Series, effect: Nanos) -> Checked<()> {
    // The thread's own run delay is exact. Pressure is that of any task, and is used if the delay is not recorded.
    let delay = per_value(series, |meanwhile| meanwhile.run_delay_ns).map(|each| ("waiting for a CPU", each));
    let pressure = || per_value(series, |meanwhile| meanwhile.cpu_pressure_ns).map(|each| ("CPU pressure (PSI)", each));
    let Some((what, share)) = interference(file, series, effect, delay.or_else(pressure)) else { return Ok(()) };
    let refusal = Conclusion::disturbed(format!(
        "{what} took {share} of each wait of {}, too much to see an effect of {effect}. Run this again on a quieter machine",
        series.key
    ));
    Err(refusal.rests_on(&series.key, format!("{what}: {share} per wait")))
}

/// Whether nothing else on the machine decided the figures of a series: its rounds agree, and interference took less from
/// each wait than would change its median.
pub fn is_undisturbed(file: &ResultFile, series: &Series) -> bool {
    let is_steady = !matches!(steadiness(series), Steadiness::Disturbed(_));
    is_steady && quiet_enough(file, series, Nanos(median_of(series))).is_ok()
}

#[cfg(test)]
mod tests {
    use oversleep_record::FactName;

    use super::*;
    use crate::testing::{Sheet, rounds};

    fn reason(refused: Checked<impl std::fmt::Debug>) -> String {
        refused.expect_err("it is refused").sentence
    }

    #[test]
    fn refuses_series_that_carry_no_conclusion() {
        let of = |values: &[i64], count| rounds("B5/nanosleep/1ms", values, count);
        assert_eq!(
            reason(sound(&of(&[66_000, 66_000, 66_000], 9))),
            "B5/nanosleep/1ms has 27 values and a conclusion needs 30. Use --thorough or --count"
        );
        assert_eq!(
            reason(sound(&of(&[66_000], 40))),
            "B5/nanosleep/1ms was measured in 1 round and a conclusion needs 3 that agree. Use --thorough"
        );
        let wild = of(&[66_000, 400_000, 9_000, 900_000], 20);
        assert!(reason(sound(&wild)).starts_with("the rounds of B5/nanosleep/1ms disagree (their medians spread by "));
        assert!(is_sound(&of(&[66_000; 4], 20)));
        assert!(is_sound(&of(&[66_000; 3], 10)), "30 values are enough");
    }

    #[test]
    fn other_programs_are_blamed_only_if_there_were_any() {
        let wild = |change: &dyn Fn(&mut ResultFile)| {
            let mut file = Sheet::linux().wild("B5/nanosleep/1ms", 66_000).file;
            change(&mut file);
            let refused = reason(sound(&file.series[0]));
            without_others(&file, &refused)
        };
        let used = |file: &mut ResultFile, ns| {
            for round in &mut file.series[0].rounds {
                round.disturbance.window_ns = Nanos(20_000_000);
                round.disturbance.other_cpu_ns = Some(Nanos(ns));
            }
        };
        assert!(wild(&|_| ()).ends_with(BY_OTHERS), "nobody counted");
        assert!(wild(&|file| used(file, 9_000_000)).ends_with(BY_OTHERS));
        assert!(
            wild(&|file| used(file, 9_000))
                .ends_with(", though hardly anything else was seen using the machine. Use --thorough")
        );
        let modelled = |file: &mut ResultFile| file.platform.modelled = Some("macos-intel".to_owned());
        assert!(wild(&modelled).ends_with(", which is chance in the model. Use --thorough"));
        assert!(
            wild(&|file| {
                modelled(file);
                file.series[0].conditions = file.series[0].conditions.clone().with_load("spin", 8);
            })
            .ends_with(", so the requested load was using the machine. Use --thorough")
        );
    }

    #[test]
    fn interference_as_large_as_the_effect_forbids_the_conclusion() {
        let file = Sheet::linux().integer(FactName::CpuCount, 2).file;
        let mut series = rounds("B5/nanosleep/1ms", &[66_000; 4], 20);
        assert!(quiet_enough(&file, &series, Nanos(50_000)).is_ok());
        for round in &mut series.rounds {
            round.disturbance.window_ns = Nanos(20_000_000);
            round.disturbance.steal_ns = Some(Nanos(1_200_000));
        }
        // 1.2 ms on two CPUs over 20 waits: 30 µs each.
        assert_eq!(
            reason(quiet_enough(&file, &series, Nanos(50_000))),
            "the hypervisor (steal) took 30 µs of each wait of B5/nanosleep/1ms, too much to see an effect of 50 µs. Run \
             this again on a quieter machine"
        );
        assert!(quiet_enough(&file, &series, Nanos(500_000)).is_ok());
        for round in &mut series.rounds[1..] {
            round.disturbance.steal_ns = Some(Nanos::ZERO);
        }
        assert!(quiet_enough(&file, &series, Nanos(50_000)).is_ok(), "one stalled round of four");
    }
}
