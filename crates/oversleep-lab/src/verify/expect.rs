//! The model's expected answer for an observation, and how it is compared.

use oversleep_record::Nanos;
use oversleep_record::words::percent;
use serde::Deserialize;

use super::figures::{Figures, Span, in_words, two_percent};
use super::tolerance::{Judged, Tolerance};
use crate::ask::{Answer, Subject};

/// The expected answer.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Expect {
    /// Figures of the distribution, each within the tolerance.
    Figures(Figures),
    /// Anything else.
    Other(Other),
}

/// Expectations other than a single figure.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Other {
    /// Published values, which must lie between the model's first and last percentile. A model with a wide range would
    /// predict nothing, so these two may differ by `NARROW` at most.
    Inside {
        /// As published.
        inside: Vec<Span>,
        /// Tolerated share.
        #[serde(default = "two_percent")]
        within: f64,
    },
    /// A published range. All values of the model must lie within a narrow one; a wide one must match the model's own.
    Range {
        /// As published: the shortest and the longest.
        range: [Span; 2],
        /// Tolerated share.
        #[serde(default = "two_percent")]
        within: f64,
    },
    /// Published values that may be a sample of the model's distribution (Kolmogorov–Smirnov test, 5 %).
    Sample {
        /// As published.
        sample: Vec<Span>,
    },
    /// A set: every value is one of these, and each occurs.
    OneOf {
        /// As published.
        one_of: Vec<Span>,
    },
    /// A shape: every value is within a millisecond of a multiple, and more than half are the multiple named.
    Multiples {
        /// The grid.
        multiples_of: Span,
        /// The most frequent multiple.
        mostly: Span,
    },
    /// A shape: at least this many different whole milliseconds occur.
    Varied {
        /// How many.
        different_milliseconds: usize,
    },
    /// Another question gives the same answer: shortest, median and longest differ by no more than a span.
    Agrees {
        /// The other question.
        agrees_with: Subject,
        /// The span.
        to: Span,
    },
    /// No value is above.
    AtMost {
        /// The bound.
        at_most: Span,
    },
    /// The machine has no such thing.
    Absent {
        /// Always true.
        absent: bool,
    },
}

/// The ratio of the longest to the shortest, above which a range is wide.
pub const NARROW: f64 = 1.25;

impl Expect {
    /// How it is compared with a model.
    pub fn tolerance(&self) -> Tolerance {
        match self {
            Expect::Figures(Figures { factor: Some(_), .. }) => Tolerance::Factor,
            Expect::Figures(Figures { to_the: Some(_), .. }) => Tolerance::Rounded,
            Expect::Figures(Figures { deviation: Some(_), .. }) => Tolerance::Sampled,
            Expect::Figures(_) => Tolerance::Figure,
            Expect::Other(Other::Inside { .. } | Other::Range { .. } | Other::Sample { .. }) => Tolerance::Range,
            Expect::Other(_) => Tolerance::Shape,
        }
    }

    /// The tolerance of the comparison, in words.
    pub(super) fn held_to(&self) -> String {
        match self {
            Expect::Figures(Figures { factor: Some(factor), .. }) => {
                format!("a factor of {factor}, by which its source's own figures differ")
            }
            Expect::Figures(Figures { to_the: Some(unit), .. }) => {
                format!("half of {}, to which its source rounded", in_words(unit.0))
            }
            Expect::Figures(figures @ Figures { deviation: Some(_), .. }) => {
                format!("{}, the sampling error of its source", in_words(figures.sampling_error()))
            }
            Expect::Figures(Figures { within, .. })
            | Expect::Other(Other::Inside { within, .. } | Other::Range { within, .. }) => percent(*within),
            Expect::Other(_) => "the shape".to_owned(),
        }
    }

    /// The possible rounding of the source's figures, in ns.
    pub(super) fn rounded_by_ns(&self) -> f64 {
        match self {
            Expect::Figures(Figures { to_the: Some(unit), .. }) => unit.0 / 2.0,
            _ => 0.0,
        }
    }

    /// The figures of an answer that the row concerns: those that it names, or the median and the mean.
    pub(super) fn figures_of(&self, answer: &Answer, request: Option<Nanos>) -> Vec<f64> {
        let request = request.map_or(0.0, |request| request.0 as f64);
        match self {
            Expect::Figures(figures) => figures.named().iter().map(|(_, _, of)| of(answer, request)).collect(),
            Expect::Other(_) => vec![answer.quantile_ns(0.5), answer.mean_ns()],
        }
    }

    /// What is wrong with the tolerance that the row states; only costs may differ by a factor.
    pub fn problem(&self, may_be_off_by_a_factor: bool, has_reason: bool) -> Option<&'static str> {
        let share = match self {
            Expect::Figures(figures) => {
                if figures.named().is_empty() {
                    return Some("it names no figure");
                }
                match figures.factor {
                    Some(_) if !may_be_off_by_a_factor => return Some("a rule has no factor"),
                    Some(factor) if !(1.0..=2.0).contains(&factor) => return Some("a factor is from 1 to 2"),
                    _ => {}
                }
                if figures.deviation.is_some() != figures.of.is_some_and(|of| of > 0) {
                    return Some("a deviation needs the number of values");
                }
                figures.within
            }
            Expect::Other(Other::Inside { within, .. } | Other::Range { within, .. }) => *within,
            Expect::Other(_) => 0.0,
        };
        let is_special = matches!(self.tolerance(), Tolerance::Factor | Tolerance::Rounded | Tolerance::Sampled);
        match () {
            () if share > two_percent() => Some("more than 2 % is tolerated"),
            () if is_special && !has_reason => Some("it doesn't say where its tolerance comes from"),
            () => None,
        }
    }

    /// Compares two answers that must agree to within a span.
    pub(super) fn agree(one: &Answer, other: &Answer, to: Span) -> Judged {
        let near = |of: fn(&Answer) -> f64| (of(one) - of(other)).abs() <= to.0;
        let reproduced = near(Answer::min_ns) && near(|answer| answer.quantile_ns(0.5)) && near(Answer::max_ns);
        Judged::of(reproduced, format!("{} and {}", range(one), range(other)))
    }

    /// Compares an answer with it. `request` is the requested duration, if the question is about a wait.
    pub fn judge(&self, answer: &Answer, request: Option<Nanos>) -> Judged {
        let (reproduced, model) = match self {
            Expect::Figures(figures) => figures.judge(answer, request.map_or(0.0, |request| request.0 as f64)),
            Expect::Other(other) => other.judge(answer),
        };
        Judged::of(reproduced, model)
    }

    /// Whether the part of the answer beyond the rule is within that factor of the published one: the whole of a cost;
    /// for a wait, its lateness less that of the rule, which is exact. `rule` is the answer of a machine where a
    /// wake-up takes no time. `None` if the row states no such figure.
    pub(super) fn is_within(
        &self,
        factor: f64,
        answer: &Answer,
        rule: Option<&Answer>,
        request: Option<Nanos>,
    ) -> Option<bool> {
        let Expect::Figures(figures) = self else { return None };
        let request = request.map(|request| request.0 as f64);
        figures.is_within(factor, answer, rule, request)
    }
}

impl Other {
    fn judge(&self, answer: &Answer) -> (bool, String) {
        let (min, max) = (answer.min_ns(), answer.max_ns());
        match self {
            Other::Inside { inside, within } => {
                // The first value of a run begins anywhere in a tick.
                let (min, max) = (answer.quantile_ns(0.01), answer.quantile_ns(0.99));
                let model = min * (1.0 - within)..=max * (1.0 + within);
                let is_narrow = max <= min * NARROW;
                let why = if is_narrow { "" } else { ", which would admit almost anything" };
                (is_narrow && inside.iter().all(|value| model.contains(&value.0)), range(answer) + why)
            }
            Other::Range { range: [least, most], within } => {
                let (near_least, near_most) = (within * least.0.abs(), within * most.0.abs());
                let allowed = least.0 - near_least..=most.0 + near_most;
                let is_inside = allowed.contains(&min) && allowed.contains(&max);
                let is_the_same = (min - least.0).abs() <= near_least && (max - most.0).abs() <= near_most;
                (if most.0 <= least.0 * NARROW { is_inside } else { is_the_same }, range(answer))
            }
            Other::Sample { sample } => {
                let (distance, most) = (distance(answer, sample), distance_max(sample.len()));
                (distance <= most, format!("{}, distance {distance:.2}, at most {most:.2}", range(answer)))
            }
            Other::OneOf { one_of } => {
                let is = |value: f64, span: &Span| (value - span.0).abs() < 0.5;
                let only = answer.values_ns().iter().all(|value| one_of.iter().any(|span| is(*value, span)));
                let each = one_of.iter().all(|span| answer.values_ns().iter().any(|value| is(*value, span)));
                (only && each, range(answer))
            }
            Other::Multiples { multiples_of, mostly } => multiples(answer, multiples_of.0, mostly.0),
            Other::Varied { different_milliseconds } => {
                let mut whole: Vec<i64> = answer.values_ns().iter().map(|value| (value / 1e6) as i64).collect();
                whole.dedup();
                (whole.len() >= *different_milliseconds, format!("{} different whole ms", whole.len()))
            }
            Other::AtMost { at_most } => (max <= at_most.0, format!("at most {}", in_words(max))),
            Other::Absent { .. } => (false, "it is there".to_owned()),
            // [`Expect::agree`] compares two answers instead.
            Other::Agrees { .. } => (false, "one answer alone".to_owned()),
        }
    }
}

/// The largest difference between the cumulative shares of the model's values and of the published ones.
fn distance(answer: &Answer, sample: &[Span]) -> f64 {
    let mut sample: Vec<f64> = sample.iter().map(|span| span.0).collect();
    sample.sort_by(f64::total_cmp);
    let values = answer.values_ns();
    let share = |count: usize, of: usize| count as f64 / of as f64;
    let differs = |(rank, point): (usize, &f64)| {
        let up_to = share(values.partition_point(|value| value <= point), values.len());
        let below = share(values.partition_point(|value| value < point), values.len());
        (up_to - share(rank + 1, sample.len())).abs().max((below - share(rank, sample.len())).abs())
    };
    sample.iter().enumerate().map(differs).fold(0.0, f64::max)
}

/// The critical value of that difference at 95 % (M. A. Stephens, Journal of the American Statistical Association 69,
/// 1974, table 1A).
fn distance_max(count: usize) -> f64 {
    let root = (count as f64).sqrt();
    1.358 / (root + 0.12 + 0.11 / root)
}

fn multiples(answer: &Answer, grid: f64, mostly: f64) -> (bool, String) {
    let near = |value: f64, wanted: f64| (value - wanted).abs() <= 1e6;
    let on_grid = answer.values_ns().iter().all(|&value| near(value, (value / grid).round() * grid));
    let usual = answer.values_ns().iter().filter(|&&value| near(value, mostly)).count();
    let share = usual as f64 / answer.values_ns().len() as f64;
    let on = if on_grid { "all on the grid" } else { "off the grid" };
    (on_grid && share > 0.5, format!("{on}, {} at {}", percent(share), in_words(mostly)))
}

fn range(answer: &Answer) -> String {
    format!("{} to {}", in_words(answer.min_ns()), in_words(answer.max_ns()))
}
