//! An answer: the measured values, their figures, and the rule behind them.

use std::fmt;

use oversleep_record::series::{Pace, Quantity, Series, Status, Unit};
use oversleep_record::{Distribution, Nanos, Unavailable};
use oversleep_system::runtime_calls::RuntimeClock;

use crate::catalogue::Kind;

/// The meaning of an answer's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The quantity in the question: the duration of a call, the cost of a read, the step of a clock.
    Itself,
    /// The lateness of each deadline of a schedule. It isn't the duration of the call, which began late or early, or
    /// was not made if the deadline had passed.
    Lateness,
}

impl Meaning {
    /// A value with it: `15.6 ms`, `934 µs late`.
    pub fn words(self, ns: f64) -> String {
        let span = Nanos(ns as i64);
        match self {
            Meaning::Itself => span.to_string(),
            Meaning::Lateness if ns < 0.0 => format!("{} early", -span),
            Meaning::Lateness => format!("{span} late"),
        }
    }
}

/// Figures of a modelled machine, and where they come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cited {
    /// By their paths: `timers.tick = 15.625ms`.
    pub figures: Vec<String>,
    /// Who states them, what, and where.
    pub source: String,
}

/// The figures and the source in a line.
impl fmt::Display for Cited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.figures.join(", "), self.source)
    }
}

/// The measured values in ns, smallest first, and the rule behind them.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    values_ns: Vec<f64>,
    rule: Option<String>,
    sources: Vec<Cited>,
    meaning: Meaning,
    /// The distribution of all values, if there are too many to keep one by one.
    all: Option<All>,
    stopped: Nanos,
}

/// A distribution in the unit of its series: ns = base + value × scale.
#[derive(Clone, Debug, PartialEq)]
struct All {
    distribution: Distribution,
    base: f64,
    scale: f64,
}

impl All {
    fn ns(&self, value: f64) -> f64 {
        self.base + value * self.scale
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoAnswer {
    /// The machine has no such clock, wait, tunable or load.
    #[error("{machine} has no {} '{name}'", word(*kind))]
    Unknown {
        /// The machine's name.
        machine: String,
        /// The kind of thing that was requested.
        kind: Kind,
        /// As typed.
        name: String,
    },
    /// The machine has it but can't use it.
    #[error("{what}: {reason}")]
    Unavailable {
        /// What.
        what: String,
        /// Why.
        reason: Unavailable,
    },
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Clock => "clock",
        Kind::Wait => "wait",
        Kind::Handoff => "hand-off",
        Kind::Tunable => "tunable",
        Kind::Load => "load",
        Kind::Strategy => "idle strategy",
    }
}

impl Answer {
    /// `None` without values, or if a value is NaN.
    pub(crate) fn of(mut values_ns: Vec<f64>) -> Option<Answer> {
        if values_ns.is_empty() || values_ns.iter().any(|value| !value.is_finite()) {
            return None;
        }
        values_ns.sort_by(f64::total_cmp);
        Some(Answer {
            values_ns,
            rule: None,
            sources: Vec::new(),
            meaning: Meaning::Itself,
            all: None,
            stopped: Nanos::ZERO,
        })
    }

    /// The values of a series: lateness as the duration of the call if each call was its own deadline, costs in ns.
    ///
    /// # Errors
    /// Why the series has no values.
    pub(super) fn of_series(series: &Series) -> Result<Answer, Unavailable> {
        if let Status::Unavailable { reason } = &series.status {
            return Err(reason.clone());
        }
        let (base, meaning) = match (series.quantity, series.requested_ns, series.pace) {
            (Quantity::Lateness, _, Some(Pace::Periodic)) => (0.0, Meaning::Lateness),
            (Quantity::Lateness, Some(requested), _) => (requested.0 as f64, Meaning::Itself),
            _ => (0.0, Meaning::Itself),
        };
        let scale = if series.unit == Unit::Ps { 1e-3 } else { 1.0 };
        let values = series.samples.value.iter().map(|value| base + value as f64 * scale).collect();
        let kept = Answer::of(values).ok_or_else(|| Unavailable::failed("measuring", "it gave no value"))?;
        let all = || All { distribution: series.distribution.clone(), base, scale };
        let stopped = series.disturbance().stalled_ns.unwrap_or_default();
        Ok(Answer { meaning, stopped, all: (series.samples.beyond_cap > 0).then(all), ..kept })
    }

    /// The values of a distribution, without samples: ns = base + value × scale.
    pub(crate) fn of_distribution(distribution: &Distribution, base: f64, scale: f64) -> Option<Answer> {
        const KEPT_MAX: u64 = 1_000;
        let all = All { distribution: distribution.clone(), base, scale };
        let thin = distribution.count().div_ceil(KEPT_MAX).max(1);
        let of_bucket = |(value, count): (i64, u64)| {
            std::iter::repeat_n(all.ns(value as f64), usize::try_from(count.div_ceil(thin)).unwrap_or(0))
        };
        let values = distribution.buckets().flat_map(of_bucket).collect();
        Some(Answer { all: Some(all.clone()), ..Answer::of(values)? })
    }

    /// The same answer with the rule behind it, and the sources of its figures.
    pub(super) fn explained(self, rule: Option<String>, sources: Vec<Cited>) -> Answer {
        Answer { rule, sources, ..self }
    }

    /// The same by a clock of a runtime: a step is what its value is rounded to at least, and a read takes what the runtime
    /// does besides.
    pub(super) fn through(mut self, clock: &RuntimeClock, is_step: bool) -> Answer {
        let seen = |ns: f64| if is_step { clock.step_ns(ns) } else { clock.cost_ns(ns) };
        self.values_ns.iter_mut().for_each(|ns| *ns = seen(*ns));
        if let Some(all) = self.all.as_mut().filter(|_| !is_step) {
            (all.base, all.scale) = (seen(all.base), all.scale * f64::from(clock.reads));
        }
        self
    }

    /// The figures of the model that decide, and the source of each.
    pub fn sources(&self) -> &[Cited] {
        &self.sources
    }

    /// How long this process was stopped during the measurement, as far as it is known.
    pub fn stopped(&self) -> Nanos {
        self.stopped
    }

    /// The values that are kept one by one, smallest first: all of them up to a cap.
    pub fn values_ns(&self) -> &[f64] {
        &self.values_ns
    }

    /// The number of all values.
    pub fn count(&self) -> u64 {
        self.all.as_ref().map_or(self.values_ns.len() as u64, |all| all.distribution.count())
    }

    /// Each value with its count, smallest first. Beyond the cap, values are within 0.1 %.
    pub fn counted_ns(&self) -> Vec<(f64, u64)> {
        match &self.all {
            Some(all) => all.distribution.buckets().map(|(value, count)| (all.ns(value as f64), count)).collect(),
            None => self.values_ns.iter().map(|&value| (value, 1)).collect(),
        }
    }

    /// The meaning of the values.
    pub fn meaning(&self) -> Meaning {
        self.meaning
    }

    /// What a runtime makes of the request, and the machine's rule, which only a model knows.
    pub fn rule(&self) -> Option<&str> {
        self.rule.as_deref()
    }

    /// A figure of all values: from their distribution, if not all are kept one by one.
    fn figure(&self, of_all: impl Fn(&Distribution) -> Option<f64>, of_kept: impl Fn(&[f64]) -> f64) -> f64 {
        let figure = self.all.as_ref().and_then(|all| Some(all.ns(of_all(&all.distribution)?)));
        figure.unwrap_or_else(|| of_kept(&self.values_ns))
    }

    /// The smallest.
    pub fn min_ns(&self) -> f64 {
        self.figure(|all| Some(all.min()? as f64), |kept| kept[0])
    }

    /// The largest.
    pub fn max_ns(&self) -> f64 {
        self.figure(|all| Some(all.max()? as f64), |kept| kept[kept.len() - 1])
    }

    /// The mean.
    pub fn mean_ns(&self) -> f64 {
        self.figure(Distribution::mean, |kept| kept.iter().sum::<f64>() / kept.len() as f64)
    }

    /// The value that this share of all values doesn't exceed: 0.5 gives the median.
    pub fn quantile_ns(&self, share: f64) -> f64 {
        let rank = |kept: &[f64]| (share * kept.len() as f64).ceil().max(1.0) as usize;
        self.figure(|all| Some(all.quantile(share)? as f64), |kept| kept[rank(kept).min(kept.len()) - 1])
    }
}
