//! Neighbours on a real machine: a second process of this executable that holds a setting.
//!
//! The child applies the setting with its platform's resolution tunable and prints the outcome as one line of JSON.
//! Then it waits until its standard input is closed, which also happens if the parent is killed. Only a program that
//! called [`run_if_neighbour`] is started again; any other, such as a test harness, would run its own `main`.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitCode, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use oversleep_record::Unavailable;
use oversleep_record::conditions::{Outcome, Setting};
use oversleep_system::{Neighbour, Platform};
use serde::{Deserialize, Serialize};

/// The first argument of a neighbour process; not for users.
const ARGUMENT: &str = "hold-as-neighbour";
/// How long a child may take to print its outcome.
const ANSWER_MAX: Duration = Duration::from_secs(10);
/// How long the process may take to end before it is killed.
const END_MAX: Duration = Duration::from_secs(2);

/// Whether this program can act as a neighbour.
static ANSWERS: AtomicBool = AtomicBool::new(false);

/// The line that a child prints, as JSON.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Answer {
    /// The setting it started with.
    found: Result<Setting, Unavailable>,
    /// The outcome of the requested setting; `None` if it holds none.
    outcome: Option<Outcome>,
}

/// Call this first in `main`. If this process was started as a neighbour, it acts as one and returns the exit code. In
/// every other process it returns `None`, and the process may start neighbours from then on.
pub fn run_if_neighbour() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_none_or(|first| first != ARGUMENT) {
        ANSWERS.store(true, Ordering::Relaxed);
        return None;
    }
    Some(match parse(arguments.next()) {
        Some(setting) => hold(&*super::here(), setting.as_ref(), std::io::stdin(), std::io::stdout()),
        None => ExitCode::from(2),
    })
}

/// The setting as the parent wrote it; the inner `None` means no setting.
fn parse(argument: Option<OsString>) -> Option<Option<Setting>> {
    serde_json::from_str(argument?.to_str()?).ok()
}

/// Holds the setting until the end of `until`.
fn hold(
    platform: &dyn Platform,
    setting: Option<&Setting>,
    mut until: impl Read,
    mut answer_to: impl Write,
) -> ExitCode {
    let tunable = platform.resolution_tunable();
    let found = tunable.ok_or(Unavailable::NotOnThisPlatform).and_then(|tunable| tunable.current());
    let (outcome, _held) = match (setting, tunable) {
        (None, _) => (None, None),
        (Some(_), None) => (Some(Outcome::Denied { why: Unavailable::NotOnThisPlatform }), None),
        (Some(setting), Some(tunable)) => {
            let (outcome, held) = tunable.apply(setting);
            (Some(outcome), held)
        }
    };
    let Ok(line) = serde_json::to_string(&Answer { found, outcome }) else { return ExitCode::FAILURE };
    if writeln!(answer_to, "{line}").and_then(|()| answer_to.flush()).is_err() {
        return ExitCode::FAILURE;
    }
    // Nothing is ever written to it; only its end matters.
    let _ = std::io::copy(&mut until, &mut std::io::sink());
    ExitCode::SUCCESS
}

/// A running neighbour.
pub(super) struct Process {
    child: Child,
    /// Closing it tells the child to end.
    held_open: Option<ChildStdin>,
    answer: Answer,
}

impl Process {
    /// The setting that the child started with.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux's timer slack is inherited"))]
    pub(super) fn found(&self) -> Result<Setting, Unavailable> {
        self.answer.found.clone()
    }
}

impl Neighbour for Process {
    fn outcome(&self) -> Option<&Outcome> {
        self.answer.outcome.as_ref()
    }

    fn check(&mut self) -> Result<(), Unavailable> {
        match self.child.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => Err(ended(status)),
            Err(error) => Err(Unavailable::failed("looking after the neighbour process", error)),
        }
    }
}

/// The child ended before it was told to.
fn ended(status: ExitStatus) -> Unavailable {
    Unavailable::failed("holding the setting in a neighbour process", format!("the process ended ({status})"))
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
        ended_for_good(&self.child);
    }
}

impl Process {
    fn end(&mut self) {
        drop(self.held_open.take());
        // Counted and not timed, so that it ends on a clock that stands still too.
        for _ in 0..END_MAX.as_millis() {
            match self.child.try_wait() {
                // A sandbox may refuse the call that `sleep` makes, which then panics.
                Ok(None) => std::thread::park_timeout(Duration::from_millis(1)),
                Ok(Some(_)) | Err(_) => return,
            }
        }
        // A stopped or hung child would hold its setting as long as it lives.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts a neighbour and waits until it holds the setting.
///
/// # Errors
/// The reason if none can be started here.
pub(super) fn start(setting: Option<&Setting>) -> Result<Box<dyn Neighbour>, Unavailable> {
    Ok(Box::new(start_with(setting, |_| {})?))
}

/// Starts a neighbour after a change to its command.
pub(super) fn start_with(
    setting: Option<&Setting>,
    prepare: impl FnOnce(&mut Command),
) -> Result<Process, Unavailable> {
    const CALL: &str = "starting a neighbour process";
    if !ANSWERS.load(Ordering::Relaxed) {
        return Err(Unavailable::failed(CALL, "this program can't act as a neighbour"));
    }
    let failed = |error: std::io::Error| Unavailable::failed(CALL, error);
    let setting = serde_json::to_string(&setting).map_err(|error| Unavailable::failed(CALL, error))?;
    let mut command = Command::new(std::env::current_exe().map_err(failed)?);
    command.arg(ARGUMENT).arg(setting).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    apart(&mut command);
    prepare(&mut command);
    receives().map_err(failed)?;
    let mut child = spawn(&mut command).map_err(failed)?;
    let (held_open, answers) = (child.stdin.take(), child.stdout.take());
    // From here on, every return ends the child.
    let mut process =
        Process { child, held_open, answer: Answer { found: Err(Unavailable::NotMeasured), outcome: None } };
    let (line_to, line_from) = mpsc::channel();
    // The thread ends no later than the child.
    let reader = std::thread::Builder::new().name("neighbour".to_owned()).spawn(move || {
        let mut line = String::new();
        let read = answers.map(|answers| BufReader::new(answers).read_line(&mut line));
        let _ = line_to.send(read.map(|read| read.map(|_| line)));
    });
    reader.map_err(failed)?;
    let line = match line_from.recv_timeout(ANSWER_MAX) {
        Ok(Some(line)) => line.map_err(failed)?,
        Ok(None) | Err(_) => {
            let _ = process.child.kill();
            return Err(Unavailable::failed(CALL, format!("no answer within {} s", ANSWER_MAX.as_secs())));
        }
    };
    process.answer =
        serde_json::from_str(&line).map_err(|_| Unavailable::failed(CALL, "it ended without an answer"))?;
    Ok(process)
}

/// Tries the call by which the standard library learns that a child has started. Where a filter refuses it, that waits for
/// the child's end, which comes when this process ends.
/// <https://github.com/rust-lang/rust/blob/1.95.0/library/std/src/sys/process/unix/unix.rs#L154>
#[cfg(unix)]
fn receives() -> std::io::Result<()> {
    use std::io::{Read, Write};
    let (mut here, mut there) = std::os::unix::net::UnixStream::pair()?;
    there.write_all(&[0])?;
    here.read_exact(&mut [0])
}

#[cfg(not(unix))]
fn receives() -> std::io::Result<()> {
    Ok(())
}

/// The end of a program's group leaves neighbours alone.
#[cfg(unix)]
use crate::children::spawn_other as spawn;

#[cfg(unix)]
fn ended_for_good(child: &Child) {
    crate::children::forget(child.id());
}

#[cfg(not(unix))]
fn spawn(command: &mut Command) -> std::io::Result<Child> {
    command.spawn()
}

#[cfg(not(unix))]
fn ended_for_good(_child: &Child) {}

/// Ctrl-C ends the measurement, but not its neighbours, which the round needs until its end.
#[cfg(unix)]
fn apart(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

/// Ctrl-C ends the measurement, but not its neighbours, which the round needs until its end.
#[cfg(windows)]
fn apart(command: &mut Command) {
    const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;
    std::os::windows::process::CommandExt::creation_flags(command, CREATE_NEW_PROCESS_GROUP);
}

#[cfg(not(any(unix, windows)))]
fn apart(_command: &mut Command) {}

#[cfg(test)]
mod tests {
    use oversleep_record::Nanos;

    use super::*;

    #[test]
    fn a_program_that_is_no_neighbour_starts_none() {
        let refused = start(None).map(drop).unwrap_err();
        assert!(matches!(refused, Unavailable::Failed { .. }), "{refused}");
    }

    #[test]
    fn a_child_prints_its_outcome_and_releases_the_setting_at_the_end_of_its_input() {
        // On some systems the setting belongs to a thread.
        let held = std::thread::spawn(|| {
            let native = super::super::here();
            let current = || native.resolution_tunable().ok_or(Unavailable::NotOnThisPlatform)?.current();
            let answer = |setting: Option<Setting>| -> Answer {
                let mut line = Vec::new();
                hold(&*native, setting.as_ref(), std::io::empty(), &mut line);
                serde_json::from_slice(&line).expect("one line")
            };
            let before = current();
            assert_eq!(answer(None), Answer { found: before.clone(), outcome: None });
            let granted = answer(Some(Setting::Nanos(Nanos(2_000_000))));
            assert_eq!(granted.found, before);
            assert!(granted.outcome.is_some());
            let refused = answer(Some(Setting::Flag(true))).outcome;
            assert!(matches!(refused, Some(Outcome::Denied { .. })), "{refused:?}");
            assert_eq!(current(), before, "it is released");
        });
        held.join().expect("no panic");
    }

    #[test]
    fn settings_survive_the_command_line() {
        for setting in [None, Some(Setting::Nanos(Nanos(1_000_000))), Some(Setting::Flag(false))] {
            let written = serde_json::to_string(&setting).expect("plain data");
            assert_eq!(parse(Some(written.into())), Some(setting));
        }
        assert_eq!(parse(Some("1ms".into())), None);
        assert_eq!(parse(None), None);
    }
}
