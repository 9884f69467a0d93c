//! The state behind the lock: everything about threads.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use oversleep_record::Nanos;
use oversleep_system::rules::{Expiry, Requester, Tick};
use oversleep_system::{SlackRule, SwitchIn};

use super::carriers::Carrier;
use crate::sim::resolution::Arbiter;
use crate::sim::scheduler::Standing;
use crate::sim::spread::Spread;

/// A thread's place in the table. A run starts thousands of threads, so slots of ended ones are reused.
pub(in crate::sim) type Slot = usize;

/// The phase of a thread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Phase {
    /// On a CPU.
    OnCpu {
        /// Since when, or since it was last counted.
        since: Nanos,
        /// When it must let others of its rank run.
        slice_end: Nanos,
    },
    /// Wants a CPU.
    Ready { since: Nanos },
    /// Waits for a time.
    Asleep {
        /// When it is ready to run.
        at: Nanos,
        /// The earliest and the latest end of its timer.
        expiry: Expiry,
        /// From the timer's end until it is ready to run.
        wake: Nanos,
        /// Set while it displaces another: since when it has been ready to run.
        since: Option<Nanos>,
        /// Whether another timer's interrupt ends it.
        shares: bool,
    },
    /// Waits for another thread.
    Blocked,
    /// Ended; the slot is free.
    Ended,
}

impl Phase {
    /// A wait that isn't ended by a timer: a thread's start, or a wake-up by another thread.
    pub(super) fn asleep(at: Nanos, since: Option<Nanos>) -> Phase {
        Phase::Asleep { at, expiry: Expiry::at(at), wake: Nanos::ZERO, since, shares: true }
    }
}

/// How a competitor uses its CPU.
#[derive(Clone, Debug)]
pub(in crate::sim) enum Hog {
    /// It computes forever.
    Spins,
    /// It wakes up, works for a moment and waits again.
    Wakes(Waking),
}

/// How timers drive a competitor.
#[derive(Clone, Debug)]
pub(in crate::sim) struct Waking {
    /// The rule by which its timers end.
    pub rule: SlackRule,
    /// From one timer to the next.
    pub span: Nanos,
    /// Whether the timer is periodic; otherwise the next wait begins when the work ends.
    pub is_periodic: bool,
    /// How long it computes each time.
    pub work: Nanos,
    /// From its timer's end until it is ready to run.
    pub wake: Spread,
}

/// One thread.
pub(in crate::sim) struct Thread {
    pub(super) phase: Phase,
    /// The remaining computation until its code continues.
    pub(super) left: Nanos,
    /// CPU time up to the last count.
    pub(super) used: Nanos,
    /// CPU time by weight; the thread with the least is next.
    pub(super) share_used: Nanos,
    /// The share at which its slice is used up, if that decides.
    pub(super) deadline: Nanos,
    /// What it was owed when it left its CPU, by weight.
    pub(super) lag: Nanos,
    /// Whether it last left its CPU at the end of its slice: then it is computing and has not just woken up.
    pub(super) is_busy: bool,
    /// Whether it has slept since it last ran.
    pub(super) is_woken: bool,
    pub(super) cpu: u32,
    /// The CPU it waits for, if CPUs have separate queues.
    pub(super) queue: Option<u32>,
    /// The CPUs it may run on, one per bit.
    pub(super) affinity: u64,
    pub(super) standing: Standing,
    pub(super) slack: Nanos,
    pub(super) tier: usize,
    /// Set for a competitor without code, which belongs to another process.
    pub(super) hog: Option<Hog>,
    /// When the last timer of a competitor was due.
    pub(super) timer_due: Nanos,
    pub(super) voluntary_switches: u64,
    pub(super) involuntary_switches: u64,
    pub(super) run_delay: Nanos,
    pub(super) switched_in: Option<SwitchIn>,
    pub(super) joiners: Vec<Slot>,
    pub(super) ended: Arc<AtomicBool>,
    /// The stack of its code while it doesn't run. The first thread has none, because it uses the caller's.
    pub(super) carrier: Option<Carrier>,
}

impl Thread {
    pub(super) fn new(phase: Phase, standing: Standing, slack: Nanos) -> Thread {
        Thread {
            phase,
            left: Nanos::ZERO,
            used: Nanos::ZERO,
            share_used: Nanos::ZERO,
            deadline: Nanos::ZERO,
            lag: Nanos::ZERO,
            is_busy: false,
            is_woken: false,
            cpu: 0,
            queue: None,
            affinity: u64::MAX,
            standing,
            slack,
            tier: 0,
            hog: None,
            timer_due: Nanos::ZERO,
            voluntary_switches: 0,
            involuntary_switches: 0,
            run_delay: Nanos::ZERO,
            switched_in: None,
            joiners: Vec::new(),
            ended: Arc::default(),
            carrier: None,
        }
    }

    pub(super) fn may_use(&self, cpu: u32) -> bool {
        self.affinity & (1 << (cpu % 64)) != 0
    }

    /// Whether it waits for a turn on this CPU.
    pub(super) fn queues_for(&self, cpu: u32) -> bool {
        self.may_use(cpu) && self.queue.is_none_or(|queue| queue == cpu)
    }
}

/// A counting semaphore.
#[derive(Debug, Default)]
pub(super) struct Semaphore {
    pub(super) count: u64,
    pub(super) waiters: Vec<Slot>,
}

/// Threads, CPUs and their shared state.
pub(in crate::sim) struct State {
    pub(super) threads: Vec<Thread>,
    /// The slots in use; only a few at a time.
    pub(super) live: Vec<Slot>,
    pub(super) free: Vec<Slot>,
    /// By CPU number: the thread on it.
    pub(super) cpus: Vec<Option<Slot>>,
    /// The threads that want a CPU, the longest waiting first.
    pub(super) ready: Vec<Slot>,
    pub(super) semaphores: Vec<Semaphore>,
    pub(super) free_semaphores: Vec<usize>,
    /// The share of the thread that last left a CPU that no other wanted. A thread that slept longer is not owed more.
    pub(super) share_floor: Nanos,
    /// By CPU number: the average share of its threads when one last left it.
    pub(super) cpu_shares: Vec<Nanos>,
    /// CPU time of threads that ended.
    pub(super) ended_cpu_time: Nanos,
    /// Interrupts of one-shot timers.
    pub(super) timer_interrupts: u64,
    pub(super) arbiter: Arbiter,
    /// The longest idle exit that a program allows; `None` if none sets a limit.
    pub(super) idle_exit_max: Option<Nanos>,
}

impl State {
    /// One thread on CPU 0; its slice is renewed when another one wants that CPU.
    pub(super) fn new(cpu_count: u32, standing: Standing, slack: Nanos, now: Nanos) -> State {
        let first = Thread::new(Phase::OnCpu { since: now, slice_end: now }, standing, slack);
        let mut cpus = vec![None; cpu_count.max(1) as usize];
        cpus[0] = Some(0);
        let cpu_shares = vec![Nanos::ZERO; cpus.len()];
        State {
            threads: vec![first],
            live: vec![0],
            free: Vec::new(),
            cpus,
            ready: Vec::new(),
            semaphores: Vec::new(),
            free_semaphores: Vec::new(),
            share_floor: Nanos::ZERO,
            cpu_shares,
            ended_cpu_time: Nanos::ZERO,
            timer_interrupts: 0,
            arbiter: Arbiter::default(),
            idle_exit_max: None,
        }
    }

    pub(super) fn add(&mut self, thread: Thread) -> Slot {
        let slot = match self.free.pop() {
            Some(slot) => {
                self.threads[slot] = thread;
                slot
            }
            None => {
                self.threads.push(thread);
                self.threads.len() - 1
            }
        };
        self.live.push(slot);
        slot
    }

    pub(super) fn remove(&mut self, slot: Slot) {
        self.live.retain(|&live| live != slot);
        self.threads[slot].phase = Phase::Ended;
        self.free.push(slot);
    }

    /// Whether the CPU that the thread leaves now has nothing else to run.
    pub(in crate::sim) fn leaves_cpu_idle(&self) -> bool {
        self.ready.is_empty()
    }

    /// How many threads always want a CPU, including the caller, and the number of CPUs.
    pub(in crate::sim) fn wanted_cpus(&self) -> (usize, usize) {
        let spins = |&&slot: &&Slot| matches!(self.threads[slot].hog, Some(Hog::Spins));
        (1 + self.live.iter().filter(spins).count(), self.cpus.len())
    }

    /// Whether no process, this one or another, holds a resolution.
    pub(in crate::sim) fn holds_no_resolution(&self) -> bool {
        self.arbiter.requests.is_empty()
    }

    /// The process whose request the timer interrupt follows.
    pub(in crate::sim) fn requester(&self, tick: &Tick) -> Requester {
        self.arbiter.requests.in_force(tick)
    }

    /// Whether this process requests a resolution and is ignored.
    pub(in crate::sim) fn requests_are_ignored(&self, tick: &Tick) -> bool {
        self.arbiter.requests.are_own_ignored(tick)
    }
}
