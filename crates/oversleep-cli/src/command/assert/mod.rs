//! `assert`: what has to hold of results, of this machine, of two programs or of two settings; for builds that should fail
//! when it doesn't.

mod allowance;
mod here;
mod output;
mod turns;

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use oversleep_exchange::Text;
use oversleep_explain as explain;
use oversleep_lab::assert::{Across, Assertion, Regression, against, judge};
use oversleep_record::assertion::Judged;
use oversleep_record::{Nanos, ResultFile};
use oversleep_request::assertions;
use value::TypedTunable;

use crate::args::{Document, Documents, MachineArgs, Read, value};
use crate::command::spec::{Code, FINE, USAGE, examples, exits};
use crate::exit::{Exit, Failure};
use crate::reading;

const CODES: &[Code] = &[
    FINE,
    (1, "failure: nothing could be measured, or a file could not be read or written"),
    USAGE,
    (3, "an assertion fails, with 99 % confidence"),
    (4, "none fails, but one is undecided: more values would decide it, or less disturbance"),
    (130, "interrupted"),
];

const EXAMPLES: &[(&str, &str)] = &[
    ("oversleep assert r.json 'nanosleep(1ms).p99 < 2ms'", "of a result"),
    ("oversleep assert --file timing.assert r.json", "what a file says, an assertion a line"),
    ("oversleep assert 'sleep(1ms).p50 < 1ms' --within 30s", "of this machine"),
    ("oversleep assert new.json --baseline old.json --max-regression 25%", "no slower than before"),
    ("oversleep assert --base ./old --new ./new --within 60s", "two programs, in turns"),
];

/// The longest file of assertions: thousands.
const FILE_BYTES_MAX: u64 = 1_000_000;

/// Fail a build if timing isn't as it has to be: three verdicts, with 99 % confidence
///
/// An assertion compares a figure with a limit: nanosleep(1ms).p99 < 2ms, java:Thread.sleep(1ms).p50 <= 300us, cost(tsc) <
/// 50ns, clock(monotonic).backward <= 0, series(B5/*).max < 10ms, why(app/worker/futex).runq.p99 < 1ms, period(app).p99 <
/// 12ms, cause(late-by-slack).share < 20%. Or it says what has to be there: finding(timer-slack) absent,
/// cause(late-by-quota) absent, timer.slack_ns = 50us. Figures are p50, p90, p99, p99.9, mean, max, cost, step, missed,
/// early, backward, steal and share; * stands for any characters of a name. It passes or fails only if the whole interval of
/// the figure lies on one side of the limit; otherwise it is undecided, and the message says what would decide it.
#[derive(Args, Debug)]
#[command(before_help = examples(EXAMPLES), after_help = exits("", CODES))]
pub struct Assert {
    /// Result files (also of other programs), and assertions; without a result, this machine is measured
    #[arg(value_name = "FILE or ASSERTION")]
    given: Vec<String>,

    /// File with assertions, one a line; # begins a comment
    #[arg(long, value_name = "FILE")]
    file: Vec<PathBuf>,

    /// Measure for at most this long, until all is decided [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = value::run_time)]
    within: Option<Nanos>,

    /// A result of before to compare with
    #[arg(long, value_name = "FILE", conflicts_with_all = ["base", "base_setting"])]
    baseline: Option<PathBuf>,

    /// How much larger a figure may be than that of the base [default: 25%]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    max_regression: Option<f64>,

    /// Compare with a baseline of another kernel or machine, too
    #[arg(long, value_name = "WHAT", value_enum, requires = "baseline")]
    across: Option<AcrossArg>,

    /// Command of the base, as a shell takes it, run in turns with that of --new
    #[arg(long, value_name = "COMMAND", requires = "new", conflicts_with = "base_setting")]
    base: Option<String>,

    /// Command to judge
    #[arg(long, value_name = "COMMAND", requires = "base")]
    new: Option<String>,

    /// Setting of the base, like slack=50us, measured in turns with that of --new-setting; may be repeated
    #[arg(long, value_name = "NAME=SETTING", value_parser = value::tune)]
    base_setting: Vec<TypedTunable>,

    /// Setting to judge
    #[arg(long, value_name = "NAME=SETTING", value_parser = value::tune)]
    new_setting: Vec<TypedTunable>,

    /// What undecided assertions count as [default: exit code 4]
    #[arg(long, value_name = "VERDICT", value_enum)]
    inconclusive: Option<Inconclusive>,

    /// Write the verdicts as JUnit's XML, which GitLab, Jenkins and Azure show
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Print annotations of GitHub's workflows, and add a table to the summary of the step
    #[arg(long, value_name = "FORMAT", value_enum)]
    format: Option<FormatArg>,

    #[command(flatten)]
    machine: MachineArgs,

    #[command(flatten)]
    documents: Documents<Read>,
}

/// `--across`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AcrossArg {
    /// The kernels may differ
    Kernels,
    /// Everything may differ
    Machines,
}

/// `--inconclusive`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Inconclusive {
    /// They pass
    Pass,
    /// They fail
    Fail,
}

/// `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FormatArg {
    /// GitHub's workflow commands
    Github,
}

fn share(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let share = number.filter(|number| (0.0..=10_000.0).contains(number)).map(|number| number / 100.0);
    share.ok_or_else(|| format!("'{text}' is no share; write it like 25%"))
}

/// How long it measures unless `--within` says it.
const WITHIN: Nanos = Nanos::from_secs(30);

impl Assert {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        let (files, assertions) = self.given()?;
        self.refuse_what_makes_no_sense(&files, &assertions)?;
        let delivery = output::prepare(&self, &files)?;
        let within = self.within.unwrap_or(WITHIN);
        let mut is_interrupted = false;
        let judged = if let (Some(base), Some(new)) = (&self.base, &self.new) {
            turns::commands(base, new, &assertions, self.tolerance(), within, &mut is_interrupted)?
        } else if !self.base_setting.is_empty() {
            turns::settings(&self, &assertions, within, &mut is_interrupted)?
        } else if files.is_empty() {
            here::measure(&self, &assertions, within, &mut is_interrupted)?
        } else {
            self.of_files(&files, &assertions)?
        };
        let ended = output::deliver(&self, &delivery, judged)?;
        Ok(if is_interrupted { Exit::Interrupted } else { ended })
    }

    /// Result files and assertions, as they were given, and those of `--file`.
    fn given(&self) -> Result<(Vec<PathBuf>, Vec<Assertion>), Failure> {
        let mut assertions = Vec::new();
        for path in &self.file {
            let mut bytes = Vec::new();
            let read = File::open(path).and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes));
            let name = path.display();
            if read.map_err(|error| Failure::failed(format!("can't read '{name}': {error}")))? as u64 > FILE_BYTES_MAX {
                return Err(Failure::failed(format!("'{name}' is longer than 1 MB, so it is no file of assertions")));
            }
            let text = Text::of(&bytes);
            if text.is_lossy() {
                return Err(Failure::failed(format!("can't read '{name}': it is neither UTF-8 nor UTF-16 text")));
            }
            assertions.extend(assertions::of_file(&path.display().to_string(), text.all())?);
        }
        let mut files = Vec::new();
        for given in &self.given {
            let is_assertion = given.contains(['(', '<', '>', '=']) && !Path::new(given).exists();
            match is_assertion {
                true => assertions.push(assertions::parse(given)?),
                false => files.push(PathBuf::from(given)),
            }
        }
        Ok((files, assertions))
    }

    fn refuse_what_makes_no_sense(&self, files: &[PathBuf], assertions: &[Assertion]) -> Result<(), Failure> {
        let is_in_turns = self.base.is_some() || !self.base_setting.is_empty();
        let measures = files.is_empty() || is_in_turns;
        let has_base = is_in_turns || self.baseline.is_some();
        let machine = &self.machine;
        let names_machine = machine.on.is_some()
            || machine.like.is_some()
            || !machine.model.set.is_empty()
            || machine.model.seed.is_some();
        let stdins = files.iter().filter(|path| Document::at(path) == Document::Stdout).count();
        let usage = |text: &str| Err(Failure::usage(text));
        match () {
            () if self.base_setting.is_empty() != self.new_setting.is_empty() => {
                usage("--base-setting and --new-setting belong together")
            }
            () if is_in_turns && !files.is_empty() => {
                usage("two things that are measured in turns need no result file; leave it out")
            }
            () if names_machine && self.base.is_some() => {
                usage("commands run on this machine, so --on, --like, --set and --seed choose nothing; leave them out")
            }
            () if names_machine && !files.is_empty() => usage(
                "--on, --like, --set and --seed choose what is measured, and a result file is measured already; leave them out",
            ),
            () if self.max_regression.is_some() && !has_base => usage(
                "--max-regression is about a base; name one with --baseline, or --base and --new, or --base-setting and \
                 --new-setting",
            ),
            () if assertions.is_empty() && self.baseline.is_none() && self.base.is_none() => usage(
                "there is nothing to assert; write it like 'nanosleep(1ms).p99 < 2ms', name a file with --file, or compare \
                 two programs with --base and --new",
            ),
            () if !measures && self.within.is_some() => {
                usage("--within is about measuring, and a result file is measured already; leave one out")
            }
            () if self.baseline.is_some() && files.is_empty() => {
                usage("--baseline needs a result to judge; name one, like new.json")
            }
            () if stdins > 1 => usage("- stands for one result, because standard input can be read only once"),
            () if has_base => Ok(()),
            () => Ok(assertions.iter().try_for_each(assertions::stands_alone)?),
        }
    }

    fn tolerance(&self) -> f64 {
        self.max_regression.unwrap_or(0.25)
    }

    fn of_files(&self, files: &[PathBuf], assertions: &[Assertion]) -> Result<Vec<Judged>, Failure> {
        let base = self.baseline.as_ref().map(|path| read(path)).transpose()?;
        let across = match self.across {
            None => Across::Nothing,
            Some(AcrossArg::Kernels) => Across::Kernels,
            Some(AcrossArg::Machines) => Across::Machines,
        };
        let mut all = Vec::new();
        for path in files {
            let new = read(path)?;
            let mut judged = match &base {
                None => judge_all(&new, assertions),
                Some(base) => {
                    let regression = Regression { tolerance: self.tolerance(), across };
                    against(base, &new, assertions, regression).map_err(|error| assertions::unknown(&error).into())
                }
            }
            .map_err(|failure: Failure| match files.len() {
                1 => failure,
                _ => Failure::usage(format!("{}: {failure}", path.display())),
            })?;
            if files.len() > 1 {
                judged.iter_mut().for_each(|judged| judged.about = format!("{}: {}", path.display(), judged.about));
            }
            all.extend(judged);
        }
        if all.is_empty() {
            return Err(Failure::failed("the two results have no series in common that could be compared"));
        }
        Ok(all)
    }
}

fn read(path: &Path) -> Result<ResultFile, Failure> {
    let mut file = reading::read(path, "assert -")?;
    file.findings = explain::findings_to_keep(&file);
    Ok(file)
}

/// The verdicts on all of these.
pub fn judge_all(file: &ResultFile, assertions: &[Assertion]) -> Result<Vec<Judged>, Failure> {
    let mut all = Vec::new();
    for assertion in assertions {
        all.extend(judge(file, assertion).map_err(|error| assertions::unknown(&error))?);
    }
    Ok(all)
}
