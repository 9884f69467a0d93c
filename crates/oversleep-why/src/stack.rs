//! The call stacks of waits: addresses from the kernel, and their names once they are resolved.

use std::collections::HashMap;

use oversleep_record::observed::stack::{Frames, Stack};

use crate::event::{Event, Kind, Name};

/// The most addresses that are kept of one stack. The kernel program sends fewer; more can only come from a foreign stream.
const FRAMES_MAX: usize = 64;
/// The most addresses whose names are kept, and the longest name in bytes.
const SYMBOLS_MAX: usize = 65_536;
const TEXT_MAX: usize = 240;
/// Addresses in one event, and bytes of text.
pub const FRAMES_PER_EVENT: usize = 6;
const TEXT_PER_EVENT: usize = 40;

/// Appends the addresses of an event.
pub(crate) fn extend(stack: &mut Frames, event: &Event) {
    let frames = if event.x & 1 == 0 { &mut stack.kernel } else { &mut stack.user };
    let room = FRAMES_MAX.saturating_sub(frames.len());
    frames.extend(event.fields.iter().take_while(|&&address| address != 0).take(room));
}

/// A stack as events: copies of `head` with a few addresses each.
pub fn events_of_stack(head: Event, frames: &[u64]) -> impl Iterator<Item = Event> + '_ {
    frames.chunks(FRAMES_PER_EVENT).map(move |chunk| {
        let mut fields = [0; 6];
        fields[..chunk.len()].copy_from_slice(chunk);
        Event { kind: Kind::Stack, fields, ..head }
    })
}

/// The name of an address as events.
pub fn events_of_symbol(t: u64, tgid: u32, address: u64, text: &str) -> Vec<Event> {
    let pieces = text.as_bytes()[..text.len().min(TEXT_MAX)].chunks(TEXT_PER_EVENT);
    let event = |(n, piece): (usize, &[u8])| {
        let mut event = Event::new(Kind::Symbol, t, 0);
        (event.tgid, event.x) = (tgid, (n * TEXT_PER_EVENT) as u32);
        event.fields[0] = address;
        for (field, bytes) in event.fields[1..].iter_mut().zip(piece.chunks(8)) {
            let mut padded = [0; 8];
            padded[..bytes.len()].copy_from_slice(bytes);
            *field = u64::from_le_bytes(padded);
        }
        event.name = Name::default();
        event
    };
    pieces.enumerate().map(event).collect()
}

/// Names by process and address.
#[derive(Clone, Debug, Default)]
pub struct Symbols(HashMap<(u32, u64), Vec<u8>>);

impl Symbols {
    /// Appends a piece of a name; pieces arrive in order.
    pub(crate) fn add(&mut self, event: &Event) {
        let key = (event.tgid, event.fields[0]);
        if self.0.len() >= SYMBOLS_MAX && !self.0.contains_key(&key) {
            return;
        }
        let text = self.0.entry(key).or_default();
        if text.len() != event.x as usize || text.len() >= TEXT_MAX {
            return;
        }
        let bytes = event.fields[1..].iter().flat_map(|field| field.to_le_bytes());
        text.extend(bytes.take_while(|&byte| byte != 0));
    }

    /// A stack of a process, with names as far as they are known.
    pub fn stack(&self, tgid: u32, frames: &Frames) -> Stack {
        let names =
            |tgid, frames: &[u64]| -> Vec<String> { frames.iter().map(|&address| self.name(tgid, address)).collect() };
        let mut kernel = names(0, &frames.kernel);
        // The stack is taken within the scheduler: what it calls there is the collector.
        if let Some(at) = kernel.iter().position(|name| name.starts_with("__schedule")) {
            kernel.drain(..at);
        }
        Stack { kernel, user: names(tgid, &frames.user) }
    }

    /// An unknown address of the program is shown as a number; kernel addresses are kept secret.
    fn name(&self, tgid: u32, address: u64) -> String {
        let text = self.0.get(&(tgid, address)).map(|bytes| String::from_utf8_lossy(bytes));
        match text.filter(|text| !text.is_empty()) {
            Some(text) => text.chars().map(|c| if c.is_control() { '?' } else { c }).collect(),
            None if tgid == 0 => "?".to_owned(),
            None => format!("{address:#x}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_and_its_names_come_through_events() {
        let (mut frames, mut symbols) = (Frames::default(), Symbols::default());
        let addresses: Vec<u64> = (1..=10).map(|n| 0x7000 + n).collect();
        let mut head = Event::new(Kind::Stack, 5, 7);
        head.x = 1;
        let events: Vec<Event> = events_of_stack(head, &addresses).collect();
        assert_eq!(events.len(), 2);
        events.iter().for_each(|event| extend(&mut frames, event));
        assert_eq!(frames.user, addresses);
        let long = "sleeper::wait_until_the_next_frame_has_to_be_drawn+0x1c (libsleeper.so)";
        for text in [(0x7001, long), (0x7002, "main")] {
            events_of_symbol(9, 7, text.0, text.1).iter().for_each(|event| symbols.add(event));
        }
        let stack = symbols.stack(7, &frames);
        assert_eq!((&*stack.user[0], &*stack.user[1], &*stack.user[2]), (long, "main", "0x7003"));
        assert!(symbols.stack(8, &frames).user.iter().all(|name| name.starts_with("0x")));
    }

    #[test]
    fn the_collector_is_no_place_where_a_thread_waits() {
        let mut symbols = Symbols::default();
        let names = ["?", "bpf_trace_run4+0xfc", "__schedule+0x618", "schedule+0x23", "do_nanosleep+0x5e"];
        let kernel: Vec<u64> = (1..=names.len() as u64).collect();
        for (&address, name) in kernel.iter().zip(names) {
            events_of_symbol(9, 0, address, name).iter().for_each(|event| symbols.add(event));
        }
        let stack = symbols.stack(7, &Frames { kernel, user: vec![] });
        assert_eq!(stack.kernel, names[2..]);
    }

    #[test]
    fn a_hostile_stream_fills_neither_a_stack_nor_a_name() {
        let (mut frames, mut symbols) = (Frames::default(), Symbols::default());
        let mut event = Event::new(Kind::Stack, 5, 7);
        event.fields = [u64::MAX; 6];
        (0..1_000).for_each(|_| extend(&mut frames, &event));
        assert_eq!(frames.kernel.len(), FRAMES_MAX);
        event.kind = Kind::Symbol;
        for n in 0..1_000 {
            event.x = n * 40;
            symbols.add(&event);
        }
        let name = &symbols.stack(7, &Frames { kernel: vec![], user: vec![u64::MAX] }).user[0];
        assert!(name.chars().count() <= TEXT_MAX, "{name}");
    }
}
