//! What interrupts waits: signals, the timers that send them, and stops.

use oversleep_record::observed::interruption::{self, Interruption, Sender};

use super::Machine;
use super::open::Open;
use crate::calls::{Arch, Call, is_restarted};
use crate::event::{self, Event};

/// Bits of an `Out` event's `x`, and what stops the thread.
const STOPS: [(u32, Interruption); 3] =
    [(4, Interruption::Stopped), (8, Interruption::Traced), (16, Interruption::Frozen)];
const EINTR: i64 = -4;
/// Codes of signals: of a POSIX timer, and of the kernel, whose interval timers send these signals.
const SI_TIMER: i64 = -2;
const SI_KERNEL: i64 = 0x80;
const OF_INTERVAL_TIMERS: [u32; 3] = [14, 26, 27];
/// Signals that stop a process unless it handles them. A thread that they stop is seen to leave its CPU for that.
const OF_JOB_CONTROL: std::ops::RangeInclusive<u32> = 18..=22;

impl Open {
    /// Whether its call ended before its time. The signal of a timer may be what it waits for.
    fn is_interrupted(&self) -> bool {
        let is_ended = self.returned.is_some_and(|(_, result)| result == EINTR);
        self.by_timer.is_none() && (self.suspended.is_some() || is_ended)
    }

    pub(super) fn interrupted_by(&mut self, by: &Interruption) {
        interruption::count(&mut self.interruptions, by, 1);
    }

    /// The thread leaves its CPU, with these bits.
    pub(super) fn note_stop(&mut self, bits: u32) {
        if self.suspended.is_none() {
            return;
        }
        for (_, by) in STOPS.iter().filter(|(bit, _)| bits & bit != 0) {
            self.met.stop = true;
            self.interrupted_by(by);
        }
    }

    /// The call ends with that result. If a signal of the program's own timer ends one that has a timer itself, that one is
    /// no wait for the signal.
    pub(super) fn note_timer_signal(&mut self, result: i64, arch: Arch) {
        let is_interrupted = self.armed.is_some() && (is_restarted(result) || result == EINTR);
        let Some(timer) = self.by_timer.filter(|_| is_interrupted && self.fired.is_none()) else { return };
        self.by_timer = None;
        let call = timer.set_by.and_then(|number| Call::of(arch, number)).map_or("timer", |call| call.name).to_owned();
        self.met.signal = true;
        self.timer_signal = Some(call);
    }
}

impl Machine {
    pub(super) fn on_signal(&mut self, event: &Event) {
        let Some(open) = self.threads.get_mut(&event.tid).filter(|open| open.is_interrupted()) else { return };
        if OF_JOB_CONTROL.contains(&event.x) {
            return;
        }
        open.met.signal = true;
        let [code, pid, ..] = event.fields;
        let own_timer = match (code as i64, &open.timer_signal) {
            (SI_TIMER, Some(call)) => Some(call.clone()),
            (SI_TIMER, None) => Some("timer_settime".to_owned()),
            (SI_KERNEL, _) if OF_INTERVAL_TIMERS.contains(&event.x) => Some("setitimer".to_owned()),
            _ => None,
        };
        let sender = match own_timer {
            Some(call) => Sender::OwnTimer { call },
            None if pid == 0 && code as i64 > 0 => Sender::Kernel,
            None => Sender::Process { pid: pid as u32, name: event::text(&event.name) },
        };
        open.interrupted_by(&Interruption::Signal { number: event.x, sender });
    }
}
