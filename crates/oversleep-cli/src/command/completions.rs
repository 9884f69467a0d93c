//! `completions`: scripts that let a shell complete commands and options.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::Cli;
use crate::args::help;
use crate::exit::{Exit, Failure};
use crate::output::stdout;

/// Print a completion script for a shell
#[derive(Args, Debug)]
#[command(before_help = help::COMPLETIONS)]
pub struct Completions {
    /// Shell to complete for
    shell: Shell,
}

impl Completions {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "oversleep", &mut script);
        stdout::document(&|out| out.write_all(&script))?;
        Ok(Exit::Fine)
    }
}
