//! What a check runs, how thoroughly, and on which machine.

use clap::Args;
use oversleep_measure::Plan;
use oversleep_record::CommandName;

use super::{AMOUNT, ConditionArgs, DepthArgs, LimitArgs, MachineArgs, RequestArgs};
use crate::{MeasuringArgs, Refusal, experiments};

/// All experiments, or some, and the remedies.
#[derive(Args, Clone, Debug, Default)]
pub struct CheckArgs {
    #[command(flatten)]
    pub depth: DepthArgs,
    #[command(flatten)]
    pub request: RequestArgs,
    #[command(flatten)]
    pub limit: LimitArgs,

    /// Run only these experiments, like B2,D1; `oversleep experiments` lists them
    #[arg(long, value_name = "ID", value_delimiter = ',', help_heading = AMOUNT)]
    pub only: Vec<String>,

    /// Don't try remedies
    #[arg(long, help_heading = AMOUNT)]
    pub no_remedies: bool,

    #[command(flatten)]
    pub conditions: ConditionArgs,
    #[command(flatten)]
    pub machine: MachineArgs,
}

impl CheckArgs {
    /// What to measure.
    ///
    /// # Errors
    /// Unknown experiments.
    pub fn measuring(self) -> Result<MeasuringArgs, Refusal> {
        let args = MeasuringArgs::new(CommandName::Check, self.depth, self.conditions, self.machine);
        Ok(MeasuringArgs {
            experiments: experiments::named(&self.only)?,
            try_remedies: !self.no_remedies,
            plan: Plan { requests: self.request.request, limit: self.limit.limit(), ..args.plan },
            ..args
        })
    }
}
