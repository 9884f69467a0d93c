//! Assigns CPUs to threads, and decides for how long.

use oversleep_record::Nanos;
use oversleep_system::SwitchIn;

use super::Kernel;
use super::cpu::ran_by_weight;
use super::state::{Phase, Slot, State};
use crate::sim::scheduler::SchedulerKind;

impl Kernel {
    /// Gives a ready thread a free CPU or that of a thread it displaces; otherwise the thread queues.
    pub(super) fn make_ready(&self, state: &mut State, slot: Slot, since: Option<Nanos>) {
        let now = self.now();
        let is_fair = self.is_fair(state, slot);
        if !is_fair {
            let floor = state.share_floor - self.model.scheduler.slice_ns;
            state.threads[slot].share_used = state.threads[slot].share_used.max(floor);
        }
        if let Some(cpu) = self.free_cpu(state, slot) {
            self.place(state, slot, cpu);
            return self.put_on(state, slot, cpu, since.unwrap_or(now));
        }
        if is_fair {
            self.renew_slices(state);
            let home = self.home_of(state, slot);
            self.place(state, slot, home);
        } else {
            self.catch_up(state, slot);
        }
        if let Some(victim) = self.victim(state, slot) {
            let delay = self.model.scheduler.preempt_delay.draw(&self.random);
            if since.is_none() && delay > Nanos::ZERO {
                let thread = &mut state.threads[slot];
                thread.phase = Phase::asleep(now + delay, Some(now));
                return;
            }
            self.count(state, victim);
            state.threads[victim].involuntary_switches += 1;
            let cpu = state.threads[victim].cpu;
            self.put_aside(state, victim);
            return self.put_on(state, slot, cpu, since.unwrap_or(now));
        }
        self.renew_slices(state);
        state.threads[slot].queue = self.queue_for(state, slot);
        state.threads[slot].phase = Phase::Ready { since: since.unwrap_or(now) };
        state.ready.push(slot);
    }

    /// The CPU that the thread last had, or another one that is free.
    fn free_cpu(&self, state: &State, slot: Slot) -> Option<u32> {
        let thread = &state.threads[slot];
        let is_free = |&cpu: &u32| state.cpus[cpu as usize].is_none() && thread.may_use(cpu);
        let count = state.cpus.len() as u32;
        Some(thread.cpu).filter(|&cpu| cpu < count).filter(is_free).or_else(|| (0..count).find(is_free))
    }

    /// Limits what a thread is owed for the time it slept to one slice.
    fn catch_up(&self, state: &mut State, slot: Slot) {
        let on_cpus = state.cpus.iter().flatten();
        let least = on_cpus.map(|&other| state.threads[other].share_used).min().unwrap_or(Nanos::ZERO);
        let thread = &mut state.threads[slot];
        thread.share_used = thread.share_used.max(least - self.model.scheduler.slice_ns);
    }

    /// The thread that a newly ready thread displaces at once.
    fn victim(&self, state: &State, slot: Slot) -> Option<Slot> {
        let woken = &state.threads[slot];
        let candidates = state.cpus.iter().flatten().copied().filter(|&other| woken.may_use(state.threads[other].cpu));
        let weakest = candidates.min_by_key(|&other| {
            let thread = &state.threads[other];
            (thread.standing.rank, std::cmp::Reverse(self.share_used_now(state, other)), other)
        })?;
        let there = &state.threads[weakest];
        if self.is_fair(state, slot) && there.standing.rank == woken.standing.rank {
            return self.displaced(state, slot);
        }
        let is_owed = self.model.scheduler.kind == SchedulerKind::Fair
            && there.standing.rank == woken.standing.rank
            && woken.share_used < self.share_used_now(state, weakest);
        (there.standing.rank < woken.standing.rank || is_owed).then_some(weakest)
    }

    pub(super) fn share_used_now(&self, state: &State, slot: Slot) -> Nanos {
        let thread = &state.threads[slot];
        match thread.phase {
            Phase::OnCpu { since, .. } => thread.share_used + ran_by_weight(self.now() - since, thread.standing.weight),
            _ => thread.share_used,
        }
    }

    pub(super) fn put_on(&self, state: &mut State, slot: Slot, cpu: u32, ready_since: Nanos) {
        let now = self.now();
        self.charge_wake(state, slot);
        let slice_end = self.turn_end(state, slot, cpu);
        let thread = &mut state.threads[slot];
        let delay = now - ready_since;
        thread.run_delay += delay;
        thread.switched_in = Some(SwitchIn { at: now, run_queue_delay: delay });
        thread.cpu = cpu;
        thread.phase = Phase::OnCpu { since: now, slice_end };
        state.cpus[cpu as usize] = Some(slot);
    }

    /// When a slice that begins now ends. Since Vista, Windows counts cycles instead of interrupts and checks them at
    /// each interrupt, so a slice ends when its length is used up, at a different moment on each CPU.
    pub(super) fn slice_end(&self, now: Nanos) -> Nanos {
        now + self.model.scheduler.slice_ns
    }

    /// Begins new slices for threads whose CPU no other thread wanted.
    fn renew_slices(&self, state: &mut State) {
        let (now, slice) = (self.now(), self.turn_length().0);
        for cpu in 0..state.cpus.len() {
            let Some(slot) = state.cpus[cpu] else { continue };
            // If another thread wants the CPU, the slice keeps its end.
            let is_fair = self.is_fair(state, slot);
            if is_fair && self.is_wanted(state, slot) {
                continue;
            }
            if let Phase::OnCpu { slice_end, .. } = &mut state.threads[slot].phase
                && *slice_end <= now
            {
                let over = (now - *slice_end).0;
                *slice_end += Nanos((over / slice + 1) * slice);
                let begun = *slice_end - Nanos(slice);
                if is_fair {
                    self.renew_deadline(state, slot, begun);
                }
            }
        }
    }

    /// Gives free CPUs to waiting threads: by rank, and within a rank by the least CPU time or the longest wait.
    pub(super) fn fill_cpus(&self, state: &mut State) {
        for cpu in 0..state.cpus.len() {
            if state.cpus[cpu].is_some() || state.ready.is_empty() {
                continue;
            }
            let average = self.turn_average(state, cpu as u32);
            let candidates =
                state.ready.iter().enumerate().filter(|&(_, &slot)| state.threads[slot].may_use(cpu as u32));
            let chosen = candidates.min_by_key(|&(position, &slot)| {
                let thread = &state.threads[slot];
                // A CPU that would become idle takes a thread from another CPU's queue.
                (
                    std::cmp::Reverse(thread.standing.rank),
                    !thread.queues_for(cpu as u32),
                    self.turn_of(state, slot, average),
                    position,
                )
            });
            let Some((position, &slot)) = chosen else { continue };
            self.migrate(state, slot, cpu as u32);
            state.ready.remove(position);
            let Phase::Ready { since } = state.threads[slot].phase else { continue };
            self.put_on(state, slot, cpu as u32, since);
        }
    }
}
