//! `idle`: what a worker should do while its queue is empty.

use clap::Args;
use oversleep_lab::catalogue::Kind;
use oversleep_measure::{Command, IdlePlan, Limit, Plan};
use oversleep_record::{CommandName, Nanos};

use super::measuring::{self, Files};
use super::registry;
use crate::args::{AMOUNT, DepthArgs, RunArgs, value};
use crate::command::spec::{MEASURES, examples, exits};
use crate::exit::{Exit, Failure};
use crate::request::MeasuringArgs;

const EXAMPLES: &[(&str, &str)] = &[
    ("oversleep idle", "every idle strategy: throughput, latency, CPU time"),
    ("oversleep idle jet condvar --rate 1000,50000", "two of them at two rates"),
    ("oversleep idle --spins 500 --park-to 100us", "a back-off of your own"),
    ("oversleep idle --on windows-10-1909", "what a tick of 15.6 ms makes of them"),
    ("oversleep idle --on windows-10-1909 --resolution 1ms", "and one of 1 ms"),
];

/// Measure idle strategies: a worker that spins, yields, parks or blocks while its queue is empty
#[derive(Args, Debug)]
#[command(before_help = examples(EXAMPLES), after_help = exits("", MEASURES))]
pub struct Idle {
    /// Idle strategies to measure [default: all, or only your own where you give one]
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// List the idle strategies and their figures
    #[arg(long)]
    list: bool,

    #[command(flatten)]
    own: OwnArgs,
    #[command(flatten)]
    pipeline: PipelineArgs,
    #[command(flatten)]
    depth: DepthArgs,

    /// Time per series, like 5s, up to 24h
    #[arg(
        long = "for",
        id = "for",
        value_name = "DURATION",
        value_parser = value::run_time,
        allow_hyphen_values = true,
        help_heading = AMOUNT
    )]
    time: Option<Nanos>,

    #[command(flatten)]
    run: RunArgs,
}

/// A strategy of the user's own.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "A back-off of your own (what you leave out is as in 'typical')")]
struct OwnArgs {
    /// Idle turns in a row that spin, from 0
    #[arg(long, value_name = "N", value_parser = value::turns, allow_hyphen_values = true)]
    spins: Option<u64>,

    /// Idle turns that yield after these, from 0
    #[arg(long, value_name = "N", value_parser = value::turns, allow_hyphen_values = true)]
    yields: Option<u64>,

    /// The request of the first park, like 1us; each further one is twice as long
    #[arg(long, value_name = "DURATION", value_parser = value::request, allow_hyphen_values = true)]
    park_from: Option<Nanos>,

    /// The longest request of a park, like 1ms
    #[arg(long, value_name = "DURATION", value_parser = value::request, allow_hyphen_values = true)]
    park_to: Option<Nanos>,
}

/// What passes the items on.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "The pipeline")]
struct PipelineArgs {
    /// The wait that parks, from `oversleep waits --list` [default: the first that waits for another thread]
    #[arg(long, value_name = "WAIT")]
    park: Option<String>,

    /// Items that each queue holds [default: 1024]
    #[arg(long, value_name = "N", value_parser = value::queue, allow_hyphen_values = true)]
    queue: Option<u64>,

    /// Workers in a row, each with a queue before it [default: 1]
    #[arg(long, value_name = "N", value_parser = value::threads, allow_hyphen_values = true)]
    workers: Option<u32>,

    /// The work of each worker for an item, like 250ns [default: 244ns, 0.25 ms for a full queue]
    #[arg(long, value_name = "DURATION", value_parser = value::item, allow_hyphen_values = true)]
    item: Option<Nanos>,

    /// Items per second to send, like 1000,20000 [default: 1000,20000; 1000 with --quick]
    #[arg(
        long,
        value_name = "N",
        value_parser = value::rate,
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    rate: Vec<u64>,
}

impl Idle {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        if self.list {
            return registry::list(CommandName::Idle, Kind::Strategy, &self.names, &self.run.machine, &self.run.output);
        }
        let OwnArgs { spins, yields, park_from, park_to } = self.own;
        if let (Some(from), Some(to)) = (park_from, park_to)
            && from > to
        {
            return Err(Failure::usage(format!(
                "--park-from {} is longer than --park-to {}; parks become longer, so give the shorter one first",
                from.as_typed(),
                to.as_typed()
            )));
        }
        let PipelineArgs { park, queue, workers, item, mut rate } = self.pipeline;
        rate.sort_unstable();
        rate.dedup();
        let idle = IdlePlan { spins, yields, park_from, park_to, park, queue, workers, item, rates: rate };
        let args = MeasuringArgs::new(CommandName::Idle, self.depth, self.run.conditions, self.run.machine);
        let args = MeasuringArgs {
            experiments: Command::Idle.experiments(),
            subject_kind: Some(Kind::Strategy),
            plan: Plan { limit: self.time.map(Limit::Time), idle, subjects: self.names, ..args.plan },
            ..args
        };
        measuring::run(args, &self.run.output, Files::AsAsked)
    }
}
