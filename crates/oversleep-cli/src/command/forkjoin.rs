//! `forkjoin`: what it costs to fork work to threads and join them, by how the workers wait.

use clap::Args;
use oversleep_record::ExperimentId;

use super::measuring::{self, Files};
use crate::args::{ConditionArgs, DepthArgs, LimitArgs, MachineArgs, OutputArgs, help};
use crate::exit::{Exit, Failure};
use crate::request::{Wish, experiments};

/// Measure fork-join: blocked, spinning and polling workers side by side
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
        let wish = Wish {
            experiments: experiments::by_id(&[ExperimentId::D1, ExperimentId::D2, ExperimentId::D3]),
            depth: self.depth.depth(),
            limit: self.limit.limit(),
            name: self.output.name.clone(),
            ..Wish::new("forkjoin", self.conditions, self.machine)
        };
        measuring::run(wish, &self.output, Files::AsAsked)
    }
}
