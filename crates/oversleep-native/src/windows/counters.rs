//! Counters of the system and of the calling thread, which show what else happened during a measurement.
//!
//! Windows counts less than Linux: interrupts of all kinds together, page faults per process but not per thread, and a
//! thread's voluntary and involuntary switches together. Timer interrupts and the times of switches are only in kernel
//! traces, which need an administrator. A counter that isn't readable is `None`, never zero.

use std::sync::atomic::{AtomicI64, Ordering};

use oversleep_record::{Disturbance, Nanos};
use oversleep_system::CounterReading;
use windows_sys::Win32::System::Threading::{GetCurrentThread, GetSystemTimes};
use windows_sys::Win32::System::WindowsProgramming::QueryThreadCycleTime;

use super::interrupts::Interrupts;
use super::os;
use crate::processor::tsc;

/// The system's counters.
#[derive(Default)]
pub(super) struct SystemCounters {
    /// The last reported CPU time of other processes; see [`SystemCounters::other_cpu`].
    other_cpu_ns: AtomicI64,
    interrupts: Interrupts,
}

impl SystemCounters {
    /// All counters now, for the calling thread.
    pub(super) fn read(&self) -> CounterReading {
        let totals = Disturbance {
            other_cpu_ns: busy().zip(os::process_cpu_time()).map(|(busy, own)| self.other_cpu(busy, own)),
            own_cpu_ns: own_cpu(),
            all_interrupts: self.interrupts.total(),
            ..Disturbance::default()
        };
        CounterReading { at: os::now(), totals }
    }

    /// Busy time of all CPUs minus that of this process. Both are counted in ticks but read one after the other, so the
    /// difference jitters. The reported value never decreases, because the true one doesn't.
    fn other_cpu(&self, busy: u64, own: u64) -> Nanos {
        let others = to_nanos(busy).0.saturating_sub(to_nanos(own).0);
        Nanos(self.other_cpu_ns.fetch_max(others, Ordering::Relaxed).max(others))
    }
}

fn to_nanos(hundred_ns: u64) -> Nanos {
    Nanos(i64::try_from(hundred_ns).unwrap_or(i64::MAX).saturating_mul(100))
}

/// The busy time of all CPUs together, in units of 100 ns.
pub(super) fn busy() -> Option<u64> {
    let [mut idle, mut kernel, mut user] = [os::NO_FILETIME; 3];
    // SAFETY: the three times are writable.
    // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-getsystemtimes
    if unsafe { GetSystemTimes(&raw mut idle, &raw mut kernel, &raw mut user) } == 0 {
        return None;
    }
    // Kernel time includes idle time.
    (os::hundred_ns(kernel) + os::hundred_ns(user)).checked_sub(os::hundred_ns(idle))
}

/// From cycles if their rate is known, because the other count is in whole ticks of 15.6 ms.
fn own_cpu() -> Option<Nanos> {
    cycles().and_then(|cycles| cycles_to_nanos(cycles, tsc::hz().ok()?)).or_else(|| os::thread_cpu_time().map(to_nanos))
}

pub(super) fn cycles() -> Option<u64> {
    let mut cycles = 0;
    // SAFETY: the pseudo-handle needs no closing, and `cycles` is writable.
    // https://learn.microsoft.com/windows/win32/api/realtimeapiset/nf-realtimeapiset-querythreadcycletime
    let result = unsafe { QueryThreadCycleTime(GetCurrentThread(), &raw mut cycles) };
    (result != 0 && cycles > 0).then_some(cycles)
}

fn cycles_to_nanos(cycles: u64, hz: u64) -> Option<Nanos> {
    let ns = (u128::from(cycles) * 1_000_000_000).checked_div(u128::from(hz))?;
    i64::try_from(ns).ok().map(Nanos)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads;

    #[test]
    fn counters_only_grow() {
        let counters = SystemCounters::default();
        let first = counters.read();
        threads::work(100_000);
        std::thread::sleep(std::time::Duration::from_millis(1));
        let window = first.until(&counters.read());
        assert!(window.window_ns >= Nanos::from_millis(1));
        assert_eq!(window.other_cpu_ns.is_some(), first.totals.other_cpu_ns.is_some());
        assert_eq!(window.own_cpu_ns.is_some(), first.totals.own_cpu_ns.is_some());
        assert_eq!(window.all_interrupts.is_some(), first.totals.all_interrupts.is_some());
    }

    #[test]
    fn the_cpu_time_of_others_never_decreases() {
        let counters = SystemCounters::default();
        assert_eq!(counters.other_cpu(50, 20), Nanos(3_000));
        assert_eq!(counters.other_cpu(51, 22), Nanos(3_000));
        assert_eq!(counters.other_cpu(20, 50), Nanos(3_000));
        assert_eq!(counters.other_cpu(u64::MAX, 0), Nanos(i64::MAX));
    }

    #[test]
    fn cycles_are_time_only_with_a_rate() {
        assert_eq!(cycles_to_nanos(3_000, 3_000_000_000), Some(Nanos(1_000)));
        assert_eq!(cycles_to_nanos(3_000, 0), None);
        assert_eq!(cycles_to_nanos(u64::MAX, 1), None);
    }
}
