//! Sleeps that end on time, and the fastest clock that is valid here.
//!
//! | for | there is |
//! |---|---|
//! | reading the time as cheaply as this machine can | [`Clock`], and [`Instant`] |
//! | waiting until a deadline, within a microsecond where that is possible | [`sleep_until`], [`sleep()`], [`Sleeper`] |
//! | a loop at a fixed rate, with no drift and no period lost from sight | [`Pacer`] |
//! | a worker with nothing to do | [`Backoff`] |
//! | asking the system for finer timing, and knowing what became of it | [`Resolution`], [`TimerSlack`] |
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
//! # Promises
//!
//! * No sleep ends early, and no instant taken by [`Instant::now`] is below an earlier one, on any core.
//! * Nothing is changed without being asked for, but the timer slack of a sleeping thread for the time of its sleep.
//!   What is changed is undone on drop, also while a panic unwinds.
//! * Every change answers with an [`Outcome`]: a denial is something to show to a user, with a reason and a way to allow
//!   it. Without any right, in a sandbox or a container, everything still works, less exactly.
//!
//! # Platforms
//!
//! Linux on x86-64 and AArch64 is where everything is measured. Windows and macOS have bodies of their own. On other
//! systems the standard library's clock and sleep are used, and every setting is denied with that reason.
//!
//! The only dependencies are `libc` and `windows-sys`.
#![warn(missing_docs)]

pub mod backoff;
pub mod clock;
pub mod outcome;
pub mod pace;
pub mod resolution;
pub mod scheduling;
pub mod slack;
pub mod sleep;

mod sys;

pub use backoff::Backoff;
pub use clock::{Clock, Instant};
pub use outcome::{Denied, Outcome, Why};
pub use pace::{Beat, Missed, Pacer};
pub use resolution::Resolution;
pub use scheduling::Scheduling;
pub use slack::{TimerSlack, TimerSlackGuard};
pub use sleep::{Sleeper, Slept, Waited, sleep, sleep_until};

#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
