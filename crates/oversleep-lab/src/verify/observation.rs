//! A published observation: the measurement, the machine, and the answer with which a model reproduces it.

use std::collections::BTreeMap;

use oversleep_record::Nanos;
use oversleep_record::conditions::Conditions;
use oversleep_record::series::Pace;
use oversleep_system::runtime_calls;
use serde::Deserialize;

use super::expect::Expect;
use crate::ask::question;
use crate::ask::{Question, Subject};

/// One row of the file of observations. `id` may end in `/part`: an observation with several statements has a row for
/// each, and is reproduced if all of them are.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// `O109`, `O169/2ms`.
    pub id: String,
    /// The publication: the id of a source.
    pub source: String,
    /// The reporter, if the source has several.
    pub by: Option<String>,
    /// The published statement, in its own terms.
    pub published: String,
    /// Why no model covers it, though one could: it counts as missed. The fields below are then absent.
    pub uncovered: Option<String>,
    /// Why no model can or should make the statement: a policy, a program, a single draw. It doesn't count. The fields
    /// below are then absent, too.
    pub outside: Option<String>,
    /// What decides it.
    pub kind: Option<Kind>,
    /// The profile.
    pub machine: Option<String>,
    /// Changes to the profile, as for `--set`.
    #[serde(default)]
    pub set: Vec<String>,
    /// The question.
    pub ask: Option<Subject>,
    /// Tunables that the asking process holds.
    #[serde(default)]
    pub own: BTreeMap<String, String>,
    /// The settings of the resolution that other processes hold.
    #[serde(default)]
    pub neighbours: Vec<String>,
    /// Background load.
    pub load: Option<String>,
    /// The pace of the waits.
    pub pace: Option<Pace>,
    /// Values to take.
    pub count: Option<u64>,
    /// The clock that takes the timestamps.
    pub clock: Option<String>,
    /// The expected answer of the model.
    pub expect: Option<Expect>,
    /// The reason for the tolerance, if it is not 2 %.
    pub because: Option<String>,
}

/// What decides a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Ticks, grids, rounding, whose request applies: the rules of a system, the same on each of its machines.
    Rule,
    /// Properties of one machine: the cost of a read, a wake-up or a yield, how often a near miss of an interrupt ends
    /// a wait, the timer behind it. [`decides`](super::decides()) distinguishes the two.
    Cost,
}

impl Kind {
    /// Both.
    pub const ALL: [Kind; 2] = [Kind::Rule, Kind::Cost];

    /// The id in the files of observations.
    pub fn id(self) -> &'static str {
        match self {
            Kind::Rule => "rule",
            Kind::Cost => "cost",
        }
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Kind::Rule => "rules of ticks, grids, rounding and arbitration",
            Kind::Cost => "costs, wake-ups and what else is a machine's own",
        }
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
            neighbours_left: false,
            pace: self.pace,
            count: self.count.unwrap_or(runtime_calls::count(Nanos::ZERO)),
            clock: self.clock.clone(),
        })
    }

    /// The observation it belongs to: the id without its part.
    pub fn whole(&self) -> &str {
        self.id.split('/').next().unwrap_or(&self.id)
    }
}
