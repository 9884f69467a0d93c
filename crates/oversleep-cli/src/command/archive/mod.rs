//! `archive`: the results of a fleet in a folder of Parquet files, and questions about them. What a command does is behind
//! the feature `archive`; its options and help are always there.
#![cfg_attr(
    not(feature = "archive"),
    allow(dead_code, reason = "nothing reads the options of a command that can't run")
)]

#[cfg(feature = "archive")]
mod add;
#[cfg(feature = "archive")]
mod care;
#[cfg(feature = "archive")]
mod query;
#[cfg(feature = "archive")]
mod report;
#[cfg(feature = "archive")]
mod sql;
mod views;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::args::{Documents, List, Read};
use crate::command::spec::{Code, FINE, READ_FAILED, READS, USAGE, examples, exits};
use crate::exit::{Exit, Failure};

const EXAMPLES: &[(&str, &str)] = &[
    ("oversleep archive add fleet r.json", "keep a result"),
    ("oversleep archive query fleet 'p50 p99 count by kernel'", "ask about all of them"),
    ("oversleep archive report fleet --html fleet.html", "a page: which host is unlike its group, and since when"),
    ("oversleep archive sql fleet 'SELECT count(*) FROM histograms'", "in SQL"),
    ("oversleep archive views duckdb", "the same files on another engine"),
];

/// Keep the results of a fleet for years, and ask about all of them
///
/// An archive is a folder of Parquet files, a folder for each day. Each series of a result is a row: the facts about the
/// machine, what was measured, and every value as buckets, which add up exactly. Other engines read the same files.
#[derive(Args, Debug)]
#[command(before_help = examples(EXAMPLES), after_help = exits("", READS))]
pub struct Archive {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    Add(Add),
    Query(Query),
    Report(Report),
    Sql(Sql),
    Views(views::Views),
    Compact(Compact),
    Check(Check),
}

const ADD_EXAMPLES: &[(&str, &str)] = &[
    ("oversleep archive add fleet r.json", "a result of this machine"),
    ("oversleep archive add fleet r.json --machine web-17", "a result of another one"),
    ("oversleep archive add fleet results/*.json --by-file", "each file is another machine's"),
];

/// Add results, one file for each day that they are from; a result that is there already adds nothing
///
/// FILES may be results, recordings, and files of other programs, as for `oversleep export`. Of the facts about a machine,
/// those are kept that a shared copy of the result has: no name of a host, no path, no command line; the names of the
/// processor and of the kernel are kept whole. The archive knows a machine by a random text; its name stays in the file
/// `_archive.sqlite`.
#[derive(Args, Debug)]
#[command(before_help = examples(ADD_EXAMPLES), after_help = exits("", READS))]
struct Add {
    /// Folder of the archive, which is made if there is none
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// Results, recordings, files of other programs; - is standard input
    #[arg(value_name = "FILES", required = true)]
    files: Vec<PathBuf>,

    /// The machine that FILES are from [default: the name in each result, else "this machine"]
    #[arg(long, value_name = "NAME", conflicts_with = "by_file")]
    machine: Option<String>,

    /// Each of FILES is another machine's, whose name is that of the file without its ending
    #[arg(long)]
    by_file: bool,

    /// Significant digits of the buckets: 3 keeps every value within 0.1 %, 2 within 0.8 % in a third of the space
    #[arg(long, value_name = "N", default_value = "3", value_parser = ["2", "3"])]
    digits: String,

    /// Print no notes on standard error, only warnings and errors
    #[arg(long, short)]
    quiet: bool,
}

const QUERY_EXAMPLES: &[(&str, &str)] = &[
    ("oversleep archive query fleet 'p50 p99 count by kernel'", "a line for each kernel and wait"),
    ("oversleep archive query fleet 'p99 by day' --where since=7d", "the last week"),
    ("oversleep archive query fleet 'p50 steal by machine hour' --csv", "for a spreadsheet"),
];

const QUESTION: &str = "\
QUESTION is FIGURES, or FIGURES by GROUPS.

  figures  p50 p90 p99 p99.9 or any other percentile, mean min max count
           early missed machines rows disturbed steal first last
  groups   machine day hour hour_of_day month os os_version kernel cpu_model
           cpus hypervisor container clocksource preemption hz libc governor
           name tool wait request runtime quantity unit experiment conditions
           disturbed fact.NAME label.NAME

Series that differ are never added up: a line is of one wait, one request and
one set of conditions, and columns say which. --mixed adds up those that differ
in what QUESTION doesn't name.

Lateness as found comes first. A terminal gets the first 40 lines, without
series that have no values. --csv and --json have all.";

const WHERE: &str = "\
Only rows with these values, with blanks between them: wait=nanosleep request=1ms since=7d. `a,b` means either, `*` any text,
`!=` the opposite, `unknown` what isn't known; a value with blanks stands in quotes: conditions='as found'. A value that no row
has is an error. since and until take 7d, 2w, 12h or a date in UTC like 2026-11-27";

/// Ask about all results: percentiles and counts, by kernel, machine, day …
#[derive(Args, Debug)]
#[command(
    before_help = examples(QUERY_EXAMPLES),
    after_help = exits("", READS),
    after_long_help = format!("{QUESTION}\n\n{}", exits("", READS))
)]
struct Query {
    /// Folder of the archive
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// Figures, and what to group them by, like 'p50 p99 count by kernel'; --help lists them
    #[arg(value_name = "QUESTION")]
    question: String,

    /// Only rows with these values, like 'wait=nanosleep request=1ms since=7d'
    #[arg(long = "where", value_name = "TESTS", default_value = "", hide_default_value = true, long_help = WHERE)]
    tests: String,

    /// Add up series that differ in what QUESTION doesn't name
    #[arg(long)]
    mixed: bool,

    /// Answer here although the archive has more than 20 million rows for it
    #[arg(long)]
    here: bool,

    #[command(flatten)]
    documents: Documents<List>,
}

const REPORT_EXAMPLES: &[(&str, &str)] = &[
    ("oversleep archive report fleet", "on the terminal"),
    ("oversleep archive report fleet --html fleet.html", "as a page, with pictures by day"),
    ("oversleep archive report fleet --where 'since=30d' --csv", "a line for each finding of the last 30 days"),
];

/// Say which hosts are unlike their group, what changes did, where the hypervisor takes time, and since when
///
/// Hosts are compared with those of the same processor, CPUs and hypervisor under the same kernel at the same time. How far
/// apart is unusual follows from these hosts, so there is no threshold to choose. Hosts and days are the units of every
/// interval, and all comparisons together are wrong with a probability of 1 %. It takes 10 hosts of a kind, and a week.
#[derive(Args, Debug)]
#[command(before_help = examples(REPORT_EXAMPLES), after_help = exits("", READS))]
struct Report {
    /// Folder of the archive
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// Only rows with these values, like 'wait=nanosleep request=1ms since=7d'
    #[arg(long = "where", value_name = "TESTS", default_value = "", hide_default_value = true, long_help = WHERE)]
    tests: String,

    /// Judge here although the archive has more than 20 million rows
    #[arg(long)]
    here: bool,

    #[command(flatten)]
    documents: Documents<Read>,
}

const SQL_EXAMPLES: &[(&str, &str)] = &[
    ("oversleep archive sql fleet .help", "tables, columns, and a query to begin with"),
    ("oversleep archive sql fleet 'SELECT sum(count) FROM histograms'", ""),
    ("oversleep archive sql fleet 'SELECT kernel FROM histograms' --csv", "for a spreadsheet"),
];

/// Ask in SQL, which SQLite answers
///
/// The table `histograms` has a row for each series, `buckets` one for each bucket of histograms that agree in all columns
/// of STATEMENT. STATEMENT can only read.
#[derive(Args, Debug)]
#[command(before_help = examples(SQL_EXAMPLES), after_help = exits("", READS))]
struct Sql {
    /// Folder of the archive
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// A SELECT; .help lists tables and columns
    #[arg(value_name = "STATEMENT")]
    statement: String,

    /// Answer here although the archive has more than 20 million rows
    #[arg(long)]
    here: bool,

    #[command(flatten)]
    documents: Documents<List>,
}

/// Merge the files of each day into one; answers stay the same
///
/// It may be killed at any moment: no row is lost, and none is counted twice.
#[derive(Args, Debug)]
#[command(before_help = examples(&[("oversleep archive compact fleet", "once a day is enough")]), after_help = exits("", READS))]
struct Compact {
    /// Folder of the archive
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// Print no notes on standard error, only warnings and errors
    #[arg(long, short)]
    quiet: bool,
}

/// An archive with faults ends with this code.
const FAULTY: Code = (3, "something is wrong with the archive");

/// Read every row, and say what is wrong; removes what a command that was killed left behind
#[derive(Args, Debug)]
#[command(
    before_help = examples(&[("oversleep archive check fleet", "after a crash, or before a backup")]),
    after_help = exits("", &[FINE, READ_FAILED, USAGE, FAULTY])
)]
struct Check {
    /// Folder of the archive
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    #[command(flatten)]
    documents: Documents<List>,
}

impl Archive {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        match self.task {
            Task::Views(task) => task.run(),
            task => task.run(),
        }
    }
}

/// How to get a command that can.
#[cfg(not(feature = "archive"))]
impl Task {
    fn run(self) -> Result<Exit, Failure> {
        Err(Failure::failed(
            "this command was built without archives, which take SQLite and Parquet. Released ones have them; \
             `cargo install oversleep-cli --features archive` builds one, which takes a C compiler",
        ))
    }
}

#[cfg(feature = "archive")]
impl Task {
    fn run(self) -> Result<Exit, Failure> {
        match self {
            Task::Add(task) => add::run(task),
            Task::Query(task) => query::run(&task),
            Task::Report(task) => report::run(&task),
            Task::Sql(task) => sql::run(&task),
            Task::Views(task) => task.run(),
            Task::Compact(task) => care::compact(&task),
            Task::Check(task) => care::check(&task),
        }
    }
}

#[cfg(feature = "archive")]
fn failed(error: &dyn std::fmt::Display) -> Failure {
    Failure::failed(error.to_string())
}
