//! Stops of this process: time in which a thread neither ran, nor waited for a CPU, nor slept on its own accord.

use oversleep_record::Nanos;
use oversleep_record::series::{Quantity, Series};
use oversleep_system::{CounterReading, SharedPlatform};

/// The longest delay of a timer by the system itself: three ticks of Windows.
pub(crate) const PUT_OFF_MAX: Nanos = Nanos::from_millis(50);
/// How often the time in the run queue is read between values: a reading takes a µs on Linux.
const LOOK_EVERY: Nanos = Nanos::from_millis(10);

/// Watches the values of one round of waits. A value far later than others is compared with the time that its thread
/// has waited for a CPU since the last check, which was at most one value and a few ms earlier.
pub(crate) struct Pauses {
    platform: SharedPlatform,
    last_at: Nanos,
    last_queued: Option<Nanos>,
    /// Steal and throttling are read only if there is something to explain.
    last_counters: CounterReading,
    stopped: Nanos,
}

impl Pauses {
    /// Starts watching the calling thread; `at` is relative to the run's origin.
    pub(crate) fn watch(platform: SharedPlatform, at: Nanos, counters: CounterReading) -> Pauses {
        let last_queued = platform.run_delay();
        Pauses { platform, last_at: at, last_queued, last_counters: counters, stopped: Nanos::ZERO }
    }

    /// Whether a value that ended then requires a check.
    #[inline]
    pub(crate) fn is_due(&self, end: Nanos, value: i64) -> bool {
        end - self.last_at >= LOOK_EVERY || value >= PUT_OFF_MAX.0
    }

    /// Checks a value that has just ended.
    #[cold]
    pub(crate) fn look(&mut self, end: Nanos, value: i64, series: &Series) {
        let queued_before = self.last_queued;
        self.last_queued = self.platform.run_delay();
        let passed = end - std::mem::replace(&mut self.last_at, end);
        let (Some(before), Some(after)) = (queued_before, self.last_queued) else { return };
        if value < PUT_OFF_MAX.0 {
            return;
        }
        // The median of the calls alone: a stop turns every deadline during it into a missed one.
        let Some(median) = enough(series).and_then(|calls| calls.p50()) else { return };
        // A timer may be delayed by a tick or two, and by a share of the request.
        let put_off = PUT_OFF_MAX.max(Nanos(series.requested_ns.unwrap_or_default().0 / 10));
        let unexplained = Nanos(value.saturating_sub(median)).min(passed) - (after - before);
        if unexplained <= put_off {
            return;
        }
        let unexplained = unexplained - stolen(&mut self.last_counters, self.platform.counters());
        if unexplained > put_off {
            self.stopped += unexplained;
        }
    }

    /// How long this process was stopped; `None` if that can't be determined.
    pub(crate) fn stopped(&self, series: &Series) -> Option<Nanos> {
        self.last_queued.and(enough(series)).map(|_| self.stopped)
    }
}

/// The calls of a series, if there are enough to know the usual lateness.
fn enough(series: &Series) -> Option<&oversleep_record::Distribution> {
    Some(series.calls()).filter(|calls| calls.count() >= 3)
}

/// The time taken by steal and throttling since the last reading.
pub(crate) fn stolen(last: &mut CounterReading, now: CounterReading) -> Nanos {
    let seen = std::mem::replace(last, now).until(&now);
    seen.steal_ns.unwrap_or_default() + seen.throttled_ns.unwrap_or_default()
}

/// How a stop is detected in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watching {
    /// From the values, which are waits of the measuring thread alone.
    Values,
    /// From the waits of the thread that guards the round, because other threads make the values late as well.
    Guard,
    /// Not at all, because no thread may run beside it.
    Nothing,
}

impl Watching {
    /// The method for series of that quantity.
    pub(crate) fn of(quantity: Quantity) -> Watching {
        match quantity {
            Quantity::Lateness | Quantity::Duration => Watching::Values,
            Quantity::WakeupsPerSecond | Quantity::IdleResidency | Quantity::Power => Watching::Nothing,
            _ => Watching::Guard,
        }
    }
}
