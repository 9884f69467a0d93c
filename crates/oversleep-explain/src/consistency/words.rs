//! The rules about a report as it is printed.

use oversleep_record::finding::{Finding, Verdict};

/// The contradictions between a printed report and its findings, or its model: what it is about, and the fault. `is_assumed`
/// says whether no publication states a figure of the model, by its path.
pub fn in_report(findings: &[Finding], text: &str, is_assumed: impl Fn(&str) -> bool) -> Vec<(String, String)> {
    // A report is broken into lines.
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut wrong = clock_source(findings, &text);
    wrong.extend(headline(&text, is_assumed).into_iter().map(|what| ("bottom line".to_owned(), what)));
    wrong
}

/// Checks that the words beside the clock source say what the finding says.
fn clock_source(findings: &[Finding], text: &str) -> Vec<(String, String)> {
    const NAME: &str = "clock-is-system-call";
    let Some(finding) = findings.iter().find(|finding| finding.name == NAME) else { return Vec::new() };
    let says = match finding.verdict {
        Verdict::Found => "(no system call)",
        Verdict::NotFound => "(by system call)",
        _ => return Vec::new(),
    };
    let is_wrong = text.contains(says);
    is_wrong
        .then(|| (NAME.to_owned(), format!("the clock source is '{says}': {}", finding.sentence)))
        .into_iter()
        .collect()
}

/// Checks that no figure of the headline is a model's assumption.
fn headline(text: &str, is_assumed: impl Fn(&str) -> bool) -> Vec<String> {
    let mut wrong = Vec::new();
    if text.contains("A 1 ms sleep takes ") && is_assumed("wake.cost") {
        wrong.push("how long a sleep takes is a headline, and the model assumes it".to_owned());
    }
    let read = text.to_lowercase();
    let read = read.split_once("a clock read takes ").and_then(|(_, read)| read.split_once(" ("));
    if let Some((clock, _)) = read.and_then(|(_, clock)| clock.split_once(')'))
        && is_assumed(&format!("costs.{clock}"))
    {
        wrong.push(format!("what a read of {clock} takes is a headline, and the model assumes it"));
    }
    wrong
}

#[cfg(test)]
mod tests {
    use oversleep_record::FactName;

    use super::*;
    use crate::findings;
    use crate::testing::Sheet;

    /// Each rule with a report that broke it.
    #[test]
    fn words_beside_the_clock_source_and_assumed_headlines_are_contradictions() {
        let all = findings(&Sheet::linux().flag(FactName::ClocksourceVdso, false).file);
        let names = |text: &str, assumed: &str| {
            in_report(&all, text, |path| path == assumed).into_iter().map(|(name, _)| name).collect::<Vec<_>>()
        };
        assert_eq!(names("clocksource hpet (no\n  system call)", ""), ["clock-is-system-call"]);
        assert!(names("clocksource hpet (by system call)", "").is_empty());
        let line = "A 1 ms sleep takes 1.47 ms (nanosleep); a clock\nread takes 30 ns (std-instant).";
        assert_eq!(names(line, "wake.cost"), ["bottom line"]);
        assert_eq!(names(line, "costs.std-instant"), ["bottom line"]);
        assert!(names(line, "costs.tsc").is_empty());
    }
}
