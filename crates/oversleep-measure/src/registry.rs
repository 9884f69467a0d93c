//! What an experiment is. Its entry in `experiments/` says all there is to say of it: help, listings, reports and the pages
//! of the documentation are made from it.

use oversleep_record::ExperimentId;
use oversleep_record::series::Quantity;
use oversleep_system::Platform;

use super::experiments;
use super::plan::{Depth, Plan};
use super::probe::Probe;

/// A figure somebody else published, to print beside one's own on the same system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Published {
    /// `windows`, `linux`, `macos`, `wsl`.
    pub os: &'static str,
    /// What was measured, on what.
    pub what: &'static str,
    /// The figure as published.
    pub value: &'static str,
    /// Where it was published.
    pub source: &'static str,
}

/// What a column of an experiment's table means. Columns that every table has (requested, p50, max, count) aren't repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// The column's head; for what tells series apart, the label they carry.
    pub name: &'static str,
    /// What stands in it.
    pub meaning: &'static str,
}

/// A command that runs some experiments. `check` runs all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// `oversleep clocks`
    Clocks,
    /// `oversleep waits`: a survey of all waits.
    Waits,
    /// `oversleep waits NAME`: a close look at a few.
    NamedWaits,
    /// `oversleep forkjoin`
    ForkJoin,
    /// `oversleep handoff`
    Handoff,
    /// `oversleep resolution sweep`
    ResolutionSweep,
    /// `oversleep resolution neighbours`
    ResolutionNeighbours,
}

impl Command {
    /// As it is typed.
    pub fn typed(self) -> &'static str {
        match self {
            Command::Clocks => "oversleep clocks",
            Command::Waits => "oversleep waits",
            Command::NamedWaits => "oversleep waits NAME",
            Command::ForkJoin => "oversleep forkjoin",
            Command::Handoff => "oversleep handoff",
            Command::ResolutionSweep => "oversleep resolution sweep",
            Command::ResolutionNeighbours => "oversleep resolution neighbours",
        }
    }

    /// The experiments it runs.
    pub fn experiments(self) -> Vec<&'static Experiment> {
        registry().iter().copied().filter(|experiment| experiment.commands.contains(&self)).collect()
    }
}

/// One experiment.
pub struct Experiment {
    /// Its family's letter and a number: `A1` … `D4`.
    pub id: ExperimentId,
    /// Its name in lists and headings.
    pub title: &'static str,
    /// The question it answers.
    pub question: &'static str,
    /// How it is measured, and how to read the result.
    pub method: &'static str,
    /// What the values of its series are; empty where it records no series.
    pub quantities: &'static [Quantity],
    /// The columns of its table.
    pub columns: &'static [Column],
    /// Published figures.
    pub published: &'static [Published],
    /// Ids of the experiments whose measurements it reads; they run with it.
    pub reads: &'static [ExperimentId],
    /// The least depth at which `check` runs it.
    pub depth: Depth,
    /// The commands that run it.
    pub commands: &'static [Command],
    /// The probes for a plan.
    pub probes: fn(&dyn Platform, &Plan) -> Vec<Box<dyn Probe>>,
}

impl Experiment {
    /// What an entry needn't state: it measures nothing of its own, and `check` runs it at every depth.
    pub(super) const BLANK: Experiment = Experiment {
        id: ExperimentId::new("?"),
        title: "",
        question: "",
        method: "",
        quantities: &[],
        columns: &[],
        published: &[],
        reads: &[],
        depth: Depth::Quick,
        commands: &[],
        probes: |_, _| Vec::new(),
    };
}

/// Every experiment, by id.
pub fn registry() -> &'static [&'static Experiment] {
    experiments::ALL
}

/// The experiments that `check` runs at that depth. Where time costs nothing, a normal check runs the long ones too.
pub fn of_check(depth: Depth, is_time_free: bool) -> Vec<&'static Experiment> {
    let deepest = if is_time_free && depth == Depth::Normal { Depth::Thorough } else { depth };
    registry().iter().copied().filter(|experiment| experiment.depth <= deepest).collect()
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

    #[test]
    fn only_a_thorough_check_runs_the_long_experiments() {
        let long = registry().iter().filter(|experiment| experiment.depth == Depth::Thorough).count();
        assert!(long > 0);
        assert_eq!(of_check(Depth::Thorough, false).len(), registry().len());
        assert_eq!(of_check(Depth::Normal, true).len(), registry().len(), "where time costs nothing");
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
            Command::ResolutionSweep,
            Command::ResolutionNeighbours,
        ] {
            assert!(commands.contains(&command), "{}", command.typed());
        }
    }
}
