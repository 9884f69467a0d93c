//! The experiments by id, by depth and by command.

use oversleep_record::ExperimentId;

use crate::experiment::{Command, Experiment};
use crate::experiments;
use crate::plan::Depth;

impl Command {
    /// The experiments that this command runs.
    pub fn experiments(self) -> Vec<&'static Experiment> {
        registry().iter().copied().filter(|experiment| experiment.commands.contains(&self)).collect()
    }
}

/// Every experiment, by id.
pub fn registry() -> &'static [&'static Experiment] {
    experiments::ALL
}

/// The experiments that `check` runs at that depth. In virtual time, a normal check also runs the long ones, except
/// those that take as long on a model.
pub fn of_check(depth: Depth, is_time_free: bool) -> Vec<&'static Experiment> {
    let deepest = |experiment: &Experiment| match depth {
        Depth::Normal if is_time_free && !experiment.is_slow_to_model => Depth::Thorough,
        depth => depth,
    };
    registry().iter().copied().filter(|experiment| experiment.depth <= deepest(experiment)).collect()
}

/// The experiment with that id, as typed, in upper or lower case.
pub fn experiment_named(id: &str) -> Option<&'static Experiment> {
    registry().iter().copied().find(|experiment| experiment.id.is_typed(id))
}

/// The experiment with that id.
pub fn experiment(id: ExperimentId) -> Option<&'static Experiment> {
    registry().iter().copied().find(|experiment| experiment.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_thorough_check_runs_the_long_experiments() {
        let long = registry().iter().filter(|experiment| experiment.depth == Depth::Thorough).count();
        assert!(long > 0);
        assert_eq!(of_check(Depth::Thorough, false).len(), registry().len());
        let slow = registry().iter().filter(|experiment| experiment.is_slow_to_model).count();
        assert_eq!(of_check(Depth::Normal, true).len(), registry().len() - slow, "where time costs nothing");
        for check in [of_check(Depth::Quick, true), of_check(Depth::Quick, false), of_check(Depth::Normal, false)] {
            assert_eq!(check.len(), registry().len() - long);
        }
    }

    #[test]
    fn every_entry_is_documented_and_in_order() {
        let place = |experiment: &Experiment| {
            (experiment.id.as_str()[..1].to_owned(), experiment.id.as_str()[1..].parse::<u32>().unwrap())
        };
        for pair in registry().windows(2) {
            assert!(place(pair[0]) < place(pair[1]), "{} stands before {}", pair[0].id, pair[1].id);
        }
        for entry in registry() {
            assert!(entry.reads.iter().all(|&id| experiment(id).is_some()), "{}: {:?}", entry.id, entry.reads);
            assert!(!entry.title.is_empty() && entry.question.ends_with('?'), "{}", entry.id);
            assert!(entry.method.len() > 150, "{} needs its method written down", entry.id);
            assert!(entry.columns.iter().all(|column| column.meaning.ends_with('.')), "{}", entry.id);
        }
    }

    #[test]
    fn every_command_runs_an_experiment() {
        let commands: Vec<Command> = registry().iter().flat_map(|experiment| experiment.commands).copied().collect();
        for command in [
            Command::Clocks,
            Command::Waits,
            Command::NamedWaits,
            Command::ForkJoin,
            Command::Handoff,
            Command::Idle,
            Command::ResolutionSweep,
            Command::ResolutionNeighbours,
        ] {
            assert!(commands.contains(&command), "{}", command.typed());
        }
    }
}
