//! Clocks that every system has: the processor's counters, the standard library's clocks and this library's.

use oversleep_record::clock::{AcrossSuspend, Counts, Epoch};

use super::COMMON;
use crate::clock::{ClockInfo, ClockUnit};

/// The clocks of a system without a catalogue of its own.
pub const EVERYWHERE: &[ClockInfo] = &[STD_INSTANT, STD_INSTANT_MS, STD_SYSTEMTIME, STD_SYSTEMTIME_MS];

const COUNTER: ClockInfo =
    ClockInfo { unit: ClockUnit::Ticks, epoch: Epoch::Processor, across_suspend: AcrossSuspend::Unspecified, ..COMMON };

const TIME_STAMP_COUNTER: ClockInfo = ClockInfo {
    architecture: Some("x86_64"),
    page: "https://www.intel.com/content/www/us/en/developer/articles/technical/intel-sdm.html",
    ..COUNTER
};

pub(super) const TSC: ClockInfo = ClockInfo {
    name: "tsc",
    call: "rdtsc",
    doc: "The time-stamp counter, unordered: the processor may read it early. It is a valid clock only if it is \
          invariant and all CPUs agree.",
    ordered: &[TSC_FENCED.name, TSCP.name],
    since: "Pentium",
    ..TIME_STAMP_COUNTER
};

pub(super) const TSCP: ClockInfo = ClockInfo {
    name: "tscp",
    call: "rdtscp",
    doc: "The time-stamp counter, read after all earlier instructions have finished. Later instructions may start \
          before the read.",
    reads: Some("tsc"),
    since: "2006 (AMD), 2008 (Intel)",
    ..TIME_STAMP_COUNTER
};

pub(super) const TSC_FENCED: ClockInfo = ClockInfo {
    name: "tsc-fenced",
    call: "lfence; rdtsc",
    doc: "The time-stamp counter behind a load fence, which keeps reads in order, as in the kernel's own clock reads.",
    reads: Some("tsc"),
    since: "Pentium 4",
    ..TIME_STAMP_COUNTER
};

pub(super) const CNTVCT: ClockInfo = ClockInfo {
    name: "cntvct",
    call: "mrs CNTVCT_EL0",
    doc: "The virtual count of ARM's generic timer, unordered. All CPUs share it; CNTFRQ_EL0 states its frequency \
          (19.2 MHz to 1 GHz).",
    ordered: &[OVERSLEEP_ORDERED.name],
    architecture: Some("aarch64"),
    since: "ARMv8",
    page: "https://developer.arm.com/documentation/ddi0601/latest/AArch64-Registers/CNTVCT-EL0--Counter-timer-Virtual-Count-Register",
    ..COUNTER
};

pub(super) const STD_INSTANT: ClockInfo = ClockInfo {
    name: "std-instant",
    call: "std::time::Instant::now()",
    doc: "Rust's clock for durations: CLOCK_MONOTONIC on Linux, QueryPerformanceCounter on Windows, CLOCK_UPTIME_RAW \
          on macOS. The value counts from the first read in this process; that subtraction is part of the cost.",
    epoch: Epoch::Process,
    since: "Rust 1.8",
    page: "https://doc.rust-lang.org/std/time/struct.Instant.html",
    ..COMMON
};

pub(super) const STD_SYSTEMTIME: ClockInfo = ClockInfo {
    name: "std-systemtime",
    call: "std::time::SystemTime::now()",
    doc: "Rust's time of day: CLOCK_REALTIME on Linux and macOS, GetSystemTimePreciseAsFileTime on Windows. It steps \
          when someone sets it, so don't measure durations with it.",
    counts: Counts::TimeOfDay,
    epoch: Epoch::Unix,
    across_suspend: AcrossSuspend::Continues,
    since: "Rust 1.8",
    page: "https://doc.rust-lang.org/std/time/struct.SystemTime.html",
    ..COMMON
};

/// In whole milliseconds, as C++ programs read their clocks with `duration_cast<milliseconds>`.
const fn in_milliseconds(info: ClockInfo, name: &'static str, call: &'static str, doc: &'static str) -> ClockInfo {
    ClockInfo { name, call, doc, unit: ClockUnit::Milliseconds, is_modelled: false, ..info }
}

pub(super) const STD_INSTANT_MS: ClockInfo = in_milliseconds(
    STD_INSTANT,
    "std-instant-ms",
    "std::time::Instant::now().duration_since(origin).as_millis()",
    "std-instant with its value cast to whole milliseconds, like duration_cast of C++'s steady_clock: what the cast adds to \
     a read.",
);

pub(super) const STD_SYSTEMTIME_MS: ClockInfo = in_milliseconds(
    STD_SYSTEMTIME,
    "std-systemtime-ms",
    "std::time::SystemTime::now().duration_since(UNIX_EPOCH).as_millis()",
    "std-systemtime with its value cast to whole milliseconds, like duration_cast of C++'s system_clock: what the cast adds \
     to a read.",
);

const LIBRARY: ClockInfo =
    ClockInfo { is_modelled: false, since: "oversleep 0.1", page: "https://docs.rs/oversleep", ..COMMON };

pub(super) const OVERSLEEP: ClockInfo = ClockInfo {
    name: "oversleep",
    call: "oversleep::Clock::now()",
    doc: "The library's fastest valid clock, in ns of the reference clock. It reads the processor's counter if \
          that passes the library's checks, otherwise the system's clock. Reads are unordered, so don't compare them \
          across threads.",
    ordered: &[OVERSLEEP_ORDERED.name],
    ..LIBRARY
};

pub(super) const OVERSLEEP_ORDERED: ClockInfo = ClockInfo {
    name: "oversleep-ordered",
    call: "oversleep::Clock::now_ordered()",
    doc: "The library's clock with ordered reads, so that you can compare values across threads.",
    ..LIBRARY
};

pub(super) const OVERSLEEP_COARSE: ClockInfo = ClockInfo {
    name: "oversleep-coarse",
    call: "oversleep::Clock::coarse()",
    doc: "The library's cheapest read, in steps of the system's tick.",
    ..LIBRARY
};
