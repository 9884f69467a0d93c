//! Which version of a runtime an answer is about, and what others answer.

use std::fmt;

use oversleep_system::runtime_calls::{CallWait, Evidence, Host, Needs, Record, find};

use super::answer::{Answer, Meaning};
use super::calls::of_runtime;
use super::measured::ask;
use super::question::{Question, Subject};
use crate::records::several_versions;
use crate::session::Laboratory;

/// The version that an answer is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Versions {
    /// In words.
    pub of: String,
    /// Whether no version was named: then it is the newest that a source states.
    pub is_assumed: bool,
    /// Other versions, and their medians on that model, ns; those with the same median together.
    pub others: Vec<(String, f64)>,
    /// What a median is.
    pub meaning: Meaning,
    /// Whether their medians are those of the answer.
    pub are_alike: bool,
    /// Whether a newer one is known that doesn't run on that machine.
    pub is_held_back: bool,
    /// What newer versions need of a machine that this one hasn't.
    pub needs: Option<String>,
}

/// Medians that differ by less than this share, or by less than [`SAME_NS`], are the same.
const SAME_SHARE: f64 = 0.02;
const SAME_NS: f64 = 20_000.0;

/// The version of the runtime whose call the question names. The medians of other versions are those of a model: on a real
/// machine, asking takes real time.
pub fn versions(machine: &Laboratory, question: &Question, answer: &Answer) -> Option<Versions> {
    let Subject::Wait { name, request } = &question.subject else { return None };
    let record = of_runtime(machine, name).ok().flatten().map(CallWait::record)?;
    let is_assumed = machine.version.is_none() && !name.contains('@');
    let platform = machine.platform();
    let mut others: Vec<(Vec<String>, f64)> = Vec::new();
    let any_version = Laboratory::on(machine.platform.clone());
    let is_modelled = platform.id().modelled.is_some();
    let is_other =
        |one: &&Record| one.family() == record.family() && one.id != record.id && one.evidence == Evidence::Published;
    let host = Host::of(platform);
    let known: Vec<&Record> = find(&[], &record.system, &record.names[0], None).into_iter().filter(is_other).collect();
    let (here, elsewhere): (Vec<&Record>, Vec<&Record>) = known.into_iter().partition(|other| host.runs(other));
    for other in here.into_iter().filter(|_| is_modelled) {
        let subject = Subject::Wait { name: other.wait_name(), request: *request };
        let Ok(theirs) = ask(&any_version, &Question { subject, ..question.clone() }) else { continue };
        let p50_ns = theirs.quantile_ns(0.5);
        match others.iter_mut().find(|(_, known)| is_same(*known, p50_ns)) {
            Some((versions, _)) => versions.push(other.version_words()),
            None => others.push((vec![other.version_words()], p50_ns)),
        }
    }
    let own = answer.quantile_ns(0.5);
    let are_alike = others.iter().all(|(_, p50_ns)| is_same(own, *p50_ns));
    others.retain(|(_, p50_ns)| are_alike || !is_same(own, *p50_ns));
    let others = others.into_iter().map(|(versions, p50_ns)| (several_versions(&versions), p50_ns)).collect();
    let needs = host.lacks(record.family()).map(Needs::sentence);
    let is_held_back = !elsewhere.is_empty();
    let meaning = answer.meaning();
    Some(Versions { of: record.version_words(), is_assumed, others, meaning, are_alike, is_held_back, needs })
}

/// Whether two medians are the same.
pub(super) fn is_same(one: f64, other: f64) -> bool {
    (one - other).abs() <= SAME_NS.max(one.max(other) * SAME_SHARE)
}

impl fmt::Display for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.of)?;
        match (self.is_assumed, self.is_held_back) {
            (true, false) => f.write_str(", the newest that a source states")?,
            (true, true) => f.write_str(", the newest with a source that runs there")?,
            (false, _) => {}
        }
        for (versions, p50_ns) in &self.others {
            match self.are_alike {
                true => write!(f, "; {versions}: the same")?,
                false => write!(f, "; {versions}: {}", self.meaning.words(*p50_ns))?,
            }
        }
        if self.is_assumed && !self.others.is_empty() {
            f.write_str(". To ask another, name it with --version")?;
        }
        match &self.needs {
            Some(needs) => write!(f, ". {needs}, and this machine is older"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use oversleep_model::platform;

    use super::*;

    fn versions_of(machine: &str, text: &str, version: Option<&str>) -> Option<String> {
        let lab = Laboratory::on(platform(machine, &[], 1).expect("a machine"));
        let lab = lab.of_version(version.map(|version| version.parse().expect("a version")));
        let question = Question { count: 100, ..Question::of(text.parse().expect("a question")) };
        let answer = ask(&lab, &question).unwrap_or_else(|error| panic!("{error}"));
        Some(versions(&lab, &question, &answer)?.to_string())
    }

    #[test]
    fn a_bare_call_names_the_assumed_version_and_what_others_answer() {
        let python = versions_of("windows-11", "time.sleep(1ms)", None).expect("a runtime's call");
        assert!(python.starts_with("CPython since 3.11, the newest that a source states; "), "{python}");
        assert!(python.contains("CPython 3.10, 3.9, ") && python.contains(": 15.6 ms"), "{python}");
        assert!(python.ends_with(". To ask another, name it with --version"), "{python}");
        let dotnet = versions_of("windows-11", "PeriodicTimer(10ms)", None).expect("a runtime's call");
        assert!(dotnet.starts_with(".NET 7 and later"), "{dotnet}");
        let java = versions_of("windows-11", "Thread.sleep(1ms)", None).expect("a runtime's call");
        assert!(java.contains("; OpenJDK 14 to 20, 12 and 13 and 8 to 11: the same"), "{java}");
        assert_eq!(versions_of("windows-11", "Sleep(1ms)", None), None, "a call of the system");
    }

    #[test]
    fn a_version_that_does_not_run_there_is_neither_assumed_nor_compared() {
        let needs =
            "Go needs Windows 10 from version 1.21 on (https://go.dev/doc/go1.21#ports), and this machine is older";
        let go = versions_of("windows-7", "time.Sleep(1ms)", None).expect("a runtime's call");
        assert!(
            go.starts_with("Go 1.16 to 1.22, with nothing else to run, the newest with a source that runs"),
            "{go}"
        );
        assert!(go.ends_with(needs) && !go.contains("1.23"), "{go}");
        let python = versions_of("windows-7", "time.sleep(1ms)", None).expect("a runtime's call");
        assert!(
            python.starts_with("CPython 3.8, the newest with a source that runs there; CPython 3.7, 3.6"),
            "{python}"
        );
        assert!(!python.contains("3.11"), "{python}");
        let new = versions_of("windows-11", "time.Sleep(1ms)", None).expect("a runtime's call");
        assert!(!new.contains("needs"), "{new}");
    }

    #[test]
    fn a_version_that_was_named_is_not_assumed() {
        let python = versions_of("windows-11", "time.sleep(1ms)", Some("3.10")).expect("a runtime's call");
        assert!(python.starts_with("CPython 3.10; CPython since 3.11: 1.5 ms"), "{python}");
        assert!(!python.contains("--version"), "{python}");
    }
}
