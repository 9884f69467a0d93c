//! Threads from start to join, and the semaphores with which they wake each other.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use oversleep_record::{Nanos, Unavailable};
use oversleep_system::ThreadHandle;

use super::carriers::Carrier;
use super::state::{Phase, Semaphore, Slot, Thread};
use super::{CURRENT, Kernel};

struct SimThread {
    kernel: Arc<Kernel>,
    slot: Slot,
    ended: Arc<AtomicBool>,
    /// The payload of its panic.
    panic: Arc<Mutex<Option<Panic>>>,
}

type Panic = Box<dyn std::any::Any + Send>;

/// Starts a modelled thread, which first runs `cost` from now.
pub(in crate::sim) fn spawn(
    kernel: &Arc<Kernel>,
    cost: Nanos,
    body: Box<dyn FnOnce() + Send>,
) -> Result<Box<dyn ThreadHandle>, Unavailable> {
    let panic = Arc::new(Mutex::new(None));
    let (shared, panicked) = (Arc::clone(kernel), Arc::clone(&panic));
    let job = Box::new(move |me| {
        CURRENT.set((shared.id, me));
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
        *panicked.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = result.err();
        shared.finish(me)
    });
    let carrier = Carrier::new(job).map_err(|error| Unavailable::failed("starting a thread", error))?;
    let (slot, ended) = kernel.add_thread(cost, carrier);
    Ok(Box::new(SimThread { kernel: Arc::clone(kernel), slot, ended, panic }))
}

impl Kernel {
    fn add_thread(&self, cost: Nanos, carrier: Carrier) -> (Slot, Arc<AtomicBool>) {
        let me = self.me();
        let mut state = self.lock();
        let due = self.after_stalls(self.now() + cost);
        let parent = &state.threads[me];
        let mut thread = Thread::new(Phase::asleep(due, None), parent.standing, parent.slack);
        thread.tier = parent.tier;
        thread.carrier = Some(carrier);
        thread.affinity = parent.affinity;
        thread.share_used = parent.share_used;
        let ended = Arc::clone(&thread.ended);
        let slot = state.add(thread);
        // If no CPU is free, threads started together are distributed over all CPUs.
        state.threads[slot].cpu = (slot % state.cpus.len()) as u32;
        self.publish_to(&mut state, me);
        (slot, ended)
    }

    /// Ends the caller's thread. Returns the thread that gets the baton.
    fn finish(&self, me: Slot) -> Slot {
        let mut state = self.lock();
        self.pause(&mut state, me);
        let used = state.threads[me].used;
        state.ended_cpu_time += used;
        self.leave_cpu(&mut state, me, Phase::Ended);
        state.threads[me].ended.store(true, Ordering::Relaxed);
        for joiner in std::mem::take(&mut state.threads[me].joiners) {
            let at = self.after_stalls(self.now() + self.join_wake());
            state.threads[joiner].phase = Phase::asleep(at, None);
        }
        state.remove(me);
        self.fill_cpus(&mut state);
        self.advance(&mut state)
    }

    fn join_wake(&self) -> Nanos {
        self.model.join_wake.draw(&self.random)
    }

    /// Lets the caller wait until another thread has ended.
    fn wait_for_end(&self, slot: Slot, ended: &AtomicBool) {
        let me = self.me();
        let mut state = self.lock();
        if ended.load(Ordering::Relaxed) {
            return;
        }
        state.threads[slot].joiners.push(me);
        self.block(state, me);
    }

    fn block(&self, mut state: std::sync::MutexGuard<'_, super::State>, me: Slot) {
        self.pause(&mut state, me);
        self.leave_cpu(&mut state, me, Phase::Blocked);
        state.threads[me].voluntary_switches += 1;
        self.fill_cpus(&mut state);
        self.pass_baton(state, me);
    }

    pub(in crate::sim) fn add_semaphore(&self) -> usize {
        let mut state = self.lock();
        if let Some(free) = state.free_semaphores.pop() {
            state.semaphores[free] = Semaphore::default();
            return free;
        }
        state.semaphores.push(Semaphore::default());
        state.semaphores.len() - 1
    }

    pub(in crate::sim) fn remove_semaphore(&self, semaphore: usize) {
        self.lock().free_semaphores.push(semaphore);
    }

    pub(in crate::sim) fn post(&self, semaphore: usize, wake_cost: Nanos) {
        let me = self.me();
        let mut state = self.lock();
        match state.semaphores[semaphore].waiters.pop() {
            Some(waiter) => {
                let due = self.after_stalls(self.now() + wake_cost);
                state.threads[waiter].phase = Phase::asleep(due, None);
                self.publish_to(&mut state, me);
            }
            None => state.semaphores[semaphore].count += 1,
        }
    }

    pub(in crate::sim) fn wait(&self, semaphore: usize) {
        let me = self.me();
        let mut state = self.lock();
        if state.semaphores[semaphore].count > 0 {
            state.semaphores[semaphore].count -= 1;
            return;
        }
        state.semaphores[semaphore].waiters.push(me);
        self.block(state, me);
    }

    #[cfg(test)]
    pub(in crate::sim) fn table_sizes(&self) -> (usize, usize) {
        let state = self.lock();
        (state.threads.len(), state.semaphores.len())
    }

    /// Publishes the caller's new limits after a change of the state.
    pub(super) fn publish_to(&self, state: &mut super::State, me: Slot) {
        self.pause(state, me);
        self.publish(state, me);
    }
}

impl ThreadHandle for SimThread {
    fn is_finished(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    fn join(self: Box<Self>) {
        self.kernel.wait_for_end(self.slot, &self.ended);
        let panic = self.panic.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
        if let Some(panic) = panic {
            std::panic::resume_unwind(panic);
        }
    }
}
