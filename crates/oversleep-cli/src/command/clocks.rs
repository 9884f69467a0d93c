//! `clocks`: what each clock costs, how it steps, and whether it is valid.

use std::path::PathBuf;

use clap::Args;
use oversleep_lab::catalogue::Kind;
use oversleep_measure::{Command, Plan, READS_MIN};
use oversleep_record::CommandName;
use oversleep_report::view::comparison::clocks_view;

use super::measuring::{self, Files};
use super::registry;
use super::results;
use crate::args::{AMOUNT, DepthArgs, RunArgs, value};
use crate::command::spec::{MEASURES, examples, exits};
use crate::exit::{Exit, Failure};
use crate::request::MeasuringArgs;

/// Examples with names of this system.
fn examples_here() -> String {
    let [one, other] = oversleep_native::examples().clocks;
    examples(&[
        ("oversleep clocks".to_owned(), "every clock: cost, step, and whether it is valid"),
        (format!("oversleep clocks {one} {other}"), "two of them"),
        ("oversleep clocks --list".to_owned(), "their names, calls and properties"),
        ("oversleep clocks a.json b.json".to_owned(), "which is valid on both machines?"),
    ])
}

/// Measure clocks: cost per read, step, drift, and whether each is valid
#[derive(Args, Debug)]
#[command(before_help = examples_here(), after_help = exits("", MEASURES))]
pub struct Clocks {
    /// Clocks to measure [default: all], or two result files or more: which clock is valid on all of those machines?
    #[arg(value_name = "NAME|FILE")]
    names: Vec<String>,

    /// Calls of each clock whose cost is timed, 10000 or more, like 10000000 [default: set by --quick or --thorough]
    #[arg(long, value_name = "N", value_parser = value::count, allow_hyphen_values = true, help_heading = AMOUNT)]
    count: Option<u64>,

    /// List the clocks with their properties and whether each is available here
    #[arg(long)]
    list: bool,

    #[command(flatten)]
    depth: DepthArgs,
    #[command(flatten)]
    run: RunArgs,
}

impl Clocks {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        if self.names.iter().any(|name| is_file(name)) {
            return self.compare();
        }
        if self.list {
            return registry::list(CommandName::Clocks, Kind::Clock, &self.names, &self.run.machine, &self.run.output);
        }
        if let Some(count) = self.count.filter(|&count| count < READS_MIN) {
            return Err(Failure::usage(format!(
                "--count {count} is too few: the clock reads around so few calls would be timed with them; give {READS_MIN} or \
                 more"
            )));
        }
        let args = MeasuringArgs::new(CommandName::Clocks, self.depth, self.run.conditions, self.run.machine);
        let args = MeasuringArgs {
            experiments: Command::Clocks.experiments(),
            subject_kind: Some(Kind::Clock),
            plan: Plan { subjects: self.names, reads: self.count, ..args.plan },
            ..args
        };
        measuring::run(args, &self.run.output, Files::AsAsked)
    }
    /// The clocks of several results.
    fn compare(&self) -> Result<Exit, Failure> {
        let example = "oversleep clocks a.json b.json";
        if let Some(name) = self.names.iter().find(|name| !is_file(name)) {
            return Err(Failure::usage(format!("'{name}' is no result file; name files alone, like {example}")));
        }
        if self.names.len() < 2 {
            return Err(Failure::usage(format!(
                "one result has nothing to compare with; name two or more, like {example}, or run `oversleep report {}`",
                self.names[0]
            )));
        }
        let files: Vec<PathBuf> = self.names.iter().map(PathBuf::from).collect();
        let delivery = results::prepare(&files, &self.run.output)?;
        results::read(&files, "clocks a.json -", false)?.deliver(&delivery, clocks_view)
    }
}

/// Whether that is a file and not the name of a clock, which has letters, digits and `-` only.
fn is_file(name: &str) -> bool {
    name == "-" || name.contains(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-')
}
