//! The memory map of a program.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use oversleep_native::{open_linked, open_theirs, user_of};

/// A line of `/proc/PID/maps`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    pub from: u64,
    to: u64,
    /// Its offset in the file.
    pub offset: u64,
    /// `None` for anonymous memory.
    pub path: Option<PathBuf>,
}

impl Region {
    pub fn has(&self, address: u64) -> bool {
        (self.from..self.to).contains(&address)
    }

    /// Opens its file, even if it was deleted or is in a container. By now, something else may have its name.
    pub fn open(&self, pid: u32) -> Option<File> {
        let (from, to) = (self.from, self.to);
        let path = self.path.as_ref()?;
        let mapped = open_linked(Path::new(&format!("/proc/{pid}/map_files/{from:x}-{to:x}")));
        let in_root = || PathBuf::from(format!("/proc/{pid}/root{}", path.display()));
        mapped.or_else(|_| open_theirs(&in_root(), None)).ok()
    }
}

/// Parses the executable regions.
pub fn parse(text: &str) -> Vec<Region> {
    let region = |line: &str| {
        let mut fields = line.splitn(6, ' ');
        let (from, to) = fields.next()?.split_once('-')?;
        let hex = |number| u64::from_str_radix(number, 16).ok();
        fields.next().filter(|access| access.contains('x'))?;
        let offset = hex(fields.next()?)?;
        // Skips device and inode.
        let path = fields.nth(2).unwrap_or_default().trim();
        let path = path.strip_suffix(" (deleted)").unwrap_or(path);
        // `[vdso]` is code as well, but its name is no file.
        let path = (!path.is_empty() && !path.starts_with("//anon")).then(|| PathBuf::from(path));
        Some(Region { from: hex(from)?, to: hex(to)?, offset, path })
    };
    text.lines().filter_map(region).collect()
}

/// The most that is read of a list, and of one of its lines.
const LIST_MAX: u64 = 1 << 30;
const LINE_MAX: u64 = 4_096;

/// Names of code that a runtime generated, from the list that the runtime writes (`/tmp/perf-PID.map`), if it does. Any user
/// may make a file of that name, so it counts only if it is of the process's user, or of ours if the process ended before
/// that was known.
pub fn made_code(pid: u32, owner: Option<u32>, addresses: &[u64]) -> Vec<(u64, String)> {
    let Some(owner) = owner.or_else(|| user_of(std::process::id())) else { return Vec::new() };
    let list = open_theirs(Path::new(&format!("/tmp/perf-{pid}.map")), Some(owner));
    let Ok(list) = list else { return Vec::new() };
    named_by(&mut BufReader::new(list.take(LIST_MAX)), addresses)
}

fn named_by(list: &mut impl BufRead, addresses: &[u64]) -> Vec<(u64, String)> {
    let mut found: Vec<(u64, String)> = Vec::new();
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        match list.by_ref().take(LINE_MAX).read_until(b'\n', &mut bytes) {
            Ok(0) | Err(_) => return found,
            Ok(_) if bytes.last() != Some(&b'\n') => _ = list.skip_until(b'\n'),
            Ok(_) => {}
        }
        let line = String::from_utf8_lossy(&bytes);
        let mut fields = line.trim_end_matches('\n').splitn(3, ' ');
        let mut hex = || u64::from_str_radix(fields.next()?, 16).ok();
        let (Some(from), Some(length)) = (hex(), hex()) else { continue };
        let Some(name) = fields.next() else { continue };
        let within = |address: &&u64| (from..from.saturating_add(length)).contains(*address);
        // Later lines replace earlier ones.
        for &address in addresses.iter().filter(within) {
            found.retain(|(other, _)| *other != address);
            found.push((address, format!("{name}+{:#x}", address - from)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_with_code_are_read() {
        let text = "\
55d0c0000000-55d0c0001000 r--p 00000000 fe:00 12 /usr/bin/my app\n\
55d0c0001000-55d0c0003000 r-xp 00001000 fe:00 12 /usr/bin/my app (deleted)\n\
7f0000000000-7f0000001000 rwxp 00000000 00:00 0 \n\
7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0                          [vdso]\n";
        let regions = parse(text);
        assert_eq!(regions.len(), 3);
        assert_eq!((regions[0].offset, &regions[0].path), (0x1000, &Some(PathBuf::from("/usr/bin/my app"))));
        assert!(regions[0].has(0x55d0_c000_1000) && !regions[0].has(0x55d0_c000_3000));
        assert_eq!(regions[1].path, None);
        assert_eq!(regions[2].path, Some(PathBuf::from("[vdso]")));
    }

    #[test]
    fn the_last_line_about_an_address_counts() {
        let list = "1000 20 old code\nnot a line\n1000 10 Main.run()\nffffffffffffffff ff end\n";
        assert_eq!(
            named_by(&mut list.as_bytes(), &[0x1008, 0x1018]),
            [(0x1018, "old code+0x18".to_owned()), (0x1008, "Main.run()+0x8".to_owned())]
        );
    }

    #[test]
    fn a_line_without_an_end_takes_no_memory_and_hides_no_other() {
        let long = format!("1000 20 {}\n2000 10 next\n", "x".repeat(3 * LINE_MAX as usize));
        let named = named_by(&mut long.as_bytes(), &[0x1000, 0x2001]);
        assert_eq!(named[1], (0x2001, "next+0x1".to_owned()));
        assert_eq!(named[0].1.len(), LINE_MAX as usize - "1000 20 ".len() + "+0x0".len());
    }

    #[test]
    fn a_list_of_another_user_is_not_read() {
        let (own, list) = (std::process::id(), "1000 20 code\n");
        let path = format!("/tmp/perf-{own}.map");
        std::fs::write(&path, list).unwrap();
        let user = user_of(own);
        let [theirs, others, unknown] =
            [user, user.map(|user| user + 1), None].map(|owner| made_code(own, owner, &[0x1000]));
        std::fs::remove_file(&path).unwrap();
        assert_eq!((theirs.len(), others.len(), unknown.len()), (1, 0, 1));
    }
}
