//! Which machine to measure: this one, or a modelled one.

use std::path::PathBuf;

use clap::Args;

use super::value;

/// The heading above the options that choose a machine.
const MACHINE: &str = "Machine (this one unless you name a model)";

/// `--on`, `--like`, `--set`, `--seed`.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = MACHINE)]
pub struct MachineArgs {
    /// Measure a modelled machine in virtual time, like windows-11; `oversleep machines` lists them
    ///
    /// Separate several with commas to measure one after the other and compare them with the first.
    #[arg(long, value_name = "MACHINE", conflicts_with = "like")]
    pub on: Option<String>,

    /// Measure a model of the machine that this result file was taken on
    #[arg(long, value_name = "FILE")]
    pub like: Option<PathBuf>,

    #[command(flatten)]
    pub model: ModelArgs,
}

impl MachineArgs {
    /// One set of options per machine: `--on` can name several.
    pub fn each(&self) -> Vec<MachineArgs> {
        match &self.on {
            Some(names) => {
                names.split(',').map(|name| MachineArgs { on: Some(name.trim().to_owned()), ..self.clone() }).collect()
            }
            None => vec![self.clone()],
        }
    }
}

/// `--set`, `--seed`.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = MACHINE)]
pub struct ModelArgs {
    /// Change a figure of the modelled machine, like tick=1ms; `oversleep machines NAME` lists its figures
    #[arg(long, value_name = "KEY=VALUE", value_parser = value::change)]
    pub set: Vec<String>,

    /// Random seed of the modelled machine; the same seed gives the same result [default: 1]
    #[arg(long, value_name = "N", value_parser = value::seed, allow_negative_numbers = true)]
    pub seed: Option<u64>,
}
