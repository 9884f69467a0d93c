//! The environment of an experiment: its platform, its clock, the run's origin and the flags that end it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use oversleep_record::clock::Counts;
use oversleep_record::{Nanos, Unavailable};
use oversleep_system::{Family, Platform, SharedPlatform, Target, Waiter};

use super::clock_scale::ClockScale;
use super::composed_waits;
use super::still::{Reads, StillClock};
use super::stop::StopFlag;

/// The clock that takes timestamps.
#[derive(Clone)]
enum Stamps {
    /// The platform's reference clock.
    Reference,
    /// Another clock of the platform.
    Named { index: usize, scale: ClockScale, first_raw: u64, last: Arc<AtomicU64> },
}

/// The environment of an experiment.
#[derive(Clone)]
pub struct Bench {
    platform: SharedPlatform,
    stop: StopFlag,
    stamps: Stamps,
    clock_name: String,
    origin: Nanos,
    fault: Arc<OnceLock<Unavailable>>,
    /// Raised to end the round in progress.
    round_over: StopFlag,
}

impl Bench {
    /// A bench that takes timestamps with the clock of that name, or with the reference clock.
    ///
    /// # Errors
    /// Why that clock can't be used here.
    pub fn new(platform: SharedPlatform, stop: StopFlag, clock: Option<&str>) -> Result<Bench, Unavailable> {
        let reference = platform.reference_clock();
        let (stamps, clock_name) = match clock.filter(|&name| name != reference) {
            None => (Stamps::Reference, reference.to_owned()),
            Some(name) => {
                let index = platform
                    .clocks()
                    .iter()
                    .position(|clock| clock.info().name == name)
                    .ok_or(Unavailable::NotOnThisPlatform)?;
                let clock = &platform.clocks()[index];
                clock.available()?;
                if matches!(clock.info().counts, Counts::ProcessCpuTime | Counts::ThreadCpuTime) {
                    return Err(Unavailable::failed(
                        "stamping",
                        "it counts CPU time, which stands still during a wait",
                    ));
                }
                let scale = ClockScale::of(&*platform, clock.as_ref())?;
                let first_raw = clock.read();
                (Stamps::Named { index, scale, first_raw, last: Arc::new(first_raw.into()) }, name.to_owned())
            }
        };
        let fault = Arc::default();
        let mut bench =
            Bench { platform, stop, stamps, clock_name, origin: Nanos::ZERO, fault, round_over: StopFlag::new() };
        bench.origin = bench.stamp();
        Ok(bench)
    }

    /// The platform.
    pub fn platform(&self) -> &dyn Platform {
        &*self.platform
    }

    /// The platform, for threads that outlive a borrow.
    pub fn shared_platform(&self) -> &SharedPlatform {
        &self.platform
    }

    /// Opens a wait, the platform's or a composed one, for the calling thread.
    ///
    /// # Errors
    /// Why it can't be used here.
    pub fn open_wait(&self, name: &str) -> Result<Box<dyn Waiter>, Unavailable> {
        composed_waits::open(&self.platform, name, &self.stop)
    }

    /// Why the wait of that name takes no such span, in a sentence.
    pub(super) fn refuses(&self, name: &str, requested: Nanos) -> Option<String> {
        composed_waits::find_wait(self.platform(), name)?.refuses(&self.platform, requested)
    }

    /// Opens the simplest sleep for the calling thread.
    ///
    /// # Errors
    /// Why it can't be used here.
    pub fn open_simplest_sleep(&self) -> Result<Box<dyn Waiter>, Unavailable> {
        self.platform().simplest(Family::Sleep).ok_or(Unavailable::NotOnThisPlatform)?.open(&self.platform)
    }

    /// Registry name of the clock that takes timestamps.
    pub fn clock_name(&self) -> &str {
        &self.clock_name
    }

    /// Takes a timestamp.
    #[inline]
    pub fn stamp(&self) -> Nanos {
        match &self.stamps {
            Stamps::Reference => self.platform.now(),
            Stamps::Named { index, scale, first_raw, last } => {
                let raw = scale.counted_on(last.load(Ordering::Relaxed), self.platform.clocks()[*index].read());
                last.store(raw, Ordering::Relaxed);
                scale.of_values_counted_on().span(*first_raw, raw)
            }
        }
    }

    /// A timestamp in its recorded form: relative to the run's origin.
    pub fn since_origin(&self, stamp: Nanos) -> Nanos {
        stamp - self.origin
    }

    /// The deadline as the target of a relative or an absolute wait. `now` and `deadline` are timestamps.
    #[inline]
    pub fn target(&self, now: Nanos, deadline: Nanos) -> Target {
        let remaining = deadline - now;
        let on_reference = match self.stamps {
            Stamps::Reference => deadline,
            Stamps::Named { .. } => self.platform.now() + remaining,
        };
        Target { remaining, deadline: on_reference }
    }

    /// Whether the run must end now.
    #[inline]
    pub fn stopped(&self) -> bool {
        self.stop.is_raised() || self.fault().is_some() || self.round_over.is_raised()
    }

    /// The same bench for one round, and the flag that ends it.
    pub(crate) fn for_a_round(&self) -> (Bench, StopFlag) {
        let round_over = StopFlag::new();
        (Bench { round_over: round_over.clone(), ..self.clone() }, round_over)
    }

    /// Ends the run, because nothing more can be measured. The first reason is kept.
    pub(crate) fn give_up(&self, reason: Unavailable) {
        let _ = self.fault.set(reason);
    }

    /// Why nothing more can be measured, if that is so.
    pub(crate) fn fault(&self) -> Option<&Unavailable> {
        self.fault.get()
    }

    /// Notes a clock reading of a loop that waits for the clock, and gives up if the clock stands still.
    #[inline]
    pub(crate) fn note(&self, still: &mut StillClock, now: Nanos, since: Reads) {
        if let Err(reason) = still.note(now, since) {
            self.give_up(reason);
        }
    }

    /// Keeps the CPU busy until that moment of the reference clock, or until the run must end.
    pub(crate) fn spin_until(&self, until: Nanos) {
        let mut still = StillClock::default();
        self.platform.spin_until(until, &mut |now| {
            self.note(&mut still, now, Reads::ONE);
            self.stopped()
        });
    }
}

#[cfg(test)]
mod tests {
    use oversleep_model::sim::Sim;

    use super::super::testing;
    use super::*;

    #[test]
    fn a_clock_that_stands_still_in_a_wait_can_not_stamp() {
        let bench = |clock| Bench::new(Sim::start(testing::machine().build()), StopFlag::new(), Some(clock));
        assert!(matches!(bench("clock"), Err(Unavailable::Failed { .. })));
        assert!(matches!(bench("no-such-clock"), Err(Unavailable::NotOnThisPlatform)));
        assert!(bench("monotonic-coarse").is_ok());
    }
}
