//! The steps of a thread from its timer to the end of its call.

use oversleep_record::observed::interruption::Interruption;

use super::open::{ByTimer, Open, Queued, Woken, idle_state};
use super::timers::Timer;
use super::{Machine, TURNS_MAX, bound};
use crate::calls::is_restarted;
use crate::event::{Event, Kind};
use crate::wait::Request;

/// A quota that stops a thread on its way out of a call does so within this time of the call's end. Later, the
/// program's own work has used up the quota.
const QUOTA_WITHIN_NS: u64 = 100_000;

impl Machine {
    pub(super) fn on_waking(&mut self, event: &Event) {
        let timer = event.fields[0];
        let by = self.timers.get_mut(&timer).filter(|_| timer != 0).and_then(|timer| {
            let missed = std::mem::take(&mut timer.missed);
            let Timer { set_by, requested, deadline, clock, fired, period, .. } = *timer;
            Some(ByTimer { set_by, requested, deadline, clock, fired: fired?, period: period.map(|ns| (ns, missed)) })
        });
        let is_open = self.threads.get(&event.tid).is_some_and(|open| open.returned.is_none());
        if !is_open {
            // Only a timer's callback can start a wait this way.
            if timer == 0 {
                return;
            }
            self.close(event.tid);
            bound(&mut self.threads);
            let mut open = Box::new(Open::new(event, event.x));
            open.entered = Some(event.fields[1]).filter(|&t| t != 0);
            open.request = Request::Timer;
            open.has_slept = true;
            open.before = self.between.remove(&event.tid);
            self.threads.insert(event.tid, open);
        }
        let Some(open) = self.threads.get_mut(&event.tid) else { return };
        open.seen = open.seen.saturating_add(1);
        if open.fired.is_none() && open.by_timer.is_none() {
            // Whatever woke it before its time doesn't matter any more.
            (open.waking, open.woken, open.running) = (None, None, None);
            open.by_timer = by;
        }
        if event.fields[2] == 1 {
            open.was_frozen = true;
            open.interrupted_by(&Interruption::Frozen);
        }
        if timer == 0 && open.fired.is_none() {
            open.waker = event.name_in(3);
        }
        open.waking = open.waking.or(Some(event.t));
    }

    /// A thread moves to another CPU. Before it is in a run queue, that tells nothing yet.
    pub(super) fn on_moved(&mut self, event: &Event) {
        let Some(open) = self.threads.get_mut(&event.tid).filter(|open| open.returned.is_none()) else { return };
        open.seen = open.seen.saturating_add(1);
        let waits = open.preempted_at.is_some() || open.woken.is_some() && open.running.is_none();
        if waits && open.moves.len() < TURNS_MAX {
            open.moves.push((event.t, event.x));
        }
    }

    pub(super) fn on_thread(&mut self, event: &Event) {
        let arch = self.arch;
        let Some(open) = self.threads.get_mut(&event.tid) else { return };
        let is_over = open.returned.is_some();
        if !is_over {
            open.seen = open.seen.saturating_add(1);
        }
        let [a, throttled, ..] = event.fields;
        match event.kind {
            Kind::Wakeup if !is_over && open.woken.is_none() => {
                open.woken = Some(Woken {
                    t: event.t,
                    cpu: event.x as u16,
                    idle: idle_state(a),
                    throttled,
                    prio: event.fields[2] as i32,
                    policy: event.fields[3] as u32,
                    cpus_allowed: event.fields[4] as u32,
                });
            }
            Kind::Out if !is_over => {
                open.has_slept = true;
                open.note_stop(event.x);
                if open.running.is_some() && event.x & 1 != 0 {
                    open.preempted_at = Some((event.t, event.cpu));
                }
            }
            Kind::Out => {
                let returned = open.returned.map_or(0, |(t, _)| t);
                if event.x & 2 != 0 && open.throttled_at.is_none() && event.t.saturating_sub(returned) < QUOTA_WITHIN_NS
                {
                    open.throttled_at = Some(event.t);
                } else {
                    self.close(event.tid);
                }
            }
            Kind::In if !is_over => {
                open.has_slept |= a != 0;
                if let Some((from, first)) = open.preempted_at.take() {
                    open.preempted.push(Queued { from, to: event.t, first, last: event.cpu });
                    open.preempted.truncate(TURNS_MAX);
                } else if open.waking.or(open.woken.map(|woken| woken.t)).is_some() && open.running.is_none() {
                    open.running = Some((event.t, event.cpu, throttled));
                }
            }
            Kind::In => {
                if open.throttled_at.is_some() {
                    open.resumed = Some(event.t);
                }
                self.close(event.tid);
            }
            Kind::Return if !is_over => {
                open.lost = open.lost.saturating_add(event.x.saturating_sub(open.seen));
                open.seen = 0;
                open.note_timer_signal(a as i64, arch);
                // The wait was for the signal of a timer.
                let is_over = open.by_timer.is_some() && open.fired.is_none();
                if is_restarted(a as i64) && !is_over {
                    open.suspended = Some((event.t, a as i64));
                } else {
                    open.returned = Some((event.t, a as i64));
                    // For the kernel's events, this field is 0.
                    open.queued = event.fields[1].checked_sub(1);
                }
            }
            _ => {}
        }
    }
}
