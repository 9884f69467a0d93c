//! `clocks`: what each clock costs, how it steps, and whether it can be trusted.

use clap::Args;
use oversleep_lab::catalogue::Kind;
use oversleep_record::ExperimentId;

use super::measuring::{self, Files};
use super::registry;
use crate::args::{ConditionArgs, DepthArgs, MachineArgs, OutputArgs, help};
use crate::exit::{Exit, Failure};
use crate::request::{Wish, experiments};

/// Measure clocks: cost per call, step, drift, and whether each can be trusted
#[derive(Args, Debug)]
#[command(before_help = help::clocks(), after_help = help::CODES)]
pub struct Clocks {
    /// Clocks to measure [default: all]
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// List the clocks with their properties and whether they can be used here
    #[arg(long)]
    list: bool,

    #[command(flatten)]
    depth: DepthArgs,
    #[command(flatten)]
    conditions: ConditionArgs,
    #[command(flatten)]
    machine: MachineArgs,
    #[command(flatten)]
    output: OutputArgs,
}

impl Clocks {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        if self.list {
            return registry::list(Kind::Clock, &self.names, &self.machine, &self.output);
        }
        let wish = Wish {
            experiments: experiments::by_id(&[
                ExperimentId::A1,
                ExperimentId::A2,
                ExperimentId::A3,
                ExperimentId::A4,
                ExperimentId::A5,
                ExperimentId::A6,
                ExperimentId::B3,
            ]),
            depth: self.depth.depth(),
            subjects: self.names,
            subject_kind: Some(Kind::Clock),
            name: self.output.name.clone(),
            ..Wish::new("clocks", self.conditions, self.machine)
        };
        measuring::run(wish, &self.output, Files::AsAsked)
    }
}
