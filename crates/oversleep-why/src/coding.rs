//! How a recording's events are encoded: each field as its difference from what the events before it suggest, as a number of
//! variable length.

use std::collections::HashMap;

use crate::event::{Event, Kind, Name};

/// The most names that a recording may have.
const NAMES_MAX: u64 = 1 << 20;

/// What both encoder and decoder remember of previous events.
#[derive(Clone, Debug, Default)]
pub(crate) struct Coder {
    t: u64,
    tid: u32,
    tgid: u32,
    names: HashMap<Name, u64>,
    listed: Vec<Name>,
}

/// A bit mask of a kind's fields that are times, or close to one: they are encoded relative to the event's own time.
fn time_fields(kind: Kind) -> u8 {
    match kind {
        Kind::Arm => 0b01_1001,
        Kind::Fire => 0b01_1001,
        Kind::Waking => 0b00_0010,
        Kind::Run => 0b00_0001,
        Kind::Context => 0b10_1111,
        Kind::Set => 0b01_1001,
        _ => 0,
    }
}

impl Coder {
    pub(crate) fn encode(&mut self, event: &Event, out: &mut Vec<u8>) {
        out.push(event.kind.number() as u8);
        push(out, zigzag(event.t.wrapping_sub(self.t)));
        push(out, u64::from(event.cpu));
        push(out, zigzag(i64::from(event.tid).wrapping_sub(i64::from(self.tid)) as u64));
        push(out, zigzag(i64::from(event.tgid).wrapping_sub(i64::from(self.tgid)) as u64));
        push(out, u64::from(event.x));
        let times = time_fields(event.kind);
        for (n, &field) in event.fields.iter().enumerate() {
            // 0 means "not seen" in a field of a time, and stays short.
            match times >> n & 1 {
                1 if field == 0 => push(out, 0),
                1 => push(out, time_code(field, event.t)),
                _ => push(out, field),
            }
        }
        let next = self.names.len() as u64;
        let number = *self.names.entry(event.name).or_insert(next);
        push(out, number);
        if number == next {
            out.extend_from_slice(&event.name);
        }
        (self.t, self.tid, self.tgid) = (event.t, event.tid, event.tgid);
    }

    pub(crate) fn decode(&mut self, bytes: &mut &[u8]) -> Option<Event> {
        let kind = Kind::of(u16::from(*bytes.first()?))?;
        *bytes = &bytes[1..];
        let t = self.t.wrapping_add(unzigzag(pull(bytes)?));
        let cpu = pull(bytes)? as u16;
        let tid = i64::from(self.tid).wrapping_add(unzigzag(pull(bytes)?) as i64) as u32;
        let tgid = i64::from(self.tgid).wrapping_add(unzigzag(pull(bytes)?) as i64) as u32;
        let x = pull(bytes)? as u32;
        let times = time_fields(kind);
        let mut fields = [0; 6];
        for (n, field) in fields.iter_mut().enumerate() {
            let value = pull(bytes)?;
            *field = match (times >> n & 1, value) {
                (1, 0) => 0,
                (1, value) => match t.wrapping_add(unzigzag(value - 1)) {
                    0 => t.wrapping_add(FARTHEST),
                    time => time,
                },
                _ => value,
            };
        }
        let number = pull(bytes)?;
        if number == self.listed.len() as u64 && number < NAMES_MAX {
            self.listed.push(bytes.get(..16)?.try_into().ok()?);
            *bytes = &bytes[16..];
        }
        let name = *self.listed.get(usize::try_from(number).ok()?)?;
        (self.t, self.tid, self.tgid) = (t, tid, tgid);
        Some(Event { t, kind, cpu, tid, tgid, x, fields, name })
    }
}

/// The distance of a time that has no code of its own.
const FARTHEST: u64 = 1 << 63;

/// How a time that isn't 0 is encoded beside its event's own: never as 0. The farthest one has the code that 0 would
/// have, which no time uses.
fn time_code(time: u64, of_event: u64) -> u64 {
    let code = |time: u64| zigzag(time.wrapping_sub(of_event)).checked_add(1);
    code(time).or_else(|| code(0)).unwrap_or(0)
}

fn zigzag(difference: u64) -> u64 {
    let signed = difference as i64;
    (signed << 1 ^ signed >> 63) as u64
}

fn unzigzag(coded: u64) -> u64 {
    (coded >> 1) ^ (coded & 1).wrapping_neg()
}

fn push(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn pull(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f).wrapping_shl(shift);
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}
