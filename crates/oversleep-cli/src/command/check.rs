//! `check`: everything, and the remedies.

use clap::Args;

use super::measuring::{self, Files};
use crate::args::{AskArgs, ConditionArgs, DepthArgs, LimitArgs, MachineArgs, OutputArgs, help};
use crate::exit::{Exit, Failure};
use crate::request::{Wish, experiments};

/// Measure everything, say what is wrong, try what helps (the default)
///
/// Runs the experiments (those that start other processes only with --thorough or --only), looks for every finding, and
/// tries harmless remedies on its own threads to show what they gain.
/// Unless an output is named, leaves oversleep-<UTC date and time>.json and .html in the current directory.
#[derive(Args, Debug, Default)]
#[command(before_help = help::CHECK, after_help = help::CODES)]
pub struct Check {
    #[command(flatten)]
    depth: DepthArgs,
    #[command(flatten)]
    ask: AskArgs,
    #[command(flatten)]
    limit: LimitArgs,

    /// Only these experiments, like B2,D1; `oversleep experiments` lists them
    #[arg(long, value_name = "ID", value_delimiter = ',', help_heading = "How much")]
    only: Vec<String>,

    /// Don't try remedies
    #[arg(long, help_heading = "How much")]
    no_remedies: bool,

    #[command(flatten)]
    conditions: ConditionArgs,
    #[command(flatten)]
    machine: MachineArgs,
    #[command(flatten)]
    output: OutputArgs,
}

impl Check {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        let experiments = match self.only.is_empty() {
            true => Vec::new(),
            false => experiments::named(&self.only)?,
        };
        let wish = Wish {
            experiments,
            depth: self.depth.depth(),
            asks: self.ask.ask,
            limit: self.limit.limit(),
            name: self.output.name.clone(),
            try_remedies: !self.no_remedies,
            ..Wish::new("check", self.conditions, self.machine)
        };
        measuring::run(wish, &self.output, Files::Automatic)
    }
}
