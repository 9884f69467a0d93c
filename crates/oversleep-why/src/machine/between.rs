//! What threads do between their waits, as far as it keeps them from it.

use oversleep_record::observed::period::{Between, Block, Held};

use super::{Machine, bound};
use crate::calls::{Call, call_name};
use crate::event::{self, Event};

/// The most of these that are kept for one period.
const HELD_MAX: usize = 32;
/// Stand for the call that a thread slept in.
const UNKNOWN: i64 = -1;
const IN_FAULT: i64 = -2;
const STOPPED: i64 = -3;

impl Machine {
    pub(super) fn on_between(&mut self, event: &Event) {
        bound(&mut self.between);
        let [from_ns, until_ns, runq_ns, quota_ns, blocked_ns, fault_ns] = event.fields;
        let between = self.between.entry(event.tid).or_default();
        let held = std::mem::take(&mut between.held);
        let fault_count = u64::from(event.x);
        *between = Between { from_ns, until_ns, runq_ns, quota_ns, blocked_ns, fault_ns, fault_count, held };
        // Some of it may be older than what is told here.
        between.held.retain(|held| held.t >= from_ns);
    }

    pub(super) fn on_held(&mut self, event: &Event) {
        let [since, woken, _, call, waker, own] = event.fields;
        let victim = ((own >> 32) as u32, own as i32);
        let culprits = self.ran(&[(woken, event.t, event.cpu)], (event.tid, event.tgid), victim);
        let slept = woken.saturating_sub(since);
        let stop_ns = if call as i64 == STOPPED { slept } else { 0 };
        let block = (slept != 0 && ![IN_FAULT, STOPPED].contains(&(call as i64))).then(|| {
            let call = u32::try_from(call as i64).ok().filter(|_| call as i64 != UNKNOWN);
            // An interrupt wakes whoever waits for a device, and has no name here; a lock is released by a thread.
            let is_lock = call.and_then(|number| Call::of(self.arch, number)).is_some_and(|call| call.name == "futex");
            let woken_by = if is_lock && waker != 0 { event::text(&event.name) } else { String::new() };
            let call = call.map_or(String::new(), |number| call_name(self.arch, number));
            Block { call, woken_by, count: 1, total_ns: slept, max_ns: slept }
        });
        bound(&mut self.between);
        let held = &mut self.between.entry(event.tid).or_default().held;
        if held.len() < HELD_MAX {
            held.push(Held { t: event.t, stop_ns, block, culprits });
        }
    }
}
