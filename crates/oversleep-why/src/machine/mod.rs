//! The state machine: events in any order in, finished waits out. It never guesses: what it did not see is counted as
//! unattributed, and it takes no more memory the longer it runs.

mod close;
mod cpus;
mod open;
mod steps;
mod timers;

use std::collections::{HashMap, VecDeque};

use foldhash::fast::RandomState;

use crate::calls::Arch;
use crate::culprit::Turn;
use crate::event::{self, Event, Kind};
use crate::stack::Symbols;
use crate::wait::Wait;
use open::Open;
use timers::Timer;

/// Turns kept for each CPU, to name who ran.
const TURNS_MAX: usize = 512;
/// Threads, timers, processes and CPUs kept at most; beyond this a stream is not of a real machine.
const KEPT_MAX: usize = 65_536;

/// Each event is looked up by its thread, so finding it must be cheap. What a hostile stream could make slow by its numbers
/// is bounded by `KEPT_MAX`, and numbers are hashed differently in each run.
pub(crate) type Map<K, V> = HashMap<K, V, RandomState>;

/// What the machine counted besides waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Events fed.
    pub events: u64,
    /// Events that the collector said were lost.
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

/// See the module.
#[derive(Debug)]
pub struct Machine {
    arch: Arch,
    threads: Map<u32, Open>,
    timers: Map<u64, Timer>,
    turns: Map<u16, VecDeque<Turn>>,
    /// From, to, and how much the hypervisor took.
    steal: Map<u16, VecDeque<(u64, u64, u64)>>,
    processes: Map<u32, Process>,
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
            symbols: Symbols::default(),
            counts: Counts::default(),
            done: VecDeque::new(),
        }
    }

    /// What was counted so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The processes that the stream named.
    pub fn processes(&self) -> &HashMap<u32, Process, RandomState> {
        &self.processes
    }

    /// What the stream says of addresses.
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

    /// The stream is over: what is still open is given up, but waits whose call has returned.
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
                    open.frames.add(event);
                }
            }
            Kind::Symbol => self.symbols.add(event),
            Kind::Lost => {
                self.counts.lost = self.counts.lost.saturating_add(event.fields[0]);
                // Any open wait may miss one of these. It says itself how many, if its end arrives.
            }
            Kind::Steal => self.on_steal(event),
        }
    }

    fn on_arm(&mut self, event: &Event) {
        let arch = self.arch;
        if let Some(open) = self.threads.get_mut(&event.tid).filter(|open| open.continues(event, arch)) {
            open.seen = open.seen.saturating_add(1);
            open.arm(event);
            return;
        }
        self.close(event.tid);
        bound(&mut self.threads);
        let mut open = Open::new(event, event.x);
        open.seen = 1;
        open.arm(event);
        self.threads.insert(event.tid, open);
    }

    /// Ends what is open of a thread.
    fn close(&mut self, tid: u32) {
        let Some(open) = self.threads.remove(&tid) else { return };
        if open.returned.is_none() && open.suspended.is_none() {
            self.counts.unfinished += 1;
            return;
        }
        if let Some(wait) = self.wait_of(&open) {
            self.done.push_back(wait);
        }
    }
}

/// Forgets everything rather than growing without bound.
fn bound<K, V>(map: &mut Map<K, V>) {
    if map.len() >= KEPT_MAX {
        map.clear();
    }
}
