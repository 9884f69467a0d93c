//! The scheduler: how it treats this thread, and what the thread may request.

use oversleep_record::Unavailable;
use oversleep_record::environment::FactValue;

use super::{Answer, Entry};
use crate::linux::os::{self, Resource};
use crate::linux::tunables::policy::{self, SchedAttr};
use crate::native::facts::facts;

pub(super) const FACTS: &[Entry] = facts! {
    SchedPolicy: "sched_getattr" => |_| attributes().map(|attr| FactValue::Text(attr.setting().to_string())),
    SchedNice: "sched_getattr" => |_| attributes().map(|attr| FactValue::Integer(attr.nice().into())),
    SchedRtRuntimeUs: "/proc/sys/kernel/sched_rt_runtime_us" =>
        |machine| machine.integer("/proc/sys/kernel/sched_rt_runtime_us"),
    SchedRtPeriodUs: "/proc/sys/kernel/sched_rt_period_us" =>
        |machine| machine.integer("/proc/sys/kernel/sched_rt_period_us"),
    SchedRtPermitted: "sched_setattr(SCHED_FIFO) on a thread of its own" =>
        |_| real_time().map(|tried| FactValue::Flag(tried.is_ok())),
    LimitsRtprio: "getrlimit(RLIMIT_RTPRIO)" => |_| limit(Resource::RtPrio),
    LimitsMemlockBytes: "getrlimit(RLIMIT_MEMLOCK)" => |_| limit(Resource::MemLock),
};

fn attributes() -> Result<SchedAttr, Unavailable> {
    policy::get().map_err(|error| Unavailable::failed("sched_getattr", error))
}

/// Tries a real-time policy on a temporary thread, so that nothing has to be undone.
pub(in crate::linux) fn real_time() -> Result<std::io::Result<()>, Unavailable> {
    let thread = std::thread::Builder::new().name("try".to_owned()).spawn(policy::try_real_time);
    let thread = thread.map_err(|error| Unavailable::failed("pthread_create", error))?;
    thread.join().map_err(|_| Unavailable::failed("trying a real-time policy", "the thread panicked"))
}

fn limit(resource: Resource) -> Answer {
    let limit = os::soft_limit(resource)?;
    Ok(FactValue::Integer(limit.map_or(-1, |limit| i64::try_from(limit).unwrap_or(i64::MAX))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trying_leaves_this_thread_unchanged() {
        let before = match policy::get() {
            Ok(before) => before,
            Err(why) => return oversleep_testing::skip(why),
        };
        real_time().expect("a thread").ok();
        assert_eq!(policy::get().ok(), Some(before));
    }
}
