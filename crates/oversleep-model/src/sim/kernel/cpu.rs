//! Finds the next event, and counts the time that threads have on CPUs.

use std::sync::atomic::Ordering;

use oversleep_record::Nanos;

use super::Kernel;
use super::state::{Hog, Phase, Slot, State};
use crate::sim::scheduler::SchedulerKind;

/// The next event of a thread. Of two simultaneous events, that of the lower slot comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Next {
    /// Its computation is done, and its code continues.
    Done,
    /// Its slice is over, and another thread wants the CPU.
    SliceOver,
    /// It becomes ready to run.
    Awake,
    /// Threads of a higher rank kept it from running for too long.
    Helped,
}

impl Kernel {
    /// Lets time pass until the code of a thread continues, and returns that thread.
    pub(super) fn advance(&self, state: &mut State) -> Slot {
        loop {
            let next = state.live.iter().filter_map(|&slot| self.next_of(state, slot)).min();
            let (at, slot, next) = next.expect("every modelled thread is blocked for ever");
            self.set_now(self.now().max(at));
            match next {
                Next::Done => {
                    self.count(state, slot);
                    if let Some(Hog::Wakes(waking)) = state.threads[slot].hog.clone() {
                        self.rest(state, slot, &waking);
                        continue;
                    }
                    state.threads[slot].left = Nanos::ZERO;
                    self.publish(state, slot);
                    return slot;
                }
                Next::SliceOver => {
                    self.count(state, slot);
                    if self.keeps_turn(state, slot) {
                        continue;
                    }
                    state.threads[slot].involuntary_switches += 1;
                    self.put_aside(state, slot);
                    self.balance(state, slot);
                    self.fill_cpus(state);
                }
                Next::Awake => self.wake_up(state, slot),
                Next::Helped => self.help(state, slot),
            }
        }
    }

    fn next_of(&self, state: &State, slot: Slot) -> Option<(Nanos, Slot, Next)> {
        let thread = &state.threads[slot];
        match thread.phase {
            Phase::OnCpu { since, slice_end } => {
                let is_endless = matches!(thread.hog, Some(Hog::Spins));
                let done = (!is_endless).then(|| (since + thread.left, slot, Next::Done));
                let over = self.is_wanted(state, slot).then_some((slice_end, slot, Next::SliceOver));
                done.into_iter().chain(over).min()
            }
            Phase::Asleep { at, .. } => Some((at, slot, Next::Awake)),
            Phase::Ready { .. } => Some((self.helped_at(state, slot)?, slot, Next::Helped)),
            Phase::Blocked | Phase::Ended => None,
        }
    }

    /// Whether a waiting thread may have this thread's CPU when its slice is over.
    pub(super) fn is_wanted(&self, state: &State, slot: Slot) -> bool {
        let on_it = &state.threads[slot];
        let wants = |&other: &Slot| {
            let other = &state.threads[other];
            other.standing.rank >= on_it.standing.rank && other.queues_for(on_it.cpu)
        };
        state.ready.iter().any(wants)
    }

    /// Publishes how far the holder of the baton may go without taking the lock.
    pub(super) fn publish(&self, state: &State, me: Slot) {
        let thread = &state.threads[me];
        let now = self.now();
        self.cpu_time_base.store((thread.used - now).0, Ordering::Relaxed);
        let others = state.live.iter().filter(|&&slot| slot != me && state.threads[slot].hog.is_none());
        let others: Nanos = others.map(|&slot| self.used(state, slot)).sum();
        self.others_cpu_time.store((others + state.ended_cpu_time).0, Ordering::Relaxed);
        self.cpu.store(thread.cpu, Ordering::Relaxed);
        let others = state.live.iter().filter(|&&slot| slot != me);
        let first = others.clone().filter_map(|&slot| self.next_of(state, slot)).map(|(at, ..)| at).min();
        let first = first.unwrap_or(Nanos::MAX);
        let own = match thread.phase {
            Phase::OnCpu { slice_end, .. } if self.is_wanted(state, me) => slice_end,
            _ => Nanos::MAX,
        };
        let has_stalls = !self.model.stalls.is_empty();
        let computing = if has_stalls { Nanos(i64::MIN) } else { first.min(own) };
        // While it waits, its CPU must stay free for it, and its interrupt must not end another timer.
        let may_share = others.filter_map(|&slot| match state.threads[slot].phase {
            Phase::Asleep { expiry, .. } => Some(expiry.soft),
            _ => None,
        });
        let may_wait = state.ready.is_empty() && !has_stalls;
        let waiting = if may_wait { may_share.fold(first, Nanos::min) } else { Nanos(i64::MIN) };
        self.computing_horizon.store(computing.0, Ordering::Relaxed);
        self.waiting_horizon.store(waiting.0, Ordering::Relaxed);
    }

    fn used(&self, state: &State, slot: Slot) -> Nanos {
        let thread = &state.threads[slot];
        match thread.phase {
            Phase::OnCpu { since, .. } => thread.used + (self.now() - since),
            _ => thread.used,
        }
    }

    /// Suspends the holder of the baton, and counts the CPU time that it has used since it got the baton.
    pub(super) fn pause(&self, state: &mut State, me: Slot) {
        let used = self.cpu_time();
        let thread = &mut state.threads[me];
        let ran = used - thread.used;
        thread.used = used;
        thread.share_used += ran_by_weight(ran, thread.standing.weight);
        let now = self.now();
        if let Phase::OnCpu { since, .. } = &mut thread.phase {
            *since = now;
        }
    }

    /// Counts the CPU time that a thread on a CPU has used until now.
    pub(super) fn count(&self, state: &mut State, slot: Slot) {
        let now = self.now();
        let thread = &mut state.threads[slot];
        if let Phase::OnCpu { since, .. } = &mut thread.phase {
            let ran = now - *since;
            *since = now;
            thread.left = (thread.left - ran).max(Nanos::ZERO);
            thread.used += ran;
            thread.share_used += ran_by_weight(ran, thread.standing.weight);
        }
    }

    /// Takes a thread off its CPU.
    pub(super) fn leave_cpu(&self, state: &mut State, slot: Slot, phase: Phase) {
        let cpu = state.threads[slot].cpu as usize;
        if !matches!(phase, Phase::Ready { .. }) {
            self.keep_lag(state, slot);
        }
        state.cpus[cpu] = None;
        state.threads[slot].phase = phase;
        if state.ready.is_empty() {
            state.share_floor = state.share_floor.max(state.threads[slot].share_used);
        }
    }

    /// Takes a thread off its CPU and queues it behind the waiting threads.
    pub(super) fn put_aside(&self, state: &mut State, slot: Slot) {
        self.leave_cpu(state, slot, Phase::Ready { since: self.now() });
        // If each CPU has its own queue, the thread stays there; otherwise balancing finds it the next CPU.
        let stays = self.model.scheduler.kind == SchedulerKind::RoundRobin || self.is_fair(state, slot);
        state.threads[slot].queue = stays.then_some(state.threads[slot].cpu);
        state.ready.push(slot);
    }

    /// Makes a sleeping thread ready to run.
    fn wake_up(&self, state: &mut State, slot: Slot) {
        let now = self.now();
        let Phase::Asleep { expiry, since, wake, shares, .. } = state.threads[slot].phase else { return };
        if since.is_none() && !shares {
            state.timer_interrupts += 1;
            self.fire_with(state, slot, now.min(expiry.hard + wake) - wake);
        }
        self.make_ready(state, slot, since);
    }

    /// Fires the other timers of a CPU that may end by the time of an interrupt, in the order of their latest ends and up to
    /// the first that may not end yet: `__hrtimer_run_queues` in kernel/time/hrtimer.c, `timer_queue_expire` in XNU's
    /// osfmk/kern/timer_call.c.
    fn fire_with(&self, state: &mut State, fired: Slot, at: Nanos) {
        let cpu = state.threads[fired].cpu;
        let pending = |state: &State, slot: Slot| match (&state.threads[slot].phase, state.threads[slot].cpu == cpu) {
            (Phase::Asleep { expiry, since: None, shares: false, .. }, true) if slot != fired && at < expiry.hard => {
                Some((expiry.hard, slot, expiry.soft))
            }
            _ => None,
        };
        while let Some((_, slot, soft)) = state.live.iter().filter_map(|&slot| pending(state, slot)).min() {
            if soft > at {
                break;
            }
            if let Phase::Asleep { at: due, expiry, wake, shares, .. } = &mut state.threads[slot].phase {
                *due = self.now().max(at + *wake);
                expiry.hard = at;
                *shares = true;
            }
        }
    }
}

pub(super) fn ran_by_weight(ran: Nanos, weight: u32) -> Nanos {
    if weight == 1_024 { ran } else { Nanos(ran.0.saturating_mul(1_024) / i64::from(weight.max(1))) }
}
