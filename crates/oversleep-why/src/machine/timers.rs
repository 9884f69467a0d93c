//! Timers that fire: a thread's own, and timer objects.

use super::open::{Fired, clock_in, idle_state};
use super::{Machine, bound};
use crate::event::Event;
use crate::wait::TimerClock;

/// A timer object, which belongs to no single wait.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Timer {
    pub set_by: Option<u32>,
    /// The requested span; later the period.
    pub requested: Option<u64>,
    /// When it should fire first, if that differs from its expiry.
    pub deadline: Option<u64>,
    pub clock: Option<TimerClock>,
    pub fired: Option<Fired>,
    /// The shortest time from one expiry to the next, since it was set.
    pub period: Option<u64>,
    /// Expirations that nobody was woken for, because nobody had read the one before.
    pub missed: u64,
}

impl Timer {
    pub fn set(event: &Event) -> Timer {
        let [entered, requested, form, soft, ..] = event.fields;
        let (clock, form) = (clock_in(form), form & 0xff);
        // The expiry of a deadline is the deadline itself; io_uring's requests are in memory that isn't read.
        let deadline = (form == 1 && entered != 0).then(|| entered.saturating_add(requested));
        let since = if form == 2 { entered } else { event.t };
        let requested = if deadline.is_some() { Some(requested) } else { soft.checked_sub(since) };
        Timer { set_by: Some(event.x), requested, deadline, clock, ..Timer::default() }
    }

    /// The kernel lets a timer whose last expiry isn't read expire no more, and then goes on with its period: the distance
    /// of the expiries is a multiple of it.
    fn expired_again(&mut self, since: u64) {
        if since == 0 {
            self.requested = None;
            return;
        }
        let period = self.period.map_or(since, |period| period.min(since));
        (self.period, self.requested) = (Some(period), Some(period));
        self.missed = self.missed.saturating_add((since.saturating_add(period / 2)) / period - 1);
    }
}

impl Machine {
    pub(super) fn on_fire(&mut self, event: &Event) {
        let [interrupt, timer, idle, soft, hard, kind] = event.fields;
        let fired = Fired {
            t: event.t,
            cpu: event.cpu,
            interrupt: Some(interrupt).filter(|&t| t != 0 && t <= event.t),
            soft,
            hard,
            idle: idle_state(idle),
            is_wheel: kind == 2,
            interrupted: (event.x, event.name),
            context: None,
        };
        if kind == 1 {
            bound(&mut self.timers);
            let timer = self.timers.entry(timer).or_default();
            if let Some(last) = timer.fired.replace(fired) {
                timer.deadline = None;
                timer.expired_again(soft.saturating_sub(last.soft));
            }
        } else if let Some(open) = self.threads.get_mut(&event.tid).filter(|open| open.returned.is_none()) {
            open.seen = open.seen.saturating_add(1);
            open.clear_waking();
            open.fired = Some(fired);
        }
    }

    pub(super) fn on_context(&mut self, event: &Event) {
        let here = |fired: &&mut Fired| fired.t == event.t && fired.cpu == event.cpu;
        let own = self.threads.get_mut(&event.tid).and_then(|open| open.fired.as_mut()).filter(here);
        let mut timers = self.timers.values_mut().filter_map(|timer| timer.fired.as_mut());
        if let Some(fired) = own.or_else(|| timers.find(here)) {
            fired.context = Some(*event);
        }
    }
}
