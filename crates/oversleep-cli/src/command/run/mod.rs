//! `run`: runs an unmodified program with finer timing: settings that it and its children inherit, or that the machine
//! has meanwhile.

pub mod measure;
mod memory;

use std::ffi::OsString;

use clap::Args;
use oversleep_lab::Laboratory;
use oversleep_lab::held::Held;
use oversleep_record::Nanos;
use oversleep_record::conditions::{Outcome, Setting};
use oversleep_system::NotASetting;
use oversleep_system::tunables::names::SLICE;

use crate::args::value::{CpuList, TypedTunable};
use crate::args::{ConditionArgs, value};
use crate::command::mistakes;
use crate::command::spec::{Code, NO_PROGRAM, NOT_RUN, OF_PROGRAM, USAGE, examples, exits};
use crate::exit::{Exit, Failure};
use crate::{interrupt, message, request};

const CODES: &[Code] = &[
    (1, "oversleep failed: the two runs can't be compared, or the program can't be supervised"),
    USAGE,
    NOT_RUN,
    NO_PROGRAM,
    (130, "interrupted: a signal ended the first run of --measure, and there was no second one"),
];

const EXAMPLES: &[(&str, &str)] = &[
    ("oversleep run --slack 1ns -- ./app", "waits without the usual slack"),
    ("oversleep run --policy fifo:50 --pin 1 -- ./app", "before all others, on one CPU"),
    ("oversleep run --dma-latency 0 -- ./app", "no CPU enters an idle state meanwhile"),
    ("oversleep run --slice 100us --measure -- ./app", "twice, without and with it, and what that changed"),
];

/// Run an unmodified program with settings that make its waits exact
///
/// Each setting is held while the program runs, for it and what it starts, and is restored afterwards. oversleep says what
/// became of each; if the system refuses one, it warns and runs the program anyway. It ends as the program does.
#[derive(Args, Debug)]
#[command(before_help = examples(EXAMPLES), after_help = exits(OF_PROGRAM, CODES), override_usage = "oversleep run [OPTIONS] -- <PROGRAM>...")]
pub struct Run {
    /// Timer slack of the program's threads, like 1ns
    #[arg(long, value_name = "DURATION", value_parser = value::slack, allow_hyphen_values = true)]
    slack: Option<Nanos>,

    /// Timer resolution to hold while it runs, like 1ms (Windows)
    #[arg(long, value_name = "DURATION", value_parser = value::resolution, allow_hyphen_values = true)]
    resolution: Option<Nanos>,

    /// Scheduling policy: fifo:80, rr:1, other:5 (nice), batch, idle
    #[arg(long, value_name = "POLICY[:N]", value_parser = value::policy, allow_hyphen_values = true)]
    policy: Option<Setting>,

    /// Nice value, from -20 to 19
    #[arg(long, value_name = "N", allow_hyphen_values = true, conflicts_with = "policy",
        value_parser = clap::value_parser!(i32).range(-20..=19))]
    nice: Option<i32>,

    /// Run it on these CPUs only, like 1 or 0,2-3
    #[arg(long, value_name = "CPUS", value_parser = value::cpus, allow_hyphen_values = true)]
    pin: Option<CpuList>,

    /// Forbid idle states with an exit latency above this, on the whole machine: 0, or a duration like 20us
    #[arg(long, value_name = "DURATION", value_parser = value::latency_bound, allow_hyphen_values = true)]
    dma_latency: Option<Nanos>,

    /// Time slice of the program's threads beside others: a shorter one runs sooner (Linux 6.12), from 100us to 100ms
    #[arg(long, value_name = "DURATION", value_parser = value::slack, allow_hyphen_values = true)]
    slice: Option<Nanos>,

    /// Keep all memory of each program that is executed resident, so that no wake-up waits for a page fault (Linux on
    /// x86-64)
    #[arg(long)]
    lock_memory: bool,

    /// Run the program twice under `oversleep why`, without and with the settings, and say what they changed
    #[arg(long)]
    measure: bool,

    /// Set any tunable of this machine; `oversleep doctor` lists them
    #[arg(long, value_name = "NAME=SETTING", value_parser = value::tune)]
    tune: Vec<TypedTunable>,

    /// Print no progress and no notes on standard error, only warnings and errors
    #[arg(long, short)]
    quiet: bool,

    /// Program to run, with its arguments, after --
    // Not `last`: an error says what to type where the -- is missing.
    #[arg(value_name = "PROGRAM", trailing_var_arg = true, required = true)]
    program: Vec<OsString>,
}

impl Run {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        message::leave_out_notes(self.quiet);
        mistakes::program_after_dashes(&self.program)?;
        let lab = Laboratory::on(oversleep_native::here());
        if let Some(slice) = self.slice {
            let refused = |error: NotASetting| format!("can't use --slice {}: {}", error.given.brief(), error.problem);
            lab.validate(SLICE, &Setting::Nanos(slice)).map_err(|error| Failure::usage(refused(error)))?;
        }
        let conditions = request::conditions::conditions(&lab, &self.conditions())?;
        if conditions.is_as_found() && !self.lock_memory {
            return Err(Failure::usage("say what to hold, as in: oversleep run --slack 1ns -- ./app"));
        }
        let locks_memory = self.lock_memory && memory::can_be_locked(&lab);
        interrupt::leave_to_programs();
        let measured = if self.measure { Some(measure::Runs::new()?) } else { None };
        if let Some(measured) = &measured
            && measured.before(&self.program)?
        {
            message::note("the first run was interrupted, so there is no second one to compare it with");
            return Ok(Exit::Interrupted);
        }
        let mut held = lab.hold(&conditions);
        for one in &held {
            tell(one);
        }
        let ended = match &measured {
            Some(measured) => measured.after(&self.program, locks_memory),
            None if locks_memory => memory::run(&self.program),
            None => plainly(&self.program),
        };
        // In reverse order, so that each returns to its value before it was set.
        while held.pop().is_some() {}
        let ended = ended?;
        if let Some(measured) = measured {
            measured.compare()?;
        }
        Ok(ended)
    }

    fn conditions(&self) -> ConditionArgs {
        let nice = self.nice.map(|nice| Setting::Policy { policy: "other".to_owned(), priority: nice });
        let slice = self.slice.map(|slice| TypedTunable { name: SLICE.to_owned(), setting: Setting::Nanos(slice) });
        ConditionArgs {
            slack: self.slack,
            resolution: self.resolution,
            policy: self.policy.clone().or(nice),
            pin: self.pin.clone(),
            dma_latency: self.dma_latency,
            tune: slice.into_iter().chain(self.tune.iter().cloned()).collect(),
            ..ConditionArgs::default()
        }
    }
}

fn plainly(typed: &[OsString]) -> Result<Exit, Failure> {
    let Some((program, arguments)) = typed.split_first() else { return Ok(Exit::Fine) };
    let ended = oversleep_native::run_app(program, arguments);
    ended.map(Exit::Program).map_err(|error| Failure::not_run(program, &error))
}

/// Reports the outcome of a setting, and whether it affects the program.
fn tell(held: &Held) {
    let Held { name, requested, outcome, reached, .. } = held;
    match outcome {
        Outcome::Denied { why } => message::warning(&format!("{name} {requested} is not held: {why}")),
        _ if reached.programs == Some(false) => {
            message::warning(&format!("{name} {requested} doesn't reach the program: {}", reached.sentence));
        }
        Outcome::Applied { was: Some(was), now } => message::note(&format!("{name} is held at {now} (before: {was})")),
        Outcome::Applied { was: None, now } => message::note(&format!("{name} is held at {now}")),
        Outcome::AlreadySo { is } => message::note(&format!("{name} already is {is}")),
    }
}
