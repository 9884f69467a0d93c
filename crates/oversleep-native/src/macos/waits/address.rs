//! The timed wait on a word of memory, looked up at run time: older systems lack it.

use std::sync::atomic::AtomicU32;

use oversleep_record::{Nanos, Unavailable};
use oversleep_system::{Target, WaitEnd, WaitInfo, Waiter, waits};

use super::args;
use super::entry::proved;
use super::reason::{ended, errno};
use crate::macos::os;
use crate::native::waits::calls;

calls! { waits::MACOS;
    WAIT_ON_ADDRESS = "wait-on-address" => OnAddress::open().and_then(proved),
}

/// The word, its expected value, its size in bytes, flags, clock, nanoseconds.
type OnAddressCall = unsafe extern "C" fn(*mut libc::c_void, u64, usize, u32, u32, u64) -> libc::c_int;

struct OnAddress {
    call: OnAddressCall,
    word: Box<AtomicU32>,
}

impl OnAddress {
    fn open() -> Result<OnAddress, Unavailable> {
        let found = os::function(c"os_sync_wait_on_address_with_timeout", WAIT_ON_ADDRESS.since)?;
        // SAFETY: the function of that name has this signature in <os/os_sync_wait_on_address.h>.
        let call = unsafe { std::mem::transmute::<*mut libc::c_void, OnAddressCall>(found) };
        Ok(OnAddress { call, word: Box::new(AtomicU32::new(0)) })
    }
}

impl Waiter for OnAddress {
    fn wait(&mut self, target: Target) -> WaitEnd {
        // The call refuses a timeout of zero.
        if target.remaining <= Nanos::ZERO {
            return WaitEnd::TimedOut;
        }
        let timeout = args::nanos(WAIT_ON_ADDRESS, target.remaining).0 as u64;
        let (word, size) = (self.word.as_ptr().cast(), size_of::<u32>());
        let (flags, clock) = (libc::OS_SYNC_WAIT_ON_ADDRESS_NONE, libc::OS_CLOCK_MACH_ABSOLUTE_TIME);
        // SAFETY: the word is valid for as long as this lives, and it holds the value that is expected.
        let waiters = unsafe { (self.call)(word, 0, size, flags, clock, timeout) };
        if waiters >= 0 { WaitEnd::Interrupted } else { ended(WAIT_ON_ADDRESS, errno(), libc::ETIMEDOUT) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::conformance::{NeverEarly, check};
    use super::*;

    #[test]
    fn wait_on_address_conforms() {
        check(WAIT_ON_ADDRESS, NeverEarly::Holds);
    }
}
