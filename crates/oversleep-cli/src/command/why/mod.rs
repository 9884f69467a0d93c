//! `why`: shows where the lateness of another program's waits went.

mod follower;
mod output;
mod screen;
mod trying;
mod watch;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use oversleep_lab::assert::Assertion;
use oversleep_record::{FactName, Nanos};
use oversleep_recordings::how_to;
use oversleep_report::view::comparison;
use oversleep_request::assertions;
use oversleep_why::select::Selection;

use super::results;
use crate::args::{Documents, Read, value};
use crate::command::spec::{Code, NO_PROGRAM, NOT_RUN, USAGE, examples, exits};
use crate::exit::{Exit, Failure};
use crate::output::stdout;

/// What comes before the codes with a number.
const WITHOUT_PROGRAM: &str =
    "the program's own; a signal that ends the program ends oversleep too; without a program:";
const CODES: &[Code] = &[
    (0, "success, also when Ctrl-C ends following without --for"),
    (1, "failure: nothing could be followed, or a file could not be read or written"),
    USAGE,
    (3, "what --fail-if says holds, also with a program"),
    (4, "too few waits: for --fail-if, also with a program that ends with 0, or to compare"),
    NOT_RUN,
    NO_PROGRAM,
    (130, "interrupted before --for or the program was over: the result holds what was seen up to then"),
];

const EXAMPLES: &[(&str, &str)] = &[
    ("oversleep why -- ./app", "run a program and show where its lateness went"),
    ("oversleep why --try -- ./app", "and run it again with each remedy that is a setting"),
    ("oversleep why -p 1234 --for 10s", "a process that runs already"),
    ("oversleep why --system --only '>1ms'", "every wait of this machine that is late by more than 1 ms"),
    ("oversleep why --record r.why -- ./app", "keep every event, to look at it again elsewhere"),
    ("oversleep why r.why --want 1ms", "a recording, for a program that meant 1 ms"),
];

/// Show where the lateness of a program's timed waits went
///
/// It follows every timed wait that an unmodified program makes, in any language, and splits the lateness of each one
/// into parts that add up to it: timer slack, a late interrupt, waiting for a CPU, a CPU quota and others. It begins
/// with a verdict: where most of the lateness goes, who is behind it, and what to do first. It needs Linux with kernel
/// type information, and root or CAP_BPF and CAP_PERFMON; without them, a supervisor follows a program that it starts
/// itself and tells fewer parts apart. Recordings can be read on any system; those of every switch also tell what wakes
/// idle CPUs and which threads wake up with which period (--full). With a program it ends as that program
/// does, unless --fail-if decides.
#[derive(Args, Debug)]
#[command(before_help = examples(EXAMPLES), after_help = exits(WITHOUT_PROGRAM, CODES))]
pub struct Why {
    /// Recording (--record, perf.data, trace.dat, Perfetto, their text, Windows' ETL) or result file to show again; of two
    /// result files, the second is compared with the first
    #[arg(value_name = "FILE", num_args = 0..=2, conflicts_with_all = ["pid", "system", "program"])]
    files: Vec<PathBuf>,

    /// Program to run and follow, with its arguments, after --
    #[arg(value_name = "PROGRAM", last = true, conflicts_with_all = ["pid", "system"])]
    program: Vec<OsString>,

    /// Follow processes that run already, and the children they start
    #[arg(long, short, value_name = "PID", value_delimiter = ',', value_parser = value::process, conflicts_with = "system")]
    pid: Vec<u32>,

    /// Follow every process of this machine
    #[arg(long)]
    system: bool,

    /// Who follows the program [default: the kernel, or the supervisor where the kernel doesn't allow it]
    ///
    /// kernel: a program in the kernel sees every part of a wait. supervisor: a process that stops the program before and
    /// after each wait; it needs no privileges, sees fewer parts, and follows only a program that it starts itself (Linux on
    /// x86-64).
    #[arg(long, value_name = "WHO", value_enum, hide_possible_values = true, conflicts_with = "files")]
    by: Option<follower::Choice>,

    /// End after this time, like 10s [default: when the program ends, or with Ctrl-C]
    #[arg(long = "for", value_name = "TIME", value_parser = value::run_time)]
    for_time: Option<Nanos>,

    /// Don't follow the processes that a followed one starts
    #[arg(long)]
    no_follow: bool,

    /// Show only waits that fit, like 'futex >1ms', thread=NAME, program=NAME or request=1ms
    #[arg(long, value_name = "WAITS")]
    only: Option<Selection>,

    /// What the program meant to wait for, like 1ms: rounding before the call is then seen, too
    #[arg(long, value_name = "TIME", value_parser = value::request)]
    want: Option<Nanos>,

    /// Exit with 3 if this holds of any group of waits, like 'p99>200us' or 'cause(late-by-quota) present', and with 4 if it
    /// can't be told of any
    ///
    /// It is what `oversleep assert` takes, and 'p99>200us' means 'why(*).p99 > 200us'.
    #[arg(long, value_name = "CONDITION", value_parser = assertions::fail_if)]
    fail_if: Option<Assertion>,

    /// Print no report, for commands that compare the results of several runs
    #[arg(long, hide = true)]
    no_report: bool,

    /// Write every event to FILE while it is collected; `oversleep why FILE` reads it, on any system
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// Write the selected waits as a trace that ui.perfetto.dev opens
    #[arg(long, value_name = "FILE")]
    perfetto: Option<PathBuf>,

    /// Show where the worst waits were called from, in the program and in the kernel
    #[arg(long, conflicts_with = "files")]
    stacks: bool,

    /// Follow timed waits only, and not what threads do between them: their periods are then not split, and following costs
    /// less
    #[arg(long, conflicts_with = "files")]
    waits_only: bool,

    /// Run the program again with each remedy that can be set from outside, and show what it gains
    #[arg(long = "try", requires = "program", conflicts_with_all = ["files", "pid", "system", "only", "for_time"])]
    tries: bool,

    /// Print commands that record a system's waits with what is installed there: linux (perf), trace-cmd, android or windows
    /// (wpr); FILE can be what they record
    #[arg(long, value_name = "WAY", value_parser = way(), hide_possible_values = true, exclusive = true)]
    how_to_record: Option<String>,

    /// Show the verdict as it forms, also where the program's own output goes to the same terminal
    #[arg(long)]
    live: bool,

    #[command(flatten)]
    documents: Documents<Read>,
}

/// The ways to record without oversleep.
fn way() -> PossibleValuesParser {
    PossibleValuesParser::new(how_to::WAYS.iter().map(|way| way.name))
}

/// The length of the kernel's tick.
pub fn tick_ns() -> u64 {
    let tick = oversleep_native::here().environment().nanos(FactName::TimerCoarseStep);
    tick.and_then(|tick| u64::try_from(tick.0).ok()).filter(|&ns| ns != 0).unwrap_or(4_000_000)
}

impl Why {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        if let Some(way) = how_to::WAYS.iter().find(|way| self.how_to_record.as_deref() == Some(way.name)) {
            stdout::document(&|out| out.write_all(way.text.as_bytes()))?;
            return Ok(Exit::Fine);
        }
        match &self.files[..] {
            [] if self.program.is_empty() && self.pid.is_empty() && !self.system => Err(Failure::usage(
                "nothing to follow: name a program after --, a process with -p, --system, or a recording; \
                 for example `oversleep why -- ./app`",
            )),
            [] => watch::run(&self),
            [file] => output::again(&self, file),
            both => {
                let delivery = results::prepare(both, &self.documents)?;
                let with_pictures = results::needs_pictures(&self.documents);
                results::read(both, "why a.json -", with_pictures)?.deliver(&delivery, comparison::view)
            }
        }
    }
}
