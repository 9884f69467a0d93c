//! A published observation: what somebody measured, on which machine, and what a model must give to reproduce it.

use std::collections::BTreeMap;

use oversleep_record::Nanos;
use oversleep_record::conditions::Conditions;
use oversleep_record::series::Pace;
use oversleep_record::words::percent;
use serde::{Deserialize, Deserializer};

use crate::ask::question::{self, COUNT};
use crate::ask::{Answer, Question, Subject};

/// One row of the file of observations. `id` may end in `/part`: an observation that says several things has a row for
/// each, and is reproduced when all of them are.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// `O109`, `O169/2ms`.
    pub id: String,
    /// Who published it, where.
    pub source: String,
    /// What was published, in its own terms.
    pub published: String,
    /// Why the models don't cover it; then none of the fields below is there.
    pub uncovered: Option<String>,
    /// The profile.
    pub machine: Option<String>,
    /// What differs from the profile, as `--set` takes it.
    #[serde(default)]
    pub set: Vec<String>,
    /// The question.
    pub ask: Option<Subject>,
    /// Tunables that the asking process holds.
    #[serde(default)]
    pub own: BTreeMap<String, String>,
    /// What other processes hold of the resolution.
    #[serde(default)]
    pub neighbours: Vec<String>,
    /// Background load.
    pub load: Option<String>,
    /// How waits follow one another.
    pub pace: Option<Pace>,
    /// Values to take.
    pub count: Option<u64>,
    /// The clock that takes the timestamps.
    pub clock: Option<String>,
    /// What the model must give.
    pub expect: Option<Expect>,
    /// Why a figure may be off by more than 2 %.
    pub because: Option<String>,
}

/// What the model must give.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Expect {
    /// The mean, within a share of it.
    Mean {
        /// As published.
        mean: Span,
        /// Tolerated share.
        #[serde(default = "two_percent")]
        within: f64,
    },
    /// The median, within a share of it.
    P50 {
        /// As published.
        p50: Span,
        /// Tolerated share.
        #[serde(default = "two_percent")]
        within: f64,
    },
    /// The median of what the wait took beyond its request, within a share of it.
    Overshoot {
        /// As published.
        overshoot_p50: Span,
        /// Tolerated share.
        #[serde(default = "two_percent")]
        within: f64,
    },
    /// Wake-ups per second of a loop of such waits, within a share of it.
    Rate {
        /// As published.
        wakeups_per_second: f64,
        /// Tolerated share.
        #[serde(default = "two_percent")]
        within: f64,
    },
    /// A single published value, or several: each lies between the model's shortest and longest, give or take a share.
    Inside {
        /// As published.
        inside: Vec<Span>,
        /// Tolerated share.
        #[serde(default)]
        within: f64,
    },
    /// A published range: no value of the model leaves it, give or take a share.
    Range {
        /// As published: the shortest and the longest.
        range: [Span; 2],
        /// Tolerated share.
        #[serde(default)]
        within: f64,
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
        /// The multiple seen most.
        mostly: Span,
    },
    /// A shape: at least so many different whole milliseconds occur.
    Varied {
        /// How many.
        different_milliseconds: usize,
    },
    /// Another question gives the same: shortest, median and longest differ by no more than a span.
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

fn two_percent() -> f64 {
    0.02
}

/// A span as the data file writes it: `"15.6447 ms"`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span(f64);

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Span, D::Error> {
        let text = String::deserialize(deserializer)?;
        // Costs are fractions of a nanosecond, which a duration can't hold.
        let span = match text.strip_suffix(" ns").map(str::parse) {
            Some(Ok(ns)) => ns,
            _ => text.parse::<Nanos>().map_err(serde::de::Error::custom)?.0 as f64,
        };
        Ok(Span(span))
    }
}

impl Observation {
    /// The question it answers.
    ///
    /// # Errors
    /// What is wrong with the row.
    pub fn question(&self) -> Result<Question, String> {
        let subject = self.ask.clone().ok_or("it asks nothing and doesn't say why it is uncovered")?;
        let text = |error: question::QuestionError| error.to_string();
        let mut conditions = Conditions::as_found();
        for (tunable, setting) in &self.own {
            conditions = conditions.with(tunable, question::setting(setting).map_err(text)?);
        }
        conditions.load.extend(self.load.as_deref().map(question::load).transpose().map_err(text)?);
        Ok(Question {
            subject,
            conditions,
            neighbours: self
                .neighbours
                .iter()
                .map(|setting| question::setting(setting))
                .collect::<Result<_, _>>()
                .map_err(text)?,
            pace: self.pace,
            count: self.count.unwrap_or(COUNT),
            clock: self.clock.clone(),
        })
    }

    /// The observation it belongs to: the id without its part.
    pub fn whole(&self) -> &str {
        self.id.split('/').next().unwrap_or(&self.id)
    }
}

/// What a model gave for an observation.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Whether that is within what the row tolerates.
    pub reproduced: bool,
    /// The model's figure in the terms of the row: `mean 15.63 ms`.
    pub model: String,
}

/// How a row is compared with its model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tolerance {
    /// A mean, a median or a rate, within 2 %.
    Figure,
    /// The same within what its source leaves open, which is more.
    Loose,
    /// Values inside a range, or a range of values.
    Range,
    /// The shape of a distribution, or that something is not there.
    Shape,
}

impl Tolerance {
    /// All of them, strictest first.
    pub const ALL: [Tolerance; 4] = [Tolerance::Figure, Tolerance::Loose, Tolerance::Range, Tolerance::Shape];

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Tolerance::Figure => "a mean, median or rate within 2 %",
            Tolerance::Loose => "one within what its source leaves open",
            Tolerance::Range => "a range",
            Tolerance::Shape => "a shape, or an absence",
        }
    }
}

impl Expect {
    /// How it is compared with a model.
    pub fn tolerance(&self) -> Tolerance {
        match self {
            Expect::Mean { within, .. }
            | Expect::P50 { within, .. }
            | Expect::Overshoot { within, .. }
            | Expect::Rate { within, .. } => {
                if *within <= two_percent() {
                    Tolerance::Figure
                } else {
                    Tolerance::Loose
                }
            }
            Expect::Inside { .. } | Expect::Range { .. } | Expect::AtMost { .. } => Tolerance::Range,
            Expect::OneOf { .. }
            | Expect::Multiples { .. }
            | Expect::Varied { .. }
            | Expect::Agrees { .. }
            | Expect::Absent { .. } => Tolerance::Shape,
        }
    }

    /// Compares two answers that must agree to within a span.
    pub(super) fn agree(one: &Answer, other: &Answer, to: Span) -> Judged {
        let near = |of: fn(&Answer) -> f64| (of(one) - of(other)).abs() <= to.0;
        let reproduced = near(Answer::min_ns) && near(|answer| answer.quantile_ns(0.5)) && near(Answer::max_ns);
        Judged { reproduced, model: format!("{} and {}", range(one), range(other)) }
    }

    /// Compares an answer with it. `request` is the requested duration, if the question is about a wait.
    pub fn judge(&self, answer: &Answer, request: Option<Nanos>) -> Judged {
        let close = |value: f64, wanted: f64, share: f64| (value - wanted).abs() <= share * wanted.abs();
        let (reproduced, model) = match self {
            Expect::Mean { mean, within } => {
                (close(answer.mean_ns(), mean.0, *within), format!("mean {}", in_words(answer.mean_ns())))
            }
            Expect::P50 { p50, within } => {
                let median = answer.quantile_ns(0.5);
                (close(median, p50.0, *within), format!("p50 {}", in_words(median)))
            }
            Expect::Overshoot { overshoot_p50, within } => {
                let over = answer.quantile_ns(0.5) - request.map_or(0.0, |request| request.0 as f64);
                (close(over, overshoot_p50.0, *within), format!("overshoot p50 {}", in_words(over)))
            }
            Expect::Rate { wakeups_per_second, within } => {
                let rate = 1e9 / answer.mean_ns();
                (close(rate, *wakeups_per_second, *within), format!("{rate:.1}/s"))
            }
            Expect::Inside { inside, within } => {
                let (least, most) = (answer.min_ns() * (1.0 - within), answer.max_ns() * (1.0 + within));
                (inside.iter().all(|value| (least..=most).contains(&value.0)), range(answer))
            }
            Expect::Range { range: [least, most], within } => {
                let allowed = least.0 - within * least.0.abs()..=most.0 + within * most.0.abs();
                (allowed.contains(&answer.min_ns()) && allowed.contains(&answer.max_ns()), range(answer))
            }
            Expect::OneOf { one_of } => {
                let is = |value: f64, span: &Span| (value - span.0).abs() < 0.5;
                let only = answer.values_ns().iter().all(|value| one_of.iter().any(|span| is(*value, span)));
                let each = one_of.iter().all(|span| answer.values_ns().iter().any(|value| is(*value, span)));
                (only && each, range(answer))
            }
            Expect::Multiples { multiples_of, mostly } => multiples(answer, multiples_of.0, mostly.0),
            Expect::Varied { different_milliseconds } => {
                let mut whole: Vec<i64> = answer.values_ns().iter().map(|value| (value / 1e6) as i64).collect();
                whole.dedup();
                (whole.len() >= *different_milliseconds, format!("{} different whole ms", whole.len()))
            }
            Expect::AtMost { at_most } => {
                (answer.max_ns() <= at_most.0, format!("at most {}", in_words(answer.max_ns())))
            }
            Expect::Absent { .. } => (false, "it is there".to_owned()),
            // [`Expect::agree`] compares two answers.
            Expect::Agrees { .. } => (false, "one answer alone".to_owned()),
        };
        Judged { reproduced, model }
    }
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

fn in_words(ns: f64) -> String {
    if ns.abs() < 1_000.0 { format!("{ns:.1} ns") } else { Nanos(ns as i64).to_string() }
}
