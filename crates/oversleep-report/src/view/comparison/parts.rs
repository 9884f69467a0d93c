//! Which part of the lateness of observed waits changed.

use oversleep_record::Nanos;
use oversleep_record::comparison::{Comparison, Judgement, PartAgainst, SeriesComparison, Side, Verdict};
use oversleep_record::part::Part;

use super::{letter, series::observed};
use crate::view::table::{Cell, Columns, Section, Split, Table, ToCell, Tone};

/// Letters of a bar.
const BAR: usize = 32;

/// So many kinds of waits have a sentence each; of more, those that changed most.
const SENTENCES_MAX: usize = 8;

/// A side that was compared, with the base.
struct Pair<'a> {
    series: &'a SeriesComparison,
    base: &'a Side,
    other: &'a Side,
    parts: &'a [PartAgainst],
}

/// How a figure of a part moved.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moved {
    Shrank,
    Grew,
    Overlap,
    TooFew,
}

fn moved(judged: &Judgement, before: i64, after: i64) -> Moved {
    match judged.verdict {
        Verdict::Differs if after < before => Moved::Shrank,
        Verdict::Differs => Moved::Grew,
        Verdict::Overlap => Moved::Overlap,
        _ => Moved::TooFew,
    }
}

impl Pair<'_> {
    fn mean(side: &Side, part: Part) -> f64 {
        side.parts.iter().find(|of| of.part == part).map_or(0.0, |of| of.mean_ns)
    }

    fn p50(side: &Side, part: Part) -> i64 {
        side.parts.iter().find(|of| of.part == part).map_or(0, |of| of.p50.value)
    }

    /// The tail of a part; a part that isn't there was 0 in every wait.
    fn p99(side: &Side, part: Part) -> Option<i64> {
        match side.parts.iter().find(|of| of.part == part) {
            Some(of) => of.p99.map(|p99| p99.value),
            None => (side.count >= 1_000).then_some(0),
        }
    }

    /// How the median of a part moved, or its tail if the median didn't.
    fn moved(&self, of: &PartAgainst) -> Moved {
        let median = moved(&of.p50, Pair::p50(self.base, of.part), Pair::p50(self.other, of.part));
        match (median, &of.p99) {
            (Moved::Shrank | Moved::Grew, _) | (_, None) => median,
            (_, Some(p99)) => {
                let tail = |side| Pair::p99(side, of.part).unwrap_or(0);
                moved(p99, tail(self.base), tail(self.other))
            }
        }
    }

    /// The part whose mean shrank most, and by how much, if chance can't explain that.
    fn cured(&self) -> Option<(Part, f64)> {
        let by = |part: Part| Pair::mean(self.base, part) - Pair::mean(self.other, part);
        let shrank = self.parts.iter().filter(|of| self.moved(of) == Moved::Shrank).map(|of| (of.part, by(of.part)));
        shrank.filter(|&(_, by)| by > 0.0).max_by(|one, other| one.1.total_cmp(&other.1))
    }

    /// Whether the other side can be told from the base: its lateness, or a part of it.
    fn differs(&self) -> bool {
        let lateness = self.other.against_base.as_ref().map(|against| &against.p50.verdict);
        lateness == Some(&Verdict::Differs)
            || self.parts.iter().any(|of| matches!(self.moved(of), Moved::Shrank | Moved::Grew))
    }

    fn are_too_few(&self) -> bool {
        let is_few = |judged: &Judgement| !matches!(judged.verdict, Verdict::Differs | Verdict::Overlap);
        let lateness = self.other.against_base.as_ref().map(|against| &against.p50);
        lateness.is_none_or(is_few) && self.parts.iter().all(|of| self.moved(of) == Moved::TooFew)
    }

    /// By how much the mean lateness changed.
    fn change_ns(&self) -> u64 {
        self.other.mean.unwrap_or(0).abs_diff(self.base.mean.unwrap_or(0))
    }

    /// What changed, in sentences.
    fn in_words(&self) -> String {
        if self.are_too_few() {
            return "too few waits to compare".to_owned() + if self.parts.is_empty() { "." } else { " their parts." };
        }
        let mean = |side: &Side| Nanos(side.mean.unwrap_or(0));
        let (before, after) = (mean(self.base), mean(self.other));
        let grew: Vec<&str> =
            self.parts.iter().filter(|of| self.moved(of) == Moved::Grew).map(|of| of.part.about()).collect();
        let beside = if grew.is_empty() { String::new() } else { format!(" What grew: {}.", grew.join("; ")) };
        match self.cured() {
            Some((part, by)) => format!(
                "a wait is {after} late on average instead of {before}. What shrank most: {}, by {}.{beside}",
                part.about(),
                Nanos(by.round() as i64)
            ),
            None if self.parts.is_empty() => format!("a wait is {after} late on average instead of {before}."),
            None if grew.is_empty() => "no part differs by more than chance.".to_owned(),
            None => format!("no part shrank.{beside}"),
        }
    }

    /// The waits, and what they are compared with where that is another call or request.
    fn name(&self) -> String {
        let known = observed(self.series);
        let call = self.other.subject.clone().unwrap_or_else(|| known.call.clone());
        let requested_ns = self.other.requested_ns.or(known.requested_ns);
        let is_same = self.other.subject.is_none() && self.other.requested_ns.is_none();
        let elsewhere = oversleep_record::Identity { call, requested_ns, ..known.clone() };
        match is_same {
            true => known.to_string(),
            false => format!("{known}, and the only other waits of this thread: {elsewhere}"),
        }
    }

    /// Both sides as bars, on one scale.
    fn bars(&self) -> Option<Table> {
        // Waits that were followed in different ways have other parts.
        if self.parts.is_empty() {
            return None;
        }
        let all = |side: &Side| side.parts.iter().map(|of| of.mean_ns.max(0.0)).sum::<f64>();
        let longest = all(self.base).max(all(self.other)).max(1.0);
        let columns = Columns::new()
            .words("", |side: &&Side| letter(side.result))
            .figure("count", |side| side.count)
            .figure("mean", |side| side.mean.map(Nanos))
            .split("parts on average", BAR, move |side| Split::of(|part| Pair::mean(side, part) / longest));
        columns.table(self.name(), [self.base, self.other])
    }

    fn table(&self) -> Option<Table> {
        let (base, other) = (letter(self.base.result), letter(self.other.result));
        let side = |side: &Side, part: Part| Nanos(Pair::p50(side, part));
        let tail = |side: &Side, part: Part| Pair::p99(side, part).map(Nanos);
        let mean = |side: &Side, part: Part| Nanos(Pair::mean(side, part).round() as i64);
        let columns = Columns::new()
            .words("part", |of: &&PartAgainst| of.part.about())
            .figure(format!("{base} p50"), |of| side(self.base, of.part))
            .figure(format!("{other} p50"), |of| side(self.other, of.part))
            .figure(format!("{base} p99"), |of| tail(self.base, of.part))
            .rank(2)
            .figure(format!("{other} p99"), |of| tail(self.other, of.part))
            .rank(2)
            .figure(format!("{base} mean"), |of| mean(self.base, of.part))
            .rank(1)
            .figure(format!("{other} mean"), |of| mean(self.other, of.part))
            .rank(1)
            .words("verdict", |of| verdict(self.moved(of)));
        columns.table("Each part; the means add up", self.parts)
    }
}

fn verdict(moved: Moved) -> Cell {
    match moved {
        Moved::Shrank => "shrank".toned(Tone::Good),
        Moved::Grew => "grew".toned(Tone::Warn),
        Moved::Overlap => "no difference shown".toned(Tone::Soft),
        Moved::TooFew => "too few waits".toned(Tone::Soft),
    }
}

/// Observed waits that the base and another result have.
fn pairs(comparison: &Comparison) -> impl Iterator<Item = Pair<'_>> {
    let observed = comparison.series.iter().filter(|series| series.experiment == oversleep_record::ExperimentId::Y1);
    observed.flat_map(|series| {
        series.sides.iter().filter_map(move |other| {
            let (base, against) = (series.side(0)?, other.against_base.as_ref()?);
            Some(Pair { series, base, other, parts: &against.parts })
        })
    })
}

/// The section, if the results are about observed programs.
pub(super) fn section(comparison: &Comparison) -> Option<Section> {
    let tables: Vec<Table> = pairs(comparison).flat_map(|pair| pair.bars().into_iter().chain(pair.table())).collect();
    let section = Section::new("parts", "Where the lateness went").tables(tables);
    (!section.tables.is_empty()).then_some(Section { is_captioned: true, ..section })
}

/// What changed in each kind of waits, in a sentence. Of many kinds, what didn't change is one sentence.
pub(super) fn summary(comparison: &Comparison) -> Vec<String> {
    let has_many = comparison.results.len() > 2;
    let in_words = |pair: &Pair<'_>| {
        let result = if has_many { format!("{}, ", letter(pair.other.result)) } else { String::new() };
        format!("{result}{}: {}", pair.name(), pair.in_words())
    };
    // A kind of waits is compared with the base once in each of several results.
    let (one, several) = if has_many { ("comparison", "comparisons") } else { ("kind", "kinds") };
    let all: Vec<Pair<'_>> = pairs(comparison).collect();
    if all.len() <= SENTENCES_MAX {
        return all.iter().map(in_words).collect();
    }
    let (mut changed, same): (Vec<Pair<'_>>, Vec<Pair<'_>>) = all.into_iter().partition(Pair::differs);
    changed.sort_by_key(|pair| std::cmp::Reverse(pair.change_ns()));
    let mut said: Vec<String> = changed.iter().take(SENTENCES_MAX).map(in_words).collect();
    if let Some(more @ 1..) = changed.len().checked_sub(SENTENCES_MAX) {
        said.push(format!("{more} more {} of waits changed less, below.", if more == 1 { one } else { several }));
    }
    let (few, same): (Vec<Pair<'_>>, Vec<Pair<'_>>) = same.into_iter().partition(Pair::are_too_few);
    for (kinds, what) in [(same, "no part differs by more than chance"), (few, "too few waits to compare")] {
        match kinds.as_slice() {
            [] => {}
            [pair] => said.push(in_words(pair)),
            many => said.push(format!("{} {several} of waits: {what}.", many.len())),
        }
    }
    said
}
