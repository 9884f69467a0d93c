//! Small safe wrappers of system calls that several folders of this platform share. A call used once is where it is
//! used.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::io;
use std::sync::OnceLock;

use oversleep_record::{Nanos, Unavailable};

use crate::timebase::Timebase;

pub use crate::unix::os::{clock_ns, failed};

/// The result of a Mach call; zero is success.
pub type KernReturn = c_int;
/// A name for a kernel object: a thread, a task, a semaphore.
pub type Port = u32;
/// `KERN_SUCCESS`, `KERN_ABORTED`, `KERN_NOT_SUPPORTED` and `KERN_OPERATION_TIMED_OUT` of `<mach/kern_return.h>`.
pub const SUCCESS: KernReturn = 0;
pub const ABORTED: KernReturn = 14;
pub const NOT_SUPPORTED: KernReturn = 46;
pub const TIMED_OUT: KernReturn = 49;

// SAFETY: as <mach/mach_time.h>, <mach/mach_init.h> and <mach/mach_error.h> declare them, in libSystem. The libc
// crate's declarations are deprecated in favour of another crate.
unsafe extern "C" {
    // https://github.com/apple-oss-distributions/xnu/blob/main/osfmk/mach/mach_time.h
    fn mach_timebase_info(info: *mut TimebaseInfo) -> KernReturn;
    // https://github.com/apple-oss-distributions/xnu/blob/main/libsyscall/mach/mach/mach_error.h (a static text)
    fn mach_error_string(error: KernReturn) -> *const c_char;
    // https://github.com/apple-oss-distributions/xnu/blob/main/libsyscall/mach/mach/mach_init.h
    fn mach_host_self() -> Port;
    /// This process's port, which the library gets before `main`; the macro `mach_task_self()` reads it.
    static mach_task_self_: Port;
}

#[repr(C)]
struct TimebaseInfo {
    numer: u32,
    denom: u32,
}

/// The port of this process.
pub fn task() -> Port {
    // SAFETY: written once, before any code of this program runs.
    unsafe { mach_task_self_ }
}

/// The port of this machine.
pub fn host() -> Port {
    static HOST: OnceLock<Port> = OnceLock::new();
    // SAFETY: takes no argument. Each call adds a reference to the port, so call it once.
    *HOST.get_or_init(|| unsafe { mach_host_self() })
}

/// The port of the calling thread. The thread owns it, so it must not be released.
pub fn thread() -> Port {
    // SAFETY: the calling thread exists. https://github.com/apple-oss-distributions/libpthread
    unsafe { libc::pthread_mach_thread_np(libc::pthread_self()) }
}

/// Nanoseconds per unit of `mach_absolute_time`.
pub fn timebase() -> Timebase {
    static BASE: OnceLock<Timebase> = OnceLock::new();
    *BASE.get_or_init(|| {
        let mut info = TimebaseInfo { numer: 0, denom: 0 };
        // SAFETY: `info` is writable. The call doesn't fail on a running system.
        unsafe { mach_timebase_info(&raw mut info) };
        Timebase::new(info.numer, info.denom).unwrap_or(Timebase::NANOSECONDS)
    })
}

/// The reference clock: `mach_absolute_time` in nanoseconds, as in Rust's `Instant` and in the library.
#[inline]
pub fn now() -> Nanos {
    Nanos(clock_ns(libc::CLOCK_UPTIME_RAW) as i64)
}

/// A failed call that returned its error number.
pub fn failed_with(call: &str, errno: c_int) -> Unavailable {
    Unavailable::failed(call, io::Error::from_raw_os_error(errno))
}

/// A failed Mach call, with Mach's message.
pub fn mach_failed(call: &str, error: KernReturn) -> Unavailable {
    // SAFETY: the call returns a static, terminated text for every number.
    let words = unsafe {
        let text = mach_error_string(error);
        if text.is_null() { String::new() } else { CStr::from_ptr(text).to_string_lossy().into_owned() }
    };
    Unavailable::failed(call, format!("{words} ({error})"))
}

/// A function that older systems lack, by name.
///
/// # Errors
/// The reason if this system lacks it.
pub fn function(name: &CStr, needs: &str) -> Result<*mut c_void, Unavailable> {
    // SAFETY: the name is terminated; every loaded library is searched.
    // https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/dlsym.3.html
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    if found.is_null() { Err(Unavailable::TooOld { needs: needs.to_owned() }) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unix::os::clock_step;

    // SAFETY: as <mach/mach_time.h> declares it.
    unsafe extern "C" {
        fn mach_absolute_time() -> u64;
    }

    #[test]
    fn the_reference_clock_is_mach_absolute_time_in_nanoseconds() {
        // SAFETY: takes no argument.
        let ticks = || unsafe { mach_absolute_time() };
        let (first, between, last) = (ticks(), now(), ticks());
        let nanos = |ticks| Nanos(timebase().nanos(ticks) as i64);
        assert!(nanos(first) <= between && between <= nanos(last), "{first} {between} {last}");
        assert!(clock_step(libc::CLOCK_UPTIME_RAW).expect("since 10.12") > Nanos::ZERO);
    }

    #[test]
    fn a_missing_function_is_a_reason() {
        let missing = function(c"oversleep_no_such_function", "macOS 99");
        assert_eq!(missing, Err(Unavailable::TooOld { needs: "macOS 99".to_owned() }));
        assert!(function(c"nanosleep", "Mac OS X 10.0").is_ok());
        assert!(mach_failed("x", ABORTED).to_string().starts_with("x: "));
    }
}
