//! Reads the ring buffer and sorts its records by time.

use std::time::Duration;

use oversleep_why::event::{EVENT_BYTES, Event, Kind};
use oversleep_why::stack::events_of_stack;

use super::counters::Counter;
use super::whole::{self, EVENTS_MAX, WHOLE_BYTES};
use super::{Collector, u64_at};

/// The most processes whose names are not asked again.
const NAMED_MAX: usize = 16_384;

/// Offset of the number of addresses in the event of a stack.
const STACK_COUNT_AT: usize = 24;

/// Records younger than this stay until the next look, because another CPU may still deliver an older one.
const KEPT_BACK_NS: u64 = 2_000_000;

/// The most events that one look takes.
const BATCH: usize = 16_384;

/// How often and how long the last look waits for records that are counted but not there yet.
const COMMIT_LOOKS: u32 = 5;
const COMMIT_WAIT: Duration = Duration::from_millis(1);

/// Records that arrived and were not passed on yet.
#[derive(Default)]
pub struct Arrived {
    events: Vec<Event>,
    wholes: Vec<[u8; WHOLE_BYTES]>,
    /// Their order in time. It is kept, so that not every look allocates.
    order: Vec<(u64, Place)>,
    /// The number of records so far.
    pub received: u64,
    /// The number of events that the last looks found.
    found: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Event(u32),
    Whole(u32),
}

impl Arrived {
    /// Takes a record, and returns the most events that it can stand for.
    fn take(&mut self, record: &[u8]) -> usize {
        self.received += 1;
        if let Some(whole) = whole::whole(record) {
            self.wholes.push(whole);
            return EVENTS_MAX;
        }
        match Event::of_bytes(record.get(..EVENT_BYTES).unwrap_or_default()) {
            Some(event) if event.kind == Kind::Stack => self.events.extend(events_of_stack(event, &frames(record))),
            Some(event) => self.events.push(event),
            None => {}
        }
        1
    }

    fn sort(&mut self) {
        self.order.clear();
        self.order.extend(self.events.iter().zip(0..).map(|(event, n)| (event.t, Place::Event(n))));
        self.order.extend(self.wholes.iter().zip(0..).map(|(bytes, n)| (whole::time_of(bytes), Place::Whole(n))));
        // Each CPU delivers in order, and this sort is fast on sorted runs.
        self.order.sort();
    }
}

impl Collector {
    /// Reads the records that arrived, in the order of time. The steps of a wait may arrive together at its end. Records
    /// that are too young to be in order stay until the next look, unless this is the last one.
    ///
    /// Returns whether there are more, which should be read at once. A look takes a limited number, so that a flood of waits
    /// doesn't need more memory.
    pub fn drain(&mut self, events: &mut Vec<Event>, is_last: bool) -> bool {
        // Records that are sent from here on are not counted.
        self.sent = is_last.then(|| self.counters.sum(Counter::Sent));
        let mut room = BATCH;
        for _ in 0..COMMIT_LOOKS {
            while room > 0 {
                let Some(item) = self.ring.next() else { break };
                room = room.saturating_sub(self.arrived.take(&item));
            }
            // Another CPU may have reserved a record that it still fills in.
            if room == 0 || self.sent.is_none_or(|sent| self.arrived.received >= sent) {
                break;
            }
            std::thread::sleep(COMMIT_WAIT);
        }
        // The rest of a flood may be small, so the look before it counts, too.
        self.arrived.found = (BATCH - room).max(self.arrived.found / 2);
        let is_last = is_last && room > 0;
        if is_last {
            self.take_unfinished();
        }
        self.arrived.sort();
        let order = std::mem::take(&mut self.arrived.order);
        let oldest = order.first().map_or(0, |(t, _)| *t);
        let newest = order.last().map_or(0, |(t, _)| *t);
        let lost = self.counters.sum(Counter::Lost);
        if lost > self.lost_reported {
            let mut event = Event::new(Kind::Lost, oldest, 0);
            event.fields[0] = lost - self.lost_reported;
            events.push(event);
            self.lost_reported = lost;
        }
        self.steal.read(oldest, newest, events);
        // A process that waits seldom sends no newer record for a long time, so the clock decides as well.
        let now = u64::try_from(oversleep_native::here().now().0).unwrap_or(0).max(newest);
        let is_ready = |t: u64| is_last || t + KEPT_BACK_NS <= now;
        for &(_, place) in order.iter().take_while(|(t, _)| is_ready(*t)) {
            match place {
                Place::Event(n) => self.pass_on(self.arrived.events[n as usize], events),
                Place::Whole(n) => {
                    let bytes = self.arrived.wholes[n as usize];
                    whole::events_of_whole(&bytes).for_each(|event| self.pass_on(event, events));
                }
            }
        }
        self.arrived.order = order;
        self.arrived.events.retain(|event| !is_ready(event.t));
        self.arrived.wholes.retain(|bytes| !is_ready(whole::time_of(bytes)));
        if is_last && self.options.stacks {
            self.symbols.name(newest, events);
        }
        room == 0
    }

    /// Passes on an event with the user's ids, if its process is followed.
    fn pass_on(&mut self, mut event: Event, events: &mut Vec<Event>) {
        if let Some(ids) = &mut self.ids {
            ids.translate(&mut event);
        }
        if self.follows_own || event.tgid != self.own || event.kind == Kind::Run {
            self.symbols.note(&event);
            self.name_process(&event, events);
            events.push(event);
        }
    }

    /// Names the process of a thread that ran, whose own name may be another: once, as long as it is remembered.
    fn name_process(&mut self, event: &Event, events: &mut Vec<Event>) {
        if event.kind != Kind::Run || !self.named.insert(event.tgid) {
            return;
        }
        if self.named.len() > NAMED_MAX {
            self.named.clear();
        }
        let Some(name) = super::command_name(event.tgid) else { return };
        let mut named = Event::new(Kind::Process, event.t, event.tgid);
        let length = name.len().min(named.name.len());
        named.name[..length].copy_from_slice(&name.as_bytes()[..length]);
        events.push(named);
    }

    /// Takes the steps of waits that go on, which the kernel program still keeps.
    fn take_unfinished(&mut self) {
        for (tid, state) in self.threads.iter().flatten() {
            self.arrived.events.extend(whole::events_of_thread(tid, &state));
        }
    }

    /// How long the next look may wait: a look costs the same whether it finds much or little. The buffer holds 170,000
    /// events, which two busy CPUs need a quarter of a second for.
    pub fn pause(&self) -> Duration {
        Duration::from_millis(match self.arrived.found {
            // The last one didn't read all.
            BATCH.. => 0,
            found if found > BATCH / 4 => 50,
            _ => 200,
        })
    }
}

/// The addresses of a stack, which follow its event.
fn frames(record: &[u8]) -> Vec<u64> {
    let count = u64_at(record, STACK_COUNT_AT);
    let frames = record.get(EVENT_BYTES..).unwrap_or_default().chunks_exact(8);
    frames.take(usize::try_from(count).unwrap_or(0)).map(|frame| u64_at(frame, 0)).collect()
}
