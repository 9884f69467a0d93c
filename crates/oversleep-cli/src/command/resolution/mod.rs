//! `resolution`: shows the setting that decides how precisely timers end here, holds settings, and measures them and
//! neighbours.

mod hold;
mod show;
mod watch;

use clap::{Args, Subcommand};
use oversleep_lab::catalogue::Kind;
use oversleep_measure::{Command, Plan};
use oversleep_native::EXAMPLE_PROGRAM;
use oversleep_record::CommandName;
use oversleep_record::conditions::Setting;

use super::measuring::{self, Files};
use crate::args::{DepthArgs, LimitArgs, MachineArgs, RequestArgs, RunArgs, value};
use crate::command::spec::{MEASURES, USAGE, examples, exits};
use crate::exit::{Exit, Failure};
use crate::request::{MeasuringArgs, machine};

/// Examples with names of this system.
fn overview() -> String {
    examples(&[
        ("oversleep resolution show".to_owned(), "what the system grants, and who inherits it"),
        (format!("oversleep resolution hold 1ms -- {}", EXAMPLE_PROGRAM), "run a program while 1 ms is held"),
        ("oversleep resolution sweep".to_owned(), "what each setting does to this process"),
        ("oversleep resolution neighbours".to_owned(), "what other processes' settings do to it"),
        ("oversleep resolution watch".to_owned(), "what changes while people use the machine"),
    ])
}

/// Show, hold and measure the timer resolution, and what other processes do to it
///
/// Each system has its own name for the setting that decides how precisely timers end: timer slack on Linux, timer
/// resolution on Windows, a tier or service class on macOS.
#[derive(Args, Debug)]
#[command(before_help = overview(), after_help = exits("", &[USAGE]))]
pub struct Resolution {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    Show(show::Show),
    Hold(hold::Hold),
    Sweep(Sweep),
    Neighbours(Neighbours),
    Watch(watch::Watch),
}

impl Resolution {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        match self.task {
            Task::Show(task) => task.run(),
            Task::Hold(task) => task.run(),
            Task::Sweep(task) => measurable(&task.run.machine).and_then(|()| task.run()),
            Task::Watch(task) => task.run(),
            Task::Neighbours(task) => measurable(&task.run.machine).and_then(|()| task.run()),
        }
    }
}

/// Checks that there is a resolution to set.
fn measurable(on: &MachineArgs) -> Result<(), Failure> {
    for machine in on.each() {
        let tunable = machine::laboratory(&machine)?.resolution_tunable();
        let missing = || Failure::failed("programs can't change the timer resolution of this system");
        tunable.ok_or_else(missing)?;
    }
    Ok(())
}

const SWEEP_EXAMPLES: &[(&str, &str)] = &[
    ("oversleep resolution sweep", "a sleep, a poll and a timer at each setting"),
    ("oversleep resolution sweep thread-sleep", "one wait at each setting"),
    ("oversleep resolution sweep --hold 1ms,5ms", "at these settings"),
];

/// Measure what each setting does to this process's own waits
#[derive(Args, Debug)]
#[command(before_help = examples(SWEEP_EXAMPLES), after_help = exits("", MEASURES))]
struct Sweep {
    /// Waits to measure [default: the simplest sleep, poll and timer]
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// Settings to hold in turn, like 500us,1ms [default: those worth comparing, more with --thorough]
    #[arg(long, value_name = "SETTING,…", value_delimiter = ',', value_parser = value::setting)]
    hold: Vec<Setting>,

    #[command(flatten)]
    depth: DepthArgs,
    #[command(flatten)]
    request: RequestArgs,
    #[command(flatten)]
    limit: LimitArgs,
    #[command(flatten)]
    run: RunArgs,
}

impl Sweep {
    fn run(self) -> Result<Exit, Failure> {
        let args = MeasuringArgs::new(CommandName::ResolutionSweep, self.depth, self.run.conditions, self.run.machine);
        let args = MeasuringArgs {
            experiments: Command::ResolutionSweep.experiments(),
            subject_kind: Some(Kind::Wait),
            plan: Plan {
                requests: self.request.request,
                limit: self.limit.limit(),
                settings: self.hold,
                subjects: self.names,
                ..args.plan
            },
            ..args
        };
        measuring::run(args, &self.run.output, Files::AsAsked)
    }
}

const NEIGHBOURS_EXAMPLES: &[(&str, &str)] = &[
    ("oversleep resolution neighbours", "table and curve"),
    ("oversleep resolution neighbours --quick", "in a few seconds"),
    ("oversleep resolution neighbours --on windows-10-1909,windows-10-2004", "two models, compared"),
];

/// Measure what other processes' settings do to this one, which requests nothing
///
/// It starts other processes: one at a time, each holding one setting, then two that hold different ones. They exit
/// when the measurement ends, even if oversleep is killed.
#[derive(Args, Debug)]
#[command(before_help = examples(NEIGHBOURS_EXAMPLES), after_help = exits("", MEASURES))]
struct Neighbours {
    #[command(flatten)]
    depth: DepthArgs,
    #[command(flatten)]
    request: RequestArgs,
    #[command(flatten)]
    limit: LimitArgs,
    #[command(flatten)]
    run: RunArgs,
}

impl Neighbours {
    fn run(self) -> Result<Exit, Failure> {
        let args =
            MeasuringArgs::new(CommandName::ResolutionNeighbours, self.depth, self.run.conditions, self.run.machine);
        let args = MeasuringArgs {
            experiments: Command::ResolutionNeighbours.experiments(),
            plan: Plan { requests: self.request.request, limit: self.limit.limit(), ..args.plan },
            ..args
        };
        measuring::run(args, &self.run.output, Files::AsAsked)
    }
}
