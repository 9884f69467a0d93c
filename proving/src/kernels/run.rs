//! Selects and runs the machines, several at a time, and reports.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use xtask_tools::{Prerequisites, generated, target_directory};

use super::boot::{self, EMULATORS};
use super::machine::{Arch, Machine};
use super::machines;
use super::packages::{self, Missing};
use super::page;
use super::pins::shell;
use super::program::Target;
use crate::built::program_here;

/// How often a machine that isn't as expected is booted.
const TRIES: usize = 3;

#[derive(Default)]
struct Options {
    all: bool,
    no_install: bool,
    /// The number of machines at a time; by default this machine's number of CPUs.
    jobs: Option<usize>,
    /// An already built command, for x86-64.
    binary: Option<PathBuf>,
    names: Vec<String>,
}

/// The outcome of a machine.
enum Outcome {
    Skipped(String),
    /// What isn't as expected, and what wasn't in the tries before.
    Ran {
        took_s: u64,
        failed: Vec<String>,
        before: Vec<Vec<String>>,
    },
}

/// The common prerequisites of a processor's machines.
struct Ready {
    base: Vec<u8>,
}

/// Runs the suite, or writes the tables of its page. Exit code 0: every machine that could run was as expected.
pub fn command(root: &Path, args: &[String]) -> Result<ExitCode, String> {
    if let Some(("--docs", rest)) = args.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        return page::write(root, generated::only_checks("kernels --docs", rest)?);
    }
    let options = options(args)?;
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        println!("SKIPPED: kernels: the machines are booted from Linux on x86-64");
        return Ok(ExitCode::SUCCESS);
    }
    let machines = chosen(&options)?;
    let target = target_directory(root);
    let scratch = target.join("kernels");
    let cache = scratch.join("packages");
    std::fs::create_dir_all(&cache).map_err(|error| format!("{}: {error}", cache.display()))?;
    let mut ready: BTreeMap<Arch, Result<Ready, Missing>> = BTreeMap::new();
    for machine in &machines {
        if let Entry::Vacant(entry) = ready.entry(machine.kernel.arch) {
            entry.insert(prepare(root, &scratch, &cache, machine.kernel.arch, &options)?);
        }
    }
    let kernels: Vec<Result<PathBuf, Missing>> =
        machines.iter().map(|machine| machine.kernel.package.file(&cache, "*/vmlinuz*", !options.no_install)).collect();
    let (next, outcomes) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let jobs = options.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(machines.len()) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(machine) = machines.get(at) else { return };
                    let parts =
                        ready[&machine.kernel.arch].as_ref().and_then(|ready| Ok((ready, kernels[at].as_ref()?)));
                    let outcome = match parts {
                        Ok((ready, kernel)) => run(machine, kernel, ready, &scratch),
                        Err(Missing::Unreachable(why)) => Outcome::Skipped(why.clone()),
                        Err(Missing::Wrong(why)) => {
                            Outcome::Ran { took_s: 0, failed: vec![why.clone()], before: Vec::new() }
                        }
                    };
                    print(machine, &outcome);
                    outcomes.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((machine, outcome));
                }
            });
        }
    });
    let outcomes = outcomes.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(summary(&outcomes))
}

fn options(args: &[String]) -> Result<Options, String> {
    let mut options = Options::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--all" => options.all = true,
            "--no-install" => options.no_install = true,
            "--jobs" => {
                let jobs = args.next().and_then(|jobs| jobs.parse().ok()).filter(|&jobs| jobs > 0);
                options.jobs = Some(jobs.ok_or("--jobs takes how many machines to run at a time")?);
            }
            "--binary" => options.binary = Some(args.next().ok_or("--binary takes the command's file")?.into()),
            name if !name.starts_with('-') => options.names.push(name.to_owned()),
            other => {
                return Err(format!(
                    "kernels takes names, --all, --jobs NUMBER, --binary FILE and --no-install, not `{other}`"
                ));
            }
        }
    }
    Ok(options)
}

/// The machines to run: those named, or all, or the sample.
fn chosen(options: &Options) -> Result<Vec<&'static Machine>, String> {
    let is_wanted = |machine: &&Machine| match &options.names[..] {
        [] => options.all || machine.is_sampled,
        names => names.iter().any(|name| name == machine.name),
    };
    let known = |name: &&String| machines().any(|machine| machine.name == **name);
    if let Some(unknown) = options.names.iter().find(|name| !known(name)) {
        let names: Vec<&str> = machines().map(|machine| machine.name).collect();
        return Err(format!("no machine is named `{unknown}`; there are {}", names.join(", ")));
    }
    Ok(machines().filter(is_wanted).collect())
}

/// Finds or installs the prerequisites of a processor's machines, and packs their initial files. A failure to build the
/// command isn't the fault of a machine.
fn prepare(
    root: &Path,
    scratch: &Path,
    cache: &Path,
    arch: Arch,
    options: &Options,
) -> Result<Result<Ready, Missing>, String> {
    let mut prerequisites = Prerequisites::new(!options.no_install);
    let emulators: Vec<(&str, &[&str])> =
        EMULATORS.iter().filter(|(of, ..)| *of == arch).map(|&(_, program, packages)| (program, packages)).collect();
    let target = Target::of(arch);
    let tools = packages::tools(&mut prerequisites, &emulators).and_then(|()| target.prepare(&mut prerequisites));
    if let Err(why) = tools {
        return Ok(Err(Missing::Unreachable(why)));
    }
    let busybox = match shell(arch).file(cache, "./bin/busybox", !options.no_install) {
        Ok(busybox) => busybox,
        Err(missing) => return Ok(Err(missing)),
    };
    let program = match &options.binary {
        Some(program) if arch == Arch::X86 => program.clone(),
        _ => target.build(root, &["--package", "oversleep-cli"], "oversleep")?,
    };
    let truth = program_here(root, "truth");
    let truth = target.build(root, &truth.iter().map(String::as_str).collect::<Vec<_>>(), "truth")?;
    println!("{}", version(emulators[0].0));
    Ok(Ok(Ready { base: target.base(scratch, &program, &truth, &busybox)? }))
}

/// The first line of the emulator's output: the number of instructions per span of time depends on its version.
fn version(program: &str) -> String {
    let output = Command::new(program).arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.lines().next().unwrap_or(program).to_owned()
}

fn run(machine: &Machine, kernel: &Path, ready: &Ready, scratch: &Path) -> Outcome {
    let begun = Instant::now();
    let (failed, before) = tried(|| failures(machine, kernel, ready, scratch));
    Outcome::Ran { took_s: begun.elapsed().as_secs(), failed, before }
}

/// What the last try shows, and the tries before it. A defect shows each time. A guest stands still while its host does
/// something else, which the command rightly calls a stop of the process, so a machine is as expected if it is once.
fn tried(mut failures: impl FnMut() -> Vec<String>) -> (Vec<String>, Vec<Vec<String>>) {
    let mut before = Vec::new();
    loop {
        let failed = failures();
        if failed.is_empty() || before.len() + 1 == TRIES {
            return (failed, before);
        }
        before.push(failed);
    }
}

/// What isn't as expected when the machine is booted once.
fn failures(machine: &Machine, kernel: &Path, ready: &Ready, scratch: &Path) -> Vec<String> {
    let directory = scratch.join("runs").join(machine.name);
    match boot::boot(machine, kernel, &ready.base, &directory) {
        Err(why) => vec![why],
        Ok(guest) => machine
            .expects
            .iter()
            .filter_map(|expected| Some((expected.says, (expected.holds)(&guest).err()?)))
            .map(|(says, why)| format!("{says}: {why}"))
            .chain(guest.contradictions())
            .collect(),
    }
}

fn print(machine: &Machine, outcome: &Outcome) {
    match outcome {
        Outcome::Skipped(why) => println!("SKIPPED: kernels: {}: {why}", machine.name),
        Outcome::Ran { took_s, failed, before } if failed.is_empty() => {
            println!("ok       {took_s:>5} s  {}: {} hold", machine.name, machine.expects.len());
            for failed in before {
                println!("AGAIN    kernels: {}: {}", machine.name, failed.join("; ").replace('\n', " "));
            }
        }
        Outcome::Ran { took_s, failed, before } => {
            println!("FAILED   {took_s:>5} s  {}; tries before: {}", machine.name, before.len());
            failed.iter().for_each(|why| println!("    {}", why.replace('\n', "\n    ")));
        }
    }
}

fn summary(outcomes: &[(&&'static Machine, Outcome)]) -> ExitCode {
    let count = |of: fn(&Outcome) -> bool| outcomes.iter().filter(|(_, outcome)| of(outcome)).count();
    let skipped = count(|outcome| matches!(outcome, Outcome::Skipped(_)));
    let failed = count(|outcome| matches!(outcome, Outcome::Ran { failed, .. } if !failed.is_empty()));
    let passed = outcomes.len() - skipped - failed;
    println!("kernels: {passed} machines as expected, {failed} not, {skipped} skipped");
    if failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_as_expected_if_it_is_once_and_a_defect_shows_each_time() {
        let outcomes = |outcomes: &[&str]| {
            let mut left = outcomes.iter();
            let tried = tried(|| left.next().expect("no more tries").split_whitespace().map(str::to_owned).collect());
            (tried, left.len())
        };
        assert_eq!(outcomes(&["", "x"]), ((vec![], vec![]), 1));
        assert_eq!(outcomes(&["a b", "", "x"]), ((vec![], vec![vec!["a".to_owned(), "b".to_owned()]]), 1));
        let ((failed, before), left) = outcomes(&["a", "b", "c", "x"]);
        assert_eq!((failed, before.len(), left), (vec!["c".to_owned()], 2, 1));
    }

    fn parsed(args: &[&str]) -> Result<Options, String> {
        options(&args.iter().map(|&arg| arg.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn names_and_all_choose_the_machines() {
        let count = |args: &[&str]| chosen(&parsed(args).unwrap()).map(|machines| machines.len());
        let sampled = machines().filter(|machine| machine.is_sampled).count();
        assert_eq!((count(&[]), count(&["--all"])), (Ok(sampled), Ok(machines().count())));
        assert_eq!(count(&["hpet", "--all"]), Ok(1), "a name wins");
        assert!(count(&["hpett"]).unwrap_err().starts_with("no machine is named `hpett`; there are "));
        assert!(parsed(&["--jobs", "0"]).is_err() && parsed(&["--frob"]).is_err() && parsed(&["--binary"]).is_err());
    }
}
