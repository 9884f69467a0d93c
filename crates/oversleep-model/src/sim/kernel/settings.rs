//! Settings that threads and the process may change.

use std::sync::atomic::Ordering;

use oversleep_record::Nanos;
use oversleep_system::rules::{Expiry, Grid, SleepingThread, Timing};
use oversleep_system::{Family, SlackRule};

use super::Kernel;
use super::state::{Slot, State};
use crate::sim::scheduler::Standing;

/// Share of waits that may be the first of such a pair: the others are second ones, which take no chance. Of all waits,
/// as many are then uneven as [`Tick::uneven_by`] makes of these.
///
/// [`Tick::uneven_by`]: oversleep_system::rules::Tick::uneven_by
const FIRST_OF_PAIRS: f64 = 1.0 / 1.3;

/// Timers of a thread with a fixed priority are delayed as in the second tier, tier-0, whatever the thread's class.
const FIXED_TIER: usize = 1;

impl State {
    /// The thread's properties that matter for its timers.
    pub(in crate::sim) fn sleeping_thread(&self, slot: Slot) -> SleepingThread {
        let thread = &self.threads[slot];
        SleepingThread {
            slack: if thread.standing.is_real_time { Nanos::ZERO } else { thread.slack },
            is_real_time: thread.standing.is_real_time,
            is_nice: !thread.standing.is_real_time && thread.standing.priority > 0,
            tier: if thread.standing.has_fixed_priority { FIXED_TIER } else { thread.tier },
        }
    }

    /// The same in a call of that family: some kernels give a lock's wait the thread's slack under every policy.
    pub(in crate::sim) fn thread_in(&self, slot: Slot, family: Family, timing: &Timing) -> SleepingThread {
        let thread = self.sleeping_thread(slot);
        match family {
            Family::Lock if timing.locks_keep_slack && thread.is_real_time => {
                SleepingThread { slack: self.threads[slot].slack, is_real_time: false, ..thread }
            }
            _ => thread,
        }
    }

    /// The thread's properties that matter for its scheduling.
    pub(in crate::sim) fn standing_of(&self, slot: Slot) -> Standing {
        self.threads[slot].standing
    }

    pub(in crate::sim) fn idle_exit_max(&self) -> Option<Nanos> {
        self.idle_exit_max
    }
}

impl Kernel {
    pub(in crate::sim) fn slack(&self) -> Nanos {
        self.lock().sleeping_thread(self.me()).slack
    }

    pub(in crate::sim) fn set_slack(&self, slack: Nanos) {
        self.lock().threads[self.me()].slack = slack;
    }

    pub(in crate::sim) fn tier(&self) -> usize {
        self.lock().threads[self.me()].tier
    }

    pub(in crate::sim) fn set_tier(&self, tier: usize) {
        self.lock().threads[self.me()].tier = tier;
    }

    pub(in crate::sim) fn standing(&self) -> Standing {
        self.lock().threads[self.me()].standing
    }

    pub(in crate::sim) fn set_standing(&self, standing: Standing) {
        let me = self.me();
        let mut state = self.lock();
        state.threads[me].standing = standing;
        self.pause(&mut state, me);
        if self.has_fair_queues() {
            let now = self.now();
            self.begin_slice(&mut state, me, now);
        }
        self.publish_to(&mut state, me);
    }

    pub(in crate::sim) fn affinity(&self) -> u64 {
        self.lock().threads[self.me()].affinity
    }

    /// Sets the CPUs that the caller may run on, one per bit. The caller moves there at once.
    pub(in crate::sim) fn set_affinity(&self, affinity: u64) {
        let me = self.me();
        let mut state = self.lock();
        state.threads[me].affinity = affinity;
        if state.threads[me].may_use(state.threads[me].cpu) {
            self.publish_to(&mut state, me);
            return;
        }
        self.pause(&mut state, me);
        self.leave_cpu(&mut state, me, super::Phase::Blocked);
        self.make_ready(&mut state, me, None);
        self.fill_cpus(&mut state);
        self.pass_baton(state, me);
    }

    pub(in crate::sim) fn idle_exit_max(&self) -> Option<Nanos> {
        self.lock().idle_exit_max
    }

    pub(in crate::sim) fn set_idle_exit_max(&self, most: Option<Nanos>) {
        self.lock().idle_exit_max = most;
    }

    /// Requests a tick period for this process or for another one. `None` on a machine without a tick.
    pub(in crate::sim) fn hold_resolution(&self, requested: Nanos, is_own: bool) -> Option<(u64, Nanos)> {
        let tick = self.tick()?;
        let mut state = self.lock();
        let held = state.arbiter.requests.hold(tick, requested, is_own);
        state.arbiter.arbitrate(tick, &self.hardware_grid, self.now());
        Some(held)
    }

    /// The periods that other processes request.
    pub(in crate::sim) fn resolutions_of_others(&self) -> Vec<Nanos> {
        self.lock().arbiter.requests.of_others().collect()
    }

    pub(in crate::sim) fn release_resolution(&self, number: u64) {
        let Some(tick) = self.tick() else { return };
        let mut state = self.lock();
        state.arbiter.requests.release(number);
        state.arbiter.arbitrate(tick, &self.hardware_grid, self.now());
    }

    /// The grid on which the next wait of this process ends: beside a neighbour in the range of [`Tick::is_uneven`] it is
    /// served a tick sooner or later than at the usual multiple, counted from the last tick, and the next one the other way.
    pub(in crate::sim) fn served_grid(&self, state: &State) -> Option<Grid> {
        let (tick, hardware) = (self.tick()?, self.hardware_grid.grid());
        let usual = self.process_grid(state)?;
        if !tick.is_uneven(hardware.period, usual.period) {
            return Some(usual);
        }
        let by = match self.uneven_owed.swap(0, Ordering::Relaxed) {
            0 if self.random.happens(FIRST_OF_PAIRS) => {
                let by = tick.uneven_by(self.random.unit());
                self.uneven_owed.store(-by, Ordering::Relaxed);
                by
            }
            owed => owed,
        };
        let period = usual.period + hardware.period * by;
        Some(Grid { origin: hardware.at_or_before(self.now()), period })
    }

    /// The grid on which this process's waits end.
    pub(in crate::sim) fn process_grid(&self, state: &State) -> Option<Grid> {
        Some(state.arbiter.requests.process_grid(self.tick()?, self.hardware_grid.grid()))
    }

    /// The earliest and the latest end of a timer that is set at `from` for `due`.
    pub(in crate::sim) fn timer_expiry(
        &self,
        state: &State,
        rule: SlackRule,
        thread: &SleepingThread,
        (from, due): (Nanos, Nanos),
        tolerance: Nanos,
    ) -> Expiry {
        let happens = |probability| self.random.happens(probability);
        self.timing().timer_expiry(self.process_grid(state), rule, thread, (from, due), tolerance, happens)
    }

    /// Whether this process opted out of having its requests ignored.
    pub(in crate::sim) fn opted_out(&self) -> bool {
        self.lock().arbiter.requests.has_opted_out
    }

    pub(in crate::sim) fn set_opted_out(&self, opted_out: bool) {
        let Some(tick) = self.tick() else { return };
        let mut state = self.lock();
        state.arbiter.requests.has_opted_out = opted_out;
        state.arbiter.arbitrate(tick, &self.hardware_grid, self.now());
    }
}
