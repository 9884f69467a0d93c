//! `machines verify`: compares the models with published figures.

use clap::Args;
use oversleep_lab::verify::first_look::ledger;
use oversleep_lab::verify::{Verdict, summary, verify, verify_leaving_out};
use oversleep_report::listing::{first_look, verify::listing};

use crate::args::{Documents, List};
use crate::command::spec::{FINE, READ_FAILED, USAGE, examples, exits};
use crate::exit::{Exit, Failure};
use crate::output::Delivery;

const EXAMPLES: &[(&str, &str)] = &[
    ("oversleep machines verify", "observations that the models don't reproduce"),
    ("oversleep machines verify --all", "and those that they reproduce"),
    ("oversleep machines verify --leave-out", "each one predicted without its own source"),
    ("oversleep machines verify --first-look", "what the models answered before anybody read the figure"),
];

/// Compare the models with every published observation
///
/// oversleep repeats each observation on a model of the machine it was published for, with the same experiments that it
/// runs on a real machine. An observation is fitted if the model has a figure from the same source, and predicted
/// otherwise. Observations that the models don't cover are listed with the reason.
#[derive(Args, Debug)]
#[command(before_help = examples(EXAMPLES), after_help = exits("", &[FINE, READ_FAILED, USAGE, (3, "the models reproduce too few of the published observations")]))]
pub struct Verify {
    /// Predict each observation without the figures that the models have from its own source
    #[arg(long)]
    leave_out: bool,

    /// Show how often the models were right about figures that nobody had read when they answered
    #[arg(long, conflicts_with = "leave_out")]
    first_look: bool,

    /// Show the observations that are reproduced too
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    documents: Documents<List>,
}

/// The percentage of observations with fitted figures that the models have to reproduce.
const REPRODUCED_PERCENT_MIN: usize = 85;

impl Verify {
    /// Runs it. Ends with the code of a failed assertion if the models contradict too many of their own sources.
    pub fn run(self) -> Result<Exit, Failure> {
        let delivery = Delivery::only_named(&self.documents, &[])?;
        if self.first_look {
            let ledger = ledger().map_err(Failure::failed)?;
            delivery.deliver(&first_look::listing(&ledger, self.all), "oversleep-first-look")?;
            return Ok(Exit::Fine);
        }
        let rows = if self.leave_out { verify_leaving_out() } else { verify() }.map_err(Failure::failed)?;
        delivery.deliver(&listing(&rows, self.leave_out, self.all), "oversleep-verify")?;
        let fitted = summary(&rows).fitted;
        let is_broken = rows.iter().any(|row| matches!(row.verdict, Verdict::Broken(_)));
        let is_too_little = !self.leave_out && fitted.reproduced * 100 < fitted.covered * REPRODUCED_PERCENT_MIN;
        Ok(if is_broken || is_too_little { Exit::AssertionFailed } else { Exit::Fine })
    }
}
