//! Identifies the program that a process has just executed.

use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};

use crate::linux::process::program_file::{self, ProgramFile};
use crate::linux::process::ptrace::Tid;
use crate::plan::{Executed, version};

/// How many bytes of a file are searched for its notes.
const HEAD: usize = 8 << 10;
/// How many bytes of its data are searched for the build info of Go's linker; the same limit as in debug/buildinfo.
const DATA: usize = 64 << 10;
/// The magic bytes of that build info. <https://pkg.go.dev/debug/buildinfo>
const BUILD_INFO: &[u8] = b"\xff Go buildinf:";
/// How much of a section is read.
const COMMENT_MAX: u64 = 4 << 10;
const STRINGS_MAX: u64 = 1 << 20;
const CONSTANTS_MAX: u64 = 32 << 20;
const PT_LOAD: u32 = 1;
const PF_W: u32 = 2;

/// The program of a process, and its file.
pub struct Found {
    pub executed: Executed,
    file: Option<File>,
}

/// Inspects the program of a process.
pub fn identify(process: Tid) -> Found {
    let link = format!("/proc/{process}/exe");
    let path = std::fs::read_link(&link).unwrap_or_default();
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let file = program_file::open(&link);
    let mut head = vec![0; HEAD];
    let read = file.as_ref().and_then(|file| file.read_at(&mut head, 0).ok()).unwrap_or(0);
    head.truncate(read);
    let mut executed = Executed { file: name, head, ..Executed::default() };
    if let Some(file) = file.as_ref().and_then(ProgramFile::read) {
        executed.comment = comments(&file);
        executed.libraries = libraries(&file);
        if executed.comment.contains("rustc ") {
            executed.packages = packages(&file);
        }
    }
    if executed.file == "java" {
        executed.release = release(process).unwrap_or_default();
    }
    Found { executed, file }
}

/// The sections in which compilers name themselves: all but Free Pascal's use the first.
fn comments(file: &ProgramFile) -> String {
    let text = |name| file.section(name, COMMENT_MAX).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    [".comment", ".fpcdata"].into_iter().filter_map(text).collect()
}

/// The names of libraries among the strings that a file's dynamic section refers to.
fn libraries(file: &ProgramFile) -> Vec<String> {
    let strings = file.section(".dynstr", STRINGS_MAX).unwrap_or_default();
    let strings = strings.split(|&byte| byte == 0).filter_map(|name| std::str::from_utf8(name).ok());
    strings.filter(|name| name.starts_with("lib") && name.contains(".so")).map(str::to_owned).collect()
}

/// The packages that a Rust program was built of: their versions are in the paths that its panics tell.
fn packages(file: &ProgramFile) -> Vec<String> {
    let constants = file.section(".rodata", CONSTANTS_MAX).unwrap_or_default();
    let is_package = |name: &[u8]| {
        let version = name.iter().position(|&byte| byte == b'-').and_then(|at| name.get(at + 1));
        name.len() < 64 && name.is_ascii() && name[0].is_ascii_lowercase() && version.is_some_and(u8::is_ascii_digit)
    };
    let parts = constants.split(|&byte| byte == b'/').filter(|name| !name.is_empty() && is_package(name));
    let names: BTreeSet<String> = parts.map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    names.into_iter().collect()
}

/// The file in which a JDK says its version.
fn release(process: Tid) -> Option<String> {
    let program = std::fs::read_link(format!("/proc/{process}/exe")).ok()?;
    std::io::read_to_string(program_file::open(program.parent()?.parent()?.join("release"))?).ok()
}

/// Clients of daemons that start programs. `podman` and `flatpak` start theirs themselves.
const CLIENTS: [&str; 7] = ["docker", "nerdctl", "ctr", "crictl", "kubectl", "machinectl", "systemd-run"];
const BY_A_DAEMON: &str = "what a daemon starts for docker, systemd-run or their like runs with native timing: run oversleep in \
    the container itself";

/// Why what a process has a daemon start isn't emulated; `None` if it starts programs itself.
pub fn started_by_a_daemon(process: Tid) -> Option<&'static str> {
    let path = std::fs::read_link(format!("/proc/{process}/exe")).unwrap_or_default();
    let name = path.file_name()?.to_str()?;
    CLIENTS.contains(&name).then_some(BY_A_DAEMON)
}

/// Whether its file is setuid or setgid, which changes the user or group that the program runs as.
pub fn changes_user(process: Tid) -> bool {
    std::fs::metadata(format!("/proc/{process}/exe"))
        .is_ok_and(|file| file.mode() & (libc::S_ISUID | libc::S_ISGID) != 0)
}

impl Found {
    /// The version in the program's data, as Go's linker stored it.
    pub fn version(&self, mark: &str) -> Option<[u32; 2]> {
        let data = self.data()?;
        let at = data.windows(BUILD_INFO.len()).position(|window| window == BUILD_INFO)?;
        // Since Go 1.18, the version follows a header of 32 bytes.
        let text = data.get(at + 32..)?;
        version(&String::from_utf8_lossy(&text[..text.len().min(64)]), mark)
    }

    /// The start of its first writable segment.
    fn data(&self) -> Option<Vec<u8>> {
        let head = &self.executed.head;
        let word = |at: usize| Some(u64::from_le_bytes(head.get(at..at + 8)?.try_into().ok()?));
        let half = |at: usize| Some(u32::from_le_bytes(head.get(at..at + 4)?.try_into().ok()?));
        let (headers, counts) = (word(0x20)? as usize, half(0x36)?);
        let (each, count) = ((counts & 0xffff) as usize, (counts >> 16) as usize);
        let offset = (0..count).map(|at| headers.saturating_add(at * each)).find_map(|header| {
            let is_data = half(header)? == PT_LOAD && half(header + 4)? & PF_W != 0;
            is_data.then(|| word(header + 8)).flatten()
        })?;
        let mut data = vec![0; DATA];
        let read = self.file.as_ref()?.read_at(&mut data, offset).ok()?;
        data.truncate(read);
        Some(data)
    }

    /// The address range of its own code in the process, which runs nothing yet.
    pub fn own_code(&self, process: Tid) -> std::ops::Range<u64> {
        let path = std::fs::read_link(format!("/proc/{process}/exe")).unwrap_or_default();
        let maps = std::fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
        let ranges =
            maps.lines().filter(|line| path.to_str().is_some_and(|path| line.ends_with(path))).filter_map(|line| {
                let (begin, end) = line.split_whitespace().next()?.split_once('-')?;
                Some((u64::from_str_radix(begin, 16).ok()?, u64::from_str_radix(end, 16).ok()?))
            });
        ranges.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1))).map_or(0..0, |(begin, end)| begin..end)
    }
}
