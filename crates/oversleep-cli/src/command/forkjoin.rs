//! `forkjoin`: how long it takes to fork work to threads and join them, by how the main thread waits.

use clap::Args;
use oversleep_measure::Command;
use oversleep_record::CommandName;

use super::measuring::{self, Files};
use crate::args::{DepthArgs, LimitArgs, RunArgs, help};
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
    run: RunArgs,
}

impl ForkJoin {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        let args = MeasuringArgs {
            experiments: Command::ForkJoin.experiments(),
            limit: self.limit.limit(),
            ..MeasuringArgs::new(CommandName::ForkJoin, self.depth, self.run.conditions, self.run.machine)
        };
        measuring::run(args, &self.run.output, Files::AsAsked)
    }
}
