//! The registries, and their use: the conclusion of every finding, and the remedies to try.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use oversleep_record::finding::{Advice, Finding, Severity, Verdict};
use oversleep_record::{FactName, ResultFile};

use crate::entry::{Conclusion, RemedyEntry, Scope};
use crate::finding::FindingEntry;
use crate::read::wine_version;
use crate::tried::{RemedyTrialSpec, advice, trial_spec};

/// The letters of ids, in the order of the list: Linux, Windows, macOS, general, language runtimes.
const LETTERS: &str = "LWMGR";

static REGISTRY: LazyLock<Vec<&'static FindingEntry>> = LazyLock::new(|| {
    let mut entries: Vec<&FindingEntry> = crate::findings::all().collect();
    entries.sort_by_key(|entry| (entry.id.get(4..5).and_then(|letter| LETTERS.find(letter)), entry.id));
    entries
});

/// Every remedy that a finding names, once, in the order of the findings.
static REMEDIES: LazyLock<Vec<&'static RemedyEntry>> = LazyLock::new(|| {
    let mut seen = BTreeSet::new();
    let named = REGISTRY.iter().flat_map(|entry| entry.remedies).copied();
    named.filter(|remedy| seen.insert(remedy.id)).collect()
});

/// Every finding, by id.
pub fn registry() -> &'static [&'static FindingEntry] {
    &REGISTRY
}

/// The finding with that id or name.
pub fn entry(id_or_name: &str) -> Option<&'static FindingEntry> {
    let wanted = id_or_name.trim();
    let is_meant = |text: &str| text.eq_ignore_ascii_case(wanted);
    registry().iter().copied().find(|entry| is_meant(entry.id) || is_meant(entry.name))
}

/// The remedy with that id.
pub fn remedy(id: &str) -> Option<&'static RemedyEntry> {
    REMEDIES.iter().copied().find(|remedy| remedy.id == id)
}

/// The conclusions of all findings in scope for this result: first what was found, the most severe first; then what is
/// too disturbed, what lacks data, what is absent.
pub fn findings(file: &ResultFile) -> Vec<Finding> {
    let mut findings: Vec<Finding> = registry().iter().filter_map(|entry| finding(file, entry)).collect();
    findings.sort_by_key(|finding| match finding.verdict {
        Verdict::Found => (0, finding.severity),
        Verdict::TooDisturbed => (1, Severity::Note),
        Verdict::NotEnoughData => (2, Severity::Note),
        Verdict::NotFound => (3, Severity::Note),
    });
    findings
}

/// The remedies worth trying, given what the first pass found.
pub fn remedies_to_try(file: &ResultFile) -> Vec<RemedyTrialSpec> {
    REMEDIES.iter().filter_map(|remedy| trial_spec(file, remedy)).collect()
}

fn finding(file: &ResultFile, entry: &FindingEntry) -> Option<Finding> {
    if !entry.scope.includes_os_of(file) {
        return None;
    }
    let wine = wine_version(file).filter(|_| Scope::Wine.covers(file));
    let mut conclusion = match (wine, entry.scope) {
        (Some(version), Scope::Os(_) | Scope::OsWhere(..)) => not_of_windows(version),
        _ if !entry.scope.covers(file) => return None,
        _ => entry.check.run(file),
    };
    let verdict = conclusion.verdict;
    conclusion.sentence = conclusion.whole_sentence();
    if let (Some(version), Scope::Anywhere | Scope::Where(_)) = (wine, entry.scope)
        && verdict != Verdict::NotEnoughData
    {
        conclusion.sentence = format!("under Wine {version}: {}", conclusion.sentence);
    }
    // Remedies are advised only for a finding that is present.
    let remedies = conclusion.remedies.unwrap_or(entry.remedies);
    Some(Finding {
        id: entry.id.to_owned(),
        name: entry.name.to_owned(),
        summary: entry.summary.to_owned(),
        severity: conclusion.severity.unwrap_or(entry.severity),
        verdict,
        sentence: conclusion.sentence,
        evidence: conclusion.evidence,
        advice: if verdict == Verdict::Found { advise(file, remedies) } else { Vec::new() },
    })
}

/// The conclusion of every finding about Windows under Wine.
fn not_of_windows(version: &str) -> Conclusion {
    let reason = format!("figures taken under Wine {version} say nothing about Windows. Run oversleep on Windows");
    Conclusion::lacks(reason).rests_on(FactName::OsWineVersion, version)
}

/// These remedies as advice for this result, without those of other systems.
pub(crate) fn advise(file: &ResultFile, remedies: &[&RemedyEntry]) -> Vec<Advice> {
    remedies.iter().filter(|entry| entry.scope.covers(file)).map(|entry| advice(file, entry)).collect()
}

#[cfg(test)]
mod tests;
