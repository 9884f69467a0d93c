//! The figures of a series for sentences. This module only reads series; `read` decides whether they support a
//! conclusion.

use oversleep_record::distinct_rounds;
use oversleep_record::disturbance::Disturbance;
use oversleep_record::label::{self, ClockRole};
use oversleep_record::series::Quantity;
use oversleep_record::stats::{median, share_of_rounds_lower};
use oversleep_record::words::{self, counted, list};
use oversleep_record::{Distribution, FactName, Nanos, ResultFile, Series, TwoPeaks};

/// Share of the pairs of rounds that must agree before a remedy is said to help.
const ROUNDS_AGREE_MIN: f64 = 0.75;
/// With too few rounds, this share of the values on each side may overlap.
const APART_TAIL: f64 = 0.1;
/// The fewest values on each side that can lie apart: by chance, so many do so less than once in 10,000 times.
const APART_VALUES_MIN: u64 = 8;
/// Smallest gain that counts, as a share of the lateness without it.
const GAIN_SHARE_MIN: f64 = 0.1;
/// If interference takes this share of an effect from each value, it may be the cause of the effect.
const INTERFERENCE_MAX: f64 = 0.5;
/// Smallest gain that counts.
const GAIN_MIN: Nanos = Nanos(1_000);

/// The values behind a sentence about a wait: those of its calls. A deadline that had passed before the call could be
/// made shows how late the schedule was, and nothing about the call.
pub(crate) fn values(series: &Series) -> &Distribution {
    match series.quantity {
        Quantity::Lateness => series.calls(),
        _ => &series.distribution,
    }
}

/// The median of a series that has values.
pub(crate) fn median_of(series: &Series) -> i64 {
    values(series).p50().unwrap_or_default()
}

/// The median of a series in ns.
pub(crate) fn p50(series: &Series) -> Nanos {
    Nanos(median_of(series))
}

/// The request of a wait; zero if there is none.
pub(crate) fn requested(series: &Series) -> Nanos {
    series.requested_ns.unwrap_or_default()
}

/// The median duration of a wait: its request plus its lateness.
pub(crate) fn duration(series: &Series) -> Nanos {
    requested(series) + p50(series)
}

/// A wait with its request: `a 1 ms nanosleep`, `an 8 ms poll`.
pub(crate) fn a_wait(series: &Series) -> String {
    let request = requested(series).to_string();
    let number: String = request.chars().take_while(char::is_ascii_digit).collect();
    let article = if number.starts_with('8') || number == "11" || number == "18" { "an" } else { "a" };
    format!("{article} {request} {}", series.subject)
}

/// A value in the unit of its series.
pub(crate) fn value_text(series: &Series, value: i64) -> String {
    words::value(series.unit, value)
}

/// `p50 66.1 µs, p99 115 µs (2000 values)`, with p99 only if enough values lie beyond it. For a wait that missed
/// deadlines the figures are those of its calls, followed by those of all deadlines.
pub(crate) fn summary(series: &Series) -> String {
    let figures = |distribution: &Distribution| {
        let tail = match distribution.safe_quantile(0.99) {
            Some(p99) => format!(", p99 {}", value_text(series, p99)),
            None => String::new(),
        };
        format!("p50 {}{tail}", value_text(series, distribution.p50().unwrap_or_default()))
    };
    let (used, all) = (values(series), &series.distribution);
    let peaks = peaks_in_words(series).map(|peaks| format!("; two peaks: {peaks}")).unwrap_or_default();
    match all.count().saturating_sub(used.count()) {
        0 => format!("{} ({}{peaks})", figures(used), counted(used.count(), "value")),
        missed => format!(
            "{} ({}{peaks}; with {} missed {})",
            figures(used),
            counted(used.count(), "call"),
            counted(missed, "deadline"),
            figures(all)
        ),
    }
}

/// The two peaks that a series' median hides; for a wait, those of its duration. Not for a coarse clock, which shows
/// its own steps, and whose sentences mention them anyway.
fn peaks_in_words(series: &Series) -> Option<String> {
    let is_of_coarse_clock =
        series.quantity == Quantity::Step || series.label(label::CLOCK_ROLE) == Some(ClockRole::Coarse);
    let peaks = TwoPeaks::of(values(series)).filter(|_| !is_of_coarse_clock)?;
    let is_wait = series.quantity == Quantity::Lateness;
    let requested = series.requested_ns.filter(|_| is_wait).unwrap_or_default();
    let what = if is_wait && requested > Nanos::ZERO { "durations, " } else { "" };
    Some(format!("{what}{}", peaks.words(series.unit, requested.0)))
}

/// The peaks of a series in words, with the name of the subject.
pub(crate) fn hidden_peaks(series: &Series) -> Option<String> {
    Some(format!("{}: {}", series.subject, peaks_in_words(series)?))
}

/// Pools several series of one rule, for requests so long that each alone has too few values.
pub(crate) fn pooled(name: &str, members: &[&Series]) -> Option<Series> {
    let first = members.first()?;
    let mut pool = Series::new(first.experiment, name, first.quantity, first.unit);
    pool.key = list(&members.iter().map(|series| series.key.as_str()).collect::<Vec<_>>()).into();
    pool.requested_ns = first.requested_ns;
    pool.conditions = first.conditions.clone();
    for member in members {
        pool.distribution.merge(values(member));
    }
    pool.counts.recorded = pool.distribution.count();
    pool.rounds = members.iter().flat_map(|series| series.rounds.iter().cloned()).collect();
    Some(pool)
}

/// Whether a median fell by enough to matter, whatever the rounds say.
pub fn is_gain(before_p50: i64, after_p50: i64) -> bool {
    let gain = before_p50.saturating_sub(after_p50);
    gain >= GAIN_MIN.0 && gain as f64 >= before_p50.unsigned_abs() as f64 * GAIN_SHARE_MIN
}

/// Whether the lateness fell by enough to matter, and did so in most rounds. With too few rounds, as in a quick run, the
/// values themselves must lie apart.
pub(crate) fn helped(before: &Series, after: &Series) -> bool {
    let agrees = || match share_of_rounds_lower(before, after) {
        Some(share) => share >= ROUNDS_AGREE_MIN,
        None => lie_apart(values(before), values(after)),
    };
    is_gain(median_of(before), median_of(after)) && agrees()
}

/// Whether nearly all values with a remedy are below nearly all without it.
fn lie_apart(before: &Distribution, after: &Distribution) -> bool {
    let ends = after.quantile(1.0 - APART_TAIL).zip(before.quantile(APART_TAIL));
    before.count().min(after.count()) >= APART_VALUES_MIN && ends.is_some_and(|(after, before)| after < before)
}

/// The sum of one counter over the windows that could see it, and those windows' length; `None` if none could.
pub(crate) fn observed<'a>(
    series: impl IntoIterator<Item = &'a Series>,
    counter: impl Fn(&Disturbance) -> Option<Nanos>,
) -> Option<(Nanos, Nanos)> {
    let seen: Vec<(Nanos, Nanos)> = distinct_rounds(series)
        .into_iter()
        .filter_map(|round| Some((counter(&round.disturbance)?, round.disturbance.window_ns)))
        .filter(|&(_, window)| window > Nanos::ZERO)
        .collect();
    (!seen.is_empty()).then(|| (seen.iter().map(|pair| pair.0).sum(), seen.iter().map(|pair| pair.1).sum()))
}

/// A figure of the median round, from the machine's other activity and the number of values; `None` if a round could
/// not observe it. The median round is used, so that a stall in a single round doesn't decide.
pub(crate) fn in_median_round(series: &Series, figure: impl Fn(&Disturbance, u64) -> Option<i64>) -> Option<i64> {
    let rounds = series.rounds.iter().filter(|round| round.count > 0);
    median(&mut rounds.map(|round| figure(&round.disturbance, round.count)).collect::<Option<Vec<i64>>>()?)
}

/// A counter of the machine divided by the number of values, in the median round.
pub(crate) fn per_value(series: &Series, counter: fn(&Disturbance) -> Option<Nanos>) -> Option<Nanos> {
    let share = |meanwhile: &Disturbance, count| Some(counter(meanwhile)?.0 / i64::try_from(count).unwrap_or(i64::MAX));
    in_median_round(series, share).map(Nanos)
}

/// The interference that took enough time from each value to be the cause of an effect of that size: waiting for a CPU,
/// if the caller provides it, or the hypervisor.
pub(crate) fn interference(
    file: &ResultFile,
    series: &Series,
    effect: Nanos,
    waiting: Option<(&'static str, Nanos)>,
) -> Option<(&'static str, Nanos)> {
    let steal = per_value(series, |meanwhile| meanwhile.steal_ns).map(|all| Nanos(all.0 / cpus(file).unwrap_or(1)));
    let enough = effect.0.unsigned_abs() as f64 * INTERFERENCE_MAX;
    let found = [waiting, steal.map(|each| ("the hypervisor (steal)", each))].into_iter().flatten();
    found.into_iter().find(|(_, each)| *each > Nanos::ZERO && each.0 as f64 >= enough)
}

/// The machine's number of CPUs, if it is known and plausible.
pub(crate) fn cpus(file: &ResultFile) -> Option<i64> {
    file.environment.integer(FactName::CpuCount).filter(|&cpus| cpus > 0)
}

#[cfg(test)]
mod tests {
    use oversleep_record::testing::rounds;

    use super::*;
    use crate::entry::Conclusion;

    #[test]
    fn a_sentence_about_a_wait_rests_on_its_calls() {
        let mut series = rounds("B5/poll/300us", &[760_000; 4], 20);
        series.calls_only = Some(series.distribution.clone());
        (0..160).for_each(|_| series.distribution.record(160_000));
        assert_eq!(p50(&series).round_down_to(Nanos(1_000)), Nanos(760_000));
        assert_eq!(summary(&series), "p50 760 µs (80 calls; with 160 deadlines missed p50 160 µs)");
        let mut step = rounds("B3/monotonic-coarse", &[4_000_000; 4], 20);
        step.calls_only = Some(Distribution::new());
        assert_eq!(summary(&step), "p50 4 ms (80 values)", "only waits miss deadlines");
    }

    #[test]
    fn a_median_between_two_peaks_is_not_told_alone() {
        let mut series = rounds("B5/sleep/1ms", &[10_000; 4], 20);
        (0..160).for_each(|_| series.distribution.record(1_000_000));
        let peaks = "durations, 33 % near 1.01 ms, 67 % near 2 ms";
        assert_eq!(summary(&series), format!("p50 1 ms (240 values; two peaks: {peaks})"));
        assert_eq!(hidden_peaks(&series), Some(format!("sleep: {peaks}")));
        let found = Conclusion::found("sleep was 1 ms late").rests_on_series([&series, &series]);
        assert_eq!(found.whole_sentence(), format!("sleep was 1 ms late (two peaks, sleep: {peaks})"));
        assert_eq!(Conclusion::lacks("too few").rests_on_series([&series]).whole_sentence(), "too few");
        let calls = series.distribution.clone();
        series.calls_only = Some(calls);
        series.distribution.record(160_000);
        let with_missed = format!("p50 1 ms (240 calls; two peaks: {peaks}; with 1 deadline missed p50 1 ms)");
        assert_eq!(summary(&series), with_missed, "a sentence names the peaks of the calls, too");
        series.labels.set(label::CLOCK_ROLE, ClockRole::Coarse);
        assert_eq!(hidden_peaks(&series), None, "a coarse clock shows its steps");
    }

    #[test]
    fn requests_are_read_aloud() {
        let read = |key: &str| a_wait(&rounds(key, &[1; 4], 20));
        assert_eq!(
            ["1ms", "8ms", "11ms", "110us", "18us"].map(|request| read(&format!("B5/poll/{request}"))),
            ["a 1 ms poll", "an 8 ms poll", "an 11 ms poll", "a 110 µs poll", "an 18 µs poll"]
        );
    }

    #[test]
    fn a_small_or_inconsistent_gain_is_no_help() {
        let steady = rounds("B5/nanosleep/1ms", &[66_000; 4], 20);
        assert!(!helped(&steady, &rounds("B5/nanosleep/1ms", &[65_200; 4], 20)), "under a microsecond");
        assert!(!helped(&steady, &rounds("B5/nanosleep/1ms", &[62_000; 4], 20)), "under a tenth");
        let in_rounds = |values: &[i64]| helped(&steady, &rounds("B5/nanosleep/1ms", values, 20));
        assert!(!in_rounds(&[20_000, 20_000, 70_000, 70_000]), "half the rounds");
        assert!(in_rounds(&[20_000, 20_000, 20_000, 70_000]));
    }
}
