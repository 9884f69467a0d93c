//! Findings in the order shown, and the gains of remedies in their trials.

use oversleep_explain as explain;
use oversleep_explain::costs::Costs;
use oversleep_record::finding::{Advice, Finding, Severity, Tried, Verdict};
use oversleep_record::{Nanos, ResultFile};

use crate::words::{BOUND, capitalised, list, sentence, sign};

/// All findings of a result, computed from its data; the file itself holds those of the version that wrote it.
pub struct Findings {
    all: Vec<Finding>,
}

/// What was found, as a sentence. That about waits of a program begins with its name, which keeps its case.
pub fn in_words(finding: &Finding) -> String {
    as_sentence(finding, &finding.whole_sentence())
}

/// The same without what it holds for besides its example.
pub fn example_in_words(finding: &Finding) -> String {
    as_sentence(finding, &finding.sentence)
}

fn as_sentence(finding: &Finding, words: &str) -> String {
    match finding.explained_ns {
        Some(_) => format!("{}.", words.trim_end_matches('.')),
        None => sentence(words),
    }
}

/// Over checks whose figures disagree although nothing disturbed them.
pub const UNCLEAR: &str = "Inconclusive, because the figures disagree by themselves";

/// Why a check may have too little to conclude from, as a heading.
pub fn inconclusive(file: &ResultFile) -> &'static str {
    match explain::is_recording(file) {
        true => "Inconclusive, because the recording shows too little",
        false => "Inconclusive, because there is too little data",
    }
}

/// `timer-slack` within a sentence: `real-time policy`, `dedicated CPUs`.
pub fn in_prose(name: &str) -> String {
    let words: Vec<&str> = name
        .split('-')
        .map(|word| match word {
            "cpu" => "CPU",
            "cpus" => "CPUs",
            "tsc" => "TSC",
            "os" => "OS",
            other => other,
        })
        .collect();
    let mut text = words.join(" ");
    for pair in HYPHENATED {
        text = text.replace(&pair.replace('-', " "), pair);
    }
    text
}

/// Words that keep their hyphen when other hyphens of a name become blanks.
const HYPHENATED: [&str; 5] = ["real-time", "wake-up", "high-resolution", "CPU-time", "fork-join"];

impl Findings {
    /// Runs every check of the registry.
    pub fn of(file: &ResultFile) -> Findings {
        Findings { all: explain::findings(file) }
    }

    /// Those found, of that severity.
    pub fn found(&self, severity: Severity) -> impl Iterator<Item = &Finding> {
        self.with(Verdict::Found).filter(move |finding| finding.severity == severity)
    }

    /// Those with that verdict.
    pub fn with(&self, verdict: Verdict) -> impl Iterator<Item = &Finding> {
        self.all.iter().filter(move |finding| finding.verdict == verdict)
    }

    /// How many were found, in a sentence: `4 costs and 10 notes; 12 checked, not found; 2 inconclusive.`
    pub fn summary(&self) -> String {
        let counts: Vec<String> = SEVERITIES
            .iter()
            .map(|&severity| (self.found(severity).count(), severity.noun()))
            .filter(|&(count, _)| count > 0)
            .map(|(count, noun)| format!("{count} {noun}{}", if count == 1 { "" } else { "s" }))
            .collect();
        let found = if counts.is_empty() { "Nothing found".to_owned() } else { list(&counts) };
        let unmeasured = self.unmeasured().count();
        let undecided = self.with(Verdict::NotEnoughData).count() + self.with(Verdict::TooDisturbed).count();
        let rest = [
            (self.with(Verdict::NotFound).count(), "checked, not found"),
            (undecided - unmeasured, "inconclusive"),
            (unmeasured, "not measured"),
        ];
        let rest = rest.into_iter().filter(|&(count, _)| count > 0).map(|(count, what)| format!("; {count} {what}"));
        found + &rest.collect::<String>() + "."
    }

    /// Inconclusive checks whose figures something else disturbed.
    pub fn disturbed(&self) -> impl Iterator<Item = &Finding> {
        self.with(Verdict::TooDisturbed).filter(|finding| explain::is_disturbed(finding))
    }

    /// Inconclusive checks whose figures disagree although nothing disturbed them.
    pub fn unclear(&self) -> impl Iterator<Item = &Finding> {
        self.with(Verdict::TooDisturbed).filter(|finding| !explain::is_disturbed(finding))
    }

    /// Inconclusive checks with too few figures.
    pub fn too_few(&self) -> impl Iterator<Item = &Finding> {
        self.with(Verdict::NotEnoughData).filter(|finding| !explain::is_unmeasured(finding))
    }

    /// Checks for which nothing was measured.
    pub fn unmeasured(&self) -> impl Iterator<Item = &Finding> {
        self.with(Verdict::NotEnoughData).filter(|finding| explain::is_unmeasured(finding))
    }

    /// Whether remedies are advised and none was tried, because a program would have to be run again.
    pub fn are_untried(&self) -> bool {
        let advised: Vec<&Advice> = self.with(Verdict::Found).flat_map(|finding| &finding.advice).collect();
        !advised.is_empty() && advised.iter().all(|advice| is_unasked(&advice.tried))
    }

    /// Faults and costs.
    pub fn costs(&self) -> impl Iterator<Item = &Finding> {
        self.found(Severity::Fault).chain(self.found(Severity::Cost))
    }

    /// The largest costs, whose plain sleep is this wait.
    pub fn largest_costs(&self, file: &ResultFile, wait: &str) -> Costs<'_> {
        Costs::of(file, &self.all, wait)
    }
}

/// The remedy to show if there is room for one: the first that helped when tried, else the first. A finding lists its
/// own remedies first.
pub fn cure(finding: &Finding) -> Option<&Advice> {
    finding.advice.iter().find(|advice| helped(advice)).or(finding.advice.first())
}

/// Whether a remedy helped when it was tried.
pub fn helped(advice: &Advice) -> bool {
    matches!(advice.tried, Tried::Measured { helped: true, .. })
}

/// What is said once of remedies for a program that was observed.
pub const UNTRIED: &str = "None of these remedies was tried: oversleep doesn't run your program a second time unasked. \
    On Linux, `oversleep why --try -- PROGRAM` does, with the remedies that are settings.";

/// Whether a remedy wasn't tried because a program would have to be run again.
pub fn is_unasked(tried: &Tried) -> bool {
    matches!(tried, Tried::NotTried { why } if why == explain::UNASKED)
}

/// The most severe first.
pub const SEVERITIES: [Severity; 3] = [Severity::Fault, Severity::Cost, Severity::Note];

/// What a severity means: the heading over its findings.
pub fn title(severity: Severity) -> String {
    capitalised(&format!("{}s: {}", severity.noun(), severity.meaning()))
}

/// The outcome of a remedy's trial, in words.
pub fn outcome(tried: &Tried) -> String {
    match tried {
        Tried::Measured {
            subject,
            instead_of,
            requested_ns,
            before_p50_ns,
            after_p50_ns,
            before_p99_ns,
            after_p99_ns,
            helped,
        } => {
            let p99 = match (before_p99_ns, after_p99_ns) {
                (Some(before), Some(after)) => format!(", p99 {} → {}", Nanos(*before), Nanos(*after)),
                _ => String::new(),
            };
            let verdict = match helped {
                true => "it helped",
                false if explain::is_gain(*before_p50_ns, *after_p50_ns) => {
                    "the values are too few or differ too much to say that it helped"
                }
                false => "it did not help",
            };
            let request = requested_ns.map(|request| format!(" at {request}")).unwrap_or_default();
            let instead = instead_of.as_ref().map(|other| format!(" instead of {other}")).unwrap_or_default();
            let gain = gain(tried).unwrap_or_default();
            format!("tried here with {subject}{instead}{request}: {gain}{p99}; {verdict}")
        }
        Tried::Refused { why } => format!("refused when tried here: {why}"),
        Tried::NotTried { why } => format!("not tried: {why}"),
    }
}

/// The median without it and with it, on one line: `p50 66.1 µs → 14.2 µs (−79 %)`; `None` if it was not tried.
pub fn gain(tried: &Tried) -> Option<String> {
    let Tried::Measured { before_p50_ns, after_p50_ns, .. } = tried else { return None };
    let change = change(*before_p50_ns, *after_p50_ns).map(|change| format!(" ({change})")).unwrap_or_default();
    let medians = format!("p50 {} → {}", Nanos(*before_p50_ns), Nanos(*after_p50_ns));
    Some(medians.replace(' ', &BOUND.to_string()) + &change)
}

/// The change in percent if both are above zero; as a factor if the percentage would round to −100 %.
pub fn change(before: i64, after: i64) -> Option<String> {
    (before > 0 && after > 0).then(|| {
        if before >= after.saturating_mul(200) {
            return format!("{}× lower", before / after);
        }
        let percent = (after as f64 / before as f64 - 1.0) * 100.0;
        let sign = if percent < 0.0 { sign(true) } else { "+" };
        format!("{sign}{:.0} %", percent.abs())
    })
}

#[cfg(test)]
mod tests {
    use oversleep_record::testing::Sheet;

    use super::*;

    #[test]
    fn outcomes_read_as_sentences() {
        let measured = |helped, after_p50_ns, before_p99_ns| Tried::Measured {
            subject: "nanosleep".into(),
            instead_of: None,
            requested_ns: Some(Nanos::from_millis(1)),
            before_p50_ns: 66_100,
            after_p50_ns,
            before_p99_ns,
            after_p99_ns: Some(30_000),
            helped,
        };
        assert_eq!(
            outcome(&measured(true, 14_200, Some(98_000))).replace(BOUND, " "),
            "tried here with nanosleep at 1 ms: p50 66.1 µs → 14.2 µs (−79 %), p99 98 µs → 30 µs; it helped"
        );
        assert_eq!(
            outcome(&measured(false, 14_200, None)).replace(BOUND, " "),
            "tried here with nanosleep at 1 ms: p50 66.1 µs → 14.2 µs (−79 %); the values are too few or differ too much to \
             say that it helped"
        );
        assert_eq!(
            outcome(&measured(false, 65_900, None)).replace(BOUND, " "),
            "tried here with nanosleep at 1 ms: p50 66.1 µs → 65.9 µs (−0 %); it did not help"
        );
        assert_eq!(change(-5, 3), None);
        assert_eq!(change(70_500, 111).as_deref(), Some("635× lower"));
    }

    #[test]
    fn what_was_not_measured_is_not_inconclusive() {
        let all = Findings::of(&Sheet::linux().file);
        assert_eq!(all.too_few().map(|finding| finding.sentence.as_str()).collect::<Vec<_>>(), [] as [&str; 0]);
        let wine = Findings::of(&Sheet::windows().text(oversleep_record::FactName::OsWineVersion, "8.0").file);
        let said = |says: &str| wine.too_few().filter(|finding| finding.sentence.contains(says)).count();
        assert_eq!(said("say nothing about Windows"), 0);
        assert!(wine.unmeasured().count() > 5);
    }

    #[test]
    fn an_empty_result_says_so() {
        let summary = Findings::of(&Sheet::linux().file).summary();
        assert!(summary.starts_with("Nothing found; ") && summary.ends_with(" not measured."), "{summary}");
    }
}
