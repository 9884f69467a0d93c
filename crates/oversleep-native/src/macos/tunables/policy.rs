//! Scheduling policy of the calling thread.

use std::ffi::c_int;

use oversleep_record::Unavailable;
use oversleep_record::conditions::Setting;
use oversleep_system::{TunableInfo, describe, tunables};

use super::thread_policy::{self, FormerClass};
use crate::macos::os::{self, KernReturn};
use crate::native::tunables::{Applied, Entry, already, changed, undo, word};

pub(super) struct Policy;

const TIME_CONSTRAINT: &str = "time-constraint";

/// Period, computation and constraint in µs: those of the library's real-time guard.
const PERIOD_US: u64 = 5_000;
const COMPUTATION_US: u64 = 1_000;
const CONSTRAINT_US: u64 = 2_500;

/// A policy as the scheduler is given it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    TimeConstraint,
    Posix { policy: c_int, priority: c_int },
}

/// Sets the real-time policy on the calling thread: use it on a thread that ends, or under a guard.
pub fn set_time_constraint() -> KernReturn {
    let units = |us: u64| os::timebase().ticks_up(us * 1_000) as i32;
    let preemptible = 1;
    let words = [units(PERIOD_US), units(COMPUTATION_US), units(CONSTRAINT_US), preemptible];
    thread_policy::set(libc::THREAD_TIME_CONSTRAINT_POLICY, &words)
}

/// Takes the calling thread out of a real-time policy if it is under one.
pub fn leave_real_time() {
    if has_time_constraint() == Ok(true) {
        thread_policy::set(libc::THREAD_STANDARD_POLICY, &[]);
    }
}

fn has_time_constraint() -> Result<bool, KernReturn> {
    thread_policy::get(libc::THREAD_TIME_CONSTRAINT_POLICY, &mut [0; 4]).map(|is_default| !is_default)
}

fn posix() -> Result<(c_int, libc::sched_param), c_int> {
    let mut policy = 0;
    // SAFETY: all-zero is a valid value of this structure of numbers and padding.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    // SAFETY: the calling thread exists, and there is room for both.
    // https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/pthread.3.html
    match unsafe { libc::pthread_getschedparam(libc::pthread_self(), &raw mut policy, &raw mut parameters) } {
        0 => Ok((policy, parameters)),
        error => Err(error),
    }
}

fn set_posix(policy: c_int, parameters: &libc::sched_param) -> Result<(), c_int> {
    // SAFETY: the calling thread exists, and the parameters are valid.
    match unsafe { libc::pthread_setschedparam(libc::pthread_self(), policy, parameters) } {
        0 => Ok(()),
        error => Err(error),
    }
}

/// The calling thread's policy.
///
/// # Errors
/// Why it can't be read.
pub fn current() -> Result<Setting, Unavailable> {
    let failed = |error| os::mach_failed("thread_policy_get(THREAD_TIME_CONSTRAINT_POLICY)", error);
    if has_time_constraint().map_err(failed)? {
        return Ok(word(TIME_CONSTRAINT, 0));
    }
    let (policy, parameters) = posix().map_err(|error| os::failed_with("pthread_getschedparam", error))?;
    let name = match policy {
        libc::SCHED_OTHER => "other",
        libc::SCHED_FIFO => "fifo",
        libc::SCHED_RR => "rr",
        _ => "unnamed",
    };
    Ok(word(name, parameters.sched_priority))
}

impl Entry for Policy {
    type Request = Wanted;

    const INFO: &'static TunableInfo = describe!(tunables::MACOS, "policy");

    fn parse(setting: &Setting) -> Option<Wanted> {
        let Setting::Policy { policy, priority } = setting else { return None };
        let number = match policy.as_str() {
            TIME_CONSTRAINT if *priority == 0 => return Some(Wanted::TimeConstraint),
            "other" => libc::SCHED_OTHER,
            "fifo" => libc::SCHED_FIFO,
            "rr" => libc::SCHED_RR,
            _ => return None,
        };
        // SAFETY: take a number and return one.
        let (least, most) = unsafe { (libc::sched_get_priority_min(number), libc::sched_get_priority_max(number)) };
        (least..=most).contains(priority).then_some(Wanted::Posix { policy: number, priority: *priority })
    }

    fn read() -> Result<Setting, Unavailable> {
        current()
    }

    fn compared() -> Vec<Setting> {
        vec![word("other", 31), word("rr", 47), word("fifo", 47), word(TIME_CONSTRAINT, 0)]
    }

    fn change(wanted: Wanted, setting: &Setting) -> Result<Applied, Unavailable> {
        let was = current()?;
        if was == *setting {
            return Ok(already(was));
        }
        let (was_posix, class) = (posix().ok(), FormerClass::note());
        let (was_real_time, real_time) = (was == word(TIME_CONSTRAINT, 0), wanted == Wanted::TimeConstraint);
        let told = match wanted {
            Wanted::TimeConstraint => match set_time_constraint() {
                os::SUCCESS => Ok(()),
                error => Err(os::mach_failed("thread_policy_set(THREAD_TIME_CONSTRAINT_POLICY)", error)),
            },
            Wanted::Posix { policy, priority } => {
                // SAFETY: all-zero is a valid value of this structure of numbers and padding.
                let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
                parameters.sched_priority = priority;
                set_posix(policy, &parameters).map_err(|error| os::failed_with("pthread_setschedparam", error))
            }
        };
        // Made in any case, so that a change that fails half-way is restored too.
        let guard = undo(move || {
            if let Some((policy, parameters)) = was_posix.filter(|_| !real_time) {
                let _ = set_posix(policy, &parameters);
            }
            if was_real_time {
                set_time_constraint();
            } else if real_time {
                thread_policy::set(libc::THREAD_STANDARD_POLICY, &[]);
            }
            // Last, so that the class counts again.
            drop(class);
        });
        match told.and_then(|()| current())? {
            now if now == *setting => Ok(changed(was, now, guard)),
            now => Err(Unavailable::failed(Self::INFO.call, format!("the policy became {now} instead"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_every_policy_and_its_range() {
        assert_eq!(Policy::parse(&word("time-constraint", 0)), Some(Wanted::TimeConstraint));
        assert_eq!(Policy::parse(&word("fifo", 47)), Some(Wanted::Posix { policy: libc::SCHED_FIFO, priority: 47 }));
        for wrong in [word("time-constraint", 1), word("fifo", 200), word("rr", -1), word("idle", 0)] {
            assert_eq!(Policy::parse(&wrong), None, "{wrong}");
        }
    }
}
