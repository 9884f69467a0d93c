//! The answers to what was asked.

use oversleep_lab::ask::{NoAnswer, Question, ask};
use oversleep_lab::{Laboratory, machines};
use oversleep_record::series::Pace;
use oversleep_record::{Environment, FactName};
use oversleep_report::ask::Reply;

use crate::args::AskArgs;
use crate::refusal::Refusal;
use crate::{conditions, machine, names};

impl AskArgs {
    /// The modelled machines that it names.
    ///
    /// # Errors
    /// Unknown machines, and figures that can't be changed like that.
    pub fn modelled(&self) -> Result<Vec<(String, Laboratory)>, Refusal> {
        self.on.iter().map(|name| Ok((name.clone(), machine::modelled(name, &self.model)?))).collect()
    }

    /// Asks each machine each question.
    ///
    /// # Errors
    /// Conditions that a machine can't have; the reason, if the only answer is that there is none.
    pub fn replies(&self, machines: &[(String, Laboratory)]) -> Result<Vec<Reply>, Refusal> {
        let mut replies = Vec::new();
        for (machine, lab) in machines {
            let modelled = lab.platform_id().modelled;
            let changes = if modelled.is_some() { changes(&lab.environment()) } else { Vec::new() };
            for subject in &self.questions {
                let usual = Question::of(subject.clone());
                let question = Question {
                    conditions: conditions::conditions(lab, &self.conditions)?,
                    neighbours: self.neighbour.clone(),
                    neighbours_left: self.after_neighbour,
                    pace: Some(self.pace.pace()),
                    count: self.count.unwrap_or(usual.count),
                    clock: self.conditions.clock.clone(),
                    ..usual
                };
                replies.push(Reply {
                    machine: machine.clone(),
                    modelled: modelled.clone(),
                    changes: changes.clone(),
                    question: subject.clone(),
                    under: self.under(&question),
                    answer: ask(lab, &question).map_err(|reason| with_suggestion(lab, &reason)),
                });
            }
        }
        if let [Reply { answer: Err(reason), .. }] = &replies[..] {
            return Err(Refusal::failed(reason.clone()));
        }
        Ok(replies)
    }

    /// What differs from an undisturbed machine.
    fn under(&self, question: &Question) -> Vec<(&'static str, String)> {
        let neighbours: Vec<String> = question.neighbours.iter().map(ToString::to_string).collect();
        let pace = self.pace.pace();
        let all = [
            ("neighbour", (!neighbours.is_empty() && !question.neighbours_left).then(|| neighbours.join(" and "))),
            ("after neighbour", question.neighbours_left.then(|| format!("{} exited", neighbours.join(" and ")))),
            ("conditions", (!question.conditions.is_as_found()).then(|| question.conditions.to_string())),
            ("pace", (pace != Pace::BackToBack).then(|| pace.to_string())),
            ("clock", question.clock.clone()),
        ];
        all.into_iter().filter_map(|(what, how)| Some((what, how?))).collect()
    }
}

/// What was changed of a model, its seed too.
fn changes(facts: &Environment) -> Vec<String> {
    let seed = facts.integer(FactName::ModelSeed).map(|seed| seed.to_string());
    let seed = seed.or_else(|| facts.text(FactName::ModelSeed).map(str::to_owned));
    let seed = seed.filter(|seed| *seed != machines::SEED.to_string());
    let set = facts.list(FactName::ModelSet).unwrap_or_default();
    set.iter().cloned().chain(seed.map(|seed| format!("seed {seed}"))).collect()
}

/// Why there is no answer, with the name that was probably meant.
fn with_suggestion(lab: &Laboratory, reason: &NoAnswer) -> String {
    let near = match reason {
        NoAnswer::Unknown { kind, name, .. } => names::nearest(name, &names::of(lab, *kind)),
        NoAnswer::Unavailable { .. } => None,
    };
    match near {
        Some(near) => format!("{reason}; did you mean '{near}'?"),
        None => reason.to_string(),
    }
}
