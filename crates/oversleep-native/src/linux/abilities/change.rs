//! What may be changed.

use oversleep_record::conditions::Setting;
use oversleep_record::{Nanos, Unavailable};

use crate::linux::environment;
use crate::linux::os::{self, Resource, capability};
use crate::linux::tunables::{self, dma_latency, lock_memory, policy};
use crate::survey::Entry;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "real-time policies",
        gives: "--policy fifo:80 and rr: waits without slack that no ordinary task delays",
        look: || match environment::real_time()? {
            Ok(()) => Ok("sched_setattr(SCHED_FIFO) was granted".to_owned()),
            Err(error) if os::has_capability(capability::SYS_NICE) == Some(true) => {
                Err(os::refused("sched_setattr(SCHED_FIFO)", &error, policy::PRIVILEGED_BUT_REFUSED))
            }
            Err(error) => Err(os::refused("sched_setattr(SCHED_FIFO)", &error, policy::ALLOW_REAL_TIME)),
        },
    },
    Entry {
        name: "lower nice values",
        gives: "--policy other:-5: a larger share of a busy CPU",
        look: || {
            if os::has_capability(capability::SYS_NICE) == Some(true) {
                return Ok("CAP_SYS_NICE".to_owned());
            }
            // The limit counts 20 − nice: above 20 it lets nice values below 0 pass.
            match os::soft_limit(Resource::Nice)? {
                None => Ok("RLIMIT_NICE is unlimited".to_owned()),
                Some(limit @ 21..) => {
                    Ok(format!("RLIMIT_NICE allows {}", 20 - i64::try_from(limit.min(40)).unwrap_or(40)))
                }
                Some(_) => Err(Unavailable::not_permitted("a nice value below 0", policy::ALLOW_NICE)),
            }
        },
    },
    Entry {
        name: "timer slack",
        gives: "--slack 1ns: waits end when asked instead of up to 50 µs later",
        look: || try_setting("slack", &Setting::Nanos(Nanos(1)), "prctl(PR_SET_TIMERSLACK) was granted"),
    },
    Entry {
        name: "pinning to CPUs",
        gives: "--pin 1: one core's behaviour instead of a mixture",
        look: || {
            let cpus = os::affinity().map_err(|error| Unavailable::failed("sched_getaffinity", error))?;
            let last = Setting::Cpus(cpus.last().copied().into_iter().collect());
            try_setting("pin", &last, &format!("{} CPUs may be used", cpus.len()))
        },
    },
    Entry {
        name: "locked memory",
        gives: "--lock-memory: no page fault falls into a measurement",
        look: || lock_memory::permitted().map(|()| "mlockall may lock all memory".to_owned()),
    },
    Entry {
        name: "idle-state bound",
        gives: "--dma-latency 0us: CPUs stay awake, so wake-ups skip the exit from idle states",
        look: || dma_latency::open(true).map(|_| format!("{} can be written", dma_latency::DEVICE)),
    },
];

/// Whether a tunable takes a setting, undone at once.
fn try_setting(name: &str, setting: &Setting, seen: &str) -> Result<String, Unavailable> {
    let tunables = tunables::registry();
    let tunable = tunables.iter().find(|tunable| tunable.info().name == name);
    let (outcome, guard) = tunable.ok_or(Unavailable::NotOnThisPlatform)?.apply(setting);
    drop(guard);
    match outcome {
        oversleep_record::conditions::Outcome::Denied { why } => Err(why),
        _ => Ok(seen.to_owned()),
    }
}
