//! Checks that a report doesn't contradict itself: compares every sentence with the series, with its evidence and with
//! the other sentences. It runs in tests and in `cargo prove sentences`; no program needs it.

mod advice;
mod words;

use oversleep_record::conditions::Outcome;
use oversleep_record::environment::FactValue;
use oversleep_record::finding::{Finding, Tried, Verdict};
use oversleep_record::series::{Quantity, Status};
use oversleep_record::words::{grouped, value};
use oversleep_record::{Distribution, FactName, Nanos, ResultFile, Series};

use crate::registry::{entry, findings};
use crate::verdicts::{Validity, clock_table};

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

/// A span as written in a sentence.
#[derive(Clone, Copy, Debug)]
struct Written<'a> {
    text: &'a str,
    ns: f64,
    /// Half of its last digit.
    rounding_ns: f64,
}

/// The spans of a text: `66.1 µs`, `−200 ns`. Thousands are apart by commas.
fn spans(text: &str) -> Vec<Written<'_>> {
    let mut found = Vec::new();
    let starts = text.char_indices().filter(|&(at, first)| {
        let before = text[..at].chars().next_back();
        first.is_ascii_digit() && !before.is_some_and(|before| before.is_alphanumeric() || "._,-/".contains(before))
    });
    for (at, _) in starts {
        let rest = &text[at..];
        let number_end =
            rest.find(|next: char| !(next.is_ascii_digit() || next == '.' || next == ',')).unwrap_or(rest.len());
        let number = rest[..number_end].trim_end_matches(['.', ',']);
        let Some(after) = rest[number.len()..].strip_prefix(' ') else { continue };
        let unit = after.split(|next: char| !next.is_alphanumeric()).next().unwrap_or_default();
        let length = match unit {
            "ns" => 1.0,
            "µs" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            _ => continue,
        };
        let plain = number.replace(',', "");
        let Ok(digits) = plain.parse::<f64>() else { continue };
        let decimals = plain.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        let rounding = 0.5 * length / 10_f64.powi(i32::try_from(decimals).unwrap_or(0));
        // A trailing zero of three digits is not written.
        let rounding_ns = if decimals < 2 && digits < 100.0 { rounding.min(digits * length * 0.006) } else { rounding };
        found.push(Written { text: &rest[..number.len() + 1 + unit.len()], ns: digits * length, rounding_ns });
    }
    found
}

/// The spans that a finding may mention, in ns.
struct Known(Vec<f64>);

impl Known {
    fn of(file: &ResultFile, finding: &Finding) -> Known {
        let mut known = Known(Vec::new());
        let cited: Vec<&Series> = finding.evidence.iter().flat_map(|one| cited(file, &one.source)).collect();
        let slack = file.environment.nanos(FactName::TimerSlack).map(|slack| slack.0 as f64);
        let mut medians = Vec::new();
        for series in &cited {
            medians.extend(known.series(series));
        }
        for (at, one) in medians.iter().enumerate() {
            let differences: Vec<f64> = medians[at + 1..].iter().map(|other| (one - other).abs()).collect();
            // The part of a difference that the slack doesn't explain.
            known.0.extend(slack.iter().flat_map(|slack| differences.iter().map(move |found| (found - slack).abs())));
            known.0.extend(differences);
        }
        for text in finding.evidence.iter().map(|evidence| evidence.text.as_str()) {
            known.text(text);
        }
        // A finding may repeat the constants that its page explains.
        if let Some(entry) = entry(&finding.id) {
            [entry.summary, entry.meaning, entry.how_we_know, entry.what_to_do]
                .into_iter()
                .for_each(|text| known.text(text));
        }
        for fact in file.environment.facts.values() {
            if let FactValue::Nanos(span) = fact.value {
                known.0.push(span.0.abs_diff(0) as f64);
            }
        }
        for clock in &file.clocks {
            let steps = clock.steps.as_ref();
            let spans = [clock.stated_step_ns, steps.and_then(|of| of.median_ns), steps.and_then(|of| of.smallest_ns)];
            known.0.extend(spans.into_iter().flatten().map(|span| span.0.abs_diff(0) as f64));
        }
        known
    }

    /// Adds the figures of a series; returns its median and the median duration.
    fn series(&mut self, series: &Series) -> Vec<f64> {
        let requested = series.requested_ns.unwrap_or_default();
        let mut medians = Vec::new();
        for of in [series.calls(), &series.distribution] {
            let quantile = |of: &Distribution, at: f64| of.quantile(at).map(|figure| figure as f64);
            let scale = if series.unit == oversleep_record::series::Unit::Ps { 1e-3 } else { 1.0 };
            let extremes = [of.min(), of.max()].into_iter().flatten().map(|figure| figure as f64);
            let figures: Vec<f64> =
                [0.01, 0.1, 0.5, 0.9, 0.99].into_iter().filter_map(|at| quantile(of, at)).chain(extremes).collect();
            for figure in figures {
                self.0.push((figure * scale).abs());
                // The duration that follows from a lateness, and the lateness that follows from a duration.
                match series.quantity {
                    Quantity::Lateness => self.0.push((figure + requested.0 as f64).abs()),
                    _ => self.0.push((figure - requested.0 as f64).abs()),
                }
            }
            medians.extend(of.p50().map(|p50| p50 as f64 * scale));
        }
        self.0.extend(of_split(series));
        self.0.extend([series.requested_ns, series.rounded_ns].into_iter().flatten().map(|span| span.0 as f64));
        let granted = series.conditions.outcomes.values().filter_map(|outcome| match outcome {
            Outcome::Applied { now, .. } => Some(now),
            Outcome::AlreadySo { is } => Some(is),
            Outcome::Denied { .. } => None,
        });
        series.conditions.requested.values().chain(granted).for_each(|setting| self.text(&setting.to_string()));
        // Only the key has the requests of neighbours: `neighbour=1ms`.
        let parts = series.key.as_str().split(['/', '=', '+']);
        self.0.extend(parts.filter_map(|part| part.parse::<Nanos>().ok()).map(|span| span.0 as f64));
        medians
    }

    fn text(&mut self, text: &str) {
        self.0.extend(spans(text).iter().map(|span| span.ns));
    }

    fn has(&self, figure: Written<'_>) -> bool {
        // The figures from which another one was computed were rounded, too.
        self.0.iter().any(|known| (known - figure.ns).abs() <= figure.rounding_ns * 1.01 + known * 1e-3)
    }
}

/// The series that a source names: one key, or keys in a list.
fn cited<'a>(file: &'a ResultFile, source: &str) -> Vec<&'a Series> {
    let keys = source.split(" and ").flat_map(|part| part.split(", "));
    keys.filter_map(|key| file.series(key)).collect()
}

fn of_split(series: &Series) -> Vec<f64> {
    let Some(split) = &series.split else { return Vec::new() };
    let parts = [&split.total, &split.timer, &split.run_queue, &split.wake_return, &split.awake_before];
    let figures =
        |of: &&Distribution| [of.p50().map(|p50| p50 as f64), of.safe_quantile(0.99).map(|p99| p99 as f64), of.mean()];
    parts.iter().flat_map(figures).flatten().map(f64::abs).collect()
}

#[cfg(test)]
mod tests {
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
    fn a_span_is_known_to_half_of_its_last_digit() {
        let found: Vec<(f64, f64)> =
            spans("0.25 ms, 66.1 µs and 1,234 ns").iter().map(|span| (span.ns, span.rounding_ns)).collect();
        assert_eq!(found, [(250_000.0, 5_000.0), (66_100.0, 50.0), (1_234.0, 0.5)]);
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
    fn spans_are_read_as_they_are_written() {
        let read = |text| spans(text).iter().map(|span| span.ns).collect::<Vec<_>>();
        assert_eq!(read("1.5 ms (in 1,024 of 2 s), p50 66 µs/wait, CLOCK_5 ms"), [1.5e6, 2e9, 66e3]);
        assert_eq!(read("−200 ns, 3 CPUs, 5 msec, 12.5 %"), [200.0]);
    }

    #[test]
    fn exact_results_contradict_nothing() {
        assert_eq!(contradictions(&sheet().file), []);
    }
}
