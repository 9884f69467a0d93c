//! `resolution show`: shows the setting that decides how precisely timers end here, its scope, and who holds which value.

use clap::Args;
use oversleep_lab::Laboratory;
use oversleep_report::listing::resolution::{Resolution, listing};

use crate::args::{Documents, List};
use crate::command::spec::{READS, examples, exits};
use crate::exit::{Exit, Failure};
use crate::output::show;

const EXAMPLES: &[(&str, &str)] = &[
    ("oversleep resolution show", "what the system states, and who holds what"),
    ("oversleep resolution show --json", "the same as JSON, without names of processes"),
];

/// Show what the system grants, who inherits it, and which process holds which setting
///
/// Nothing on the machine is changed: oversleep tries settings on a thread and on child processes that exit at once.
#[derive(Args, Debug)]
#[command(before_help = examples(EXAMPLES), after_help = exits("", READS))]
pub(super) struct Show {
    #[command(flatten)]
    documents: Documents<List>,

    /// Name the processes that hold each setting
    #[arg(long, conflicts_with_all = ["json", "out", "html", "csv", "md"])]
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
        show(&self.documents, &listing(&found, self.processes))
    }
}
