//! Interrupt time: elapsed time as of the last timer interrupt, and its precise variants.

use std::sync::atomic::{Ordering, fence};

use oversleep_record::clock::AcrossSuspend;
use windows_sys::Win32::System::WindowsProgramming::QueryUnbiasedInterruptTime;

use super::{COMMON, always, hundred_ns_hz, none, timer_period};
use crate::fn_clock::FnClock;
use crate::windows::os::Newer;
use oversleep_system::{Clock, ClockInfo};

type Query = unsafe extern "system" fn(*mut u64);

const SINCE: &str = "Windows 10";

macro_rules! page {
    ($call:literal) => {
        concat!("https://learn.microsoft.com/windows/win32/api/realtimeapiset/nf-realtimeapiset-", $call)
    };
}

/// One entry whose call is looked up; a clock that is not available is not read.
macro_rules! looked_up {
    ($call:literal, $step:expr, $info:expr) => {{
        const INFO: ClockInfo = ClockInfo { since: SINCE, ..$info };
        const { assert!(is_same($call.to_bytes(), INFO.call.as_bytes()), "looked up by the name it is listed by") };
        // SAFETY: the type of the call: a pointer to the number it fills in.
        static CALL: Newer<Query> = unsafe { Newer::new(c"kernelbase.dll", $call, SINCE) };
        Box::new(FnClock {
            info: INFO,
            available: || CALL.required().map(drop),
            frequency_hz: hundred_ns_hz,
            step: $step,
            read: || {
                let mut time = 0;
                if let Some(query) = CALL.get() {
                    // SAFETY: `time` is valid to write to.
                    unsafe { query(&raw mut time) };
                }
                time
            },
        }) as Box<dyn Clock>
    }};
}

/// Whether two names are the same, while compiling: Wine lacks some of these calls, so that no test finds a misspelt one.
const fn is_same(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

pub(super) fn registry() -> Vec<Box<dyn Clock>> {
    vec![
        looked_up!(
            c"QueryInterruptTime",
            timer_period,
            ClockInfo {
                name: "interrupt-time",
                call: "QueryInterruptTime",
                doc: "Elapsed time as of the last timer interrupt: steps of the timer period in effect on the machine, \
                      15.6 ms by default, down to 0.5 ms while some process asks for it.",
                page: page!("queryinterrupttime"),
                ..COMMON
            }
        ),
        looked_up!(
            c"QueryInterruptTimePrecise",
            none,
            ClockInfo {
                name: "interrupt-time-precise",
                call: "QueryInterruptTimePrecise",
                doc: "Elapsed time read from the hardware, in units of 100 ns.",
                page: page!("queryinterrupttimeprecise"),
                ..COMMON
            }
        ),
        Box::new(FnClock {
            info: ClockInfo {
                name: "unbiased-interrupt-time",
                call: "QueryUnbiasedInterruptTime",
                doc: "Interrupt time without the time spent asleep: steps of the timer period in effect on the machine.",
                across_suspend: AcrossSuspend::Stops,
                since: "Windows 7",
                page: page!("queryunbiasedinterrupttime"),
                ..COMMON
            },
            available: always,
            frequency_hz: hundred_ns_hz,
            step: timer_period,
            read: || {
                let mut time = 0;
                // SAFETY: `time` is valid to write to.
                // https://learn.microsoft.com/windows/win32/api/realtimeapiset/nf-realtimeapiset-queryunbiasedinterrupttime
                unsafe { QueryUnbiasedInterruptTime(&raw mut time) };
                time
            },
        }),
        looked_up!(
            c"QueryUnbiasedInterruptTimePrecise",
            none,
            ClockInfo {
                name: "unbiased-interrupt-time-precise",
                call: "QueryUnbiasedInterruptTimePrecise",
                doc: "Elapsed time without the time spent asleep, read from the hardware, in units of 100 ns.",
                across_suspend: AcrossSuspend::Stops,
                page: page!("queryunbiasedinterrupttimeprecise"),
                ..COMMON
            }
        ),
        Box::new(FnClock {
            info: ClockInfo {
                name: "shared-interrupt-time",
                call: "KUSER_SHARED_DATA.InterruptTime",
                doc: "What QueryInterruptTime reads, without the call: a page that the kernel shows to every process, \
                      always at one address. The cheapest clock there is, in the same steps.",
                since: "Windows NT",
                page: "https://learn.microsoft.com/windows-hardware/drivers/ddi/ntddk/ns-ntddk-kuser_shared_data",
                ..COMMON
            },
            available: always,
            frequency_hz: hundred_ns_hz,
            step: timer_period,
            read: shared_interrupt_time,
        }),
    ]
}

/// A KSYSTEM_TIME: low word, high word, and the high word again.
const SHARED_INTERRUPT_TIME: *const u32 = 0x7ffe_0008 as *const u32;

#[inline(always)]
fn shared_interrupt_time() -> u64 {
    loop {
        // SAFETY: the page is mapped readable at this address in every process, and the three words are aligned. The
        // kernel writes the second high word first and the first high word last, so equal ones frame a whole value.
        let (high, low, high_again) = unsafe {
            let high = SHARED_INTERRUPT_TIME.add(1).read_volatile();
            fence(Ordering::Acquire);
            let low = SHARED_INTERRUPT_TIME.read_volatile();
            fence(Ordering::Acquire);
            (high, low, SHARED_INTERRUPT_TIME.add(2).read_volatile())
        };
        if high == high_again {
            return u64::from(high) << 32 | u64::from(low);
        }
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_named_as_its_page_is() {
        for clock in registry().iter().map(|clock| clock.info()).filter(|info| info.since == SINCE) {
            assert!(clock.page.ends_with(&format!("-{}", clock.call.to_lowercase())), "{} {}", clock.call, clock.page);
        }
    }
}
