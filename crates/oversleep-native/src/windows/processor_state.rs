//! The clock rate of the calling thread's processor and its thermal limit, according to Windows' power manager.
//!
//! Both are the power manager's choices, as shares of the rated clock, not measurements. A processor that chooses its
//! own rate may run at another, and a rate above the rated clock isn't shown.

use oversleep_record::{ProcessorState, Unavailable};
use windows_sys::Win32::System::Power::{CallNtPowerInformation, PROCESSOR_POWER_INFORMATION, ProcessorInformation};
use windows_sys::Win32::System::Threading::{
    ALL_PROCESSOR_GROUPS, GetActiveProcessorCount, GetActiveProcessorGroupCount, GetCurrentProcessorNumber,
};

use super::os;

/// The rates of one processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rates {
    number: u32,
    pub max_mhz: u32,
    current_mhz: u32,
    limit_mhz: u32,
}

/// The current state of the processor that the calling thread runs on.
pub(super) fn read() -> ProcessorState {
    // SAFETY: takes no argument.
    // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-getcurrentprocessornumber
    let here = unsafe { GetCurrentProcessorNumber() };
    rates().map_or_else(|_| ProcessorState::default(), |rates| state_of(here, &rates))
}

fn state_of(number: u32, rates: &[Rates]) -> ProcessorState {
    let Some(rates) = rates.iter().find(|rates| rates.number == number) else { return ProcessorState::default() };
    let hz = |mhz: u32| Some(u64::from(mhz) * 1_000_000).filter(|&hz| hz > 0);
    let limit = (u64::from(rates.limit_mhz) * 1_000).checked_div(u64::from(rates.max_mhz)).filter(|&limit| limit > 0);
    ProcessorState {
        clock_min_hz: hz(rates.current_mhz),
        clock_max_hz: hz(rates.current_mhz),
        limit_min_permille: limit,
        limit_max_permille: limit,
        ..ProcessorState::default()
    }
}

/// Why the processor's temperature isn't available.
pub(super) fn no_temperature() -> Unavailable {
    Unavailable::not_permitted("reading the processor's temperature", "as an administrator, use a driver that does")
}

/// The rates of all processors. Processors are numbered within a group, so several groups would be ambiguous.
///
/// # Errors
/// The reason if the system doesn't state them.
pub(super) fn rates() -> Result<Vec<Rates>, Unavailable> {
    // SAFETY: takes no argument.
    // https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-getactiveprocessorgroupcount
    if unsafe { GetActiveProcessorGroupCount() } > 1 {
        return Err(Unavailable::missing("a call for the clock rates of several processor groups"));
    }
    // SAFETY: takes a number and returns one. A failure returns 0, which leads to an error below.
    // https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-getactiveprocessorcount
    let count = unsafe { GetActiveProcessorCount(ALL_PROCESSOR_GROUPS) };
    // Exactly one record per processor, because the call fills the whole buffer without stating how much it wrote.
    let mut records = vec![PROCESSOR_POWER_INFORMATION::default(); count as usize];
    let room = size_of_val(records.as_slice()) as u32;
    // SAFETY: the level takes no input, and the records are writable for the length stated.
    // https://learn.microsoft.com/windows/win32/api/powerbase/nf-powerbase-callntpowerinformation
    let status =
        unsafe { CallNtPowerInformation(ProcessorInformation, std::ptr::null(), 0, records.as_mut_ptr().cast(), room) };
    if status < 0 {
        return Err(os::failed_status("CallNtPowerInformation(ProcessorInformation)", status));
    }
    let rates: Vec<Rates> = records
        .iter()
        .filter(|record| record.MaxMhz > 0)
        .map(|record| Rates {
            number: record.Number,
            max_mhz: record.MaxMhz,
            current_mhz: record.CurrentMhz,
            limit_mhz: record.MhzLimit,
        })
        .collect();
    if rates.is_empty() { Err(Unavailable::missing("a processor's rated clock")) } else { Ok(rates) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_is_that_of_the_threads_own_processor() {
        let rates = [
            Rates { number: 0, max_mhz: 3_600, current_mhz: 800, limit_mhz: 3_600 },
            Rates { number: 1, max_mhz: 3_600, current_mhz: 0, limit_mhz: 1_200 },
        ];
        let first = state_of(0, &rates);
        assert_eq!((first.clock_min_hz, first.clock_max_hz), (Some(800_000_000), Some(800_000_000)));
        assert_eq!((first.limit_min_permille, first.limit_max_permille), (Some(1_000), Some(1_000)));
        let second = state_of(1, &rates);
        assert_eq!((second.clock_min_hz, second.limit_min_permille), (None, Some(333)), "zero is no rate");
        assert!(state_of(2, &rates).is_unseen());
        assert_eq!(size_of::<PROCESSOR_POWER_INFORMATION>(), 24);
    }

    #[test]
    fn rates_are_available_or_have_a_reason() {
        match rates() {
            Ok(rates) => assert!(rates.iter().all(|rates| rates.max_mhz > 0)),
            Err(why) => assert!(read().is_unseen(), "{why}"),
        }
    }
}
