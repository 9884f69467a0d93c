//! What a measurement may change on Linux, and how it is restored: the changes
//! ([`Entry`](crate::native::tunables::Entry)) of what [`oversleep_system::tunables`] describes.
//!
//! A guard restores on the thread that made it: it is not `Send` and works in `Drop`, also while a panic unwinds. Guards
//! of one thread are dropped in reverse order.

pub mod dma_latency;
pub mod lock_memory;
mod pin;
pub mod policy;
mod slack;
mod slice;

use oversleep_system::{Tunable, registry, tunables};

use crate::native::tunables::{Made, of};

const CHANGES: &[Made] = &[
    of!(slack::Slack),
    of!(policy::PolicyTunable),
    of!(pin::Pin),
    of!(slice::Slice),
    of!(lock_memory::LockMemory),
    of!(dma_latency::DmaLatency),
];

/// All tunables.
pub fn registry() -> Vec<Box<dyn Tunable>> {
    registry!(tunables::LINUX, &[CHANGES])
}
