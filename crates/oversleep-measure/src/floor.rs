//! The floor of a run: the cost of a timestamp, and the smallest difference that it can show.

use oversleep_record::file::Floor;
use oversleep_record::{Nanos, stats};

use super::Bench;
use super::still::{Reads, StillClock};

/// Measures the cost of a timestamp and the smallest difference that it can show.
pub fn floor(bench: &Bench) -> Floor {
    const BATCHES: usize = 15;
    const READS: i64 = 200;
    let mut costs = [0; BATCHES];
    let mut smallest = Nanos::MAX;
    let begun = bench.platform().now();
    for cost in &mut costs {
        // Timed by the reference clock, because a coarse clock can't time its own reads.
        let begun = bench.platform().now();
        let mut previous = bench.stamp();
        for _ in 1..READS {
            let stamp = bench.stamp();
            if stamp > previous {
                smallest = smallest.min(stamp - previous);
            }
            previous = stamp;
        }
        *cost = (bench.platform().now() - begun).0 * 1_000 / READS;
    }
    let duration = bench.platform().now() - begun;
    let mut read_cost_ps = stats::median(&mut costs).unwrap_or(0);
    // A clock that didn't move meanwhile has the step that it states, or one longer than all of this took.
    let stated = || bench.platform().clock(bench.clock_name()).and_then(|clock| clock.stated_step_ns());
    let mut step_ns = if smallest < Nanos::MAX { smallest } else { stated().unwrap_or(duration) };
    // The reference clock is too coarse to time its own reads, so they are counted from one tick to the next.
    if (read_cost_ps <= 0 || step_ns <= Nanos::ZERO)
        && let Some((step, reads)) = reads_in_a_tick(bench)
    {
        read_cost_ps = step.0.saturating_mul(1_000) / i64::try_from(reads).unwrap_or(i64::MAX);
        step_ns = step_ns.max(step);
    }
    Floor { clock: bench.clock_name().to_owned(), read_cost_ps, step_ns, chosen: None, cross_check: None }
}

/// How far the reference clock moves at its next tick, and how often it can be read before that. Gives up the run if
/// the clock doesn't move.
fn reads_in_a_tick(bench: &Bench) -> Option<(Nanos, u64)> {
    let mut still = StillClock::default();
    let mut next_tick = || {
        let (begun, mut reads) = (bench.platform().now(), 0_u64);
        loop {
            let now = bench.platform().now();
            reads += 1;
            bench.note(&mut still, now, Reads::ONE);
            if now > begun {
                return Some((now - begun, reads));
            }
            if bench.stopped() {
                return None;
            }
        }
    };
    next_tick()?;
    next_tick()
}

#[cfg(test)]
mod tests {
    use oversleep_model::sim::Sim;
    use oversleep_system::SharedPlatform;

    use super::super::{StopFlag, testing};
    use super::*;

    #[test]
    fn the_floor_of_a_coarse_clock_is_its_step() {
        let machine = testing::machine().build();
        let platform: SharedPlatform = Sim::start(machine);
        let bench = |clock| Bench::new(platform.clone(), StopFlag::new(), clock).unwrap();
        assert_eq!(floor(&bench(None)).step_ns, Nanos(20));
        let coarse = floor(&bench(Some("monotonic-coarse")));
        assert_eq!(coarse.step_ns, Nanos::from_millis(4));
        assert!((45_000..60_000).contains(&coarse.read_cost_ps), "{coarse:?}");
    }
}
