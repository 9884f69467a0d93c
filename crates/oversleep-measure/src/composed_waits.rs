//! Waits composed of a platform's clock, yield and sleep, as in programs that don't rely on the system's sleep alone.

use std::sync::Arc;

use oversleep_record::{Nanos, Unavailable};
use oversleep_system::runtime_calls;
use oversleep_system::waits::composed;
use oversleep_system::{Family, Platform, SharedPlatform, SlackRule, Takes, Target, Wait, WaitEnd, WaitInfo, Waiter};

use super::library_waits::library_waits;
use super::still::{Reads, StillClock};
use super::stop::StopFlag;

/// The hybrid wait stops sleeping and spins this long before the deadline, as such libraries usually do.
const HYBRID_MARGIN: Nanos = Nanos(125_000);

/// The platform's waits and then the composed ones.
pub fn all_waits(platform: &dyn Platform) -> impl Iterator<Item = &dyn Wait> {
    platform.waits().iter().map(AsRef::as_ref).chain(composed().iter().map(AsRef::as_ref))
}

/// The same, and the library's on a modelled machine: all that a user can name.
pub fn named_waits(platform: &dyn Platform) -> impl Iterator<Item = &dyn Wait> {
    all_waits(platform).chain(library_waits(platform).iter().map(AsRef::as_ref))
}

/// The wait of that name: the platform's, a composed one, the library's on a modelled machine, or the call of a runtime,
/// like `Thread.sleep@java-8`.
pub fn find_wait<'a>(platform: &'a dyn Platform, name: &str) -> Option<&'a dyn Wait> {
    named_waits(platform).find(|wait| wait.info().name == name).or_else(|| {
        let call = if name.contains('@') { runtime_calls::wait(platform, name) } else { None };
        call.map(|call| call as &dyn Wait)
    })
}

/// Opens the wait of that name for the calling thread. Raising the flag ends a wait that spins, as a signal ends the
/// system's waits.
///
/// # Errors
/// Why it can't be used here.
pub(super) fn open(platform: &SharedPlatform, name: &str, stop: &StopFlag) -> Result<Box<dyn Waiter>, Unavailable> {
    match Kind::ALL.into_iter().find(|kind| kind.info().name == name) {
        Some(kind) if platform.wait(name).is_none() => kind.open(platform, stop),
        _ => find_wait(&**platform, name).ok_or(Unavailable::NotOnThisPlatform)?.open(platform),
    }
}

fn composed() -> &'static [Box<dyn Wait>] {
    static COMPOSED: std::sync::LazyLock<Vec<Box<dyn Wait>>> = std::sync::LazyLock::new(|| {
        Kind::ALL.into_iter().map(|kind| -> Box<dyn Wait> { Box::new(Composed { kind, info: kind.info() }) }).collect()
    });
    &COMPOSED
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Spin,
    SpinYield,
    Hybrid,
}

impl Kind {
    const ALL: [Kind; 3] = [Kind::Spin, Kind::SpinYield, Kind::Hybrid];

    fn open(self, platform: &SharedPlatform, stop: &StopFlag) -> Result<Box<dyn Waiter>, Unavailable> {
        let helper = match self {
            Kind::Spin => None,
            Kind::SpinYield => Some(platform.simplest(Family::Yield)),
            Kind::Hybrid => Some(platform.simplest(Family::Sleep)),
        };
        let helper = helper.map(|wait| wait.ok_or(Unavailable::NotOnThisPlatform)?.open(platform)).transpose()?;
        Ok(Box::new(ComposedWaiter { kind: self, platform: Arc::clone(platform), helper, stop: stop.clone() }))
    }

    fn info(self) -> WaitInfo {
        let (name, call, doc) = match self {
            Kind::Spin => (
                composed::SPIN,
                "while now() < deadline { pause }",
                "It reads the clock until the deadline. It is as exact as the clock and the scheduler allow, but it \
                 uses a whole CPU.",
            ),
            Kind::SpinYield => (
                composed::SPIN_YIELD,
                "while now() < deadline { yield }",
                "It yields between reads of the clock. It is polite to other threads, but late by their time slices if \
                 any are running.",
            ),
            Kind::Hybrid => (
                composed::HYBRID,
                "sleep(remaining - 125 µs); spin",
                "It sleeps until a fixed margin before the deadline, then spins. The margin is too short on a machine \
                 with late sleeps and wastes CPU time on a good one.",
            ),
        };
        WaitInfo {
            name,
            call,
            doc,
            family: Family::Spin,
            takes: Takes::Deadline,
            slack: if self == Kind::Hybrid { SlackRule::OfItsWaits } else { SlackRule::NoTimer },
            since: "any",
            ..WaitInfo::BLANK
        }
    }
}

struct Composed {
    kind: Kind,
    info: WaitInfo,
}

impl Wait for Composed {
    fn info(&self) -> &WaitInfo {
        &self.info
    }

    fn open(&self, platform: &SharedPlatform) -> Result<Box<dyn Waiter>, Unavailable> {
        self.kind.open(platform, &StopFlag::new())
    }
}

struct ComposedWaiter {
    kind: Kind,
    platform: SharedPlatform,
    helper: Option<Box<dyn Waiter>>,
    stop: StopFlag,
}

impl Waiter for ComposedWaiter {
    fn wait(&mut self, target: Target) -> WaitEnd {
        if let (Kind::Hybrid, Some(sleep)) = (self.kind, &mut self.helper) {
            let early =
                Target { remaining: target.remaining - HYBRID_MARGIN, deadline: target.deadline - HYBRID_MARGIN };
            if early.remaining > Nanos::ZERO {
                match sleep.wait(early) {
                    WaitEnd::TimedOut => {}
                    ended => return ended,
                }
            }
        }
        let mut still = StillClock::default();
        loop {
            let now = self.platform.now();
            if now >= target.deadline {
                return WaitEnd::TimedOut;
            }
            if self.stop.is_raised() {
                return WaitEnd::Interrupted;
            }
            if let Err(reason) = still.note(now, Reads::ONE) {
                return WaitEnd::Failed(reason);
            }
            match (self.kind, &mut self.helper) {
                (Kind::SpinYield, Some(give_way)) => {
                    give_way.wait(target);
                }
                _ => self.platform.relax(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use oversleep_model::sim::Overshoot;
    use oversleep_record::series::Pace;

    use super::super::testing::{self, wait_series};
    use super::*;

    #[test]
    fn spinning_ends_within_one_turn_of_the_loop() {
        let machine = testing::machine().with_wait("nanosleep", Overshoot::Fixed(Nanos(66_000)));
        for (name, bound_ns) in [("spin", 600), ("hybrid", 600), ("spin-yield", 1_200)] {
            let series = wait_series(machine.clone(), name, Nanos::from_millis(1), Pace::BackToBack, 20);
            assert_eq!(series.counts.early, 0, "{name}");
            let late = series.distribution.max().unwrap();
            assert!(late <= bound_ns, "{name}: {late}");
        }
    }

    #[test]
    fn hybrid_spins_through_its_margin_and_spin_through_everything() {
        let machine = testing::machine().with_wait("nanosleep", Overshoot::Fixed(Nanos(66_000)));
        let cpu_per_wait = |name: &str| {
            let series = wait_series(machine.clone(), name, Nanos::from_millis(1), Pace::BackToBack, 20);
            series.disturbance().own_cpu_ns.unwrap().0 / 20
        };
        assert!((990_000..1_010_000).contains(&cpu_per_wait("spin")));
        let hybrid = cpu_per_wait("hybrid");
        assert!((50_000..70_000).contains(&hybrid), "125 µs margin minus 66 µs of lateness, got {hybrid}");
    }
}
