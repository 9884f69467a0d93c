//! A second clock beside the one that takes timestamps: the library's own. It is based on the processor's counter if
//! that is valid, and is steered to the system's clock. Comparing both at the beginning and at the end of a run shows
//! how closely they agreed.

use oversleep_record::Nanos;
use oversleep_record::file::CrossCheck;

use super::Bench;

/// The library's clock with ordered reads.
const NAME: &str = "oversleep-ordered";
/// Its unit.
const FREQUENCY_HZ: u64 = 1_000_000_000;
/// How many readings to take; the tightest one is kept.
const READINGS: usize = 32;

/// A comparison in progress.
pub struct Watch {
    first: Reading,
}

/// One reading of the library's clock between two timestamps.
#[derive(Clone, Copy)]
struct Reading {
    stamp: Nanos,
    ahead: Nanos,
    within: Nanos,
}

impl Watch {
    /// Begins a comparison; `None` if there is no such clock, or if it takes the timestamps itself.
    pub fn begin(bench: &Bench) -> Option<Watch> {
        Reading::take(bench).map(|first| Watch { first })
    }

    /// The result of the comparison.
    pub fn end(self, bench: &Bench) -> Option<CrossCheck> {
        let last = Reading::take(bench)?;
        Some(CrossCheck {
            clock: NAME.to_owned(),
            difference_ns: last.ahead - self.first.ahead,
            uncertainty_ns: last.within + self.first.within,
            window_ns: last.stamp - self.first.stamp,
        })
    }
}

impl Reading {
    fn take(bench: &Bench) -> Option<Reading> {
        let clock = bench.platform().clock(NAME).filter(|clock| {
            !bench.clock_name().starts_with("oversleep")
                && clock.available().is_ok()
                && clock.stated_frequency_hz() == Some(FREQUENCY_HZ)
        })?;
        // The clock may be up to a step ahead of its timestamp.
        let step =
            bench.platform().clock(bench.clock_name()).and_then(|clock| clock.stated_step_ns()).unwrap_or_default();
        let readings = (0..READINGS).map(|_| {
            let before = bench.stamp();
            let there = Nanos(clock.read() as i64);
            let after = bench.stamp();
            let half = Nanos((after - before).0 / 2);
            Reading { stamp: before, ahead: there - (before + half), within: half + step }
        });
        // A clock that was set back meanwhile gives a negative width, which is useless.
        readings
            .filter(|reading| reading.within >= step && reading.within > Nanos::ZERO)
            .min_by_key(|reading| reading.within)
    }
}

#[cfg(test)]
mod tests {
    use oversleep_model::sim::Sim;
    use oversleep_system::SharedPlatform;

    use super::super::{StopFlag, testing};
    use super::*;

    #[test]
    fn without_the_library_s_clock_there_is_no_witness() {
        let platform: SharedPlatform = Sim::start(testing::machine().build());
        let bench = Bench::new(platform, StopFlag::new(), None).unwrap();
        assert!(Watch::begin(&bench).is_none());
    }

    #[test]
    fn a_clock_is_not_its_own_witness() {
        let bench = Bench::new(oversleep_native::here(), StopFlag::new(), Some("oversleep-ordered")).unwrap();
        assert!(Watch::begin(&bench).is_none());
    }

    #[test]
    fn what_moved_is_the_difference_of_the_two_comparisons() {
        let bench = Bench::new(oversleep_native::here(), StopFlag::new(), None).unwrap();
        let mut watch = Watch::begin(&bench).expect("the library's clock is on every platform");
        // As if the stamping clock had been set forward by 1 s since then.
        watch.first.ahead += Nanos::from_secs(1);
        let witness = watch.end(&bench).expect("it was there before");
        // Apart from what isn't certain, the clocks differ by tens of milliseconds at most, if one is slewed.
        let uncertain = witness.uncertainty_ns + Nanos::from_millis(100);
        assert!((witness.difference_ns + Nanos::from_secs(1)).0.abs() <= uncertain.0, "{witness:?}");
        assert!(witness.window_ns >= Nanos::ZERO && witness.uncertainty_ns > Nanos::ZERO, "{witness:?}");
    }
}
