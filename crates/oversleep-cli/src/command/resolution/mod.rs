//! `resolution`: shows the setting that decides how precisely timers end here, holds settings, and measures them and
//! neighbours.

mod hold;
mod show;
mod watch;

use clap::{Args, Subcommand};
use oversleep_lab::catalogue::Kind;
use oversleep_measure::Command;
use oversleep_record::CommandName;
use oversleep_record::conditions::Setting;

use super::measuring::{self, Files};
use crate::args::{DepthArgs, LimitArgs, MachineArgs, RequestArgs, RunArgs, help, value};
use crate::exit::{Exit, Failure};
use crate::request::{MeasuringArgs, machine};

/// Show, hold and measure the timer resolution, and what other processes do to it
///
/// Each system has its own name for the setting that decides how precisely timers end: timer slack on Linux, timer
/// resolution on Windows, a tier or service class on macOS.
#[derive(Args, Debug)]
#[command(before_help = help::resolution(), after_help = help::CODES)]
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

/// Measure what each setting does to this process's own waits
#[derive(Args, Debug)]
#[command(before_help = help::RESOLUTION_SWEEP, after_help = help::CODES)]
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
        let args = MeasuringArgs {
            experiments: Command::ResolutionSweep.experiments(),
            requests: self.request.request,
            limit: self.limit.limit(),
            settings: self.hold,
            subjects: self.names,
            subject_kind: Some(Kind::Wait),
            ..MeasuringArgs::new(CommandName::ResolutionSweep, self.depth, self.run.conditions, self.run.machine)
        };
        measuring::run(args, &self.run.output, Files::AsAsked)
    }
}

/// Measure what other processes' settings do to this one, which requests nothing
///
/// It starts other processes: one at a time, each holding one setting, then two that hold different ones. They exit
/// when the measurement ends, even if oversleep is killed.
#[derive(Args, Debug)]
#[command(before_help = help::RESOLUTION_NEIGHBOURS, after_help = help::CODES)]
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
        let args = MeasuringArgs {
            experiments: Command::ResolutionNeighbours.experiments(),
            requests: self.request.request,
            limit: self.limit.limit(),
            ..MeasuringArgs::new(CommandName::ResolutionNeighbours, self.depth, self.run.conditions, self.run.machine)
        };
        measuring::run(args, &self.run.output, Files::AsAsked)
    }
}
