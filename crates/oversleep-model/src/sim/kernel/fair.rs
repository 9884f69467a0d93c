//! Fair scheduling on Linux: each CPU has its own queue and compares its threads' shares of CPU time, by weight. Slices
//! end at scheduler ticks. Source: kernel/sched/fair.c.
//!
//! EEVDF (since Linux 6.6): a thread is eligible while it has had no more than its CPU's average. The eligible thread
//! with the earliest deadline is next; a deadline is one slice after the thread's share when it began. A running thread
//! that is eligible is protected until its slice is used up (`RUN_TO_PARITY`). A thread that wakes up is owed what it was
//! owed when it began to sleep (`PLACE_LAG`).
//!
//! CFS (before 6.6): the thread that has had the least is next. A sleeper gets a credit of half a period
//! (`GENTLE_FAIR_SLEEPERS`), and displaces a thread that has had more by at least the wake-up granularity.

use std::cmp::Reverse;

use oversleep_record::Nanos;
use oversleep_system::rules::Expiry;

use super::Kernel;
use super::state::{Phase, Slot, State, Thread};
use crate::sim::scheduler::{OnWake, SchedulerKind};

/// A thread's position in the order: whether it has had more than the average, and its deadline or its share.
pub(super) type Turn = (bool, Nanos);

impl Thread {
    fn by_weight(&self, span: Nanos) -> Nanos {
        super::cpu::ran_by_weight(span, self.standing.weight)
    }
}

impl Kernel {
    /// Whether each CPU has a queue whose threads share it by weight.
    pub(super) fn has_fair_queues(&self) -> bool {
        matches!(self.model.scheduler.kind, SchedulerKind::Eevdf | SchedulerKind::Cfs { .. })
    }

    /// Whether these rules schedule this thread.
    pub(super) fn is_fair(&self, state: &State, slot: Slot) -> bool {
        self.has_fair_queues() && !state.threads[slot].standing.is_real_time
    }

    fn members<'a>(&self, state: &'a State, cpu: u32) -> impl Iterator<Item = Slot> + use<'a> {
        let queued = state.ready.iter().copied().filter(move |&slot| state.threads[slot].queue == Some(cpu));
        let all = state.cpus[cpu as usize].into_iter().chain(queued);
        all.filter(|&slot| !state.threads[slot].standing.is_real_time)
    }

    /// What the threads of a CPU, this one included, have had on average, and their total weight.
    fn average(&self, state: &State, cpu: u32, also: Option<Slot>) -> (Nanos, i64) {
        let base = state.cpu_shares[cpu as usize];
        let (mut sum, mut weight) = (0_i128, 0_i64);
        for slot in self.members(state, cpu).chain(also) {
            let own = i64::from(state.threads[slot].standing.weight);
            sum += i128::from((self.share_used_now(state, slot) - base).0) * i128::from(own);
            weight += own;
        }
        match weight {
            0 => (base, 0),
            _ => (base + Nanos((sum / i128::from(weight)) as i64), weight),
        }
    }

    /// A thread's position in the order of a CPU whose average is known.
    pub(super) fn turn_of(&self, state: &State, slot: Slot, average: Nanos) -> Turn {
        let share = self.share_used_now(state, slot);
        match self.model.scheduler.kind {
            SchedulerKind::Eevdf => (share > average, state.threads[slot].deadline),
            SchedulerKind::Cfs { .. } | SchedulerKind::Fair => (false, share),
            SchedulerKind::RoundRobin => (false, Nanos::ZERO),
        }
    }

    /// The average that [`Kernel::turn_of`] needs for this CPU.
    pub(super) fn turn_average(&self, state: &State, cpu: u32) -> Nanos {
        if self.has_fair_queues() { self.average(state, cpu, None).0 } else { Nanos::ZERO }
    }

    /// Stores what a thread that leaves its CPU is owed or owes, until it wakes up.
    pub(super) fn keep_lag(&self, state: &mut State, slot: Slot) {
        if !self.is_fair(state, slot) {
            return;
        }
        let cpu = state.threads[slot].cpu;
        state.threads[slot].is_busy = false;
        let (average, _) = self.average(state, cpu, None);
        state.cpu_shares[cpu as usize] = average;
        let most = state.threads[slot].by_weight(self.model.scheduler.slice_ns) * 2;
        let thread = &mut state.threads[slot];
        thread.lag = (average - thread.share_used).max(Nanos::ZERO - most).min(most);
    }

    /// Adds a woken thread to a CPU with what it was owed.
    pub(super) fn place(&self, state: &mut State, slot: Slot, cpu: u32) {
        if !self.is_fair(state, slot) {
            return;
        }
        let (average, weight) = self.average(state, cpu, None);
        let thread = &state.threads[slot];
        let was_here = thread.cpu == cpu;
        let share = match self.model.scheduler.kind {
            SchedulerKind::Cfs { latency_ns, .. } => {
                let least = self.members(state, cpu).map(|other| self.share_used_now(state, other)).min();
                let credited = least.unwrap_or(average) - Nanos(latency_ns.0 / 2);
                if was_here { thread.share_used.max(credited) } else { credited }
            }
            _ => {
                // Its debt shrinks while it sleeps, because the others continue to run (DELAY_DEQUEUE).
                let passed = average - (thread.share_used + thread.lag);
                let lag = match thread.lag {
                    owed if owed >= Nanos::ZERO => owed,
                    _ if !was_here => Nanos::ZERO,
                    owes => (owes + passed.max(Nanos::ZERO)).min(Nanos::ZERO),
                };
                // It changes the average by joining, so its position is chosen such that it is owed the same afterwards.
                let own = i128::from(thread.standing.weight);
                match i128::from(weight) {
                    0 => average,
                    others => average - Nanos((i128::from(lag.0) * (others + own) / others) as i64),
                }
            }
        };
        let slice = thread.by_weight(self.model.scheduler.slice_ns);
        let thread = &mut state.threads[slot];
        thread.cpu = cpu;
        thread.share_used = share;
        thread.deadline = share + slice;
        thread.is_woken = true;
    }

    /// Adds the CPU time of a wake-up to the share of the woken thread.
    pub(super) fn charge_wake(&self, state: &mut State, slot: Slot) {
        let thread = &mut state.threads[slot];
        if std::mem::take(&mut thread.is_woken) {
            thread.share_used += thread.by_weight(self.model.scheduler.wake_cpu_ns);
        }
    }

    /// The CPU whose queue a thread joins if none is free: its last one, or at its start the one with the fewest threads.
    pub(super) fn home_of(&self, state: &State, slot: Slot) -> u32 {
        let thread = &state.threads[slot];
        let is_new = thread.used == Nanos::ZERO;
        let usable = (0..state.cpus.len() as u32).filter(|&cpu| thread.may_use(cpu));
        match usable.min_by_key(|&cpu| self.members(state, cpu).count()) {
            Some(emptiest) if is_new || !thread.may_use(thread.cpu) => emptiest,
            _ => thread.cpu,
        }
    }

    /// The thread that a woken thread displaces at once.
    pub(super) fn displaced(&self, state: &State, woken: Slot) -> Option<Slot> {
        let cpu = state.threads[woken].cpu;
        let running = state.cpus[cpu as usize].filter(|&running| self.is_fair(state, running))?;
        let (there, here) = (&state.threads[running], &state.threads[woken]);
        let displaces = match (here.standing.on_wake, there.standing.on_wake) {
            (OnWake::Displaces | OnWake::Waits, OnWake::GivesWay) => true,
            (OnWake::Waits | OnWake::GivesWay, _) => false,
            (OnWake::Displaces, _) => match self.model.scheduler.kind {
                SchedulerKind::Cfs { wakeup_ns, .. } => {
                    self.share_used_now(state, running) - here.share_used > here.by_weight(wakeup_ns)
                }
                _ => self.is_next(state, running, woken, cpu),
            },
        };
        displaces.then_some(running)
    }

    fn is_next(&self, state: &State, running: Slot, woken: Slot, cpu: u32) -> bool {
        let (average, _) = self.average(state, cpu, Some(woken));
        let (is_over, deadline) = self.turn_of(state, running, average);
        let is_protected = !is_over && self.share_used_now(state, running) < deadline;
        let own = self.turn_of(state, woken, average);
        let others = self.members(state, cpu).all(|other| own < self.turn_of(state, other, average));
        !is_protected && !own.0 && others
    }

    /// The end of the slice of a thread that gets a CPU now.
    pub(super) fn turn_end(&self, state: &mut State, slot: Slot, cpu: u32) -> Nanos {
        let (now, slice) = (self.now(), self.model.scheduler.slice_ns);
        if !self.is_fair(state, slot) {
            return self.slice_end(now);
        }
        let own = i128::from(state.threads[slot].standing.weight.max(1));
        let left = match self.model.scheduler.kind {
            SchedulerKind::Cfs { latency_ns, .. } => {
                let others = self.members(state, cpu).filter(|&other| other != slot);
                let (count, weight) = others.fold((1, own), |(count, weight), other| {
                    (count + 1, weight + i128::from(state.threads[other].standing.weight))
                });
                let period = latency_ns.max(slice * count);
                Nanos((i128::from(period.0) * own / weight) as i64)
            }
            _ => {
                let thread = &mut state.threads[slot];
                if thread.deadline <= thread.share_used {
                    thread.deadline = thread.share_used + thread.by_weight(slice);
                }
                Nanos((i128::from((thread.deadline - thread.share_used).0) * own / 1_024) as i64)
            }
        };
        self.next_tick(now + left)
    }

    /// The end of a timer on a CPU that stays busy: its tick goes on, and whatever interrupt comes within a timer's slack
    /// ends it (`hrtimer_interrupt`). On an idle CPU there are no ticks.
    pub(in crate::sim) fn or_at_tick(&self, expiry: Expiry) -> Expiry {
        let hard = if self.has_fair_queues() { self.next_tick(expiry.soft).min(expiry.hard) } else { expiry.hard };
        Expiry { hard: hard.max(expiry.soft), ..expiry }
    }

    fn next_tick(&self, moment: Nanos) -> Nanos {
        match self.timing().wheel_ns {
            tick if tick > Nanos(1) => moment.round_up_to(tick),
            _ => moment,
        }
    }

    /// How long the slice of a thread without competitors lasts before a new one begins.
    pub(super) fn turn_length(&self) -> Nanos {
        let slice = self.model.scheduler.slice_ns.max(Nanos(1));
        if self.has_fair_queues() { self.next_tick(slice) } else { slice }
    }

    /// Notes that a new slice of the thread began at that moment.
    pub(super) fn renew_deadline(&self, state: &mut State, slot: Slot, begun: Nanos) {
        let share = self.share_used_now(state, slot);
        let thread = &mut state.threads[slot];
        let ran = thread.by_weight(self.now() - begun);
        thread.deadline = share - ran + thread.by_weight(self.model.scheduler.slice_ns);
    }

    /// Notes that the slice of a thread on a CPU began at that moment.
    pub(super) fn begin_slice(&self, state: &mut State, slot: Slot, begun: Nanos) {
        let now = self.now();
        let end = match self.is_fair(state, slot) {
            true => {
                self.renew_deadline(state, slot, begun);
                self.turn_end(state, slot, state.threads[slot].cpu)
            }
            false => self.slice_end(begun),
        };
        if let Phase::OnCpu { slice_end, .. } = &mut state.threads[slot].phase {
            *slice_end = end.max(now);
        }
    }

    /// Moves the next slice of a thread that yields behind those of the others. Since Linux 6.18 it also counts as if the
    /// thread had used up this one, unless it has had more than its share.
    pub(super) fn give_up_turn(&self, state: &mut State, slot: Slot) {
        if !self.is_fair(state, slot) {
            return;
        }
        let average = self.turn_average(state, state.threads[slot].cpu);
        let forfeits = self.model.scheduler.yield_forfeits && !self.turn_of(state, slot, average).0;
        let thread = &mut state.threads[slot];
        if forfeits {
            thread.share_used = thread.share_used.max(thread.deadline);
        }
        thread.deadline += thread.by_weight(self.model.scheduler.slice_ns);
    }

    /// Whether a thread whose slice is over is next again.
    pub(super) fn keeps_turn(&self, state: &mut State, slot: Slot) -> bool {
        if !self.is_fair(state, slot) {
            return false;
        }
        let cpu = state.threads[slot].cpu;
        let end = self.turn_end(state, slot, cpu);
        let rank = state.threads[slot].standing.rank;
        let average = self.average(state, cpu, None).0;
        let own = (Reverse(rank), self.turn_of(state, slot, average));
        let queued = state.ready.iter().filter(|&&other| state.threads[other].queues_for(cpu));
        let mut others =
            queued.map(|&other| (Reverse(state.threads[other].standing.rank), self.turn_of(state, other, average)));
        let keeps = others.all(|other| own < other);
        if keeps && let Phase::OnCpu { slice_end, .. } = &mut state.threads[slot].phase {
            *slice_end = end;
        }
        keeps
    }

    /// Moves a thread whose slice is over to a CPU with fewer computing threads. A difference of one thread only changes
    /// places, so it comes once in the domain's interval of balancing in the mean (`sd_init`: as many ms as it has CPUs,
    /// times 16 while they are busy).
    pub(super) fn balance(&self, state: &mut State, slot: Slot) {
        state.threads[slot].is_busy = true;
        let Some(queue) = state.threads[slot].queue.filter(|_| self.is_fair(state, slot)) else { return };
        let usable = (0..state.cpus.len() as u32).filter(|&cpu| state.threads[slot].may_use(cpu));
        let computes =
            |&other: &Slot| state.threads[other].is_busy || matches!(state.threads[other].phase, Phase::OnCpu { .. });
        let count = |cpu: u32| self.members(state, cpu).filter(computes).count();
        let Some(emptiest) = usable.min_by_key(|&cpu| count(cpu)) else { return };
        let moves = match count(queue).saturating_sub(count(emptiest)) {
            0 => false,
            1 => {
                let interval = Nanos::from_millis(16 * state.cpus.len() as i64);
                self.random.happens((self.turn_length().0 as f64 / interval.0 as f64).min(1.0))
            }
            _ => true,
        };
        if moves {
            self.migrate(state, slot, emptiest);
        }
    }

    /// Moves a waiting thread to another CPU, together with what it is owed.
    pub(super) fn migrate(&self, state: &mut State, slot: Slot, cpu: u32) {
        let Some(queue) = state.threads[slot].queue.filter(|&queue| queue != cpu && self.is_fair(state, slot)) else {
            return;
        };
        let moved = self.average(state, cpu, None).0 - self.average(state, queue, None).0;
        let thread = &mut state.threads[slot];
        thread.share_used += moved;
        thread.deadline += moved;
        thread.queue = Some(cpu);
    }
}
