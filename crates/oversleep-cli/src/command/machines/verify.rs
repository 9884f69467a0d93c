//! `machines verify`: the models beside the figures that others published.

use clap::Args;
use oversleep_lab::verify::{Verdict, summary, verify};
use oversleep_report::listing::verify::{document, text};

use crate::args::help;
use crate::exit::{Exit, Failure};
use crate::output::stdout;
use crate::width::width;

/// Compare the models with every published observation
///
/// oversleep repeats each observation on a model of the machine it was published for, with the same experiments that it
/// runs on a real machine. Observations that the models don't cover are listed with the reason.
#[derive(Args, Debug)]
#[command(before_help = help::MACHINES_VERIFY, after_help = help::CODES)]
pub struct Verify {
    /// Show the observations that are reproduced too
    #[arg(long)]
    all: bool,

    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// The models have to reproduce so many of a hundred observations that they cover.
const REPRODUCED_PERCENT_MIN: usize = 95;

impl Verify {
    /// Runs it. Ends with the code of a failed assertion where the models reproduce too little of what they cover.
    pub fn run(self) -> Result<Exit, Failure> {
        let rows = verify().map_err(Failure::failed)?;
        let sum = summary(&rows);
        match self.json {
            true => stdout::json(&document(&rows, sum))?,
            false => stdout::text(&text(&rows, sum, self.all, width()))?,
        }
        let is_broken = rows.iter().any(|row| matches!(row.verdict, Verdict::Broken(_)));
        let is_too_little = sum.reproduced * 100 < sum.covered * REPRODUCED_PERCENT_MIN;
        Ok(if is_broken || is_too_little { Exit::AssertionFailed } else { Exit::Fine })
    }
}
