//! The memory map of a program.

use std::fs::{self, File};
use std::path::PathBuf;

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

    /// Opens its file, even if it was deleted or is in a container.
    pub fn open(&self, pid: u32) -> Option<File> {
        let (from, to) = (self.from, self.to);
        let path = self.path.as_ref()?;
        let in_root = || PathBuf::from(format!("/proc/{pid}/root{}", path.display()));
        File::open(format!("/proc/{pid}/map_files/{from:x}-{to:x}")).or_else(|_| File::open(in_root())).ok()
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

/// Names of code that a runtime generated, from the list that the runtime writes (`/tmp/perf-PID.map`), if it does.
pub fn made_code(pid: u32, addresses: &[u64]) -> Vec<(u64, String)> {
    let list = fs::read_to_string(format!("/tmp/perf-{pid}.map")).unwrap_or_default();
    named_by(&list, addresses)
}

fn named_by(list: &str, addresses: &[u64]) -> Vec<(u64, String)> {
    let mut found: Vec<(u64, String)> = Vec::new();
    for line in list.lines() {
        let mut fields = line.splitn(3, ' ');
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
    found
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
            named_by(list, &[0x1008, 0x1018]),
            [(0x1018, "old code+0x18".to_owned()), (0x1008, "Main.run()+0x8".to_owned())]
        );
    }
}
