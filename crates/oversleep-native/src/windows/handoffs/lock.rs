//! Hand-offs through memory, which enter the kernel only where a thread sleeps or is woken.

use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use oversleep_system::Handoff;
use windows_sys::Win32::System::Threading::{
    AcquireSRWLockExclusive, CONDITION_VARIABLE, CONDITION_VARIABLE_INIT, INFINITE, ReleaseSRWLockExclusive, SRWLOCK,
    SRWLOCK_INIT, SleepConditionVariableSRW, WakeConditionVariable,
};

use super::{Call, expect, take};
use crate::windows::os::Newer;
use crate::windows::waits::{WAIT_ON_ADDRESS_CALL, WaitOnAddress};

pub(super) const CALLS: &[Call] = &[
    ("condvar", || {
        Ok(Arc::new(Condition {
            lock: UnsafeCell::new(SRWLOCK_INIT),
            condition: UnsafeCell::new(CONDITION_VARIABLE_INIT),
            count: UnsafeCell::new(0),
        }))
    }),
    ("wait-on-address", || {
        let (wait, wake) = (WAIT_ON_ADDRESS_CALL.required()?, WAKE.required()?);
        Ok(Arc::new(Address { count: AtomicU32::new(0), wait, wake }))
    }),
];

/// Lock and condition must not move while in use, and an `Arc`'s contents don't.
struct Condition {
    lock: UnsafeCell<SRWLOCK>,
    condition: UnsafeCell<CONDITION_VARIABLE>,
    /// Only touched under the lock.
    count: UnsafeCell<u64>,
}

// SAFETY: lock and condition are made for several threads and touched through their calls only; the count is under the
// lock.
unsafe impl Send for Condition {}
// SAFETY: as above.
unsafe impl Sync for Condition {}

impl Handoff for Condition {
    fn post(&self) {
        // SAFETY: both are initialised and at their final address; the count is touched under the lock.
        // https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-wakeconditionvariable
        unsafe {
            AcquireSRWLockExclusive(self.lock.get());
            *self.count.get() += 1;
            ReleaseSRWLockExclusive(self.lock.get());
            WakeConditionVariable(self.condition.get());
        }
    }

    fn wait(&self) {
        // SAFETY: as above; the lock is held exclusively around the wait, which gives it back held.
        // https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-sleepconditionvariablesrw
        unsafe {
            AcquireSRWLockExclusive(self.lock.get());
            while *self.count.get() == 0 {
                let woken = SleepConditionVariableSRW(self.condition.get(), self.lock.get(), INFINITE, 0);
                expect(woken != 0, "SleepConditionVariableSRW");
            }
            *self.count.get() -= 1;
            ReleaseSRWLockExclusive(self.lock.get());
        }
    }
}

type WakeByAddress = unsafe extern "system" fn(address: *const c_void);

// SAFETY: the type of the call. https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-wakebyaddresssingle
static WAKE: Newer<WakeByAddress> =
    unsafe { Newer::new(c"api-ms-win-core-synch-l1-2-0.dll", c"WakeByAddressSingle", "Windows 8") };

struct Address {
    count: AtomicU32,
    wait: WaitOnAddress,
    wake: WakeByAddress,
}

impl Handoff for Address {
    fn post(&self) {
        self.count.fetch_add(1, Ordering::Release);
        // SAFETY: the address is not looked at; waiters on it are found by it.
        // https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-wakebyaddresssingle
        unsafe { (self.wake)(self.count.as_ptr().cast()) };
    }

    fn wait(&self) {
        let none = 0_u32;
        while !take(&self.count) {
            // SAFETY: both addresses hold the four bytes told, for as long as the call lasts. Whatever ended it, the
            // count decides. https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-waitonaddress
            unsafe {
                (self.wait)(self.count.as_ptr().cast(), (&raw const none).cast(), size_of::<u32>(), INFINITE);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::handoff_conformance::check;
    use crate::native::paired::call_of;

    #[test]
    fn condvar_conforms() {
        check(call_of(super::super::CALLS, "condvar").expect("paired"));
    }

    #[test]
    fn wait_on_address_conforms() {
        check(call_of(super::super::CALLS, "wait-on-address").expect("paired"));
    }
}
