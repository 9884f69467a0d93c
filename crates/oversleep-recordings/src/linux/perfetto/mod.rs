//! Perfetto's traces of Linux and Android: the kernel's events in them, plain or compressed by zlib.

mod bundle;
mod proto;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use oversleep_why::calls::Arch;

use self::bundle::Events;
use self::proto::{Message, Value};
use super::facts::KEPT_MAX;
use super::format::name;
use super::point::{Counts, Point, Task, What};
use super::{Head, Stream};
use crate::cursor::Cursor;
use crate::source::Source;
use crate::{CPUS_MAX, Fault, Format, zstd};

pub const FORMAT: Format = Format { name: "a Perfetto trace", way: "android", knows, open };

/// Fields of `TracePacket`.
const FTRACE: u32 = 1;
const PROCESS_TREE: u32 = 2;
const DROPPED: u32 = 42;
const SYSTEM_INFO: u32 = 45;
const COMPRESSED: u32 = 50;
/// A trace's first packet has one of these: events, who wrote it and when, clocks, the configuration, the mark of a stream,
/// the system, compressed packets.
const FIRST: [u32; 10] = [FTRACE, PROCESS_TREE, 3, 6, 8, 10, 33, 36, SYSTEM_INFO, COMPRESSED];
/// The largest packet, also unpacked.
const PACKET_MAX: usize = 64 << 20;
/// How many packets are kept unpacked.
const UNPACKED_MAX: usize = 8;
/// The head of a packet: its field's number, and its size.
const PACKET_HEAD: usize = 11;

struct Perfetto<'a> {
    head: Head,
    source: &'a dyn Source,
    events: Events,
    cpus: Vec<Cpu>,
    order: BinaryHeap<Reverse<(u64, usize)>>,
    names: Vec<Point>,
    unpacked: VecDeque<(u64, Vec<u8>)>,
    is_broken: bool,
}

/// A CPU's events.
#[derive(Default)]
struct Cpu {
    number: u16,
    /// Where its packets are.
    places: Vec<Place>,
    at: usize,
    points: VecDeque<Point>,
    running: Task,
    last: u64,
}

/// A packet's place in the file, which of the packets in a compressed one it is, and whether events before it are missing.
#[derive(Clone, Copy, Debug)]
struct Place(u64);

impl Place {
    fn new(at: u64, number: u64, is_after_loss: bool) -> Place {
        Place(at << 21 | number.min(0xf_ffff) << 1 | u64::from(is_after_loss))
    }

    fn at(self) -> u64 {
        self.0 >> 21
    }

    fn number(self) -> usize {
        (self.0 >> 1 & 0xf_ffff) as usize
    }

    fn is_after_loss(self) -> bool {
        self.0 & 1 != 0
    }
}

/// A file that begins like this begins with a packet. Text may begin with the same byte, a line's end.
fn knows(head: &[u8]) -> bool {
    let mut bytes = Message::new(head).0;
    let is_packet = bytes.varint() == Some(10) && bytes.varint().is_some_and(|size| size != 0);
    let is_text = head.iter().take(64).all(|&byte| byte >= 0x20 || byte.is_ascii_whitespace());
    // The first field may be longer than what is here.
    let first = Message(bytes).0.varint().filter(|tag| [0, 1, 2].contains(&(tag & 7))).map(|tag| tag >> 3);
    let mut fields = Message(bytes).map(|(field, _)| u64::from(field)).chain(first);
    is_packet && !is_text && fields.any(|field| FIRST.map(u64::from).contains(&field))
}

fn open<'a>(source: &'a dyn Source) -> Result<Box<dyn Stream + 'a>, Fault> {
    let mut file = Perfetto {
        head: Head::of("Perfetto"),
        source,
        events: Events::default(),
        cpus: Vec::new(),
        order: BinaryHeap::new(),
        names: Vec::new(),
        unpacked: VecDeque::new(),
        is_broken: false,
    };
    file.head.clock = "boot".to_owned();
    let mut cursor = Cursor::new(source, 0);
    let mut losses = Losses::default();
    while cursor.at() < source.size() {
        let at = cursor.at();
        let Some((before, size)) = packet_at(source, &mut cursor)? else {
            file.is_broken = true;
            break;
        };
        cursor.pass(before);
        let packet = cursor.peek(size)?.map(Message::new);
        let Some(packet) = packet else {
            file.is_broken = true;
            break;
        };
        match packet.field(COMPRESSED) {
            None => file.index(packet, Place::new(at, 0, false), &mut losses),
            Some(packed) => {
                let Some(whole) = inflated(packed.bytes()) else {
                    file.is_broken = true;
                    break;
                };
                for (number, (_, packet)) in Message::new(&whole).enumerate() {
                    file.index(Message::new(packet.bytes()), Place::new(at, number as u64, false), &mut losses);
                }
            }
        }
        cursor.pass(size);
    }
    for at in 0..file.cpus.len() {
        file.refill(at)?;
    }
    Ok(Box::new(file))
}

/// Where packets are missing.
#[derive(Debug, Default)]
struct Losses {
    /// CPUs whose next packet comes after a loss.
    pending: Vec<u16>,
}

/// The size of the head of the packet that lies there, and its own.
fn packet_at(source: &dyn Source, cursor: &mut Cursor<'_>) -> Result<Option<(usize, usize)>, Fault> {
    let left = usize::try_from(source.size().saturating_sub(cursor.at())).unwrap_or(usize::MAX);
    let head = cursor.peek(left.min(PACKET_HEAD))?.unwrap_or_default();
    let mut bytes = Message::new(head).0;
    let is_packet = bytes.varint() == Some(10);
    let size =
        bytes.varint().and_then(|size| usize::try_from(size).ok()).filter(|&size| is_packet && size <= PACKET_MAX);
    Ok(size.map(|size| (head.len() - bytes.0.len(), size)))
}

fn inflated(bytes: &[u8]) -> Option<Vec<u8>> {
    let most = bytes.len().saturating_mul(zstd::RATIO_MAX).clamp(1 << 16, PACKET_MAX);
    miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(bytes, most).ok()
}

impl Perfetto<'_> {
    /// Remembers where a packet is, and what it says of the whole trace.
    fn index(&mut self, packet: Message<'_>, place: Place, losses: &mut Losses) {
        let is_dropped = packet.field(DROPPED).is_some_and(|dropped| dropped.number() != 0);
        for (field, value) in packet {
            match field {
                FTRACE => {
                    let bundle = Message::new(value.bytes());
                    let (mut number, mut clock) = (0, None);
                    for (field, value) in bundle {
                        match field {
                            bundle::CPU => number = value.number(),
                            bundle::CLOCK => clock = Some(value.number()),
                            _ => {}
                        }
                    }
                    self.events.describe(value.bytes());
                    if let Some(clock) =
                        clock.and_then(|clock| ["boot", "unknown", "global", "local", "mono_raw"].get(clock as usize))
                    {
                        self.head.clock = (*clock).to_owned();
                    }
                    if number >= u64::from(CPUS_MAX) {
                        self.is_broken = true;
                        continue;
                    }
                    let number = number as u16;
                    if is_dropped {
                        losses.pending = self.cpus.iter().map(|cpu| cpu.number).collect();
                    }
                    let lost =
                        losses.pending.iter().position(|&of| of == number).map(|at| losses.pending.swap_remove(at));
                    let cpu = match self.cpus.iter().position(|cpu| cpu.number == number) {
                        Some(at) => &mut self.cpus[at],
                        None => {
                            self.cpus.push(Cpu { number, ..Cpu::default() });
                            self.cpus.last_mut().expect("it was pushed")
                        }
                    };
                    cpu.places.push(Place(place.0 | u64::from(lost.is_some())));
                }
                PROCESS_TREE => self.processes(Message::new(value.bytes())),
                SYSTEM_INFO => {
                    let Some(names) = Message::new(value.bytes()).field(1).map(|names| Message::new(names.bytes()))
                    else {
                        continue;
                    };
                    let text = |number: u32| {
                        let text =
                            String::from_utf8_lossy(names.field(number).map_or(&[][..], Value::bytes)).into_owned();
                        text.chars().map(|c| if c.is_control() { '?' } else { c }).take(128).collect::<String>()
                    };
                    self.head.kernel = text(3);
                    self.head.arch = Arch::named(&text(4)).or(self.head.arch);
                }
                _ => {}
            }
        }
    }

    /// The names of processes and threads.
    fn processes(&mut self, tree: Message<'_>) {
        for (field, value) in tree {
            if self.names.len() >= KEPT_MAX {
                return;
            }
            let task = Message::new(value.bytes());
            let Some(tid) = task.field(1).map(|tid| tid.number() as u32) else { continue };
            let (tgid, called) = match field {
                1 => (tid, task.field(3)),
                2 => (task.field(3).map_or(tid, |tgid| tgid.number() as u32), task.field(2)),
                _ => continue,
            };
            let called = called.map_or(&[][..], Value::bytes);
            let called = called.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
            let what = What::Named { tid, tgid, name: name(called) };
            self.names.push(Point { t: 0, cpu: 0, tid, tgid: Some(tgid), what });
        }
    }

    /// The bundle at a place.
    fn bundle(&mut self, place: Place) -> Result<Option<Vec<u8>>, Fault> {
        if let Some((_, whole)) = self.unpacked.iter().find(|(at, _)| *at == place.at()) {
            return Ok(nth_bundle(whole, place.number()));
        }
        let mut head = [0; PACKET_HEAD];
        let count = self.source.read_at(place.at(), &mut head)?;
        let mut bytes = Message::new(&head[..count]).0;
        bytes.varint();
        let Some(size) = bytes.varint().and_then(|size| usize::try_from(size).ok()) else { return Ok(None) };
        let before = (count - bytes.0.len()) as u64;
        // It was there when it was indexed.
        let mut packet = vec![0; size.min(PACKET_MAX)];
        let count = self.source.read_at(place.at() + before, &mut packet)?;
        let packet = Message::new(&packet[..count]);
        match packet.field(COMPRESSED) {
            None => Ok(packet.field(FTRACE).map(|bundle| bundle.bytes().to_vec())),
            Some(packed) => {
                let whole = inflated(packed.bytes()).unwrap_or_default();
                let bundle = nth_bundle(&whole, place.number());
                if self.unpacked.len() >= UNPACKED_MAX {
                    self.unpacked.pop_front();
                }
                self.unpacked.push_back((place.at(), whole));
                Ok(bundle)
            }
        }
    }

    /// Reads a CPU's next packet, if its events are used up.
    fn refill(&mut self, at: usize) -> Result<(), Fault> {
        while self.cpus[at].points.is_empty() {
            let cpu = &self.cpus[at];
            let Some(&place) = cpu.places.get(cpu.at) else { return Ok(()) };
            let bundle = self.bundle(place)?.map(|bundle| self.events.points(&bundle)).unwrap_or_default();
            let cpu = &mut self.cpus[at];
            cpu.at += 1;
            for (place_in_bundle, (mut point, is_in_column)) in bundle.points.into_iter().enumerate() {
                // Packets of one CPU are in order.
                point.t = point.t.max(cpu.last);
                if place_in_bundle == 0 && (bundle.is_after_loss || place.is_after_loss()) {
                    let t = if cpu.last == 0 { point.t } else { cpu.last };
                    let what = What::Gap { until: point.t, count: 1 };
                    cpu.points.push_back(Point { t, tid: 0, what, ..point });
                }
                if is_in_column {
                    point.tid = cpu.running.tid;
                }
                if let What::Switch { from, to, .. } = &mut point.what {
                    *from = if is_in_column { cpu.running } else { *from };
                    cpu.running = *to;
                }
                cpu.last = point.t;
                cpu.points.push_back(point);
            }
        }
        let point = self.cpus[at].points.front();
        self.order.extend(point.map(|point| Reverse((point.t, at))));
        Ok(())
    }
}

fn nth_bundle(whole: &[u8], number: usize) -> Option<Vec<u8>> {
    let (_, packet) = Message::new(whole).nth(number)?;
    Some(Message::new(packet.bytes()).field(FTRACE)?.bytes().to_vec())
}

impl Stream for Perfetto<'_> {
    fn head(&self) -> &Head {
        &self.head
    }

    fn counts(&self) -> Counts {
        self.events.counts
    }

    fn is_truncated(&self) -> bool {
        self.is_broken
    }

    fn next(&mut self) -> Result<Option<Point>, Fault> {
        if let Some(named) = self.names.pop() {
            return Ok(Some(named));
        }
        let Some(Reverse((_, at))) = self.order.pop() else { return Ok(None) };
        let point = self.cpus[at].points.pop_front();
        self.refill(at)?;
        Ok(point)
    }
}
