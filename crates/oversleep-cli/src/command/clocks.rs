//! `clocks`: what each clock costs, how it steps, and whether it is valid.

use clap::Args;
use oversleep_lab::catalogue::Kind;
use oversleep_measure::Command;
use oversleep_record::CommandName;

use super::measuring::{self, Files};
use super::registry;
use crate::args::{DepthArgs, RunArgs, help};
use crate::exit::{Exit, Failure};
use crate::request::MeasuringArgs;

/// Measure clocks: cost per read, step, drift, and whether each is valid
#[derive(Args, Debug)]
#[command(before_help = help::clocks(), after_help = help::CODES)]
pub struct Clocks {
    /// Clocks to measure [default: all]
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// List the clocks with their properties and whether each is available here
    #[arg(long)]
    list: bool,

    #[command(flatten)]
    depth: DepthArgs,
    #[command(flatten)]
    run: RunArgs,
}

impl Clocks {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        if self.list {
            return registry::list(Kind::Clock, &self.names, &self.run.machine, &self.run.output);
        }
        let args = MeasuringArgs {
            experiments: Command::Clocks.experiments(),
            subjects: self.names,
            subject_kind: Some(Kind::Clock),
            ..MeasuringArgs::new(CommandName::Clocks, self.depth, self.run.conditions, self.run.machine)
        };
        measuring::run(args, &self.run.output, Files::AsAsked)
    }
}
