//! Sleeps that end on time, and the fastest clock that is valid here.
//!
//! | to | use |
//! |---|---|
//! | read the time as cheaply as this machine can | [`Clock`], [`Instant`] |
//! | wait until a deadline, within a microsecond where that is possible | [`sleep_until`], [`sleep()`], [`Sleeper`] |
//! | run a loop at a fixed rate, without drift, with every missed period counted | [`Pacer`] |
//! | idle in a worker that has nothing to do | [`Backoff`] |
//! | request finer timing from the system, and learn whether you got it | [`Resolution`], [`TimerSlack`], [`TimeSlice`] |
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
//! * No sleep ends early, and [`Instant::now`] never returns less than an earlier call did, on any core.
//! * The library changes no setting unless you request it, with two exceptions: a sleeping thread's timer slack and,
//!   beside busy threads, its time slice, both for the duration of the sleep. Every change is undone on drop, in any order
//!   of drops, even while a panic unwinds.
//! * Every change returns an [`Outcome`]. A denial carries a reason and the next step, ready to show to a user. Without
//!   privileges, in a sandbox or in a container, everything still works, only less exactly.
//!
//! # Platforms
//!
//! All figures are measured on Linux, on x86-64 and AArch64. Windows and macOS have implementations of their own. Other
//! systems use the standard library's clock and sleep, and deny every setting with that reason.
//!
//! The only dependencies are `libc` and `windows-sys`.
#![warn(missing_docs)]

pub mod backoff;
mod claims;
pub mod clock;
pub mod outcome;
pub mod pace;
pub mod resolution;
pub mod scheduling;
pub mod slack;
pub mod sleep;
pub mod time_slice;

mod sys;

pub use backoff::Backoff;
pub use clock::{Clock, Instant};
pub use outcome::{Denied, Outcome, Why};
pub use pace::{Beat, Missed, Pacer};
pub use resolution::Resolution;
pub use scheduling::Scheduling;
pub use slack::{TimerSlack, TimerSlackGuard};
pub use sleep::{Sleeper, Slept, Waited, sleep, sleep_until};
pub use time_slice::{TimeSlice, TimeSliceGuard};

#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
