//! What this process can change.

use oversleep_record::conditions::Setting;
use oversleep_record::{Nanos, Unavailable};

use crate::linux::environment;
use crate::linux::os::{self, Resource, capability};
use crate::linux::tunables::{self, dma_latency, lock_memory, policy};
use crate::survey::{self, Entry, abilities};

pub(super) const ENTRIES: &[Entry] = abilities! {
    "real-time policies": "--policy fifo:80 or rr:80: waits have no slack, and no ordinary task delays them" =>
        || match environment::real_time()? {
            Ok(()) => Ok("sched_setattr(SCHED_FIFO) was granted".to_owned()),
            Err(error) if os::has_capability(capability::SYS_NICE) == Some(true) => {
                Err(os::refused("sched_setattr(SCHED_FIFO)", &error, policy::PRIVILEGED_BUT_REFUSED))
            }
            Err(error) => Err(os::refused("sched_setattr(SCHED_FIFO)", &error, policy::ALLOW_REAL_TIME)),
        },
    "lower nice values": "--policy other:-5: a larger share of a busy CPU" => || {
        if os::has_capability(capability::SYS_NICE) == Some(true) {
            return Ok("CAP_SYS_NICE".to_owned());
        }
        // The limit counts 20 − nice, so a limit above 20 allows nice values below 0.
        match os::soft_limit(Resource::Nice)? {
            None => Ok("RLIMIT_NICE is unlimited".to_owned()),
            Some(limit @ 21..) => {
                Ok(format!("RLIMIT_NICE allows {}", 20 - i64::try_from(limit.min(40)).unwrap_or(40)))
            }
            Some(_) => Err(Unavailable::not_permitted("a nice value below 0", policy::ALLOW_NICE)),
        }
    },
    "timer slack": "--slack 1ns: waits end at their deadline instead of up to 50 µs later" =>
        || try_setting("slack", &Setting::Nanos(Nanos(1)), "prctl(PR_SET_TIMERSLACK) was granted"),
    "pinning to CPUs": "--pin 1: the behaviour of one core instead of a mixture of all" => || {
        let cpus = os::affinity().map_err(|error| Unavailable::failed("sched_getaffinity", error))?;
        let last = Setting::Cpus(cpus.last().copied().into_iter().collect());
        try_setting("pin", &last, &format!("this process may use {} CPUs", cpus.len()))
    },
    "locked memory": "--lock-memory: no page faults during a measurement" =>
        || lock_memory::permitted().map(|()| "mlockall may lock all memory".to_owned()),
    "idle-state bound": "--dma-latency 0us: CPUs stay awake, so wake-ups don't wait for them to leave an idle state" =>
        || dma_latency::open(true).map(|_| format!("{} is writable", dma_latency::DEVICE)),
};

fn try_setting(name: &str, setting: &Setting, evidence: &str) -> Result<String, Unavailable> {
    survey::try_setting(&tunables::registry(), name, setting, evidence)
}
