//! The registries, and their use: the conclusion of every finding, and the remedies to try.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use oversleep_record::finding::{Advice, Finding, Severity, Verdict};
use oversleep_record::{FactName, ResultFile};

use crate::entry::{Conclusion, InWords, Instance, RemedyEntry, Scope};
use crate::finding::FindingEntry;
use crate::findings::observed::commands::is_beside_recording;
use crate::read::{BY_CHANCE, BY_THE_LOAD, UNSEEN, mentions, next_step, wine_version};
use crate::tried::{RemedyTrialSpec, advice, trial_spec};

/// The letters of ids, in the order of the list: Linux, Windows, macOS, general, language runtimes, observed programs,
/// fleets.
const LETTERS: &str = "LWMGRYF";

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

/// The findings whose texts, or those of their remedies, mention a word or a phrase, in any case.
pub fn mentioning(words: &str) -> Vec<&'static FindingEntry> {
    let wanted = words.trim().to_lowercase();
    let all = |words: &[&str]| -> Vec<&'static FindingEntry> {
        let has = |entry: &FindingEntry, word: &str| texts(entry).iter().any(|text| mentions(text, word));
        let is_it = |entry: &&'static FindingEntry| words.iter().all(|word| has(entry, word));
        registry().iter().copied().filter(is_it).collect()
    };
    // `app-nap` is App Nap.
    let spaced = wanted.replace(['-', '_'], " ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let ways = [&[wanted.as_str()][..], &[spaced.as_str()], &words];
    ways.into_iter().filter(|way| !way.is_empty()).map(all).find(|found| !found.is_empty()).unwrap_or_default()
}

/// Everything that is said about a finding and its remedies.
fn texts(entry: &FindingEntry) -> Vec<&'static str> {
    let of_remedy = |remedy: &&'static RemedyEntry| {
        [remedy.id, remedy.summary, remedy.how].into_iter().chain(remedy.example).collect::<Vec<_>>()
    };
    let own = [entry.name, entry.summary, entry.applies_to, entry.meaning, entry.how_we_know, entry.what_to_do];
    own.into_iter().chain(entry.remedies.iter().flat_map(of_remedy)).collect()
}

/// The remedy with that id.
pub fn remedy(id: &str) -> Option<&'static RemedyEntry> {
    REMEDIES.iter().copied().find(|remedy| remedy.id == id)
}

/// The conclusions of all findings in scope for this result: first what was found, the most severe first, and among those
/// what explains the most lateness; then what is too disturbed, what lacks data, what is absent.
pub fn findings(file: &ResultFile) -> Vec<Finding> {
    with_instances(file).into_iter().map(|(finding, _)| finding).collect()
}

/// The findings of a result, each with what only its instance has.
pub(crate) fn with_instances(file: &ResultFile) -> Vec<(Finding, Option<Instance>)> {
    let mut findings: Vec<_> = registry().iter().flat_map(|entry| of_entry(file, entry)).collect();
    findings.sort_by_key(|(finding, _)| {
        let explained = std::cmp::Reverse(finding.explained_ns);
        match finding.verdict {
            Verdict::Found => (0, finding.severity, explained),
            Verdict::TooDisturbed => (1, Severity::Note, explained),
            Verdict::NotEnoughData => (2, Severity::Note, explained),
            Verdict::NotFound => (3, Severity::Note, explained),
        }
    });
    findings
}

/// Whether nothing was concluded because the run didn't measure what the check needs, as opposed to figures that are too few
/// or too wild.
pub fn is_unmeasured(finding: &Finding) -> bool {
    const SAYS: [&str; 7] = [
        "not measured",
        "cost was measured",
        "no runtime was measured",
        "not available",
        "is available here",
        "was interrupted before",
        "does not record",
    ];
    let says = |words: &str| finding.sentence.contains(words);
    finding.verdict == Verdict::NotEnoughData
        && (says(NOT_OF_WINDOWS) || (finding.evidence.is_empty() && SAYS.iter().any(|words| says(words))))
}

/// Whether something else disturbed the figures of an inconclusive check, as opposed to figures that disagree by themselves.
pub fn is_disturbed(finding: &Finding) -> bool {
    const BY_THEMSELVES: [&str; 4] = ["Use a longer margin", BY_CHANCE, BY_THE_LOAD, UNSEEN];
    finding.verdict == Verdict::TooDisturbed && !BY_THEMSELVES.iter().any(|words| finding.sentence.contains(words))
}

/// The findings that are written to a file. Of observed programs these are only those that were found, because each of
/// thousands of recordings would repeat what wasn't; a reader works out all of them again.
pub fn findings_to_keep(file: &ResultFile) -> Vec<Finding> {
    let mut all = findings(file);
    all.retain(|finding| file.observation.is_none() || finding.verdict == Verdict::Found);
    all
}

/// The remedies worth trying, given what the first pass found.
pub fn remedies_to_try(file: &ResultFile) -> Vec<RemedyTrialSpec> {
    REMEDIES.iter().filter_map(|remedy| trial_spec(file, remedy)).collect()
}

/// Every instance of a finding, or why there is none; empty where the finding isn't about such a result.
fn of_entry(file: &ResultFile, entry: &FindingEntry) -> Vec<(Finding, Option<Instance>)> {
    let is_about_programs = matches!(entry.scope, Scope::Observed);
    if !entry.scope.includes_os_of(file) || file.observation.is_some() != is_about_programs {
        return Vec::new();
    }
    let wine = wine_version(file).filter(|_| Scope::Wine.covers(file));
    let conclusions = match (wine, entry.scope) {
        (Some(version), Scope::Os(_) | Scope::OsWhere(..)) => vec![not_of_windows(version)],
        _ if !entry.scope.covers(file) => return Vec::new(),
        _ => entry.check.run(file),
    };
    conclusions.into_iter().map(|conclusion| finding(file, entry, conclusion, wine)).collect()
}

fn finding(
    file: &ResultFile,
    entry: &FindingEntry,
    mut conclusion: Conclusion,
    wine: Option<&str>,
) -> (Finding, Option<Instance>) {
    let verdict = conclusion.verdict;
    conclusion.sentence = conclusion.whole_sentence();
    if let (Some(version), Scope::Anywhere | Scope::Where(_)) = (wine, entry.scope)
        && verdict != Verdict::NotEnoughData
    {
        conclusion.sentence = format!("under Wine {version}: {}", conclusion.sentence);
    }
    if matches!(verdict, Verdict::NotEnoughData | Verdict::TooDisturbed) {
        conclusion.sentence = next_step(file, &conclusion.sentence);
    }
    // Remedies are advised only for a finding that is present.
    let remedies = conclusion.remedies.unwrap_or(entry.remedies);
    let mut advice = if verdict == Verdict::Found { advise(file, remedies) } else { Vec::new() };
    let instance = conclusion.instance.map(|instance| *instance);
    for said in instance.iter().flat_map(|instance| &instance.in_words) {
        if let Some(advice) = advice.iter_mut().find(|advice| advice.remedy == said.remedy) {
            advice.sentence.clone_from(&said.sentence);
            advice.example = said.example.clone().or(advice.example.take());
        }
    }
    for advice in &mut advice {
        let is_own = |said: &InWords| said.remedy == advice.remedy && said.example.is_some();
        if !instance.iter().flat_map(|instance| &instance.in_words).any(is_own) {
            advice.example = advice.example.take().filter(|example| !is_beside_recording(file, example));
        }
    }
    let finding = Finding {
        id: entry.id.to_owned(),
        name: entry.name.to_owned(),
        instance: instance.as_ref().map(|instance| instance.name.clone()).filter(|name| !name.is_empty()),
        summary: entry.summary.to_owned(),
        severity: conclusion.severity.unwrap_or(entry.severity),
        verdict,
        sentence: conclusion.sentence,
        more: conclusion.more.into_vec(),
        explained_ns: instance.as_ref().map(|instance| instance.explained),
        evidence: conclusion.evidence,
        advice,
    };
    (finding, instance)
}

const NOT_OF_WINDOWS: &str = "say nothing about Windows";

/// The conclusion of every finding about Windows under Wine.
fn not_of_windows(version: &str) -> Conclusion {
    let reason = format!("figures taken under Wine {version} {NOT_OF_WINDOWS}. Run oversleep on Windows");
    Conclusion::lacks(reason).rests_on(FactName::OsWineVersion, version)
}

/// These remedies as advice for this result, without those of other systems.
pub(crate) fn advise(file: &ResultFile, remedies: &[&RemedyEntry]) -> Vec<Advice> {
    remedies.iter().filter(|entry| entry.scope.covers(file)).map(|entry| advice(file, entry, remedies)).collect()
}

#[cfg(test)]
mod tests;
