//! The attributes of the events that were recorded: what their samples hold.

use super::super::facts::Map;
use crate::cursor::Bytes;

pub const ATTRS_MAX: usize = 65_536;
/// The most ids that are kept of all events: each event has one for each CPU, and several may state the same place.
const IDS_MAX: usize = 1 << 20;

/// An event that was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attr {
    pub samples: u64,
    pub read_format: u64,
    pub has_ids: bool,
}

/// All of them.
#[derive(Debug, Default)]
pub struct Attrs {
    all: Vec<Attr>,
    /// Places in `all`.
    by_id: Map<u64, u32>,
    ids: usize,
    /// Their samples hold the same.
    is_uniform: bool,
}

impl Attrs {
    /// How many ids may still come.
    pub fn room(&self) -> usize {
        IDS_MAX - self.ids
    }

    /// Adds one with its ids, if there is room.
    pub fn push(&mut self, attr: Attr, mut ids: Bytes<'_>) {
        if self.all.len() >= ATTRS_MAX {
            return;
        }
        let is_alike = |first: &Attr| (first.samples, first.read_format) == (attr.samples, attr.read_format);
        self.is_uniform = self.all.first().is_none_or(|first| self.is_uniform && is_alike(first));
        for id in std::iter::from_fn(|| ids.u64()).take(self.room()) {
            self.by_id.entry(id).or_insert(self.all.len() as u32);
            self.ids += 1;
        }
        self.all.push(attr);
    }

    /// That of a record with this id; the first one, if it has none.
    pub fn of(&self, id: Option<u64>) -> Option<Attr> {
        let at = id.filter(|_| !self.is_uniform).and_then(|id| self.by_id.get(&id)).map_or(0, |&at| at as usize);
        self.all.get(at).copied()
    }
}

/// An event's attributes, and the number of its clock.
pub fn attr_of(bytes: &[u8]) -> Option<(Attr, Option<u32>)> {
    let mut at = Bytes(bytes);
    at.take(24)?;
    let (samples, read_format, flags) = (at.u64()?, at.u64()?, at.u64()?);
    let clock = bytes.get(92..96).filter(|_| flags >> 25 & 1 != 0).and_then(|bytes| Bytes(bytes).u32());
    let has_ids = flags >> 18 & 1 != 0;
    Some((Attr { samples, read_format, has_ids }, clock))
}

/// The name of a clock; without a number, perf uses the kernel's scheduler clock.
pub fn clock(number: Option<u32>) -> Option<&'static str> {
    match number? {
        0 => Some("realtime"),
        1 => Some("mono"),
        4 => Some("mono_raw"),
        7 => Some("boot"),
        11 => Some("tai"),
        _ => None,
    }
}
