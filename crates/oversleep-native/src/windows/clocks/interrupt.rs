//! Interrupt time: elapsed time as of the last timer interrupt, and its precise variants.

use std::sync::atomic::{Ordering, fence};

use oversleep_system::pairing::is_same;
use oversleep_system::{ClockInfo, clocks, describe};
use windows_sys::Win32::System::WindowsProgramming::QueryUnbiasedInterruptTime;

use super::step::timer_resolution;
use crate::fn_clock::{FnClock, Read};
use crate::windows::os::Newer;

type Query = unsafe extern "system" fn(*mut u64);

/// A clock whose function is looked up by name; if it isn't available, the clock isn't read. The name must match the
/// description: Wine lacks some of these functions, so no test on Wine finds a misspelt one.
macro_rules! looked_up {
    ($name:literal, $call:literal $(, $step:ident)?) => {
        ($name, |info| {
            const SINCE: &str = {
                let info: &ClockInfo = describe!(clocks::WINDOWS, $name);
                match $call.to_str() {
                    Ok(call) => assert!(is_same(call, info.call), "looked up by another name than described"),
                    Err(_) => panic!("not a name"),
                }
                info.since
            };
            // SAFETY: the type of the call: a pointer to the number it fills in.
            static CALL: Newer<Query> = unsafe { Newer::new(c"kernelbase.dll", $call, SINCE) };
            let clock = FnClock::new(info, || {
                let mut time = 0;
                if let Some(query) = CALL.get() {
                    // SAFETY: `time` is valid to write to.
                    unsafe { query(&raw mut time) };
                }
                time
            });
            clock.available(|| CALL.required().map(drop))$(.step($step))?.boxed()
        })
    };
}

pub(super) const READS: &[Read] = &[
    looked_up!("interrupt-time", c"QueryInterruptTime", timer_resolution),
    looked_up!("interrupt-time-precise", c"QueryInterruptTimePrecise"),
    ("unbiased-interrupt-time", |info| FnClock::new(info, unbiased_interrupt_time).step(timer_resolution).boxed()),
    looked_up!("unbiased-interrupt-time-precise", c"QueryUnbiasedInterruptTimePrecise"),
    ("shared-interrupt-time", |info| FnClock::new(info, shared_interrupt_time).step(timer_resolution).boxed()),
];

#[inline(always)]
fn unbiased_interrupt_time() -> u64 {
    let mut time = 0;
    // SAFETY: `time` is valid to write to.
    // https://learn.microsoft.com/windows/win32/api/realtimeapiset/nf-realtimeapiset-queryunbiasedinterrupttime
    unsafe { QueryUnbiasedInterruptTime(&raw mut time) };
    time
}

/// The words of a KSYSTEM_TIME: low, high, and high again.
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
        for clock in clocks::WINDOWS.iter().filter(|info| info.since == "Windows 10") {
            assert!(clock.page.ends_with(&format!("-{}", clock.call.to_lowercase())), "{} {}", clock.call, clock.page);
        }
    }
}
