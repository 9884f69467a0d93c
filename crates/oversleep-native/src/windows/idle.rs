//! Idle residency, which the kernel counts for its power management.

use oversleep_record::{Nanos, Unavailable};
use oversleep_system::{IdleReading, IdleState};
use windows_sys::Wdk::System::SystemInformation::{NtQuerySystemInformation, SYSTEM_INFORMATION_CLASS};
use windows_sys::Win32::System::Threading::GetActiveProcessorGroupCount;

use super::os;

/// SystemProcessorIdleInformation and its record, one per processor of the caller's group. Microsoft doesn't document
/// them for programs. Both are unchanged since Windows Vista:
/// <https://ntdoc.m417z.com/system_processor_idle_information>.
const PROCESSOR_IDLE: SYSTEM_INFORMATION_CLASS = 42;

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct ProcessorIdle {
    idle: u64,
    /// C1, C2, and C3 and deeper, in units of 100 ns.
    spent: [u64; 3],
    transitions: [u32; 3],
    padding: u32,
}

const STATES: [&str; 3] = ["C1", "C2", "C3"];
const GROUP_CPUS: usize = 64;

/// Idle states now. Only drivers can read energy.
pub(super) fn read(at: Nanos) -> IdleReading {
    let packages =
        Err(Unavailable::not_permitted("reading the package's energy", "as an administrator, use a driver that does"));
    match processors() {
        Ok(processors) => IdleReading {
            at,
            cpus: u32::try_from(processors.len()).unwrap_or(u32::MAX),
            states: Ok(sum(&processors)),
            packages,
        },
        Err(why) => IdleReading { at, cpus: 0, states: Err(why), packages },
    }
}

fn sum(processors: &[ProcessorIdle]) -> Vec<IdleState> {
    let spent = |state: usize| processors.iter().map(|processor| processor.spent[state]).fold(0, u64::saturating_add);
    let states = STATES.iter().enumerate().map(|(state, name)| IdleState {
        name: (*name).to_owned(),
        spent: Nanos(i64::try_from(spent(state)).unwrap_or(i64::MAX).saturating_mul(100)),
    });
    states.collect()
}

/// A call covers the group in which its thread runs, so with several groups two calls could cover different processors.
fn processors() -> Result<Vec<ProcessorIdle>, Unavailable> {
    // SAFETY: takes no argument.
    // https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-getactiveprocessorgroupcount
    if unsafe { GetActiveProcessorGroupCount() } > 1 {
        return Err(Unavailable::missing("a call for the idle times of several processor groups"));
    }
    let mut records = vec![ProcessorIdle::default(); GROUP_CPUS];
    let mut bytes = 0;
    let room = size_of_val(records.as_slice()) as u32;
    // SAFETY: the records are writable for the length stated, which is never exceeded.
    // https://learn.microsoft.com/windows/win32/api/winternl/nf-winternl-ntquerysysteminformation
    let status = unsafe { NtQuerySystemInformation(PROCESSOR_IDLE, records.as_mut_ptr().cast(), room, &raw mut bytes) };
    if status < 0 {
        return Err(os::failed_status("NtQuerySystemInformation(SystemProcessorIdleInformation)", status));
    }
    records.truncate(bytes as usize / size_of::<ProcessorIdle>());
    if records.is_empty() { Err(Unavailable::missing("a processor in the list of idle times")) } else { Ok(records) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_all_processors_are_added_by_state() {
        let one = ProcessorIdle { spent: [1, 20, 300], ..ProcessorIdle::default() };
        let other = ProcessorIdle { spent: [5, 0, u64::MAX], ..ProcessorIdle::default() };
        let spent: Vec<(String, Nanos)> =
            sum(&[one, other]).into_iter().map(|state| (state.name, state.spent)).collect();
        assert_eq!(spent[0], ("C1".to_owned(), Nanos(600)));
        assert_eq!(spent[1], ("C2".to_owned(), Nanos(2_000)));
        assert_eq!(spent[2], ("C3".to_owned(), Nanos(i64::MAX)));
        assert_eq!(size_of::<ProcessorIdle>(), 48);
    }

    #[test]
    fn a_reading_has_states_or_a_reason() {
        let reading = read(os::now());
        assert_eq!(reading.states.is_ok(), reading.cpus > 0);
        assert!(reading.packages.is_err());
    }
}
