//! The registry of experiments: what each is, where it comes from, and the probes it consists of.

use super::experiments;
use super::plan::{Depth, Plan};
use super::probe::Probe;
use oversleep_system::Platform;

/// A figure somebody published by hand, to print beside one's own where the platform matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Published {
    /// `windows`, `linux`, `macos`, `wsl`.
    pub os: &'static str,
    /// What was measured on what.
    pub what: &'static str,
    /// The figure as published.
    pub value: &'static str,
    /// Where.
    pub source: &'static str,
}

/// One experiment.
pub struct Experiment {
    /// `A1` … `D4`: where it comes from.
    pub id: &'static str,
    /// Short name for lists.
    pub title: &'static str,
    /// The question it answers.
    pub question: &'static str,
    /// Method, and how to read the result.
    pub doc: &'static str,
    /// Published figures.
    pub published: &'static [Published],
    /// Ids of the experiments whose measurements it reads; they are run with it.
    pub reads: &'static [&'static str],
    /// The probes for such a plan. Experiments that read what others measured have none.
    pub probes: fn(&dyn Platform, &Plan) -> Vec<Box<dyn Probe>>,
}

/// Every experiment, by id.
pub fn registry() -> &'static [&'static Experiment] {
    experiments::ALL
}

/// The experiments a check of that depth consists of; long ones too where there is time for them.
pub fn of_check(depth: Depth, has_time: bool) -> Vec<&'static Experiment> {
    let is_long = |experiment: &Experiment| experiments::LONG.iter().any(|long| long.id == experiment.id);
    let takes_all = depth == Depth::Thorough || (has_time && depth == Depth::Normal);
    registry().iter().copied().filter(|experiment| takes_all || !is_long(experiment)).collect()
}

/// The experiment of that id, in either case.
pub fn experiment(id: &str) -> Option<&'static Experiment> {
    registry().iter().copied().find(|experiment| experiment.id.eq_ignore_ascii_case(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_thorough_check_starts_other_processes() {
        let ids = |depth| of_check(depth, false).iter().map(|experiment| experiment.id).collect::<Vec<_>>();
        assert_eq!(ids(Depth::Thorough).len(), registry().len());
        for depth in [Depth::Quick, Depth::Normal] {
            assert!(["C3", "C4", "C5"].iter().all(|id| !ids(depth).contains(id)));
            assert_eq!(ids(depth).len(), registry().len() - 3);
        }
        assert_eq!(of_check(Depth::Normal, true).len(), registry().len(), "where it costs no time");
        assert_eq!(of_check(Depth::Quick, true).len(), registry().len() - 3);
    }

    #[test]
    fn every_entry_is_documented_and_in_order() {
        let ids: Vec<&str> = registry().iter().map(|experiment| experiment.id).collect();
        let wanted = [
            "A1", "A2", "A3", "A4", "A5", "A6", "B1", "B2", "B3", "B4", "B5", "B6", "B7", "B8", "B9", "B12", "C1",
            "C2", "C3", "C4", "C5", "C6", "D1", "D2", "D3", "D4",
        ];
        assert_eq!(ids, wanted);
        for experiment in registry() {
            for id in experiment.reads {
                assert!(ids.contains(id), "{} reads {id}", experiment.id);
            }
            assert!(experiment.question.ends_with('?'), "{}", experiment.id);
            assert!(experiment.doc.len() > 150, "{} needs its method written down", experiment.id);
        }
    }
}
