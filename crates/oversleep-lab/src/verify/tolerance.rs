//! How exactly a model is held to an observation. A rule is held to 2 %, and a figure that was taken from the row's own
//! source to how exactly that source measured. A cost or wake-up that is predicted for a machine of which nothing is known
//! can be no more exact than sources differ about such machines.

use super::observation::{Kind, Observation};
use crate::ask::{Question, Subject};
use crate::machines::{self, Differ, SOURCES_MIN, Statement};

/// What a model gave for an observation.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Whether that is within what is tolerated.
    pub reproduced: bool,
    /// Whether it is within what the row itself states: how exactly its source measured and printed.
    pub as_exactly: bool,
    /// What it was held to, in words.
    pub held_to: String,
    /// Whether that is the factor by which sources differ about such machines.
    pub is_of_machines: bool,
    /// The model's figure in the terms of the row: `mean 15.63 ms`.
    pub model: String,
}

impl Judged {
    /// Held to what the row states alone.
    pub(super) fn of(reproduced: bool, model: String) -> Judged {
        Judged { reproduced, as_exactly: reproduced, held_to: String::new(), is_of_machines: false, model }
    }
}

/// How a row is compared with its model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tolerance {
    /// Figures within 2 %.
    Figure,
    /// Figures that the source rounded.
    Rounded,
    /// Means of few values, whose standard deviation the source states.
    Sampled,
    /// Figures within the factor by which the source's own differ.
    Factor,
    /// Costs and wake-ups that are predicted, within the factor by which other sources differ about them.
    Machines,
    /// A range of values, or a sample.
    Range,
    /// The shape of a distribution, a bound, or that something is not there.
    Shape,
}

impl Tolerance {
    /// All of them, strictest first.
    pub const ALL: [Tolerance; 7] = [
        Tolerance::Figure,
        Tolerance::Rounded,
        Tolerance::Sampled,
        Tolerance::Factor,
        Tolerance::Machines,
        Tolerance::Range,
        Tolerance::Shape,
    ];

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Tolerance::Figure => "a figure within 2 %",
            Tolerance::Rounded => "a figure within half of the unit that its source rounded to",
            Tolerance::Sampled => {
                "a mean of few values or runs, within the sampling error that its source's deviation comes to"
            }
            Tolerance::Factor => "a cost within the factor by which its source's own figures differ",
            Tolerance::Machines => {
                "a predicted cost or wake-up within the factor by which other sources differ, 2 at most"
            }
            Tolerance::Range => "a range, or a sample",
            Tolerance::Shape => "a shape, a bound or an absence",
        }
    }
}

/// No factor exceeds this, whatever sources differ by.
pub const FACTOR_MAX: f64 = 2.0;

/// By what factor a predicted cost or wake-up may be off.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Allowance {
    pub factor: f64,
    /// How it came about.
    pub because: String,
}

impl Allowance {
    /// That of a row, from what sources other than its own say about the figure on such machines; `None` for a row that
    /// rules decide, and where nobody states such a figure.
    ///
    /// # Errors
    /// There is no such machine.
    pub(super) fn of(
        observation: &Observation,
        question: &Question,
        is_real_time: bool,
    ) -> Result<Option<Allowance>, String> {
        let (Some(Kind::Cost), Some(machine)) = (observation.kind, observation.machine.as_deref()) else {
            return Ok(None);
        };
        let source = observation.source.as_str();
        let (family, stated) = match &question.subject {
            Subject::Cost { clock } => ("costs", machines::costs_stated(machine, clock, source)),
            Subject::Wait { request, .. } => ("wake", machines::wakes_stated(machine, *request, is_real_time, source)),
            Subject::Yield { .. } => ("wake", machines::yields_stated(machine, source)),
            _ => return Ok(None),
        };
        let stated: Vec<Statement> = stated.map_err(|error| error.to_string())?;
        let differ = match stated.len() {
            0..SOURCES_MIN => machines::usual_ratio(family, source),
            _ => machines::differ(&stated),
        };
        Ok(differ.map(Allowance::from))
    }
}

impl From<Differ> for Allowance {
    fn from(differ: Differ) -> Allowance {
        let factor = differ.ratio.min(FACTOR_MAX);
        let most = if differ.ratio > FACTOR_MAX { ", which differ by more" } else { "" };
        let because = match differ.between.as_slice() {
            [low, high] => format!("between {low} and {high}{most}"),
            _ => "by which two sources usually differ about such a figure".to_owned(),
        };
        Allowance { factor, because }
    }
}
