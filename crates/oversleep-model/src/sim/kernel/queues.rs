//! The queues of CPUs on systems whose threads take whole turns, such as Windows: which one a thread joins.

use super::Kernel;
use super::state::{Slot, State};
use crate::sim::scheduler::SchedulerKind;

impl Kernel {
    /// The CPU whose queue a thread joins if none is free. With round-robin each CPU has its own queue; a thread joins
    /// one with the fewest threads, so that an additional hog never shortens a wait. Ties are random.
    pub(super) fn queue_for(&self, state: &State, slot: Slot) -> Option<u32> {
        if self.is_fair(state, slot) {
            return Some(state.threads[slot].cpu);
        }
        if self.model.scheduler.kind != SchedulerKind::RoundRobin {
            return None;
        }
        let thread = &state.threads[slot];
        let usable: Vec<u32> = (0..state.cpus.len() as u32).filter(|&cpu| thread.may_use(cpu)).collect();
        let fewest = usable.iter().map(|&cpu| waiting_for(state, cpu)).min()?;
        let equals: Vec<u32> = usable.into_iter().filter(|&cpu| waiting_for(state, cpu) == fewest).collect();
        equals.get((self.random.unit() * equals.len() as f64) as usize).copied()
    }
}

/// How many threads wait in the queue of a CPU.
fn waiting_for(state: &State, cpu: u32) -> usize {
    state.ready.iter().filter(|&&slot| state.threads[slot].queue == Some(cpu)).count()
}
