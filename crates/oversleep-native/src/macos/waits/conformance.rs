//! The check of a wait on macOS, where older systems lack some calls.

use oversleep_record::Unavailable;
use oversleep_system::WaitInfo;

use crate::macos::{os, sysctl};
use crate::native::paired::call_of;
use crate::native::wait_conformance::{exercise, on_a_thread};

pub(super) use crate::native::wait_conformance::NeverEarly;

/// Checks the wait of `info`, in a thread of its own.
pub(super) fn check(info: &'static WaitInfo, never_early: NeverEarly) {
    let open = call_of(super::CALLS, info.name).expect("paired");
    on_a_thread(move || match open() {
        Ok(mut waiter) => exercise(info, open, waiter.as_mut(), never_early, os::now),
        Err(reason) => may_lack(info, &reason),
    });
}

/// Fails where the system is new enough for the call: without this, a misspelt name would look like an older system.
fn may_lack(info: &WaitInfo, reason: &Unavailable) {
    let numbers = |version: &str| -> Vec<u32> {
        version.split(|sign: char| !sign.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
    };
    let here = sysctl::text("kern.osproductversion").unwrap_or_default();
    assert!(numbers(&here) < numbers(info.since), "{} is not here (macOS {here}): {reason}", info.name);
    oversleep_testing::skip(format!("{}: {reason}", info.name));
}
