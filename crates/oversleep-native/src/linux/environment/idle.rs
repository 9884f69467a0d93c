//! Idle states: a CPU takes longer to leave a deeper one.

use oversleep_record::environment::FactValue;
use oversleep_record::{Nanos, Unavailable};

use super::Entry;
use crate::linux::files::Files;
use crate::linux::os;
use crate::native::facts::facts;

const FOLDER: &str = "/sys/devices/system/cpu/cpuidle";

pub(super) const FACTS: &[Entry] = facts! {
    CpuidleDriver: "/sys/devices/system/cpu/cpuidle/current_driver" =>
        |machine| machine.text(&format!("{FOLDER}/current_driver")),
    CpuidleGovernor: "/sys/devices/system/cpu/cpuidle/current_governor" => |machine| {
        let governor = machine.text(&format!("{FOLDER}/current_governor"));
        governor.or_else(|_| machine.text(&format!("{FOLDER}/current_governor_ro")))
    },
    CpuidleStates: "/sys/devices/system/cpu/cpu*/cpuidle/state*" => |machine| {
        let states = states(machine.files, some_cpu())?;
        Ok(FactValue::List(states.iter().map(State::words).collect()))
    },
    CpuidleDeepestExitLatency: "/sys/devices/system/cpu/cpu*/cpuidle/state*/latency" => |machine| {
        let states = states(machine.files, some_cpu())?;
        let deepest = states.iter().filter(|state| state.enabled).map(|state| state.exit_latency_us).max();
        let deepest = deepest.ok_or_else(|| Unavailable::missing("an enabled idle state"))?;
        Ok(FactValue::Nanos(Nanos::from_micros(deepest)))
    },
};

/// A CPU that this process may use, for values that are the same on all.
pub(super) fn some_cpu() -> u32 {
    os::affinity().ok().and_then(|cpus| cpus.first().copied()).unwrap_or(0)
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    name: String,
    exit_latency_us: i64,
    enabled: bool,
}

impl State {
    fn words(&self) -> String {
        let off = if self.enabled { "" } else { " (disabled)" };
        format!("{} {} µs{off}", self.name, self.exit_latency_us)
    }
}

fn states(files: &dyn Files, cpu: u32) -> Result<Vec<State>, Unavailable> {
    let folder = format!("/sys/devices/system/cpu/cpu{cpu}/cpuidle");
    let mut names = files.names(&folder);
    names.retain(|name| name.starts_with("state"));
    names.sort_by_key(|name| name["state".len()..].parse().unwrap_or(u32::MAX));
    let states: Vec<State> = names
        .iter()
        .filter_map(|state| {
            Some(State {
                name: files.text(&format!("{folder}/{state}/name")).ok()?,
                exit_latency_us: files.integer(&format!("{folder}/{state}/latency")).ok()?,
                // The file holds the reasons for being disabled as bits.
                enabled: files.integer(&format!("{folder}/{state}/disable")).unwrap_or(0) == 0,
            })
        })
        .collect();
    if states.is_empty() { Err(Unavailable::missing("a list of idle states (cpuidle)")) } else { Ok(states) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::files::Sample;

    #[test]
    fn states_in_order_with_the_disabled_marked() {
        let files = Sample::of(&[
            ("/sys/devices/system/cpu/cpu3/cpuidle/state0/name", "POLL"),
            ("/sys/devices/system/cpu/cpu3/cpuidle/state0/latency", "0"),
            ("/sys/devices/system/cpu/cpu3/cpuidle/state0/disable", "0"),
            ("/sys/devices/system/cpu/cpu3/cpuidle/state1/name", "C1E"),
            ("/sys/devices/system/cpu/cpu3/cpuidle/state1/latency", "4"),
            ("/sys/devices/system/cpu/cpu3/cpuidle/state10/name", "C6"),
            ("/sys/devices/system/cpu/cpu3/cpuidle/state10/latency", "170"),
            ("/sys/devices/system/cpu/cpu3/cpuidle/state10/disable", "1"),
            ("/sys/devices/system/cpu/cpu3/cpuidle/state2/name", "C3"),
            ("/sys/devices/system/cpu/cpu3/cpuidle/state2/latency", "33"),
        ]);
        let words: Vec<String> = states(&files, 3).expect("there").iter().map(State::words).collect();
        assert_eq!(words, ["POLL 0 µs", "C1E 4 µs", "C3 33 µs", "C6 170 µs (disabled)"]);
        assert!(states(&files, 0).is_err());
    }
}
