//! Mach's thread policies. Setting one costs the thread its service class.
//!
//! The kernel takes a thread out of the service classes when any policy is set on it (`thread_policy_set` in xnu's
//! osfmk/kern/thread_policy.c). A guard therefore notes the class beforehand and puts it back afterwards.

use std::ffi::c_int;

use crate::macos::os::{self, KernReturn};

/// Sets a policy of the calling thread, given in its words.
pub(super) fn set(flavor: c_int, words: &[i32]) -> KernReturn {
    // The call takes a mutable pointer to what it only reads, also for a policy without words.
    let mut copy = [0; 4];
    let count = words.len().min(copy.len());
    copy[..count].copy_from_slice(&words[..count]);
    // SAFETY: there are as many words as stated, and the port is the calling thread's.
    // https://developer.apple.com/library/archive/documentation/Darwin/Conceptual/KernelProgramming/scheduler/scheduler.html
    unsafe { libc::thread_policy_set(os::thread(), flavor as u32, copy.as_mut_ptr(), count as u32) }
}

/// Reads a policy of the calling thread into its words. Returns whether it is the default and was never set.
pub(super) fn get(flavor: c_int, words: &mut [i32]) -> Result<bool, KernReturn> {
    let mut count = words.len() as u32;
    let mut is_default = 0;
    // SAFETY: there is room for as many words as stated, and the port is the calling thread's.
    let result = unsafe {
        libc::thread_policy_get(os::thread(), flavor as u32, words.as_mut_ptr(), &raw mut count, &raw mut is_default)
    };
    if result == os::SUCCESS { Ok(is_default != 0) } else { Err(result) }
}

// SAFETY: as <pthread/qos.h> declares them, with the classes as numbers: a class this program doesn't know may come back.
unsafe extern "C" {
    // https://developer.apple.com/library/archive/documentation/Performance/Conceptual/power_efficiency_guidelines_osx/PrioritizeWorkAtTheTaskLevel.html
    fn pthread_get_qos_class_np(thread: libc::pthread_t, class: *mut u32, relative: *mut c_int) -> c_int;
    fn pthread_set_qos_class_self_np(class: u32, relative: c_int) -> c_int;
}

/// A service class with its relative priority, 0 to −15.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Class {
    pub(super) number: u32,
    pub(super) relative: c_int,
}

impl Class {
    /// `QOS_CLASS_UNSPECIFIED`: the thread is in none.
    pub(super) const NONE: u32 = 0;

    /// The calling thread's, as the thread library knows it; the library doesn't notice when a policy takes it away.
    pub(super) fn current() -> Result<Class, c_int> {
        let mut class = Class { number: Class::NONE, relative: 0 };
        // SAFETY: the calling thread exists, and there is room for both numbers.
        let error =
            unsafe { pthread_get_qos_class_np(libc::pthread_self(), &raw mut class.number, &raw mut class.relative) };
        if error == 0 { Ok(class) } else { Err(error) }
    }

    /// Puts the calling thread into it.
    pub(super) fn enter(self) -> Result<(), c_int> {
        // SAFETY: takes numbers.
        match unsafe { pthread_set_qos_class_self_np(self.number, self.relative) } {
            0 => Ok(()),
            error => Err(error),
        }
    }
}

/// The class that the calling thread had when this was made; dropping this restores it.
pub(super) struct FormerClass(Option<Class>);

impl FormerClass {
    pub(super) fn note() -> FormerClass {
        FormerClass(Class::current().ok().filter(|class| class.number != Class::NONE))
    }
}

impl Drop for FormerClass {
    fn drop(&mut self) {
        if let Some(class) = self.0 {
            // A thread that was given a scheduling policy by pthread has left the classes for good; it ends soon.
            let _ = class.enter();
        }
    }
}
