//! The reliability of a result, in figures.

use oversleep_record::distinct_rounds;
use oversleep_record::file::Completion;
use oversleep_record::shared::{LeftOut, Reliability, Shared};
use oversleep_record::stats::{Steadiness, steadiness};
use oversleep_record::{Depth, Disturbance, Nanos, ResultFile, Series};

/// The share of series whose rounds may disagree in a good result, in thousandths. Some always do, such as series of
/// spans below the step of a clock.
const UNSTEADY_MAX_PERMILLE: u64 = 50;
/// The share beyond which nothing is reliable.
const UNSTEADY_POOR_PERMILLE: u64 = 250;
/// The share of a CPU that other processes may take in a good result.
const TAKEN_MAX_PERMILLE: u64 = 50;
/// The share beyond which nothing is reliable.
const TAKEN_POOR_PERMILLE: u64 = 500;

/// The note for a result, without what was left out.
pub(super) fn of(file: &ResultFile) -> Shared {
    let series: Vec<&Series> = file.series.iter().filter(|series| series.has_values()).collect();
    let count = |fits: fn(Steadiness) -> bool| series.iter().filter(|series| fits(steadiness(series))).count() as u64;
    let mut rounds: Vec<i64> = series.iter().map(|series| series.rounds.len() as i64).collect();
    // Under oversleep's own load the CPUs are intentionally busy.
    let unloaded = series.iter().copied().filter(|series| series.conditions.load.is_empty());
    let seen =
        distinct_rounds(unloaded).into_iter().fold(Disturbance::default(), |sum, round| sum.merged(&round.disturbance));
    let permille = |part: Option<Nanos>| seen.share(part).map(|share| (share * 1_000.0).round().max(0.0) as u64);
    let mut shared = Shared {
        reliability: Reliability::Poor,
        series: series.len() as u64,
        scarce: count(|steady| steady == Steadiness::TooFew),
        unsteady: count(|steady| matches!(steady, Steadiness::Disturbed(_))),
        rounds_median: oversleep_record::stats::median(&mut rounds).unwrap_or(0).unsigned_abs(),
        measured_ns: seen.window_ns,
        steal_permille: permille(seen.steal_ns),
        other_cpu_permille: seen.other_cpu_share().and_then(|_| permille(seen.other_cpu_ns)),
        throttled_permille: permille(seen.throttled_ns),
        left_out: LeftOut::default(),
    };
    shared.reliability = judged(file, &shared);
    shared
}

fn judged(file: &ResultFile, shared: &Shared) -> Reliability {
    let share = |part: u64| part * 1_000 / shared.series.max(1);
    let taken = [shared.steal_permille, shared.other_cpu_permille, shared.throttled_permille];
    let taken = taken.into_iter().flatten().max().unwrap_or(0);
    let is_short = file.depth == Some(Depth::Quick) || file.completion == Completion::Interrupted;
    let has_little = share(shared.scarce) > 500 || shared.rounds_median < 3;
    if shared.series == 0 || share(shared.unsteady) > UNSTEADY_POOR_PERMILLE || taken > TAKEN_POOR_PERMILLE {
        Reliability::Poor
    } else if is_short || has_little || share(shared.unsteady) > UNSTEADY_MAX_PERMILLE || taken > TAKEN_MAX_PERMILLE {
        Reliability::Limited
    } else {
        Reliability::Good
    }
}
