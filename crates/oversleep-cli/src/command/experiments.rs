//! `experiments`: the question and the method of each, and published figures.

use clap::Args;
use oversleep_measure::registry;
use oversleep_report::listing::experiments::{document, list, text};

use crate::args::help;
use crate::exit::{Exit, Failure};
use crate::output::stdout;
use crate::request::experiments::find;
use crate::width::width;

/// List the experiments, or explain one: its question, method and published figures
#[derive(Args, Debug)]
#[command(before_help = help::EXPERIMENTS)]
pub struct Experiments {
    /// Id of the experiment to explain, like B2 [default: list all]
    id: Option<String>,

    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl Experiments {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        let one = self.id.as_deref().map(find).transpose()?;
        match (one, self.json) {
            (None, false) => stdout::text(&list(width()))?,
            (Some(experiment), false) => stdout::text(&text(experiment, width()))?,
            (None, true) => stdout::json(&registry().iter().copied().map(document).collect())?,
            (Some(experiment), true) => stdout::json(&document(experiment))?,
        }
        Ok(Exit::Fine)
    }
}
