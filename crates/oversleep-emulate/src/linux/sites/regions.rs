//! Regions: memory that is injected near a program's own code. A region has a head, sites, and a view of the counters.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;

use oversleep_system::rules::Grid;

use crate::linux::code::rule::SITE;
use crate::linux::process::ptrace::Tid;

/// The size of a head and its sites; the counters follow at this offset.
pub const PAGE_AT: u64 = 0x4000;
const SIZE: u64 = PAGE_AT + 0x1000;
/// Where the first site is.
const FIRST: u64 = 0x100;
/// The reach of a five-byte jump, with a margin.
const REACH: u64 = 0x7000_0000;
/// Systems refuse mappings below this address.
const LOWEST: u64 = 0x1_0000;
/// The size of a page.
const PAGE: u64 = 0x1000;
/// The gap between a region and its neighbours, so that the kernel doesn't merge mappings.
const GAP: u64 = 0x8000;

/// The memory of a process.
pub struct Memory(File);

impl Memory {
    pub fn open(process: Tid) -> io::Result<Memory> {
        OpenOptions::new().read(true).write(true).open(format!("/proc/{process}/mem")).map(Memory)
    }

    pub fn read(&self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.0.read_exact_at(bytes, at)
    }

    pub fn word(&self, at: u64) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.read(at, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    pub fn write(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all_at(bytes, at)
    }
}

/// A head: its generation, whether its process waits natively, and two grids.
pub fn head(grid: Grid) -> Vec<u8> {
    let words = [0, 0, grid.period.0, grid.origin.0, grid.period.0, grid.origin.0];
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// One region.
#[derive(Clone, Debug)]
pub struct Region {
    pub at: u64,
    sites: u64,
    /// The counters as they were read last, by offset, if they are the process's own.
    own: Option<HashMap<u64, [u64; 2]>>,
}

impl Region {
    /// The region that a thread has just mapped there; `None` if the system mapped it elsewhere or refused.
    pub fn found(process: Tid, at: u64) -> Option<Region> {
        let maps = std::fs::read_to_string(format!("/proc/{process}/maps")).ok()?;
        let has = |begin: u64, length: u64, may: &str| {
            let wanted = format!("{begin:08x}-{:08x} {may}", begin + length);
            maps.lines().any(|line| line.starts_with(&wanted))
        };
        let has_counters = |may| has(at + PAGE_AT, SIZE - PAGE_AT, may);
        let own = has_counters("rw-p").then(HashMap::new);
        let is_there = has(at, PAGE_AT, "r-xp") && (own.is_some() || has_counters("rw-s"));
        is_there.then_some(Region { at, sites: 0, own })
    }

    /// How far a pair of counters of the process's own has advanced since this was called last.
    pub fn count(&mut self, memory: &Memory, offset: u64) -> Option<[u64; 2]> {
        let at = self.at + PAGE_AT + offset;
        let now = [memory.word(at).ok()?, memory.word(at + 8).ok()?];
        let before = self.own.as_mut()?.insert(offset, now).unwrap_or_default();
        Some([0, 1].map(|one| now[one].wrapping_sub(before[one])))
    }

    /// The process is a copy of another: what was counted before is the other's.
    pub fn count_anew(&mut self, memory: &Memory) {
        let offsets: Vec<u64> = self.own.iter().flatten().map(|(&offset, _)| offset).collect();
        for offset in offsets {
            self.count(memory, offset);
        }
    }

    /// Writes the region's head.
    pub fn begin(&self, memory: &Memory, grid: Grid) -> io::Result<()> {
        memory.write(self.at, &head(grid))
    }

    /// Activates another grid. The current one stays valid while the new one is written.
    pub fn set_grid(&self, memory: &Memory, grid: Grid) -> io::Result<()> {
        let generation = memory.word(self.at)?.wrapping_add(1);
        let words = [grid.period.0.to_le_bytes(), grid.origin.0.to_le_bytes()].concat();
        memory.write(self.at + 16 + 16 * (generation & 1), &words)?;
        memory.write(self.at, &generation.to_le_bytes())
    }

    /// Disables all its sites: their waits stop again.
    pub fn turn_off(&self, memory: &Memory) -> io::Result<()> {
        memory.write(self.at + 8, &1_u64.to_le_bytes())
    }

    pub fn is_near(&self, place: u64) -> bool {
        self.at.abs_diff(place) < REACH
    }

    pub fn has(&self, site: u64) -> bool {
        (self.at..self.at + PAGE_AT).contains(&site)
    }

    pub fn has_room(&self) -> bool {
        FIRST + (self.sites + 1) * SITE <= PAGE_AT
    }

    /// The address of a new site.
    pub fn next(&mut self) -> u64 {
        self.sites += 1;
        self.at + FIRST + (self.sites - 1) * SITE
    }
}

/// The counters of the region that contains this site.
pub fn page_of(regions: &[Region], site: u64) -> Option<u64> {
    regions.iter().find(|region| region.has(site)).map(|region| region.at + PAGE_AT)
}

/// Whether a process still shares its parent's memory, as after vfork.
pub fn shares_memory_with_parent(process: Tid) -> bool {
    const KCMP_VM: libc::c_int = 1;
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")?.trim().parse::<Tid>().ok());
    let Some(parent) = parent else { return false };
    // SAFETY: takes numbers. https://man7.org/linux/man-pages/man2/kcmp.2.html
    match unsafe { libc::syscall(libc::SYS_kcmp, process, parent, KCMP_VM, 0, 0) } {
        // Filters of containers forbid that call. Memory with the same mappings may be shared.
        -1 => {
            let maps = |process| std::fs::read(format!("/proc/{process}/maps")).ok();
            maps(process).is_some_and(|own| maps(parent) == Some(own))
        }
        order => order == 0,
    }
}

/// Finds an address near a place of a process where a region fits.
pub fn free_near(process: Tid, place: u64) -> Option<u64> {
    roomiest(&std::fs::read_to_string(format!("/proc/{process}/maps")).ok()?, place)
}

/// The address within reach that is farthest from other mappings: the heap grows upwards, and each new mapping, like the
/// stack of a thread, comes below the others.
fn roomiest(maps: &str, place: u64) -> Option<u64> {
    let (mut end, mut found) = (LOWEST, None::<(u64, u64)>);
    for line in maps.lines() {
        let (from, to) = line.split_whitespace().next()?.split_once('-')?;
        let (from, to) = (u64::from_str_radix(from, 16).ok()?, u64::from_str_radix(to, 16).ok()?);
        let least = (end + GAP).max(place.saturating_sub(REACH));
        let most = from.saturating_sub(SIZE + GAP).min(place.saturating_add(REACH));
        // Only the stack grows downwards.
        if least <= most && !line.ends_with("[stack]") {
            let at = end.midpoint(from).clamp(least, most) / PAGE * PAGE;
            let room = (at - end).min(from - at);
            if found.is_none_or(|(most, _)| room > most) {
                found = Some((room, at));
            }
        }
        end = to;
    }
    found.map(|(_, at)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
00400000-00452000 r-xp 00000000 08:02 173521 /usr/bin/program
00e03000-00e24000 rw-p 00000000 00:00 0 [heap]
7f0000000000-7f0000200000 r-xp 00000000 08:02 135522 /lib/libc.so.6
7f0000210000-7f0000220000 rw-p 00000000 00:00 0
7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0 [stack]
";

    #[test]
    fn a_region_is_put_where_other_mappings_will_not_be() {
        assert_eq!(roomiest(MAPS, 0x41_0000), Some(0x41_0000 + REACH), "the heap grows to the hole before it");
        let libraries = 0x7f00_0010_0000;
        assert_eq!(roomiest(MAPS, libraries), Some(libraries - REACH), "stacks of threads come below the libraries");
        assert_eq!(roomiest(MAPS, 0x7ffc_0001_0000), None, "the stack grows into the gap below it");
        assert_eq!(roomiest("", 0x41_0000), None);
    }

    #[test]
    fn a_region_holds_as_many_sites_as_fit() {
        let mut region = Region { at: 0x7000_0000, sites: 0, own: None };
        let mut last = 0;
        while region.has_room() {
            last = region.next();
        }
        assert!(last + SITE <= region.at + PAGE_AT && region.sites > 40, "{}", region.sites);
    }
}
