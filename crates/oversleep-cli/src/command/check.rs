//! `check`: all experiments, and the remedies.

use clap::Args;

use super::measuring::{self, Files};
use crate::args::{CheckArgs, OutputArgs, help};
use crate::exit::{Exit, Failure};

/// Measure everything, report what is wrong, try what helps (the default)
///
/// It runs the experiments, checks for every finding, and tries harmless remedies on its own threads to show what they gain.
/// The experiments that start other processes need --thorough or --only. Unless you name an output, it leaves
/// oversleep-<UTC date and time>.json and .html in the current directory.
#[derive(Args, Debug, Default)]
#[command(before_help = help::CHECK, after_help = help::CODES)]
pub struct Check {
    #[command(flatten)]
    checked: CheckArgs,
    #[command(flatten)]
    output: OutputArgs,
}

impl Check {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        measuring::run(self.checked.measuring()?, &self.output, Files::Automatic)
    }
}
