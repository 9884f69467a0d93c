//! Functions of a program that read one clock of Linux, while their port reads another one than the rest of the program.
//!
//! CPython up to 3.12 has `time.monotonic` and `time.perf_counter` read CLOCK_MONOTONIC here, and two clocks on Windows. Its
//! functions are called through a table of their names, in writable memory (`PyMethodDef`): a name, a function, a word of
//! flags. There the supervisor replaces the functions of one clock by some that leave a mark on the stack and call the
//! replaced ones (`clocks.s`). It does so when the program first reads that clock: by then, the table is where it stays.
//! <https://docs.python.org/3.12/c-api/structures.html#c.PyMethodDef>

use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use crate::linux::code::trampoline::{DATA, Entry};
use crate::linux::process::ptrace::{self, Registers, Tid};

/// Where the program finds out whether it has such functions, and those that were replaced; must match `clocks.s`.
pub const STATE: u64 = 0x40;
const OWN: u64 = 0x48;
const NONE: u64 = 0;
const READY: u64 = 2;
/// The length of the instruction that stops.
const STOPS: u64 = 2;
/// Flags of a function without arguments, and of one with a tuple of them.
const NO_ARGUMENTS: u32 = 4;
const ARGUMENTS: u32 = 1;
/// What stands beside them in the same table.
const BESIDE: &[u8] = b"perf_counter\0";
const REPLACED: [(&[u8], u32, Entry); 3] = [
    (b"monotonic\0", NO_ARGUMENTS, Entry::PyMonotonic),
    (b"monotonic_ns\0", NO_ARGUMENTS, Entry::PyMonotonicNs),
    (b"get_clock_info\0", ARGUMENTS, Entry::PyGetClockInfo),
];
/// The most of a mapping that is searched.
const MOST: u64 = 64 << 20;
/// The size of an entry, and how far apart two of one table may be.
const ENTRY: u64 = 32;
const NEAR: u64 = 64 * ENTRY;

/// Why those functions see this system's clock.
pub const NOT_FOUND: &str = "time.monotonic wasn't found in the program, so it reads this system's clock";

/// A mapping of the program's or its library's file.
struct Mapped {
    range: Range<u64>,
    may: String,
}

/// Whether that thread stopped since it reads such a clock for the first time. If so, its functions are replaced, and it
/// goes on; what is returned says why not.
pub fn meet(process: Tid, tid: Tid) -> Option<Result<(), &'static str>> {
    let registers = ptrace::registers(tid).ok()?;
    if registers.rip != Entry::Meet.address() {
        return None;
    }
    let replaced = replace(process).unwrap_or(false);
    let state = if replaced { READY } else { NONE };
    let _ = memory_of(process).and_then(|memory| memory.write_all_at(&state.to_le_bytes(), DATA + STATE));
    let _ = ptrace::set_registers(tid, &Registers { rip: registers.rip + STOPS, orig_rax: u64::MAX, ..registers });
    Some(if replaced { Ok(()) } else { Err(NOT_FOUND) })
}

fn replace(process: Tid) -> io::Result<bool> {
    let memory = memory_of(process)?;
    let maps = std::fs::read_to_string(format!("/proc/{process}/maps"))?;
    let program = std::fs::read_link(format!("/proc/{process}/exe"))?;
    for file in files(&maps, program.to_str().unwrap_or_default()) {
        if let Some(found) = find(&memory, &file) {
            for (at, (place, (_, _, entry))) in found.iter().zip(REPLACED).enumerate() {
                let Some(place) = place else { continue };
                let mut own = [0; 8];
                memory.read_exact_at(&mut own, place + 8)?;
                memory.write_all_at(&own, DATA + OWN + 8 * at as u64)?;
                memory.write_all_at(&entry.address().to_le_bytes(), place + 8)?;
            }
            return Ok(true);
        }
    }
    Ok(false)
}

/// The mappings of the program, and of a library that has the interpreter.
fn files(maps: &str, program: &str) -> Vec<Vec<Mapped>> {
    let line = |line: &str| {
        let mut fields = line.splitn(6, ' ');
        let (from, to) = fields.next()?.split_once('-')?;
        let hex = |text| u64::from_str_radix(text, 16).ok();
        let may = fields.next()?.to_owned();
        Some((fields.nth(3)?.trim().to_owned(), Mapped { range: hex(from)?..hex(to)?, may }))
    };
    let is_it =
        |path: &str| path == program || path.rsplit('/').next().is_some_and(|name| name.starts_with("libpython3"));
    let mut files: Vec<(String, Vec<Mapped>)> = Vec::new();
    for (path, mapped) in maps.lines().filter_map(line).filter(|(path, _)| is_it(path)) {
        match files.iter_mut().find(|(known, _)| *known == path) {
            Some((_, all)) => all.push(mapped),
            None => files.push((path, vec![mapped])),
        }
    }
    files.into_iter().map(|(_, all)| all).collect()
}

/// Where the entries of the replaced functions are, in their order. Before 3.7, there is no `monotonic_ns`.
fn find(memory: &File, file: &[Mapped]) -> Option<[Option<u64>; 3]> {
    let parts: Vec<(u64, Vec<u8>)> = file.iter().filter_map(|mapped| read(memory, mapped)).collect();
    let beside = entries(&parts, file, BESIDE, NO_ARGUMENTS);
    let of = |(name, flags, _): (&[u8], u32, Entry)| -> Option<u64> {
        let all = entries(&parts, file, name, flags);
        let near = |&at: &u64| beside.iter().any(|other| other.abs_diff(at) < NEAR);
        let mut near = all.into_iter().filter(near);
        near.next().filter(|_| near.next().is_none())
    };
    Some([Some(of(REPLACED[0])?), of(REPLACED[1]), Some(of(REPLACED[2])?)])
}

fn read(memory: &File, mapped: &Mapped) -> Option<(u64, Vec<u8>)> {
    let length = mapped.range.end - mapped.range.start;
    if !mapped.may.starts_with('r') || length > MOST {
        return None;
    }
    let mut bytes = vec![0; usize::try_from(length).ok()?];
    memory.read_exact_at(&mut bytes, mapped.range.start).ok()?;
    Some((mapped.range.start, bytes))
}

/// The entries of functions with that name and those flags.
fn entries(parts: &[(u64, Vec<u8>)], file: &[Mapped], name: &[u8], flags: u32) -> Vec<u64> {
    let named = parts.iter().flat_map(|(from, bytes)| {
        let is_name = move |(at, window): (usize, &[u8])| (window == name).then_some(from + at as u64);
        bytes.windows(name.len()).enumerate().filter_map(is_name)
    });
    let names: Vec<u64> = named.collect();
    let is_code = |address: u64| file.iter().any(|one| one.may.contains('x') && one.range.contains(&address));
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap_or_default());
    let of_part = |(from, bytes): &(u64, Vec<u8>)| -> Vec<u64> {
        let is_entry = |at: &usize| {
            let entry = &bytes[*at..];
            entry.len() >= 24
                && names.contains(&word(&entry[..8]))
                && is_code(word(&entry[8..16]))
                && word(&entry[16..24]) as u32 == flags
        };
        (0..bytes.len()).step_by(8).filter(is_entry).map(|at| from + at as u64).collect()
    };
    parts.iter().flat_map(of_part).collect()
}

fn memory_of(process: Tid) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(format!("/proc/{process}/mem"))
}
