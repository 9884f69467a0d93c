//! Idle residency, as the kernel counts it for its own power management.

use oversleep_record::{Nanos, Unavailable};
use windows_sys::Wdk::System::SystemInformation::{NtQuerySystemInformation, SYSTEM_INFORMATION_CLASS};
use windows_sys::Win32::System::Threading::GetActiveProcessorGroupCount;

use super::os;
use oversleep_system::{IdleReading, IdleState};

/// SystemProcessorIdleInformation and its record, one per processor of the caller's group. The vendor declares neither
/// for programs; both are as since Windows Vista: <https://ntdoc.m417z.com/system_processor_idle_information>.
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

/// Idle states as they stand now. Energy is shown only to drivers and administrators.
pub(super) fn read(at: Nanos) -> IdleReading {
    let packages =
        Err(Unavailable::not_permitted("reading the package's energy", "an administrator: a driver that does"));
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

/// Each call tells of the group that its thread runs in, so on a machine with several two calls could tell of different
/// processors.
fn processors() -> Result<Vec<ProcessorIdle>, Unavailable> {
    // SAFETY: takes nothing.
    // https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-getactiveprocessorgroupcount
    if unsafe { GetActiveProcessorGroupCount() } > 1 {
        return Err(Unavailable::missing("idle times of all groups of processors"));
    }
    let mut records = vec![ProcessorIdle::default(); GROUP_CPUS];
    let mut bytes = 0;
    let room = size_of_val(records.as_slice()) as u32;
    // SAFETY: the records are valid to write to for the length stated, which is never exceeded.
    // https://learn.microsoft.com/windows/win32/api/winternl/nf-winternl-ntquerysysteminformation
    let status = unsafe { NtQuerySystemInformation(PROCESSOR_IDLE, records.as_mut_ptr().cast(), room, &raw mut bytes) };
    if status < 0 {
        return Err(os::failed_status("NtQuerySystemInformation(SystemProcessorIdleInformation)", status));
    }
    records.truncate(bytes as usize / size_of::<ProcessorIdle>());
    if records.is_empty() { Err(Unavailable::missing("processors in the list of idle times")) } else { Ok(records) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_all_processors_are_summed_by_state() {
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
    fn a_reading_has_states_or_says_why_not() {
        let reading = read(os::now());
        assert_eq!(reading.states.is_ok(), reading.cpus > 0);
        assert!(reading.packages.is_err());
    }
}
