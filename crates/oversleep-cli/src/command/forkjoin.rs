//! `forkjoin`: how long it takes to fork work to threads and join them, by how the main thread waits.

use clap::Args;
use oversleep_measure::{Command, Plan, WorkSpan};
use oversleep_record::CommandName;

use super::measuring::{self, Files};
use crate::args::{DepthArgs, LimitArgs, RunArgs, value};
use crate::command::spec::{MEASURES, examples, exits};
use crate::exit::{Exit, Failure};
use crate::request::MeasuringArgs;

const EXAMPLES: &[(&str, &str)] = &[
    ("oversleep forkjoin", "a main thread that blocks, spins or polls"),
    ("oversleep forkjoin --count 100", "with 100 fork-joins each"),
    ("oversleep forkjoin --threads 8 --work 10..20ms --count 100", "as published (20 s on 2 CPUs)"),
];

/// Measure fork-joins: compare a main thread that blocks, spins or polls while it waits
#[derive(Args, Debug)]
#[command(before_help = examples(EXAMPLES), after_help = exits("", MEASURES))]
pub struct ForkJoin {
    #[command(flatten)]
    depth: DepthArgs,
    #[command(flatten)]
    limit: LimitArgs,
    /// Threads of each fork-join, 1 to 1024 [default: 8]
    #[arg(long, value_name = "N", value_parser = value::threads, allow_hyphen_values = true, help_heading = "How much")]
    threads: Option<u32>,

    /// Work of each thread, like 15ms, or a span to draw it from, like 10..20ms [default: 2..4ms; 1..2ms with --quick,
    /// 10..20ms with --thorough]
    #[arg(long, value_name = "SPAN", value_parser = value::work, allow_hyphen_values = true, help_heading = "How much")]
    work: Option<WorkSpan>,

    #[command(flatten)]
    run: RunArgs,
}

impl ForkJoin {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        let args = MeasuringArgs::new(CommandName::ForkJoin, self.depth, self.run.conditions, self.run.machine);
        let args = MeasuringArgs {
            experiments: Command::ForkJoin.experiments(),
            plan: Plan { limit: self.limit.limit(), threads: self.threads, work: self.work, ..args.plan },
            ..args
        };
        measuring::run(args, &self.run.output, Files::AsAsked)
    }
}
