//! Modelled machines by name, from profiles that the user may change; and machines learned from the result of a real
//! one.
//!
//! Profiles are in `profiles/*.toml`. Every figure has a value and a source, and a profile is based on another one.
//! `also` lists the values of other sources for a figure, best first. Figures that belong to a kind of machine rather
//! than to one machine (wake-up cost on a cloud instance, the cost of an HPET clock, the span at which a processor's idle
//! state is chosen) are in `evidence.toml`, by source. Where a profile has no figure of its own, or that figure's source
//! is left out, it gets the mean (the geometric mean for costs) of the kinds that it names in `draws_on`. `statements.rs`
//! collects the values that sources state for one figure, and the factor by which they differ. `sources.toml` lists every
//! source of profiles and observations once, by id: `verify` compares ids to tell fitted rows from predicted ones. In
//! `verify/`, `decides.rs` varies the machine to tell rows that a rule decides from rows that depend on the machine's own
//! figures; `allowance.rs` and `judge.rs` apply the tolerance that follows. `machines/parameters.rs` lists what a profile
//! can state, and so what `--set` can change; `machines/bounds/` has the bounds of each figure with their reason.
//! `--like` puts a result's own lateness per wait and request, clock costs and steps on top of the rules of its system. A
//! wait whose measured lateness agrees with the rule follows the rule. Any other is as late as it was measured, until a
//! resolution is held or a service class changes. Beyond the measured requests, and under another slack, the rule's delay
//! changes and never makes a wait early. The facts `model.name`, `model.set` and `model.seed` identify the model of a
//! result. A figure that a profile inherits from another machine's measurements has the source in its `inherited`.

mod bounds;
mod build;
mod computed;
mod configured;
mod cycles;
mod entries;
mod evidence;
mod like;
mod named;
mod nature;
mod overrides;
mod parameters;
mod processor;
mod profile;
mod rate;
#[cfg(test)]
mod relations;
mod sources;
mod statements;
mod value;
mod varied;
mod versions;

use oversleep_system::SharedPlatform;

use crate::sim::systems::SYSTEMS;
use crate::sim::{Machine, Sim};
use profile::{PROFILES, Profile};

pub use configured::{CONFIGURED, Configured};
pub use evidence::SOURCES_MIN;
pub use like::{learned, lesson, like};
pub use sources::{ASSUMED, Source};
pub use statements::{Differ, Statement, costs_stated, differ, usual_ratio, wakes_stated, yields_stated};
pub use varied::platform_with_wakes_times;

/// The seed if none is given.
pub const SEED: u64 = 1;

/// Why there is no such machine.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    /// No profile has that name.
    #[error("there is no modelled machine '{name}'; {}", instead_of(name))]
    UnknownMachine {
        /// The name, as it was typed.
        name: String,
    },
    /// A requested change is invalid.
    #[error("'{change}': {why}")]
    BadOverride {
        /// As it was typed.
        change: String,
        /// What is wrong, and which values are possible.
        why: String,
    },
    /// The figures contradict themselves, or one is missing.
    #[error("the modelled machine '{name}' makes no sense: {why} (damaged profile, or an override that doesn't fit)")]
    Malformed {
        /// The machine.
        name: String,
        /// What is wrong.
        why: String,
    },
    /// The result doesn't support a model.
    #[error("no machine can be learned from this result: {why}")]
    NothingToLearn {
        /// Why not.
        why: String,
    },
}

/// What a user can name instead of a machine that isn't there.
fn instead_of(name: &str) -> String {
    match named::named(name) {
        Some(processor) => format!(
            "it is a processor, {processor}: name a machine with it, like --on linux-hz1000 --set 'cpus.processor={name}'"
        ),
        None => format!("choose from {}", names().join(", ")),
    }
}

/// One figure of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// Its path, as an override takes it: `timers.tick`.
    pub path: String,
    /// Its value.
    pub value: String,
    /// Where it comes from, with what is said there.
    pub source: String,
    /// The id of that source, as in [`Source`], or several ids joined by ` + `; `user` where `--set` changed it.
    pub source_id: String,
    /// What it means.
    pub doc: &'static str,
}

impl Figure {
    /// Whether it is from the source with that id, alone or with others.
    pub fn is_from(&self, id: &str) -> bool {
        evidence::is_from(&self.source_id, id)
    }
}

/// The description of a modelled machine.
#[derive(Clone, Debug)]
pub struct Description {
    /// Its name, as `--on` takes it.
    pub name: String,
    /// What it models, in a line.
    pub title: String,
    /// Every figure of it, by path.
    pub figures: Vec<Figure>,
}

/// The names of all modelled machines.
pub fn names() -> Vec<&'static str> {
    PROFILES.iter().map(|(name, _)| *name).collect()
}

/// Whether a machine has that name: one of [`names`], or of [`CONFIGURED`].
pub fn is_known(name: &str) -> bool {
    configured::configured(name).is_some() || PROFILES.iter().any(|(known, _)| *known == name)
}

/// The figures of a machine; `overrides` as for [`platform`].
///
/// # Errors
/// There is no such machine, or an override is invalid.
pub fn describe(name: &str, overrides: &[String]) -> Result<Description, MachineError> {
    describe_without(name, None, overrides)
}

/// Describes a machine without one source, given by its id: its figures fall back to other sources, then to the profile
/// that this one is based on, then to the rule's default.
///
/// # Errors
/// As for [`describe`].
pub fn describe_without(name: &str, without: Option<&str>, overrides: &[String]) -> Result<Description, MachineError> {
    let profile = changed(Profile::named_without(name, without)?, overrides)?;
    let foreign = foreign_clocks(&profile);
    let is_own = |path: &String| match path.split_once('.') {
        Some(("costs" | "steps" | "frequencies", name)) => !foreign.contains(&name),
        _ => true,
    };
    let figures = profile.stated.into_iter().filter(|(path, _)| is_own(path)).map(|(path, stated)| Figure {
        doc: parameters::parameter_of(&path).map_or("", |parameter| parameter.doc),
        value: stated.text(),
        source: stated.source,
        source_id: stated.source_id,
        path,
    });
    Ok(Description { name: profile.name, title: profile.title, figures: figures.collect() })
}

/// That machine as a platform. Overrides are `parameter=value`; the last part of a parameter's path suffices if it is
/// unique: `tick=1ms`, `timers.p-two-tick=0.68`. The same seed gives the same results to the byte.
///
/// # Errors
/// There is no such machine, or an override is invalid.
pub fn platform(name: &str, overrides: &[String], seed: u64) -> Result<SharedPlatform, MachineError> {
    platform_without(name, None, overrides, seed)
}

/// The platform without one source, as for [`describe_without`].
///
/// # Errors
/// As for [`platform`].
pub fn platform_without(
    name: &str,
    without: Option<&str>,
    overrides: &[String],
    seed: u64,
) -> Result<SharedPlatform, MachineError> {
    Ok(Sim::start(build::machine(&changed(Profile::named_without(name, without)?, overrides)?, seed)?))
}

/// The figures of that machine, for code that applies its rules on a real one; overrides as for [`platform`].
///
/// # Errors
/// As for [`platform`].
pub fn machine(name: &str, overrides: &[String], seed: u64) -> Result<Machine, MachineError> {
    build::machine(&changed(Profile::named(name)?, overrides)?, seed)
}

/// Clocks that the system has on other processors only, for which a profile may inherit figures.
fn foreign_clocks(profile: &Profile) -> Vec<&'static str> {
    let (os, arch) = (profile.word("machine.os"), profile.word("machine.arch"));
    let system = SYSTEMS.iter().find(|system| system.os == os);
    let clocks = system.into_iter().flat_map(|system| system.clocks());
    clocks.filter(|info| !info.is_on(arch)).map(|info| info.name).collect()
}

fn changed(mut profile: Profile, overrides: &[String]) -> Result<Profile, MachineError> {
    for change in overrides {
        profile.set(change)?;
        profile.changes.push(change.trim().to_owned());
    }
    // Contradictions between figures only show when a machine is built from them.
    match build::machine(&profile, 0) {
        Ok(_) => Ok(profile),
        Err(MachineError::Malformed { why, .. }) if !profile.changes.is_empty() => {
            Err(MachineError::BadOverride { change: profile.changes.join(", "), why })
        }
        Err(error) => Err(error),
    }
}
