//! How a call ended, from what it returned, and why it did not work.

use oversleep_system::{WaitEnd, WaitInfo};

use crate::macos::os::{self, KernReturn};

pub(super) use crate::unix::waits::{errno, too_long};

/// How a wait ended whose call failed with `errno`; `timed_out` is the error that means that its time was up.
pub(super) fn ended(info: &'static WaitInfo, errno: i32, timed_out: i32) -> WaitEnd {
    if errno == timed_out {
        WaitEnd::TimedOut
    } else if errno == libc::EINTR {
        WaitEnd::Interrupted
    } else {
        WaitEnd::Failed(os::failed_with(info.call, errno))
    }
}

/// How a wait ended whose call returns 0 when its time is up and −1 otherwise.
pub(super) fn ended_by_zero(info: &'static WaitInfo, returned: i32) -> WaitEnd {
    if returned == 0 { WaitEnd::TimedOut } else { ended(info, errno(), 0) }
}

/// How a Mach wait ended, where `timed_out` is the number that means it worked.
pub(super) fn mach_ended(info: &'static WaitInfo, returned: KernReturn, timed_out: KernReturn) -> WaitEnd {
    match returned {
        _ if returned == timed_out => WaitEnd::TimedOut,
        // Something woke it before the time was up, or a signal did.
        os::SUCCESS | os::ABORTED => WaitEnd::Interrupted,
        error => WaitEnd::Failed(os::mach_failed(info.call, error)),
    }
}
