//! How thoroughly to measure.

use clap::Args;
use oversleep_measure::Depth;

use super::AMOUNT;

/// `--quick`, `--thorough`; the default lies between them.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = AMOUNT)]
pub struct DepthArgs {
    /// Take fewer values, enough to show large effects (about 5 s for check)
    #[arg(long, conflicts_with = "thorough")]
    pub quick: bool,

    /// Take many more values, enough for p99.9 (minutes for check)
    #[arg(long)]
    pub thorough: bool,
}

impl DepthArgs {
    /// The depth for the laboratory.
    pub fn depth(self) -> Depth {
        match (self.quick, self.thorough) {
            (true, _) => Depth::Quick,
            (_, true) => Depth::Thorough,
            _ => Depth::Normal,
        }
    }
}
