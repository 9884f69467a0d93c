//! The event loop: virtual time, and threads that run one at a time.
//!
//! Each modelled thread is a real one, but only the one that holds the baton runs; it hands it on when it spends time
//! or blocks, always to the thread that is due first. The order depends on nothing but the model, so runs are
//! reproducible. A thread that is alone never switches: then a step costs one uncontended lock.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use oversleep_record::{Disturbance, Nanos, Unavailable};

use super::Stall;
use crate::platform::interface::{CounterReading, SwitchIn, ThreadHandle};

static NEXT_KERNEL: AtomicU64 = AtomicU64::new(1);

thread_local! {
    /// Kernel and thread number of the calling thread. A thread no kernel started is every kernel's first thread.
    static CURRENT: Cell<(u64, usize)> = const { Cell::new((0, 0)) };
}

#[derive(Debug)]
struct Thread {
    /// When it is due; `None` while blocked without a time.
    due: Option<Nanos>,
    finished: bool,
    slack: Nanos,
    cpu: Nanos,
    voluntary_switches: u64,
    run_delay: Nanos,
    switched_in: Option<SwitchIn>,
    joiners: Vec<usize>,
    panicked: bool,
}

impl Thread {
    fn new(due: Nanos, slack: Nanos) -> Thread {
        Thread {
            due: Some(due),
            finished: false,
            slack,
            cpu: Nanos::ZERO,
            voluntary_switches: 0,
            run_delay: Nanos::ZERO,
            switched_in: None,
            joiners: Vec::new(),
            panicked: false,
        }
    }
}

struct State {
    now: Nanos,
    /// Who holds the baton.
    running: usize,
    threads: Vec<Thread>,
    /// Numbers of the threads that have not finished: a run starts thousands, few at a time.
    live: Vec<usize>,
    hogs: u32,
    semaphores: Vec<Semaphore>,
}

#[derive(Default)]
struct Semaphore {
    count: u64,
    waiters: Vec<usize>,
}

/// Virtual time and its threads.
pub(super) struct Kernel {
    id: u64,
    state: Mutex<State>,
    baton: Condvar,
    stalls: Vec<Stall>,
    default_slack: Nanos,
}

impl Kernel {
    pub(super) fn new(stalls: Vec<Stall>, default_slack: Nanos) -> Arc<Kernel> {
        Arc::new(Kernel {
            id: NEXT_KERNEL.fetch_add(1, Ordering::Relaxed),
            state: Mutex::new(State {
                now: Nanos::ZERO,
                running: 0,
                threads: vec![Thread::new(Nanos::ZERO, default_slack)],
                live: vec![0],
                hogs: 0,
                semaphores: Vec::new(),
            }),
            baton: Condvar::new(),
            stalls,
            default_slack,
        })
    }

    fn me(&self) -> usize {
        let (kernel, thread) = CURRENT.get();
        if kernel == self.id { thread } else { 0 }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic of an experiment under test must not hide behind a poisoned lock: the state stays consistent.
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The present, without cost.
    pub(super) fn now(&self) -> Nanos {
        self.lock().now
    }

    /// Whether the caller's number is odd: of two threads started one after the other, one is.
    pub(super) fn on_odd_thread(&self) -> bool {
        self.me() % 2 == 1
    }

    /// The caller computes for `span`.
    pub(super) fn spend(&self, span: Nanos) {
        if span <= Nanos::ZERO {
            return;
        }
        let me = self.me();
        let mut state = self.lock();
        state.threads[me].cpu += span;
        let due = self.after_stalls(state.now + span);
        state.threads[me].due = Some(due);
        self.pass_baton(state, me);
    }

    /// The caller waits until `due`, of which the last `run_delay` is waiting for a CPU.
    pub(super) fn sleep_until(&self, due: Nanos, run_delay: Nanos) {
        let me = self.me();
        let mut state = self.lock();
        let due = self.after_stalls(due.max(state.now));
        let thread = &mut state.threads[me];
        thread.due = Some(due);
        thread.voluntary_switches += 1;
        thread.run_delay += run_delay;
        thread.switched_in = Some(SwitchIn { at: due, run_queue_delay: run_delay });
        self.pass_baton(state, me);
    }

    fn after_stalls(&self, due: Nanos) -> Nanos {
        self.stalls.iter().fold(due, |due, stall| {
            let end = stall.at + stall.length;
            if due >= stall.at && due < end { end } else { due }
        })
    }

    /// Gives the baton to whoever is due first and returns when the caller has it again.
    fn pass_baton(&self, mut state: MutexGuard<'_, State>, me: usize) {
        let next = first_due(&state).expect("every modelled thread is blocked for ever");
        state.running = next;
        state.now = state.now.max(state.threads[next].due.expect("chosen because it is due"));
        if next == me {
            return;
        }
        self.baton.notify_all();
        while state.running != me {
            state = self.baton.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }

    pub(super) fn add_semaphore(&self) -> usize {
        let mut state = self.lock();
        state.semaphores.push(Semaphore::default());
        state.semaphores.len() - 1
    }

    pub(super) fn post(&self, semaphore: usize, wake_cost: Nanos) {
        let mut state = self.lock();
        let now = state.now;
        match state.semaphores[semaphore].waiters.pop() {
            Some(waiter) => {
                let due = self.after_stalls(now + wake_cost);
                state.threads[waiter].due = Some(due);
                state.threads[waiter].switched_in = Some(SwitchIn { at: due, run_queue_delay: Nanos::ZERO });
            }
            None => state.semaphores[semaphore].count += 1,
        }
    }

    pub(super) fn wait(&self, semaphore: usize) {
        let me = self.me();
        let mut state = self.lock();
        if state.semaphores[semaphore].count > 0 {
            state.semaphores[semaphore].count -= 1;
            return;
        }
        state.semaphores[semaphore].waiters.push(me);
        state.threads[me].due = None;
        state.threads[me].voluntary_switches += 1;
        self.pass_baton(state, me);
    }

    pub(super) fn slack(&self) -> Nanos {
        let me = self.me();
        self.lock().threads[me].slack
    }

    pub(super) fn set_slack(&self, slack: Nanos) {
        let me = self.me();
        self.lock().threads[me].slack = slack;
    }

    pub(super) fn cpu_time(&self) -> Nanos {
        let me = self.me();
        self.lock().threads[me].cpu
    }

    pub(super) fn hogs(&self) -> u32 {
        self.lock().hogs
    }

    pub(super) fn add_hogs(&self, more: i64) {
        let mut state = self.lock();
        state.hogs = u32::try_from(i64::from(state.hogs) + more).unwrap_or(0);
    }

    pub(super) fn last_switch_in(&self) -> Option<SwitchIn> {
        let me = self.me();
        self.lock().threads[me].switched_in
    }

    pub(super) fn counters(&self) -> CounterReading {
        let me = self.me();
        let state = self.lock();
        let thread = &state.threads[me];
        CounterReading {
            at: state.now,
            totals: Disturbance {
                steal_ns: Some(Nanos::ZERO),
                cpu_pressure_ns: Some(Nanos::ZERO),
                other_cpu_ns: Some(Nanos::ZERO),
                run_delay_ns: Some(thread.run_delay),
                voluntary_switches: Some(thread.voluntary_switches),
                involuntary_switches: Some(0),
                own_cpu_ns: Some(thread.cpu),
                ..Disturbance::default()
            },
        }
    }

    fn finish(&self, me: usize, panicked: bool) {
        let mut state = self.lock();
        let now = state.now;
        state.threads[me].finished = true;
        state.live.retain(|&thread| thread != me);
        state.threads[me].panicked = panicked;
        state.threads[me].due = None;
        for joiner in std::mem::take(&mut state.threads[me].joiners) {
            state.threads[joiner].due = Some(now);
        }
        let next = first_due(&state).expect("every modelled thread is blocked for ever");
        state.running = next;
        state.now = now.max(state.threads[next].due.expect("chosen because it is due"));
        self.baton.notify_all();
    }
}

fn first_due(state: &State) -> Option<usize> {
    let due = state.live.iter().filter_map(|&thread| Some((state.threads[thread].due?, thread)));
    due.min().map(|(_, thread)| thread)
}

struct SimThread {
    kernel: Arc<Kernel>,
    number: usize,
    thread: std::thread::JoinHandle<()>,
}

/// Starts a modelled thread; it first runs `cost` after now.
pub(super) fn spawn(
    kernel: &Arc<Kernel>,
    name: &str,
    cost: Nanos,
    body: Box<dyn FnOnce() + Send>,
) -> Result<Box<dyn ThreadHandle>, Unavailable> {
    let number = {
        let mut state = kernel.lock();
        let due = kernel.after_stalls(state.now + cost);
        state.threads.push(Thread::new(due, kernel.default_slack));
        let number = state.threads.len() - 1;
        state.live.push(number);
        number
    };
    let shared = Arc::clone(kernel);
    let started = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
        CURRENT.set((shared.id, number));
        {
            let mut state = shared.lock();
            while state.running != number {
                state = shared.baton.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
            }
        }
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
        shared.finish(number, result.is_err());
        if let Err(panic) = result {
            std::panic::resume_unwind(panic);
        }
    });
    match started {
        Ok(thread) => Ok(Box::new(SimThread { kernel: Arc::clone(kernel), number, thread })),
        Err(error) => {
            kernel.lock().live.retain(|&thread| thread != number);
            Err(Unavailable::failed("starting a thread", error))
        }
    }
}

impl ThreadHandle for SimThread {
    fn is_finished(&self) -> bool {
        self.kernel.lock().threads[self.number].finished
    }

    fn join(self: Box<Self>) {
        let me = self.kernel.me();
        let mut state = self.kernel.lock();
        if !state.threads[self.number].finished {
            state.threads[self.number].joiners.push(me);
            state.threads[me].due = None;
            self.kernel.pass_baton(state, me);
        } else {
            drop(state);
        }
        if let Err(panic) = self.thread.join() {
            std::panic::resume_unwind(panic);
        }
    }
}
