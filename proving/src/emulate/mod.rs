//! Checks the guarantees of `oversleep emulate` with real programs: each language's sleep on the machine's ticks,
//! random kills, the cost of calls, what `why` costs under such a supervisor, thousands of threads, back-off strategies,
//! test suites of other projects, which must have the same verdicts as natively, and builds of real projects. Parts are
//! named, or one item of a part, as in `works:javac`; without a name, all run. `ltp` and `packages` run what isn't in
//! this tree, from `--path`. It needs Linux on x86-64 and takes minutes; figures are only meaningful on a quiet machine.

mod backoff;
mod cost;
mod kills;
mod languages;
mod ltp;
mod observe;
mod packages;
mod scale;
mod suites;
mod works;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use xtask_tools::target_directory;

use crate::built;

/// The machine that all parts emulate.
const MACHINE: &str = "windows-10-1909";

/// How a mode begins whose programs nobody may trace, so that functions of the C library are replaced.
const UNTRACED: &str = "untraced ";

/// The result of a part.
enum Verdict {
    Holds,
    Fails,
    Skipped,
}

struct Part {
    name: &'static str,
    run: fn(&Bench) -> Result<Verdict, String>,
}

const PARTS: &[Part] = &[
    Part { name: "languages", run: languages::run },
    Part { name: "kills", run: kills::run },
    Part { name: "cost", run: cost::run },
    Part { name: "observe", run: observe::run },
    Part { name: "scale", run: scale::run },
    Part { name: "backoff", run: backoff::run },
    Part { name: "suites", run: suites::run },
    Part { name: "works", run: works::run },
    Part { name: "ltp", run: ltp::run },
    Part { name: "packages", run: packages::run },
];

/// The command, and a directory for files.
pub struct Bench {
    command: PathBuf,
    folder: PathBuf,
    /// Whether everything is run, with the full number of repetitions.
    is_whole: bool,
    /// What was named: parts, or `part:thing`.
    names: Vec<String>,
    /// Where other people's tests are, for the parts that need them.
    path: Option<PathBuf>,
}

impl Bench {
    /// Whether that part is to run.
    fn wants_part(&self, part: &str) -> bool {
        let is_it = |name: &String| name.split(':').next() == Some(part);
        self.names.is_empty() || self.names.iter().any(is_it)
    }

    /// Whether that thing of a part is to run.
    fn wants(&self, part: &str, thing: &str) -> bool {
        let mut things = self.names.iter().filter_map(|name| name.strip_prefix(part)?.strip_prefix(':')).peekable();
        things.peek().is_none() || things.any(|name| name == thing)
    }

    /// Whether some of a part were named, one by one.
    fn is_named(&self, part: &str) -> bool {
        self.names.iter().any(|name| name.strip_prefix(part).is_some_and(|rest| rest.starts_with(':')))
    }

    /// The words before a program's that run it in this mode: the command's own words, or none for no command. A mode that
    /// begins with [`UNTRACED`] runs where nobody may trace.
    fn words(&self, mode: &str) -> Result<Vec<String>, String> {
        let own = std::env::current_exe().map_err(|error| error.to_string())?;
        let (before, mode) = match mode.strip_prefix(UNTRACED) {
            Some(mode) => (vec![utf8(&own)?, "faults-filter".to_owned(), "ptrace:1".to_owned(), "--".to_owned()], mode),
            None => (Vec::new(), mode),
        };
        let command = [utf8(&self.command)?].into_iter().chain(mode.split(' ').map(str::to_owned));
        Ok(before.into_iter().chain(command.filter(|_| !mode.is_empty())).collect())
    }

    /// A program, native or emulated with these options.
    fn program(&self, options: Option<&[&str]>, typed: &[String]) -> Command {
        let mut command = match options {
            None => Command::new(&typed[0]),
            Some(options) => {
                let mut command = Command::new(&self.command);
                command.arg("emulate").args(options).args([MACHINE, "--", &typed[0]]);
                command
            }
        };
        command.args(&typed[1..]).current_dir(&self.folder).stdin(Stdio::null());
        command
    }

    /// Its standard output.
    fn output(&self, options: Option<&[&str]>, typed: &[String]) -> Result<String, String> {
        let output = self.program(options, typed).output().map_err(|error| format!("{}: {error}", typed[0]))?;
        if output.stdout.is_empty() && !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Writes a file and builds it; `None` if the compiler is missing.
    fn built(&self, name: &str, source: &str, compiler: &[&str]) -> Option<()> {
        std::fs::write(self.folder.join(name), source).ok()?;
        let built =
            Command::new(compiler[0]).args(&compiler[1..]).env("CGO_ENABLED", "0").current_dir(&self.folder).output();
        built.is_ok_and(|built| built.status.success()).then_some(())
    }
}

fn utf8(path: &Path) -> Result<String, String> {
    path.to_str().map(str::to_owned).ok_or_else(|| format!("{} isn't UTF-8", path.display()))
}

pub fn command(root: &Path, args: &[String]) -> Result<ExitCode, String> {
    if let Some((backoff::WORKER, rest)) = args.split_first().map(|(first, rest)| (&**first, rest)) {
        return backoff::worker(rest);
    }
    let is_whole = args.iter().any(|arg| arg == "--all");
    let mut names: Vec<String> = args.iter().filter(|arg| *arg != "--all").cloned().collect();
    let path = match names.iter().position(|name| name == "--path") {
        Some(at) if at + 1 < names.len() => names.drain(at..at + 2).next_back().map(PathBuf::from),
        Some(_) => return Err("--path needs a directory".to_owned()),
        None => None,
    };
    let is_known = |name: &String| PARTS.iter().any(|part| name.split(':').next() == Some(part.name));
    if let Some(unknown) = names.iter().find(|name| !is_known(name)) {
        let known: Vec<&str> = PARTS.iter().map(|part| part.name).collect();
        return Err(format!("no part is named `{unknown}`; there are {}, and --all", known.join(", ")));
    }
    let command = built::release(root)?;
    let folder = target_directory(root).join("emulate");
    std::fs::create_dir_all(&folder).map_err(|error| format!("can't make {}: {error}", folder.display()))?;
    let bench = Bench { command, folder, is_whole, names, path };
    let mut is_fine = true;
    for part in PARTS.iter().filter(|part| bench.wants_part(part.name)) {
        println!("== {}", part.name);
        match (part.run)(&bench)? {
            Verdict::Holds => println!("{}: ok", part.name),
            Verdict::Skipped => println!("SKIPPED: emulate {}: what it needs is not installed", part.name),
            Verdict::Fails => {
                println!("FAILED {}", part.name);
                is_fine = false;
            }
        }
    }
    Ok(if is_fine { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
