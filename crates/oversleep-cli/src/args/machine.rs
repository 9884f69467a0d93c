//! Which machine: this one, or a modelled one.

use std::path::PathBuf;

use clap::Args;

use super::value;

/// `--on`, `--set`, `--like`.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Machine (this one, unless a modelled one is named)")]
pub struct MachineArgs {
    /// Measure on a modelled machine, in virtual time: windows-11, linux-hz250 …; `oversleep machines` lists them
    #[arg(long, value_name = "MACHINE", conflicts_with = "like")]
    pub on: Option<String>,

    /// Measure on a model of the machine a result file was taken on
    #[arg(long, value_name = "FILE")]
    pub like: Option<PathBuf>,

    #[command(flatten)]
    pub model: ModelArgs,
}

/// `--set`, `--seed`.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Machine (this one, unless a modelled one is named)")]
pub struct ModelArgs {
    /// Change a figure of the modelled machine, like tick=1ms; `oversleep machines NAME` shows them
    #[arg(long, value_name = "KEY=VALUE", value_parser = value::change)]
    pub set: Vec<String>,

    /// Seed of the modelled machine's chances; the same seed gives the same result [default: 1]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}
