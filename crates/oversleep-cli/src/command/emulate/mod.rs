//! `emulate`: an unmodified program with another machine's timing.

mod document;
mod summary;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use oversleep_emulate::plan::{ClockChoice, Plan};
use oversleep_emulate::report::PassedBy;
use oversleep_emulate::{Ended, Request};
use oversleep_native::AppEnd;
use oversleep_record::Nanos;
use oversleep_report::document::JSON;

use crate::args::{DocumentArgs, ModelArgs, Named, value};
use crate::command::spec::{Code, NO_PROGRAM, OF_PROGRAM, examples, exits};
use crate::exit::{Exit, Failure};
use crate::output::place::Places;
use crate::output::{Delivery, stdout};
use crate::{interrupt, message, reading, request};

/// The exit code of oversleep's own failures, as in `env` and `timeout`.
const OWN_FAILURE: i32 = 125;

const CODES: &[Code] = &[
    (125, "oversleep failed: it can't trace here, was told something wrong, or can't write --out"),
    (126, "the program can't be run, or is refused because it is for 32 bits"),
    NO_PROGRAM,
];

const EXAMPLES: &[(&str, &str)] = &[
    ("oversleep emulate windows-10-1909 -- ./app", "waits end on ticks of 15.6 ms"),
    ("oversleep emulate windows-11 --resolution 1ms -- ./app", "as if it had requested 1 ms"),
    ("oversleep emulate linux-hz250 --set slack=1ms -- ./app", "with another slack"),
    ("oversleep emulate windows-7 --summary -- make test", "and say what was emulated"),
    ("oversleep emulate windows-11 --clocks all -- ./app", "times of day move with the timer interrupt, too"),
    ("oversleep emulate windows-10-1909 --as SDL_Delay -- sleep 0.1", "its sleeps are SDL's"),
    ("oversleep emulate ctl 4711 --resolution 1ms", "while it runs"),
];

/// Run an unmodified program with another machine's timing (Linux on x86-64)
///
/// Each timed wait of the program and of all that it starts ends when the rules of the modelled machine say: on a tick of
/// 15.6 ms for windows-10-1909. All else runs at native speed. Nothing needs to be built or linked, and no privilege is
/// needed where a program may trace its children.
#[derive(Args, Debug)]
#[command(before_help = examples(EXAMPLES), after_help = exits(OF_PROGRAM, CODES), args_conflicts_with_subcommands = true)]
pub struct Emulate {
    #[command(subcommand)]
    control: Option<Control>,

    /// Modelled machine, like windows-10-1909; `oversleep machines` lists them
    ///
    /// linux-hz100 is linux-hz250 with --set hz=100, and linux-no-highres is linux-hz250 with --set high-resolution=false.
    #[arg(value_name = "MACHINE", conflicts_with = "like")]
    machine: Option<String>,

    /// Program to run, with its arguments, after --
    #[arg(value_name = "PROGRAM", last = true)]
    program: Vec<OsString>,

    /// Emulate the machine that this result file was taken on: each wait as late as it was there
    ///
    /// This machine's own wake-up comes after each end. It is measured for half a second before the program starts, and
    /// taken off. A wait that is already this slow here is left unchanged; --summary names it.
    #[arg(long, value_name = "FILE")]
    like: Option<PathBuf>,

    /// Timer resolution that the program holds from its start, like 1ms, in each of its processes
    #[arg(long, value_name = "DURATION", value_parser = value::resolution, allow_hyphen_values = true)]
    resolution: Option<Nanos>,

    /// Clocks that show what the machine's would: off, coarse, all, or names like monotonic, or monotonic=get-tick-count-64
    /// for the machine's clock of that name
    ///
    /// coarse: those that Linux calls coarse, and those that the program's runtime reads from a coarse one on the machine's
    /// system. all: each clock of Linux shows the one that stands for it, so on Windows times of day move with the timer
    /// interrupt; files that a program writes are then up to a tick newer than its clock.
    #[arg(long, value_name = "WHICH", default_value = "coarse")]
    clocks: ClockChoice,

    /// Whether programs of known language runtimes wait as the runtime's port to the machine's system: on, off
    #[arg(long, value_name = "ON|OFF", value_parser = ["on", "off"], default_value = "on", hide_possible_values = true)]
    adapters: String,

    /// Call that the program's sleeps stand for, like SDL_Delay, Thread.sleep@java-17 or tokio::time::sleep
    ///
    /// For programs whose runtime can't be recognised: they sleep as that call does on the machine's system, and hold what
    /// it holds meanwhile. So do their waits that the same call makes on Linux. It applies to every program that is run,
    /// and goes before what is recognised. `oversleep runtimes --on MACHINE` lists the calls; the report says what was
    /// assumed of each program, and why.
    #[arg(long = "as", value_name = "CALL")]
    stands_for: Vec<String>,

    /// Let 32-bit programs run, with native timing
    ///
    /// Only 64-bit calls get another machine's timing. Without this option, a 32-bit program ends with exit code 126 before
    /// its first instruction, wherever it is executed, and a message says so.
    #[arg(long = "allow-32-bit")]
    allow_32_bit: bool,

    #[command(flatten)]
    model: ModelArgs,

    /// Write what was emulated to this file, as JSON
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Print what was emulated to standard error when the program has ended
    #[arg(long)]
    summary: bool,

    /// Print no progress and no notes on standard error, only warnings and errors
    #[arg(long, short, conflicts_with = "summary")]
    quiet: bool,
}

#[derive(Debug, Subcommand)]
enum Control {
    Ctl(Ctl),
}

const CTL_CODES: &[Code] =
    &[(0, "it is done"), (125, "no emulation has that number, it refuses, or an option makes no sense")];

const CTL_EXAMPLES: &[(&str, &str)] = &[
    ("oversleep emulate ctl $OVERSLEEP_EMULATE --resolution 1ms", "from a script in the program"),
    ("oversleep emulate ctl 4711 --release", "back to the default"),
    ("oversleep emulate ctl 4711 --report", "what was emulated until now"),
];

/// Change what an emulated program gets, while it runs
///
/// A program may change it by itself: prctl(0x6f767352, NS) requests a resolution of NS nanoseconds for its process, 0
/// releases it, and the call returns what was granted. Without emulation it fails with EINVAL and does nothing.
#[derive(Args, Debug)]
#[command(before_help = examples(CTL_EXAMPLES), after_help = exits("", CTL_CODES))]
struct Ctl {
    /// Process id of the emulating oversleep: OVERSLEEP_EMULATE in the program's environment
    #[arg(value_name = "PID")]
    front: i32,

    /// Timer resolution to hold from now on, like 1ms
    #[arg(long, value_name = "DURATION", value_parser = value::resolution, allow_hyphen_values = true,
        conflicts_with_all = ["release", "report"])]
    resolution: Option<Nanos>,

    /// Release it again
    #[arg(long, conflicts_with = "report")]
    release: bool,

    /// Only for this process of the program, as if it had requested it
    #[arg(long, value_name = "PID")]
    process: Option<i32>,

    /// Print what was emulated until now, as JSON
    #[arg(long)]
    report: bool,
}

impl Emulate {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        let ended = match &self.control {
            Some(Control::Ctl(control)) => control.run(),
            None => self.emulate(),
        };
        match ended {
            Ok(exit) => Ok(exit),
            Err(_) => failed(ended),
        }
    }

    fn emulate(&self) -> Result<Exit, Failure> {
        if self.program.is_empty() {
            return Err(Failure::usage("name a program after --, as in: oversleep emulate windows-10-1909 -- ./app"));
        }
        let plan = self.plan()?;
        if self.resolution.is_some() && !plan.has_tick() {
            let why = "has no timer interrupt whose period programs can request; leave out --resolution";
            return Err(Failure::usage(format!("{} {why}", plan.machine())));
        }
        for call in &self.stands_for {
            plan.assumed(call).map_err(|why| Failure::usage(format!("--as '{call}': {why}")))?;
        }
        let delivery = self.delivery()?;
        interrupt::leave_to_programs();
        let request = Request {
            plan: Some(plan),
            locks_memory: false,
            resolution: self.resolution,
            clocks: self.clocks.clone(),
            has_adapters: self.adapters == "on",
            stands_for: self.stands_for.clone(),
            allows_32_bit: self.allow_32_bit,
            note: message::warning,
            program: self.program.clone(),
        };
        let ended = oversleep_emulate::run(request)?;
        self.deliver(&ended, delivery.as_ref())?;
        Ok(Exit::Program(ended.end))
    }

    fn plan(&self) -> Result<Plan, Failure> {
        let (set, seed) = (&self.model.set, self.model.seed);
        match (&self.machine, &self.like) {
            (Some(name), _) => {
                request::machine::known(name)?;
                Plan::named(name, set, seed).map_err(Failure::usage)
            }
            (None, Some(path)) => {
                Places::reading([path])?;
                let failed =
                    |why: String| Failure::failed(format!("can't emulate the machine of '{}': {why}", path.display()));
                let result = reading::from_file(path).map_err(|error| failed(error.to_string()))?;
                Plan::like(&result, set, seed).map_err(failed)
            }
            (None, None) => {
                Err(Failure::usage("name a modelled machine or --like FILE; `oversleep machines` lists them"))
            }
        }
    }

    /// Checks the file of the report before the program runs.
    fn delivery(&self) -> Result<Option<Delivery>, Failure> {
        message::leave_out_notes(self.quiet);
        let Some(path) = &self.out else { return Ok(None) };
        let named = vec![Named { option: "out", format: &JSON, path: path.clone() }];
        let documents = DocumentArgs { named, quiet: self.quiet, ..DocumentArgs::default() };
        Ok(Some(Delivery::only_named_in(&documents, &[], Places::reading(&self.like)?)?.of_measured()))
    }

    /// Delivers the requested summaries of the emulation.
    fn deliver(&self, ended: &Ended, delivery: Option<&Delivery>) -> Result<(), Failure> {
        let Some(report) = &ended.report else { return Ok(()) };
        if let Some(delivery) = delivery {
            delivery.deliver(&document::Emulated(report), "oversleep-emulation")?;
        }
        if self.summary {
            summary::lines(report).iter().for_each(|line| message::note(line));
        } else {
            // Calls that changed the program's behaviour are always reported, and those of another table.
            let other_way = |passed: &&PassedBy| {
                matches!(&*passed.call, "ptrace" | "execve")
                    || passed.call.ends_with("(i386)")
                    || passed.call.ends_with("(x32)")
            };
            report.passed_by.iter().filter(other_way).for_each(|passed| message::warning(&summary::passed_by(passed)));
        }
        Ok(())
    }
}

/// A failure before the program runs has oversleep's own code, unless the program itself can't be run.
pub fn failed(ended: Result<Exit, Failure>) -> Result<Exit, Failure> {
    match ended {
        Err(Failure::NotRun(_) | Failure::NotFound(_)) => return ended,
        Err(failure) => message::error(&failure.to_string(), failure.next()),
        Ok(_) => {}
    }
    Ok(Exit::Program(AppEnd::Code(OWN_FAILURE)))
}

impl Ctl {
    fn run(&self) -> Result<Exit, Failure> {
        let tell = |words: &str| {
            oversleep_emulate::control(self.front, words).map_err(|failure| Failure::failed(failure.to_string()))
        };
        if self.report {
            stdout::text(&(tell("report")? + "\n"))?;
            return Ok(Exit::Fine);
        }
        let period = match (self.resolution, self.release) {
            (Some(period), _) => period.0.to_string(),
            (None, true) => "released".to_owned(),
            (None, false) => {
                return Err(Failure::usage("say what to change: --resolution 1ms, --release, or --report"));
            }
        };
        let process = self.process.map(|process| format!(" {process}")).unwrap_or_default();
        let granted = tell(&format!("resolution {period}{process}"))?;
        let granted = granted.parse().map(Nanos).map_err(|_| Failure::failed(format!("no period: '{granted}'")))?;
        message::note(&match self.release {
            true => format!("the resolution is released; the default is {granted}"),
            false => format!("a resolution of {granted} is held"),
        });
        Ok(Exit::Fine)
    }
}
