//! Modelled waits: their arguments, the waiting thread, and the rules that decide when they end.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use oversleep_record::{Nanos, Unavailable};
use oversleep_system::rules::{Expiry, SleepingThread};
use oversleep_system::{Family, SharedPlatform, TICK_TOLERANCES, Target, Wait, WaitEnd, WaitInfo, Waiter, ZeroMeans};

use super::kernel::{Kernel, Sleep, Slot, State};
use super::learned::{Learned, When};
use super::machine::{Machine, Overshoot, WaitModel, Wake};
use super::rules;
use super::spread::Spread;

/// From this cost on, leaving an idle state is said to be a part of a wait.
const EXIT_SHOWS_FROM: Nanos = Nanos(20_000);

/// A wait and its machine.
struct Shared {
    model: WaitModel,
    wake: Wake,
    yield_cost: Spread,
    kernel: Arc<Kernel>,
    /// Position in an [`Overshoot::Cycle`], shared by all waiters so that rounds continue it.
    turn: AtomicUsize,
}

struct SimWait(Arc<Shared>);

pub(super) fn registry(machine: &Machine, kernel: &Arc<Kernel>) -> Vec<Box<dyn Wait>> {
    let wait = |model: &WaitModel| -> Box<dyn Wait> {
        Box::new(SimWait(Arc::new(Shared {
            model: model.clone(),
            wake: machine.wake.clone(),
            yield_cost: machine.yield_cost.clone(),
            kernel: Arc::clone(kernel),
            turn: AtomicUsize::new(0),
        })))
    };
    machine.waits.iter().map(wait).collect()
}

impl Wait for SimWait {
    fn info(&self) -> &WaitInfo {
        &self.0.model.info
    }

    fn rule(&self, requested: Nanos) -> Option<String> {
        // The resolution while it waits.
        let raised = self.0.model.raises_to_ns.and_then(|period| self.0.kernel.hold_resolution(period, true));
        let mut rule = rules::of_wait(&self.0.model, &self.0.kernel, requested);
        let exit = self.0.wake.idle_exits.iter().rev().find(|(from, _)| requested >= *from);
        if let Some((from, exit)) = exit.filter(|(_, exit)| exit.quantile(0.5) >= EXIT_SHOWS_FROM)
            && self.0.model.info.family != Family::Spin
        {
            let takes = exit.quantile(0.5);
            let _ = write!(
                rule,
                "; a CPU that is to be idle for {from} or more enters a deeper state, which takes {takes} to leave"
            );
        }
        if let Some((number, _)) = raised {
            self.0.kernel.release_resolution(number);
        }
        Some(rule)
    }

    fn open(&self, _platform: &SharedPlatform) -> Result<Box<dyn Waiter>, Unavailable> {
        if let Some(reason) = &self.0.model.unavailable {
            return Err(reason.clone());
        }
        Ok(SimWaiter::boxed(&self.0, self.0.model.tolerance_ns))
    }

    fn tolerances_to_compare(&self) -> Vec<Nanos> {
        if self.0.model.tolerance_ns > Nanos::ZERO { TICK_TOLERANCES.to_vec() } else { Vec::new() }
    }

    fn open_tolerating(&self, _platform: &SharedPlatform, tolerance: Nanos) -> Result<Box<dyn Waiter>, Unavailable> {
        match &self.0.model.unavailable {
            Some(reason) => Err(reason.clone()),
            None if self.tolerances_to_compare().is_empty() => Err(Unavailable::NotOnThisPlatform),
            None => Ok(SimWaiter::boxed(&self.0, tolerance)),
        }
    }
}

struct SimWaiter {
    shared: Arc<Shared>,
    tolerance: Nanos,
    /// The last request, and its value after the call's rounding.
    rounded: (Nanos, Nanos),
}

impl SimWaiter {
    fn boxed(shared: &Arc<Shared>, tolerance: Nanos) -> Box<dyn Waiter> {
        Box::new(SimWaiter {
            shared: Arc::clone(shared),
            tolerance,
            rounded: (Nanos::ZERO, shared.rounded(Nanos::ZERO)),
        })
    }
}

impl Waiter for SimWaiter {
    fn wait(&mut self, target: Target) -> WaitEnd {
        let shared = &*self.shared;
        if shared.model.info.family == Family::Yield {
            shared.kernel.give_way(shared.yield_cost.draw(&shared.kernel.random));
            return WaitEnd::TimedOut;
        }
        if shared.is_over_at_once(target.remaining) {
            let cost = shared.yield_cost.draw(&shared.kernel.random);
            match shared.model.info.zero {
                ZeroMeans::Yields => shared.kernel.give_way(cost),
                _ => shared.kernel.spend(cost),
            }
            return WaitEnd::TimedOut;
        }
        if self.rounded.0 != target.remaining {
            self.rounded = (target.remaining, shared.rounded(target.remaining));
        }
        let rounded = self.rounded.1;
        let held = shared.model.raises_to_ns.and_then(|period| shared.kernel.hold_resolution(period, true));
        shared.kernel.sleep(|state, me| shared.plan(state, me, target, rounded, self.tolerance));
        if let Some((number, _)) = held {
            shared.kernel.release_resolution(number);
        }
        WaitEnd::TimedOut
    }
}

impl Shared {
    fn rounded(&self, requested: Nanos) -> Nanos {
        self.model.rounded(requested)
    }

    /// Whether the call rounds that span to zero, so that it doesn't wait.
    fn is_over_at_once(&self, requested: Nanos) -> bool {
        let info = &self.model.info;
        let is_over = matches!(info.zero, ZeroMeans::Yields | ZeroMeans::ReturnsAtOnce);
        is_over && !info.takes.is_absolute() && info.rounded(requested) <= Nanos::ZERO
    }

    fn plan(&self, state: &State, me: Slot, target: Target, rounded: Nanos, tolerance: Nanos) -> Sleep {
        let (kernel, info) = (&*self.kernel, &self.model.info);
        let now = kernel.now();
        let due = if info.takes.is_absolute() { target.deadline.max(now) } else { now + rounded };
        let thread = state.sleeping_thread(me);
        let exactly = |late: Nanos| Sleep { expiry: Expiry::at(due + late), wake: Nanos::ZERO };
        match rules::in_force(&self.model, state, &thread) {
            Overshoot::Fixed(late) => exactly(*late),
            Overshoot::SlackPlus(wake) => Sleep { expiry: Expiry { soft: due, hard: due + thread.slack }, wake: *wake },
            Overshoot::Cycle(spans) => exactly(spans[self.turn.fetch_add(1, Ordering::Relaxed) % spans.len()]),
            Overshoot::Learned(learned) => {
                // Its lateness counts from the request, so it includes rounding.
                let deadline = if info.takes.is_absolute() { due } else { now + target.remaining };
                let was = thread_with(learned.slack().unwrap_or(thread.slack));
                let late = learned.draw(target.remaining, &kernel.random, |when, span| match when {
                    When::Learned => self.put_off(&was, now, span),
                    When::Now => self.put_off(&thread, now, span),
                }) + self.deeper_idle(state, learned, target.remaining);
                let late =
                    late - self.spared_exit(state, learned, &was, (now, target.remaining)).min(late.max(Nanos::ZERO));
                Sleep { expiry: Expiry::at(deadline + late), wake: Nanos::ZERO }
            }
            Overshoot::ByRule => {
                let grid = kernel.served_grid(state);
                let happens = |probability| kernel.random.happens(probability);
                let timed = state.thread_in(me, info.family, kernel.timing());
                let expiry = self.model.expiry(kernel.timing(), grid, &timed, (now, due), tolerance, happens);
                let expiry = kernel.timing().beside_others(expiry, || kernel.random.unit());
                let expiry = if state.leaves_cpu_idle() { expiry } else { kernel.or_at_tick(expiry) };
                Sleep { expiry, wake: self.wake_cost(state, &thread, due - now) }
            }
        }
    }

    /// The rule's delay for a wait of that length that is entered now, if there is such a rule.
    fn put_off(&self, thread: &SleepingThread, now: Nanos, span: Nanos) -> Nanos {
        let happens = |probability| self.kernel.random.happens(probability);
        self.model.put_off(self.kernel.timing(), thread, (now, span), happens)
    }

    /// The additional cost of leaving a deeper idle state than after the longest learned request.
    fn deeper_idle(&self, state: &State, learned: &Learned, requested: Nanos) -> Nanos {
        let exit = |span| {
            let (_, exit) = self.wake.idle_exits.iter().rev().find(|(from, _)| span >= *from)?;
            Some(exit.draw(&self.kernel.random))
        };
        if requested <= learned.longest() || !state.leaves_cpu_idle() {
            return Nanos::ZERO;
        }
        let (longer, known) = (exit(requested).unwrap_or(Nanos::ZERO), exit(learned.longest()).unwrap_or(Nanos::ZERO));
        (longer - known).max(Nanos::ZERO)
    }

    /// What a learned lateness has of leaving an idle state that the CPU isn't in now: it is busy, or a program limits the
    /// states. Where a tick ends waits, the lateness is the tick's.
    fn spared_exit(
        &self,
        state: &State,
        learned: &Learned,
        thread: &SleepingThread,
        (now, requested): (Nanos, Nanos),
    ) -> Nanos {
        let kept = if state.leaves_cpu_idle() { state.idle_exit_max() } else { Some(Nanos::ZERO) };
        let Some(kept) = kept.filter(|_| self.kernel.tick().is_none() && self.model.grid_ns <= Nanos(1)) else {
            return Nanos::ZERO;
        };
        (learned.idle_exit(requested, |span| self.put_off(thread, now, span)) - kept).max(Nanos::ZERO)
    }

    /// From the timer's end until the thread is ready to run. An idle CPU leaves an idle state first, which is deeper
    /// the longer it expected to be idle.
    fn wake_cost(&self, state: &State, thread: &SleepingThread, span: Nanos) -> Nanos {
        let random = &self.kernel.random;
        let (cost, exits) = match thread.is_real_time {
            true => (&self.wake.real_time, &self.wake.real_time_idle_exits),
            false => (&self.wake.cost, &self.wake.idle_exits),
        };
        let mut wake = cost.draw(random) + self.model.extra.draw(random);
        if !thread.is_real_time {
            wake += self.wake.expiry_thread.draw(random);
        }
        if let Some((_, exit)) = exits.iter().rev().find(|(from, _)| span >= *from)
            && state.leaves_cpu_idle()
        {
            let exit = exit.draw(random);
            wake += state.idle_exit_max().map_or(exit, |most| exit.min(most));
        }
        // Even if a wait costs less than others, its thread doesn't wake before the timer.
        wake.max(Nanos::ZERO)
    }
}

/// An ordinary thread with that slack, like those from which waits are learned.
fn thread_with(slack: Nanos) -> SleepingThread {
    SleepingThread { slack, is_real_time: false, is_nice: false, tier: 0 }
}
