//! The power source and the power plan. On battery, machines save power at the expense of wake-ups.

use oversleep_record::Unavailable;
use oversleep_record::environment::FactValue;
use windows_sys::Win32::Foundation::{ERROR_SUCCESS, LocalFree};
use windows_sys::Win32::System::Power::{GetSystemPowerStatus, PowerGetActiveScheme, SYSTEM_POWER_STATUS};
use windows_sys::core::GUID;

use super::{Entry, text};
use crate::native::facts::facts;
use crate::windows::{os, processor_state};

pub(super) const FACTS: &[Entry] = facts! {
    PowerPlan: "PowerGetActiveScheme" => || active_plan().map(|plan| text(plan_name(&plan))),
    PowerOnBattery: "GetSystemPowerStatus" => || on_battery().map(FactValue::Flag),
    PowerSource: "GetSystemPowerStatus" => || on_battery().map(|battery| text(if battery { "battery" } else { "ac" })),
    CpufreqMaxHz: "CallNtPowerInformation(ProcessorInformation)" => || {
        let highest = processor_state::rates()?.iter().map(|rates| i64::from(rates.max_mhz) * 1_000_000).max();
        highest.map(FactValue::Integer).ok_or_else(|| Unavailable::missing("a processor's rated clock"))
    },
    CpufreqReading: "CallNtPowerInformation(ProcessorInformation)" =>
        || processor_state::rates().map(|_| text("CurrentMhz")),
    ThermalSensor: "none" => || Err(processor_state::no_temperature()),
};

fn active_plan() -> Result<GUID, Unavailable> {
    let mut plan: *mut GUID = std::ptr::null_mut();
    // SAFETY: `plan` is writable; no key is given, as the call demands.
    // https://learn.microsoft.com/windows/win32/api/powersetting/nf-powersetting-powergetactivescheme
    let error = unsafe { PowerGetActiveScheme(std::ptr::null_mut(), &raw mut plan) };
    if error != ERROR_SUCCESS || plan.is_null() {
        return Err(Unavailable::failed("PowerGetActiveScheme", std::io::Error::from_raw_os_error(error as i32)));
    }
    // SAFETY: the call succeeded, so this is a plan's identifier, ours to free once.
    unsafe {
        let found = *plan;
        LocalFree(plan.cast());
        Ok(found)
    }
}

/// The plans that come with Windows, by their identifiers;
/// <https://learn.microsoft.com/windows-hardware/customize/power-settings/options-for-managing-windows-power-settings>
/// and `powercfg /list`. People name other plans, so those names aren't read.
fn plan_name(plan: &GUID) -> &'static str {
    match (plan.data1, plan.data2, plan.data3) {
        (0x381b_4222, 0xf694, 0x41f0) => "balanced",
        (0x8c5e_7fda, 0xe8bf, 0x4a96) => "high performance",
        (0xa184_1308, 0x3541, 0x4fab) => "power saver",
        (0xe9a4_2b02, 0xd5df, 0x448d) => "ultimate performance",
        _ => "custom",
    }
}

fn on_battery() -> Result<bool, Unavailable> {
    let mut status = SYSTEM_POWER_STATUS::default();
    // SAFETY: `status` is writable.
    // https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-getsystempowerstatus
    if unsafe { GetSystemPowerStatus(&raw mut status) } == 0 {
        return Err(os::failed("GetSystemPowerStatus"));
    }
    by_line_status(status.ACLineStatus)
}

fn by_line_status(status: u8) -> Result<bool, Unavailable> {
    match status {
        0 => Ok(true),
        1 => Ok(false),
        _ => Err(Unavailable::missing("a power supply that reports its state")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_own_plans_are_named_and_others_are_not() {
        assert_eq!(plan_name(&GUID::from_u128(0x381b4222_f694_41f0_9685_ff5bb260df2e)), "balanced");
        assert_eq!(plan_name(&GUID::from_u128(0x8c5e7fda_e8bf_4a96_9a85_a6e23a8c635c)), "high performance");
        assert_eq!(plan_name(&GUID::from_u128(0xa1841308_3541_4fab_bc81_f71556f20b4a)), "power saver");
        assert_eq!(plan_name(&GUID::from_u128(0xe9a42b02_d5df_448d_aa00_03f14749eb61)), "ultimate performance");
        assert_eq!(plan_name(&GUID::from_u128(1)), "custom");
    }

    #[test]
    fn an_unknown_line_status_is_a_reason() {
        assert_eq!((by_line_status(0), by_line_status(1)), (Ok(true), Ok(false)));
        assert!(by_line_status(255).is_err());
    }
}
