//! What this process can see and change on macOS.

use std::sync::Arc;

use oversleep_record::Unavailable;
use oversleep_record::conditions::{Outcome, Setting};

use super::{Native, counters, environment, thermal, tunables};
use crate::survey::{self, Entry};
use oversleep_system::Ability;

const ENTRIES: &[Entry] = &[
    Entry {
        name: "time-constraint policy",
        gives: "--policy time-constraint: waits that aren't coalesced and that no ordinary thread delays",
        check: || environment::real_time().map(|()| "thread_policy_set was granted".to_owned()),
    },
    Entry {
        name: "latency tiers",
        gives: "shows how much of a wait's lateness is coalescing",
        check: || try_setting("latency", "tier-0", "thread_policy_set(THREAD_LATENCY_QOS_POLICY) was granted"),
    },
    Entry {
        name: "service classes",
        gives: "compares the timers and cores of the classes",
        check: || try_setting("qos", "user-interactive", "pthread_set_qos_class_self_np was granted"),
    },
    Entry {
        name: "pinning to CPUs",
        gives: "the behaviour of one core instead of a mixture of all",
        check: || Err(Unavailable::missing("a call that pins a thread to a CPU")),
    },
    Entry {
        name: "locked memory",
        gives: "no page faults during a measurement",
        check: || match tunables::try_setting("lock-memory", &Setting::Flag(true)) {
            Outcome::Denied { why: Unavailable::NotOnThisPlatform } => {
                Err(Unavailable::missing("an implementation of mlockall (macOS only declares it)"))
            }
            Outcome::Denied { why } => Err(why),
            _ => Ok("mlockall was granted".to_owned()),
        },
    },
    Entry {
        name: "other programs' CPU time",
        gives: "shows how busy the machine was apart from this process",
        check: || {
            let time = counters::SystemCounters::default().read().totals.other_cpu_ns;
            time.map(|_| "host_processor_info".to_owned()).ok_or_else(|| Unavailable::missing("host_processor_info"))
        },
    },
    Entry {
        name: "thermal pressure",
        gives: "detects a machine that slowed down because of heat",
        check: || thermal::Announcements::default().pressure().map(|_| "announced to all programs".to_owned()),
    },
    Entry {
        name: "clock rate and temperature",
        gives: "distinguishes a series on a slow or hot CPU from others",
        check: || Err(Unavailable::missing("a public call for either")),
    },
    Entry {
        name: "coalescing parameters",
        gives: "shows how late the waits of each tier may end on purpose",
        check: || environment::tiers().map(|tiers| format!("sysctl kern.timer_coalesce_*: {} tiers", tiers.len())),
    },
];

/// All abilities, available or not.
pub fn survey() -> Vec<Ability> {
    survey::survey(&[ENTRIES], || Arc::new(Native::new()))
}

/// Whether a tunable accepts a word, which is undone at once.
fn try_setting(name: &str, word: &str, evidence: &str) -> Result<String, Unavailable> {
    match tunables::try_setting(name, &Setting::Policy { policy: word.to_owned(), priority: 0 }) {
        Outcome::Denied { why } => Err(why),
        _ => Ok(evidence.to_owned()),
    }
}
