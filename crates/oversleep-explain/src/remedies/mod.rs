//! The registry of remedies: what to do, how, and whether it can be tried harmlessly on the laboratory's own threads.

use oversleep_record::finding::Tried;
use oversleep_record::{Conditions, ExperimentId, ResultFile};

use super::entry::Scope;

mod machine;
mod on_macos;
mod on_windows;
mod program;

#[cfg(any(test, feature = "testing"))]
pub(super) use on_macos::STRICT;

/// Whether a remedy can be tried here without asking.
#[derive(Clone, Copy, Debug)]
pub enum Harmless {
    /// Yes: these conditions are it; they concern the laboratory's own threads and are undone afterwards.
    TryHere(fn() -> Conditions),
    /// No, and why.
    NotTriedBecause(&'static str),
    /// It needs no trial: that experiment measures it, as one of these waits, and `compare` reads it.
    MeasuredBy(ExperimentId, &'static [&'static str]),
}

/// One remedy.
#[derive(Debug)]
pub struct RemedyEntry {
    /// Stable id: `lower-timer-slack`.
    pub id: &'static str,
    /// Results it is advised in.
    pub scope: Scope,
    /// What it gains, in general.
    pub summary: &'static str,
    /// What to do, in a sentence.
    pub how: &'static str,
    /// Code or commands that do it.
    pub example: Option<&'static str>,
    /// Whether it can be tried here.
    pub harmless: Harmless,
    /// Where the experiments measured it anyway: reads before and after from their series.
    pub compare: Option<fn(&ResultFile) -> Option<Tried>>,
}

/// Every remedy: those of a program first, those of one system last, then those of the machine's administrator.
pub fn registry() -> impl Iterator<Item = &'static RemedyEntry> {
    program::REMEDIES.iter().chain(on_windows::REMEDIES).chain(on_macos::REMEDIES).chain(machine::REMEDIES)
}

/// The remedy of that id.
pub fn get(id: &str) -> Option<&'static RemedyEntry> {
    registry().find(|entry| entry.id == id)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn entries_are_whole_and_their_ids_unique() {
        let mut ids = BTreeSet::new();
        for entry in registry() {
            assert!(ids.insert(entry.id), "{} is there twice", entry.id);
            assert!(entry.id.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", entry.id);
            for text in [entry.summary, entry.how] {
                assert!(text.len() > 20 && text.ends_with('.'), "{}: {text}", entry.id);
            }
            assert!(entry.example.is_none_or(|example| !example.trim().is_empty()), "{}", entry.id);
            match entry.harmless {
                Harmless::TryHere(conditions) => assert!(!conditions().is_as_found(), "{}", entry.id),
                Harmless::NotTriedBecause(why) => assert!(why.len() > 10, "{}", entry.id),
                Harmless::MeasuredBy(_, waits) => assert!(entry.compare.is_some() && !waits.is_empty(), "{}", entry.id),
            }
        }
    }

    #[test]
    fn every_remedy_serves_a_finding() {
        let used: BTreeSet<&str> = super::super::registry().iter().flat_map(|entry| entry.remedies).copied().collect();
        for entry in registry() {
            assert!(used.contains(entry.id), "{} belongs to no finding", entry.id);
        }
    }
}
