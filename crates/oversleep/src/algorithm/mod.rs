//! What the library's waits do on any machine: arithmetic, and the calls that they make of a [`Machine`]. The operating
//! system is one, and a model of another one is, too.
//!
//! No part of the stable interface. It needs no standard library.

mod contention;
mod cost;
mod lateness;
mod margins;
mod objective;
mod parks;
mod plan;
mod steps;
#[cfg(test)]
mod stream_tests;
mod tail;
mod tick;

pub(crate) use margins::Margins;
pub(crate) use objective::Objective;
pub use parks::{LearnedParks, Park};
#[cfg(feature = "std")]
pub(crate) use plan::APPROACHES;
pub(crate) use plan::Plan;
#[cfg(feature = "std")]
pub(crate) use steps::{Access, Made};
pub(crate) use steps::{sleep_until, wait_until};

/// The machine on which the library waits, in the calling thread. Times are nanoseconds on the system's monotonic clock.
pub trait Machine {
    /// What the library's clock shows.
    fn now_ns(&mut self) -> u64;
    /// What the system's clock shows.
    fn system_ns(&mut self) -> u64;
    /// The CPU time that the thread has used, if the system says it.
    fn cpu_ns(&mut self) -> Option<u64>;
    /// Has the thread wait until the system's clock shows that time, or what it waits for has come. Returns what the
    /// clock shows.
    fn wait_until(&mut self, ns: u64) -> u64;
    /// Whether what it waits for has come.
    fn has_come(&mut self) -> bool {
        false
    }
    /// Sets what makes waits finer, for the waits that follow. Returns the slack that they would have otherwise; zero
    /// where it still delays them.
    fn begin_waits(&mut self, wants_slice: bool) -> u64;
    /// Undoes that.
    fn end_waits(&mut self);
    /// Lets a moment pass in a loop that spins.
    fn relax(&mut self) {
        core::hint::spin_loop();
    }
}

/// The sleeps of a [`Sleeper`](crate::Sleeper) by default, on a machine of the caller's.
#[derive(Clone, Debug)]
pub struct Sleeping(Plan);

impl Sleeping {
    /// Nothing is learned yet.
    #[expect(clippy::new_without_default, reason = "no part of the stable interface")]
    pub const fn new() -> Sleeping {
        Sleeping(Plan::new())
    }

    /// Sleeps until that time.
    pub fn sleep_until(&mut self, machine: &mut impl Machine, deadline_ns: u64) {
        sleep_until(&mut self.0, machine, deadline_ns, Objective::DEFAULT);
    }
}

/// The parks of a [`Parker`](crate::Parker) that nobody unparks, on a machine of the caller's.
#[derive(Debug)]
pub struct Parking(Margins);

impl Parking {
    /// Nothing is learned yet.
    #[expect(clippy::new_without_default, reason = "no part of the stable interface")]
    pub const fn new() -> Parking {
        Parking(Margins::new())
    }

    /// Parks until that time.
    pub fn park_until(&mut self, machine: &mut impl Machine, deadline_ns: u64) {
        wait_until(machine, deadline_ns, &self.0);
    }
}
