//! `forkjoin`: how long it takes to fork work to threads and join them, by how the main thread waits.

use clap::Args;
use oversleep_measure::Command;

use super::measuring::{self, Files};
use crate::args::{ConditionArgs, DepthArgs, LimitArgs, MachineArgs, OutputArgs, help};
use crate::exit::{Exit, Failure};
use crate::request::MeasuringArgs;

/// Measure fork-joins: compare a main thread that blocks, spins or polls while it waits
#[derive(Args, Debug)]
#[command(before_help = help::FORKJOIN, after_help = help::CODES)]
pub struct ForkJoin {
    #[command(flatten)]
    depth: DepthArgs,
    #[command(flatten)]
    limit: LimitArgs,
    #[command(flatten)]
    conditions: ConditionArgs,
    #[command(flatten)]
    machine: MachineArgs,
    #[command(flatten)]
    output: OutputArgs,
}

impl ForkJoin {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        let args = MeasuringArgs {
            experiments: Command::ForkJoin.experiments(),
            depth: self.depth.depth(),
            limit: self.limit.limit(),
            name: self.output.name.clone(),
            ..MeasuringArgs::new("forkjoin", self.conditions, self.machine)
        };
        measuring::run(args, &self.output, Files::AsAsked)
    }
}
