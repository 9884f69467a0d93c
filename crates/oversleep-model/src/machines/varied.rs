//! A machine whose wake-ups cost more or less, to separate what the rules decide from what the machine decides.

use super::MachineError;
use super::profile::Profile;

/// Overrides for [`super::platform`] that multiply the cost of every wake-up by a factor. With 0, only the rules decide
/// the length of a wait.
///
/// # Errors
/// As for [`super::describe`].
pub fn with_wakes_times(
    name: &str,
    without: Option<&str>,
    overrides: &[String],
    times: f64,
) -> Result<Vec<String>, MachineError> {
    let profile = super::changed(Profile::named_without(name, without)?, overrides)?;
    let is_wake = |path: &str| {
        path.starts_with("wake.cost")
            || path.starts_with("wake.real-time")
            || path == "wake.idle-exits"
            || path.starts_with("extra.")
    };
    let wakes = profile.stated.iter().filter(|(path, _)| is_wake(path));
    Ok(wakes.filter_map(|(path, stated)| Some(format!("{path}={}", stated.value.times(times)?))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wake_up_of_every_machine_can_cost_more_or_nothing() {
        for name in crate::machines::names() {
            for times in [0.0, 0.5, 2.0] {
                let changes = with_wakes_times(name, None, &[], times).unwrap();
                assert!(changes.iter().any(|change| change.starts_with("wake.cost=")), "{name}: {changes:?}");
                crate::machines::describe(name, &changes).unwrap_or_else(|error| panic!("{name}: {error}"));
            }
        }
        let of = |times| with_wakes_times("linux-cloud", Some("jdk-13225"), &[], times).unwrap();
        assert_eq!(of(2.0)[0], "wake.cost=16000ns");
        assert_eq!(of(0.0)[1], "wake.idle-exits=1000000ns:0ns");
    }
}
