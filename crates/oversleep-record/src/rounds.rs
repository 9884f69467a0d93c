//! The rounds of several series together.

use crate::series::{Round, Series};

/// The rounds of several series in the order of time, without overlap. The machine's other activity is counted for the
/// whole machine, so of rounds that overlap only the longest is kept.
pub fn distinct_rounds<'a>(series: impl IntoIterator<Item = &'a Series>) -> Vec<&'a Round> {
    let end = |round: &Round| round.start_ns + round.disturbance.window_ns;
    let mut rounds: Vec<&Round> = series.into_iter().flat_map(|series| &series.rounds).collect();
    rounds.sort_by_key(|round| (round.start_ns, end(round)));
    let mut distinct: Vec<&Round> = Vec::new();
    for round in rounds {
        match distinct.last_mut() {
            Some(last) if round.start_ns < end(last) || round.start_ns == last.start_ns => {
                if round.disturbance.window_ns > last.disturbance.window_ns {
                    *last = round;
                }
            }
            _ => distinct.push(round),
        }
    }
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disturbance::Disturbance;
    use crate::experiment::ExperimentId;
    use crate::series::{Quantity, Unit};
    use crate::units::Nanos;

    #[test]
    fn rounds_that_overlap_count_once_and_the_longest_stands_for_them() {
        let series = |rounds: &[(i64, i64)]| {
            let mut series = Series::new(ExperimentId::C3, "sleep", Quantity::Lateness, Unit::Ns);
            let disturbance = |window| Disturbance { window_ns: Nanos(window), ..Disturbance::default() };
            let round = |&(start, window)| Round {
                start_ns: Nanos(start),
                count: 1,
                median: None,
                p90: None,
                p99: None,
                disturbance: disturbance(window),
            };
            series.rounds = rounds.iter().map(round).collect();
            series
        };
        // Three series of one probe, each stamped a moment after the other, and one that was measured between its rounds.
        let all = [
            series(&[(0, 1_000), (5_000, 1_000)]),
            series(&[(40, 1_000), (5_040, 1_000)]),
            series(&[(90, 1_001), (5_090, 1_000)]),
            series(&[(2_000, 500), (2_500, 500)]),
        ];
        let distinct: Vec<(i64, i64)> =
            distinct_rounds(&all).iter().map(|round| (round.start_ns.0, round.disturbance.window_ns.0)).collect();
        assert_eq!(distinct, [(90, 1_001), (2_000, 500), (2_500, 500), (5_000, 1_000)]);
        assert_eq!(distinct_rounds(&[series(&[(0, 0), (0, 0)])]).len(), 1, "no window at all");
    }
}
