//! The scheduler: how this thread is treated, and what it may ask for.

use oversleep_record::Unavailable;
use oversleep_record::environment::FactValue;

use super::{Answer, Entry};
use crate::linux::os::{self, Resource};
use crate::linux::tunables::policy::{self, SchedAttr};

pub(super) const FACTS: &[Entry] = &[
    Entry {
        name: "sched.policy",
        doc: "Scheduling policy of this thread as found.",
        source: "sched_getattr",
        read: |_| attributes().map(|attr| FactValue::Text(attr.setting().to_string())),
    },
    Entry {
        name: "sched.nice",
        doc: "Nice value of this thread; above 0, poll and select are given five times the slack.",
        source: "sched_getattr",
        read: |_| attributes().map(|attr| FactValue::Integer(attr.nice().into())),
    },
    Entry {
        name: "sched.rt_runtime_us",
        doc: "CPU time that real-time threads may use per period; −1 is unlimited. Since Linux 6.12 it binds them only where \
              the kernel groups real-time threads (CONFIG_RT_GROUP_SCHED); else the fair server (/sys/kernel/debug/sched/\
              fair_server) keeps a share for ordinary threads that wait.",
        source: "/proc/sys/kernel/sched_rt_runtime_us",
        read: |machine| machine.integer("/proc/sys/kernel/sched_rt_runtime_us"),
    },
    Entry {
        name: "sched.rt_period_us",
        doc: "The period of that limit; real-time threads that used it up stop for the rest, where it binds them.",
        source: "/proc/sys/kernel/sched_rt_period_us",
        read: |machine| machine.integer("/proc/sys/kernel/sched_rt_period_us"),
    },
    Entry {
        name: "sched.rt_permitted",
        doc: "Whether this process may put its threads under a real-time policy.",
        source: "sched_setattr(SCHED_FIFO) on a thread of its own",
        read: |_| real_time().map(|tried| FactValue::Flag(tried.is_ok())),
    },
    Entry {
        name: "limits.rtprio",
        doc: "Highest real-time priority allowed without privileges; −1 is unlimited.",
        source: "getrlimit(RLIMIT_RTPRIO)",
        read: |_| limit(Resource::RtPrio),
    },
    Entry {
        name: "limits.memlock_bytes",
        doc: "Memory this process may lock without privileges; −1 is unlimited.",
        source: "getrlimit(RLIMIT_MEMLOCK)",
        read: |_| limit(Resource::MemLock),
    },
];

fn attributes() -> Result<SchedAttr, Unavailable> {
    policy::get().map_err(|error| Unavailable::failed("sched_getattr", error))
}

/// Tries a real-time policy on a thread that ends right after, so that nothing has to be undone.
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
    fn trying_leaves_this_thread_as_it_was() {
        let Ok(before) = policy::get() else { return };
        real_time().expect("a thread").ok();
        assert_eq!(policy::get().ok(), Some(before));
    }
}
