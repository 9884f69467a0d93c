//! What this process can see and change on macOS.

use std::sync::Arc;

use oversleep_record::Unavailable;
use oversleep_record::conditions::Setting;
use oversleep_system::Ability;

use super::{Native, counters, environment, thermal, tunables};
use crate::survey::{self, Entry, abilities};

const ENTRIES: &[Entry] = abilities! {
    "time-constraint policy": "--policy time-constraint: waits that aren't coalesced and that no ordinary thread delays" =>
        || environment::real_time().map(|()| "thread_policy_set was granted".to_owned()),
    "latency tiers": "shows how much of a wait's lateness is coalescing" =>
        || try_setting("latency", "tier-0", "thread_policy_set(THREAD_LATENCY_QOS_POLICY) was granted"),
    "service classes": "compares the timers and cores of the classes" =>
        || try_setting("qos", "user-interactive", "pthread_set_qos_class_self_np was granted"),
    "pinning to CPUs": "the behaviour of one core instead of a mixture of all" =>
        || Err(Unavailable::missing("a call that pins a thread to a CPU")),
    "locked memory": "no page faults during a measurement" =>
        || match survey::try_setting(&tunables::registry(), "lock-memory", &Setting::Flag(true), "mlockall was granted") {
            Err(Unavailable::NotOnThisPlatform) => {
                Err(Unavailable::missing("an implementation of mlockall (macOS only declares it)"))
            }
            tried => tried,
        },
    "other programs' CPU time": "shows how busy the machine was apart from this process" => || {
        let time = counters::SystemCounters::default().read().totals.other_cpu_ns;
        time.map(|_| "host_processor_info".to_owned()).ok_or_else(|| Unavailable::missing("host_processor_info"))
    },
    "thermal pressure": "detects a machine that slowed down because of heat" =>
        || thermal::Announcements::default().pressure().map(|_| "announced to all programs".to_owned()),
    "clock rate and temperature": "distinguishes a series on a slow or hot CPU from others" =>
        || Err(Unavailable::missing("a public call for either")),
    "coalescing parameters": "shows how late the waits of each tier may end on purpose" =>
        || environment::tiers().map(|tiers| format!("sysctl kern.timer_coalesce_*: {} tiers", tiers.len())),
};

/// All abilities, available or not.
pub fn survey() -> Vec<Ability> {
    survey::survey(&[ENTRIES], || Arc::new(Native::new()))
}

/// Whether a tunable accepts a word, which is undone at once.
fn try_setting(name: &str, word: &str, evidence: &str) -> Result<String, Unavailable> {
    let setting = Setting::Policy { policy: word.to_owned(), priority: 0 };
    survey::try_setting(&tunables::registry(), name, &setting, evidence)
}
