//! Sleeps that end on time, and the fastest clock that is valid here.
//!
//! ```
//! use oversleep::{Clock, Instant};
//! use std::time::Duration;
//!
//! let deadline = Instant::now() + Duration::from_millis(1);
//! oversleep::sleep_until(deadline);
//! println!("{} ns late, by {}", Clock::now().nanos_since(deadline), Clock::source());
//! ```
//!
//! # Guarantees
//!
//! * No sleep ends early, and no wait with a deadline does, unless another thread ends it.
//! * [`Instant::now`] never returns less than an earlier call in the same thread did, and [`Instant::now_ordered`] never
//!   less than an earlier call on any core, even if the processor's counter fails.
//! * The library changes no setting unless you request it, with two exceptions: a thread's timer slack while it sleeps or
//!   waits for a deadline and, beside busy threads, its time slice while it sleeps. Every change is undone on drop, in any
//!   order of drops, even while a panic unwinds.
//! * Every change returns an [`Outcome`]. A denial carries a reason and the next step, ready to show to a user. Without
//!   privileges, in a sandbox or in a container, everything still works, only less exactly.
//!
//! # What to use
//!
//! | to | use |
//! |---|---|
//! | read the time as cheaply as this machine can | [`Clock`], [`Instant`] |
//! | mark a moment that suspend must not move | [`BootInstant`] |
//! | wait until a deadline, within a microsecond where that is possible | [`sleep_until`], [`sleep()`], [`Sleeper`] |
//! | run a loop at a fixed rate, without drift, with every missed period counted | [`Pacer`] |
//! | wait for another thread, until an exact deadline at most | [`Parker`], [`Condvar`], the crate `oversleep-channel` |
//! | idle in a worker that has nothing to do | [`Backoff`] |
//! | test code that waits, in virtual time | [`TimeSource`], [`time::VirtualClock`] |
//! | request finer timing from the system, and learn whether you got it | [`Resolution`], [`TimerSlack`], [`TimeSlice`] |
//!
//! # Platforms
//!
//! All figures are measured on Linux, on x86-64 and AArch64. Windows and macOS have native implementations. Other
//! systems use the standard library's clock and sleep, and deny every setting with that reason.
//!
//! The only dependencies are `libc` and `windows-sys`.
//!
//! # Features
//!
//! | feature | |
//! |---|---|
//! | `std` (default) | everything; without it the crate is `no_std` and has the arithmetic of [`Instant`] |
//! | `serde` | an [`Instant`] as nanoseconds of its time line |
//! | `rtkit` | asks RealtimeKit for real-time scheduling on desktop Linux, see `Resolution::or_by_rtkit` |
//! | `fault-injection` | for tests: a counter that fails as requested, see `clock::fault` |
#![warn(missing_docs)]
#![cfg_attr(not(feature = "std"), no_std)]

#[doc(hidden)]
pub mod algorithm;
#[cfg(feature = "std")]
pub mod backoff;
#[cfg(feature = "std")]
#[cfg(feature = "std")]
mod claims;
#[cfg(feature = "std")]
pub mod clock;
#[cfg(feature = "std")]
pub mod convert;
#[cfg(feature = "std")]
pub mod outcome;
#[cfg(feature = "std")]
pub mod pace;
#[cfg(feature = "std")]
pub mod park;
#[cfg(feature = "std")]
pub mod resolution;
#[cfg(feature = "std")]
pub mod scheduling;
#[cfg(feature = "std")]
pub mod slack;
#[cfg(feature = "std")]
pub mod sleep;
#[cfg(feature = "std")]
pub mod statistics;
#[cfg(feature = "std")]
pub mod time;
#[cfg(feature = "std")]
pub mod time_slice;

#[cfg(feature = "std")]
mod sys;

#[cfg(feature = "std")]
pub use crate::{
    backoff::Backoff,
    clock::{BootInstant, Clock, Instant},
    convert::{Bridge, Converted},
    outcome::{Denied, Outcome, Why},
    pace::{Beat, Missed, Pacer},
    park::{Condvar, Parker, Unparker, Woken},
    resolution::Resolution,
    scheduling::Scheduling,
    slack::{TimerSlack, TimerSlackGuard},
    sleep::{Sleeper, Slept, Waited, sleep, sleep_until},
    statistics::Statistics,
    time::TimeSource,
    time_slice::{TimeSlice, TimeSliceGuard},
};

#[cfg(feature = "serde")]
mod serialized;

/// Without the standard library, only the arithmetic of instants is available.
#[cfg(not(feature = "std"))]
#[path = "clock/instant.rs"]
mod instant;
#[cfg(not(feature = "std"))]
pub use instant::Instant;

#[cfg(all(doctest, feature = "std"))]
#[doc = include_str!("../README.md")]
struct Readme;
