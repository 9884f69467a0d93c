//! How the command ends: its exit code, and its one error message.

use std::ffi::OsStr;
use std::io;
use std::process::ExitCode;

use oversleep_native::AppEnd;
use oversleep_record::ResultFile;
use oversleep_record::file::Completion;
use oversleep_record::finding::Verdict;
use oversleep_request::Refusal;

/// A command that ran to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Success.
    Fine,
    /// An assertion failed.
    AssertionFailed,
    /// The machine was too disturbed for any conclusion.
    TooDisturbed,
    /// The user ended it early.
    Interrupted,
    /// A program ran and ended so.
    Program(AppEnd),
}

/// Why a command failed: one message that says what, where, and what to do next.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The command line makes no sense.
    #[error("{0}")]
    Usage(String),
    /// A text that can't be understood, or a question for another program.
    #[error("{what}")]
    Misread {
        /// What is wrong with it.
        what: String,
        /// The text and a mark under what is wrong, or what to type there: lines of their own below the message.
        next: Vec<String>,
    },
    /// Anything else that failed.
    #[error("{0}")]
    Failed(String),
    /// The system doesn't allow it.
    #[error("{what}")]
    Refused {
        /// What is missing.
        what: String,
        /// What grants it, with the command to type: lines of their own below the message.
        next: Vec<String>,
    },
    /// The program that the user named can't be run.
    #[error("{0}")]
    NotRun(String),
    /// There is no program of the name that the user typed.
    #[error("{0}")]
    NotFound(String),
}

impl Failure {
    /// A usage error.
    pub fn usage(message: impl Into<String>) -> Failure {
        Failure::Usage(message.into())
    }

    /// A program that can't be run.
    pub fn not_run(program: &OsStr, error: &io::Error) -> Failure {
        let message = format!("can't run '{}': {error}", program.display());
        if error.kind() == io::ErrorKind::NotFound { Failure::NotFound(message) } else { Failure::NotRun(message) }
    }

    /// The lines below its message.
    pub fn next(&self) -> &[String] {
        match self {
            Failure::Refused { next, .. } | Failure::Misread { next, .. } => next,
            _ => &[],
        }
    }

    /// Any other failure.
    pub fn failed(message: impl Into<String>) -> Failure {
        Failure::Failed(message.into())
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        match refusal {
            Refusal::Usage(message) => Failure::Usage(message),
            Refusal::Misread { what, next } => Failure::Misread { what, next },
            Refusal::Failed(message) => Failure::Failed(message),
        }
    }
}

impl From<oversleep_emulate::Failure> for Failure {
    fn from(failure: oversleep_emulate::Failure) -> Failure {
        match failure {
            oversleep_emulate::Failure::Own(message) | oversleep_emulate::Failure::NotTraced(message) => {
                Failure::Failed(message)
            }
            oversleep_emulate::Failure::NotRun(message) => Failure::NotRun(message),
            oversleep_emulate::Failure::NotFound(message) => Failure::NotFound(message),
        }
    }
}

/// The process's exit code for how a command ended. Where a signal ended a program, it ends this process instead. All that
/// was changed on the machine must be restored by then.
pub fn code(ended: &Result<Exit, Failure>) -> ExitCode {
    ExitCode::from(match ended {
        Ok(Exit::Fine) => 0,
        Err(Failure::Failed(_) | Failure::Refused { .. }) => 1,
        Err(Failure::Usage(_) | Failure::Misread { .. }) => 2,
        // As with `env` and in shells.
        Err(Failure::NotRun(_)) => 126,
        Err(Failure::NotFound(_)) => 127,
        Ok(Exit::AssertionFailed) => 3,
        Ok(Exit::TooDisturbed) => 4,
        Ok(Exit::Interrupted) => INTERRUPTED,
        Ok(Exit::Program(end)) => {
            if let AppEnd::Signal(signal) = end {
                oversleep_native::end_by(*signal);
            }
            // Windows has exit codes that don't fit into a byte.
            u8::try_from(end.code()).unwrap_or_else(|_| std::process::exit(end.code()))
        }
    })
}

/// As in shells: 128 + SIGINT.
pub const INTERRUPTED: u8 = 130;

/// The exit for a run with this result.
pub fn of_result(file: &ResultFile) -> Exit {
    if file.completion == Completion::Interrupted {
        Exit::Interrupted
    } else if is_too_disturbed(file) {
        Exit::TooDisturbed
    } else {
        Exit::Fine
    }
}

/// The exit for a watch with this result. A disturbed machine is what it watches for, and no failure.
pub fn of_watched(file: &ResultFile) -> Exit {
    match of_result(file) {
        Exit::TooDisturbed => Exit::Fine,
        exit => exit,
    }
}

/// Whether no measurement allowed a conclusion. Findings from facts alone are always possible and don't count.
fn is_too_disturbed(file: &ResultFile) -> bool {
    let was_measured = |source: &str| file.series(source).is_some() || file.clock(source).is_some();
    let mut disturbed = false;
    for finding in &file.findings {
        match finding.verdict {
            Verdict::TooDisturbed => disturbed = true,
            Verdict::Found | Verdict::NotFound => {
                if finding.evidence.iter().any(|evidence| was_measured(&evidence.source)) {
                    return false;
                }
            }
            Verdict::NotEnoughData => {}
        }
    }
    disturbed
}

#[cfg(test)]
mod tests {
    use oversleep_record::FactName;
    use oversleep_record::finding::{Evidence, Finding, Severity};
    use oversleep_report::testing;

    use super::*;

    fn finding(verdict: Verdict, source: &str) -> Finding {
        Finding {
            id: "OVS-G000".to_owned(),
            name: "name".to_owned(),
            instance: None,
            summary: String::new(),
            severity: Severity::Note,
            verdict,
            sentence: String::new(),
            more: Vec::new(),
            explained_ns: None,
            evidence: vec![Evidence { source: source.to_owned(), text: String::new() }],
            advice: Vec::new(),
        }
    }

    fn exit_with(findings: Vec<Finding>) -> Exit {
        let mut file = testing::result(&["B5/nanosleep/1ms"]);
        file.findings = findings;
        of_result(&file)
    }

    #[test]
    fn one_conclusion_from_a_measurement_is_enough() {
        let disturbed = finding(Verdict::TooDisturbed, "B5/nanosleep/1ms");
        let fact = finding(Verdict::NotFound, FactName::CgroupCpuQuotaCpus.as_str());
        assert_eq!(exit_with(vec![]), Exit::Fine);
        assert_eq!(exit_with(vec![fact.clone()]), Exit::Fine);
        assert_eq!(exit_with(vec![disturbed.clone(), fact.clone()]), Exit::TooDisturbed);
        let found = finding(Verdict::Found, "B5/nanosleep/1ms");
        assert_eq!(exit_with(vec![disturbed, fact, found]), Exit::Fine);
    }

    #[test]
    fn an_interrupted_run_is_interrupted_first_of_all() {
        let mut file = testing::result(&[]);
        file.completion = Completion::Interrupted;
        file.findings = vec![finding(Verdict::TooDisturbed, "x")];
        assert_eq!((of_result(&file), of_watched(&file)), (Exit::Interrupted, Exit::Interrupted));
        file.completion = Completion::Complete;
        assert_eq!((of_result(&file), of_watched(&file)), (Exit::TooDisturbed, Exit::Fine));
    }
}
