//! What of a trace's records is needed: a line for each kind.

use oversleep_why::calls::Arch;
use oversleep_why::etw::{Class, Period, Record, decode};
use oversleep_why::event::Name;

use super::event::{Kind, Raw, each};
use crate::cursor::Bytes;
use crate::order::{Order, SLIP_NS};

/// The kinds, as Microsoft's tools name them.
pub const KINDS: &[&str] = &[
    "CSwitch",
    "ReadyThread",
    "Thread",
    "ThreadEnd",
    "Interrupt",
    "DPC",
    "SysCallEnter",
    "SysCallExit",
    "Process",
    "ThreadName",
    "CompactCSwitch",
    "TimerResolution",
];
const COMPACT: usize = 10;
const RESOLUTION: usize = 11;
/// How many records in a row are believed when they jump ahead: each has a time of its own.
const CONFIRM: usize = 4;

/// Groups of the kernel's records, and their classes' GUIDs.
const PROCESS: u8 = 3;
const THREAD: u8 = 5;
const CONFIG: u8 = 11;
const PERF_INFO: u8 = 15;
const PROCESS_GUID: [u8; 16] = *b"\xd0\xa8\x6f\x3d\x05\xfe\xd0\x11\x9d\xda\x00\xc0\x4f\xd7\xba\x7c";
const THREAD_GUID: [u8; 16] = *b"\xd1\xa8\x6f\x3d\x05\xfe\xd0\x11\x9d\xda\x00\xc0\x4f\xd7\xba\x7c";
const PERF_INFO_GUID: [u8; 16] = *b"\xb4\xbf\x1d\xce\x7e\x13\xda\x4d\x87\xb0\x3f\x59\xaa\x10\x2c\xbc";
/// Microsoft-Windows-Kernel-Power.
const POWER_GUID: [u8; 16] = *b"\x3a\x3b\x1c\x33\x05\x20\xc2\x44\xac\x5e\x77\x22\x0c\x37\xd6\xb4";

/// What a record means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Needed {
    /// One that the translator takes.
    Record(Record),
    /// The name of a process, in full.
    Process { process: u32, name: String },
    /// The name of a thread; its process was named by the same record.
    ThreadName { process: u32, thread: u32, name: Name },
    /// A timer resolution, in units of 100 ns, and the name of the process that requests it.
    Period { of: Period, period: u32, is_rundown: bool, name: Option<String> },
    /// The timer resolution that the system has, the longest one that it can have, and what the kernel requests.
    Clock { period: u32, longest: u32, kernel: u32 },
    /// A context switch that can't be decoded.
    Compact,
}

impl Needed {
    /// Its place in [`KINDS`].
    pub fn kind(&self) -> usize {
        match self {
            Needed::Record(Record::Switch { .. }) => 0,
            Needed::Record(Record::Ready { .. }) => 1,
            Needed::Record(Record::ThreadEnd { .. }) => 3,
            Needed::Record(Record::Handler { is_interrupt: true, .. }) => 4,
            Needed::Record(Record::Handler { .. }) => 5,
            Needed::Record(Record::CallEnter) => 6,
            Needed::Record(Record::CallExit { .. }) => 7,
            Needed::Record(_) => 2,
            Needed::Process { .. } => 8,
            Needed::ThreadName { .. } => 9,
            Needed::Compact => COMPACT,
            Needed::Period { .. } | Needed::Clock { .. } => RESOLUTION,
        }
    }
}

/// A needed record, and its time by the file's clock.
pub struct Timed {
    pub t: u64,
    pub thread: u32,
    pub found: Needed,
}

/// Passes each record of a buffer to `see`, and the needed ones whose time is right to `f`, in the order in which the buffer
/// has them. Whether all could be read, and none was left out; `ticks` are those of a second.
pub fn each_needed(
    bytes: &[u8],
    pointer: usize,
    ticks: u64,
    mut see: impl FnMut(&Raw<'_>),
    mut f: impl FnMut(Timed, u64),
) -> bool {
    let slip = u64::try_from(u128::from(SLIP_NS) * u128::from(ticks) / 1_000_000_000).unwrap_or(u64::MAX);
    let mut order = Order::new(slip, CONFIRM);
    let is_whole = each(bytes, |raw| {
        see(raw);
        if let Some(found) = needed(raw, pointer) {
            order.push(raw.t, Timed { t: raw.t, thread: raw.thread, found }, &mut f);
        }
    });
    order.flush(&mut f);
    is_whole && !order.has_dropped()
}

/// What a record means; `None` if it isn't needed.
pub fn needed(raw: &Raw<'_>, pointer: usize) -> Option<Needed> {
    let (group, opcode) = match raw.kind {
        Kind::Kernel { group, opcode } => (group, opcode),
        Kind::Class { guid: PROCESS_GUID, opcode } => (PROCESS, opcode),
        Kind::Class { guid: THREAD_GUID, opcode } => (THREAD, opcode),
        Kind::Class { guid: PERF_INFO_GUID, opcode } => (PERF_INFO, opcode),
        Kind::Provider { guid: POWER_GUID, id } => return period(raw, id),
        _ => return None,
    };
    match (group, opcode) {
        (THREAD, 37) => Some(Needed::Compact),
        (THREAD, 72) => thread_name(raw.payload),
        (THREAD, 1 | 3 | 4) => named_thread(raw, pointer).or_else(|| record(Class::Thread, raw, opcode)),
        (THREAD, _) => record(Class::Thread, raw, opcode),
        (PERF_INFO, _) => record(Class::PerfInfo, raw, opcode),
        (PROCESS, 1 | 3 | 4) => process(raw, pointer),
        _ => None,
    }
}

fn record(class: Class, raw: &Raw<'_>, opcode: u8) -> Option<Needed> {
    decode(class, opcode, raw.payload).map(Needed::Record)
}

/// Since version 4, the record of a thread ends with its name.
fn named_thread(raw: &Raw<'_>, pointer: usize) -> Option<Needed> {
    let mut rest = Bytes(raw.payload);
    let (process, thread) = (rest.u32()?, rest.u32()?);
    rest.take(7 * pointer + 4 + 4)?;
    let name = wide(rest.0);
    let has_name = raw.version >= 4 && !name.is_empty();
    has_name.then(|| Needed::ThreadName { process, thread, name: short(&name) })
}

fn thread_name(payload: &[u8]) -> Option<Needed> {
    let mut rest = Bytes(payload);
    Some(Needed::ThreadName { process: rest.u32()?, thread: rest.u32()?, name: short(&wide(rest.0)) })
}

/// Of `Process_V1` to `Process_V4`: after a security identifier of any length comes the name of the program's file.
fn process(raw: &Raw<'_>, pointer: usize) -> Option<Needed> {
    let mut rest = Bytes(raw.payload);
    rest.take(pointer)?;
    let process = rest.u32()?;
    // The parent, the session, the exit status; the directory of pages since version 3, and flags since version 4.
    rest.take(3 * 4)?;
    rest.take(if raw.version >= 3 { pointer } else { 0 })?;
    rest.take(if raw.version >= 4 { 4 } else { 0 })?;
    if Bytes(rest.0).u32()? == 0 {
        rest.take(4)?;
    } else {
        rest.take(2 * pointer)?;
        let subs = usize::from(*rest.0.get(1)?);
        rest.take(8 + 4 * subs)?;
    }
    let name = printable(&String::from_utf8_lossy(rest.text()?));
    Some(Needed::Process { process, name })
}

/// The machine's processor, of `SystemConfig_V3_CPU`: behind names of a fixed length, a flag and the highest address.
pub fn arch(raw: &Raw<'_>, pointer: usize) -> Option<Arch> {
    const NAMES_END: usize = 5 * 4 + 2 * (256 + 134);
    if raw.kind != (Kind::Kernel { group: CONFIG, opcode: 10 }) || raw.version < 3 {
        return None;
    }
    match Bytes(raw.payload.get(NAMES_END + 2 * pointer..)?).u16()? {
        9 => Some(Arch::X86_64),
        12 => Some(Arch::Aarch64),
        _ => None,
    }
}

/// The records of Kernel-Power about the timer resolution, by their numbers in its manifest.
fn period(raw: &Raw<'_>, id: u16) -> Option<Needed> {
    let mut rest = Bytes(raw.payload);
    let period = rest.u32()?;
    let plain = |of| Needed::Period { of, period, is_rundown: false, name: None };
    Some(match id {
        // SystemTimeResolutionChange, which names the process since version 1; and what is held already.
        63 if raw.version == 0 => plain(Period::Process(raw.process)),
        63 | 97 => {
            let (process, letters) = (rest.u32()?, usize::from(rest.u16()?));
            let path = wide(rest.0.get(..letters * 2).unwrap_or(rest.0));
            let file = path.rsplit(['\\', '/']).next().map(str::to_owned);
            let name = file.filter(|name| !name.is_empty());
            Needed::Period { of: Period::Process(process), period, is_rundown: id == 97, name }
        }
        95 => plain(Period::Tick),
        98 => plain(Period::Kernel),
        96 => {
            let longest = rest.u32()?.max(rest.u32()?);
            let (requests, kernel) = (rest.u32()?, rest.u32()?);
            Needed::Clock { period, longest, kernel: if requests == 0 { 0 } else { kernel } }
        }
        _ => return None,
    })
}

/// Text of 16-bit letters, up to its end.
fn wide(bytes: &[u8]) -> String {
    let letters = bytes.chunks_exact(2).map(|two| u16::from_le_bytes([two[0], two[1]]));
    let letters: Vec<u16> = letters.take_while(|&letter| letter != 0).take(1_024).collect();
    printable(&String::from_utf16_lossy(&letters))
}

fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).take(128).collect()
}

/// As much of a name as an event has room for.
pub fn short(name: &str) -> Name {
    let mut short = Name::default();
    let end = (0..=short.len().min(name.len())).rev().find(|&end| name.is_char_boundary(end)).unwrap_or(0);
    short[..end].copy_from_slice(&name.as_bytes()[..end]);
    short
}
