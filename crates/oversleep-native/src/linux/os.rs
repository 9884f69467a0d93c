//! Small safe wrappers of system calls that several folders of this platform share. A call used once is where it is
//! used.

use std::ffi::CStr;
use std::io;

use oversleep_record::{Nanos, Unavailable};

pub use crate::unix::os::{clock_ns, clock_step, failed};

/// The reference clock.
#[inline]
pub fn monotonic_now() -> Nanos {
    Nanos(clock_ns(libc::CLOCK_MONOTONIC) as i64)
}

/// Whether CLOCK_MONOTONIC can be read by a real system call.
pub fn monotonic_syscall_works() -> Result<(), Unavailable> {
    if monotonic_ns_by_syscall() != 0 { Ok(()) } else { Err(failed("syscall(SYS_clock_gettime)")) }
}

/// CLOCK_MONOTONIC by system call; 0 where it failed, which no running machine shows.
#[inline(always)]
pub fn monotonic_ns_by_syscall() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec; on both supported architectures it has the kernel's 64-bit layout.
    unsafe { libc::syscall(libc::SYS_clock_gettime, libc::c_long::from(libc::CLOCK_MONOTONIC), &raw mut time) };
    Nanos::from_secs(time.tv_sec).0 as u64 + time.tv_nsec as u64
}

/// "Not permitted" if the error is one of permission, otherwise a failed call.
pub fn refused(call: &str, error: &io::Error, allow: &str) -> Unavailable {
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => Unavailable::not_permitted(call, allow),
        _ => Unavailable::failed(call, error),
    }
}

/// The CPU that the calling thread runs on, if the system says.
pub fn current_cpu() -> Option<u32> {
    // SAFETY: takes no argument and returns a number.
    // https://man7.org/linux/man-pages/man3/sched_getcpu.3.html
    u32::try_from(unsafe { libc::sched_getcpu() }).ok()
}

/// `prctl` with the kernel's full-width result. The C library's returns an `int`, which is too narrow for a timer
/// slack.
pub fn prctl(option: libc::c_int, argument: u64) -> io::Result<u64> {
    // SAFETY: the options used here take no pointer except in `argument`, which the caller owns.
    let result = unsafe { libc::syscall(libc::SYS_prctl, libc::c_long::from(option), argument, 0_u64, 0_u64, 0_u64) };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(result as u64) }
}

/// The calling thread's timer slack in ns; 0 under a real-time policy on Linux ≥ 6.12.
pub fn timer_slack() -> io::Result<Nanos> {
    prctl(libc::PR_GET_TIMERSLACK, 0).map(|slack| Nanos(i64::try_from(slack).unwrap_or(i64::MAX)))
}

/// Sets the calling thread's timer slack; zero means the thread's default.
pub fn set_timer_slack(slack: Nanos) -> io::Result<()> {
    prctl(libc::PR_SET_TIMERSLACK, slack.0.max(0) as u64).map(drop)
}

/// The number of CPUs in a mask; the largest kernels support 8192.
pub const MASK_CPUS: usize = 8192;
type Mask = [u64; MASK_CPUS / 64];

/// The CPUs the calling thread may run on, ascending.
pub fn affinity() -> io::Result<Vec<u32>> {
    let mut mask: Mask = [0; MASK_CPUS / 64];
    // SAFETY: the mask is as long as stated; 0 is the calling thread. A raw call, because the C library's type is fixed
    // at 1024 CPUs and fails on larger machines.
    let bytes = unsafe { libc::syscall(libc::SYS_sched_getaffinity, 0_i64, size_of::<Mask>(), mask.as_mut_ptr()) };
    if bytes < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok((0..MASK_CPUS as u32).filter(|&cpu| mask[cpu as usize / 64] >> (cpu % 64) & 1 == 1).collect())
}

/// Restricts the calling thread to these CPUs. Numbers beyond the mask are an error.
pub fn set_affinity(cpus: &[u32]) -> io::Result<()> {
    let mut mask: Mask = [0; MASK_CPUS / 64];
    for &cpu in cpus {
        let word = mask.get_mut(cpu as usize / 64).ok_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))?;
        *word |= 1 << (cpu % 64);
    }
    // SAFETY: the mask is as long as stated; 0 is the calling thread.
    let result = unsafe { libc::syscall(libc::SYS_sched_setaffinity, 0_i64, size_of::<Mask>(), mask.as_ptr()) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Release (`6.1.0-18-amd64`) and version (`#1 SMP PREEMPT_DYNAMIC …`) of the kernel. The same call returns the host
/// name, which is ignored.
pub fn kernel_names() -> Result<(String, String), Unavailable> {
    // SAFETY: all-zero is a valid value of this struct of character arrays.
    let mut names: libc::utsname = unsafe { std::mem::zeroed() };
    // SAFETY: `names` is a valid buffer for the call.
    if unsafe { libc::uname(&mut names) } != 0 {
        return Err(failed("uname"));
    }
    // SAFETY: the kernel terminates both fields with a zero byte within their arrays.
    let text = |field: &[libc::c_char]| unsafe { CStr::from_ptr(field.as_ptr()) }.to_string_lossy().into_owned();
    Ok((text(&names.release), text(&names.version)))
}

/// Capability numbers of `linux/capability.h`.
pub mod capability {
    /// Lock memory beyond the limit.
    pub const IPC_LOCK: u32 = 14;
    /// Raise priorities.
    pub const SYS_NICE: u32 = 23;
}

/// Whether the calling thread has this capability in effect; `None` if it can't be queried.
pub fn has_capability(number: u32) -> Option<bool> {
    #[repr(C)]
    struct Header {
        version: u32,
        pid: i32,
    }
    #[repr(C)]
    #[derive(Clone, Copy, Default)]
    struct Data {
        effective: u32,
        permitted: u32,
        inheritable: u32,
    }
    const VERSION_3: u32 = 0x2008_0522;
    let mut header = Header { version: VERSION_3, pid: 0 };
    let mut data = [Data::default(); 2];
    // SAFETY: header and data have the layout of version 3 of this call, two data blocks.
    // https://man7.org/linux/man-pages/man2/capget.2.html
    if unsafe { libc::syscall(libc::SYS_capget, &raw mut header, data.as_mut_ptr()) } != 0 {
        return None;
    }
    Some(data[number as usize / 32].effective >> (number % 32) & 1 == 1)
}

/// The soft limit of a resource; `None` means unlimited.
pub fn soft_limit(resource: Resource) -> Result<Option<u64>, Unavailable> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    let number = match resource {
        Resource::RtPrio => libc::RLIMIT_RTPRIO,
        Resource::MemLock => libc::RLIMIT_MEMLOCK,
        Resource::Nice => libc::RLIMIT_NICE,
    };
    // SAFETY: `limit` is a valid struct that the call fills in.
    if unsafe { libc::getrlimit(number, &mut limit) } != 0 {
        return Err(failed("getrlimit"));
    }
    Ok((limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur))
}

/// The limits used here, as an enum because the C libraries disagree on the type of the number.
#[derive(Clone, Copy, Debug)]
pub enum Resource {
    /// Highest real-time priority.
    RtPrio,
    /// Bytes of locked memory.
    MemLock,
    /// 20 − lowest nice value.
    Nice,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_thread_may_run_somewhere_and_the_mask_is_restored() {
        // A sandbox may refuse the call.
        let cpus = match affinity() {
            Ok(cpus) => cpus,
            Err(why) => return oversleep_testing::skip(why),
        };
        assert!(!cpus.is_empty());
        set_affinity(&cpus).expect("the mask found");
        assert_eq!(affinity().expect("affinity"), cpus);
        assert!(set_affinity(&[MASK_CPUS as u32]).is_err());
    }

    #[test]
    fn the_kernel_has_names_and_clocks_have_a_step() {
        let (release, version) = kernel_names().expect("uname");
        assert!(release.starts_with(|c: char| c.is_ascii_digit()), "{release}");
        assert!(!version.is_empty());
        assert!(clock_step(libc::CLOCK_MONOTONIC).expect("step") > Nanos::ZERO);
        assert!(clock_step(-1).is_err());
    }
}
