//! The libraries through which a program reads clocks and waits: the C library, and oversleep.

use oversleep_record::environment::FactValue;

use super::{Answer, Entry, text};
use crate::native::facts::facts;

pub(super) const FACTS: &[Entry] = facts! {
    LibcName: "build" => |_| {
        Ok(text(if cfg!(target_env = "musl") {
            "musl"
        } else if cfg!(target_env = "gnu") {
            "glibc"
        } else {
            "other"
        }))
    },
    OversleepClock: "oversleep::Clock::why" => |_| Ok(FactValue::Text(oversleep::Clock::why().to_string())),
    LibcVersion: "gnu_get_libc_version" => |_| version(),
};

#[cfg(target_env = "gnu")]
fn version() -> Answer {
    // SAFETY: returns a constant string that ends with a zero byte.
    let version = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
    Ok(FactValue::Text(version.to_string_lossy().into_owned()))
}

#[cfg(not(target_env = "gnu"))]
fn version() -> Answer {
    Err(oversleep_record::Unavailable::missing("a run-time version of this C library"))
}
