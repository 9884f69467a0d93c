//! What a read of a clock costs now.

use oversleep_system::Platform;

/// Batches of which the shortest counts: interruptions only add.
const BATCHES: u32 = 32;
/// Reads of a batch. All of them take 40 µs at 40 ns each.
const READS: u64 = 32;

/// The cost of each of these clocks in ns: that of the shortest batch. A clock that isn't here has none.
pub fn read_costs(platform: &dyn Platform, clocks: &[&'static str]) -> Vec<(&'static str, f64)> {
    let cost = |name: &'static str| {
        let clock = platform.clock(name)?;
        let timed = (0..BATCHES).map(|_| {
            let before = platform.now();
            clock.read_batch(READS);
            platform.now() - before
        });
        // On a clock of ticks most batches take no time at all, which isn't their cost.
        let shortest = timed.min().filter(|time| time.0 > 0)?;
        Some((name, shortest.0 as f64 / READS as f64))
    };
    clocks.iter().filter_map(|name| cost(name)).collect()
}

#[cfg(test)]
mod tests {
    use oversleep_model::sim::Sim;
    use oversleep_model::testing::machine;
    use oversleep_system::SharedPlatform;

    use super::*;

    #[test]
    fn a_modelled_clock_costs_what_its_machine_says_and_one_that_is_not_there_nothing() {
        let platform: SharedPlatform = Sim::start(machine().build());
        let costs = read_costs(&*platform, &["monotonic", "no-such-clock"]);
        assert_eq!(costs.len(), 1, "{costs:?}");
        let stated = platform.clock("monotonic").map(|clock| {
            let before = platform.now();
            clock.read_batch(1_000);
            (platform.now() - before).0 as f64 / 1_000.0
        });
        assert!((costs[0].1 - stated.unwrap()).abs() < 2.0, "{costs:?} {stated:?}");
    }
}
