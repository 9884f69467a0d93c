//! The probes of a run: of each runtime, of the user's programs, and of the system's calls beneath them.

use oversleep_measure::{Amount, Plan, Probe, find_wait, runtime_waits};
use oversleep_record::probe::OpKind;
use oversleep_record::{ExperimentId, Nanos, Unavailable};
use oversleep_system::{Family, Platform};

use crate::cache::Cache;
use crate::descriptor::Op;
use crate::engine;
use crate::installation::{Installation, Missing};
use crate::probe::{Launch, RuntimeProbe};
use crate::program::Program;
use crate::surroundings::Surroundings;
use crate::survey::Survey;
use crate::wanted::{Wanted, WantedError};

impl Wanted {
    /// The probes of all runtimes found, of the user's programs, and of the system's calls beneath them. Compiles the probes
    /// that aren't in the cache; `progress` gets the id of each runtime before.
    ///
    /// # Errors
    /// No runtime has such an operation.
    pub fn probes(
        &self,
        survey: &mut Survey,
        cache: &Cache,
        surroundings: &Surroundings,
        platform: &dyn Platform,
        plan: &Plan,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Vec<Box<dyn Probe>>, WantedError> {
        let mut selection = Selection { wanted: self, platform, plan, probes: Vec::new(), beneath: Vec::new() };
        let mut failed = Vec::new();
        for installation in &survey.found {
            progress(&installation.id);
            match installation.launch(cache, surroundings) {
                Ok(launch) => selection.add_runtime(installation, &launch),
                Err(reason) => failed.push(Missing { name: installation.id.clone(), reason }),
            }
        }
        survey.found.retain(|one| failed.iter().all(|missing| missing.name != one.id));
        survey.missing.extend(failed);
        let programs = self.ask_programs(survey);
        if let Some(error) = self.unknown(&programs, survey) {
            return Err(error);
        }
        programs.iter().for_each(|program| selection.add_program(program));
        Ok(selection.with_native())
    }
}

/// The probes chosen so far.
struct Selection<'a> {
    wanted: &'a Wanted,
    platform: &'a dyn Platform,
    plan: &'a Plan,
    probes: Vec<Box<dyn Probe>>,
    /// The system's calls beneath them.
    beneath: Vec<String>,
}

impl Selection<'_> {
    /// Adds the selected operations of a runtime.
    fn add_runtime(&mut self, installation: &Installation, launch: &Launch) {
        let os = self.platform.id().os;
        let Wanted { published, .. } = *self.wanted;
        let is_meant = |op: &&Op| self.wanted.means_op(&op.name) && (!published || op.published.is_some());
        let ops: Vec<&Op> = installation.descriptor.op.iter().filter(|op| op.is_on(&os)).filter(is_meant).collect();
        let first = ops.iter().find(|op| op.kind == OpKind::Wait && !op.slow).or(ops.first()).map(|op| &op.name);
        for &op in &ops {
            let probe = match published {
                true => RuntimeProbe::published(launch, op, &os),
                false => RuntimeProbe::new(launch, op, self.plan, &os, Some(&op.name) == first),
            };
            self.probes.push(Box::new(match op.since.as_ref().filter(|_| !installation.has(op)) {
                Some(since) => {
                    let needs = format!("{} {since}", installation.descriptor.title);
                    probe.unavailable(&Unavailable::TooOld { needs })
                }
                None => probe,
            }));
            if let Some(wait) = op.beneath.get(&os) {
                // Two versions of a runtime share the call beneath.
                if published && !self.beneath.contains(wait) {
                    self.probes.extend(native_published(self.platform, wait, op));
                }
                self.beneath.push(wait.clone());
            }
        }
        if !published {
            ops.iter().for_each(|op| self.add_variants(installation, launch, op, &os));
        }
    }

    /// Adds an operation again with each of the runtime's options or conditions, and as found for comparison.
    fn add_variants(&mut self, installation: &Installation, launch: &Launch, op: &Op, os: &str) {
        let variants = || installation.descriptor.variant.iter().filter(|one| one.ops.contains(&op.name));
        if variants().next().is_none() {
            return;
        }
        // Operations that pass items on are already there as found.
        if !engine::passes_items(op.kind) {
            self.probes.push(Box::new(RuntimeProbe::varied(launch, op, None, self.plan)));
        }
        for variant in variants().filter(|one| one.systems.is_empty() || one.systems.iter().any(|system| system == os))
        {
            self.probes.push(Box::new(RuntimeProbe::varied(launch, op, Some(variant), self.plan)));
        }
    }

    /// Adds a program of the user's own. If nothing else is measured, the simplest sleep is measured beside its waits.
    fn add_program(&mut self, program: &Program) {
        let os = self.platform.id().os;
        let ops: Vec<&Op> = program.ops.iter().filter(|op| self.wanted.means_op(&op.name)).collect();
        let first = ops.iter().find(|op| op.kind == OpKind::Wait).or(ops.first()).map(|op| &op.name);
        for &op in &ops {
            let is_first = Some(&op.name) == first;
            self.probes.push(Box::new(RuntimeProbe::new(&program.launch, op, self.plan, &os, is_first)));
            if op.kind == OpKind::Wait && self.beneath.is_empty() {
                let simplest = self.platform.simplest(Family::Sleep);
                self.beneath.extend(simplest.map(|wait| wait.info().name.to_owned()));
            }
        }
    }

    /// All probes, the system's own waits first.
    fn with_native(mut self) -> Vec<Box<dyn Probe>> {
        if self.wanted.published {
            return self.probes;
        }
        let mut all = runtime_waits::beneath(self.platform, &self.beneath, self.plan);
        all.append(&mut self.probes);
        all
    }
}

/// The call beneath an operation, with the requests of the published experiment if that is about lateness.
fn native_published(platform: &dyn Platform, wait: &str, op: &Op) -> Vec<Box<dyn Probe>> {
    let Some(published) = op.published.as_ref().filter(|one| one.experiment == ExperimentId::B10) else {
        return Vec::new();
    };
    let of_request = |&ns: &i64| {
        let amount = Amount { count: published.count, time: Nanos::from_secs(60), rounds: 1 };
        runtime_waits::beneath_once(platform, published.experiment, wait, Nanos(ns), amount)
    };
    find_wait(platform, wait).map(|_| published.requests_ns.iter().map(of_request).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use oversleep_record::series::Runtime;

    use super::*;
    use crate::descriptor::descriptors;

    /// Two versions of Java; neither is started.
    #[test]
    fn two_versions_of_a_runtime_have_one_published_call_beneath() {
        let platform = oversleep_native::here();
        let java = descriptors().iter().find(|one| one.name == "java").expect("it has a folder");
        let wanted = Wanted { published: true, ..Wanted::default() };
        let plan = Plan::default();
        let mut selection =
            Selection { wanted: &wanted, platform: &*platform, plan: &plan, probes: Vec::new(), beneath: Vec::new() };
        for version in ["17.0.15", "25.0.3"] {
            let (version, id) = (version.to_owned(), format!("java-{}", &version[..2]));
            let runtime = Runtime { name: java.name.clone(), version: version.clone() };
            let (environment, limits) = Default::default();
            let launch = Launch { words: vec!["java".to_owned()], environment, runtime, id: id.clone(), limits };
            let installation = Installation { descriptor: java, exe: "java".into(), version, id, library: None };
            selection.add_runtime(&installation, &launch);
        }
        let mut probes = selection.with_native();
        let recorders = probes.iter_mut().flat_map(|probe| probe.recorders());
        let series: Vec<_> = recorders.map(|recorder| recorder.series().clone()).collect();
        let keys: BTreeSet<_> = series.iter().map(|series| series.key.to_string()).collect();
        assert_eq!(keys.len(), series.len(), "each key once: {keys:?}");
        assert_eq!(series.iter().filter(|series| series.runtime.is_some()).count(), 4, "{keys:?}");
        assert!(series.iter().filter(|series| series.runtime.is_none()).count() <= 2, "{keys:?}");
    }
}
