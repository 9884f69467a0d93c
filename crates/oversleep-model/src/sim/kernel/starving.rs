//! Threads that are starved by others of a higher rank. No system lets them wait forever.

use oversleep_record::Nanos;

use super::Kernel;
use super::state::{Phase, Slot, State};

impl Kernel {
    /// When the system helps a thread whose CPUs are all taken by threads of a higher rank.
    pub(super) fn helped_at(&self, state: &State, slot: Slot) -> Option<Nanos> {
        let thread = &state.threads[slot];
        let Phase::Ready { since } = thread.phase else { return None };
        let outranks = |&running: &Slot| state.threads[running].standing.rank > thread.standing.rank;
        let usable = (0..state.cpus.len()).filter(|&cpu| thread.may_use(cpu as u32));
        let starves = usable.map(|cpu| state.cpus[cpu].as_ref()).all(|running| running.is_some_and(outranks));
        starves.then(|| self.model.scheduler.starving.helped_at(since))
    }

    /// Gives the thread a slice in place of the lowest-ranking running thread.
    pub(super) fn help(&self, state: &mut State, slot: Slot) {
        let since = self.now();
        let usable = |&running: &Slot| state.threads[slot].may_use(state.threads[running].cpu);
        let lowest = state.cpus.iter().flatten().copied().filter(usable).min_by_key(|&running| {
            let thread = &state.threads[running];
            (thread.standing.rank, running)
        });
        let Some(lowest) = lowest else { return };
        let Phase::Ready { since: waited } = state.threads[slot].phase else { return };
        self.count(state, lowest);
        state.threads[lowest].involuntary_switches += 1;
        let cpu = state.threads[lowest].cpu;
        self.put_aside(state, lowest);
        state.ready.retain(|&ready| ready != slot);
        self.put_on(state, slot, cpu, waited.min(since));
    }
}
