//! Thermal pressure, which the system announces to all programs.
//!
//! Clock rates and temperatures need privileges or private interfaces.

use std::ffi::{CStr, c_char, c_int};
use std::sync::OnceLock;

use oversleep_record::Unavailable;
use oversleep_record::processor::ThermalPressure;

// SAFETY: as <notify.h> declares them, in libSystem.
// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/notify.3.html
unsafe extern "C" {
    fn notify_register_check(name: *const c_char, token: *mut c_int) -> u32;
    fn notify_get_state(token: c_int, state: *mut u64) -> u32;
    fn notify_cancel(token: c_int) -> u32;
}

/// `NOTIFY_STATUS_OK`.
const OK: u32 = 0;
/// The value of `kOSThermalNotificationPressureLevelName` since 10.10:
/// <https://github.com/apple-oss-distributions/Libc/blob/main/include/libkern/OSThermalNotification.h>.
const NAME: &CStr = c"com.apple.system.thermalpressurelevel";

/// A registration for the announcements, made at first use.
#[derive(Default)]
pub(super) struct Announcements(OnceLock<Result<c_int, u32>>);

impl Announcements {
    /// The last announced level. One that was never announced reads as nominal, as in Apple's own
    /// `NSProcessInfo.thermalState`.
    ///
    /// # Errors
    /// The reason if it isn't available.
    pub(super) fn pressure(&self) -> Result<ThermalPressure, Unavailable> {
        let token = self.0.get_or_init(|| {
            let mut token = 0;
            // SAFETY: the name ends with a zero byte, and `token` is writable.
            match unsafe { notify_register_check(NAME.as_ptr(), &raw mut token) } {
                OK => Ok(token),
                status => Err(status),
            }
        });
        let token = token.map_err(|status| failed("notify_register_check", status))?;
        let mut level = 0;
        // SAFETY: the token is registered, and `level` is writable.
        match unsafe { notify_get_state(token, &raw mut level) } {
            OK => pressure_of(level),
            status => Err(failed("notify_get_state", status)),
        }
    }
}

impl Drop for Announcements {
    fn drop(&mut self) {
        if let Some(Ok(token)) = self.0.get() {
            // SAFETY: the token is registered and not used again.
            unsafe { notify_cancel(*token) };
        }
    }
}

fn failed(call: &str, status: u32) -> Unavailable {
    Unavailable::failed(format!("{call} of the thermal pressure"), format!("status {status}"))
}

/// `OSThermalPressureLevel` on macOS; Apple's other systems count in tens.
fn pressure_of(level: u64) -> Result<ThermalPressure, Unavailable> {
    Ok(match level {
        0 => ThermalPressure::Nominal,
        1 => ThermalPressure::Moderate,
        2 => ThermalPressure::Heavy,
        3 => ThermalPressure::Trapping,
        4 => ThermalPressure::Sleeping,
        _ => return Err(Unavailable::Nonsense { what: format!("a thermal pressure level of {level}") }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undeclared_levels_make_no_sense() {
        assert_eq!(pressure_of(0), Ok(ThermalPressure::Nominal));
        assert_eq!(pressure_of(4), Ok(ThermalPressure::Sleeping));
        assert!(pressure_of(5).is_err() && pressure_of(30).is_err());
    }

    #[test]
    fn the_pressure_is_readable() {
        let announcements = Announcements::default();
        assert!(announcements.pressure().is_ok(), "{:?}", announcements.pressure());
        assert!(announcements.pressure().is_ok(), "a second read with one registration");
    }
}
