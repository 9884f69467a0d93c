//! The event loop: virtual time, and threads that run one at a time.
//!
//! Each modelled thread has its own stack, but only the holder of the baton runs; when it spends time or blocks, the
//! baton goes to the thread with the earliest event. The order depends only on the model, so runs are reproducible.
//!
//! Time and the running thread's data are in atomics that only the holder of the baton writes. If nothing else can
//! happen before a moment (the horizon), reaching it takes a comparison and a store. Everything else is [`state`]
//! behind a lock, which is uncontended: a wait of a lone thread takes it once and switches to no other thread.

mod carriers;
mod cpu;
mod fair;
mod hogs;
mod placing;
mod queues;
mod settings;
mod starving;
mod state;
mod threads;

use std::cell::Cell;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use oversleep_record::{Disturbance, Nanos};
use oversleep_system::rules::{Expiry, Tick, Timing};
use oversleep_system::{CounterReading, SwitchIn};

use self::carriers::Stop;
use self::state::Phase;
use super::machine::Stall;
use super::resolution::HardwareGrid;
use super::scheduler::Scheduler;
use super::spread::{Random, Spread};

#[cfg(feature = "asyncify")]
pub use self::carriers::carriers_take_turns;
pub(super) use state::{Hog, Slot, State, Waking};
pub(super) use threads::spawn;

static NEXT_KERNEL: AtomicU64 = AtomicU64::new(1);

thread_local! {
    /// The kernel and slot of the calling thread. A thread that no kernel started is the first thread of every kernel.
    static CURRENT: Cell<(u64, Slot)> = const { Cell::new((0, FIRST)) };
}

/// The slot of a kernel's first thread.
const FIRST: Slot = 0;

/// Restores the identity of the calling thread after others ran on it.
struct Here((u64, Slot));

impl Drop for Here {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

/// The parts of a machine that the event loop needs.
pub(super) struct Model {
    pub seed: u64,
    /// The time at which the first thread begins: where it is between two ticks, and within a step of a timer's grid.
    pub starts_at: Nanos,
    pub cpu_count: u32,
    pub scheduler: Scheduler,
    pub timing: Timing,
    pub join_wake: Spread,
    pub stalls: Vec<Stall>,
}

/// Virtual time and its threads.
pub(super) struct Kernel {
    id: u64,
    now: AtomicI64,
    /// Until just before this moment, the running thread may compute without affecting any other.
    computing_horizon: AtomicI64,
    /// Until just before this moment, the running thread may wait, and is sure to find a CPU afterwards.
    waiting_horizon: AtomicI64,
    /// CPU time of the running thread, minus the present time.
    cpu_time_base: AtomicI64,
    /// CPU time of all other threads of the process.
    others_cpu_time: AtomicI64,
    /// The CPU of the running thread.
    cpu: AtomicU32,
    /// The part of the cost of clock reads below whole nanoseconds.
    spare_ps: AtomicU64,
    /// How many ticks later the next wait is served that is uneven ([`Kernel::served_grid`]).
    uneven_owed: AtomicI64,
    pub(super) random: Random,
    pub(super) hardware_grid: HardwareGrid,
    model: Model,
    state: Mutex<State>,
}

/// A wait that begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sleep {
    /// The earliest and the latest moment at which its timer ends it.
    pub expiry: Expiry,
    /// From then until the thread is ready to run.
    pub wake: Nanos,
}

impl Kernel {
    pub(super) fn new(model: Model) -> Arc<Kernel> {
        let tick_period = model.timing.tick.as_ref().map_or(Nanos::ZERO, |tick| tick.default_ns);
        let (initial, slack) = (model.scheduler.initial(), model.timing.default_slack_ns);
        let state = State::new(model.cpu_count, initial, slack, model.starts_at);
        let kernel = Arc::new(Kernel {
            id: NEXT_KERNEL.fetch_add(1, Ordering::Relaxed),
            now: AtomicI64::new(model.starts_at.0),
            computing_horizon: AtomicI64::new(0),
            waiting_horizon: AtomicI64::new(0),
            cpu_time_base: AtomicI64::new(0),
            others_cpu_time: AtomicI64::new(0),
            cpu: AtomicU32::new(0),
            spare_ps: AtomicU64::new(0),
            uneven_owed: AtomicI64::new(0),
            random: Random::seeded(model.seed),
            hardware_grid: HardwareGrid::new(tick_period),
            model,
            state: Mutex::new(state),
        });
        let held = kernel.tick().map(|tick| tick.held_ns).filter(|&held| held > Nanos::ZERO);
        if let Some(period) = held {
            kernel.hold_resolution(period, false);
        }
        let state = kernel.lock();
        kernel.publish(&state, 0);
        drop(state);
        kernel
    }

    pub(super) fn me(&self) -> Slot {
        let (kernel, slot) = CURRENT.get();
        if kernel == self.id { slot } else { FIRST }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        // A panic of an experiment under test must not be hidden by a poisoned lock: the state stays consistent.
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The present time, without any cost.
    pub(super) fn now(&self) -> Nanos {
        Nanos(self.now.load(Ordering::Relaxed))
    }

    fn set_now(&self, now: Nanos) {
        self.now.store(now.0, Ordering::Relaxed);
    }

    /// Until when the caller may compute without affecting any other thread.
    pub(super) fn alone_until(&self) -> Nanos {
        Nanos(self.computing_horizon.load(Ordering::Relaxed))
    }

    /// Whether the caller's CPU has an odd number.
    pub(super) fn on_odd_cpu(&self) -> bool {
        self.cpu.load(Ordering::Relaxed) % 2 == 1
    }

    /// CPU time of the calling thread.
    pub(super) fn cpu_time(&self) -> Nanos {
        self.now() + Nanos(self.cpu_time_base.load(Ordering::Relaxed))
    }

    /// CPU time of all threads of the process.
    pub(super) fn process_cpu_time(&self) -> Nanos {
        self.cpu_time() + Nanos(self.others_cpu_time.load(Ordering::Relaxed))
    }

    /// The figures of the tick, on a machine that has one.
    pub(super) fn tick(&self) -> Option<&Tick> {
        self.model.timing.tick.as_ref()
    }

    pub(super) fn timing(&self) -> &Timing {
        &self.model.timing
    }

    pub(super) fn scheduler(&self) -> &Scheduler {
        &self.model.scheduler
    }

    /// Lets the caller compute for `span`.
    pub(super) fn spend(&self, span: Nanos) {
        if span <= Nanos::ZERO {
            return;
        }
        let end = self.now() + span;
        if end.0 < self.computing_horizon.load(Ordering::Relaxed) {
            self.set_now(end);
            return;
        }
        let me = self.me();
        let mut state = self.lock();
        let end = self.after_stalls(end);
        self.pause(&mut state, me);
        state.threads[me].left = end - self.now();
        self.pass_baton(state, me);
    }

    /// Lets the caller compute for this many ps; the remainder below a whole ns is kept for the next call.
    pub(super) fn spend_ps(&self, span_ps: u64) {
        let total = self.spare_ps.load(Ordering::Relaxed).saturating_add(span_ps);
        self.spare_ps.store(total % 1_000, Ordering::Relaxed);
        self.spend(Nanos(i64::try_from(total / 1_000).unwrap_or(i64::MAX)));
    }

    /// Lets the caller wait; `plan` gets the caller's thread and returns until when.
    pub(super) fn sleep(&self, plan: impl FnOnce(&State, Slot) -> Sleep) {
        let me = self.me();
        let mut state = self.lock();
        let sleep = plan(&state, me);
        let now = self.now();
        let fires = sleep.expiry.hard.max(now);
        let at = self.after_stalls((fires + sleep.wake).max(now));
        state.threads[me].voluntary_switches += 1;
        if at.0 < self.waiting_horizon.load(Ordering::Relaxed) {
            state.timer_interrupts += 1;
            state.threads[me].switched_in = Some(SwitchIn { at, run_queue_delay: Nanos::ZERO });
            self.set_now(at);
            let base = self.cpu_time_base.load(Ordering::Relaxed);
            self.cpu_time_base.store(base - (at - now).0, Ordering::Relaxed);
            return;
        }
        self.pause(&mut state, me);
        let phase = Phase::Asleep { at, expiry: sleep.expiry, wake: sleep.wake, since: None, shares: false };
        self.leave_cpu(&mut state, me, phase);
        self.fill_cpus(&mut state);
        self.pass_baton(state, me);
    }

    /// Lets others of the caller's rank run first, if there are any.
    pub(super) fn give_way(&self, cost: Nanos) {
        self.spend(cost);
        let me = self.me();
        let mut state = self.lock();
        let rank = state.threads[me].standing.rank;
        if !state.ready.iter().any(|&other| state.threads[other].standing.rank >= rank) {
            return;
        }
        self.pause(&mut state, me);
        self.give_up_turn(&mut state, me);
        self.put_aside(&mut state, me);
        self.fill_cpus(&mut state);
        self.pass_baton(state, me);
    }

    fn after_stalls(&self, due: Nanos) -> Nanos {
        self.model.stalls.iter().fold(due, |due, stall| {
            let end = stall.at + stall.length;
            if due >= stall.at && due < end { end } else { due }
        })
    }

    /// Gives the baton to the thread with the earliest event, and returns when the caller has it again.
    fn pass_baton(&self, mut state: MutexGuard<'_, State>, me: Slot) {
        let next = self.advance(&mut state);
        drop(state);
        if next == me {
            return;
        }
        if me == FIRST {
            self.run_others(next);
        } else {
            CURRENT.set((self.id, carriers::pass(next)));
        }
    }

    /// Waits on the first thread: runs the other threads until it gets the baton itself.
    fn run_others(&self, mut next: Slot) {
        let _here = Here(CURRENT.get());
        while next != FIRST {
            let carrier = self.lock().threads[next].carrier.take();
            let mut carrier = carrier.expect("whoever is due has stopped before");
            next = match carrier.resume(next) {
                Stop::Ended(then) => then,
                Stop::Passed(then) => {
                    self.lock().threads[next].carrier = Some(carrier);
                    then
                }
            };
        }
    }

    /// The counters of the caller's thread and of the system.
    pub(super) fn counters(&self) -> CounterReading {
        let me = self.me();
        let state = self.lock();
        let thread = &state.threads[me];
        let interrupts = match self.tick() {
            Some(_) => {
                let of_one_cpu = state.arbiter.interrupts(&self.hardware_grid, self.now());
                of_one_cpu * u64::from(self.model.cpu_count)
            }
            None => state.timer_interrupts,
        };
        CounterReading {
            at: self.now(),
            totals: Disturbance {
                steal_ns: Some(Nanos::ZERO),
                cpu_pressure_ns: Some(Nanos::ZERO),
                other_cpu_ns: Some(Nanos::ZERO),
                run_delay_ns: Some(thread.run_delay),
                voluntary_switches: Some(thread.voluntary_switches),
                involuntary_switches: Some(thread.involuntary_switches),
                timer_interrupts: Some(interrupts),
                own_cpu_ns: Some(self.cpu_time()),
                ..Disturbance::default()
            },
        }
    }

    pub(super) fn last_switch_in(&self) -> Option<SwitchIn> {
        let me = self.me();
        self.lock().threads[me].switched_in
    }
}
