//! Memory traffic that no cache can hold.

use std::hint::black_box;

use oversleep_record::Unavailable;

use crate::platform::interface::{Load, LoadInfo, LoadKind};
use crate::platform::linux::files::{Disk, Files};

pub(super) struct Memory;

static INFO: LoadInfo = LoadInfo {
    name: "memory",
    doc: "Streams through a buffer larger than the last-level cache (16 to 64 MiB per hog): takes a CPU, empties the \
          caches of its neighbours and fills the memory bus.",
};

const MIB: u64 = 1 << 20;
const LINE_BYTES: usize = 64;
const WORDS_PER_LINE: usize = LINE_BYTES / size_of::<u64>();
/// Lines between two looks at the stop flag: well below a millisecond.
const TURN: usize = 4096;

/// Twice the largest cache, within bounds; the upper one where the machine doesn't say.
fn buffer_bytes(files: &dyn Files) -> u64 {
    let folder = "/sys/devices/system/cpu/cpu0/cache";
    let sizes = files.names(folder).into_iter().filter_map(|index| files.text(&format!("{folder}/{index}/size")).ok());
    let largest = sizes.filter_map(|size| size.strip_suffix('K')?.parse::<u64>().ok()).max();
    largest.map_or(64 * MIB, |kib| (2 * kib * 1024).clamp(16 * MIB, 64 * MIB))
}

/// Memory the machine could give without swapping, in bytes.
fn available_bytes(files: &dyn Files) -> Option<u64> {
    let text = files.text("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

/// Size of each hog's buffer, or why so many hogs are too many: a load must not get anybody killed for memory.
fn plan(hogs: u32, files: &dyn Files) -> Result<usize, Unavailable> {
    let each = buffer_bytes(files);
    let all = each.saturating_mul(u64::from(hogs));
    match available_bytes(files) {
        Some(available) if all > available / 2 => Err(Unavailable::failed(
            "starting memory hogs",
            format!("{hogs} need {} MiB, more than half of the {} MiB available", all / MIB, available / MIB),
        )),
        _ => Ok(each as usize),
    }
}

impl LoadKind for Memory {
    fn info(&self) -> &LoadInfo {
        &INFO
    }

    fn start(&self, hogs: u32) -> Result<Box<dyn Load>, Unavailable> {
        let words = plan(hogs, &Disk)? / size_of::<u64>();
        super::start(hogs, move || {
            let mut buffer: Vec<u64> = Vec::new();
            buffer.try_reserve_exact(words).map_err(|error| Unavailable::failed("allocating a hog's buffer", error))?;
            // Written, so that every page is there before the hog counts as running.
            buffer.resize(words, 1);
            Ok(move |stopped: &dyn Fn() -> bool| stream(&mut buffer, stopped))
        })
    }
}

fn stream(buffer: &mut [u64], stopped: &dyn Fn() -> bool) {
    loop {
        for turn in buffer.chunks_mut(TURN * WORDS_PER_LINE) {
            if stopped() {
                return;
            }
            for word in turn.iter_mut().step_by(WORDS_PER_LINE) {
                *word = word.wrapping_add(1);
            }
            black_box(turn);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::linux::files::Sample;

    #[test]
    fn a_buffer_is_twice_the_largest_cache_within_bounds() {
        let size = |kib: &'static str| {
            buffer_bytes(&Sample::of(&[
                ("/sys/devices/system/cpu/cpu0/cache/index0/size", "48K"),
                ("/sys/devices/system/cpu/cpu0/cache/index3/size", kib),
            ]))
        };
        assert_eq!(size("1024K"), 16 * MIB);
        assert_eq!(size("12288K"), 24 * MIB);
        assert_eq!(size("393216K"), 64 * MIB);
        assert_eq!(buffer_bytes(&Sample::default()), 64 * MIB);
    }

    #[test]
    fn more_than_half_of_the_memory_is_refused() {
        let small = Sample::of(&[("/proc/meminfo", "MemTotal: 1000000 kB\nMemAvailable:     262144 kB\n")]);
        assert_eq!(plan(2, &small), Ok(64 << 20));
        let why = plan(3, &small).expect_err("too many").to_string();
        assert_eq!(why, "starting memory hogs: 3 need 192 MiB, more than half of the 256 MiB available");
        assert_eq!(plan(3, &Sample::default()), Ok(64 << 20), "a machine that does not say is believed");
    }
}
