//! Which language runtime a running process has, and whose locks its threads wait for.

use std::fs::{self, File};
use std::io::Read;
use std::ops::Range;

use oversleep_record::observed::SeenRuntime;
use oversleep_system::calls::{Arch, Call};

use crate::descriptor::{Descriptor, InProcess, descriptors};

/// How many bytes of a program's file are searched for its notes.
const HEAD: u64 = 8 << 10;
/// The most threads that one look is at.
const THREADS_MAX: usize = 256;

/// A running process of a language runtime.
#[derive(Debug)]
pub struct Process {
    pid: u32,
    name: &'static str,
    /// Where locks of the runtime are.
    memory: Vec<Range<u64>>,
    waits: Waits,
}

/// For whose locks threads were seen to wait with a timeout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Waits {
    own: bool,
    others: bool,
}

impl Process {
    /// A process and its runtime; `None` if it has no known one, or several.
    pub fn of(pid: u32) -> Option<Process> {
        let maps = fs::read_to_string(format!("/proc/{pid}/maps")).ok()?;
        let mut head = Vec::new();
        let file = File::open(format!("/proc/{pid}/exe"));
        // Of a program that has ended since, its files alone tell.
        _ = file.and_then(|file| file.take(HEAD).read_to_end(&mut head));
        let (descriptor, process) = recognised(&maps, &head)?;
        let memory = if process.has_lock { static_memory(&maps, process) } else { Vec::new() };
        Some(Process { pid, name: &descriptor.name, memory, waits: Waits::default() })
    }

    /// Its id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Looks at what its threads wait for, without stopping them.
    pub fn look(&mut self) {
        let Some(arch) = Arch::named(std::env::consts::ARCH).filter(|_| !self.memory.is_empty()) else { return };
        let Ok(threads) = fs::read_dir(format!("/proc/{}/task", self.pid)) else { return };
        for thread in threads.flatten().take(THREADS_MAX) {
            if let Ok(call) = fs::read_to_string(thread.path().join("syscall")) {
                self.saw(&call, arch);
            }
        }
    }

    /// `202 0x7f… 0x189 …`: the call that a thread is in, and its arguments.
    fn saw(&mut self, call: &str, arch: Arch) {
        let mut words = call.split_whitespace();
        let call = words.next().and_then(|number| Call::of(arch, number.parse().ok()?));
        let arguments: Vec<u64> =
            words.filter_map(|word| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok()).collect();
        let (Some("futex"), [address, _, _, timeout, ..]) = (call.map(|call| call.name), &arguments[..]) else {
            return;
        };
        match (timeout, self.memory.iter().any(|memory| memory.contains(address))) {
            (0, _) => {}
            (_, true) => self.waits.own = true,
            (_, false) => self.waits.others = true,
        }
    }

    /// What was seen of it.
    pub fn seen(&self) -> SeenRuntime {
        SeenRuntime { name: self.name.to_owned(), waits_for_own_lock: self.waits.own && !self.waits.others }
    }
}

/// The runtime of a process with these mappings, whose program's file begins so.
fn recognised(maps: &str, head: &[u8]) -> Option<(&'static Descriptor, &'static InProcess)> {
    let code: Vec<&str> = mappings(maps).filter(|mapping| mapping.may.contains('x')).map(|one| one.file).collect();
    let is_of = |process: &InProcess| {
        code.iter().any(|file| process.has_file(file))
            || process.note.as_deref().is_some_and(|note| has_note(head, note))
    };
    let all = descriptors().iter().filter_map(|one| Some((one, one.process.as_ref()?)));
    let mut found = all.filter(|(_, process)| is_of(process));
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// A line of a process's map.
struct Mapping<'a> {
    range: Range<u64>,
    may: &'a str,
    /// The file's name without its folder; empty for memory without one.
    file: &'a str,
}

fn mappings(maps: &str) -> impl Iterator<Item = Mapping<'_>> {
    maps.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let (begin, end) = words.next()?.split_once('-')?;
        let (begin, end) = (u64::from_str_radix(begin, 16).ok()?, u64::from_str_radix(end, 16).ok()?);
        let may = words.next()?;
        let path = words.nth(3).unwrap_or_default();
        Some(Mapping { range: begin..end, may, file: path.rsplit('/').next().unwrap_or_default() })
    })
}

/// The writable static memory of a runtime's files: what is initialised is mapped from the file, and the rest follows it.
fn static_memory(maps: &str, process: &InProcess) -> Vec<Range<u64>> {
    let mut memory: Vec<Range<u64>> = Vec::new();
    for one in mappings(maps).filter(|one| one.may.starts_with("rw")) {
        match memory.last_mut() {
            Some(last) if one.file.is_empty() && last.end == one.range.start => last.end = one.range.end,
            _ if process.has_file(one.file) => memory.push(one.range),
            _ => {}
        }
    }
    memory
}

/// Whether the head of a file contains a note of that name: the length of the name, that of the content, a type, the name.
fn has_note(head: &[u8], name: &str) -> bool {
    let is_note = |note: &[u8]| {
        let length = u32::from_le_bytes([note[0], note[1], note[2], note[3]]) as usize;
        note[12..].starts_with(name.as_bytes()) && (name.len() + 1..=name.len() + 4).contains(&length)
    };
    head.windows(12 + name.len()).step_by(4).any(is_note)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PYTHON: &str = "\
55d0c0000000-55d0c0200000 r-xp 00001000 fe:00 11 /opt/python/bin/python3.11
55d0c0400000-55d0c0480000 rw-p 00400000 fe:00 11 /opt/python/bin/python3.11
55d0c0480000-55d0c04c0000 rw-p 00000000 00:00 0
55d0c1000000-55d0c1100000 rw-p 00000000 00:00 0 [heap]
7f0000000000-7f0000100000 rw-p 00000000 00:00 0
";

    fn name(maps: &str, head: &[u8]) -> Option<&'static str> {
        recognised(maps, head).map(|(descriptor, _)| &*descriptor.name)
    }

    #[test]
    fn a_runtime_is_known_by_its_files_or_its_note() {
        let maps = |file: &str| format!("7f0000000000-7f0000100000 r-xp 00000000 fe:00 11 /opt/lib/{file}\n");
        let note = |name: &[u8; 4]| [&[0x7f; 64][..], &[3, 0, 0, 0, 20, 0, 0, 0, 4, 0, 0, 0], name].concat();
        assert_eq!(name(PYTHON, &[]), Some("python"));
        assert_eq!(name(&maps("libpython3.12.so.1.0"), &[]), Some("python"), "as a library");
        assert_eq!(name(&maps("libjvm.so"), &[]), Some("java"));
        assert_eq!(name(&maps("node"), &[]), Some("node"));
        assert_eq!(name(&maps("libcoreclr.so"), &[]), Some("dotnet"));
        assert_eq!(name(&maps("server"), &note(b"Go\0\0")), Some("go"));
        assert_eq!(name(&maps("server"), &note(b"GNU\0")), None);
        assert_eq!(name(&maps("python3.11").replace("r-xp", "r--p"), &[]), None, "it runs nothing of it");
        assert_eq!(name(&(maps("libjvm.so") + PYTHON), &[]), None, "either could be meant");
    }

    #[test]
    fn a_lock_of_the_interpreter_is_in_its_static_memory() {
        let (_, process) = recognised(PYTHON, &[]).expect("Python");
        let seen = |calls: &[&str]| {
            let (memory, waits) = (static_memory(PYTHON, process), Waits::default());
            let mut python = Process { pid: 1, name: "python", memory, waits };
            calls.iter().for_each(|call| python.saw(call, Arch::X86_64));
            python.seen().waits_for_own_lock
        };
        let data = "202 0x55d0c0400100 0x189 0x0 0x7ffd0000 0x0 0xffffffff 0x7ffd 0x7f00\n";
        let zeroed = "202 0x55d0c0480100 0x189 0x0 0x7ffd0000 0x0 0xffffffff 0x7ffd 0x7f00\n";
        let heap = "202 0x55d0c1000100 0x189 0x0 0x7ffd0000 0x0 0xffffffff 0x7ffd 0x7f00\n";
        let untimed = "202 0x55d0c1000100 0x189 0x0 0x0 0x0 0xffffffff 0x7ffd 0x7f00\n";
        let sleep = "230 0x1 0x1 0x7ffd0000 0x0 0x0 0x0 0x7ffd 0x7f00\n";
        assert!(seen(&[data]) && seen(&[zeroed, untimed, sleep, "running\n"]));
        assert!(!seen(&[]) && !seen(&[untimed]) && !seen(&[heap]));
        assert!(!seen(&[data, heap]), "the program waits for locks of its own, too");
    }
}
