//! Counters of the system and of the calling thread, which show what else happened during a measurement.
//!
//! Without privileges only CPU time is readable. Switches, faults and time waiting for a CPU are counted per process,
//! not per thread, so they are left out. A counter that isn't readable is `None`, never zero.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, Ordering};

use oversleep_record::{Disturbance, Nanos};
use oversleep_system::CounterReading;

use super::os::{self, KernReturn, Port};

// SAFETY: as <mach/mach_host.h> and <mach/vm_map.h> declare them, in libSystem.
unsafe extern "C" {
    // https://github.com/apple-oss-distributions/xnu/blob/main/osfmk/mach/mach_host.defs
    fn host_processor_info(
        host: Port,
        flavor: i32,
        processors: *mut u32,
        info: *mut *mut u32,
        words: *mut u32,
    ) -> KernReturn;
    // https://github.com/apple-oss-distributions/xnu/blob/main/osfmk/mach/vm_map.defs
    fn vm_deallocate(task: Port, address: usize, bytes: usize) -> KernReturn;
}

/// `PROCESSOR_CPU_LOAD_INFO`: each processor's ticks in user mode, in the kernel, idle, and in user mode with a nice
/// value.
const CPU_LOAD: i32 = 2;
const WORDS_PER_CPU: usize = 4;
const IDLE: usize = 2;

/// The system's counters.
#[derive(Default)]
pub struct SystemCounters {
    ticks_per_second: OnceLock<Option<i64>>,
    /// The last reported CPU time of other processes, which must not decrease although its two parts have different
    /// steps.
    other_cpu_ns: AtomicI64,
}

impl SystemCounters {
    /// All counters now, for the calling thread.
    pub fn read(&self) -> CounterReading {
        let totals = Disturbance {
            other_cpu_ns: self.other_cpu(),
            own_cpu_ns: cpu_time(libc::CLOCK_THREAD_CPUTIME_ID),
            ..Disturbance::default()
        };
        CounterReading { at: os::now(), totals }
    }

    /// CPU time of everything except this process. From the ticks of each processor, because the kernel caches their
    /// sum (`host_statistics`) for up to a second for programs that aren't Apple's.
    fn other_cpu(&self) -> Option<Nanos> {
        // SAFETY: takes a number and returns one.
        let hz = self.ticks_per_second.get_or_init(|| match unsafe { libc::sysconf(libc::_SC_CLK_TCK) } {
            hz @ 1.. => Some(hz),
            _ => None,
        });
        let busy = ticks_to_nanos(busy_ticks()?, (*hz)?)?;
        let others = (busy - cpu_time(libc::CLOCK_PROCESS_CPUTIME_ID)?).0.max(0);
        Some(Nanos(self.other_cpu_ns.fetch_max(others, Ordering::Relaxed).max(others)))
    }
}

fn ticks_to_nanos(ticks: u64, hz: i64) -> Option<Nanos> {
    i64::try_from(i128::from(ticks) * 1_000_000_000 / i128::from(hz)).ok().map(Nanos)
}

fn cpu_time(clock: libc::clockid_t) -> Option<Nanos> {
    Some(Nanos(os::clock_ns(clock) as i64)).filter(|&time| time > Nanos::ZERO)
}

/// The non-idle ticks of all processors.
fn busy_ticks() -> Option<u64> {
    let (mut processors, mut info, mut words) = (0, std::ptr::null_mut(), 0);
    // SAFETY: the three results are writable.
    let result =
        unsafe { host_processor_info(os::host(), CPU_LOAD, &raw mut processors, &raw mut info, &raw mut words) };
    if result != os::SUCCESS || info.is_null() {
        return None;
    }
    // SAFETY: the kernel mapped this many words into this process.
    let sum = busy(unsafe { std::slice::from_raw_parts(info, words as usize) });
    // SAFETY: the mapping is this process's, isn't used again, and is released once.
    unsafe { vm_deallocate(os::task(), info as usize, words as usize * size_of::<u32>()) };
    Some(sum)
}

fn busy(words: &[u32]) -> u64 {
    let of_one =
        |cpu: &[u32]| cpu.iter().enumerate().filter(|(at, _)| *at != IDLE).map(|(_, &n)| u64::from(n)).sum::<u64>();
    words.chunks_exact(WORDS_PER_CPU).map(of_one).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads;

    #[test]
    fn idle_ticks_are_not_busy() {
        assert_eq!(busy(&[1, 2, 100, 4, 10, 20, 100, 40, 7]), 77, "an incomplete row is no processor");
        assert_eq!(ticks_to_nanos(250, 100), Some(Nanos(2_500_000_000)));
    }

    #[test]
    fn counters_only_grow() {
        let counters = SystemCounters::default();
        let first = counters.read();
        threads::work(1_000_000);
        let window = first.until(&counters.read());
        assert!(window.own_cpu_ns.is_some_and(|time| time > Nanos::ZERO && time <= window.window_ns), "{window:?}");
        assert!(window.other_cpu_ns.is_some_and(|time| time >= Nanos::ZERO), "{window:?}");
        assert_eq!(window.voluntary_switches, None, "not counted per thread");
    }
}
