//! Who follows the program: a program in the kernel, or a supervisor, which needs no privileges.

use std::ffi::OsString;
use std::io;
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

use clap::ValueEnum;
use oversleep_collect::{CollectError, Collector, Options};
use oversleep_emulate::{IS_SUPPORTED, Observation, Running};
use oversleep_native::passing::Passing;
use oversleep_record::observed::{By, Losses};
use oversleep_why::Event;

use super::Why;
use crate::exit::Failure;
use crate::message;

/// Who may be named as the follower.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Choice {
    /// A program in the kernel
    Kernel,
    /// A process that stops the program before and after each wait
    Supervisor,
}

/// Whoever follows the program.
pub enum Follower {
    Kernel(Box<Collector>),
    /// `None` until the program is started.
    Supervisor(Option<Observation>),
}

/// A program that runs and ends. Until then, signals to this process go to the program.
pub enum Program {
    Child(Child, Passing),
    Observed(Running),
}

impl Program {
    pub fn wait(self) -> io::Result<ExitStatus> {
        match self {
            Program::Child(mut child, passing) => passing.wait(&mut child),
            Program::Observed(running) => running.wait(),
        }
    }
}

impl Follower {
    /// The chosen one, or the kernel if it allows that, or else the supervisor.
    pub fn of(why: &Why, options: Options) -> Result<Follower, Failure> {
        let by_supervisor = || Ok(Follower::Supervisor(None));
        if why.by == Some(Choice::Supervisor) {
            return match cannot_supervise(why) {
                Some(reason) => Err(Failure::usage(format!("--by supervisor {reason}"))),
                None => by_supervisor(),
            };
        }
        let refused = match Collector::open(options) {
            Ok(collector) => return Ok(Follower::Kernel(Box::new(collector))),
            Err(error) => error,
        };
        match (cannot_supervise(why), why.by, &refused) {
            (None, None, CollectError::Refused { missing, remedy, command, .. }) => {
                message::note(&format!(
                    "the kernel's events are not granted ({missing}), so a supervisor follows the program and sees fewer \
                     parts of its lateness; for all of them:"
                ));
                next_steps(remedy, command.as_deref()).iter().for_each(|line| message::note(line));
                by_supervisor()
            }
            (None, None, CollectError::NoTypes | CollectError::Load(_)) => {
                message::note(&format!(
                    "a supervisor follows the program and sees fewer parts of its lateness: {refused}"
                ));
                by_supervisor()
            }
            (Some(reason), None, CollectError::Refused { .. }) if IS_SUPPORTED => {
                let supervised = format!("  A supervisor, which needs no privileges, {reason}");
                Err(match failed(refused) {
                    Failure::Refused { what, mut next } => {
                        next.push(supervised);
                        Failure::Refused { what, next }
                    }
                    failure => failure,
                })
            }
            _ => Err(failed(refused)),
        }
    }

    /// Follows a process that runs already.
    pub fn follow(&mut self, pid: u32) -> Result<(), Failure> {
        match self {
            Follower::Kernel(collector) => collector.follow(pid).map_err(failed),
            Follower::Supervisor(_) => Err(Failure::usage("a supervisor can't take over a running process")),
        }
    }

    pub fn want(&mut self, want_ns: Option<u64>) {
        if let Follower::Kernel(collector) = self {
            collector.want(want_ns);
        }
    }

    pub fn stacks_from(&mut self, lateness_ns: i64) {
        if let Follower::Kernel(collector) = self {
            collector.stacks_from(lateness_ns);
        }
    }

    /// Starts the program. Returns its process id with it.
    pub fn start(&mut self, program: &[OsString], children: bool) -> Result<Option<(u32, Program)>, Failure> {
        let Some((name, arguments)) = program.split_first() else { return Ok(None) };
        match self {
            Follower::Kernel(collector) => {
                let mut passing = Passing::begin();
                let child = passing.spawn(Command::new(name).args(arguments), |command| collector.spawn(command));
                let child = child.map_err(|error| Failure::not_run(name, &error))?;
                Ok(Some((child.id(), Program::Child(child, passing))))
            }
            Follower::Supervisor(observation) => {
                let (begun, running) = Observation::begin(program, children)?;
                Ok(Some((observation.insert(begun).id(), Program::Observed(running))))
            }
        }
    }

    /// Who follows, and with what.
    pub fn by(&self) -> By {
        match self {
            Follower::Kernel(_) => By::Kernel,
            Follower::Supervisor(_) => Observation::by(),
        }
    }

    /// The time until the next look.
    pub fn pause(&self) -> Duration {
        match self {
            Follower::Kernel(collector) => collector.pause(),
            Follower::Supervisor(_) => Duration::from_millis(50),
        }
    }

    /// Passes everything that has arrived to `each`, in batches.
    pub fn drain_each<E>(
        &mut self,
        batch: &mut Vec<Event>,
        is_last: bool,
        mut each: impl FnMut(&[Event]) -> Result<(), E>,
    ) -> Result<(), E> {
        match self {
            Follower::Kernel(collector) => collector.drain_each(batch, is_last, each),
            Follower::Supervisor(None) => Ok(()),
            Follower::Supervisor(Some(observation)) => loop {
                batch.clear();
                let has_more = observation.drain(batch, is_last);
                each(batch)?;
                if !has_more {
                    return Ok(());
                }
            },
        }
    }

    /// Ends the following, and returns what was lost.
    pub fn end(self) -> Losses {
        let Follower::Kernel(mut collector) = self else { return Losses::default() };
        let counted = collector.losses();
        collector.unload();
        Losses {
            no_room: counted.no_room,
            vanished: counted.vanished(),
            not_run: counted.not_run,
            threads_not_followed: counted.threads_not_followed,
            missing: counted.missing.iter().map(|missing| (*missing).to_owned()).collect(),
            ..Losses::default()
        }
    }
}

/// Why no supervisor can do what is wanted, as the rest of a sentence.
fn cannot_supervise(why: &Why) -> Option<&'static str> {
    if why.program.is_empty() {
        return Some(
            "can't take over running processes; it follows a program that it starts: oversleep why -- PROGRAM",
        );
    }
    if why.stacks {
        return Some("takes no call stacks: leave out --stacks");
    }
    (!IS_SUPPORTED).then_some("exists on Linux on x86-64 only")
}

/// The lines that say what grants it, and the command to type.
fn next_steps(remedy: &str, command: Option<&str>) -> Vec<String> {
    match command {
        Some(command) => vec![format!("  {remedy}:"), format!("    {command}")],
        None => vec![format!("  {remedy}")],
    }
}

fn failed(error: CollectError) -> Failure {
    match error {
        CollectError::Refused { missing, remedy, command, more } => Failure::Refused {
            what: format!("the kernel doesn't let this process follow others: {missing}"),
            next: next_steps(&remedy, command.as_deref())
                .into_iter()
                .chain(more.iter().map(|more| format!("  {more}")))
                .collect(),
        },
        error => Failure::failed(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_has_a_short_line_and_below_it_what_to_type() {
        let refused = CollectError::Refused {
            missing: "it lacks CAP_BPF".to_owned(),
            remedy: "Run it with sudo, or grant that once".to_owned(),
            command: Some("sudo setcap cap_bpf+ep /usr/bin/oversleep".to_owned()),
            more: vec!["No sysctl grants it.".to_owned()],
        };
        let failure = failed(refused);
        assert_eq!(failure.to_string(), "the kernel doesn't let this process follow others: it lacks CAP_BPF");
        let lines = [
            "  Run it with sudo, or grant that once:",
            "    sudo setcap cap_bpf+ep /usr/bin/oversleep",
            "  No sysctl grants it.",
        ];
        assert_eq!(failure.next(), lines);
        assert_eq!(next_steps("Boot without Secure Boot", None), ["  Boot without Secure Boot"]);
        let other = failed(CollectError::NoProcess(7));
        assert_eq!((other.to_string().as_str(), other.next().len()), ("there is no process 7", 0));
    }
}
