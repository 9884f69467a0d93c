//! The stops of a tracer's threads, in an order that leaves none out.
//!
//! Of all threads that stopped, the kernel reports the one that began to be traced last. Where stops come faster than they
//! are served, the first thread of a program would never have its turn. So now and then all stops that wait are taken before
//! one is served.

use std::collections::VecDeque;
use std::io;

use oversleep_record::Nanos;

use super::births::Births;
use crate::linux::process::clock::now;
use crate::linux::process::ptrace::{self, Stop, Tid};

/// How many stops are served in the kernel's order.
const TURN: u32 = 64;
/// How long to wait before another look at what else is to be done.
pub const BRIEFLY: Nanos = Nanos(100_000);

/// Stops that were taken and not served yet.
#[derive(Debug, Default)]
pub struct Stops {
    /// New threads, which are let go here when they are overdue.
    pub births: Births,
    ready: VecDeque<(Tid, Stop)>,
    count: u32,
}

impl Stops {
    /// The next stop of any thread; `None` if there was none for a while. It waits no longer than `most`, nor than a thread
    /// is held.
    ///
    /// # Errors
    /// No thread is left.
    pub fn next(&mut self, most: Option<Nanos>) -> io::Result<Option<(Tid, Stop)>> {
        if self.ready.is_empty() {
            // Before any stop that says that one of them is gone.
            if self.births.holds_any() {
                self.ready.extend(self.births.release_overdue(now()).into_iter().map(|held| (held, Stop::Overdue)));
            }
            self.count += 1;
            if self.count > TURN {
                self.count = 0;
                while let Ok(Some(stopped)) = ptrace::wait(-1, libc::WNOHANG) {
                    self.add(stopped);
                }
            }
        }
        let most = at_most(most, self.births.holds_any());
        match (self.ready.pop_front(), most) {
            (Some(stopped), _) => Ok(Some(stopped)),
            (None, Some(most)) => ptrace::wait_briefly(most),
            (None, None) => ptrace::wait(-1, 0),
        }
    }

    /// A thread that executes a program takes over the id of another one, which is gone.
    fn add(&mut self, (tid, stop): (Tid, Stop)) {
        if stop == Stop::Executes {
            self.ready.retain(|&(other, _)| other != tid);
        }
        self.ready.push_back((tid, stop));
    }
}

/// How long a wait for a stop may take: no longer than the tracer allows, and briefly while a thread is held.
fn at_most(most: Option<Nanos>, is_thread_held: bool) -> Option<Nanos> {
    most.into_iter().chain(is_thread_held.then_some(BRIEFLY)).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_thread_is_let_go_in_time_whatever_the_tracer_waits_for() {
        let long = Nanos::from_millis(500);
        assert_eq!(at_most(Some(long), true), Some(BRIEFLY), "a resolution that is released later holds no thread up");
        assert_eq!(
            [at_most(Some(long), false), at_most(None, true), at_most(None, false)],
            [Some(long), Some(BRIEFLY), None]
        );
    }

    #[test]
    fn stops_come_in_their_order_and_no_id_has_that_of_its_predecessor() {
        let mut stops = Stops::default();
        for stopped in [(7, Stop::Wait), (8, Stop::Wait), (7, Stop::Executes), (9, Stop::Gone)] {
            stops.add(stopped);
        }
        let mut all = Vec::new();
        while !stops.ready.is_empty() {
            all.extend(stops.next(None).ok().flatten());
        }
        assert_eq!(all, [(8, Stop::Wait), (7, Stop::Executes), (9, Stop::Gone)]);
    }
}
