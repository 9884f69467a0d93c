//! The scheduler: how it treats this thread, and what the thread may request.

use oversleep_record::Unavailable;
use oversleep_record::environment::FactValue;

use super::{Answer, Entry};
use crate::macos::os;
use crate::macos::tunables::{self, policy};
use crate::native::facts::facts;

pub(super) const FACTS: &[Entry] = facts! {
    SchedPolicy: "thread_policy_get, pthread_getschedparam" =>
        || policy::current().map(|setting| FactValue::Text(setting.to_string())),
    SchedQosClass: "pthread_get_qos_class_np" =>
        || tunables::class().map(|setting| FactValue::Text(setting.to_string())),
    SchedNice: "getpriority" => nice,
    SchedRtPermitted: "thread_policy_set(THREAD_TIME_CONSTRAINT_POLICY) on a thread of its own" =>
        || Ok(FactValue::Flag(real_time().is_ok())),
    LimitsMemlockBytes: "getrlimit(RLIMIT_MEMLOCK)" => memlock,
};

fn nice() -> Answer {
    // −1 is also a nice value, so only the error number shows a failure.
    // SAFETY: the address of this thread's error number; 0 is the calling process.
    let (value, error) = unsafe {
        *libc::__error() = 0;
        (libc::getpriority(libc::PRIO_PROCESS, 0), *libc::__error())
    };
    if error == 0 { Ok(FactValue::Integer(value.into())) } else { Err(os::failed_with("getpriority", error)) }
}

/// Tries the real-time policy on a temporary thread, so that nothing has to be undone.
///
/// # Errors
/// The reason if it was denied.
pub fn real_time() -> Result<(), Unavailable> {
    let thread = std::thread::Builder::new().name("try".to_owned()).spawn(policy::set_time_constraint);
    let thread = thread.map_err(|error| Unavailable::failed("pthread_create", error))?;
    match thread.join() {
        Ok(os::SUCCESS) => Ok(()),
        Ok(error) => Err(os::mach_failed("thread_policy_set(THREAD_TIME_CONSTRAINT_POLICY)", error)),
        Err(_) => Err(Unavailable::failed("trying a real-time policy", "the thread panicked")),
    }
}

fn memlock() -> Answer {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid structure that the call fills in.
    if unsafe { libc::getrlimit(libc::RLIMIT_MEMLOCK, &raw mut limit) } != 0 {
        return Err(os::failed("getrlimit"));
    }
    let unlimited = limit.rlim_cur == libc::RLIM_INFINITY;
    Ok(FactValue::Integer(if unlimited { -1 } else { i64::try_from(limit.rlim_cur).unwrap_or(i64::MAX) }))
}
