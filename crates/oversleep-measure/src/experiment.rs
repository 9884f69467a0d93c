//! The definition of an experiment. Its entry in `experiments/` is complete: help, listings, reports and the
//! documentation are generated from it.

use oversleep_record::ExperimentId;
use oversleep_record::series::Quantity;
use oversleep_system::Platform;

use crate::plan::{Depth, Plan};
use crate::probe::Probe;

/// The meaning of a column in an experiment's table. Columns that every table has (requested, p50, max, count) aren't
/// repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// The column's head; for a label that distinguishes series, its name.
    pub name: &'static str,
    /// The meaning of its values.
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
    /// `oversleep idle`
    Idle,
    /// `oversleep resolution sweep`
    ResolutionSweep,
    /// `oversleep resolution neighbours`
    ResolutionNeighbours,
    /// `oversleep resolution watch`
    ResolutionWatch,
    /// `oversleep runtimes`
    Runtimes,
}

impl Command {
    /// The command as typed.
    pub fn typed(self) -> &'static str {
        match self {
            Command::Clocks => "oversleep clocks",
            Command::Waits => "oversleep waits",
            Command::NamedWaits => "oversleep waits NAME",
            Command::ForkJoin => "oversleep forkjoin",
            Command::Handoff => "oversleep handoff",
            Command::Idle => "oversleep idle",
            Command::ResolutionSweep => "oversleep resolution sweep",
            Command::ResolutionNeighbours => "oversleep resolution neighbours",
            Command::ResolutionWatch => "oversleep resolution watch",
            Command::Runtimes => "oversleep runtimes",
        }
    }
}

/// One experiment.
pub struct Experiment {
    /// Its family's letter and a number: `A1` … `E2`.
    pub id: ExperimentId,
    /// Its name in lists and headings.
    pub title: &'static str,
    /// The question it answers.
    pub question: &'static str,
    /// How it is measured, and how to read the result.
    pub method: &'static str,
    /// The quantities of its series; empty if it records none.
    pub quantities: &'static [Quantity],
    /// The columns of its table.
    pub columns: &'static [Column],
    /// Ids of the experiments whose measurements it reads; they run with it.
    pub reads: &'static [ExperimentId],
    /// The least depth at which `check` runs it.
    pub depth: Depth,
    /// Whether its threads compute without a pause, so that modelling it takes as long as measuring it.
    pub is_slow_to_model: bool,
    /// The commands that run it.
    pub commands: &'static [Command],
    /// The probes for a plan.
    pub probes: fn(&dyn Platform, &Plan) -> Vec<Box<dyn Probe>>,
}

impl Experiment {
    /// The default fields of an entry: no measurements of its own, and `check` runs it at every depth.
    pub(crate) const BLANK: Experiment = Experiment {
        id: ExperimentId::new("?"),
        title: "",
        question: "",
        method: "",
        quantities: &[],
        columns: &[],
        reads: &[],
        depth: Depth::Quick,
        is_slow_to_model: false,
        commands: &[],
        probes: |_, _| Vec::new(),
    };
}
