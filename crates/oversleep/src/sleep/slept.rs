//! How a sleep went.

use std::time::Duration;

use crate::algorithm::APPROACHES;
use crate::outcome::Outcome;

/// How a sleep went.
///
/// ```
/// let slept = oversleep::Sleeper::new().sleep(std::time::Duration::from_micros(300));
/// if let Some(wait) = slept.wait {
///     println!("the wait was {} ns late, the sleep {} ns", wait.lateness_ns, slept.lateness_ns);
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Slept {
    /// How long after the deadline the sleep ended, in nanoseconds.
    pub lateness_ns: u64,
    /// How long it spun before the deadline, in nanoseconds.
    pub spun_ns: u64,
    /// The first wait; `None` if there was none, because the deadline was too close. If a sandbox refuses every wait,
    /// the thread spent it yielding. A clock without an operating system, such as a virtual one, has no waits.
    pub wait: Option<Waited>,
    /// The short waits that followed. `None` for one that wasn't worth its cost. A sleep too short for a first wait may
    /// still have these.
    pub approaches: [Option<Waited>; 2],
    /// The outcome of setting the timer slack for the waits; `None` if there was no wait.
    pub slack: Option<Outcome<Duration>>,
    /// The outcome of setting the time slice for the waits; `None` if that wasn't tried.
    pub slice: Option<Outcome<Duration>>,
}

/// A wait by the operating system during a sleep.
///
/// ```
/// let slept = oversleep::Sleeper::new().sleep(std::time::Duration::from_micros(300));
/// for approach in slept.approaches.iter().flatten() {
///     println!("{} ns before the end, {} ns late", approach.margin_ns, approach.lateness_ns);
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Waited {
    /// How long before the deadline of the sleep the wait was to end, in nanoseconds.
    pub margin_ns: u64,
    /// How much later it ended, in nanoseconds.
    pub lateness_ns: u64,
}

impl Slept {
    pub(super) fn without_a_wait(lateness: Duration) -> Self {
        let lateness_ns = lateness.as_nanos() as u64;
        Self { lateness_ns, spun_ns: 0, wait: None, approaches: [None; APPROACHES], slack: None, slice: None }
    }
}
