//! Checks that a report doesn't contradict itself: compares every sentence with the series, with its evidence and with
//! the other sentences. It runs in tests and in `cargo prove sentences`; no program needs it.

mod advice;
mod known;
mod words;

use oversleep_record::ResultFile;
use oversleep_record::finding::{Finding, Tried, Verdict};
use oversleep_record::series::Status;
use oversleep_record::words::{grouped, value};

use crate::registry::findings;
use crate::verdicts::{Validity, clock_table};
use known::{Known, spans};

pub use advice::largest_costs_by_name;
pub use words::in_report;

/// Pairs of findings, by name, that can't both be true of one machine.
const EXCLUSIVE: &[(&str, &str)] = &[("neighbour-raised-tick", "own-request-needed")];

/// Sentences whose figures are limits of the check itself, or are derived in another way, each with the meaning of its
/// figures.
const OWN_FIGURES: &[(&str, &str)] =
    &[("cgroup-quota", "what is left of a period when busy threads have used up the budget")];

/// The contradictions in the findings of a result: the finding's name and the fault, sorted by name. Findings are
/// computed from scratch, so a file of another version of oversleep is judged by this one.
pub fn contradictions(file: &ResultFile) -> Vec<(String, String)> {
    let all = findings(file);
    let mut wrong = Vec::new();
    for finding in &all {
        let mut note = |what: String| wrong.push((finding.name.clone(), what));
        evidence(file, finding, &mut note);
        if finding.verdict == Verdict::Found {
            figures(file, finding, &mut note);
            shares(finding, &mut note);
            remedies(finding, &mut note);
        }
        reasons(file, finding, &mut note);
    }
    let is_found = |name: &str| all.iter().any(|finding| finding.name == name && finding.verdict == Verdict::Found);
    for (one, other) in EXCLUSIVE {
        if is_found(one) && is_found(other) {
            wrong.push(((*one).to_owned(), format!("{other} was found, too")));
        }
    }
    fastest_clock(file, &all, &mut wrong);
    advice::check(file, &all, &mut wrong);
    wrong.sort();
    wrong
}

/// Checks that evidence which names a series agrees with that series.
fn evidence(file: &ResultFile, finding: &Finding, note: &mut impl FnMut(String)) {
    for evidence in &finding.evidence {
        let Some(series) = file.series(&evidence.source) else { continue };
        let Some((median, counted)) = evidence.text.strip_prefix("p50 ").and_then(|text| text.split_once(" (")) else {
            continue;
        };
        let Some(count) = counted.split(' ').next() else { continue };
        let holds = [series.calls(), &series.distribution].into_iter().any(|of| {
            let p50 = of.p50().map(|p50| value(series.unit, p50));
            grouped(i128::from(of.count())) == count && p50.is_some_and(|p50| median.split(", ").next() == Some(&p50))
        });
        if !holds {
            note(format!("{} holds something else than '{}'", evidence.source, evidence.text));
        }
    }
}

/// Checks that every span in a sentence comes from its evidence.
fn figures(file: &ResultFile, finding: &Finding, note: &mut impl FnMut(String)) {
    if OWN_FIGURES.iter().any(|(name, _)| *name == finding.name) {
        return;
    }
    let known = Known::of(file, finding);
    for figure in spans(&finding.sentence) {
        if !known.has(figure) {
            note(format!("nothing in its evidence is {}: {}", figure.text, finding.sentence));
        }
    }
}

/// Checks shares: none of nothing, none above 100 %, and no more cases than there are.
fn shares(finding: &Finding, note: &mut impl FnMut(String)) {
    let texts = finding.evidence.iter().map(|evidence| &evidence.text).chain([&finding.sentence]);
    for text in texts {
        let words: Vec<&str> = text.split_whitespace().collect();
        for triple in words.windows(3) {
            let number = |word: &str| word.trim_start_matches('(').replace(',', "").parse::<u64>().ok();
            if let (Some(some), "of", Some(all)) = (number(triple[0]), triple[1], number(triple[2]))
                && some > all
            {
                note(format!("{some} of {all} are too many: {text}"));
            }
        }
        for pair in words.windows(2).filter(|pair| pair[1].starts_with('%')) {
            if pair[0] == "0" || pair[0] == "NaN" {
                note(format!("a share of nothing: {text}"));
            }
        }
    }
}

/// Checks that a remedy which helped improved the figure.
fn remedies(finding: &Finding, note: &mut impl FnMut(String)) {
    for advice in &finding.advice {
        if let Tried::Measured { before_p50_ns, after_p50_ns, helped: true, .. } = advice.tried
            && after_p50_ns.unsigned_abs() >= before_p50_ns.unsigned_abs()
        {
            note(format!("{} helped, from {before_p50_ns} to {after_p50_ns} ns", advice.remedy));
        }
    }
}

/// Checks that data which a check is said to lack is in fact missing.
fn reasons(file: &ResultFile, finding: &Finding, note: &mut impl FnMut(String)) {
    let words: Vec<&str> = finding.sentence.split_whitespace().collect();
    if finding.verdict != Verdict::NotEnoughData {
        return;
    }
    let measured = |key: &str| file.series(key).filter(|series| !matches!(series.status, Status::Unavailable { .. }));
    if let [key, "was", "not", rest, ..] = words[..]
        && rest.starts_with("measured")
        && measured(key).is_some_and(|series| series.distribution.count() > 0)
    {
        note(format!("{key} was measured: {}", finding.sentence));
    }
    if let [key, "has", count, noun, ..] = words[..]
        && noun.starts_with("value")
        && let Some(series) = measured(key)
    {
        let counts = [series.calls(), &series.distribution].map(|of| grouped(i128::from(of.count())));
        if !counts.iter().any(|known| known == count) {
            note(format!("{key} has {} values: {}", counts[1], finding.sentence));
        }
    }
}

/// Checks that the recommended clock is valid in the table, and that no other sentence calls it useless.
fn fastest_clock(file: &ResultFile, all: &[Finding], wrong: &mut Vec<(String, String)>) {
    let name = "fastest-valid-clock";
    let found = |name: &str| all.iter().find(|finding| finding.name == name && finding.verdict == Verdict::Found);
    let Some(finding) = found(name) else { return };
    let Some((_, rest)) = finding.sentence.split_once("the fastest valid clock here is ") else { return };
    let clock = rest.split([':', ' ', ';', ',']).next().unwrap_or_default();
    let table = clock_table(file);
    if table.row(clock).is_none_or(|row| row.validity == Some(Validity::Invalid)) {
        wrong.push((name.to_owned(), format!("{clock} is not valid by the table")));
    }
    for other in ["coarse-clock-step", "cpu-time-clock", "tick-count-step", "coarse-system-time"] {
        let of_it = |finding: &&Finding| finding.sentence.split([' ', ',', ';', ':']).next() == Some(clock);
        if let Some(said) = found(other).filter(of_it) {
            wrong.push((name.to_owned(), format!("{clock} is recommended, but {other}: {}", said.sentence)));
        }
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::FactName;
    use oversleep_record::finding::{Evidence, Severity};

    use super::*;
    use crate::testing::Sheet;

    fn sheet() -> Sheet {
        let sheet = Sheet::linux().span(FactName::TimerSlack, 45_000);
        sheet.steady("B5/nanosleep/1ms", 66_000).steady("C2/nanosleep/1ms/slack=1ns", 16_000)
    }

    /// The faults of a finding with this sentence and evidence.
    fn wrong(sentence: &str, evidence: &[(&str, &str)]) -> Vec<String> {
        let evidence = evidence.iter().map(|&(source, text)| Evidence { source: source.into(), text: text.into() });
        let finding = Finding {
            id: "OVS-L001".into(),
            name: "timer-slack".into(),
            instance: None,
            summary: String::new(),
            severity: Severity::Cost,
            verdict: Verdict::Found,
            sentence: sentence.into(),
            more: Vec::new(),
            explained_ns: None,
            evidence: evidence.collect(),
            advice: Vec::new(),
        };
        let mut wrong = Vec::new();
        let file = sheet().file;
        super::evidence(&file, &finding, &mut |what| wrong.push(what));
        figures(&file, &finding, &mut |what| wrong.push(what));
        shares(&finding, &mut |what| wrong.push(what));
        reasons(&file, &Finding { verdict: Verdict::NotEnoughData, ..finding }, &mut |what| wrong.push(what));
        wrong
    }

    #[test]
    fn what_a_sentence_says_is_in_its_evidence() {
        let slack =
            &[("B5/nanosleep/1ms", "p50 66 µs (80 values)"), ("C2/nanosleep/1ms/slack=1ns", "p50 16 µs (80 values)")];
        for fine in [
            "with a slack of 1 ns, nanosleep was 16 µs late instead of 66 µs",
            "a 1 ms nanosleep took 1.07 ms, 50 µs of it by slack",
            "5 µs of that is more than the slack",
            "3 of 80 waits",
        ] {
            assert_eq!(wrong(fine, slack), [] as [&str; 0], "{fine}");
        }
        for false_one in ["nanosleep was 70 µs late", "90 of 80 waits", "it showed 0 % of the waits"] {
            assert_eq!(wrong(false_one, slack).len(), 1, "{false_one}");
        }
        assert_eq!(wrong("", &[("B5/nanosleep/1ms", "p50 65 µs (80 values)")]).len(), 1);
        assert_eq!(wrong("", &[("B5/nanosleep/1ms", "p50 66 µs (81 values)")]).len(), 1);
        assert_eq!(wrong("B5/nanosleep/1ms was not measured. Run `oversleep check`", &[]).len(), 1);
        assert_eq!(wrong("B5/nanosleep/1ms has 12 values and a conclusion needs 30", &[]).len(), 1);
    }

    #[test]
    fn exact_results_contradict_nothing() {
        assert_eq!(contradictions(&sheet().file), []);
    }
}
