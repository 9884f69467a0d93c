//! CPU time of this process and thread, in 100 ns and in cycles.

use oversleep_record::Unavailable;
use windows_sys::Win32::System::Threading::{GetCurrentProcess, GetCurrentThread};
use windows_sys::Win32::System::WindowsProgramming::{QueryProcessCycleTime, QueryThreadCycleTime};

use super::step::clock_interrupt_period;
use crate::fn_clock::{FnClock, Read};
use crate::windows::os;

pub(super) const READS: &[Read] = &[
    ("process-times", |info| {
        FnClock::new(info, || os::process_cpu_time().unwrap_or(0)).step(clock_interrupt_period).boxed()
    }),
    ("thread-times", |info| {
        FnClock::new(info, || os::thread_cpu_time().unwrap_or(0)).step(clock_interrupt_period).boxed()
    }),
    ("process-cycle-time", |info| {
        FnClock::new(info, process_cycles).available(|| counts(process_cycles, "QueryProcessCycleTime")).boxed()
    }),
    ("thread-cycle-time", |info| {
        FnClock::new(info, thread_cycles).available(|| counts(thread_cycles, "QueryThreadCycleTime")).boxed()
    }),
];

fn counts(cycles: fn() -> u64, call: &str) -> Result<(), Unavailable> {
    if cycles() > 0 { Ok(()) } else { Err(os::failed(call)) }
}

fn process_cycles() -> u64 {
    let mut cycles = 0;
    // SAFETY: `cycles` is valid to write to, and the pseudo-handle needs no closing.
    unsafe { QueryProcessCycleTime(GetCurrentProcess(), &raw mut cycles) };
    cycles
}

fn thread_cycles() -> u64 {
    let mut cycles = 0;
    // SAFETY: `cycles` is valid to write to, and the pseudo-handle needs no closing.
    unsafe { QueryThreadCycleTime(GetCurrentThread(), &raw mut cycles) };
    cycles
}
