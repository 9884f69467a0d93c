//! The state machine takes events and returns finished waits. It never guesses: time between events that it did not see
//! is counted as unattributed. Its memory does not grow with the length of the stream.

mod between;
mod close;
mod cpus;
mod open;
mod signals;
mod steps;
mod supervised;
mod timers;

use std::collections::{HashMap, VecDeque};

use foldhash::fast::RandomState;
use oversleep_record::observed::period::Between;
use oversleep_record::observed::wait::signed;

use crate::calls::Arch;
use crate::culprit::Turn;
use crate::event::{self, Event, Kind, Name};
use crate::stack::{self, Symbols};
use crate::wait::Wait;
use open::Open;
use timers::Timer;

/// How many turns are kept for each CPU at least, and of all CPUs together at most. They tell which task ran: on a busy
/// machine a thread may wait while thousands pass.
const TURNS_MAX: usize = 512;
const TURNS_OF_ALL: usize = 65_536;
/// The most threads, timers, processes and CPUs that are kept. No stream of a real machine has more.
const KEPT_MAX: usize = 65_536;

/// Every event looks up its thread, so the hash must be cheap. A hostile stream can't make lookups slow: `KEPT_MAX` bounds
/// the number of entries, and the hash is seeded anew in each run.
pub(crate) type Map<K, V> = HashMap<K, V, RandomState>;

/// What the machine counted besides waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Events fed.
    pub events: u64,
    /// Events that the collector reported as lost.
    pub lost: u64,
    /// Waits whose end was not seen.
    pub unfinished: u64,
}

/// A process, as the stream names it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Process {
    /// Its name.
    pub name: String,
    /// The process that started it, if that was seen.
    pub parent: Option<u32>,
}

/// When a task had a CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occupied {
    /// The task's name.
    pub name: String,
    /// Its thread id.
    pub tid: u32,
    /// Its process.
    pub tgid: u32,
    /// When it began, on the stream's clock in ns.
    pub from: u64,
    /// When it ended.
    pub to: u64,
}

/// The state machine; see the module's description.
#[derive(Debug)]
pub struct Machine {
    arch: Arch,
    /// In boxes, because a wait in progress takes a KB, and a table has room for twice its entries.
    threads: Map<u32, Box<Open>>,
    timers: Map<u64, Timer>,
    turns: Map<u16, VecDeque<Turn>>,
    /// The begin and the end of each interval, and how much of it the hypervisor took.
    steal: Map<u16, VecDeque<(u64, u64, u64)>>,
    processes: Map<u32, Process>,
    /// How far behind its loop each thread is by its waits.
    behind: Map<u32, i64>,
    /// What threads did since their last waits.
    between: Map<u32, Between>,
    /// The names of processes whose threads ran.
    names: Map<u32, Name>,
    symbols: Symbols,
    counts: Counts,
    done: VecDeque<Wait>,
}

impl Machine {
    /// A machine for streams of that processor.
    pub fn new(arch: Arch) -> Machine {
        Machine {
            arch,
            threads: Map::default(),
            timers: Map::default(),
            turns: Map::default(),
            steal: Map::default(),
            processes: Map::default(),
            behind: Map::default(),
            between: Map::default(),
            names: Map::default(),
            symbols: Symbols::default(),
            counts: Counts::default(),
            done: VecDeque::new(),
        }
    }

    /// The counts so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The processes that the stream named.
    pub fn processes(&self) -> &HashMap<u32, Process, RandomState> {
        &self.processes
    }

    /// The names of addresses that the stream contained.
    pub fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    /// The waits that ended since the last call.
    pub fn take(&mut self) -> Vec<Wait> {
        self.done.drain(..).collect()
    }

    /// The next one of them.
    pub fn take_next(&mut self) -> Option<Wait> {
        self.done.pop_front()
    }

    /// The waits whose calls have returned and that the stream hasn't ended yet: what follows may still add a quota that
    /// stopped a thread on its way out.
    pub fn returned(&self) -> impl Iterator<Item = Wait> {
        self.threads.values().filter(|open| open.returned.is_some()).filter_map(|open| self.wait_of(open))
    }

    /// Who had that CPU at some time between these two, as far as a followed thread waited for it then, in the order of
    /// time.
    pub fn turns(&self, cpu: u16, from: u64, to: u64) -> impl Iterator<Item = Occupied> {
        let turns = self.turns.get(&cpu).into_iter().flatten();
        let turns = turns.filter(move |turn| turn.from < to && turn.to > from);
        turns.map(|turn| Occupied {
            name: event::text(&turn.name),
            tid: turn.tid,
            tgid: turn.tgid,
            from: turn.from,
            to: turn.to,
        })
    }

    /// Ends the stream. A wait whose call has returned is finished; every other open wait is counted as unfinished.
    pub fn finish(&mut self) {
        let mut tids: Vec<u32> = self.threads.keys().copied().collect();
        tids.sort_unstable();
        for tid in tids {
            self.close(tid);
        }
    }

    /// Takes one event.
    pub fn feed(&mut self, event: &Event) {
        self.counts.events += 1;
        match event.kind {
            Kind::Arm => self.on_arm(event),
            Kind::Fire => self.on_fire(event),
            Kind::Context => self.on_context(event),
            Kind::Set => {
                bound(&mut self.timers);
                self.timers.insert(event.fields[5], Timer::set(event));
            }
            Kind::Waking => self.on_waking(event),
            Kind::Wakeup | Kind::Out | Kind::In | Kind::Return => self.on_thread(event),
            Kind::Moved => self.on_moved(event),
            Kind::Run => self.on_run(event),
            Kind::Fork | Kind::Exec => {
                let parent = (event.kind == Kind::Fork).then_some(event.fields[0] as u32);
                bound(&mut self.processes);
                let process = self.processes.entry(event.tgid).or_default();
                process.name = event::text(&event.name);
                process.parent = parent.or(process.parent);
            }
            Kind::Gone => self.close(event.tid),
            Kind::Stack => {
                if let Some(open) = self.threads.get_mut(&event.tid).filter(|open| open.returned.is_none()) {
                    stack::extend(&mut open.frames, event);
                }
            }
            Kind::Symbol => self.symbols.add(event),
            Kind::Signal => self.on_signal(event),
            Kind::Between => self.on_between(event),
            Kind::Held => self.on_held(event),
            Kind::Process => {
                bound(&mut self.names);
                self.names.insert(event.tgid, event.name);
            }
            Kind::Lost => {
                self.counts.lost = self.counts.lost.saturating_add(event.fields[0]);
                // Any open wait may lack one of them. The event of its end says how many events it has.
            }
            Kind::Steal => self.on_steal(event),
        }
    }

    fn on_arm(&mut self, event: &Event) {
        let arch = self.arch;
        if let Some(open) = self.threads.get_mut(&event.tid).filter(|open| open.continues(event, arch)) {
            // What was sent between the two calls is of neither.
            open.seen = if open.suspended.is_some() { 1 } else { open.seen.saturating_add(1) };
            open.arm(event, arch);
            // What it did since then is a part of the wait.
            self.between.remove(&event.tid);
            return;
        }
        self.close(event.tid);
        bound(&mut self.threads);
        let mut open = Box::new(Open::new(event, event.x));
        open.seen = 1;
        open.arm(event, arch);
        open.before = self.between.remove(&event.tid);
        self.threads.insert(event.tid, open);
    }

    /// Ends the open wait of a thread.
    fn close(&mut self, tid: u32) {
        let Some(open) = self.threads.remove(&tid) else { return };
        if open.returned.is_none() && open.suspended.is_none() {
            self.counts.unfinished += 1;
            return;
        }
        if let Some(mut wait) = self.wait_of(&open) {
            self.carry_on(&mut wait);
            self.done.push_back(wait);
        }
    }

    /// Says how far behind its loop a thread was that makes a call too late: by waits that ended late, which one call after
    /// the other makes up for, and by what kept it from a CPU since.
    fn carry_on(&mut self, wait: &mut Wait) {
        bound(&mut self.behind);
        let behind = self.behind.entry(wait.tid).or_default();
        let mut still = 0;
        if wait.called_late_ns != 0 {
            let held_ns = wait.before.as_ref().map_or(0, |between| between.quota_ns.saturating_add(between.runq_ns));
            let before = behind.saturating_add(signed(held_ns));
            wait.late_before_ns = Some(before);
            still = before.min(signed(wait.called_late_ns));
        }
        *behind = still.saturating_add(wait.lateness_ns);
    }
}

/// Clears a map that has reached its bound.
fn bound<K, V>(map: &mut Map<K, V>) {
    if map.len() >= KEPT_MAX {
        map.clear();
    }
}
