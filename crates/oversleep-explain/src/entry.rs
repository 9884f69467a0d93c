//! What an entry of the registry of findings is, and what its check can come to.

use oversleep_record::finding::{Evidence, Severity, Verdict};
use oversleep_record::series::Status;
use oversleep_record::{FactName, Nanos, ResultFile, Series, Unavailable};

use super::read::is_real_time;

/// Which results a finding is looked for in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Every operating system.
    Anywhere,
    /// Results taken on (or modelled after) this one: `linux`, `windows`, `macos`.
    Os(&'static str),
    /// Results of a Linux kernel: not of WSL 1, which translates Linux calls into those of Windows.
    LinuxKernel,
    /// The same, of a program that ran under no real-time policy: one that did is preferred already.
    LinuxOrdinary,
    /// The same, of a program whose timers had slack.
    LinuxSlack,
    /// Results of every other system than this one.
    Except(&'static str),
    /// Results of this system, but for those that say it is too old for this wait.
    Having(&'static str, &'static str),
}

impl Scope {
    /// Whether it covers a result.
    pub fn covers(self, file: &ResultFile) -> bool {
        match self {
            Scope::Anywhere => true,
            Scope::Os(os) => file.platform.os == os,
            Scope::LinuxKernel => {
                file.platform.os == "linux" && file.environment.text(FactName::VirtualisationWsl) != Some("wsl1")
            }
            Scope::LinuxOrdinary => {
                let is_real_time_already = file.environment.text(FactName::SchedPolicy).is_some_and(is_real_time);
                Scope::LinuxKernel.covers(file) && !is_real_time_already
            }
            Scope::LinuxSlack => {
                let has_none = file.environment.nanos(FactName::TimerSlack).is_some_and(|slack| slack <= Nanos(1));
                Scope::LinuxOrdinary.covers(file) && !has_none
            }
            Scope::Except(os) => file.platform.os != os,
            Scope::Having(os, wait) => file.platform.os == os && !lacks(file, wait),
        }
    }
}

/// Whether a result says that its system is too old for a wait: by the series of it, or by the fact about the one wait that
/// has a fact of its own.
fn lacks(file: &ResultFile, wait: &str) -> bool {
    let is_too_old = |series: &Series| {
        series.subject == wait && matches!(series.status, Status::Unavailable { reason: Unavailable::TooOld { .. } })
    };
    let has_fact = wait == "waitable-timer-high-resolution";
    file.series.iter().any(is_too_old)
        || (has_fact && file.environment.flag(FactName::TimerHighResolution) == Some(false))
}

/// What a check says about one result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statement {
    /// This instance, with its figures.
    pub sentence: String,
    /// What it rests on.
    pub evidence: Vec<Evidence>,
    /// How much it matters here, where that differs from the entry's rule.
    pub severity: Option<Severity>,
    /// Remedies that fit this instance, where the entry's own don't all.
    pub remedies: Option<&'static [&'static str]>,
}

impl Statement {
    /// A sentence without evidence yet.
    pub fn new(sentence: impl Into<String>) -> Statement {
        Statement { sentence: sentence.into(), ..Statement::default() }
    }

    /// With one more figure it rests on.
    pub fn rests_on(mut self, source: impl Into<String>, says: impl Into<String>) -> Statement {
        self.evidence.push(Evidence { source: source.into(), says: says.into() });
        self
    }

    /// With all of these figures.
    pub fn rests_on_all(mut self, evidence: impl IntoIterator<Item = Evidence>) -> Statement {
        self.evidence.extend(evidence);
        self
    }

    /// With remedies of its own.
    pub fn cured_by(mut self, remedies: &'static [&'static str]) -> Statement {
        self.remedies = Some(remedies);
        self
    }

    /// With a severity of its own.
    pub fn matters(mut self, severity: Severity) -> Statement {
        self.severity = Some(severity);
        self
    }
}

/// What a check came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// It is no question for this result (another architecture); it is not listed.
    NotApplicable,
    /// It is so here.
    Found(Statement),
    /// It was looked for and is not so.
    Absent(Statement),
    /// The result does not hold what the check needs.
    NotEnoughData(Statement),
    /// The figures disagree with themselves.
    TooDisturbed(Statement),
}

impl Conclusion {
    /// "Not enough data", with what is missing.
    pub fn lacks(sentence: impl Into<String>) -> Conclusion {
        Conclusion::NotEnoughData(Statement::new(sentence))
    }

    /// The verdict and the statement; `None` where the check does not apply.
    pub fn into_parts(self) -> Option<(Verdict, Statement)> {
        match self {
            Conclusion::NotApplicable => None,
            Conclusion::Found(statement) => Some((Verdict::Found, statement)),
            Conclusion::Absent(statement) => Some((Verdict::Absent, statement)),
            Conclusion::NotEnoughData(statement) => Some((Verdict::NotEnoughData, statement)),
            Conclusion::TooDisturbed(statement) => Some((Verdict::TooDisturbed, statement)),
        }
    }
}

/// One finding of the registry.
#[derive(Debug)]
pub struct FindingEntry {
    /// Stable id: `OVS-`, a letter (L Linux, W Windows, M macOS, G general), three digits. Never reused.
    pub id: &'static str,
    /// Short name: `timer-slack`.
    pub name: &'static str,
    /// The finding in general, in one sentence.
    pub summary: &'static str,
    /// Systems, versions and runtimes it holds for.
    pub applies_to: &'static str,
    /// Results it is looked for in.
    pub scope: Scope,
    /// How much it matters as a rule; a check may judge an instance differently.
    pub severity: Severity,
    /// Cause, how we know, cure: paragraphs separated by empty lines.
    pub explanation: &'static str,
    /// Ids of the remedies, best first.
    pub remedies: &'static [&'static str],
    /// Looks for it in a result.
    pub check: fn(&ResultFile) -> Conclusion,
}
