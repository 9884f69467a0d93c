//! `doctor`: what this process can observe and change here, and how to allow more.

use clap::Args;
use oversleep_lab::Laboratory;
use oversleep_lab::catalogue::Kind;
use oversleep_report::listing::doctor::{Checkup, document, text};

use crate::exit::{Exit, Failure};
use crate::output::stdout;
use crate::request::conditions::OPTIONS;
use crate::width::width;

/// Show what oversleep can observe and change here, and how to allow more
///
/// It measures nothing and leaves nothing changed.
#[derive(Args, Debug)]
pub struct Doctor {
    /// Print one JSON document, with every fact known about the machine
    #[arg(long)]
    json: bool,
}

impl Doctor {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        let lab = Laboratory::on(oversleep_native::here());
        let found = Checkup {
            platform: lab.platform_id(),
            cpu_count: lab.cpu_count(),
            abilities: lab.abilities(),
            tunables: lab.entries(Kind::Tunable),
            environment: lab.environment(),
            options: &OPTIONS,
        };
        if self.json {
            stdout::json(&document(&found))?
        } else {
            stdout::text(&text(&found, width()))?
        }
        Ok(Exit::Fine)
    }
}
