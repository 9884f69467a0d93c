//! What arrives in the ring buffer, put in the order of time.

use std::time::Duration;

use oversleep_why::event::{EVENT_BYTES, Event, Kind};
use oversleep_why::stack::events_of_stack;

use super::counters::Counter;
use super::whole::{self, EVENTS_MAX, WHOLE_BYTES};
use super::{Collector, u64_at};

/// Where the event of a stack has the number of its addresses.
const STACK_COUNT_AT: usize = 24;

/// What is younger than this when the buffer is read is kept for the next time: another CPU may be about to deliver
/// something older.
const KEPT_BACK_NS: u64 = 2_000_000;

/// Events that one look takes at most.
const BATCH: usize = 16_384;

/// How often and how long the last look waits for what is counted and not there yet.
const COMMIT_LOOKS: u32 = 5;
const COMMIT_WAIT: Duration = Duration::from_millis(1);

/// What arrived and was not passed on yet.
#[derive(Default)]
pub struct Arrived {
    events: Vec<Event>,
    wholes: Vec<[u8; WHOLE_BYTES]>,
    /// Their order in time, by their places; kept, so that not every look allocates.
    order: Vec<(u64, Place)>,
    /// Records so far.
    pub received: u64,
    /// Events that the last looks found.
    found: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Event(u32),
    Whole(u32),
}

impl Arrived {
    /// Takes a record; says how many events it stands for at most.
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
        // Each CPU delivers in order: a sort that makes use of that.
        self.order.sort();
    }
}

impl Collector {
    /// Reads what arrived, in the order of time; the steps of a wait may come together at its end. What is too young to be
    /// in order is kept for the next time, unless this is the last.
    ///
    /// Says whether there is more, which should be read at once: a look takes a limited number, so memory does not grow
    /// with what a flood of waits leaves in the buffer.
    pub fn drain(&mut self, events: &mut Vec<Event>, is_last: bool) -> bool {
        // What is sent from here on has no part in the account.
        self.sent = is_last.then(|| self.counters.sum(Counter::Sent));
        let mut room = BATCH;
        for _ in 0..COMMIT_LOOKS {
            while room > 0 {
                let Some(item) = self.ring.next() else { break };
                room = room.saturating_sub(self.arrived.take(&item));
            }
            // Another CPU may be about to fill in a record that has its place already.
            if room == 0 || self.sent.is_none_or(|sent| self.arrived.received >= sent) {
                break;
            }
            std::thread::sleep(COMMIT_WAIT);
        }
        // What is left of a flood may be little: the look before it counts, too.
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
        let is_ready = |t: u64| is_last || t + KEPT_BACK_NS <= newest;
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

    /// With the user's ids, if its process is followed.
    fn pass_on(&mut self, mut event: Event, events: &mut Vec<Event>) {
        if let Some(ids) = &mut self.ids {
            ids.translate(&mut event);
        }
        if self.follows_own || event.tgid != self.own || event.kind == Kind::Run {
            self.symbols.note(&event);
            events.push(event);
        }
    }

    /// Waits that go on: their steps are still with the kernel.
    fn take_unfinished(&mut self) {
        for (tid, state) in self.threads.iter().flatten() {
            self.arrived.events.extend(whole::events_of_thread(tid, &state));
        }
    }

    /// How long the next look may wait: a look costs the same whether it finds much or little. The buffer holds 170,000
    /// events, which two busy CPUs need a quarter of a second for.
    pub fn pause(&self) -> Duration {
        Duration::from_millis(if self.arrived.found > BATCH / 4 { 50 } else { 200 })
    }
}

/// The addresses of a stack, which follow its event.
fn frames(record: &[u8]) -> Vec<u64> {
    let count = u64_at(record, STACK_COUNT_AT);
    let frames = record.get(EVENT_BYTES..).unwrap_or_default().chunks_exact(8);
    frames.take(usize::try_from(count).unwrap_or(0)).map(|frame| u64_at(frame, 0)).collect()
}
