//! `check`: all experiments, and the remedies.

use clap::Args;
use oversleep_record::CommandName;

use super::measuring::{self, Files};
use crate::args::{AMOUNT, DepthArgs, LimitArgs, RequestArgs, RunArgs, help};
use crate::exit::{Exit, Failure};
use crate::request::{MeasuringArgs, experiments};

/// Measure everything, report what is wrong, try what helps (the default)
///
/// It runs the experiments, checks for every finding, and tries harmless remedies on its own threads to show what they gain.
/// The experiments that start other processes need --thorough or --only. Unless you name an output, it leaves
/// oversleep-<UTC date and time>.json and .html in the current directory.
#[derive(Args, Debug, Default)]
#[command(before_help = help::CHECK, after_help = help::CODES)]
pub struct Check {
    #[command(flatten)]
    depth: DepthArgs,
    #[command(flatten)]
    request: RequestArgs,
    #[command(flatten)]
    limit: LimitArgs,

    /// Run only these experiments, like B2,D1; `oversleep experiments` lists them
    #[arg(long, value_name = "ID", value_delimiter = ',', help_heading = AMOUNT)]
    only: Vec<String>,

    /// Don't try remedies
    #[arg(long, help_heading = AMOUNT)]
    no_remedies: bool,

    #[command(flatten)]
    run: RunArgs,
}

impl Check {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        let args = MeasuringArgs {
            experiments: experiments::named(&self.only)?,
            requests: self.request.request,
            limit: self.limit.limit(),
            try_remedies: !self.no_remedies,
            ..MeasuringArgs::new(CommandName::Check, self.depth, self.run.conditions, self.run.machine)
        };
        measuring::run(args, &self.run.output, Files::Automatic)
    }
}
