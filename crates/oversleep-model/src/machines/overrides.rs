//! Changes of a profile's figures, as `--set` takes them.

use super::MachineError;
use super::bounds;
use super::named;
use super::nature::RATE;
#[cfg(test)]
use super::parameters::Parameter;
use super::parameters::{parameter_of, path_of};
use super::processor::{PROCESSOR, PROCESSORS};
use super::profile::Profile;
use super::sources::BY_USER;
use super::value::{Stated, Value};
use super::versions;
use crate::sim::systems::{SYSTEMS, System};

/// The system of a machine.
const SYSTEM: &str = "machine.os";

impl Profile {
    /// Changes one parameter, given as `path=value`.
    pub(super) fn set(&mut self, change: &str) -> Result<(), MachineError> {
        let bad = |why: String| MachineError::BadOverride { change: change.to_owned(), why };
        let (typed, text) =
            change.split_once('=').ok_or_else(|| bad("write it as parameter=value, like tick=1ms".to_owned()))?;
        let path = path_of(typed.trim()).map_err(bad)?;
        let parameter =
            parameter_of(&path).ok_or_else(|| bad(format!("'{path}' is not a figure of a modelled machine")))?;
        if path == SYSTEM && text.trim() == self.word(SYSTEM) {
            return Ok(());
        }
        self.fits(&path).map_err(bad)?;
        let text = match named::named(text) {
            Some(processor) if path == PROCESSOR => processor,
            None if path == PROCESSOR => {
                return Err(bad(format!("no processor of that name is known; {}", named::instead(text))));
            }
            _ => text,
        };
        let value = parameter.kind.read(text).map_err(|why| bad(bounds::with_range(&path, why)))?;
        if path.starts_with("since.") && text.trim().is_empty() {
            return Err(bad("name the version that brought it, like 'Windows 8'".to_owned()));
        }
        self.replace(&path, value, Some(text.trim().to_owned())).map_err(bad)
    }

    /// Changes one parameter to a computed value of its kind.
    pub(super) fn put(&mut self, path: &str, value: Value) -> Result<(), MachineError> {
        let change = format!("{path}={value}");
        let changed = self.fits(path).and_then(|()| self.replace(path, value, None));
        changed.map_err(|why| MachineError::BadOverride { change, why })
    }

    fn replace(&mut self, path: &str, value: Value, written: Option<String>) -> Result<(), String> {
        bounds::check(path, &value)?;
        if path == RATE {
            self.run_at(&value)?;
        }
        if let (PROCESSOR, Value::Text(processor)) = (path, &value) {
            self.run_on(processor, |_, stated| stated.source_id != BY_USER)?;
        }
        let source = "set by the user".to_owned();
        self.drawn.remove(path);
        self.stated.insert(path.to_owned(), Stated { value, written, source_id: BY_USER.to_owned(), source });
        if versions::DECIDE.contains(&path) { self.follow_version() } else { Ok(()) }
    }

    /// Takes what this processor decides: of the figures that the machine states, those that `is_free` lets change.
    ///
    /// # Errors
    /// Its clocks aren't read by this processor's instructions.
    pub(super) fn run_on(&mut self, processor: &str, is_free: impl Fn(&str, &Stated) -> bool) -> Result<(), String> {
        let Some(processor) = PROCESSORS.iter().find(|known| known.name == processor) else { return Ok(()) };
        let mut figures = processor.figures(&self.nature(), self.without.as_deref())?;
        let is_kept = |path: &str| self.stated.get(path).is_some_and(|stated| !is_free(path, stated));
        figures.retain(|(path, figure)| !is_kept(path) && self.without.as_deref() != Some(figure.source_id.as_str()));
        for (path, figure) in figures {
            self.drawn.remove(&path);
            self.stated.insert(path, figure);
        }
        Ok(())
    }

    /// Whether a change of that parameter has an effect on this machine.
    ///
    /// # Errors
    /// Why not, and what would have an effect.
    fn fits(&self, path: &str) -> Result<(), String> {
        let os = self.word(SYSTEM);
        let Some(system) = SYSTEMS.iter().find(|system| system.os == os) else { return Ok(()) };
        if path == SYSTEM {
            return Err("the system decides which rules and figures there are; take another machine instead".to_owned());
        }
        let owner = parameter_of(path).and_then(|parameter| parameter.only_on);
        if let Some(owner) = owner.filter(|owner| *owner != os) {
            return Err(format!("'{path}' is a figure of {owner} machines and has no effect on {}", self.name));
        }
        let Some((family, name)) = path.split_once('.') else { return Ok(()) };
        let Some(known) = named(*system, family).filter(|_| path != "costs.other") else { return Ok(()) };
        if known.contains(&name) {
            Ok(())
        } else {
            Err(format!("{os} has no '{name}'; choose from {}", known.join(", ")))
        }
    }
}

/// The clocks, waits and hand-offs of a system that figures of that family are about; `None` if it is about none of them.
fn named(system: System, family: &str) -> Option<Vec<&'static str>> {
    let clocks = || system.clocks().map(|info| info.name);
    let waits = || system.waits().map(|info| info.name);
    Some(match family {
        "costs" | "steps" => clocks().collect(),
        "frequencies" => {
            let counters = system.clocks().filter(|info| info.unit.frequency_hz().is_none());
            counters.map(|info| info.name).collect()
        }
        "extra" | "shortest" | "units" | "tolerance" | "grids" | "raises" => waits().collect(),
        "since" => clocks().chain(waits()).chain(system.handoffs().iter().map(|info| info.name)).collect(),
        _ => return None,
    })
}

/// Every figure of that parameter that can be changed on the machine of that profile.
#[cfg(test)]
pub(super) fn changeable(profile: &Profile, parameter: &Parameter) -> Vec<String> {
    let os = profile.word("machine.os");
    let system = SYSTEMS.into_iter().find(|system| system.os == os).expect("a system");
    let paths = match parameter.path.strip_suffix(".*") {
        None => vec![parameter.path.to_owned()],
        Some("facts") => vec!["facts.os.name".to_owned()],
        Some(family) => {
            let names = named(system, family).expect("names of a family");
            names.into_iter().map(|name| format!("{family}.{name}")).collect()
        }
    };
    paths.into_iter().filter(|path| profile.fits(path).is_ok()).collect()
}

#[cfg(test)]
mod tests {
    use oversleep_record::Nanos;

    use super::*;

    #[test]
    fn overrides_replace_figures_and_say_what_is_wrong() {
        let mut profile = Profile::named("windows-11").unwrap();
        profile.set("tick=1ms").unwrap();
        assert_eq!(profile.stated["timers.tick"].value, Value::Span(Nanos::from_millis(1)));
        assert_eq!(profile.stated["timers.tick"].source, "set by the user");
        for (change, says) in [
            ("tick", "parameter=value"),
            ("tock=1ms", "not a figure of a modelled machine"),
            ("tick=1", "no unit"),
            ("timers.base=never", "call, last-tick"),
            ("costs.nonsense=1ns", "windows has no 'nonsense'; choose from qpc"),
            ("extra.slep=1ms", "windows has no 'slep'"),
            ("steps.nanosleep=1ms", "windows has no 'nanosleep'"),
            ("since.x=1", "windows has no 'x'"),
            ("since.sleep=", "name the version"),
            ("slack=100us", "'timers.slack' is a figure of linux machines and has no effect on windows-11"),
            ("tiers=a:1:1ms", "is a figure of macos"),
            ("wake.cost=-10ms", "takes time"),
            ("os=macos", "take another machine"),
            ("cpus.processor=abacus", "name its microarchitecture"),
            ("cpus.processor=M1 Max", "macos-14-m1"),
            ("cpus.processor=Pi 4", "raspberry-pi-4"),
        ] {
            let error = profile.set(change).unwrap_err().to_string();
            assert!(error.contains(change) && error.contains(says), "{error}");
        }
    }
}
