//! What the waits of an observed program come to, in the words of every report: its verdict, its causes, the waits that each
//! of them delayed, and the worst wait in brief.

use std::collections::{BTreeMap, BTreeSet};

use oversleep_explain::verdict::{Cause, FirstStep, Share, Verdict, lateness_in_words};
use oversleep_record::finding::Advice;
use oversleep_record::observed::By;
use oversleep_record::observed::wait::{Request, Wait};
use oversleep_record::part::Part;
use oversleep_record::{Identity, Nanos, ResultFile};

use super::observed::{culprits, wait_in_words};
use super::overview::first_clause;
use super::table::{Split, letter};
use crate::words::{counted, list, percent};

/// A part is named in a legend from this share on; the rest are counted.
const NAMED_MIN: f64 = 0.02;
/// The most calls of one group of threads that are named.
const CALLS_MAX: usize = 3;

/// Draws the parts that a legend doesn't name.
pub const REST: char = '.';

/// The bar of a verdict: the parts that its legend names.
pub fn bar(verdict: &Verdict) -> Split {
    let share = |part: Part| verdict.shares.iter().find(|of| of.part == part && of.share >= NAMED_MIN);
    Split::of(|part| share(part).map_or(0.0, |of| of.share))
}

/// The parts that its legend doesn't name: `6 other parts 2.1 %`.
pub fn others(verdict: &Verdict) -> Option<String> {
    let rest = verdict.shares.iter().filter(|share| share.share < NAMED_MIN);
    let (count, share) = rest.fold((0, 0.0), |(count, sum), share| (count + 1, sum + share.share));
    (count > 0).then(|| format!("{} {}", counted(count, "other part"), percent(share)))
}

/// The parts of that bar: `q runq 93 % (waiting for a CPU)`.
pub fn legend(verdict: &Verdict) -> Option<String> {
    let words = named(verdict).map(|of| {
        let (part, share) = (of.part, percent(of.share));
        format!("{} {} {share} ({})", letter(part), part.name(), of.about())
    });
    let others = others(verdict).map(|others| format!("{REST} {others}"));
    let words: Vec<String> = words.chain(others).collect();
    (!words.is_empty()).then(|| format!("{}.", words.join(", ")))
}

/// The parts whose letters that legend explains.
pub fn explained(verdict: &Verdict) -> Vec<Part> {
    named(verdict).map(|share| share.part).collect()
}

/// The parts that its legend names, in the order of time.
pub fn named(verdict: &Verdict) -> impl Iterator<Item = &Share> {
    verdict.shares.iter().filter(|share| share.share >= NAMED_MIN)
}

/// What to do first: `First: pin this program …`.
pub fn first_step(step: &FirstStep) -> String {
    let what = first_clause(&step.advice.sentence);
    let what = what.strip_prefix("Or ").unwrap_or(what);
    let begin = if step.is_optional { "Where that is too late" } else { "First" };
    format!("{begin}: {}.", lowered(what))
}

/// The text with a small letter, unless its first word is a name.
fn lowered(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_lowercase().collect::<String>()).unwrap_or_default();
    match letters.clone().next() {
        Some(second) if second.is_lowercase() || second == ' ' => first + letters.as_str(),
        _ => text.to_owned(),
    }
}

/// The command that a remedy consists of, if it is one line for a shell.
pub fn command(advice: &Advice) -> Option<&str> {
    let mut lines = advice.example.as_deref()?.lines();
    let (first, second) = (lines.next()?, lines.next()?);
    (first.starts_with("# command") && lines.next().is_none()).then_some(second)
}

/// The whole verdict in sentences, for documents without a bar.
pub fn sentences(verdict: &Verdict) -> Vec<String> {
    let figures = verdict.figures.as_ref().map(|figures| format!("{figures}."));
    let housekeeping = verdict.housekeeping.clone();
    let step = verdict.first_step.as_ref();
    let command =
        step.and_then(|step| command(&step.advice)).map(|command| format!(" Command: {command}")).unwrap_or_default();
    let step = step.map(|step| format!("{}{command}", first_step(step)));
    let leaves = verdict.leaves.as_ref().map(ToString::to_string);
    [Some(verdict.sentence.clone()), verdict.pace.clone(), figures, step, leaves, housekeeping]
        .into_iter()
        .flatten()
        .collect()
}

/// `88 % of the lateness`; `None` where that isn't known.
pub fn share(file: &ResultFile, cause: &Cause) -> Option<String> {
    cause.share.map(|share| format!("{} of {}", percent(share), lateness_in_words(file)))
}

/// The waits that a cause delayed, by thread: threads whose names differ only in a number are one group, and so are the
/// requests of one call. `app (worker-*, 12 threads): nanosleep for 1 ms to 20 ms (7 requests)`.
pub fn delays(file: &ResultFile, cause: &Cause) -> Vec<String> {
    let mut groups: Vec<Group> = Vec::new();
    for key in &cause.delayed {
        let series = file.series.iter().find(|series| series.key == *key);
        let Some(identity) = series.and_then(Identity::of) else { continue };
        let (program, stem) = (identity.program.clone(), stem(&identity.thread));
        match groups.iter_mut().find(|group| group.program == program && group.stem == stem) {
            Some(group) => group.add(identity),
            None => {
                let mut group = Group { program, stem, threads: BTreeSet::new(), calls: Vec::new() };
                group.add(identity);
                groups.push(group);
            }
        }
    }
    groups.iter().map(Group::in_words).collect()
}

/// Threads that have the same name but for numbers, and what they call.
struct Group {
    program: String,
    stem: String,
    threads: BTreeSet<String>,
    calls: Vec<Calls>,
}

/// The requests of one call.
struct Calls {
    first: Identity,
    requests: BTreeMap<Option<Nanos>, ()>,
}

impl Group {
    fn add(&mut self, identity: Identity) {
        self.threads.insert(identity.thread.clone());
        let is_same = |calls: &&mut Calls| {
            let first = &calls.first;
            (&first.call, &first.timer, first.request) == (&identity.call, &identity.timer, identity.request)
        };
        match self.calls.iter_mut().find(is_same) {
            Some(calls) => _ = calls.requests.insert(identity.requested_ns, ()),
            None => self.calls.push(Calls { requests: [(identity.requested_ns, ())].into(), first: identity }),
        }
    }

    fn in_words(&self) -> String {
        let threads = match self.threads.len() {
            1 if self.threads.contains(&self.program) => String::new(),
            1 => format!(" ({})", self.threads.first().map(String::as_str).unwrap_or_default()),
            count => format!(" ({}, {})", self.stem, counted(count, "thread")),
        };
        if self.calls.iter().all(|calls| calls.first.is_wake_up()) {
            return format!("{}{threads}", self.program);
        }
        let mut calls: Vec<String> = self.calls.iter().take(CALLS_MAX).map(Calls::in_words).collect();
        if let Some(more) = self.calls.len().checked_sub(CALLS_MAX).filter(|&more| more > 0) {
            calls.push(counted(more, "more call"));
        }
        format!("{}{threads}: {}", self.program, list(&calls))
    }
}

impl Calls {
    fn in_words(&self) -> String {
        let (first, last) = (self.requests.keys().flatten().min(), self.requests.keys().flatten().max());
        let name = match &self.first.timer {
            Some(timer) => format!("{} of {timer}", self.first.call),
            None => self.first.call.clone(),
        };
        let (Some(first), Some(last)) = (first, last) else { return name };
        // A deadline that had passed has no span.
        let (span, count) = match self.requests.keys().flatten().count() {
            1 => (first.to_string(), String::new()),
            count => (format!("{first} to {last}"), format!(" ({})", counted(count, "request"))),
        };
        match self.first.request {
            Request::Span => format!("{name} for {span}{count}"),
            Request::Deadline => format!("{name} until {span} ahead{count}"),
            Request::Timer => format!("{name} every {span}{count}"),
            Request::Unknown => format!("{name} with a timeout of {span}{count}"),
        }
    }
}

/// A thread's name with a star for each number: `worker-*`.
fn stem(name: &str) -> String {
    let mut stem = String::new();
    for letter in name.chars() {
        match letter {
            '0'..='9' if stem.ends_with('*') => {}
            '0'..='9' => stem.push('*'),
            other => stem.push(other),
        }
    }
    stem
}

/// One wait in a sentence: what it was, and its parts, the longest first, with those who ran instead.
pub fn worst_in_brief(wait: &Wait) -> (String, String) {
    /// The most parts that are named.
    const PARTS_MAX: usize = 3;
    let mut parts: Vec<(Part, i64)> = wait.parts.iter().filter(|&(_, ns)| ns > 0).collect();
    parts.sort_by_key(|&(_, ns)| std::cmp::Reverse(ns));
    let (named, rest) = parts.split_at(parts.len().min(PARTS_MAX));
    let words = named.iter().map(|&(part, ns)| {
        let behind = match part {
            Part::Runq => by_name(wait).iter().map(|(name, ns)| format!("{name} {}", Nanos(*ns))).collect(),
            _ => Vec::new(),
        };
        let behind = if behind.is_empty() { String::new() } else { format!(", behind {}", list(&behind)) };
        format!("{} {}{behind}", part.name(), Nanos(ns))
    });
    let others = (!rest.is_empty()).then(|| {
        let sum = rest.iter().fold(0, |sum: i64, (_, ns)| sum.saturating_add(*ns));
        format!("{} {}", counted(rest.len(), "other part"), Nanos(sum))
    });
    let parts: Vec<String> = words.chain(others).collect();
    let what = wait_in_words(1, wait);
    (what.strip_prefix("1. ").unwrap_or(&what).to_owned(), format!("{}.", parts.join("; ")))
}

/// Those who ran while a wait's thread waited for a CPU, those of one name together.
fn by_name(wait: &Wait) -> Vec<(String, i64)> {
    /// The most names that are told.
    const NAMES_MAX: usize = 3;
    let mut all: Vec<(String, i64)> = Vec::new();
    for ran in culprits(wait, usize::MAX) {
        match all.iter_mut().find(|(name, _)| *name == ran.name) {
            Some((_, sum)) => *sum = sum.saturating_add(ran.ran.0),
            None => all.push((ran.name, ran.ran.0)),
        }
    }
    all.sort_by_key(|&(_, ns)| std::cmp::Reverse(ns));
    if all.len() > NAMES_MAX + 1 {
        let others = all.split_off(NAMES_MAX);
        let sum = others.iter().fold(0, |sum: i64, (_, ns)| sum.saturating_add(*ns));
        all.push((counted(others.len(), "other"), sum));
    }
    all
}

/// Who followed the waits, where that limits what was seen.
pub fn limit(by: By) -> Option<&'static str> {
    matches!(by, By::Supervisor | By::SupervisorWithoutSwitches).then_some(
        "A supervisor saw these waits. The kernel's events need privileges and tell more parts apart; --full says which.",
    )
}
