//! Competitors without code: threads that use CPUs as a load does, driven by the event loop alone.

use oversleep_record::Nanos;
use oversleep_system::rules::Grid;

use super::Kernel;
use super::state::{Hog, Phase, Slot, State, Thread, Waking};

impl Kernel {
    /// Starts competitors under the plain policy; [`Kernel::remove_hogs`] stops them.
    pub(in crate::sim) fn add_hogs(&self, count: u32, hog: &Hog) -> Vec<Slot> {
        let me = self.me();
        let mut state = self.lock();
        self.pause(&mut state, me);
        let plain = self.scheduler().plain();
        let mut hogs = Vec::with_capacity(count as usize);
        for number in 0..count {
            let mut thread = Thread::new(Phase::Blocked, plain, self.timing().default_slack_ns);
            thread.hog = Some(hog.clone());
            thread.share_used = state.threads[me].share_used;
            thread.cpu = number % state.cpus.len() as u32;
            let slot = state.add(thread);
            hogs.push(slot);
            // They have been running for a while, so each is somewhere within its slice or its wait.
            match hog {
                Hog::Spins => {
                    self.make_ready(&mut state, slot, None);
                    let begun = self.now() - self.part_of(self.scheduler().slice_ns);
                    self.begin_slice(&mut state, slot, begun);
                }
                Hog::Wakes(waking) => {
                    let begun = self.now() - self.part_of(waking.span);
                    self.rest_since(&mut state, slot, waking, begun);
                }
            }
        }
        self.publish_to(&mut state, me);
        hogs
    }

    pub(in crate::sim) fn remove_hogs(&self, hogs: &[Slot]) {
        let me = self.me();
        let mut state = self.lock();
        for &hog in hogs {
            state.ready.retain(|&ready| ready != hog);
            if let Phase::OnCpu { .. } = state.threads[hog].phase {
                self.leave_cpu(&mut state, hog, Phase::Ended);
            }
            state.remove(hog);
        }
        self.fill_cpus(&mut state);
        self.publish_to(&mut state, me);
    }

    /// Ends the work of a timer-driven competitor, and lets it wait for its next timer.
    pub(super) fn rest(&self, state: &mut State, slot: Slot, waking: &Waking) {
        self.leave_cpu(state, slot, Phase::Blocked);
        let begun = match (waking.is_periodic, state.threads[slot].timer_due) {
            // It skips missed expiries: a periodic timer that is read late reports how often it expired.
            (true, due) => Grid { origin: due, period: waking.span }.at_or_before(self.now()),
            (false, _) => self.now(),
        };
        self.rest_since(state, slot, waking, begun);
        self.fill_cpus(state);
    }

    fn rest_since(&self, state: &mut State, slot: Slot, waking: &Waking, begun: Nanos) {
        let (thread, due) = (state.sleeping_thread(slot), begun + waking.span);
        let expiry = self.timer_expiry(state, waking.rule, &thread, (begun, due), Nanos::ZERO);
        let (now, wake) = (self.now(), waking.wake.draw(&self.random));
        let thread = &mut state.threads[slot];
        thread.timer_due = due;
        thread.left = waking.work;
        thread.phase = Phase::Asleep { at: (expiry.hard + wake).max(now), expiry, wake, since: None, shares: false };
    }

    /// A random length up to that span.
    fn part_of(&self, span: Nanos) -> Nanos {
        Nanos((span.0 as f64 * self.random.unit()) as i64)
    }
}
