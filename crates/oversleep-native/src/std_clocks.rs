//! The clocks that Rust's standard library offers.

use std::sync::OnceLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use oversleep_record::clock::{AcrossSuspend, Counts, Epoch};

use super::fn_clock::{COMMON, FnClock, always, none};
use oversleep_system::{Clock, ClockInfo};

/// An instant shows no number, so reads are counted from the first one.
static ORIGIN: OnceLock<Instant> = OnceLock::new();

/// Nanoseconds since the first read.
pub(super) fn elapsed_ns() -> u64 {
    let now = Instant::now();
    now.saturating_duration_since(*ORIGIN.get_or_init(|| now)).as_nanos() as u64
}

pub(super) fn registry() -> Vec<Box<dyn Clock>> {
    vec![
        Box::new(FnClock {
            info: ClockInfo {
                name: "std-instant",
                call: "std::time::Instant::now()",
                doc: "Rust's clock for durations: CLOCK_MONOTONIC on Linux, QueryPerformanceCounter on Windows, \
                      CLOCK_UPTIME_RAW on macOS. The value shown counts from the first read in this process; that subtraction is part of the cost.",
                epoch: Epoch::Process,
                since: "Rust 1.8",
                page: "https://doc.rust-lang.org/std/time/struct.Instant.html",
                ..COMMON
            },
            available: always,
            frequency_hz: || Some(1_000_000_000),
            step: none,
            read: elapsed_ns,
        }),
        Box::new(FnClock {
            info: ClockInfo {
                name: "std-systemtime",
                call: "std::time::SystemTime::now()",
                doc: "Rust's time of day: CLOCK_REALTIME on Linux, GetSystemTimePreciseAsFileTime on Windows. It can be \
                      set, and steps then; not for durations.",
                counts: Counts::TimeOfDay,
                epoch: Epoch::Unix,
                across_suspend: AcrossSuspend::Continues,
                since: "Rust 1.8",
                page: "https://doc.rust-lang.org/std/time/struct.SystemTime.html",
                ..COMMON
            },
            available: always,
            frequency_hz: || Some(1_000_000_000),
            step: none,
            // A clock set before 1970 reads as 0.
            read: || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64),
        }),
    ]
}
