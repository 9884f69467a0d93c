//! `experiments`: the question and the method of each, and published figures.

use clap::Args;
use oversleep_report::listing::experiments::{all, listing};

use crate::args::{Documents, List};
use crate::command::spec::{READS, examples, exits};
use crate::exit::{Exit, Failure};
use crate::output::show;
use crate::request::experiments::find;

const EXAMPLES: &[(&str, &str)] = &[
    ("oversleep experiments", "all of them, by id"),
    ("oversleep experiments B2", "one: its question, method and published figures"),
];

/// List the experiments, or explain one: its question, method and published figures
#[derive(Args, Debug)]
#[command(before_help = examples(EXAMPLES), after_help = exits("", READS))]
pub struct Experiments {
    /// Id of the experiment to explain, like B2 [default: list all]
    id: Option<String>,

    #[command(flatten)]
    documents: Documents<List>,
}

impl Experiments {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        let one = self.id.as_deref().map(find).transpose()?;
        show(&self.documents, &one.map_or_else(all, listing))
    }
}
