//! `handoff`: how long it takes to wake a thread.

use clap::Args;
use oversleep_lab::catalogue::Kind;
use oversleep_measure::{Command, Plan};
use oversleep_record::CommandName;

use super::measuring::{self, Files};
use super::registry;
use crate::args::{DepthArgs, LimitArgs, RunArgs};
use crate::command::spec::{MEASURES, examples, exits};
use crate::exit::{Exit, Failure};
use crate::request::MeasuringArgs;

/// Examples with names of this system.
fn examples_here() -> String {
    let [one, other] = oversleep_native::examples().handoffs;
    examples(&[
        ("oversleep handoff".to_owned(), "every way to wake a thread"),
        (format!("oversleep handoff {one} {other}"), "two of them"),
        ("oversleep handoff --list".to_owned(), "their names and calls"),
    ])
}

/// Measure hand-offs: how long after a thread is signalled does it run?
#[derive(Args, Debug)]
#[command(before_help = examples_here(), after_help = exits("", MEASURES))]
pub struct Handoff {
    /// Hand-offs to measure [default: all]
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// List the hand-offs and whether each is available here
    #[arg(long)]
    list: bool,

    #[command(flatten)]
    depth: DepthArgs,
    #[command(flatten)]
    limit: LimitArgs,
    #[command(flatten)]
    run: RunArgs,
}

impl Handoff {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        if self.list {
            return registry::list(
                CommandName::Handoff,
                Kind::Handoff,
                &self.names,
                &self.run.machine,
                &self.run.output,
            );
        }
        let args = MeasuringArgs::new(CommandName::Handoff, self.depth, self.run.conditions, self.run.machine);
        let args = MeasuringArgs {
            experiments: Command::Handoff.experiments(),
            subject_kind: Some(Kind::Handoff),
            plan: Plan { limit: self.limit.limit(), subjects: self.names, ..args.plan },
            ..args
        };
        measuring::run(args, &self.run.output, Files::AsAsked)
    }
}
