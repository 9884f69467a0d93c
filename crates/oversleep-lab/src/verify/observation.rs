//! A published observation: what somebody measured, on which machine, and what a model must give to reproduce it.

use std::collections::BTreeMap;

use oversleep_record::conditions::Conditions;
use oversleep_record::series::Pace;
use serde::Deserialize;

use super::expect::Expect;
use crate::ask::question::{self, COUNT};
use crate::ask::{Question, Subject};

/// One row of the file of observations. `id` may end in `/part`: an observation that says several things has a row for
/// each, and is reproduced when all of them are.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// `O109`, `O169/2ms`.
    pub id: String,
    /// Who published it, where: the id of a source.
    pub source: String,
    /// Who of several reporters there.
    pub by: Option<String>,
    /// What was published, in its own terms.
    pub published: String,
    /// Why the models don't cover it, though one could: it counts as missed. Then none of the fields below is there.
    pub uncovered: Option<String>,
    /// Why no model can or should say it: a policy, a program, a single draw. It doesn't count. Nor are the fields below
    /// there then.
    pub outside: Option<String>,
    /// What decides it.
    pub kind: Option<Kind>,
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
    /// Where the tolerance comes from, if it is not 2 %.
    pub because: Option<String>,
}

/// What decides a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Ticks, grids, rounding, whose request holds: the rules of a system, the same on each of its machines.
    Rule,
    /// What is one machine's own: what reading, waking up or yielding costs, how often a near miss of an interrupt ends a
    /// wait, the timer behind it. [`decides`](super::decides()) tells the two apart.
    Cost,
}

impl Kind {
    /// Both.
    pub const ALL: [Kind; 2] = [Kind::Rule, Kind::Cost];

    /// As the files of observations have it.
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
            count: self.count.unwrap_or(COUNT),
            clock: self.clock.clone(),
        })
    }

    /// The observation it belongs to: the id without its part.
    pub fn whole(&self) -> &str {
        self.id.split('/').next().unwrap_or(&self.id)
    }
}
