//! What this process may see and change on macOS.

use std::sync::Arc;

use oversleep_record::Unavailable;
use oversleep_record::conditions::{Outcome, Setting};

use super::{Native, counters, environment, thermal, tunables};
use crate::survey::{self, Entry};
use oversleep_system::Ability;

const ENTRIES: &[Entry] = &[
    Entry {
        name: "time-constraint policy",
        gives: "--policy time-constraint: waits that are not coalesced and that no ordinary thread delays",
        look: || environment::real_time().map(|()| "thread_policy_set was granted".to_owned()),
    },
    Entry {
        name: "latency tiers",
        gives: "tells how much of a wait's lateness is coalescing",
        look: || try_setting("latency", "tier-0", "thread_policy_set(THREAD_LATENCY_QOS_POLICY) was granted"),
    },
    Entry {
        name: "service classes",
        gives: "the classes' timers and cores, side by side",
        look: || try_setting("qos", "user-interactive", "pthread_set_qos_class_self_np was granted"),
    },
    Entry {
        name: "pinning to CPUs",
        gives: "one core's behaviour instead of a mixture",
        look: || Err(Unavailable::missing("a call of macOS that holds a thread on a CPU")),
    },
    Entry {
        name: "locked memory",
        gives: "no page fault falls into a measurement",
        look: || match tunables::try_setting("lock-memory", &Setting::Flag(true)) {
            Outcome::Denied { why: Unavailable::NotOnThisPlatform } => {
                Err(Unavailable::missing("mlockall on macOS, which declares it only"))
            }
            Outcome::Denied { why } => Err(why),
            _ => Ok("mlockall was granted".to_owned()),
        },
    },
    Entry {
        name: "other programs' CPU time",
        gives: "how busy the machine was apart from this process",
        look: || {
            let seen = counters::SystemCounters::default().read().totals.other_cpu_ns;
            seen.map(|_| "host_processor_info".to_owned()).ok_or_else(|| Unavailable::missing("host_processor_info"))
        },
    },
    Entry {
        name: "thermal pressure",
        gives: "tells a machine that slowed down for heat",
        look: || thermal::Announcements::default().pressure().map(|_| "announced to every program".to_owned()),
    },
    Entry {
        name: "clock rate and temperature",
        gives: "tells a series on a slow or hot CPU from others",
        look: || Err(Unavailable::missing("a public call of macOS for either")),
    },
    Entry {
        name: "coalescing parameters",
        gives: "how late each tier's waits may be on purpose",
        look: || environment::tiers().map(|tiers| format!("sysctl kern.timer_coalesce_*: {} tiers", tiers.len())),
    },
];

/// All abilities, present or not.
pub fn survey() -> Vec<Ability> {
    survey::survey(&[ENTRIES], || Arc::new(Native::new()))
}

/// Whether a tunable takes a word, undone at once.
fn try_setting(name: &str, word: &str, seen: &str) -> Result<String, Unavailable> {
    match tunables::try_setting(name, &Setting::Policy { policy: word.to_owned(), priority: 0 }) {
        Outcome::Denied { why } => Err(why),
        _ => Ok(seen.to_owned()),
    }
}
