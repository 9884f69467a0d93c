//! The records of a buffer, each with one of six kinds of headers.

use crate::cursor::Bytes;

/// Bit 7 of the fourth byte is set in every header; 0xc0 marks all but messages.
const MARKED: u8 = 0x80;
const EVENT: u8 = 0xc0;
/// In an event's flags: other data precedes its payload.
const EXTENDED: u16 = 1;
/// What a header without a thread says.
const NO_THREAD: u32 = u32::MAX;

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The kernel's, by group and type.
    Kernel { group: u8, opcode: u8 },
    /// A provider's of the old kind, by GUID and type.
    Class { guid: [u8; 16], opcode: u8 },
    /// A provider's, by GUID and number.
    Provider { guid: [u8; 16], id: u16 },
    /// Another, which isn't needed.
    Other,
}

/// A record.
#[derive(Clone, Copy, Debug)]
pub struct Raw<'a> {
    /// When, by the file's clock; 0 if its header doesn't say.
    pub t: u64,
    pub thread: u32,
    pub process: u32,
    pub kind: Kind,
    pub version: u16,
    pub payload: &'a [u8],
}

/// Passes each record to `f`. Whether all could be read.
pub fn each<'a>(mut bytes: &'a [u8], mut f: impl FnMut(&Raw<'a>)) -> bool {
    // What remains of the last 8 bytes is padding.
    while bytes.len() >= 8 {
        let Some((raw, size)) = one(bytes) else { return bytes.iter().all(|&byte| byte == 0xff || byte == 0) };
        f(&raw);
        bytes = bytes.get(size.next_multiple_of(8)..).unwrap_or_default();
    }
    true
}

/// The first record, and its size.
fn one(bytes: &[u8]) -> Option<(Raw<'_>, usize)> {
    let (first, kind, mark) = (Bytes(bytes).u16()?, bytes[2], bytes[3]);
    if mark & MARKED == 0 {
        return None;
    }
    // The kernel's headers begin with a version, and their size is in the next word.
    let is_kernel = mark == EVENT && matches!(kind, 1..=4 | 16 | 17);
    let size = usize::from(if is_kernel { Bytes(&bytes[4..]).u16()? } else { first });
    let record = bytes.get(..size).filter(|record| record.len() >= 8)?;
    let other = Raw { t: 0, thread: NO_THREAD, process: 0, kind: Kind::Other, version: 0, payload: &[] };
    let raw = match (mark, kind) {
        (EVENT, 1..=4 | 16 | 17) => kernel(record, kind, first),
        (EVENT, 10 | 20) => class(record),
        (EVENT, 18 | 19) => provider(record),
        // INSTANCE, ERROR and messages: no provider that is needed writes them.
        _ => Some(other),
    };
    Some((raw?, size))
}

/// SYSTEM, COMPACT (without the times of the processor) and PERFINFO (without the thread, too).
fn kernel(record: &[u8], kind: u8, version: u16) -> Option<Raw<'_>> {
    let mut rest = Bytes(&record[6..]);
    let [opcode, group] = rest.u16()?.to_le_bytes();
    let (thread, process) = if kind >= 16 { (NO_THREAD, 0) } else { (rest.u32()?, rest.u32()?) };
    let t = rest.u64()?;
    if kind <= 2 {
        rest.take(8)?;
    }
    Some(Raw { t, thread, process, kind: Kind::Kernel { group, opcode }, version, payload: rest.0 })
}

/// FULL.
fn class(record: &[u8]) -> Option<Raw<'_>> {
    let mut rest = Bytes(&record[4..]);
    let [opcode, _level] = rest.u16()?.to_le_bytes();
    let version = rest.u16()?;
    let (thread, process, t) = (rest.u32()?, rest.u32()?, rest.u64()?);
    let guid = rest.take(16)?.try_into().ok()?;
    rest.take(8)?;
    Some(Raw { t, thread, process, kind: Kind::Class { guid, opcode }, version, payload: rest.0 })
}

/// EVENT_HEADER.
fn provider(record: &[u8]) -> Option<Raw<'_>> {
    let mut rest = Bytes(&record[4..]);
    let (flags, _) = (rest.u16()?, rest.u16()?);
    let (thread, process, t) = (rest.u32()?, rest.u32()?, rest.u64()?);
    let guid = rest.take(16)?.try_into().ok()?;
    let id = rest.u16()?;
    let [version, _channel] = rest.u16()?.to_le_bytes();
    // The rest of the descriptor, the times of the processor, the activity.
    rest.take(12 + 8 + 16)?;
    let mut has_more = flags & EXTENDED != 0;
    while has_more {
        let (_, _, linkage, size) = (rest.u16()?, rest.u16()?, rest.u16()?, rest.u16()?);
        rest.take(usize::from(size).next_multiple_of(8))?;
        has_more = linkage & 1 != 0;
    }
    Some(Raw { t, thread, process, kind: Kind::Provider { guid, id }, version: u16::from(version), payload: rest.0 })
}
