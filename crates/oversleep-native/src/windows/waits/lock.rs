//! Timed waits for another thread, which never comes.

use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::sync::atomic::AtomicU32;

use oversleep_system::{Target, WaitEnd, WaitInfo, Waiter, waits};
use windows_sys::Win32::System::Threading::{
    AcquireSRWLockExclusive, CONDITION_VARIABLE, CONDITION_VARIABLE_INIT, CRITICAL_SECTION, DeleteCriticalSection,
    EnterCriticalSection, InitializeCriticalSection, LeaveCriticalSection, ReleaseSRWLockExclusive, SRWLOCK,
    SRWLOCK_INIT, SleepConditionVariableCS, SleepConditionVariableSRW,
};

use super::args;
use super::entry::{ended_unless_woken, proved_at_once, too_long};
use crate::native::waits::calls;
use crate::windows::os::Newer;

calls! { waits::WINDOWS;
    SLEEP_CONDITION_VARIABLE_CS = "sleep-condition-variable-cs" => proved_at_once(WithSection::new()),
    SLEEP_CONDITION_VARIABLE_SRW = "sleep-condition-variable-srw" => {
        let parts =
            SlimParts { lock: UnsafeCell::new(SRWLOCK_INIT), condition: UnsafeCell::new(CONDITION_VARIABLE_INIT) };
        proved_at_once(WithSlimLock(Box::new(parts)))
    },
    WAIT_ON_ADDRESS = "wait-on-address" => {
        proved_at_once(Address { call: WAIT_ON_ADDRESS_CALL.required()?, word: AtomicU32::new(0) })
    },
}

/// Both must not move while in use.
struct SectionParts {
    section: UnsafeCell<CRITICAL_SECTION>,
    condition: UnsafeCell<CONDITION_VARIABLE>,
}

struct WithSection(Box<SectionParts>);

impl WithSection {
    fn new() -> WithSection {
        let parts = Box::new(SectionParts {
            section: UnsafeCell::default(),
            condition: UnsafeCell::new(CONDITION_VARIABLE_INIT),
        });
        // SAFETY: its place is valid and final. It doesn't fail since Windows Vista.
        // https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-initializecriticalsection
        unsafe { InitializeCriticalSection(parts.section.get()) };
        WithSection(parts)
    }
}

impl Waiter for WithSection {
    fn wait(&mut self, target: Target) -> WaitEnd {
        let info = SLEEP_CONDITION_VARIABLE_CS;
        let Some(millis) = args::millis(info, target.remaining) else { return too_long(info) };
        let (section, condition) = (self.0.section.get(), self.0.condition.get());
        // SAFETY: both are initialised, at their final address and used by this thread alone, which holds the section
        // around the wait. Leaving it doesn't touch the error left.
        // https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-sleepconditionvariablecs
        unsafe {
            EnterCriticalSection(section);
            let end = ended_unless_woken(info, SleepConditionVariableCS(condition, section, millis));
            LeaveCriticalSection(section);
            end
        }
    }
}

impl Drop for WithSection {
    fn drop(&mut self) {
        // SAFETY: initialised, held by nobody, and not used again.
        // https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-deletecriticalsection
        unsafe { DeleteCriticalSection(self.0.section.get()) };
    }
}

/// Both must not move while in use.
struct SlimParts {
    lock: UnsafeCell<SRWLOCK>,
    condition: UnsafeCell<CONDITION_VARIABLE>,
}

struct WithSlimLock(Box<SlimParts>);

impl Waiter for WithSlimLock {
    fn wait(&mut self, target: Target) -> WaitEnd {
        let info = SLEEP_CONDITION_VARIABLE_SRW;
        let Some(millis) = args::millis(info, target.remaining) else { return too_long(info) };
        let (lock, condition) = (self.0.lock.get(), self.0.condition.get());
        // SAFETY: both are initialised, at their final address and used by this thread alone, which holds the lock
        // exclusively around the wait.
        // https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-sleepconditionvariablesrw
        unsafe {
            AcquireSRWLockExclusive(lock);
            let end = ended_unless_woken(info, SleepConditionVariableSRW(condition, lock, millis, 0));
            ReleaseSRWLockExclusive(lock);
            end
        }
    }
}

/// Waits while the words at both addresses are equal.
pub(in crate::windows) type WaitOnAddress =
    unsafe extern "system" fn(address: *const c_void, compare: *const c_void, size: usize, millis: u32) -> i32;

// SAFETY: the type of the call. https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-waitonaddress
pub(in crate::windows) static WAIT_ON_ADDRESS_CALL: Newer<WaitOnAddress> =
    unsafe { Newer::new(c"api-ms-win-core-synch-l1-2-0.dll", c"WaitOnAddress", "Windows 8") };

struct Address {
    call: WaitOnAddress,
    word: AtomicU32,
}

impl Waiter for Address {
    fn wait(&mut self, target: Target) -> WaitEnd {
        let info = WAIT_ON_ADDRESS;
        let Some(millis) = args::millis(info, target.remaining) else { return too_long(info) };
        let undesired = 0_u32;
        // SAFETY: both addresses hold the four bytes told, for as long as the call lasts.
        // https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-waitonaddress
        let woken =
            unsafe { (self.call)(self.word.as_ptr().cast(), (&raw const undesired).cast(), size_of::<u32>(), millis) };
        ended_unless_woken(info, woken)
    }
}

#[cfg(test)]
mod tests {
    use super::super::conformance::check;
    use super::*;

    #[test]
    fn sleep_condition_variable_cs_conforms() {
        check(SLEEP_CONDITION_VARIABLE_CS);
    }

    #[test]
    fn sleep_condition_variable_srw_conforms() {
        check(SLEEP_CONDITION_VARIABLE_SRW);
    }

    #[test]
    fn wait_on_address_conforms() {
        check(WAIT_ON_ADDRESS);
    }
}
