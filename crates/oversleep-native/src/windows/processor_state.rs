//! Clock rate of the calling thread's processor and what heat allows it, as Windows' power manager states them.
//!
//! Both are shares of the rated clock that the power manager chose, not measurements: a processor that chooses its own
//! rate may run at another, and above the rated clock none is shown.

use oversleep_record::{ProcessorState, Unavailable};
use windows_sys::Win32::System::Power::{CallNtPowerInformation, PROCESSOR_POWER_INFORMATION, ProcessorInformation};
use windows_sys::Win32::System::Threading::{
    ALL_PROCESSOR_GROUPS, GetActiveProcessorCount, GetActiveProcessorGroupCount, GetCurrentProcessorNumber,
};

use super::os;

/// What is told of one processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rates {
    number: u32,
    pub max_mhz: u32,
    current_mhz: u32,
    limit_mhz: u32,
}

/// The processor the calling thread runs on, as it stands now.
pub(super) fn read() -> ProcessorState {
    // SAFETY: takes nothing.
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

/// All processors. They are numbered within a group, so a machine with several groups would be told ambiguously.
///
/// # Errors
/// Why the system doesn't tell.
pub(super) fn rates() -> Result<Vec<Rates>, Unavailable> {
    // SAFETY: takes nothing.
    // https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-getactiveprocessorgroupcount
    if unsafe { GetActiveProcessorGroupCount() } > 1 {
        return Err(Unavailable::missing("clock rates of all groups of processors"));
    }
    // SAFETY: takes a number and returns one; 0 where it fails, which leaves no room and so an error below.
    // https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-getactiveprocessorcount
    let count = unsafe { GetActiveProcessorCount(ALL_PROCESSOR_GROUPS) };
    // One record for each processor, no more: the call fills what room there is and says not how much that was.
    let mut records = vec![PROCESSOR_POWER_INFORMATION::default(); count as usize];
    let room = size_of_val(records.as_slice()) as u32;
    // SAFETY: the level takes no input, and the records are valid to write to for the length stated.
    // https://learn.microsoft.com/windows/win32/api/powerbase/nf-powerbase-callntpowerinformation
    let status =
        unsafe { CallNtPowerInformation(ProcessorInformation, std::ptr::null(), 0, records.as_mut_ptr().cast(), room) };
    if status < 0 {
        return Err(os::failed_status("CallNtPowerInformation(ProcessorInformation)", status));
    }
    let told: Vec<Rates> = records
        .iter()
        .filter(|record| record.MaxMhz > 0)
        .map(|record| Rates {
            number: record.Number,
            max_mhz: record.MaxMhz,
            current_mhz: record.CurrentMhz,
            limit_mhz: record.MhzLimit,
        })
        .collect();
    if told.is_empty() { Err(Unavailable::missing("a processor's rated clock")) } else { Ok(told) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threads_own_processor_is_told() {
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
    fn a_rate_is_told_or_a_reason() {
        match rates() {
            Ok(rates) => assert!(rates.iter().all(|rates| rates.max_mhz > 0)),
            Err(why) => assert!(read().is_unseen(), "{why}"),
        }
    }
}
