//! Waiting for a word until an exact deadline: the system wakes the thread shortly before it, and a spin does the rest.
//! A change of the word ends either at once.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::Woken;
use crate::algorithm::{self, Machine, Margins};
use crate::clock::{Clock, Instant};
use crate::slack::{TimerSlack, TimerSlackGuard};
use crate::sys::{self, Word};
use crate::time::TimeSource;

/// Waits on this clock while the word is `expected`, until `deadline` at most and never less.
pub(super) fn wait_on(
    time: &impl TimeSource,
    word: &Word,
    expected: u32,
    deadline: Instant,
    margins: &Margins,
) -> Woken {
    let has_come = || word.value.load(Ordering::Relaxed) != expected;
    let mut woken = None;
    time.wait_by(deadline, &has_come, &mut || woken = Some(wait_until(word, expected, deadline, margins)));
    woken.unwrap_or_else(|| match has_come() {
        true => Woken::Notified,
        false => Woken::AtDeadline { lateness_ns: time.now().duration_since(deadline).as_nanos() as u64 },
    })
}

/// Waits until a word changes or the deadline comes, by the operating system.
fn wait_until(word: &Word, expected: u32, deadline: Instant, margins: &Margins) -> Woken {
    let mut system = System { word, expected, slack: None };
    match algorithm::wait_until(&mut system, deadline.as_nanos(), margins) {
        None => Woken::Notified,
        Some(lateness_ns) => Woken::AtDeadline { lateness_ns },
    }
}

/// A word on the operating system.
struct System<'a> {
    word: &'a Word,
    expected: u32,
    slack: Option<TimerSlackGuard>,
}

impl Machine for System<'_> {
    fn now_ns(&mut self) -> u64 {
        Clock::now().as_nanos()
    }

    fn system_ns(&mut self) -> u64 {
        sys::monotonic_ns()
    }

    fn cpu_ns(&mut self) -> Option<u64> {
        sys::thread_cpu_ns()
    }

    fn wait_until(&mut self, ns: u64) -> u64 {
        loop {
            self.word.wait(self.expected, Some(ns));
            let now_ns = sys::monotonic_ns();
            if now_ns >= ns || self.has_come() {
                return now_ns;
            }
        }
    }

    fn has_come(&mut self) -> bool {
        self.word.value.load(Ordering::Relaxed) != self.expected
    }

    fn begin_waits(&mut self, _wants_slice: bool) -> u64 {
        self.slack = Some(TimerSlack::hold(Duration::from_nanos(1)));
        0
    }

    fn end_waits(&mut self) {
        self.slack = None;
    }
}
