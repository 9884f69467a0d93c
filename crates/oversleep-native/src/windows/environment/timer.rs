//! Timers: the period of the clock interrupt and who decides it, high-resolution timers, the performance counter.

use oversleep_record::environment::FactValue;
use oversleep_record::{Nanos, Unavailable};
use windows_sys::Win32::Foundation::CloseHandle;
use windows_sys::Win32::System::Threading::{
    CREATE_WAITABLE_TIMER_HIGH_RESOLUTION, CreateWaitableTimerExW, TIMER_ALL_ACCESS,
};

use super::{Entry, registry, system, text};
use crate::native::facts::facts;
use crate::processor::tsc;
use crate::windows::os;

pub(super) const FACTS: &[Entry] = facts! {
    TimerPeriodDefault: "NtQueryTimerResolution" =>
        || os::timer_periods().map(|periods| FactValue::Nanos(periods.default)),
    TimerPeriodMin: "NtQueryTimerResolution" =>
        || os::timer_periods().map(|periods| FactValue::Nanos(periods.shortest)),
    TimerPeriodNow: "NtQueryTimerResolution" => || os::timer_periods().map(|periods| FactValue::Nanos(periods.now)),
    TimerIncrement: "GetSystemTimeAdjustment" => || increment().map(FactValue::Nanos),
    TimerGlobalRequests: "registry, GlobalTimerResolutionRequests" =>
        || as_windows_does(global_requests()?).map(FactValue::Flag),
    TimerRequestsPerProcess: "RtlGetVersion; registry, GlobalTimerResolutionRequests" =>
        || as_windows_does(per_process(system::version()?.build, global_requests()?)).map(FactValue::Flag),
    TimerHighResolution: "CreateWaitableTimerExW(CREATE_WAITABLE_TIMER_HIGH_RESOLUTION), tried" =>
        || match system::wine_version() {
            // Wine accepts the flag and ignores it.
            Some(version) => Err(Unavailable::failed("CreateWaitableTimerExW", system::emulated(&version))),
            None => Ok(FactValue::Flag(high_resolution_timers().is_ok())),
        },
    QpcFrequencyHz: "QueryPerformanceFrequency" =>
        || Ok(FactValue::Integer(i64::try_from(os::performance_frequency()).unwrap_or(i64::MAX))),
    QpcLikelySource: "QueryPerformanceFrequency, CPUID" => || match system::wine_version() {
        // Wine's frequency is constant, whatever its host's clock is based on.
        Some(version) => Err(Unavailable::failed("QueryPerformanceFrequency", system::emulated(&version))),
        None => likely_source(os::performance_frequency(), tsc::invariant() == Ok(true), is_guest()).map(text),
    },
};

fn increment() -> Result<Nanos, Unavailable> {
    let step = crate::windows::clocks::clock_interrupt_period();
    step.ok_or_else(|| os::failed("GetSystemTimeAdjustment"))
}

/// Whether this machine is a guest. A host that runs Hyper-V is not.
#[cfg(target_arch = "x86_64")]
fn is_guest() -> bool {
    crate::processor::cpuid::hypervisor() != "none"
}

/// On other architectures the counter is the architecture's own.
#[cfg(not(target_arch = "x86_64"))]
fn is_guest() -> bool {
    false
}

/// A rule of Windows. Wine imitates a build, but follows no such rule.
fn as_windows_does(rule: bool) -> Result<bool, Unavailable> {
    match system::wine_version() {
        Some(version) => Err(Unavailable::failed("NtSetTimerResolution", system::emulated(&version))),
        None => Ok(rule),
    }
}

/// The setting that revokes the rule of Windows 10 2004; absent unless somebody set it.
/// <https://learn.microsoft.com/windows/win32/api/timeapi/nf-timeapi-timebeginperiod> documents the rule. The setting
/// is only reported: <https://randomascii.wordpress.com/2020/10/04/windows-timer-resolution-the-great-rule-change>,
/// comments.
pub(in crate::windows) fn global_requests() -> Result<bool, Unavailable> {
    let key = "SYSTEM\\CurrentControlSet\\Control\\Session Manager\\kernel";
    Ok(registry::machine_number(key, "GlobalTimerResolutionRequests")?.is_some_and(|setting| setting != 0))
}

/// First build of Windows 10 2004.
const PER_PROCESS_SINCE: u32 = 19_041;
/// First build that is reported to know the setting: Server 2022, and so Windows 11.
const SETTING_SINCE: u32 = 20_348;

pub(in crate::windows) fn per_process(build: u32, global_requests: bool) -> bool {
    build >= PER_PROCESS_SINCE && !(global_requests && build >= SETTING_SINCE)
}

/// Checks for high-resolution timers.
///
/// # Errors
/// The version that introduced them.
pub(in crate::windows) fn high_resolution_timers() -> Result<(), Unavailable> {
    let flag = CREATE_WAITABLE_TIMER_HIGH_RESOLUTION;
    // SAFETY: no attributes and no name are given. An older system refuses the flag.
    // https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-createwaitabletimerexw
    let timer = unsafe { CreateWaitableTimerExW(std::ptr::null(), std::ptr::null(), flag, TIMER_ALL_ACCESS) };
    if timer.is_null() {
        return Err(Unavailable::TooOld { needs: "Windows 10 1803".to_owned() });
    }
    // SAFETY: just created, and closed once.
    unsafe { CloseHandle(timer) };
    Ok(())
}

/// <https://learn.microsoft.com/windows/win32/sysinfo/acquiring-high-resolution-time-stamps> lists the sources. From an
/// invariant TSC Windows derives a counter of 10 MHz, in older versions of the TSC's rate divided by 1024. The other
/// sources have fixed rates.
fn likely_source(hz: u64, invariant_tsc: bool, is_virtual: bool) -> Result<&'static str, Unavailable> {
    if cfg!(target_arch = "aarch64") {
        return Ok("generic-timer");
    }
    match hz {
        3_579_545 => Ok("acpi-pm"),
        // Units of 100 ns, with or without the TSC.
        10_000_000 if is_virtual => Ok("hypervisor-reference-counter"),
        10_000_000 | 1_000_001..3_500_000 | 3_600_000..10_000_000 if invariant_tsc => Ok("tsc"),
        14_318_180 => Ok("hpet"),
        _ => Err(Unavailable::Nonsense { what: format!("no known source has a performance counter of {hz} Hz") }),
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::FactName;

    use super::*;

    #[test]
    fn whom_a_request_reaches_is_a_fact_of_windows_only() {
        for name in [FactName::TimerRequestsPerProcess, FactName::TimerGlobalRequests] {
            let fact = FACTS.iter().find(|fact| fact.name == name).expect("a fact");
            assert_eq!((fact.read)().is_ok(), system::wine_version().is_none(), "{name}");
        }
    }

    #[test]
    fn requests_count_per_process_since_2004_unless_set_otherwise() {
        assert!(!per_process(18_363, false));
        assert!(per_process(19_041, false));
        assert!(per_process(19_045, true), "Windows 10 does not know the setting");
        assert!(per_process(22_631, false));
        assert!(!per_process(22_631, true));
        assert!(!per_process(20_348, true));
    }

    #[test]
    fn wines_counter_and_timers_say_nothing_about_windows() {
        for name in [FactName::QpcLikelySource, FactName::TimerHighResolution] {
            let fact = (FACTS.iter().find(|fact| fact.name == name).expect("listed").read)();
            assert!(fact.is_err() || system::wine_version().is_none(), "{name} {fact:?}");
        }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn the_counters_rate_reveals_its_source() {
        assert_eq!(likely_source(10_000_000, true, false), Ok("tsc"));
        assert_eq!(likely_source(10_000_000, true, true), Ok("hypervisor-reference-counter"));
        assert_eq!(likely_source(3_328_125, true, false), Ok("tsc"));
        assert_eq!(likely_source(3_579_545, true, false), Ok("acpi-pm"));
        assert_eq!(likely_source(14_318_180, true, false), Ok("hpet"));
        assert!(likely_source(10_000_000, false, false).is_err());
        assert!(likely_source(1, true, false).is_err());
    }
}
