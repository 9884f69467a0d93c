//! `waits`: how late each way to wait ends.

use clap::Args;
use oversleep_lab::catalogue::Kind;

use super::measuring::{self, Files};
use super::registry;
use crate::args::{AskArgs, ConditionArgs, DepthArgs, LimitArgs, MachineArgs, OutputArgs, PaceArg, help};
use crate::exit::{Exit, Failure};
use crate::request::{Wish, experiments};

/// Measure waits: how late does each way to wait end, for each request?
#[derive(Args, Debug)]
#[command(before_help = help::waits(), after_help = help::CODES)]
pub struct Waits {
    /// Waits to measure, closely [default: a survey of all]
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// List the waits with their properties and whether they can be used here
    #[arg(long)]
    list: bool,

    #[command(flatten)]
    depth: DepthArgs,
    #[command(flatten)]
    ask: AskArgs,
    #[command(flatten)]
    limit: LimitArgs,

    /// How waits follow one another [default: periodic for waits that can express what is left of a period, back to back
    /// for those that count in milliseconds]
    #[arg(long, value_enum, help_heading = "How much")]
    pace: Option<PaceArg>,

    #[command(flatten)]
    conditions: ConditionArgs,
    #[command(flatten)]
    machine: MachineArgs,
    #[command(flatten)]
    output: OutputArgs,
}

impl Waits {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        if self.list {
            return registry::list(Kind::Wait, &self.names, &self.machine, &self.output);
        }
        let wish = Wish {
            experiments: experiments::for_waits(&self.names),
            depth: self.depth.depth(),
            asks: self.ask.ask,
            limit: self.limit.limit(),
            pace: self.pace.map(PaceArg::pace),
            subjects: self.names,
            subject_kind: Some(Kind::Wait),
            name: self.output.name.clone(),
            ..Wish::new("waits", self.conditions, self.machine)
        };
        measuring::run(wish, &self.output, Files::AsAsked)
    }
}
