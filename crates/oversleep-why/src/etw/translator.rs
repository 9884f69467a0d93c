//! From records to events.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::{Record, Stamped};
use crate::culprit::WINDOWS_POLICY;
use crate::event::{Event, Kind, Name};

/// The state `Waiting` of a thread that leaves its CPU.
const WAITING: i8 = 5;
/// `Running`, `Standby` and `DeferredReady`: what it waited for has come while it left.
const MADE_READY: [i8; 3] = [2, 3, 7];
/// `DelayExecution` and `WrDelayExecution`: the thread sleeps.
const SLEEPS: [i8; 2] = [4, 11];
/// From `WrQuantumEnd` to `WrYieldExecution`: the thread lost its CPU and waits for nothing else.
const LOST_CPU: std::ops::RangeInclusive<i8> = 30..=33;
const STATUS_SUCCESS: u32 = 0;
const STATUS_TIMEOUT: u32 = 0x102;
/// The number of `NtDelayExecution` in oversleep's table of calls; Windows has no fixed ones.
pub const DELAY_EXECUTION: u32 = 0x1_0000;
/// The number for all other waits.
pub const WAIT_FOR: u32 = 0x1_0001;
/// What a header without a thread says.
const NO_THREAD: u32 = u32::MAX;
/// The most threads, and handlers per CPU, that are kept.
const KEPT_MAX: usize = 65_536;
const HANDLERS_MAX: usize = 64;

type Map<K, V> = HashMap<K, V, RandomState>;

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

impl Open {
    fn is_pending(&self) -> bool {
        self.ready.is_some() && self.running.is_none()
    }
}

/// What is known of a thread.
#[derive(Clone, Copy, Debug)]
struct Thread {
    process: u32,
    name: Name,
}

/// What a CPU does.
#[derive(Clone, Debug, Default)]
struct Cpu {
    /// Its thread, and since when.
    running: Option<(u32, u64)>,
    /// The handlers that ended there: start, end, whether it was an interrupt.
    handlers: Vec<(u64, u64, bool)>,
}

/// Translates records to events.
#[derive(Debug, Default)]
pub struct Translator {
    want_ns: Option<u64>,
    has_calls: bool,
    threads: Map<u32, Thread>,
    programs: Map<u32, Name>,
    entered: Map<u32, u64>,
    open: Map<u32, Open>,
    cpus: Map<u16, Cpu>,
    /// The number of open waits whose thread is ready, but not running yet.
    pending: usize,
    /// Until then, records are missing.
    gap_until: u64,
}

impl Translator {
    /// A translator. `want_ns` is the time that the program intends to wait, if the user states it. Without system calls
    /// in the stream, sleeps end when their threads get a CPU, and other waits can't be told from sleeps.
    pub fn new(want_ns: Option<u64>, has_calls: bool) -> Translator {
        Translator { want_ns, has_calls, ..Translator::default() }
    }

    /// Takes a record and appends the events that follow from it.
    pub fn feed(&mut self, stamped: &Stamped, events: &mut Vec<Event>) {
        let Stamped { t, cpu, thread, record } = *stamped;
        match record {
            Record::Thread { process, thread } => {
                bound(&mut self.threads);
                let name = self.threads.get(&thread).filter(|known| known.process == process);
                let name = name.map(|known| known.name).unwrap_or_default();
                self.threads.insert(thread, Thread { process, name });
            }
            Record::ThreadName { process, thread, name } => {
                bound(&mut self.threads);
                self.threads.insert(thread, Thread { process, name });
            }
            Record::Process { process, name } => {
                bound(&mut self.programs);
                self.programs.insert(process, name);
                events.push(Event { cpu, name, ..Event::new(Kind::Process, t, process) });
            }
            Record::ThreadEnd { thread } => {
                self.take(thread);
                self.entered.remove(&thread);
                events.push(self.event(Kind::Gone, t, cpu, thread));
                self.threads.remove(&thread);
            }
            // Of half of them, nothing is concluded.
            Record::CallEnter | Record::CallExit { .. } if !self.has_calls => {}
            Record::CallEnter => {
                if let Some(thread) = self.runs(cpu, thread) {
                    bound(&mut self.entered);
                    self.entered.insert(thread, t);
                }
            }
            Record::CallExit { status } => {
                let Some(thread) = self.runs(cpu, thread) else { return };
                self.entered.remove(&thread);
                if let Some(open) = self.take(thread) {
                    self.wait(thread, &open, (t, cpu), status, events);
                }
            }
            Record::Switch { new, old, new_priority, old_priority, old_state, old_wait_reason } => {
                let before = self.cpu(cpu).running.replace((new, t));
                if before.is_some_and(|(thread, _)| thread != old) {
                    self.lose((t, cpu), (t, 1), events);
                    self.cpu(cpu).running = Some((new, t));
                }
                self.out((t, cpu), old, old_state, old_wait_reason);
                if self.pending > 0 && old != 0 {
                    let since = before.filter(|(thread, _)| *thread == old).map_or(t, |(_, since)| since);
                    events.push(self.turn(stamped, since, old, old_priority));
                }
                self.run((t, cpu), new, old, new_priority, events);
            }
            Record::Ready { thread } => {
                if let Some(open) = self.open.get_mut(&thread).filter(|open| open.ready.is_none()) {
                    open.ready = Some((t, cpu));
                    self.pending += usize::from(open.is_pending());
                }
            }
            Record::Handler { began, is_interrupt } => {
                let handlers = &mut self.cpu(cpu).handlers;
                handlers.push((began, t, is_interrupt));
                if handlers.len() > HANDLERS_MAX {
                    handlers.remove(0);
                }
            }
            Record::Lost { until, count } => self.lose((t, cpu), (until, count), events),
        }
    }

    fn cpu(&mut self, number: u16) -> &mut Cpu {
        self.cpus.entry(number).or_default()
    }

    /// The thread that a CPU runs. Most headers of the kernel's logger don't name it.
    fn runs(&self, cpu: u16, of_header: u32) -> Option<u32> {
        let running = || self.cpus.get(&cpu).and_then(|cpu| cpu.running).map(|(thread, _)| thread);
        if of_header == NO_THREAD { running() } else { Some(of_header) }
    }

    /// The wait of a thread, which is over or given up.
    fn take(&mut self, thread: u32) -> Option<Open> {
        let open = self.open.remove(&thread)?;
        self.pending = self.pending.saturating_sub(usize::from(open.is_pending()));
        Some(open)
    }

    /// Gives up every wait: its records may be among those that are missing.
    fn lose(&mut self, (t, cpu): (u64, u16), (until, count): (u64, u64), events: &mut Vec<Event>) {
        let mut lost = Event { cpu, ..Event::new(Kind::Lost, t, 0) };
        lost.fields[0] = count;
        events.push(lost);
        let mut threads: Vec<(u32, Open)> = self.open.drain().collect();
        threads.sort_unstable_by_key(|(thread, _)| *thread);
        for (thread, open) in threads {
            let arm = Event { x: open.number(), ..self.event(Kind::Arm, open.left, cpu, thread) };
            events.extend([arm, self.event(Kind::Gone, t, cpu, thread)]);
        }
        self.entered.clear();
        self.cpus.remove(&cpu);
        self.pending = 0;
        self.gap_until = self.gap_until.max(until);
    }

    fn event(&self, kind: Kind, t: u64, cpu: u16, thread: u32) -> Event {
        let known = self.threads.get(&thread);
        let tgid = known.map_or(thread, |known| known.process);
        let own = known.map(|known| known.name).filter(|name| name[0] != 0);
        let name = own.or_else(|| self.programs.get(&tgid).copied()).unwrap_or_default();
        Event { cpu, tgid, name, ..Event::new(kind, t, thread) }
    }

    /// A thread leaves its CPU.
    fn out(&mut self, (t, cpu): (u64, u16), old: u32, state: i8, reason: i8) {
        let is_ready = MADE_READY.contains(&state) && !LOST_CPU.contains(&reason);
        if old == 0 || t < self.gap_until || state != WAITING && !is_ready {
            return;
        }
        let is_sleep = SLEEPS.contains(&reason);
        let entered = self.entered.get(&old).copied().or((!self.has_calls && is_sleep).then_some(t));
        let Some(entered) = entered else { return };
        self.take(old);
        if self.open.len() >= KEPT_MAX {
            (self.open, self.pending) = (Map::default(), 0);
        }
        let ready = is_ready.then_some((t, cpu));
        self.pending += usize::from(is_ready);
        self.open.insert(old, Open { entered, left: t, is_sleep, ready, ..Open::default() });
    }

    /// A thread gets a CPU.
    fn run(&mut self, at: (u64, u16), new: u32, old: u32, priority: i8, events: &mut Vec<Event>) {
        let Some(mut open) = self.open.get(&new).copied().filter(|open| open.running.is_none()) else { return };
        self.take(new);
        (open.running, open.priority) = (Some((at.0, at.1, old)), priority);
        match self.has_calls {
            true => drop(self.open.insert(new, open)),
            false => self.wait(new, &open, at, STATUS_SUCCESS, events),
        }
    }

    fn turn(&self, stamped: &Stamped, since: u64, old: u32, priority: i8) -> Event {
        let mut run = self.event(Kind::Run, stamped.t, stamped.cpu, old);
        run.fields[..4].copy_from_slice(&[since, order(priority), u64::from(WINDOWS_POLICY), 0]);
        run
    }

    /// The interrupt and the handler during which a thread was made ready.
    fn handlers_at(&self, ready: u64, cpu: u16) -> (Option<u64>, Option<u64>) {
        let around = |is_wanted: bool| {
            let all = self.cpus.get(&cpu).into_iter().flat_map(|cpu| &cpu.handlers);
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
        let number = open.number();
        let event = |kind, t, cpu, x, fields| Event { x, fields, ..self.event(kind, t, cpu, thread) };
        // 1 means a span; 2, in the second byte, a timer that expires at a tick that the system chooses.
        let form = u64::from(self.want_ns.is_some()) | 2 << 8;
        let arm = [open.entered, self.want_ns.unwrap_or(0), form, soft, soft, 0];
        // The time from arming to the expiry would pass for the request, which isn't recorded.
        let armed = if self.want_ns.is_some() { open.left } else { soft };
        let mut sent = vec![event(Kind::Arm, armed, cpu, number, arm), event(Kind::Out, open.left, cpu, 0, [0; 6])];
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

impl Open {
    /// The number of its call.
    fn number(&self) -> u32 {
        if self.is_sleep { DELAY_EXECUTION } else { WAIT_FOR }
    }
}

/// A priority in the state machine's order: smaller values come first.
fn order(priority: i8) -> u64 {
    31u64.saturating_sub(priority.max(0).unsigned_abs().into())
}

/// Clears the map rather than letting it grow without bound.
fn bound<K, V>(map: &mut Map<K, V>) {
    if map.len() >= KEPT_MAX {
        map.clear();
    }
}
