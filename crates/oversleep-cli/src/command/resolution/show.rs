//! `resolution show`: shows the setting that decides how precisely timers end here, its scope, and who holds which value.

use clap::Args;
use oversleep_lab::Laboratory;
use oversleep_report::listing::resolution::{Resolution, document, text};

use crate::args::help;
use crate::exit::{Exit, Failure};
use crate::output::stdout;
use crate::width::width;

/// Show what the system grants, who inherits it, and which process holds which setting
///
/// Nothing on the machine is changed: oversleep tries settings on a thread and on child processes that exit at once.
#[derive(Args, Debug)]
#[command(before_help = help::RESOLUTION_SHOW)]
pub(super) struct Show {
    /// Print one JSON document
    #[arg(long)]
    json: bool,

    /// Name the processes that hold each setting
    #[arg(long, conflicts_with = "json")]
    processes: bool,
}

impl Show {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let lab = Laboratory::on(oversleep_native::here());
        let found = Resolution {
            platform: lab.platform_id(),
            tunable: lab.resolution_tunable(),
            environment: lab.environment(),
            holders: lab.resolution_holders(),
            rows: lab.resolution_rows(),
        };
        match self.json {
            true => stdout::json(&document(&found))?,
            false => stdout::text(&text(&found, self.processes, width()))?,
        }
        Ok(Exit::Fine)
    }
}
