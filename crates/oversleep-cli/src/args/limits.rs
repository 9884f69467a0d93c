//! What to ask for and how often. Each command takes the part of it that its experiments heed.

use clap::{Args, ValueEnum};
use oversleep_measure::Limit;
use oversleep_record::Nanos;
use oversleep_record::series::Pace;

use super::value;

/// `--ask`.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "How much")]
pub struct AskArgs {
    /// Waits to ask for, like 300us,1ms [default: each experiment's own]
    ///
    /// A number with ns, us, ms, s, min or h, up to 60s. Can be given several times, or as a list with commas.
    #[arg(long, value_name = "SPAN", value_parser = value::request, value_delimiter = ',', allow_hyphen_values = true)]
    pub ask: Vec<Nanos>,
}

/// `--count` or `--for`.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "How much")]
pub struct LimitArgs {
    /// Values per series, 1 to 1000000000 [default: as --quick or --thorough say]
    #[arg(long, value_name = "N", value_parser = value::count, allow_hyphen_values = true)]
    count: Option<u64>,

    /// Time per series, like 5s, up to 24h; instead of --count
    #[arg(
        long = "for",
        id = "for",
        value_name = "SPAN",
        value_parser = value::run_time,
        allow_hyphen_values = true,
        conflicts_with = "count"
    )]
    time: Option<Nanos>,
}

impl LimitArgs {
    /// In the laboratory's terms; `None` is "as the depth says".
    pub fn limit(self) -> Option<Limit> {
        self.time.map(Limit::Time).or(self.count.map(Limit::Count))
    }
}

/// `--pace`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PaceArg {
    /// Absolute deadlines one request apart; one that passed while the thread was away is recorded, never skipped
    Periodic,
    /// Each call is its own deadline; the next begins as soon as it ended
    BackToBack,
    /// As back to back, with a pause of random length before each call
    Random,
}

impl PaceArg {
    /// In the record's terms.
    pub fn pace(self) -> Pace {
        match self {
            PaceArg::Periodic => Pace::Periodic,
            PaceArg::BackToBack => Pace::BackToBack,
            PaceArg::Random => Pace::RandomPhase,
        }
    }
}
