//! The registry of experiments: what each is, where it comes from, and the probes it consists of.

use super::experiments;
use super::plan::{Depth, Plan};
use super::probe::Probe;
use oversleep_record::ExperimentId;
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
    pub id: ExperimentId,
    /// Short name for lists.
    pub title: &'static str,
    /// The question it answers.
    pub question: &'static str,
    /// Method, and how to read the result.
    pub doc: &'static str,
    /// Published figures.
    pub published: &'static [Published],
    /// Ids of the experiments whose measurements it reads; they are run with it.
    pub reads: &'static [ExperimentId],
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

/// The experiment of that id, as somebody typed it: in either case.
pub fn experiment_named(id: &str) -> Option<&'static Experiment> {
    registry().iter().copied().find(|experiment| experiment.id.is_typed(id))
}

/// The experiment of that id.
pub fn experiment(id: ExperimentId) -> Option<&'static Experiment> {
    registry().iter().copied().find(|experiment| experiment.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use oversleep_record::ExperimentId;

    #[test]
    fn only_a_thorough_check_starts_other_processes() {
        let ids = |depth| of_check(depth, false).iter().map(|experiment| experiment.id).collect::<Vec<_>>();
        assert_eq!(ids(Depth::Thorough).len(), registry().len());
        for depth in [Depth::Quick, Depth::Normal] {
            assert!([ExperimentId::C3, ExperimentId::C4, ExperimentId::C5].iter().all(|id| !ids(depth).contains(id)));
            assert_eq!(ids(depth).len(), registry().len() - 3);
        }
        assert_eq!(of_check(Depth::Normal, true).len(), registry().len(), "where it costs no time");
        assert_eq!(of_check(Depth::Quick, true).len(), registry().len() - 3);
    }

    #[test]
    fn every_entry_is_documented_and_in_order() {
        let ids: Vec<ExperimentId> = registry().iter().map(|experiment| experiment.id).collect();
        let order = |id: &ExperimentId| (id.as_str()[..1].to_owned(), id.as_str()[1..].parse::<u32>().ok());
        assert!(ids.windows(2).all(|pair| order(&pair[0]) < order(&pair[1])), "by letter and number, each once");
        for experiment in registry() {
            for id in experiment.reads {
                assert!(ids.contains(id), "{} reads {id}", experiment.id);
            }
            assert!(experiment.question.ends_with('?'), "{}", experiment.id);
            assert!(experiment.doc.len() > 150, "{} needs its method written down", experiment.id);
        }
    }
}
