//! A CPU's events of one packet: each in a message of its own, with names instead of a message, or several in columns.

use oversleep_why::event::Name;

use super::proto::{Message, Value, packed};
use crate::linux::format::{name, name_in};
use crate::linux::point::{self, Counts, Entry, Fields, POINTS, Point, SLEEPS, Task, What};

/// Fields of `FtraceEventBundle`.
pub const CPU: u32 = 1;
const EVENT: u32 = 2;
const LOST: u32 = 3;
const COMPACT: u32 = 4;
pub const CLOCK: u32 = 5;
const DESCRIPTOR: u32 = 11;
/// An event with the names of its fields, and the first number of an event that a descriptor describes.
const GENERIC: u32 = 327;
const DESCRIBED: u32 = 65_536;
/// The most descriptors that are kept.
const DESCRIBED_MAX: usize = 256;

/// An event that only a descriptor describes: its number, its tracepoint's place, and its fields' numbers.
#[derive(Clone, Debug)]
struct Described {
    number: u32,
    place: usize,
    fields: Vec<u32>,
}

/// What is known of a trace's events.
#[derive(Clone, Debug, Default)]
pub struct Events {
    described: Vec<Described>,
    pub counts: Counts,
}

/// A bundle's content.
#[derive(Debug, Default)]
pub struct Bundle {
    /// In the order of time; whether it was in columns, which don't say who ran.
    pub points: Vec<(Point, bool)>,
    /// Events before it are missing.
    pub is_after_loss: bool,
}

/// The fields of one event.
#[derive(Debug, Default)]
struct Record {
    has: u32,
    numbers: [u64; 8],
    names: [Name; 8],
    elements: [u64; 6],
    count: usize,
}

impl Record {
    fn set(&mut self, entry: &Entry, field: usize, value: Value<'_>) {
        self.has |= 1 << field;
        match value {
            Value::Bytes(bytes) if entry.fields[field] == "args" => {
                packed(bytes).for_each(|number| self.element(number))
            }
            Value::Number(number) if entry.fields[field] == "args" => self.element(number),
            Value::Bytes(bytes) => self.names[field] = name_in(entry.fields[field], bytes),
            Value::Number(number) => self.numbers[field] = number,
        }
    }

    fn element(&mut self, number: u64) {
        if let Some(place) = self.elements.get_mut(self.count) {
            *place = number;
            self.count += 1;
        }
    }
}

impl Fields for Record {
    fn has(&self, field: usize) -> bool {
        self.has >> field & 1 != 0
    }

    fn number(&self, field: usize) -> u64 {
        self.numbers[field]
    }

    fn element(&self, _: usize, index: usize) -> u64 {
        self.elements[index]
    }

    fn name(&self, field: usize) -> Name {
        self.names[field]
    }
}

impl Events {
    /// Learns how events look that only this trace describes.
    pub fn describe(&mut self, bundle: &[u8]) {
        for (_, value) in Message::new(bundle).filter(|(field, _)| *field == DESCRIPTOR) {
            let descriptor = Message::new(value.bytes());
            let number = descriptor.field(1).map_or(0, Value::number);
            // The description is a message itself; the group's name beside it is text.
            let text = descriptor.filter(|(field, _)| *field != 1).find_map(|(_, value)| self.described(number, value));
            self.described.extend(text.filter(|_| self.described.len() < DESCRIBED_MAX));
        }
    }

    fn described(&self, number: u64, text: Value<'_>) -> Option<Described> {
        let number = u32::try_from(number).ok().filter(|&number| number >= DESCRIBED)?;
        let message = Message::new(text.bytes());
        let called = message.field(1)?.bytes();
        let place = POINTS.iter().position(|entry| is_end_of(called, entry.name))?;
        let mut fields = vec![0; POINTS[place].fields.len()];
        for (_, field) in message.filter(|(number, _)| *number == 2) {
            let field = Message::new(field.bytes());
            let called = field.field(1)?.bytes();
            if let Some(at) = POINTS[place].fields.iter().position(|name| name.as_bytes() == called) {
                fields[at] = u32::try_from(field.field(3)?.number()).ok()?;
            }
        }
        Some(Described { number, place, fields })
    }

    /// The points of a bundle of that CPU.
    pub fn points(&mut self, bundle: &[u8], cpu: u16) -> Bundle {
        let mut read = Bundle::default();
        for (field, value) in Message::new(bundle) {
            match field {
                EVENT => read.points.extend(self.event(value.bytes(), cpu).map(|point| (point, false))),
                LOST => read.is_after_loss = value.number() != 0,
                COMPACT => self.columns(value.bytes(), cpu, &mut read.points),
                _ => {}
            }
        }
        read.points.sort_by_key(|(point, _)| point.t);
        read
    }

    fn event(&mut self, bytes: &[u8], cpu: u16) -> Option<Point> {
        let (mut t, mut tid, mut found) = (0, 0, None);
        for (field, value) in Message::new(bytes) {
            match field {
                1 => t = value.number(),
                2 => tid = value.number() as u32,
                _ if found.is_none() => found = self.record(field, value.bytes()),
                _ => {}
            }
        }
        let (place, record) = found?;
        self.counts.add(place);
        Some(Point { t, cpu, tid, tgid: None, what: (POINTS[place].make)(&record) })
    }

    /// An event's tracepoint and fields.
    fn record(&self, number: u32, bytes: &[u8]) -> Option<(usize, Record)> {
        let mut record = Record::default();
        if number == GENERIC {
            let called = Message::new(bytes).field(1)?.bytes();
            let place = POINTS.iter().position(|entry| is_end_of(called, entry.name))?;
            for (_, field) in Message::new(bytes).filter(|(number, _)| *number == 2) {
                let called = Message::new(field.bytes()).field(1)?.bytes();
                let at = POINTS[place].fields.iter().position(|name| name.as_bytes() == called);
                let value = Message::new(field.bytes()).find(|(number, _)| (3..=5).contains(number));
                if let (Some(at), Some((_, value))) = (at, value) {
                    record.set(&POINTS[place], at, value);
                }
            }
            return is_whole(place, record);
        }
        let own = || POINTS.iter().position(|entry| entry.message.0 == number).map(|at| (at, POINTS[at].message.1));
        let described = || self.described.iter().find(|of| of.number == number).map(|of| (of.place, &of.fields[..]));
        let (place, fields) = if number < DESCRIBED { own() } else { described() }?;
        for (field, value) in Message::new(bytes) {
            if let Some(at) = fields.iter().position(|&number| number == field && number != 0) {
                record.set(&POINTS[place], at, value);
            }
        }
        // A number that is 0 may be left out of a message of its own.
        if number < DESCRIBED { Some((place, record)) } else { is_whole(place, record) }
    }

    /// Switches and wake-ups in columns: differences of times, and places in a table of names.
    fn columns(&mut self, bytes: &[u8], cpu: u16, points: &mut Vec<(Point, bool)>) {
        let columns = Message::new(bytes);
        let column = |number: u32| packed(columns.field(number).map_or(&[][..], Value::bytes));
        let names: Vec<Name> =
            columns.clone().filter(|(number, _)| *number == 5).map(|(_, value)| name(value.bytes())).collect();
        let of =
            |place: u64| usize::try_from(place).ok().and_then(|place| names.get(place)).copied().unwrap_or_default();
        let task = |((tid, prio), place)| Task { tid: tid as u32, prio: prio as i32, name: of(place) };
        let mut count = |name: &str| self.counts.add(point::place(name).unwrap_or(0));
        let mut t = 0u64;
        for ((later, state), to) in column(1).zip(column(2)).zip(column(3).zip(column(4)).zip(column(6)).map(task)) {
            t = t.wrapping_add(later);
            let what = What::Switch { from: Task::default(), is_runnable: state & SLEEPS == 0, to };
            points.push((Point { t, cpu, tid: 0, tgid: None, what }, true));
            count("sched_switch");
        }
        t = 0;
        for ((later, target), task) in column(7).zip(column(9)).zip(column(8).zip(column(10)).zip(column(11)).map(task))
        {
            t = t.wrapping_add(later);
            let what = What::Waking { task, cpu: target as u16 };
            points.push((Point { t, cpu, tid: 0, tgid: None, what }, true));
            count("sched_waking");
        }
    }
}

/// Whether a tracepoint is called so, with its group before it or without.
fn is_end_of(called: &[u8], name: &str) -> bool {
    called
        .strip_suffix(name.as_bytes())
        .is_some_and(|group| group.last().is_none_or(|&last| last == b'/' || last == b'.'))
}

/// An event that has every field of its tracepoint.
fn is_whole(place: usize, record: Record) -> Option<(usize, Record)> {
    (0..POINTS[place].fields.len()).all(|field| record.has(field)).then_some((place, record))
}
