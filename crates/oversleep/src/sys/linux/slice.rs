//! Linux: the time slice of an ordinary thread, since 6.12.
//!
//! `sched_setattr` takes it as `sched_runtime` of an ordinary policy (`__setparam_fair` in the kernel's
//! kernel/sched/fair.c). It needs no privilege, is inherited by threads and programs that the thread starts unless the
//! thread resets its scheduling on fork, and survives a change of policy (`_sched_setscheduler` in
//! kernel/sched/syscalls.c).

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::denied;
use crate::outcome::{Denied, Why};

/// The shortest slice that the kernel grants.
pub(crate) const FINEST_SLICE_NS: u64 = 100_000;
/// The call that sets a slice.
pub(crate) const SET_SLICE: &str = "sched_setattr";

/// The first version of the kernel's `struct sched_attr`. Not every version of the libc crate has it.
/// https://man7.org/linux/man-pages/man2/sched_setattr.2.html
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Attributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime_ns: u64,
    deadline_ns: u64,
    period_ns: u64,
}

const SIZE: u32 = size_of::<Attributes>() as u32;

/// The calling thread's slice. Zero under a real-time policy, which has none.
pub(crate) fn slice_ns() -> Result<u64, Denied> {
    slice_of(&attributes()?)
}

fn slice_of(attributes: &Attributes) -> Result<u64, Denied> {
    match attributes.policy as libc::c_int {
        SCHED_OTHER | libc::SCHED_BATCH if attributes.runtime_ns == 0 => {
            let why = Why::Unsupported { what: "time slice that a thread can set (Linux has it since 6.12)" };
            Err(Denied { why, how: "upgrade to Linux 6.12" })
        }
        SCHED_OTHER | libc::SCHED_BATCH => Ok(attributes.runtime_ns),
        libc::SCHED_FIFO | libc::SCHED_RR | SCHED_DEADLINE => Ok(0),
        // SCHED_IDLE ignores it, and other schedulers have rules of their own.
        _ => {
            let why = Why::Unsupported { what: "time slice for a thread under this policy" };
            Err(Denied { why, how: "run the thread under the ordinary policy" })
        }
    }
}

/// Not every version of the libc crate has these. https://man7.org/linux/man-pages/man7/sched.7.html
pub(super) const SCHED_DEADLINE: libc::c_int = 6;
const SCHED_OTHER: libc::c_int = 0;

/// Sets this slice for a sleep, unless the current one is as short; returns the former one. None on Android, where a
/// filter ends programs that make calls it doesn't know, and nobody has requested this one.
pub(crate) fn shorten_slice_for_sleep(ns: u64) -> Result<u64, Denied> {
    if cfg!(target_os = "android") {
        let why = Why::Unsupported { what: "time slice for a single sleep" };
        return Err(Denied { why, how: "hold a time slice in this thread, if the system allows it" });
    }
    let attributes = attributes()?;
    let was_ns = slice_of(&attributes)?;
    if was_ns > ns {
        set(&Attributes { runtime_ns: ns, ..attributes })?;
    }
    Ok(was_ns)
}

/// Sets the slice and leaves everything else as it is.
pub(crate) fn set_slice_ns(ns: u64) -> Result<(), Denied> {
    let attributes = attributes()?;
    set(&Attributes { runtime_ns: ns, ..attributes })
}

/// Restores a slice that was read before, and everything else as it is now. A failure can't be reported.
///
/// The kernel doesn't reveal whether a slice is its default or was requested. So this requests the default, and then
/// the former slice if that is different. The default is remembered, which saves a call.
pub(crate) fn restore_slice_ns(was_ns: u64) {
    static DEFAULT_NS: AtomicU64 = AtomicU64::new(0);
    let Ok(attributes) = attributes() else { return };
    if set(&Attributes { runtime_ns: 0, ..attributes }).is_err() || DEFAULT_NS.load(Relaxed) == was_ns {
        return;
    }
    match slice_ns() {
        Ok(default_ns) if default_ns == was_ns => DEFAULT_NS.store(default_ns, Relaxed),
        _ => drop(set(&Attributes { runtime_ns: was_ns, ..attributes })),
    }
}

const ALLOW: &str = "allow sched_getattr and sched_setattr in this process's seccomp filter";

fn attributes() -> Result<Attributes, Denied> {
    let mut attributes = Attributes::default();
    // SAFETY: the structure is writable for its size; 0 is the calling thread.
    // https://man7.org/linux/man-pages/man2/sched_setattr.2.html
    let result = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, SIZE, 0) };
    if result < 0 { Err(denied("sched_getattr", ALLOW)) } else { Ok(attributes) }
}

/// The attributes that were read also contain the nice value and whether children reset their scheduling. Both must be
/// written again: an ordinary user can't clear the latter.
fn set(attributes: &Attributes) -> Result<(), Denied> {
    let attributes = Attributes { size: SIZE, ..*attributes };
    // SAFETY: the structure is readable for its size; 0 is the calling thread.
    // https://man7.org/linux/man-pages/man2/sched_setattr.2.html
    let result = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    if result < 0 { Err(denied("sched_setattr", ALLOW)) } else { Ok(()) }
}
