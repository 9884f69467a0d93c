//! What a result states about its machine, as derived from facts.

use oversleep_record::conditions::{Outcome, Setting};
use oversleep_record::environment::FactValue;
use oversleep_record::series::Status;
use oversleep_record::{ExperimentId, FactName, Nanos, ResultFile, Series, Unavailable};

use crate::entry::{Checked, Conclusion};
use crate::figures::median_of;
use crate::names::{HIGH_RESOLUTION_TIMER, MONOTONIC, MONOTONIC_SYSCALL, tunable};
use crate::read::of_key;

/// Inconclusive for lack of a fact, with the reason if the result has one: `what` is the fact in words.
pub(crate) fn unknown(file: &ResultFile, name: FactName, what: &str) -> Conclusion {
    let reason = match file.environment.facts.get(name.as_str()).map(|fact| &fact.value) {
        Some(FactValue::Unknown(reason)) => reason.to_string(),
        _ => "this result does not record it".to_owned(),
    };
    Conclusion::lacks(format!("{what} is not available ({name}): {reason}"))
}

/// A fact that a check requires.
pub(crate) fn known<T>(file: &ResultFile, name: FactName, what: &str, value: Option<T>) -> Checked<T> {
    value.ok_or_else(|| unknown(file, name, what))
}

/// The version of Wine a result for Windows was taken under. Its figures are those of Wine on its host.
pub(crate) fn wine_version(file: &ResultFile) -> Option<&str> {
    file.environment.text(FactName::OsWineVersion)
}

/// Whether a policy (with or without its priority) is a real-time one.
pub(crate) fn is_real_time(policy: &str) -> bool {
    matches!(policy.split(':').next(), Some("fifo" | "rr" | "deadline"))
}

/// Whether the process that measured ran under a real-time policy by itself.
pub(crate) fn is_real_time_as_found(file: &ResultFile) -> bool {
    file.environment.text(FactName::SchedPolicy).is_some_and(is_real_time)
}

/// Whether the kernel is Linux, which it isn't under WSL 1, where Linux calls are translated into those of Windows.
pub(crate) fn is_linux_kernel(file: &ResultFile) -> bool {
    file.environment.text(FactName::VirtualisationWsl) != Some("wsl1")
}

/// The same, and the program doesn't run under a real-time policy already.
pub(crate) fn is_ordinary_thread(file: &ResultFile) -> bool {
    is_linux_kernel(file) && !is_real_time_as_found(file)
}

/// The same, and the program's timers may have slack.
pub(crate) fn may_have_slack(file: &ResultFile) -> bool {
    is_ordinary_thread(file) && file.environment.nanos(FactName::TimerSlack).is_none_or(|slack| slack > Nanos(1))
}

/// Whether this Windows may have high-resolution timers: neither the fact nor a series says that it is too old.
pub(crate) fn may_have_high_resolution_timers(file: &ResultFile) -> bool {
    let is_too_old = |series: &Series| {
        series.subject == HIGH_RESOLUTION_TIMER
            && matches!(series.status, Status::Unavailable { reason: Unavailable::TooOld { .. } })
    };
    file.environment.flag(FactName::TimerHighResolution) != Some(false) && !file.series.iter().any(is_too_old)
}

/// The timer slack of the measuring thread as found.
pub(crate) fn slack_as_found(file: &ResultFile) -> Option<Nanos> {
    file.environment.nanos(FactName::TimerSlack)
}

/// The timer slack that held while a series was measured: requested, or as found; zero under a real-time policy.
pub(crate) fn slack_during(file: &ResultFile, series: &Series) -> Option<Nanos> {
    let held = |name: &str| series.conditions.outcomes.get(name).is_some_and(Outcome::holds);
    let policy = match series.conditions.setting(tunable::POLICY) {
        Some(Setting::Policy { policy, .. }) if held(tunable::POLICY) => policy.as_str(),
        _ => file.environment.text(FactName::SchedPolicy).unwrap_or("other"),
    };
    if is_real_time(policy) {
        return Some(Nanos::ZERO);
    }
    match series.conditions.setting(tunable::SLACK) {
        Some(Setting::Nanos(slack)) if held(tunable::SLACK) => Some(*slack),
        _ => slack_as_found(file),
    }
}

/// The system's tick: the step of the coarse clock, else 1/HZ, else the default tick of Windows.
pub(crate) fn tick(file: &ResultFile) -> Option<Nanos> {
    let of_hz = || hz(file).map(|hz| Nanos(1_000_000_000 / hz));
    let environment = &file.environment;
    environment
        .nanos(FactName::TimerCoarseStep)
        .or_else(of_hz)
        .or_else(|| environment.nanos(FactName::TimerPeriodDefault))
}

/// The kernel's HZ, if it is plausible.
pub(crate) fn hz(file: &ResultFile) -> Option<i64> {
    file.environment.integer(FactName::TimerHz).filter(|&hz| hz > 0)
}

/// Major and minor of the kernel's release: `6.18.5-cloud` → (6, 18).
pub(crate) fn kernel_version(file: &ResultFile) -> Option<(u32, u32)> {
    let mut numbers = file.environment.text(FactName::KernelRelease)?.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// A clock read that contains a system call costs at least as much as the call alone: less a twenty-fifth or 20 ns, by
/// which two measurements differ. One in user space saves more than that even where the counter itself is slow: on Linux
/// 4.5, whose vDSO reads the HPET, 565 ns beside 618.
fn contains_a_call(read: i64, call: i64) -> bool {
    const APART_PS: i64 = 20_000;
    call - read <= APART_PS.max(call / 25)
}

/// Whether a read of the system's clock is a system call here: by what it costs, otherwise as the system states it.
pub fn is_clock_a_system_call(file: &ResultFile) -> Option<bool> {
    let read = of_key(file, ExperimentId::A1, MONOTONIC).ok();
    let costs = read.zip(of_key(file, ExperimentId::A1, MONOTONIC_SYSCALL).ok());
    let measured = costs.map(|(read, call)| contains_a_call(median_of(read), median_of(call)));
    measured.or_else(|| file.environment.flag(FactName::ClocksourceVdso).map(|is_in_vdso| !is_in_vdso))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Sheet, rounds};

    #[test]
    fn slack_is_what_held_not_what_was_found() {
        let sheet = Sheet::linux().span(FactName::TimerSlack, 50_000);
        let during = |key: &str| slack_during(&sheet.file, &rounds(key, &[1; 4], 20));
        assert_eq!(during("B5/nanosleep/1ms"), Some(Nanos(50_000)));
        assert_eq!(during("C2/nanosleep/1ms/slack=1ns"), Some(Nanos(1)));
        assert_eq!(during("B8/nanosleep/1ms/policy=fifo:1"), Some(Nanos::ZERO));
    }

    #[test]
    fn a_slow_counter_read_in_user_space_is_no_system_call() {
        let costs = |read: i64, call: i64| {
            let sheet =
                Sheet::linux().steady("A1/monotonic", read * 1_000).steady("A1/monotonic-syscall", call * 1_000);
            is_clock_a_system_call(&sheet.file)
        };
        assert_eq!(costs(565, 618), Some(false));
        assert_eq!(costs(24, 70), Some(false));
        for (read, call) in [(1_200, 1_230), (912, 875), (61, 65)] {
            assert_eq!(costs(read, call), Some(true), "{read} {call}");
        }
    }

    #[test]
    fn reads_the_kernel_version() {
        let version = |release: &str| kernel_version(&Sheet::linux().text(FactName::KernelRelease, release).file);
        assert_eq!(version("6.18.5-cloud-amd64"), Some((6, 18)));
        assert_eq!(version("6.1-rc3"), Some((6, 1)));
        assert_eq!(version("mystery"), None);
    }

    #[test]
    fn a_missing_fact_says_why_it_is_missing() {
        let says = |sheet: Sheet| unknown(&sheet.file, FactName::TimerHz, "the kernel's HZ").sentence;
        assert_eq!(says(Sheet::linux()), "the kernel's HZ is not available (timer.hz): this result does not record it");
        let hidden =
            Sheet::linux().fact(FactName::TimerHz, FactValue::Unknown(Unavailable::missing("/proc/config.gz")));
        assert_eq!(says(hidden), "the kernel's HZ is not available (timer.hz): /proc/config.gz is missing");
    }
}
