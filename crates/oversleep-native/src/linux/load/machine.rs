//! Figures of this machine for hogs.

use crate::hogs::memory::Sizes;
use crate::linux::files::{Disk, Files};

/// What the machine states about its memory.
pub(super) fn sizes() -> Sizes {
    sizes_from(&Disk)
}

fn sizes_from(files: &dyn Files) -> Sizes {
    let folder = "/sys/devices/system/cpu/cpu0/cache";
    let texts = files.names(folder).into_iter().filter_map(|index| files.text(&format!("{folder}/{index}/size")).ok());
    let largest = texts.filter_map(|size| size.strip_suffix('K')?.parse::<u64>().ok()).max();
    Sizes { largest_cache: largest.map(|kib| kib.saturating_mul(1024)), available: available_bytes(files) }
}

fn available_bytes(files: &dyn Files) -> Option<u64> {
    let text = files.text("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

pub(super) fn enter_the_kernel() {
    // SAFETY: takes nothing and can't fail.
    unsafe { libc::getppid() };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::files::Sample;

    #[test]
    fn sizes_are_those_of_the_largest_cache_and_of_the_available_memory() {
        let told = sizes_from(&Sample::of(&[
            ("/sys/devices/system/cpu/cpu0/cache/index0/size", "48K"),
            ("/sys/devices/system/cpu/cpu0/cache/index3/size", "12288K"),
            ("/proc/meminfo", "MemTotal: 1000000 kB\nMemAvailable:     262144 kB\n"),
        ]));
        assert_eq!(told, Sizes { largest_cache: Some(12 << 20), available: Some(256 << 20) });
        assert_eq!(sizes_from(&Sample::default()), Sizes::default());
    }
}
