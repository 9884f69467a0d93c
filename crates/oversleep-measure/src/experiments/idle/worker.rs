//! How a thread idles: carries out the strategy's decisions on the platform, and counts them.

use oversleep_record::{Idling, Nanos, Unavailable};
use oversleep_system::{Family, Platform, Target, WaitEnd, Waiter};

use super::ring::{Ring, Side};
use super::strategy::{Idler, Kind, Step};
use crate::bench::Bench;
use crate::still::Reads;

/// The strategy of one thread, with its open waits.
pub(super) struct Idle {
    idler: Idler,
    give_way: Option<Box<dyn Waiter>>,
    park: Option<Box<dyn Waiter>>,
    grid: Option<Nanos>,
    cpu_before: Option<Nanos>,
    /// Whether it has parked since it last found an item.
    has_parked: bool,
    counted: Idling,
}

/// The default wait for parking: the first of those for another thread, on which the parks of most languages are based,
/// or else the simplest sleep.
pub(super) fn default_park(platform: &dyn Platform) -> Option<&'static str> {
    let wait = platform.simplest(Family::Lock).or_else(|| platform.simplest(Family::Sleep))?;
    Some(wait.info().name)
}

impl Idle {
    /// Opens the strategy for the calling thread.
    ///
    /// # Errors
    /// Why a wait that the strategy needs can't be used here.
    pub(super) fn open(bench: &Bench, kind: Kind, park: &str, grid: Option<Nanos>) -> Result<Idle, Unavailable> {
        let (yields, parks) = match kind {
            Kind::Fixed(backoff) => {
                let goes_on = backoff.spins < u64::MAX;
                (goes_on && backoff.yields > 0, goes_on && backoff.yields < u64::MAX)
            }
            Kind::Learned(_) => (true, true),
            Kind::Blocking => (false, false),
        };
        let platform = bench.shared_platform();
        let simplest_yield = || platform.simplest(Family::Yield).ok_or(Unavailable::NotOnThisPlatform)?.open(platform);
        Ok(Idle {
            idler: Idler::new(kind),
            give_way: yields.then(simplest_yield).transpose()?,
            park: parks.then(|| bench.open_wait(park)).transpose()?,
            grid,
            cpu_before: None,
            has_parked: false,
            counted: Idling { vain_parks: Some(0), ..Idling::default() },
        })
    }

    /// Notes that the thread begins to work now.
    pub(super) fn begin(&mut self, platform: &dyn Platform) {
        self.cpu_before = platform.counters().totals.own_cpu_ns;
    }

    /// The idling of the thread.
    pub(super) fn end(self, platform: &dyn Platform) -> Idling {
        let cpu = platform.counters().totals.own_cpu_ns.zip(self.cpu_before).map(|(after, before)| after - before);
        Idling { cpu_ns: cpu, ..self.counted }
    }

    /// Call this after a turn that found an item.
    #[inline]
    pub(super) fn reset(&mut self) {
        self.idler.reset();
        self.has_parked = false;
    }

    /// A turn without an item. A blocked thread continues when the other side of the ring rings, or at once if
    /// `has_reason`.
    ///
    /// Returns its duration, in reads of a clock.
    ///
    /// # Errors
    /// A wait failed.
    pub(super) fn turn(
        &mut self,
        platform: &dyn Platform,
        (ring, side): (&Ring, Side),
        has_reason: impl Fn() -> bool,
    ) -> Result<Reads, Unavailable> {
        match self.idler.next(|| platform.now()) {
            Step::Spin => {
                self.counted.spins += 1;
                platform.relax();
            }
            Step::Yield => {
                self.counted.yields += 1;
                match &mut self.give_way {
                    Some(give_way) => ended(give_way.wait(Target { remaining: Nanos(1), deadline: Nanos::ZERO }))?,
                    None => platform.relax(),
                }
            }
            Step::Block => {
                self.counted.blocks += 1;
                ring.block(side, has_reason);
                return Ok(Reads::CALL);
            }
            Step::Park(requested) => {
                self.park(platform, requested)?;
                return Ok(Reads::of(requested));
            }
        }
        // A spin, or a yield to no other thread, takes about as long as a read.
        Ok(Reads::ONE)
    }

    fn park(&mut self, platform: &dyn Platform, requested: Nanos) -> Result<(), Unavailable> {
        let Some(park) = &mut self.park else { return Ok(()) };
        if let Some(vain) = &mut self.counted.vain_parks {
            *vain += u64::from(self.has_parked);
        }
        self.has_parked = true;
        let start = platform.now();
        let due = start + requested;
        let deadline = self.grid.map_or(due, |grid| due.round_up_to(grid));
        ended(park.wait(Target { remaining: deadline - start, deadline }))?;
        let end = platform.now();
        let took = end - start;
        self.counted.parked_ns += took;
        self.counted.park_overshoot.record((took - requested).0);
        self.idler.learn(requested, took, end);
        Ok(())
    }
}

/// A signal ends a wait like any other event: the worker looks for an item.
fn ended(end: WaitEnd) -> Result<(), Unavailable> {
    match end {
        WaitEnd::Failed(reason) => Err(reason),
        WaitEnd::TimedOut | WaitEnd::Interrupted => Ok(()),
    }
}
