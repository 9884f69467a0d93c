//! The tolerance for a predicted cost or wake-up, as a factor: for an unknown machine, it can't be smaller than the
//! differences between sources about such machines.

use super::observation::{Kind, Observation};
use crate::ask::{Question, Subject};
use crate::machines::{self, Differ, SOURCES_MIN, Statement};

/// The largest factor, however much sources differ.
pub const FACTOR_MAX: f64 = 2.0;

/// The tolerance for a predicted cost or wake-up, as a factor.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Allowance {
    pub factor: f64,
    /// Its origin.
    pub because: String,
}

impl Allowance {
    /// The tolerance of a row, from the other sources' figures for such machines; `None` for a row that rules decide,
    /// and if nobody states such a figure.
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
