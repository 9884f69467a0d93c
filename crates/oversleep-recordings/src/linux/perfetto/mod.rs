//! Perfetto's traces of Linux and Android: the kernel's events in them, plain or compressed by zlib.

mod bundle;
mod names;
mod proto;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use self::bundle::Events;
use self::names::{Commands, short};
use self::proto::{Message, Value};
use super::facts::KEPT_MAX;
use super::format::name;
use super::point::{Counts, Point, Task, What};
use super::{Head, Stream, printable, stated_arch};
use crate::cursor::Cursor;
use crate::order::{Order, SLIP_NS};
use crate::source::Source;
use crate::{CPUS_MAX, Fault, Format, packed};

pub const FORMAT: Format =
    Format { name: "a Perfetto trace", way: "android", knows, open: |source, way| super::opened(source, way, open) };

/// Fields of `TracePacket`.
const FTRACE: u32 = 1;
const PROCESS_TREE: u32 = 2;
const SEQUENCE: u32 = 10;
const DROPPED: u32 = 42;
const SYSTEM_INFO: u32 = 45;
const COMPRESSED: u32 = 50;
/// A trace's first packet has one of these: events, who wrote it and when, clocks, the configuration, the mark of a stream,
/// the system, compressed packets.
const FIRST: [u32; 10] = [FTRACE, PROCESS_TREE, 3, 6, 8, SEQUENCE, 33, 36, SYSTEM_INFO, COMPRESSED];
/// The largest packet, also unpacked; and the places in it.
const PACKET_MAX: usize = 64 << 20;
const WITHIN: u64 = PACKET_MAX as u64 - 1;
/// The most pairs of a CPU and a sequence.
const LANES_MAX: usize = 4 * CPUS_MAX as usize;
/// How many packets are kept unpacked.
const UNPACKED_MAX: usize = 8;
/// How many points in a row are believed when they jump ahead: columns have the differences of times.
const CONFIRM: usize = 64;
/// The head of a packet: its field's number, and its size.
const PACKET_HEAD: usize = 11;

struct Perfetto<'a> {
    head: Head,
    source: &'a dyn Source,
    events: Events,
    lanes: Vec<Lane>,
    order: BinaryHeap<Reverse<(u64, usize)>>,
    names: Vec<Point>,
    commands: Commands,
    unpacked: VecDeque<(u64, Vec<u8>)>,
    /// The point that was told last.
    before: Option<Point>,
    is_broken: bool,
}

/// A CPU's events of one sequence of packets: each data source of ftrace has its own, and only within one are they in the
/// order of time.
struct Lane {
    cpu: u16,
    sequence: u64,
    /// Where its packets are.
    places: Vec<Place>,
    at: usize,
    /// Packets before the next one were dropped.
    has_lost: bool,
    /// Its points, whether events before it are missing, and those whose time is right.
    order: Order<(Point, bool)>,
    points: VecDeque<Point>,
    running: Task,
    last: u64,
}

impl Lane {
    fn new(cpu: u16, sequence: u64) -> Lane {
        Lane {
            cpu,
            sequence,
            places: Vec::new(),
            at: 0,
            has_lost: false,
            order: Order::new(SLIP_NS, CONFIRM),
            points: VecDeque::new(),
            running: Task::default(),
            last: 0,
        }
    }

    /// Takes a point whose time is right.
    fn tell(&mut self, (mut point, is_after_loss): (Point, bool), dropped: u64) {
        // Packets of one lane are in order.
        point.t = point.t.max(self.last);
        if is_after_loss || dropped != 0 {
            self.points.push_back(point.gap_before(self.last, dropped.max(1)));
        }
        self.last = point.t;
        self.points.push_back(point);
    }
}

/// A packet's place in the file, its place in the compressed one there, and whether events before it are missing.
#[derive(Clone, Copy, Debug)]
struct Place(u64);

impl Place {
    fn new(at: u64, within: usize) -> Place {
        Place(at << 27 | (within as u64 & WITHIN) << 1)
    }

    fn at(self) -> u64 {
        self.0 >> 27
    }

    fn within(self) -> usize {
        (self.0 >> 1 & WITHIN) as usize
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
        lanes: Vec::new(),
        order: BinaryHeap::new(),
        names: Vec::new(),
        commands: Commands::default(),
        unpacked: VecDeque::new(),
        before: None,
        is_broken: false,
    };
    file.head.clock = "boot".to_owned();
    let mut cursor = Cursor::new(source, 0);
    while cursor.at() < source.size() {
        let at = cursor.at();
        let left = usize::try_from(source.size() - at).unwrap_or(usize::MAX);
        let head = cursor.peek(left.min(PACKET_HEAD))?.unwrap_or_default();
        let Some((before, size)) = sizes_of(head) else {
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
            None => file.index(packet, Place::new(at, 0)),
            Some(packed) => {
                let Some(whole) = packed::zlib(packed.bytes(), PACKET_MAX) else {
                    file.is_broken = true;
                    break;
                };
                let mut packets = Message::new(&whole);
                loop {
                    let within = whole.len() - packets.0.0.len();
                    let Some((_, packet)) = packets.next() else { break };
                    file.index(Message::new(packet.bytes()), Place::new(at, within));
                }
            }
        }
        cursor.pass(size);
    }
    for at in 0..file.lanes.len() {
        file.refill(at)?;
    }
    Ok(Box::new(file))
}

/// The size of a packet's head, which lies here, and its own.
fn sizes_of(head: &[u8]) -> Option<(usize, usize)> {
    let mut bytes = Message::new(head).0;
    let is_packet = bytes.varint() == Some(10);
    let size = bytes.varint().and_then(|size| usize::try_from(size).ok());
    size.filter(|&size| is_packet && size <= PACKET_MAX).map(|size| (head.len() - bytes.0.len(), size))
}

impl Perfetto<'_> {
    /// Remembers where a packet is, and what it says of the whole trace.
    fn index(&mut self, packet: Message<'_>, place: Place) {
        let sequence = packet.field(SEQUENCE).map_or(0, Value::number);
        // The first packet of a sequence says so, too: none of its lanes is known yet.
        if packet.field(DROPPED).is_some_and(|dropped| dropped.number() != 0) {
            self.lanes.iter_mut().filter(|lane| lane.sequence == sequence).for_each(|lane| lane.has_lost = true);
        }
        for (field, value) in packet {
            match field {
                FTRACE => self.index_bundle(value.bytes(), place, sequence),
                PROCESS_TREE => self.processes(Message::new(value.bytes())),
                SYSTEM_INFO => {
                    let Some(names) = Message::new(value.bytes()).field(1).map(|names| Message::new(names.bytes()))
                    else {
                        continue;
                    };
                    let text = |number: u32| printable(names.field(number).map_or(&[][..], Value::bytes));
                    self.head.kernel = text(3);
                    self.head.arch = stated_arch(&text(4)).or(self.head.arch);
                }
                _ => {}
            }
        }
    }

    /// Remembers where a lane's events are.
    fn index_bundle(&mut self, bundle: &[u8], place: Place, sequence: u64) {
        const CLOCKS: [&str; 5] = ["boot", "unknown", "global", "local", "mono_raw"];
        self.events.describe(bundle);
        let bundle = Message::new(bundle);
        let last = |number: u32| bundle.clone().filter(|(of, _)| *of == number).last().map(|(_, value)| value.number());
        if let Some(clock) = last(bundle::CLOCK).and_then(|clock| CLOCKS.get(clock as usize)) {
            self.head.clock = (*clock).to_owned();
        }
        let number = last(bundle::CPU).unwrap_or(0);
        let known = self.lanes.iter().position(|lane| u64::from(lane.cpu) == number && lane.sequence == sequence);
        if number >= u64::from(CPUS_MAX) || known.is_none() && self.lanes.len() >= LANES_MAX {
            self.is_broken = true;
            return;
        }
        let at = known.unwrap_or_else(|| {
            self.lanes.push(Lane::new(number as u16, sequence));
            self.lanes.len() - 1
        });
        let lane = &mut self.lanes[at];
        lane.places.push(Place(place.0 | u64::from(std::mem::take(&mut lane.has_lost))));
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
            if field == 1 {
                self.commands.add(tid, called);
            }
            let what = What::Named { tid, tgid, name: name(short(called)) };
            self.names.push(Point { t: 0, cpu: 0, tid, tgid: Some(tgid), what });
        }
    }

    /// The bundle at a place.
    fn bundle(&mut self, place: Place) -> Result<Option<Vec<u8>>, Fault> {
        if let Some((_, whole)) = self.unpacked.iter().find(|(at, _)| *at == place.at()) {
            return Ok(bundle_at(whole, place.within()));
        }
        let mut head = [0; PACKET_HEAD];
        let count = self.source.read_at(place.at(), &mut head)?;
        // It was there when it was indexed.
        let Some((before, size)) = sizes_of(&head[..count]) else { return Ok(None) };
        let mut packet = vec![0; size];
        let count = self.source.read_at(place.at() + before as u64, &mut packet)?;
        let packet = Message::new(&packet[..count]);
        match packet.field(COMPRESSED) {
            None => Ok(packet.field(FTRACE).map(|bundle| bundle.bytes().to_vec())),
            Some(packed) => {
                let whole = packed::zlib(packed.bytes(), PACKET_MAX).unwrap_or_default();
                let bundle = bundle_at(&whole, place.within());
                if self.unpacked.len() >= UNPACKED_MAX {
                    self.unpacked.pop_front();
                }
                self.unpacked.push_back((place.at(), whole));
                Ok(bundle)
            }
        }
    }

    /// Reads a lane's next packet, if its events are used up.
    fn refill(&mut self, at: usize) -> Result<(), Fault> {
        while self.lanes[at].points.is_empty() {
            let lane = &self.lanes[at];
            let Some(&place) = lane.places.get(lane.at) else {
                let lane = &mut self.lanes[at];
                let mut right = Vec::new();
                lane.order.flush(|point, dropped| right.push((point, dropped)));
                if right.is_empty() {
                    return Ok(());
                }
                right.into_iter().for_each(|(point, dropped)| lane.tell(point, dropped));
                break;
            };
            let cpu = lane.cpu;
            let bundle = self.bundle(place)?.map(|bundle| self.events.points(&bundle, cpu)).unwrap_or_default();
            let lane = &mut self.lanes[at];
            lane.at += 1;
            let mut right = Vec::new();
            for (place_in_bundle, (mut point, is_in_column)) in bundle.points.into_iter().enumerate() {
                if is_in_column {
                    point.tid = lane.running.tid;
                }
                if let What::Switch { from, to, .. } = &mut point.what {
                    *from = if is_in_column { lane.running } else { *from };
                    lane.running = *to;
                }
                let is_after_loss = place_in_bundle == 0 && (bundle.is_after_loss || place.is_after_loss());
                lane.order.push(point.t, (point, is_after_loss), |point, dropped| right.push((point, dropped)));
            }
            right.into_iter().for_each(|(point, dropped)| lane.tell(point, dropped));
        }
        let point = self.lanes[at].points.front();
        self.order.extend(point.map(|point| Reverse((point.t, at))));
        Ok(())
    }
}

fn bundle_at(whole: &[u8], within: usize) -> Option<Vec<u8>> {
    let (_, packet) = Message::new(whole.get(within..)?).next()?;
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
        self.is_broken || self.lanes.iter().any(|lane| lane.order.has_dropped())
    }

    fn next(&mut self) -> Result<Option<Point>, Fault> {
        if let Some(named) = self.names.pop() {
            return Ok(Some(named));
        }
        while let Some(Reverse((_, at))) = self.order.pop() {
            let point = self.lanes[at].points.pop_front();
            self.refill(at)?;
            // Two data sources may have recorded the same event.
            if point != self.before {
                self.before = point;
                if let Some(Point { what: What::Switch { from, to, .. }, .. }) = point {
                    let names = [from, to].into_iter().filter_map(|task| self.commands.name_of(&task));
                    self.head.programs.extend(names);
                }
                return Ok(point);
            }
        }
        Ok(None)
    }
}
