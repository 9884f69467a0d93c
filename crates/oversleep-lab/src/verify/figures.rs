//! The published figures of a row, and their comparison with the model's.

use oversleep_record::Nanos;
use serde::{Deserialize, Deserializer};

use crate::ask::Answer;

/// Published figures, with the tolerance for the model's.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figures {
    /// The mean.
    pub mean: Option<Span>,
    /// The median.
    pub p50: Option<Span>,
    /// The shortest.
    pub min: Option<Span>,
    /// The longest.
    pub max: Option<Span>,
    /// The median of what the wait took beyond its request.
    pub overshoot_p50: Option<Span>,
    /// The mean of that.
    pub overshoot_mean: Option<Span>,
    /// The smallest of these, below zero if waits end early.
    pub overshoot_min: Option<Span>,
    /// The largest of these.
    pub overshoot_max: Option<Span>,
    /// Wake-ups per second of a loop of such waits.
    pub wakeups_per_second: Option<f64>,
    /// The standard deviation that the source states for the values behind its mean; or that of several means of the
    /// same quantity, each of which counts as one value.
    pub deviation: Option<Span>,
    /// The number of such values behind its mean.
    pub of: Option<u32>,
    /// Tolerated share of the published figure.
    #[serde(default = "two_percent")]
    pub within: f64,
    /// The tolerated factor, for costs and wake-ups: the factor by which the source's own figures differ.
    pub factor: Option<f64>,
    /// The unit that the source rounded to: the model's figure may be off by half of it.
    pub to_the: Option<Span>,
}

pub(super) fn two_percent() -> f64 {
    0.02
}

/// A span as the data file writes it: `"15.6447 ms"`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span(pub(super) f64);

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

/// A figure of an answer to a request in ns.
type Of = fn(&Answer, f64) -> f64;

impl Figures {
    /// Each figure by name, as published and as a function of an answer.
    pub(super) fn named(&self) -> Vec<(&'static str, f64, Of)> {
        let spans: [(&'static str, Option<Span>, Of); 8] = [
            ("mean", self.mean, |answer, _| answer.mean_ns()),
            ("p50", self.p50, |answer, _| answer.quantile_ns(0.5)),
            ("min", self.min, |answer, _| answer.min_ns()),
            ("max", self.max, |answer, _| answer.max_ns()),
            ("overshoot p50", self.overshoot_p50, |answer, request| answer.quantile_ns(0.5) - request),
            ("overshoot mean", self.overshoot_mean, |answer, request| answer.mean_ns() - request),
            ("overshoot min", self.overshoot_min, |answer, request| answer.min_ns() - request),
            ("overshoot max", self.overshoot_max, |answer, request| answer.max_ns() - request),
        ];
        let rate: Of = |answer, _| 1e9 / answer.mean_ns();
        let rate = self.wakeups_per_second.map(|published| (RATE, published, rate));
        let spans = spans.into_iter().filter_map(|(name, span, of)| Some((name, span?.0, of)));
        spans.chain(rate).collect()
    }

    pub(super) fn judge(&self, answer: &Answer, request: f64) -> (bool, String) {
        let named = self.named();
        let mut words = Vec::new();
        let mut reproduced = !named.is_empty();
        for (name, published, of) in named {
            let model = of(answer, request);
            reproduced &= self.tolerates(model, published);
            words.push(if name == RATE { format!("{model:.1}/s") } else { format!("{name} {}", in_words(model)) });
        }
        (reproduced, words.join(", "))
    }

    fn tolerates(&self, model: f64, published: f64) -> bool {
        match (self.factor, self.to_the) {
            (Some(factor), _) => model > 0.0 && (published / factor..=published * factor).contains(&model),
            (None, Some(unit)) => (model - published).abs() <= unit.0 / 2.0,
            (None, None) => (model - published).abs() <= self.sampling_error().max(self.within * published.abs()),
        }
    }

    pub(super) fn is_within(
        &self,
        factor: f64,
        answer: &Answer,
        rule: Option<&Answer>,
        request: Option<f64>,
    ) -> Option<bool> {
        let named = self.named();
        let is_lateness = |name: &str| matches!(name, "overshoot p50" | "overshoot mean");
        let is_cost = |name: &str| matches!(name, "p50" | "mean");
        if !named.iter().all(|(name, ..)| if rule.is_some() { is_lateness(name) } else { is_cost(name) }) {
            return None;
        }
        let request = request.unwrap_or(0.0);
        Some(named.iter().all(|(_, published, of)| {
            let exact = rule.map_or(0.0, |rule| of(rule, request));
            let (published, model) = (published - exact, of(answer, request) - exact);
            published > 0.0 && (published / factor..=published * factor).contains(&model)
        }))
    }

    /// The error that a mean of that many values with that deviation exceeds in one of twenty cases.
    pub(super) fn sampling_error(&self) -> f64 {
        match (self.deviation, self.of) {
            (Some(deviation), Some(of)) => 1.96 * deviation.0 / f64::from(of).sqrt(),
            _ => 0.0,
        }
    }
}

const RATE: &str = "wake-ups per second";

pub(super) fn in_words(ns: f64) -> String {
    if ns.abs() < 1_000.0 { format!("{ns:.1} ns") } else { Nanos(ns as i64).to_string() }
}
