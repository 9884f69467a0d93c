//! Where the functions of a program begin, from the table that it is unwound by (`.eh_frame_hdr`): compilers may put NOPs
//! at the entry of a function (`-fpatchable-function-entry`, `-mnop-mcount`), which look like padding behind the one before.
//! <https://refspecs.linuxfoundation.org/LSB_5.0.0/LSB-Core-generic/LSB-Core-generic/ehframechpt.html>

use std::ops::Range;

use super::regions::Memory;
use crate::linux::process::ptrace::Tid;

const PT_LOAD: u32 = 1;
const PT_GNU_EH_FRAME: u32 = 0x6474_e550;
const HEADER: u64 = 56;
/// The encodings that every linker writes: the version, a pointer to the frames, a count, and a table relative to itself.
const FORM: [u8; 4] = [1, 0x1b, 0x03, 0x3b];
const FIRST: u64 = 12;
const ROW: u64 = 8;

/// A table of functions.
struct Table<'a> {
    memory: &'a Memory,
    at: u64,
    count: u64,
}

/// Whether no function begins in that room: the table has the code at `place`, and none there. Programs that are linked
/// statically may have no table; `None` then.
pub fn begin_elsewhere(memory: &Memory, process: Tid, place: u64, room: Range<u64>) -> Option<bool> {
    let maps = std::fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
    let table = Table::in_object(memory, base(&maps, place)?)?;
    let begins_before = || table.last_until(room.end - 1).is_some_and(|(_, begin)| begin < room.start);
    Some(table.has(place).is_some() && begins_before())
}

/// Where the file of the code at `place` is mapped.
fn base(maps: &str, place: u64) -> Option<u64> {
    let line = |line: &str| {
        let mut fields = line.splitn(6, ' ');
        let (from, to) = fields.next()?.split_once('-')?;
        let hex = |text| u64::from_str_radix(text, 16).ok();
        let offset = hex(fields.nth(1)?)?;
        let path = fields.nth(2)?.trim().to_owned();
        Some((hex(from)?..hex(to)?, offset, path))
    };
    let lines: Vec<_> = maps.lines().filter_map(line).collect();
    let at = lines.iter().position(|(range, ..)| range.contains(&place))?;
    let path = &lines[at].2;
    let first = lines[..=at].iter().rev().take_while(|(.., other)| other == path || other.is_empty());
    first
        .filter(|(_, offset, other)| *offset == 0 && other == path && path.starts_with('/'))
        .last()
        .map(|(range, ..)| range.start)
}

impl<'a> Table<'a> {
    /// The table of the file that is mapped there.
    fn in_object(memory: &'a Memory, base: u64) -> Option<Table<'a>> {
        let mut head = [0; 64];
        memory.read(base, &mut head).ok()?;
        if head[..5] != *b"\x7fELF\x02" {
            return None;
        }
        // The numbers are the program's, and may be any: a wrong address has no memory.
        let headers = base.wrapping_add(u64::from_le_bytes(head[32..40].try_into().ok()?));
        let count = u64::from(u16::from_le_bytes(head[56..58].try_into().ok()?));
        let (mut bias, mut table) = (None, None);
        for header in (0..count).map(|at| headers.wrapping_add(at * HEADER)) {
            let (kind, address) = (memory.word(header).ok()? as u32, memory.word(header.wrapping_add(16)).ok()?);
            match kind {
                PT_LOAD if memory.word(header.wrapping_add(8)).ok()? == 0 => {
                    bias = bias.or(Some(base.wrapping_sub(address)))
                }
                PT_GNU_EH_FRAME => table = Some(address),
                _ => {}
            }
        }
        let at = table?.wrapping_add(bias?);
        let mut form = [0; 4];
        memory.read(at, &mut form).ok()?;
        let table = Table { memory, at, count: u64::from(memory.word(at.wrapping_add(8)).ok()? as u32) };
        (form == FORM).then_some(table)
    }

    /// A row: where a function begins, and where its description is.
    fn row(&self, index: u64) -> Option<(u64, u64)> {
        let row = self.memory.word(self.at.wrapping_add(FIRST + ROW * index)).ok()?;
        let relative = |half: u32| self.at.wrapping_add_signed(i64::from(half as i32));
        Some((relative(row as u32), relative((row >> 32) as u32)))
    }

    /// The row of the last function that begins at or before an address.
    fn last_until(&self, address: u64) -> Option<(u64, u64)> {
        let (mut from, mut to) = (0, self.count);
        while from < to {
            let middle = from.midpoint(to);
            if self.row(middle)?.0 <= address { from = middle + 1 } else { to = middle }
        }
        let (begin, description) = self.row(from.checked_sub(1)?)?;
        Some((description, begin))
    }

    /// The function that has the code at an address.
    fn has(&self, address: u64) -> Option<u64> {
        let (description, begin) = self.last_until(address)?;
        let words = self.memory.word(description.wrapping_add(8)).ok()?;
        // Its own statement of where it begins is relative to that statement.
        let own = description.wrapping_add(8).wrapping_add_signed(i64::from(words as u32 as i32));
        (own == begin && address - begin < words >> 32).then_some(begin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    extern "C" fn one(number: u64) -> u64 {
        std::hint::black_box(number) + 1
    }

    #[test]
    fn the_beginning_of_a_function_is_no_room() {
        let own = std::process::id() as Tid;
        let memory = Memory::open(own).expect("own memory");
        let begin = one as *const () as u64;
        let is_free = |place, room| begin_elsewhere(&memory, own, place, room) == Some(true);
        assert!(is_free(begin + 4, begin + 1..begin + 6), "within the function");
        for before in 0..5 {
            assert!(!is_free(begin + 4, begin - before..begin - before + 5), "it begins {before} bytes later");
        }
        let data = Box::new(0_u64);
        assert!(!is_free(&raw const *data as u64, begin + 1..begin + 6), "no code");
        // The C library has functions of its own.
        let libc = libc::nanosleep as *const () as u64;
        assert!(is_free(libc + 4, libc + 1..libc + 6) && !is_free(libc + 4, libc - 3..libc + 2));
    }

    #[test]
    fn the_base_is_of_the_file_that_has_the_code() {
        let maps = "1000-2000 r--p 00000000 fe:00 1 /a\n2000-3000 r-xp 00001000 fe:00 1 /a\n3000-4000 rw-p 00000000 00:00 0 \n\
            5000-6000 r--p 00000000 fe:00 2 /a b\n6000-7000 r-xp 00001000 fe:00 2 /a b\n8000-9000 r-xp 00000000 00:00 0 \n";
        assert_eq!(base(maps, 0x2800), Some(0x1000));
        assert_eq!(base(maps, 0x6800), Some(0x5000));
        assert_eq!([base(maps, 0x8800), base(maps, 0x4800)], [None, None]);
    }

    /// A program may execute another one while its table is read, and may have any bytes there.
    #[test]
    fn whatever_is_in_memory_is_no_more_than_no_table() {
        let memory = Memory::open(std::process::id().cast_signed()).expect("own memory");
        let mut head = [0xff_u8; 64];
        head[..5].copy_from_slice(b"\x7fELF\x02");
        assert!(Table::in_object(&memory, head.as_ptr() as u64).is_none());
        for at in [u64::MAX, u64::MAX - FIRST, 0, head.as_ptr() as u64] {
            let table = Table { memory: &memory, at, count: u64::from(u32::MAX) };
            assert!([0, 1 << 40, u64::MAX].iter().all(|&address| table.has(address).is_none()), "{at:#x}");
        }
        // A description at the very end of the address space, of a function there.
        let rows = [0_u32, 0, 0, u32::MAX, u32::MAX, u32::MAX, u32::MAX];
        let table = Table { memory: &memory, at: rows.as_ptr() as u64, count: 2 };
        assert!(table.has(u64::MAX).is_none());
    }
}
