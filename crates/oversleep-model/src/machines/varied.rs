//! A machine whose wake-ups cost more or less, to separate what the rules decide from what the machine decides.

use oversleep_system::SharedPlatform;

use super::profile::Profile;
use super::value::Value;
use super::{MachineError, build, changed};
use crate::sim::Sim;

/// As [`super::platform_without`], with the cost of every wake-up multiplied by a factor. With 0, only the rules decide the
/// length of a wait.
///
/// # Errors
/// As for [`super::platform`], or the factor is negative.
pub fn platform_with_wakes_times(
    name: &str,
    without: Option<&str>,
    overrides: &[String],
    times: f64,
    seed: u64,
) -> Result<SharedPlatform, MachineError> {
    Ok(Sim::start(build::machine(&varied(name, without, overrides, times)?, seed)?))
}

fn varied(name: &str, without: Option<&str>, overrides: &[String], times: f64) -> Result<Profile, MachineError> {
    let mut profile = changed(Profile::named_without(name, without)?, overrides)?;
    for (path, value) in wakes(&profile, times)? {
        profile.changes.push(format!("{path}={value}"));
        profile.put(&path, value)?;
    }
    changed(profile, &[])
}

/// The cost of each wake-up, multiplied by a factor.
fn wakes(profile: &Profile, times: f64) -> Result<Vec<(String, Value)>, MachineError> {
    let is_wake = |path: &str| {
        path.starts_with("wake.cost")
            || path.starts_with("wake.real-time")
            || matches!(path, "wake.idle-exits" | "wake.expiry-thread")
            || path.starts_with("extra.")
    };
    let mut wakes = Vec::new();
    for (path, stated) in profile.stated.iter().filter(|(path, _)| is_wake(path)) {
        let value = stated.value.times(times);
        let value = value.map_err(|why| MachineError::BadOverride { change: format!("{path} times {times}"), why })?;
        wakes.extend(value.map(|value| (path.clone(), value)));
    }
    Ok(wakes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wake_up_of_every_machine_can_cost_more_or_nothing() {
        for name in crate::machines::names() {
            for times in [0.0, 0.5, 2.0] {
                let varied = varied(name, None, &[], times).unwrap_or_else(|error| panic!("{name}: {error}"));
                let is_cost = |change: &String| change.starts_with("wake.cost=");
                assert!(varied.changes.iter().any(is_cost), "{name}: {:?}", varied.changes);
            }
        }
        let of = |times| varied("linux-cloud", Some("jdk-13225"), &[], times).unwrap().changes;
        assert_eq!(of(2.0)[0], "wake.cost=16000ns");
        assert_eq!(of(0.0)[1], "wake.idle-exits=1000000ns:0ns");
        assert!(varied("linux-cloud", None, &[], -1.0).is_err());
    }
}
