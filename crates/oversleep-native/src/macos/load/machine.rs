//! What hogs need to know about this machine.

use crate::hogs::memory::Sizes;
use crate::macos::os;
use crate::macos::sysctl;

/// Enters the kernel and does next to nothing there.
pub(super) fn enter_the_kernel() {
    // SAFETY: takes nothing and can't fail.
    unsafe { libc::getppid() };
}

/// The largest cache, and the memory that is free or available without swapping.
pub(super) fn sizes() -> Sizes {
    let names = ["hw.l3cachesize", "hw.perflevel0.l2cachesize", "hw.l2cachesize"];
    let caches = names.into_iter().filter_map(|name| u64::try_from(sysctl::integer(name).ok()?).ok());
    Sizes { largest_cache: caches.max().filter(|&bytes| bytes > 0), available: available() }
}

fn available() -> Option<u64> {
    // SAFETY: all-zero is a valid value of this structure of numbers.
    let mut pages: libc::vm_statistics64 = unsafe { std::mem::zeroed() };
    let mut count = libc::HOST_VM_INFO64_COUNT;
    // SAFETY: there is room for as many words as stated. https://developer.apple.com/documentation/kernel/1502863-host_statistics64
    let result =
        unsafe { libc::host_statistics64(os::host(), libc::HOST_VM_INFO64, (&raw mut pages).cast(), &raw mut count) };
    if result != os::SUCCESS {
        return None;
    }
    let pages = u64::from(pages.free_count) + u64::from(pages.inactive_count) + u64::from(pages.purgeable_count);
    Some(pages * u64::try_from(sysctl::integer("hw.pagesize").ok()?).ok()?)
}
