//! What hogs need to know about this machine.

use windows_sys::Win32::System::SystemInformation::{GlobalMemoryStatusEx, MEMORYSTATUSEX};

use crate::hogs::memory::Sizes;
use crate::windows::os;
use crate::windows::processors;

/// The machine's memory figures.
pub(super) fn sizes() -> Sizes {
    let largest_cache = processors::caches().ok().and_then(|caches| caches.into_iter().max()).map(u64::from);
    Sizes { largest_cache, available: available_bytes() }
}

fn available_bytes() -> Option<u64> {
    let mut status = MEMORYSTATUSEX { dwLength: size_of::<MEMORYSTATUSEX>() as u32, ..Default::default() };
    // SAFETY: `status` states its own size and is valid to write to.
    // https://learn.microsoft.com/windows/win32/api/sysinfoapi/nf-sysinfoapi-globalmemorystatusex
    (unsafe { GlobalMemoryStatusEx(&raw mut status) } != 0).then_some(status.ullAvailPhys)
}

/// Reads the thread's CPU time: a short call that the kernel alone answers.
pub(super) fn enter_the_kernel() {
    os::thread_cpu_time();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_told() {
        assert!(available_bytes().is_some_and(|bytes| bytes > 1 << 20));
    }
}
