//! Stops of this process: time in which a thread neither ran, nor waited for a CPU, nor slept by its own wish.

use oversleep_record::Nanos;
use oversleep_record::series::{Quantity, Series};
use oversleep_system::{CounterReading, SharedPlatform};

/// The most by which a system puts off a timer of its own accord: three ticks of Windows.
pub(crate) const PUT_OFF_MAX: Nanos = Nanos::from_millis(50);
/// How often the time in the run queue is read between values: a reading of Linux takes a µs.
const LOOK_EVERY: Nanos = Nanos::from_millis(10);

/// Watches the values of one round of waits. A value that is far later than others is compared with the time that
/// its thread waited for a CPU since the last look, which was at most one value and a few ms earlier.
pub(crate) struct Pauses {
    platform: SharedPlatform,
    last_at: Nanos,
    last_queued: Option<Nanos>,
    /// Steal and throttling are read only where something is to be explained.
    last_counters: CounterReading,
    stopped: Nanos,
}

impl Pauses {
    /// From now on, for the calling thread; `at` is since the run's origin.
    pub(crate) fn watch(platform: SharedPlatform, at: Nanos, counters: CounterReading) -> Pauses {
        let last_queued = platform.run_delay();
        Pauses { platform, last_at: at, last_queued, last_counters: counters, stopped: Nanos::ZERO }
    }

    /// Whether a value that ended then asks for a look.
    #[inline]
    pub(crate) fn is_due(&self, end: Nanos, value: i64) -> bool {
        end - self.last_at >= LOOK_EVERY || value >= PUT_OFF_MAX.0
    }

    /// Looks at a value that has just ended.
    #[cold]
    pub(crate) fn look(&mut self, end: Nanos, value: i64, series: &Series) {
        let queued_before = self.last_queued;
        self.last_queued = self.platform.run_delay();
        let passed = end - std::mem::replace(&mut self.last_at, end);
        let (Some(before), Some(after)) = (queued_before, self.last_queued) else { return };
        if value < PUT_OFF_MAX.0 {
            return;
        }
        // Of calls alone: a stop makes every deadline meanwhile a missed one.
        let Some(median) = enough(series).and_then(|calls| calls.p50()) else { return };
        // A timer may be put off by a tick or two, and by a share of what was requested.
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

    /// For how long this process was stopped; `None` where it can't be told.
    pub(crate) fn stopped(&self, series: &Series) -> Option<Nanos> {
        self.last_queued.and(enough(series)).map(|_| self.stopped)
    }
}

/// The calls of a series, if they are enough to know which are usual.
fn enough(series: &Series) -> Option<&oversleep_record::Distribution> {
    Some(series.calls()).filter(|calls| calls.count() >= 3)
}

/// What steal and throttling took since the last reading.
pub(crate) fn stolen(last: &mut CounterReading, now: CounterReading) -> Nanos {
    let seen = std::mem::replace(last, now).until(&now);
    seen.steal_ns.unwrap_or_default() + seen.throttled_ns.unwrap_or_default()
}

/// How a stop shows in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watching {
    /// In the values: they are waits of the measuring thread alone.
    Values,
    /// In the waits of the thread that watches over the round, because other threads make the values late as well.
    Guard,
    /// Nothing may run beside it.
    Nothing,
}

impl Watching {
    /// For series of that quantity.
    pub(crate) fn of(quantity: Quantity) -> Watching {
        match quantity {
            Quantity::Lateness | Quantity::Duration => Watching::Values,
            Quantity::WakeupsPerSecond | Quantity::IdleResidency | Quantity::Power => Watching::Nothing,
            _ => Watching::Guard,
        }
    }
}
