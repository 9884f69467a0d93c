//! The entries of the ledger: questions with answers, and published figures.

use std::collections::BTreeMap;

use oversleep_record::Nanos;
use oversleep_record::series::Pace;
use oversleep_system::runtime_calls;
use serde::Deserialize;

use super::super::expect::Expect;
use super::super::figures::{Figures, Span};
use super::super::judge::{machine_of, rule_alone};
use super::super::{Kind, Observation, decides};
use crate::ask::{Subject, ask};

/// Questions that were put to the models of one commit.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Round {
    /// The day, as `2026-11-29`.
    pub date: String,
    /// The commit of the models that answered.
    pub models: String,
    /// What was to be searched for, and which machine stands for which: written down before any figure was read.
    pub plan: String,
    /// The questions.
    pub questions: Vec<Answered>,
}

/// A question, and what the models answered.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answered {
    /// `A17`.
    pub id: String,
    /// The system that the published figure is of: `windows`, `freebsd`.
    pub system: String,
    /// The modelled machine that stands for it.
    pub on: Option<String>,
    /// The question.
    pub ask: Option<Subject>,
    /// Changes to the machine, as for `--set`.
    #[serde(default)]
    pub set: Vec<String>,
    /// Tunables that the asking process holds.
    #[serde(default)]
    pub own: BTreeMap<String, String>,
    /// The settings of the resolution that other processes hold.
    #[serde(default)]
    pub neighbours: Vec<String>,
    /// Background load.
    pub load: Option<String>,
    /// What decides it: a rule must agree within 2 % or its source's rounding, anything else within a factor of 2.
    pub kind: Option<Kind>,
    /// The answer in ns: the shortest, the median, the mean and the longest.
    pub ns: Option<[f64; 4]>,
    /// The part of a wait's mean that the rules alone decide, in ns: the factor applies to the rest.
    #[serde(default)]
    pub rule: f64,
    /// Why no model answers: it counts as missed.
    pub uncovered: Option<String>,
}

/// The largest factor between a published cost, or what a rule leaves of a wait, and the model's.
pub const FACTOR: f64 = 2.0;

impl Answered {
    /// Puts it to the models of this tree: the answer, the kind and the rule's part, as the ledger has them.
    ///
    /// # Errors
    /// Why no model answers.
    pub fn answered(mut self) -> Result<Answered, String> {
        let row = self.observation();
        let question = row.question()?;
        let machine = machine_of(&row, None)?;
        if let Some(ns) = self.intervals()? {
            (self.kind, self.ns) = (Some(Kind::Rule), Some(ns));
            return Ok(self);
        }
        let answer = ask(&machine, &question).map_err(|error| error.to_string())?;
        self.kind = Some(decides(&row)?);
        if let (Some(Kind::Cost), Subject::Wait { .. }) = (self.kind, &question.subject) {
            self.rule = rule_alone(&row, &question, None)?.map_or(0.0, |answer| answer.mean_ns());
        }
        self.ns = Some([answer.min_ns(), answer.quantile_ns(0.5), answer.mean_ns(), answer.max_ns()]);
        Ok(self)
    }

    /// The time between two runs of a call at a fixed rate, which is what its programs measure: its span, give or take the
    /// difference of two latenesses. `None` for other calls, and where it can't keep up.
    fn intervals(&self) -> Result<Option<[f64; 4]>, String> {
        let Some(Subject::Wait { name, .. }) = &self.ask else { return Ok(None) };
        let pace = runtime_calls::pace(name);
        if pace != Pace::Periodic {
            return Ok(None);
        }
        let row = Observation { pace: Some(pace), ..self.observation() };
        let answer = ask(&machine_of(&row, None)?, &row.question()?).map_err(|error| error.to_string())?;
        let (span, differ) = (self.request_ns(), answer.max_ns() - answer.min_ns());
        // Where a tick is longer than the span, several runs fall due at one tick. The rest is what wake-ups differ by.
        let keeps_up = differ < 1.2 * span;
        Ok(keeps_up.then_some([(span - differ).max(0.0), span, span, span + differ]))
    }

    /// The command that asks it.
    pub fn command(&self) -> String {
        let question = self.ask.as_ref().map(ToString::to_string).unwrap_or_default();
        let mut words = format!("oversleep ask '{question}' --on {}", self.on.as_deref().unwrap_or_default());
        self.set.iter().for_each(|change| words.push_str(&format!(" --set {change}")));
        self.own.iter().for_each(|(tunable, setting)| words.push_str(&format!(" --{tunable} {setting}")));
        self.neighbours.iter().for_each(|setting| words.push_str(&format!(" --neighbour {setting}")));
        self.load.iter().for_each(|load| words.push_str(&format!(" --load {load}")));
        words
    }

    /// The request of a wait, in ns.
    pub(super) fn request_ns(&self) -> f64 {
        match self.ask {
            Some(Subject::Wait { request: Nanos(ns), .. }) => ns as f64,
            _ => 0.0,
        }
    }

    fn observation(&self) -> Observation {
        let any = Some(Span(1.0));
        Observation {
            id: self.id.clone(),
            source: String::new(),
            by: None,
            published: String::new(),
            uncovered: None,
            outside: None,
            kind: None,
            machine: self.on.clone(),
            set: self.set.clone(),
            ask: self.ask.clone(),
            own: self.own.clone(),
            neighbours: self.neighbours.clone(),
            load: self.load.clone(),
            pace: None,
            count: None,
            clock: None,
            expect: Some(Expect::Figures(Figures { p50: any, mean: any, ..Figures::default() })),
            because: None,
        }
    }
}

/// What a published figure is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Of {
    /// The shortest value.
    Min,
    /// The median, or what the source calls typical.
    P50,
    /// The mean.
    Mean,
    /// The longest value.
    Max,
}

/// How much of the measurement a source states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub enum Grade {
    /// System, call, request and state.
    A,
    /// All but one of these.
    B,
    /// Hearsay: it shows a direction.
    C,
}

impl Grade {
    /// `A`.
    pub fn letter(self) -> &'static str {
        match self {
            Grade::A => "A",
            Grade::B => "B",
            Grade::C => "C",
        }
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Grade::A => "A: system, call, request and state are stated",
            Grade::B => "B: one of these is missing",
            Grade::C => "C: hearsay, for direction only",
        }
    }
}

/// A published figure, read after its question was answered.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Found {
    /// The question.
    pub to: String,
    /// What it is of.
    pub of: Of,
    /// As published: `15.6 ms`. The last digit says how far it was rounded.
    pub figure: String,
    /// Whether the figure is what a wait took beyond its request.
    #[serde(default)]
    pub late: bool,
    /// How much the source states.
    pub grade: Grade,
    /// The address.
    pub source: String,
    /// Its words, in short.
    pub says: String,
}

impl Found {
    /// The published figure in ns, and half of the unit of its last digit.
    ///
    /// # Errors
    /// It is no figure.
    pub fn ns(&self) -> Result<(f64, f64), String> {
        let wrong = || format!("'{}' is no figure like '15.6 ms'", self.figure);
        let (digits, unit) = self.figure.split_once(' ').ok_or_else(wrong)?;
        let number: f64 = digits.parse().map_err(|_| wrong())?;
        let scale = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];
        let (_, scale) = scale.into_iter().find(|(known, _)| *known == unit).ok_or_else(wrong)?;
        let places = digits.split_once('.').map_or(0, |(_, places)| places.len());
        Ok((number * scale, scale * 0.5 * 10f64.powi(-(places as i32))))
    }
}
