//! The options of every measuring command besides the amount.

use clap::Args;

use super::{ConditionArgs, MachineArgs, OutputArgs};

/// Under which conditions, on which machine, and where the result goes.
#[derive(Args, Debug, Default)]
pub struct RunArgs {
    #[command(flatten)]
    pub conditions: ConditionArgs,
    #[command(flatten)]
    pub machine: MachineArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}
