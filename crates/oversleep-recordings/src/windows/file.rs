//! An ETL file: its buffers, and what its first record says of the whole.

use oversleep_record::Nanos;

use super::xpress;
use crate::cursor::Bytes;
use crate::source::Source;
use crate::{CPUS_MAX, Fault, packed};

/// The head of a buffer, before its records.
pub const HEAD: usize = 72;
/// The most that a buffer may hold.
const BUFFER_MAX: usize = 16 << 20;
/// The most buffers of a file.
const BUFFERS_MAX: usize = 1 << 20;
/// Flags of buffers: events or a buffer were lost before; the number of the CPU has 16 bits; it is compressed.
const LOST: u16 = 2 | 4;
const WIDE_CPU: u16 = 0x20;
const COMPRESSED: u16 = 0x40;
/// The head of the first record, and where its fields are that follow the time zone.
const SYSTEM_HEAD: usize = 32;
const NAMES_64: usize = 8;
const TIME_ZONE: usize = 172;
/// From 1601 to 1970.
const UNIX_EPOCH_S: i64 = 11_644_473_600;
const NS_PER_S: u64 = 1_000_000_000;
/// Where converted times begin.
pub const ORIGIN_NS: u64 = NS_PER_S;

/// Where a buffer is, and what its head says.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    at: u64,
    size: usize,
    /// Bytes of records, unpacked.
    used: usize,
    pub sequence: u64,
    pub cpu: u16,
    pub logger: u16,
    flags: u16,
}

impl Buffer {
    fn of(head: &[u8], at: u64) -> Option<Buffer> {
        let u32_at = |place: usize| Bytes(&head[place..]).u32();
        let u16_at = |place: usize| Bytes(&head[place..]).u16();
        let (size, used, flags) = (u32_at(0)? as usize, u32_at(4)? as usize, u16_at(52)?);
        let cpu = if flags & WIDE_CPU == 0 { u16::from(head[40]) } else { u16_at(40)? };
        let sequence = Bytes(&head[24..]).u64()?;
        let buffer = Buffer { at, size, used: used.checked_sub(HEAD)?, sequence, cpu, logger: u16_at(42)?, flags };
        let is_sound = size >= HEAD && size.max(used) <= BUFFER_MAX && u32::from(cpu) < CPUS_MAX;
        is_sound.then_some(buffer)
    }

    pub fn follows_loss(&self) -> bool {
        self.flags & LOST != 0
    }
}

/// The buffers of a file, one after the other.
pub struct Buffers<'a> {
    source: &'a dyn Source,
    packed: Vec<u8>,
    at: u64,
    count: usize,
    /// The file ends within a buffer, or a buffer is damaged.
    pub is_truncated: bool,
}

impl<'a> Buffers<'a> {
    pub fn new(source: &'a dyn Source) -> Buffers<'a> {
        Buffers { source, packed: Vec::new(), at: 0, count: 0, is_truncated: false }
    }

    /// The next buffer and its records.
    pub fn next(&mut self) -> Result<Option<(Buffer, Vec<u8>)>, Fault> {
        while self.at < self.source.size() {
            let mut head = [0; HEAD];
            let is_whole = self.source.read_at(self.at, &mut head)? == HEAD;
            let Some(buffer) = Buffer::of(&head, self.at).filter(|_| is_whole) else {
                self.is_truncated = true;
                return Ok(None);
            };
            self.count += 1;
            if self.count > BUFFERS_MAX {
                return Err(Fault::Damaged("it has too many buffers".to_owned()));
            }
            self.at += buffer.size as u64;
            match self.records(&buffer)? {
                Some(records) => return Ok(Some((buffer, records))),
                None => self.is_truncated = true,
            }
        }
        Ok(None)
    }

    /// The records of a buffer; `None` if it is damaged.
    pub fn records(&mut self, buffer: &Buffer) -> Result<Option<Vec<u8>>, Fault> {
        let from = buffer.at + HEAD as u64;
        let stated = buffer.size - HEAD;
        let there = usize::try_from(self.source.size().saturating_sub(from)).unwrap_or(usize::MAX).min(stated);
        self.packed.resize(there, 0);
        let read = self.source.read_at(from, &mut self.packed)?;
        self.packed.truncate(read);
        if buffer.flags & COMPRESSED != 0 {
            let is_possible = buffer.used <= packed::bound(self.packed.len());
            return Ok(if is_possible { xpress::unpack(&self.packed, buffer.used) } else { None });
        }
        self.is_truncated |= read < stated;
        self.packed.truncate(buffer.used);
        Ok(Some(std::mem::take(&mut self.packed)))
    }
}

/// What the first record says.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// `10.0.19041`.
    version: (u8, u8, u32),
    pub pointer: usize,
    pub events_lost: u64,
    pub buffers_lost: u64,
    clock: Clock,
    /// In units of 100 ns since 1601; 0 if unknown.
    start: u64,
    end: u64,
}

impl Header {
    /// A file that is at least so long has it whole.
    pub const BYTES_MAX: usize = HEAD + SYSTEM_HEAD + 320;

    /// Whether so few bytes can be the begin of an ETL file.
    pub fn begins(bytes: &[u8]) -> bool {
        let Some((buffer, record)) = bytes.split_at_checked(HEAD) else { return false };
        let mut record = Bytes(record);
        let (mark, _size) = (record.u32().map(|mark| mark >> 16), record.u16());
        let is_first =
            mark.is_some_and(|mark| [0xc001, 0xc002].contains(&mark)) && record.u16().is_none_or(|hook| hook == 0);
        is_first && Buffer::of(buffer, 0).is_some()
    }

    /// Of the first bytes of a file; `None` if it is no ETL file.
    pub fn of(bytes: &[u8]) -> Option<Header> {
        let buffer = Buffer::of(bytes.get(..HEAD)?, 0)?;
        let mut record = Bytes(bytes.get(HEAD..)?);
        // Version 2 of event 0 of group 0, with a header of 32 or 64 bits.
        let mark = record.u32()?;
        let (size, hook) = (usize::from(record.u16()?), record.u16()?);
        let is_first = [0xc001, 0xc002].contains(&(mark >> 16)) && hook == 0 && size <= buffer.used;
        let payload = bytes.get(HEAD + SYSTEM_HEAD..)?;
        let mut fields = Bytes(payload);
        let (_, version, build, _cpus) = (fields.u32()?, fields.u32()?.to_le_bytes(), fields.u32()?, fields.u32()?);
        let end = fields.u64()?;
        fields.take(5 * 4)?;
        let pointer = fields.u32()? as usize;
        let (events_lost, mhz) = (u64::from(fields.u32()?), u64::from(fields.u32()?));
        if !is_first || ![4, 8].contains(&pointer) {
            return None;
        }
        // Two pointers to names and the time zone, then numbers of 8 bytes.
        let names = 2 * if mark >> 16 == 0xc002 { NAMES_64 } else { pointer };
        fields.take((names + TIME_ZONE).next_multiple_of(8))?;
        let (_boot, hz, start) = (fields.u64()?, fields.u64()?, fields.u64()?);
        let (kind, buffers_lost) = (fields.u32()?, u64::from(fields.u32()?));
        // The performance counter, the system's time, or cycles.
        let hz = match kind {
            2 => 10_000_000,
            3 => mhz * 1_000_000,
            _ => hz,
        };
        let clock = Clock { hz: hz.clamp(1, 1 << 40), base: 0 };
        let version = (version[0], version[1], build);
        Some(Header { version, pointer, events_lost, buffers_lost, clock, start, end })
    }

    pub fn version(&self) -> String {
        let (major, minor, build) = self.version;
        format!("{major}.{minor}.{build}")
    }

    /// How many units of its clock a second has.
    pub fn ticks(&self) -> u64 {
        self.clock.hz
    }

    pub fn start_unix_s(&self) -> Option<i64> {
        let seconds = i64::try_from(self.start / 10_000_000).ok()?;
        (self.start != 0).then_some(seconds - UNIX_EPOCH_S)
    }

    /// How to convert times that begin with that one.
    ///
    /// # Errors
    /// If the stated clock contradicts the stated time of the recording.
    pub fn clock(&self, first: u64, last: u64) -> Result<Clock, Fault> {
        let clock = Clock { base: first, ..self.clock };
        let (spans, stated) =
            (clock.ns(last).saturating_sub(ORIGIN_NS), self.end.saturating_sub(self.start).saturating_mul(100));
        // Records of the session's begin and end may be older or younger than the session.
        let is_possible = spans / 10 <= stated.saturating_add(60 * NS_PER_S);
        if self.start != 0 && self.end > self.start && !is_possible {
            let [spans, stated] = [spans, stated].map(|ns| Nanos(i64::try_from(ns).unwrap_or(i64::MAX)));
            return Err(Fault::Damaged(format!("its records span {spans} by its clock, and it took {stated}")));
        }
        Ok(clock)
    }
}

/// Converts times to ns.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    hz: u64,
    base: u64,
}

impl Clock {
    /// What it counts in.
    pub fn unit_ns(&self) -> u64 {
        NS_PER_S / self.hz
    }

    pub fn ns(&self, t: u64) -> u64 {
        let since = u128::from(t.saturating_sub(self.base));
        let ns = since * u128::from(NS_PER_S) / u128::from(self.hz);
        ORIGIN_NS.saturating_add(u64::try_from(ns).unwrap_or(u64::MAX - ORIGIN_NS))
    }
}
