//! Where to look for a finding.

use oversleep_explain::{self as explain, Scope};
use oversleep_measure::{Plan, Silent, StopFlag, experiment_named};
use oversleep_record::{CommandName, ExperimentId};

use crate::machines;
use crate::session::Request;

/// A machine of each system: its result without a measurement says what is missing for each finding.
const MACHINES: [&str; 3] = ["linux-hz250", "windows-11", "macos-14-m1"];

/// A finding, and what looks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its id.
    pub id: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What looks for it.
    pub shown_by: ShownBy,
}

/// What looks for a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownBy {
    /// A check with this experiment.
    Experiment(ExperimentId),
    /// Every check.
    Check,
    /// The command `runtimes`.
    Runtimes,
    /// The command `why`.
    Why,
    /// The command `archive report`.
    Archive,
}

/// The finding with that id or name.
pub fn named(id_or_name: &str) -> Option<Finding> {
    let entry = explain::entry(id_or_name)?;
    let shown_by = match entry.scope {
        Scope::Observed => ShownBy::Why,
        Scope::Fleet => ShownBy::Archive,
        _ if entry.id.starts_with("OVS-R") => ShownBy::Runtimes,
        _ => experiment(entry.id).map_or(ShownBy::Check, ShownBy::Experiment),
    };
    Some(Finding { id: entry.id, name: entry.name, shown_by })
}

/// The experiment that a finding lacks in a result without any.
fn experiment(id: &str) -> Option<ExperimentId> {
    let sentence_on = |machine: &&str| {
        let lab = machines::load(machine, &[], machines::SEED).ok()?;
        let nothing = Request {
            command: CommandName::Check,
            experiments: Vec::new(),
            plan: Plan::default(),
            name: None,
            try_remedies: false,
        };
        let result = lab.run(&nothing, &StopFlag::new(), &mut Silent).ok()?;
        result.findings.into_iter().find(|finding| finding.id == id).map(|finding| finding.whole_sentence())
    };
    let lacking = |sentence: String| {
        let id = sentence.split_once("--only ")?.1.trim_end_matches('`').to_owned();
        experiment_named(&id).map(|experiment| experiment.id)
    };
    MACHINES.iter().filter_map(sentence_on).find_map(lacking)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_shown_by_an_experiment_a_check_or_another_command() {
        for (name, shown_by) in [
            ("timer-slack", ShownBy::Experiment(ExperimentId::B5)),
            ("OVS-L001", ShownBy::Experiment(ExperimentId::B5)),
            ("half-millisecond", ShownBy::Experiment(ExperimentId::C2)),
            ("fork-join-by-clock", ShownBy::Experiment(ExperimentId::D1)),
            ("cgroup-quota", ShownBy::Check),
            ("late-by-slack", ShownBy::Why),
            ("host-unlike-its-group", ShownBy::Archive),
        ] {
            assert_eq!(named(name).map(|finding| finding.shown_by), Some(shown_by), "{name}");
        }
        let of_runtimes = explain::registry().iter().find(|entry| entry.id.starts_with("OVS-R")).expect("one");
        assert_eq!(named(of_runtimes.name).map(|finding| finding.shown_by), Some(ShownBy::Runtimes));
        assert_eq!(named("B5"), None);
    }
}
