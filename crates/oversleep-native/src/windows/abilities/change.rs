//! What may be changed.

use oversleep_record::conditions::{Outcome, Setting};
use oversleep_record::{Nanos, Unavailable};

use crate::survey::Entry;
use crate::windows::environment::{system, timer};
use crate::windows::{processors, tunables};

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "timer resolution",
        gives: "--resolution 1ms: waits end within a millisecond or two instead of up to 15.6 ms later",
        look: || {
            let seen =
                with_wine("a period of 1 ms was granted", system::wine_version(), "whose waits end alike with any");
            try_setting("resolution", &Setting::Nanos(Nanos::from_millis(1)), &seen)
        },
    },
    Entry {
        name: "high-resolution timers",
        gives: "waits that usually end 0.5 to 1 ms late and need no timer resolution",
        look: || {
            let made = "CreateWaitableTimerExW made one";
            timer::high_resolution_timers().map(|()| with_wine(made, system::wine_version(), "which ignores the flag"))
        },
    },
    Entry {
        name: "pinning to CPUs",
        gives: "--pin 1: one core's behaviour instead of a mixture",
        look: || {
            let cpus = processors::allowed()?;
            let last = Setting::Cpus(cpus.last().copied().into_iter().collect());
            try_setting("pin", &last, &format!("{} CPUs may be used", cpus.len()))
        },
    },
];

/// What was seen, with what it is worth under Wine.
fn with_wine(seen: &str, wine_version: Option<String>, worth: &str) -> String {
    wine_version.map_or_else(|| seen.to_owned(), |version| format!("{seen}, by Wine {version}, {worth}"))
}

/// Whether a tunable takes a setting, undone at once.
fn try_setting(name: &str, setting: &Setting, seen: &str) -> Result<String, Unavailable> {
    let tunables = tunables::registry();
    let tunable = tunables.iter().find(|tunable| tunable.info().name == name);
    let (outcome, guard) = tunable.ok_or(Unavailable::NotOnThisPlatform)?.apply(setting);
    drop(guard);
    match outcome {
        Outcome::Denied { why } => Err(why),
        _ => Ok(seen.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_wine_grants_is_told_as_wines() {
        assert_eq!(with_wine("granted", None, "worthless"), "granted");
        assert_eq!(with_wine("granted", Some("8.0".to_owned()), "worthless"), "granted, by Wine 8.0, worthless");
    }
}
