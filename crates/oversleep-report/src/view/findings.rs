//! Findings in the order they are told, and what a remedy gained when it was tried.

use oversleep_explain as explain;
use oversleep_record::finding::{Finding, Severity, Tried, Verdict};
use oversleep_record::{Nanos, ResultFile};

/// All findings of a result, worked out from its data; those the file holds are what its writer's version saw.
pub struct Findings {
    all: Vec<Finding>,
}

impl Findings {
    /// Asks every check of the registry.
    pub fn of(file: &ResultFile) -> Findings {
        Findings { all: explain::findings(file) }
    }

    /// Found, of that severity.
    pub fn found(&self, severity: Severity) -> impl Iterator<Item = &Finding> {
        self.with(Verdict::Found).filter(move |finding| finding.severity == severity)
    }

    /// With that verdict.
    pub fn with(&self, verdict: Verdict) -> impl Iterator<Item = &Finding> {
        self.all.iter().filter(move |finding| finding.verdict == verdict)
    }

    /// What was found, in a sentence: `4 costs and 10 notes; 12 others were looked for and are not so here.`
    pub fn summary(&self) -> String {
        let counts: Vec<String> = SEVERITIES
            .iter()
            .map(|&severity| (self.found(severity).count(), noun(severity)))
            .filter(|&(count, _)| count > 0)
            .map(|(count, noun)| format!("{count} {noun}{}", if count == 1 { "" } else { "s" }))
            .collect();
        let found = match counts.as_slice() {
            [] => "Nothing was found".to_owned(),
            [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
            all => all.join(""),
        };
        let rest = [
            (Verdict::NotFound, "looked for and not so here"),
            (Verdict::NotEnoughData, "without enough data"),
            (Verdict::TooDisturbed, "too disturbed to conclude"),
        ];
        let rest: Vec<String> = rest
            .into_iter()
            .map(|(verdict, words)| (self.with(verdict).count(), words))
            .filter(|&(count, _)| count > 0)
            .map(|(count, words)| format!("{count} {words}"))
            .collect();
        if rest.is_empty() { format!("{found}.") } else { format!("{found}; {}.", rest.join(", ")) }
    }
}

/// The gravest first.
pub const SEVERITIES: [Severity; 3] = [Severity::Fault, Severity::Cost, Severity::Note];

/// One of them.
pub fn noun(severity: Severity) -> &'static str {
    match severity {
        Severity::Fault => "fault",
        Severity::Cost => "cost",
        Severity::Note => "note",
    }
}

/// The heading over all of them.
pub fn title(severity: Severity) -> &'static str {
    match severity {
        Severity::Fault => "Faults: timing a program can't trust",
        Severity::Cost => "Costs: time lost that a remedy gets back",
        Severity::Note => "Notes: good to know before choosing a call",
    }
}

/// What a remedy came to in words.
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
            let verdict = if *helped { "it helped" } else { "no help the rounds agree on" };
            let request = requested_ns.map(|asked| format!(" at {asked}")).unwrap_or_default();
            let instead = instead_of.as_ref().map(|other| format!(" instead of {other}")).unwrap_or_default();
            format!(
                "measured here on {subject}{instead}{request}: p50 {} → {}{}{p99}; {verdict}",
                Nanos(*before_p50_ns),
                Nanos(*after_p50_ns),
                change(*before_p50_ns, *after_p50_ns).map(|change| format!(" ({change})")).unwrap_or_default()
            )
        }
        Tried::Refused { why } => format!("tried here and refused: {why}"),
        Tried::NotTried { why } => format!("not tried: {why}"),
    }
}

/// The change in percent, where both are above zero; as a factor where percents would round to nothing left.
pub fn change(before: i64, after: i64) -> Option<String> {
    (before > 0 && after > 0).then(|| {
        if before >= after.saturating_mul(200) {
            return format!("{} times less", before / after);
        }
        let percent = (after as f64 / before as f64 - 1.0) * 100.0;
        let sign = if percent < 0.0 { "−" } else { "+" };
        format!("{sign}{:.0} %", percent.abs())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use oversleep_record::testing::Sheet;

    #[test]
    fn outcomes_read_as_sentences() {
        let measured = |helped, before_p99_ns| Tried::Measured {
            subject: "nanosleep".into(),
            instead_of: None,
            requested_ns: Some(Nanos::from_millis(1)),
            before_p50_ns: 66_100,
            after_p50_ns: 14_200,
            before_p99_ns,
            after_p99_ns: Some(30_000),
            helped,
        };
        assert_eq!(
            outcome(&measured(true, Some(98_000))),
            "measured here on nanosleep at 1 ms: p50 66.1 µs → 14.2 µs (−79 %), p99 98 µs → 30 µs; it helped"
        );
        assert_eq!(
            outcome(&measured(false, None)),
            "measured here on nanosleep at 1 ms: p50 66.1 µs → 14.2 µs (−79 %); no help the rounds agree on"
        );
        assert_eq!(change(-5, 3), None);
        assert_eq!(change(70_500, 111).as_deref(), Some("635 times less"));
    }

    #[test]
    fn an_empty_result_says_so() {
        let summary = Findings::of(&Sheet::linux().file).summary();
        assert!(summary.starts_with("Nothing was found; "), "{summary}");
    }
}
