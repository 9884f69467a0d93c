//! The steps of Windows's coarse clocks.

use oversleep_record::Nanos;
use windows_sys::Win32::System::SystemInformation::GetSystemTimeAdjustment;

use crate::windows::os;

/// The effective timer resolution: the step of clocks that show the last timer interrupt.
pub(super) fn timer_resolution() -> Option<Nanos> {
    os::timer_periods().ok().map(|periods| periods.now)
}

/// The step of a clock in milliseconds, whose unit hides finer steps.
pub(super) fn timer_resolution_in_milliseconds() -> Option<Nanos> {
    timer_resolution().map(|period| period.max(Nanos::from_millis(1)))
}

/// The period of the clock interrupt that advances the system time and the tick count.
pub(in crate::windows) fn clock_interrupt_period() -> Option<Nanos> {
    let (mut adjustment, mut increment, mut disabled) = (0, 0, 0);
    // SAFETY: the three numbers are valid to write to.
    // https://learn.microsoft.com/windows/win32/api/sysinfoapi/nf-sysinfoapi-getsystemtimeadjustment
    let result = unsafe { GetSystemTimeAdjustment(&raw mut adjustment, &raw mut increment, &raw mut disabled) };
    (result != 0 && increment > 0).then_some(Nanos(i64::from(increment) * 100))
}
