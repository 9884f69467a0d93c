//! `resolution`: what decides how exactly timers end here: seen, held, swept, and what neighbours do to it.

mod hold;
mod show;

use clap::{Args, Subcommand};
use oversleep_lab::catalogue::Kind;
use oversleep_record::ExperimentId;
use oversleep_record::conditions::Setting;

use super::measuring::{self, Files};
use crate::args::{AskArgs, ConditionArgs, DepthArgs, LimitArgs, MachineArgs, OutputArgs, help, value};
use crate::exit::{Exit, Failure};
use crate::request::{Wish, experiments, machine};

/// See, hold and measure the timer resolution: yours, and what neighbours do to it
///
/// What decides how exactly timers end has a name of its own on each system: timer slack on Linux, timer resolution on
/// Windows, a tier or service class on macOS.
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
}

impl Resolution {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        match self.task {
            Task::Show(task) => task.run(),
            Task::Hold(task) => task.run(),
            Task::Sweep(task) => measurable(&task.machine).and_then(|()| task.run()),
            Task::Neighbours(task) => measurable(&task.machine).and_then(|()| task.run()),
        }
    }
}

/// There is something to set.
fn measurable(on: &MachineArgs) -> Result<(), Failure> {
    let tunable = machine::laboratory(on)?.resolution_tunable();
    tunable.map(drop).ok_or_else(|| Failure::failed("no program can change the timer resolution of this system"))
}

/// Measure what each setting does to this process's own waits
#[derive(Args, Debug)]
#[command(before_help = help::RESOLUTION_SWEEP, after_help = help::CODES)]
struct Sweep {
    /// Waits to measure [default: the plainest sleep, poll and timer]
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// Settings to hold in turn, like 500us,1ms [default: those worth comparing; every millisecond with --thorough, where
    /// it is a timer's]
    #[arg(long, value_name = "SETTING,…", value_delimiter = ',', value_parser = value::setting)]
    hold: Vec<Setting>,

    #[command(flatten)]
    depth: DepthArgs,
    #[command(flatten)]
    ask: AskArgs,
    #[command(flatten)]
    limit: LimitArgs,
    #[command(flatten)]
    conditions: ConditionArgs,
    #[command(flatten)]
    machine: MachineArgs,
    #[command(flatten)]
    output: OutputArgs,
}

impl Sweep {
    fn run(self) -> Result<Exit, Failure> {
        let wish = Wish {
            experiments: experiments::by_id(&[ExperimentId::C2]),
            depth: self.depth.depth(),
            asks: self.ask.ask,
            limit: self.limit.limit(),
            settings: self.hold,
            subjects: self.names,
            subject_kind: Some(Kind::Wait),
            name: self.output.name.clone(),
            ..Wish::new("resolution sweep", self.conditions, self.machine)
        };
        measuring::run(wish, &self.output, Files::AsAsked)
    }
}

/// Measure what other processes' settings do to this one, which asks for nothing
///
/// Other processes are started one at a time, each holding one setting, then two that hold different ones. They end with
/// the measurement, whatever happens to it.
#[derive(Args, Debug)]
#[command(before_help = help::RESOLUTION_NEIGHBOURS, after_help = help::CODES)]
struct Neighbours {
    #[command(flatten)]
    depth: DepthArgs,
    #[command(flatten)]
    ask: AskArgs,
    #[command(flatten)]
    limit: LimitArgs,
    #[command(flatten)]
    conditions: ConditionArgs,
    #[command(flatten)]
    machine: MachineArgs,
    #[command(flatten)]
    output: OutputArgs,
}

impl Neighbours {
    fn run(self) -> Result<Exit, Failure> {
        let wish = Wish {
            experiments: experiments::by_id(&[ExperimentId::C3, ExperimentId::C4]),
            depth: self.depth.depth(),
            asks: self.ask.ask,
            limit: self.limit.limit(),
            name: self.output.name.clone(),
            ..Wish::new("resolution neighbours", self.conditions, self.machine)
        };
        measuring::run(wish, &self.output, Files::AsAsked)
    }
}
