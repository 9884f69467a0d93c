//! Abilities to change settings.

use oversleep_record::conditions::Setting;
use oversleep_record::{Nanos, Unavailable};

use crate::survey::{self, Entry, abilities};
use crate::windows::environment::{system, timer};
use crate::windows::{processors, tunables};

pub(super) const ENTRIES: &[Entry] = abilities! {
    "timer resolution": "--resolution 1ms: waits end 1 to 2 ms late at most, instead of up to 15.6 ms" => || {
        let effect = "where it changes no wait";
        let evidence = qualified("a resolution of 1 ms was granted", system::wine_version(), effect);
        try_setting("resolution", &Setting::Nanos(Nanos::from_millis(1)), &evidence)
    },
    "high-resolution timers": "waits that usually end 0.5 to 1 ms late without a request for a timer resolution" =>
        || {
            let created = "CreateWaitableTimerExW created one";
            let effect = "which ignores the flag";
            timer::high_resolution_timers().map(|()| qualified(created, system::wine_version(), effect))
        },
    "pinning to CPUs": "--pin 1: the behaviour of one core instead of a mixture of all" => || {
        let cpus = processors::allowed()?;
        let last = Setting::Cpus(cpus.last().copied().into_iter().collect());
        try_setting("pin", &last, &format!("this process may use {} CPUs", cpus.len()))
    },
};

/// The evidence, qualified by its meaning under Wine.
fn qualified(evidence: &str, wine_version: Option<String>, effect: &str) -> String {
    wine_version.map_or_else(|| evidence.to_owned(), |version| format!("{evidence} by Wine {version}, {effect}"))
}

fn try_setting(name: &str, setting: &Setting, evidence: &str) -> Result<String, Unavailable> {
    survey::try_setting(&tunables::registry(), name, setting, evidence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_from_wine_is_qualified() {
        assert_eq!(qualified("granted", None, "without effect"), "granted");
        let evidence = qualified("granted", Some("8.0".to_owned()), "without effect");
        assert_eq!(evidence, "granted by Wine 8.0, without effect");
    }
}
