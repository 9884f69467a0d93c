//! The conclusion of a comparison: what differs, by how much, and what changed.

use oversleep_record::comparison::{
    Caveat, CaveatKind, Compared, Comparison, FactDifference, SeriesComparison, Verdict,
};
use oversleep_record::{ExperimentId, label};

use super::{fact_text, has_imported, letter, machines, series};
use crate::view::overview::Headline;
use crate::view::sheet::word;
use crate::words::{counted, grouped, percent, value};

/// The most facts that the conclusion names.
const FACTS_NAMED_MAX: usize = 4;

/// What else is not the same in two results, in a sentence: the reason for a difference is among these facts, or is none
/// that is recorded. Files of other programs state too few facts for that.
pub(super) fn changed(comparison: &Comparison) -> Option<String> {
    let differs = || comparison.verdicts(1).any(|(_, judged)| judged.verdict == Verdict::Differs);
    // What recorded them may make the difference.
    let in_two_ways = || comparison.caveats.iter().any(|caveat| caveat.kind == CaveatKind::OtherFollower);
    if comparison.results.len() != 2 || has_imported(comparison) || !differs() || in_two_ways() {
        return None;
    }
    let text = |fact: &FactDifference, index: usize| Some(fact_text(&fact.name, fact.values.get(index)?.as_ref()?));
    let known = |fact: &FactDifference| Some(format!("{} {} → {}", fact.name, text(fact, 0)?, text(fact, 1)?));
    let mut named: Vec<String> = comparison.facts.iter().filter_map(known).collect();
    // Facts of one system say nothing about another.
    if let [base, other] = &comparison.results[..]
        && base.platform.os != other.platform.os
    {
        let system = |result: &Compared| result.machine.first().cloned().unwrap_or_else(|| result.platform.os.clone());
        named.insert(0, format!("the system, {} → {}", system(base), system(other)));
    }
    if named.is_empty() {
        return Some(
            "No fact that matters for timing differs, so what else the machine did, or the program that was measured, makes the \
             difference."
                .to_owned(),
        );
    }
    let more = match named.len().saturating_sub(FACTS_NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {} below", counted(more, "more fact")),
    };
    let named = named.into_iter().take(FACTS_NAMED_MAX).collect::<Vec<_>>().join(", ");
    Some(format!("What changed from A to B: {named}{more}. The reason may be any of these."))
}

/// The result of comparing each result with the base, in a sentence.
pub(super) fn summary(comparison: &Comparison) -> Vec<String> {
    let mut sentences: Vec<String> = comparison.others().map(|result| against_base(comparison, result)).collect();
    let is_of_programs = comparison.results.iter().all(|result| result.command == "why");
    if is_of_programs && comparison.series.iter().all(|series| series.sides.len() < 2) {
        sentences.push("Nothing could be concluded. Measure the same on each machine.".to_owned());
    } else if !comparison.concludes() {
        sentences.push(format!(
            "Nothing could be concluded. Measure the same on each machine for longer ({}), and close other programs \
                 meanwhile.",
            longer(comparison)
        ));
    }
    sentences
}

/// A command that takes more values of what the results hold.
fn longer(comparison: &Comparison) -> &'static str {
    let all_by = |command: &str| comparison.results.iter().all(|result| result.command == command);
    if all_by("runtimes") {
        "`oversleep runtimes --thorough`, or some of them by name"
    } else if all_by("why") {
        "`oversleep why --for`, or a longer recording"
    } else if comparison.results.iter().all(|result| matches!(result.command.as_str(), "watch" | "serve")) {
        "`oversleep watch --for`"
    } else if has_imported(comparison) {
        "`oversleep waits NAME --request SPAN --count N`"
    } else {
        "`oversleep check --thorough`, or one wait with `--count`"
    }
}

/// How many of the series in common have which verdict at the median.
#[derive(Default)]
struct Tally {
    higher: u64,
    lower: u64,
    same: u64,
    uncertain: u64,
    few: u64,
    disturbed: u64,
    other: u64,
}

impl Tally {
    fn of(comparison: &Comparison, result: u32) -> Tally {
        let mut tally = Tally::default();
        for (series, judged) in comparison.verdicts(result) {
            let median = |result| series.side(result).and_then(|side| side.p50).map(|p50| p50.value);
            *match &judged.verdict {
                Verdict::Differs if median(result) > median(0) => &mut tally.higher,
                Verdict::Differs => &mut tally.lower,
                Verdict::Overlap if judged.is_the_same() => &mut tally.same,
                Verdict::Overlap => &mut tally.uncertain,
                Verdict::TooFew { .. } => &mut tally.few,
                Verdict::TooDisturbed { .. } => &mut tally.disturbed,
                Verdict::NotComparable { .. } => &mut tally.other,
            } += 1;
        }
        tally
    }

    fn all(&self) -> u64 {
        self.differ() + self.same + self.uncertain + self.few + self.disturbed + self.other
    }

    fn differ(&self) -> u64 {
        self.higher + self.lower
    }
}

fn against_base(comparison: &Comparison, result: u32) -> String {
    let (tally, name) = (Tally::of(comparison, result), letter(result));
    if tally.all() == 0 {
        let rule = if has_imported(comparison) { "; only the same wait with the same request is compared" } else { "" };
        return format!("{name} and A have no series in common{rule}.");
    }
    let mut parts = vec![match tally.differ() {
        0 => "none differs at the median".to_owned(),
        count => format!(
            "{} at the median ({} higher in {name}, {} lower)",
            if count == 1 { "1 differs".to_owned() } else { format!("{} differ", grouped(count)) },
            grouped(tally.higher),
            grouped(tally.lower)
        ),
    }];
    let more = [
        (tally.same, series::THE_SAME),
        (tally.uncertain, "inconclusive (difference within the uncertainty)"),
        (tally.disturbed, "inconclusive (disturbed)"),
        (tally.few, "inconclusive (too few values)"),
        (tally.other, "measured under other conditions than requested"),
    ];
    parts
        .extend(more.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{} {what}", grouped(*count))));
    let tails = match tails(comparison, result) {
        0 => String::new(),
        count => format!(" The p99 differs in {}.", counted(count, "series")),
    };
    format!("{name} against A: of {} in common, {}.{tails}", counted(tally.all(), "series"), parts.join(", "))
}

/// The most series that are headlines beside how many differ.
const HEADLINES_MAX: usize = 2;

/// The most series that the conclusion names.
const NAMED_MAX: usize = 3;

/// The series that differ from the base, the largest ratio of medians first; of each experiment one comes before any second
/// one. Those that a caveat calls unlike aren't among them.
fn differing(comparison: &Comparison, result: u32) -> Vec<(f64, &SeriesComparison)> {
    let has_other_cpus = |caveat: &Caveat| caveat.kind == CaveatKind::OtherCpus && caveat.result == result;
    let has_other_cpus = comparison.caveats.iter().any(has_other_cpus);
    let mut differing: Vec<(f64, &SeriesComparison)> = comparison
        .verdicts(result)
        .filter(|(_, judged)| judged.verdict == Verdict::Differs)
        .filter(|(series, _)| !(has_other_cpus && series.labels.get(label::THREADS).is_some()))
        .filter_map(|(series, judged)| Some((judged.ratio?, series)))
        .collect();
    differing.sort_by(|(one, _), (other, _)| other.ln().abs().total_cmp(&one.ln().abs()));
    let mut seen = Vec::new();
    let (first, more): (Vec<_>, Vec<_>) = differing.into_iter().partition(|(_, series)| {
        let is_first = !seen.contains(&series.experiment);
        seen.push(series.experiment);
        is_first
    });
    first.into_iter().chain(more).collect()
}

/// The medians of the base and of a result.
fn medians(series: &SeriesComparison, result: u32) -> Option<(String, String)> {
    let of = |index| Some(value(series.unit, series.side(index)?.p50?.value));
    Some((of(0)?, of(result)?))
}

/// `24 % of A's`, `1.50 times A's`.
fn of_base(ratio: f64) -> String {
    if ratio < 1.0 { format!("{} of A's", percent(ratio)) } else { format!("{} times A's", series::times(ratio)) }
}

/// What differs most at the median, and by how much.
pub(super) fn differ_most(comparison: &Comparison, result: u32) -> Option<String> {
    let named = |(ratio, series): (f64, &SeriesComparison)| {
        let (before, after) = medians(series, result)?;
        let name = match series.experiment {
            ExperimentId::Y1 => series::observed(series).to_string(),
            _ => series.key.to_string(),
        };
        Some(format!("{name} is {after} instead of {before} ({})", of_base(ratio)))
    };
    let named: Vec<String> = one_of_each(differing(comparison, result)).filter_map(named).take(NAMED_MAX).collect();
    (!named.is_empty()).then(|| format!("{} against A, what differs most: {}.", letter(result), named.join(", ")))
}

/// The first of each call or clock, of one measured quantity.
fn one_of_each(named: Vec<(f64, &SeriesComparison)>) -> impl Iterator<Item = (f64, &SeriesComparison)> {
    let mut seen = Vec::new();
    named.into_iter().filter(move |&(_, series)| {
        let one = (series.quantity, series.runtime.as_ref(), series.subject.as_str());
        let is_first = !seen.contains(&one);
        seen.push(one);
        is_first
    })
}

/// Of two results: how much differs, and what differs most.
pub(super) fn headlines(comparison: &Comparison) -> Vec<Headline> {
    let tally = Tally::of(comparison, 1);
    if comparison.results.len() != 2 || tally.all() == 0 {
        return Vec::new();
    }
    let count = Headline {
        what: "series in common that differ at the median".to_owned(),
        figure: format!("{} of {}", grouped(tally.differ()), grouped(tally.all())),
        of: match tally.differ() {
            0 => format!("{} {}", grouped(tally.same), series::THE_SAME),
            _ => format!("{} higher in B, {} lower", grouped(tally.higher), grouped(tally.lower)),
        },
    };
    let most = one_of_each(differing(comparison, 1)).filter_map(|(ratio, series)| {
        let (before, after) = medians(series, 1)?;
        let quantity = word(&series.quantity).replace('_', " ");
        Some(Headline {
            what: format!("{quantity} of {}", machines::in_words(series)),
            figure: format!("{before} → {after}"),
            // Boxes of different quantities stand side by side.
            of: format!("{} {quantity}", of_base(ratio)),
        })
    });
    [count].into_iter().chain(most.take(HEADLINES_MAX)).collect()
}

/// How many series differ in their tail.
fn tails(comparison: &Comparison, result: u32) -> usize {
    let sides = comparison.series.iter().filter_map(|series| series.side(result)?.against_base.as_ref()?.p99.as_ref());
    sides.filter(|judged| judged.verdict == Verdict::Differs).count()
}
