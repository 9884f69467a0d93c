//! What the waits of many machines over weeks say: which host is unlike those of its kind, what a change did, what the
//! hypervisor takes, what happens at certain hours only.
//!
//! A [`Collector`] takes the stretches of an archive day by day and keeps, of each host, wait and quarter of a day, only
//! p50, p99 and steal. [`Collector::judge`] compares them. Hosts and days are the units of every interval, never waits: a
//! million waits of one host say nothing about the next host. What is unusual follows from the hosts themselves (the
//! spread of those of the same kind), with 1 % of error for all comparisons of an archive together.

mod beside;
mod cells;
mod changes;
mod groups;
mod hosts;
mod hours;
mod judge;
mod judging;
mod model;
mod odd;
mod profiles;
#[cfg(any(test, feature = "testing"))]
pub mod simulated;
mod stats;
mod steps;
mod unjudged;
mod words;

pub use cells::{Collector, Stretch};
pub use model::{Change, ChangeRow, Figure, Finding, Fleet, Group, HostRow, Interval, Judged, Kind, Part, Unjudged};

#[cfg(test)]
mod tests;
