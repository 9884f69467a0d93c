//! Interrupts of all kinds, which the kernel counts per processor and any program may read.

use std::sync::{Mutex, PoisonError};

use windows_sys::Wdk::System::SystemInformation::{NtQuerySystemInformation, SYSTEM_INFORMATION_CLASS};
use windows_sys::Win32::System::Threading::GetActiveProcessorGroupCount;

/// SystemProcessorPerformanceInformation and its record, one per processor of the caller's group. Microsoft documents
/// only the first half. It is unchanged since Windows NT 3.1:
/// <https://www.geoffchappell.com/studies/windows/km/ntoskrnl/api/ex/sysinfo/processor_performance.htm>.
const PROCESSOR_PERFORMANCE: SYSTEM_INFORMATION_CLASS = 8;

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct ProcessorPerformance {
    /// Idle, kernel, user, deferred calls and interrupts, in units of 100 ns.
    times: [i64; 5],
    interrupts: u32,
    padding: u32,
}

const GROUP_CPUS: usize = 64;

/// A count that continues when the kernel's 32-bit counters wrap.
#[derive(Default)]
pub(super) struct Interrupts(Mutex<Counted>);

#[derive(Default)]
struct Counted {
    last: Vec<u32>,
    total: u64,
}

impl Interrupts {
    /// Interrupts of all processors since this was created. `None` if the system doesn't count them, like Wine, which
    /// returns zeros.
    pub(super) fn total(&self) -> Option<u64> {
        let mut records = [ProcessorPerformance::default(); GROUP_CPUS];
        let now: Vec<u32> = read(&mut records)?.iter().map(|processor| processor.interrupts).collect();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).advance(now)
    }
}

impl Counted {
    fn advance(&mut self, now: Vec<u32>) -> Option<u64> {
        if now.iter().all(|&count| count == 0) {
            return None;
        }
        if self.last.len() == now.len() {
            let grown = now.iter().zip(&self.last).map(|(now, last)| u64::from(now.wrapping_sub(*last)));
            self.total += grown.sum::<u64>();
        }
        self.last = now;
        Some(self.total)
    }
}

/// A call covers the group in which its thread runs, so with several groups two calls could cover different processors.
fn read(records: &mut [ProcessorPerformance; GROUP_CPUS]) -> Option<&[ProcessorPerformance]> {
    // SAFETY: takes no argument.
    // https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-getactiveprocessorgroupcount
    if unsafe { GetActiveProcessorGroupCount() } > 1 {
        return None;
    }
    let mut bytes = 0;
    let room = size_of_val(records) as u32;
    // SAFETY: the records are writable for the length stated, which is never exceeded.
    // https://learn.microsoft.com/windows/win32/api/winternl/nf-winternl-ntquerysysteminformation
    let status =
        unsafe { NtQuerySystemInformation(PROCESSOR_PERFORMANCE, records.as_mut_ptr().cast(), room, &raw mut bytes) };
    let count = bytes as usize / size_of::<ProcessorPerformance>();
    (status >= 0).then(|| &records[..count.min(GROUP_CPUS)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_continues_when_the_kernels_counters_wrap() {
        let mut counted = Counted::default();
        assert_eq!(counted.advance(vec![u32::MAX, 10]), Some(0));
        assert_eq!(counted.advance(vec![4, 12]), Some(7));
        assert_eq!(counted.advance(vec![4, 12, 1]), Some(7), "a new processor has no earlier count");
        assert_eq!(counted.advance(vec![5, 12, 3]), Some(10));
    }

    #[test]
    fn zeros_are_no_count() {
        assert_eq!(Counted::default().advance(vec![0, 0]), None);
        assert_eq!(Counted::default().advance(Vec::new()), None);
        assert_eq!(size_of::<ProcessorPerformance>(), 0x30);
    }

    #[test]
    fn every_processor_is_listed() {
        let mut records = [ProcessorPerformance::default(); GROUP_CPUS];
        let listed = read(&mut records).expect("one group").len();
        assert_eq!(Some(listed), std::thread::available_parallelism().ok().map(std::num::NonZero::get));
        assert!(records[..listed].iter().any(|processor| processor.times.iter().any(|&time| time > 0)));
    }
}
