//! Which requests to measure and how often. Each command takes the options that its experiments follow.

use clap::{Args, ValueEnum};
use oversleep_measure::Limit;
use oversleep_record::Nanos;
use oversleep_record::series::Pace;

use super::{AMOUNT, value};

/// `--request`.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = AMOUNT)]
pub struct RequestArgs {
    /// Durations to request, like 300us,1ms [default: each experiment's own]
    ///
    /// Write a number with ns, us, ms, s, min, h or d, up to 60s, or up to 60 days (60d) with --on or --like, where no real
    /// time passes. Repeat the option or separate durations with commas for several.
    #[arg(
        long,
        alias = "ask",
        value_name = "DURATION",
        value_parser = value::request_somewhere,
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    pub request: Vec<Nanos>,
}

/// `--count` or `--for`.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = AMOUNT)]
pub struct LimitArgs {
    /// Values per series, 1 to 1000000000 [default: set by --quick or --thorough]
    #[arg(long, value_name = "N", value_parser = value::count, allow_hyphen_values = true)]
    count: Option<u64>,

    /// Time per series, like 5s, up to 24h; use it instead of --count
    #[arg(
        long = "for",
        id = "for",
        value_name = "DURATION",
        value_parser = value::run_time,
        allow_hyphen_values = true,
        conflicts_with = "count"
    )]
    time: Option<Nanos>,
}

impl LimitArgs {
    /// The limit for the laboratory; `None` leaves it to the depth.
    pub fn limit(self) -> Option<Limit> {
        self.time.map(Limit::Time).or(self.count.map(Limit::Count))
    }
}

/// `--pace`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PaceArg {
    /// Absolute deadlines, one request apart; a deadline that passes while the thread is away is recorded, never
    /// skipped
    Periodic,
    /// Each call is its own deadline; the next begins as soon as it ends
    BackToBack,
    /// Like back-to-back, with a pause of random length before each call
    Random,
}

impl PaceArg {
    /// The pace for the record.
    pub fn pace(self) -> Pace {
        match self {
            PaceArg::Periodic => Pace::Periodic,
            PaceArg::BackToBack => Pace::BackToBack,
            PaceArg::Random => Pace::RandomPhase,
        }
    }
}
