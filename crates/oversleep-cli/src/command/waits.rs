//! `waits`: how late each wait ends.

use std::path::PathBuf;

use clap::Args;
use oversleep_lab::Laboratory;
use oversleep_lab::catalogue::Kind;
use oversleep_measure::{Command, Limit, Plan};
use oversleep_record::{CommandName, Nanos};
use oversleep_sampler::Sampling;
use oversleep_system::examples::Examples;
use oversleep_system::runtime_calls::Version;

use super::live::Shown;
use super::live::witness::{self, Choice};
use super::measuring::{self, Files};
use super::watch::Run;
use super::{registry, watch};
use crate::args::{AMOUNT, DepthArgs, LimitArgs, PaceArg, RequestArgs, RunArgs, value};
use crate::command::spec::{MEASURES, examples, exits};
use crate::exit::{Exit, Failure};
use crate::request::{MeasuringArgs, refuse_long_requests};

/// What `--live` doesn't know: it measures this machine as it is.
const ELSEWHERE: &[&str] = &[
    "on",
    "like",
    "load",
    "policy",
    "slack",
    "resolution",
    "pin",
    "lock_memory",
    "dma_latency",
    "tune",
    "clock",
    "count",
    "pace",
    "version",
    "list",
];

/// Examples with names of this system.
fn examples_here() -> String {
    let Examples { waits: [sleep, other], policy, .. } = oversleep_native::examples();
    examples(&[
        ("oversleep waits".to_owned(), "every wait"),
        (format!("oversleep waits {sleep} {other} --request 1ms"), "two of them, for 1 ms"),
        (format!("oversleep waits {sleep} --policy {policy} --for 5s"), "one under another policy, for 5 s"),
        (format!("oversleep waits {sleep} --live --break-above 5ms"), "as it is measured; a later wait ends it"),
        ("oversleep waits --list".to_owned(), "their names, calls and properties"),
    ])
}

/// Measure waits: how late does each one end, for each request?
#[derive(Args, Debug)]
#[command(before_help = examples_here(), after_help = exits("", MEASURES))]
pub struct Waits {
    /// Waits to measure in detail [default: a survey of all]
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// List the waits with their properties and whether each is available here
    #[arg(long)]
    list: bool,

    #[command(flatten)]
    depth: DepthArgs,
    #[command(flatten)]
    request: RequestArgs,
    #[command(flatten)]
    limit: LimitArgs,

    /// How waits follow one another [default: periodic; back-to-back for waits that count in milliseconds or end on a
    /// tick, and for a runtime's calls that have no rate]
    #[arg(long, value_enum, help_heading = AMOUNT)]
    pace: Option<PaceArg>,

    /// Version of the runtimes whose calls are named, like 17 or 3.11 [default: the newest one with a record]
    #[arg(long, value_name = "VERSION", requires = "names")]
    version: Option<Version>,

    /// Show min, now, p50, p99, max and a histogram of one wait as it is measured, until Ctrl-C or for the time of --for
    #[arg(long, conflicts_with_all = ELSEWHERE, help_heading = AMOUNT)]
    live: bool,

    /// With --live, measure on each CPU at once, with a row for each
    #[arg(long, requires = "live", help_heading = AMOUNT)]
    each_cpu: bool,

    /// With --live, end at the first wait that ends later than this, like 200us
    #[arg(long, value_name = "DURATION", value_parser = value::request, requires = "live", help_heading = AMOUNT)]
    break_above: Option<Nanos>,

    /// With --break-above, write the kernel's events up to that wait to FILE, which `oversleep why FILE` shows
    ///
    /// It needs what `oversleep why` needs: Linux, root or CAP_BPF and CAP_PERFMON. The last 16,384 events are kept.
    #[arg(long, value_name = "FILE", requires = "break_above", help_heading = AMOUNT)]
    events: Option<PathBuf>,

    #[command(flatten)]
    run: RunArgs,
}

impl Waits {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        if self.list {
            return registry::list(CommandName::Waits, Kind::Wait, &self.names, &self.run.machine, &self.run.output);
        }
        if self.live {
            return self.live();
        }
        // A named wait has a deadline or is a yield; the survey also includes the waits that spin.
        let command = if self.names.is_empty() { Command::Waits } else { Command::NamedWaits };
        let args = MeasuringArgs::new(CommandName::Waits, self.depth, self.run.conditions, self.run.machine);
        let args = MeasuringArgs {
            experiments: command.experiments(),
            subject_kind: Some(Kind::Wait),
            version: self.version,
            plan: Plan {
                requests: self.request.request,
                limit: self.limit.limit(),
                pace: self.pace.map(PaceArg::pace),
                subjects: self.names,
                ..args.plan
            },
            ..args
        };
        measuring::run(args, &self.run.output, Files::AsAsked)
    }

    /// Bursts of a hundred waits, each with a pause of random length around one request.
    fn live(self) -> Result<Exit, Failure> {
        let ([] | [_], [] | [_]) = (&self.names[..], &self.request.request[..]) else {
            return Err(Failure::usage("--live shows one wait for one request"));
        };
        let time = match self.limit.limit() {
            Some(Limit::Count(_)) => return Err(Failure::usage("--live takes --for, not --count")),
            Some(Limit::Time(time)) => Some(time),
            None => None,
        };
        let name = watch::wait_of(self.names.first().map(String::as_str))?;
        refuse_long_requests(&Laboratory::on(oversleep_native::here()), &self.request.request)?;
        let requested = self.request.request.first().copied().unwrap_or(Nanos::from_millis(1));
        let sampling = Sampling {
            requested,
            burst: 100,
            pause: requested,
            late_from: self.break_above.unwrap_or(Nanos::MAX),
            break_above: self.break_above,
            // It is measured because somebody wants to see it now.
            share_max_ppm: i64::MAX,
            ..Sampling::of(&name)
        };
        let until = time.map_or("until Ctrl-C".to_owned(), |time| format!("for {time}"));
        let begin = format!("Measuring {name} for {requested} {until}.");
        let shown = Shown {
            has_table: !self.run.output.quiet,
            has_histogram: true,
            has_json_lines: false,
            is_stdout_taken: false,
        };
        // Where nothing ends it, no wait is named, and nothing in the kernel should delay one.
        let witness = match (&self.break_above, &self.events) {
            (None, _) => None,
            (Some(_), None) => witness::open(None, self.run.output.quiet)?,
            (Some(_), Some(_)) => witness::open(Some(Choice::Kernel), self.run.output.quiet)?,
        };
        let is_on_each_cpu = self.each_cpu;
        let run = Run { command: CommandName::Waits, sampling, is_on_each_cpu, time, shown, witness };
        run.run(&self.run.output, self.events.as_deref(), &begin)
    }
}
