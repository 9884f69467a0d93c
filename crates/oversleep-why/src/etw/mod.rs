//! Waits of Windows programs, from the records of the kernel logger (ETW), as events of the same state machine.
//!
//! Written from Microsoft's documentation and tested with made-up records. It has never run on Windows.
//!
//! The records say when and why a thread left its CPU, when it was made ready, when it got a CPU, and how its call
//! ended. They don't say what time was requested. So the lateness of a wait begins at the interrupt that ended it,
//! unless the user states the intended time (`--want`); then the span from that time to the interrupt is due to the
//! tick and counts as slack. Interrupts and deferred procedure calls are recorded when they end, which may be after the
//! thread continued. So a wait is passed on only when its call ends.
//!
//! On Windows, a session of the kernel's logger (`oversleep-native/src/windows/kernel_trace.rs`) replaces the kernel
//! program, and `oversleep-why/src/etw/` turns its records into the same events.

mod record;

use std::collections::HashMap;

use crate::culprit::WINDOWS_POLICY;
use crate::event::{Event, Kind};

pub use record::{Class, Record, decode};

/// The state `Waiting` of a thread.
const WAITING: i8 = 5;
/// `DelayExecution` and `WrDelayExecution`: the thread sleeps.
const SLEEPS: [i8; 2] = [4, 11];
const STATUS_SUCCESS: u32 = 0;
const STATUS_TIMEOUT: u32 = 0x102;
/// The number of `NtDelayExecution` in oversleep's table of calls; Windows has no fixed ones.
pub const DELAY_EXECUTION: u32 = 0x1_0000;
/// The number for all other waits.
pub const WAIT_FOR: u32 = 0x1_0001;
/// The most threads, and handlers per CPU, that are kept.
const KEPT_MAX: usize = 65_536;
const HANDLERS_MAX: usize = 64;

/// A record with the contents of its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamped {
    /// When it was made, in ns.
    pub t: u64,
    /// The CPU.
    pub cpu: u16,
    /// The thread that ran there.
    pub thread: u32,
    /// What was recorded, with times in ns.
    pub record: Record,
}

/// A wait in progress.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    entered: u64,
    left: u64,
    is_sleep: bool,
    /// When and on which CPU it was made ready.
    ready: Option<(u64, u16)>,
    /// When, on which CPU and after which thread it continued.
    running: Option<(u64, u16, u32)>,
    priority: i8,
}

/// Translates records to events.
#[derive(Debug, Default)]
pub struct Translator {
    want_ns: Option<u64>,
    processes: HashMap<u32, u32>,
    entered: HashMap<u32, u64>,
    open: HashMap<u32, Open>,
    /// By CPU: since when its thread has been running, and the handlers that ended there: start, end, whether it was an
    /// interrupt.
    since: HashMap<u16, u64>,
    handlers: HashMap<u16, Vec<(u64, u64, bool)>>,
    /// The number of open waits whose thread is ready, but not running yet.
    pending: usize,
}

impl Translator {
    /// A translator; `want_ns` is the time that the program intends to wait, if the user states it.
    pub fn new(want_ns: Option<u64>) -> Translator {
        Translator { want_ns, ..Translator::default() }
    }

    /// Takes a record and appends the events that follow from it.
    pub fn feed(&mut self, stamped: &Stamped, events: &mut Vec<Event>) {
        let Stamped { t, cpu, thread, record } = *stamped;
        match record {
            Record::Thread { process, thread } => {
                bound(&mut self.processes);
                self.processes.insert(thread, process);
            }
            Record::ThreadEnd { thread } => {
                self.open.remove(&thread);
                self.entered.remove(&thread);
                events.push(Event { cpu, tgid: self.process(thread), ..Event::new(Kind::Gone, t, thread) });
                self.processes.remove(&thread);
            }
            Record::CallEnter => {
                bound(&mut self.entered);
                self.entered.insert(thread, t);
            }
            Record::Switch { new, old, new_priority, old_priority, old_state, old_wait_reason } => {
                let since = self.since.insert(cpu, t);
                self.out(t, old, old_state, old_wait_reason);
                if self.pending > 0 && old != 0 {
                    events.push(self.turn(stamped, since.unwrap_or(t), old, old_priority));
                }
                if let Some(open) = self.open.get_mut(&new).filter(|open| open.running.is_none()) {
                    open.running = Some((t, cpu, old));
                    open.priority = new_priority;
                    self.pending = self.pending.saturating_sub(usize::from(open.ready.is_some()));
                }
            }
            Record::Ready { thread } => {
                if let Some(open) = self.open.get_mut(&thread).filter(|open| open.ready.is_none()) {
                    open.ready = Some((t, cpu));
                    self.pending += 1;
                }
            }
            Record::Handler { began, is_interrupt } => {
                let handlers = self.handlers.entry(cpu).or_default();
                handlers.push((began, t, is_interrupt));
                if handlers.len() > HANDLERS_MAX {
                    handlers.remove(0);
                }
            }
            Record::CallExit { status } => {
                self.entered.remove(&thread);
                if let Some(open) = self.open.remove(&thread) {
                    self.pending -= usize::from(open.ready.is_some() && open.running.is_none()).min(self.pending);
                    self.wait(thread, &open, (t, cpu), status, events);
                }
            }
        }
    }

    fn process(&self, thread: u32) -> u32 {
        self.processes.get(&thread).copied().unwrap_or(thread)
    }

    fn out(&mut self, t: u64, old: u32, state: i8, reason: i8) {
        if state != WAITING || old == 0 {
            return;
        }
        let Some(&entered) = self.entered.get(&old) else { return };
        bound(&mut self.open);
        let open = Open { entered, left: t, is_sleep: SLEEPS.contains(&reason), ..Open::default() };
        self.open.insert(old, open);
    }

    fn turn(&self, stamped: &Stamped, since: u64, old: u32, priority: i8) -> Event {
        let mut run = Event::new(Kind::Run, stamped.t, old);
        (run.cpu, run.tgid) = (stamped.cpu, self.process(old));
        run.fields[..4].copy_from_slice(&[since, order(priority), u64::from(WINDOWS_POLICY), 0]);
        run
    }

    /// The interrupt and the handler during which a thread was made ready.
    fn handlers_at(&self, ready: u64, cpu: u16) -> (Option<u64>, Option<u64>) {
        let around = |is_wanted: bool| {
            let all = self.handlers.get(&cpu).into_iter().flatten();
            let within = all.filter(|(from, to, is)| *is == is_wanted && *from <= ready && ready <= *to);
            within.map(|(from, ..)| *from).min()
        };
        (around(true), around(false))
    }

    fn wait(&self, thread: u32, open: &Open, (end, cpu): (u64, u16), status: u32, events: &mut Vec<Event>) {
        let Some((ready, ready_cpu)) = open.ready else { return };
        let is_timer = status == STATUS_TIMEOUT || open.is_sleep && status == STATUS_SUCCESS;
        let (interrupt, deferred) = self.handlers_at(ready, ready_cpu);
        let fired = deferred.or(interrupt).unwrap_or(ready);
        let interrupt = interrupt.unwrap_or(fired).min(fired);
        let soft = self.want_ns.map_or(interrupt, |want| open.entered.saturating_add(want)).min(interrupt);
        let number = if open.is_sleep { DELAY_EXECUTION } else { WAIT_FOR };
        let tgid = self.process(thread);
        let event = |kind, t, cpu, x, fields| Event { cpu, tgid, x, fields, ..Event::new(kind, t, thread) };
        // 1 means a span; 2, in the second byte, a timer that expires at a tick that the system chooses.
        let form = u64::from(self.want_ns.is_some()) | 2 << 8;
        let arm = [open.entered, self.want_ns.unwrap_or(0), form, soft, soft, 0];
        let mut sent = vec![event(Kind::Arm, open.left, cpu, number, arm), event(Kind::Out, open.left, cpu, 0, [0; 6])];
        if is_timer {
            sent.push(event(Kind::Fire, fired, ready_cpu, 0, [interrupt, 0, 0, soft, soft, 2]));
        }
        let target = open.running.map_or(ready_cpu, |(_, cpu, _)| cpu);
        let priority = [0, 0, order(open.priority), u64::from(WINDOWS_POLICY), 0, 0];
        sent.push(event(Kind::Waking, ready, ready_cpu, number, [0; 6]));
        sent.push(event(Kind::Wakeup, ready, ready_cpu, u32::from(target), priority));
        if let Some((t, cpu, before)) = open.running {
            sent.push(event(Kind::In, t, cpu, before, [0; 6]));
        }
        let count = sent.len() as u32 + 1;
        sent.push(event(Kind::Return, end, cpu, count, [0; 6]));
        events.extend(sent);
    }
}

/// A priority in the state machine's order: smaller values come first.
fn order(priority: i8) -> u64 {
    31u64.saturating_sub(priority.max(0).unsigned_abs().into())
}

/// Clears the map rather than letting it grow without bound.
fn bound<K, V>(map: &mut HashMap<K, V>) {
    if map.len() >= KEPT_MAX {
        map.clear();
    }
}

#[cfg(test)]
mod tests;
