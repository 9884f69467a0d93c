//! A question to one or several machines.

use std::path::PathBuf;

use clap::Args;
use oversleep_lab::ask::Subject;
use oversleep_record::conditions::Setting;
use oversleep_system::runtime_calls::Version;

use super::{ConditionArgs, ModelArgs, PaceArg, value};

/// What is asked, of which machines, under what.
#[derive(Args, Clone, Debug)]
pub struct AskArgs {
    /// Questions: 'sleep(1ms)', 'WAIT(SPAN)', 'yield(NAME)', 'step(CLOCK)', 'cost(CLOCK)', 'shows(CLOCK)',
    /// 'forkjoin(blocked)', 'resolution()'
    ///
    /// Name a wait or a clock as oversleep does, or by its call (WaitForSingleObject, CLOCK_MONOTONIC_COARSE). You can
    /// also name a wait as a runtime does: parkNanos, Thread.sleep, time.sleep, sleep_for, setTimeout, WM_TIMER. No runtime
    /// is run: a sourced record says which call it makes of the span, and the answer names the record.
    ///
    /// A span can stand as in the code: 'Sleep(1)', 'usleep(100)', 'time.Sleep(5 * time.Millisecond)',
    /// 'setTimeout(f, 1)'. A bare number has the unit of that call. So can a clock: 'System.nanoTime()',
    /// 'time.monotonic()', 'performance.now()'.
    #[arg(value_name = "QUESTION", required = true)]
    pub questions: Vec<Subject>,

    /// Version of the runtimes whose calls are asked, like 17 or 3.11 [default: the newest one with a record]
    ///
    /// A version can also be a part of a name: 'Thread.sleep@java-17(1ms)'.
    #[arg(long, value_name = "VERSION")]
    pub version: Option<Version>,

    /// Modelled machines to ask, side by side, like windows-10-2004,windows-11 [default: this machine]
    #[arg(long, value_name = "MACHINE", value_delimiter = ',')]
    pub on: Vec<String>,

    /// Ask a model of the machine that this result file was taken on
    #[arg(long, value_name = "FILE")]
    pub like: Option<PathBuf>,

    #[command(flatten)]
    pub model: ModelArgs,

    /// Timer resolution that another process holds at the same time, like 2ms; repeat it for each such process
    #[arg(long, value_name = "SETTING", value_parser = value::setting, value_delimiter = ',')]
    pub neighbour: Vec<Setting>,

    /// Ask after those processes have exited
    #[arg(long, requires = "neighbour")]
    pub after_neighbour: bool,

    /// Values to take [default: 1000; 100 fork-joins]
    #[arg(long, value_name = "N", value_parser = value::count, allow_hyphen_values = true)]
    pub count: Option<u64>,

    /// How the waits follow one another [default: back-to-back; periodic for calls at a fixed rate, like
    /// scheduleAtFixedRate]
    #[arg(long, value_name = "PACE", value_enum)]
    pub pace: Option<PaceArg>,

    #[command(flatten)]
    pub conditions: ConditionArgs,
}
