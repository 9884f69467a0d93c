//! `waits`: how late each wait ends.

use clap::Args;
use oversleep_lab::catalogue::Kind;
use oversleep_measure::{Command, Plan};
use oversleep_record::CommandName;
use oversleep_system::examples::Examples;

use super::measuring::{self, Files};
use super::registry;
use crate::args::{AMOUNT, DepthArgs, LimitArgs, PaceArg, RequestArgs, RunArgs};
use crate::command::spec::{MEASURES, examples, exits};
use crate::exit::{Exit, Failure};
use crate::request::MeasuringArgs;

/// Examples with names of this system.
fn examples_here() -> String {
    let Examples { waits: [sleep, other], policy, .. } = oversleep_native::examples();
    examples(&[
        ("oversleep waits".to_owned(), "every wait"),
        (format!("oversleep waits {sleep} {other} --request 1ms"), "two of them, for 1 ms"),
        (format!("oversleep waits {sleep} --policy {policy} --for 5s"), "one under another policy, for 5 s"),
        ("oversleep waits --list".to_owned(), "their names, calls and properties"),
    ])
}

/// Measure waits: how late does each one end, for each request?
#[derive(Args, Debug)]
#[command(before_help = examples_here(), after_help = exits("", MEASURES))]
pub struct Waits {
    /// Waits to measure in detail [default: a survey of all]
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// List the waits with their properties and whether each is available here
    #[arg(long)]
    list: bool,

    #[command(flatten)]
    depth: DepthArgs,
    #[command(flatten)]
    request: RequestArgs,
    #[command(flatten)]
    limit: LimitArgs,

    /// How waits follow one another [default: periodic; back-to-back for waits that count in milliseconds or end on a
    /// tick]
    #[arg(long, value_enum, help_heading = AMOUNT)]
    pace: Option<PaceArg>,

    #[command(flatten)]
    run: RunArgs,
}

impl Waits {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        if self.list {
            return registry::list(CommandName::Waits, Kind::Wait, &self.names, &self.run.machine, &self.run.output);
        }
        // A named wait has a deadline or is a yield; the survey also includes the waits that spin.
        let command = if self.names.is_empty() { Command::Waits } else { Command::NamedWaits };
        let args = MeasuringArgs::new(CommandName::Waits, self.depth, self.run.conditions, self.run.machine);
        let args = MeasuringArgs {
            experiments: command.experiments(),
            subject_kind: Some(Kind::Wait),
            plan: Plan {
                requests: self.request.request,
                limit: self.limit.limit(),
                pace: self.pace.map(PaceArg::pace),
                subjects: self.names,
                ..args.plan
            },
            ..args
        };
        measuring::run(args, &self.run.output, Files::AsAsked)
    }
}
