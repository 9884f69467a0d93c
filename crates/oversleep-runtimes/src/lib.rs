//! The same question in every language: this crate finds the runtimes of a machine, compiles their probes once, runs them as
//! probes of the laboratory, and hands back series.
//!
//! `probes/` has a folder per runtime: a `runtime.toml` that says how to find, ask, build and run it, and the probe itself.
//! Nothing here knows a runtime by name. What the series mean is decided in `oversleep-explain`.
#![forbid(unsafe_code)]

mod cache;
mod conversation;
mod descriptor;
mod discover;
mod engine;
mod installation;
mod library;
mod limits;
mod probe;
mod program;
mod rate;
mod session;
mod steps;
mod supervise;
mod surroundings;

use oversleep_measure::{Amount, Plan, Probe, WaitProbe, find_wait};
use oversleep_record::environment::{Environment, FactValue};
use oversleep_record::label;
use oversleep_record::probe::OpKind;
use oversleep_record::series::{Pace, Runtime};
use oversleep_record::{ExperimentId, FactName, Nanos, Unavailable};
use oversleep_system::Platform;

pub use cache::Cache;
pub use conversation::{Conversation, Unfinished};
pub use descriptor::{Descriptor, Op, descriptors};
pub use discover::Given;
pub use installation::{Built, Installation, Missing};
pub use probe::{Launch, RuntimeProbe};
pub use steps::rule_steps;
pub use surroundings::Surroundings;

/// What the user wants to see.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Runtimes by name or id; empty means all. Programs of the user's own by path.
    pub names: Vec<String>,
    /// Only operations with one of these texts in their names.
    pub only: Vec<String>,
    /// Runtimes by their programs.
    pub given: Vec<Given>,
    /// Only experiments that others published, with as many calls as they made.
    pub published: bool,
    /// Whether to look also for runtimes that are measured only where they are named.
    pub all: bool,
}

/// The runtimes that are there, and those that are not.
#[derive(Debug, Default)]
pub struct Survey {
    /// Found here.
    pub found: Vec<Installation>,
    /// Not found, each with its reason.
    pub missing: Vec<Missing>,
    /// Found, but for a library.
    incomplete: Vec<(Installation, &'static descriptor::Library)>,
}

/// Why nothing can be measured.
#[derive(Debug, thiserror::Error)]
pub enum WantedError {
    /// There is no such runtime.
    #[error("unknown runtime '{name}'; choose from {known}, or give the path of a program that speaks the protocol")]
    UnknownRuntime {
        /// As it was typed.
        name: String,
        /// All names.
        known: String,
    },
    /// A runtime of that name is there, but not of that version.
    #[error("no '{name}' is installed here; found: {found}")]
    OtherVersion {
        /// As it was typed.
        name: String,
        /// What is there instead.
        found: String,
    },
    /// No operation has such a name.
    #[error("no wait or clock of these runtimes has '{only}' in its name; `oversleep runtimes --list` shows them")]
    UnknownOp {
        /// As it was typed.
        only: String,
    },
}

/// Whether a name is that of a program of the user's own.
pub fn is_program(name: &str) -> bool {
    name.contains(['/', '\\'])
}

impl Wanted {
    fn programs(&self) -> impl Iterator<Item = &String> {
        self.names.iter().filter(|name| is_program(name))
    }

    /// Whether any runtime is meant besides programs.
    fn means_runtimes(&self) -> bool {
        self.names.is_empty() || self.names.iter().any(|name| !is_program(name))
    }

    fn means(&self, descriptor: &Descriptor) -> bool {
        let is_named = |name: &String| {
            let name = name.to_ascii_lowercase();
            name == descriptor.name || name.strip_prefix(&descriptor.name).is_some_and(|rest| rest.starts_with('-'))
        };
        let is_any = self.names.is_empty() && (self.all || !descriptor.only_if_named);
        self.means_runtimes() && (is_any || self.names.iter().any(is_named))
    }

    fn means_installation(&self, id: &str, descriptor: &Descriptor) -> bool {
        let is_named = |name: &String| {
            let name = name.to_ascii_lowercase();
            name == descriptor.name || name == id
        };
        self.names.is_empty() || self.names.iter().any(is_named)
    }

    fn means_op(&self, op: &str) -> bool {
        let op = op.to_ascii_lowercase();
        self.only.is_empty() || self.only.iter().any(|only| op.contains(&only.to_ascii_lowercase()))
    }

    /// Looks for the runtimes that are wanted.
    ///
    /// # Errors
    /// A name that no runtime has.
    pub fn survey(&self, surroundings: &Surroundings) -> Result<Survey, WantedError> {
        let known = || descriptors().iter().map(|one| one.name.as_str());
        for name in self.names.iter().filter(|name| !is_program(name)) {
            let alone = Wanted { names: vec![name.clone()], ..Wanted::default() };
            if !descriptors().iter().any(|one| alone.means(one)) {
                let known = known().collect::<Vec<_>>().join(", ");
                return Err(WantedError::UnknownRuntime { name: name.clone(), known });
            }
        }
        let mut survey = Survey::default();
        for descriptor in descriptors().iter().filter(|one| self.means(one)) {
            match discover::find(descriptor, &self.given, surroundings) {
                Ok(found) if descriptor.library.is_empty() => survey.found.extend(found),
                Ok(found) => found.iter().for_each(|one| survey.add_libraries(one, surroundings)),
                Err(missing) => survey.missing.push(missing),
            }
        }
        for name in self.names.iter().filter(|name| !is_program(name) && !known().any(|known| known == name.as_str())) {
            let is_missing = survey.missing.iter().any(|one| one.name.eq_ignore_ascii_case(name));
            let is_found = survey.found.iter().any(|one| one.id.eq_ignore_ascii_case(name));
            if !is_found && !is_missing && !survey.found.is_empty() {
                let found = survey.found.iter().map(|one| one.id.as_str()).collect::<Vec<_>>().join(", ");
                return Err(WantedError::OtherVersion { name: name.clone(), found });
            }
        }
        survey.found.retain(|one| self.means_installation(&one.id, one.descriptor));
        survey.incomplete.retain(|(one, _)| self.means_installation(&one.id, one.descriptor));
        Ok(survey)
    }

    /// The probes of all runtimes found and of the user's programs, and those of the system's calls beneath. Compiles
    /// what isn't compiled yet; `progress` is told what.
    ///
    /// # Errors
    /// An operation that no runtime has.
    pub fn probes(
        &self,
        survey: &mut Survey,
        cache: &Cache,
        surroundings: &Surroundings,
        platform: &dyn Platform,
        plan: &Plan,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Vec<Box<dyn Probe>>, WantedError> {
        let os = platform.id().os;
        let mut probes: Vec<Box<dyn Probe>> = Vec::new();
        let mut beneath: Vec<String> = Vec::new();
        let mut failed = Vec::new();
        let mut published_beneath: Vec<&String> = Vec::new();
        for installation in &survey.found {
            progress(&installation.id);
            let launch = match installation.launch(cache, surroundings) {
                Ok(launch) => launch,
                Err(reason) => {
                    failed.push(Missing { name: installation.id.clone(), reason });
                    continue;
                }
            };
            let is_meant = |op: &&Op| self.means_op(&op.name) && (!self.published || op.published.is_some());
            let ops = || installation.descriptor.op.iter().filter(|op| op.is_on(&os)).filter(is_meant);
            let first =
                ops().find(|op| op.kind == OpKind::Wait && !op.slow).or_else(|| ops().next()).map(|op| &op.name);
            let alone = self.published;
            for op in ops() {
                let probe = match alone {
                    true => RuntimeProbe::published(&launch, op, &os),
                    false => RuntimeProbe::new(&launch, op, plan, &os, Some(&op.name) == first),
                };
                probes.push(Box::new(match op.since.as_ref().filter(|_| !installation.has(op)) {
                    Some(since) => {
                        let needs = format!("{} {since}", installation.descriptor.title);
                        probe.unavailable(&Unavailable::TooOld { needs })
                    }
                    None => probe,
                }));
                beneath.extend(op.beneath.get(&os).cloned());
                // Two versions of a runtime have one call beneath.
                if let Some(wait) = op.beneath.get(&os).filter(|wait| alone && !published_beneath.contains(wait)) {
                    published_beneath.push(wait);
                    probes.extend(native_published(platform, wait, op));
                }
            }
            let variants: Vec<_> = installation.descriptor.variant.iter().collect();
            for op in ops() {
                let tried: Vec<_> = variants.iter().filter(|one| one.ops.contains(&op.name)).collect();
                let here = |one: &&&&descriptor::Variant| one.systems.is_empty() || one.systems.contains(&os);
                if tried.is_empty() || alone {
                    continue;
                }
                // What passes items on was measured as it comes, above.
                if !engine::passes_items(op.kind) {
                    probes.push(Box::new(RuntimeProbe::varied(&launch, op, None, plan)));
                }
                probes.extend(
                    tried
                        .iter()
                        .filter(here)
                        .map(|one| -> Box<dyn Probe> { Box::new(RuntimeProbe::varied(&launch, op, Some(one), plan)) }),
                );
            }
        }
        let mut has_waits = false;
        survey.found.retain(|one| failed.iter().all(|missing| missing.name != one.id));
        survey.missing.extend(failed);
        for path in self.programs() {
            match program::ask(path) {
                Ok(program) => {
                    let ops = program.ops.iter().filter(|op| self.means_op(&op.name));
                    for (at, op) in ops.enumerate() {
                        has_waits |= op.kind == OpKind::Wait;
                        probes.push(Box::new(RuntimeProbe::new(&program.launch, op, plan, &os, at == 0)));
                    }
                }
                Err(reason) => survey.missing.push(Missing { name: path.clone(), reason }),
            }
        }
        if let (true, Some(only)) = (probes.is_empty() && !survey.found.is_empty(), self.only.first()) {
            return Err(WantedError::UnknownOp { only: only.clone() });
        }
        if self.published {
            return Ok(probes);
        }
        // A program's waits have the simplest sleep beside them.
        if beneath.is_empty() && has_waits {
            beneath.extend(platform.simplest(oversleep_system::Family::Sleep).map(|wait| wait.info().name.to_owned()));
        }
        let mut native = native(platform, &beneath, plan);
        native.append(&mut probes);
        Ok(native)
    }
}

impl Installation {
    /// Whether its version has that operation.
    pub fn has(&self, op: &Op) -> bool {
        op.since.as_ref().is_none_or(|since| discover::is_at_least(&self.version, since))
    }

    /// How its probe is started. It is compiled now if it isn't yet.
    ///
    /// # Errors
    /// Why it can't be compiled.
    pub fn launch(&self, cache: &Cache, surroundings: &Surroundings) -> Result<Launch, String> {
        let dir = cache.directory(self, surroundings)?;
        let (dir, own) = (dir.to_string_lossy(), self.values());
        let text = self.descriptor.sources.first().map_or("", |(_, text)| text);
        let mut values: Vec<(&str, &str)> = own.iter().map(|(name, value)| (*name, value.as_str())).collect();
        values.extend([("dir", &*dir), ("text", text)]);
        Ok(Launch {
            words: descriptor::filled(&self.descriptor.run.command, &values),
            environment: self.descriptor.run.environment.clone(),
            runtime: Runtime { name: self.descriptor.name.clone(), version: self.version.clone() },
            id: self.id.clone(),
        })
    }
}

/// The calls of the system that waits of runtimes end up in, as oversleep makes them itself, call by call.
fn native(platform: &dyn Platform, waits: &[String], plan: &Plan) -> Vec<Box<dyn Probe>> {
    let mut probes = Vec::new();
    let mut distinct: Vec<&String> = Vec::new();
    for wait in waits {
        if !distinct.contains(&wait) && find_wait(platform, wait).is_some() {
            distinct.push(wait);
        }
    }
    let rounds = steps::rounds(plan);
    for wait in distinct {
        for requested in steps::requests(plan) {
            let count = steps::count(plan, requested) * u64::from(rounds);
            let amount = Amount { count, time: Nanos::from_secs(20), rounds };
            let probe = WaitProbe::new(platform, ExperimentId::R1, wait, requested, amount);
            probes.push(probe.paced(Pace::BackToBack).labelled(label::BENEATH, wait.clone()).boxed());
        }
    }
    probes
}

/// The call beneath an operation with the requests of its published experiment, as far as lateness tells of it.
fn native_published(platform: &dyn Platform, wait: &str, op: &Op) -> Vec<Box<dyn Probe>> {
    let Some(published) = op.published.as_ref().filter(|one| one.experiment == ExperimentId::B10) else {
        return Vec::new();
    };
    let of_request = |&ns: &i64| {
        let amount = Amount { count: published.count, time: Nanos::from_secs(60), rounds: 1 };
        let probe = WaitProbe::new(platform, published.experiment, wait, Nanos(ns), amount);
        probe.paced(Pace::BackToBack).labelled(label::BENEATH, wait.to_owned()).boxed()
    };
    find_wait(platform, wait).map(|_| published.requests_ns.iter().map(of_request).collect()).unwrap_or_default()
}

impl Survey {
    /// A runtime that a library runs on becomes one of each of its versions.
    fn add_libraries(&mut self, on: &Installation, surroundings: &Surroundings) {
        let (found, missing) = library::with_libraries(on, surroundings);
        self.found.extend(found);
        for (one, library) in missing {
            self.incomplete.push((Installation { id: one.name.clone(), ..on.clone() }, library));
            self.missing.push(one);
        }
    }

    /// Lets Maven fetch the libraries that are missing; `progress` is told which. What can't be fetched stays missing.
    pub fn fetch(&mut self, surroundings: &Surroundings, progress: &mut dyn FnMut(&str)) {
        for (on, library) in std::mem::take(&mut self.incomplete) {
            progress(&on.id);
            let fetched = library::fetch(library, surroundings);
            let now = library::with_libraries(&on, surroundings).0.into_iter().find(|one| one.id == on.id);
            let missing = self.missing.iter_mut().filter(|one| one.name == on.id);
            match (fetched, now) {
                (Ok(()), Some(now)) => {
                    self.found.push(now);
                    self.missing.retain(|one| one.name != on.id);
                }
                (Ok(()), None) => missing.for_each(|one| one.reason.push_str(". Maven put it elsewhere")),
                (Err(error), _) => missing.for_each(|one| one.reason = format!("{error}. {}", one.reason)),
            }
        }
    }

    /// Adds what was found and what was not to the facts about the machine; paths stay out of it, for they name people.
    pub fn note_in(&self, environment: &mut Environment) {
        const SOURCE: &str = "oversleep runtimes";
        let found = self.found.iter().map(Installation::title).collect();
        let missing = self.missing.iter().map(|one| one.name.clone()).collect();
        environment.set(FactName::RuntimesFound, FactValue::List(found), SOURCE);
        environment.set(FactName::RuntimesMissing, FactValue::List(missing), SOURCE);
    }
}
