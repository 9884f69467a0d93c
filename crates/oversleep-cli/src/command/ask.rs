//! `ask`: one question to one or several machines: what would this wait, clock or fork-join give there, and why?

use std::path::PathBuf;

use clap::Args;
use oversleep_lab::ask::{NoAnswer, Question, Subject, ask};
use oversleep_lab::{Laboratory, machines};
use oversleep_record::conditions::Setting;
use oversleep_record::series::Pace;
use oversleep_record::{Environment, FactName};
use oversleep_report::ask::{Reply, document, text};

use crate::args::{ConditionArgs, MachineArgs, ModelArgs, PaceArg, help, value};
use crate::exit::{Exit, Failure};
use crate::output::stdout;
use crate::request;
use crate::width::width;

/// Ask a machine: how long does this call take there, and which rule decides that?
///
/// A modelled machine answers at once, in virtual time. Without --on or --like, oversleep measures this machine.
#[derive(Args, Debug)]
#[command(before_help = help::ask(), after_help = help::CODES)]
pub struct Ask {
    /// Questions: 'sleep(1ms)', 'WAIT(SPAN)', 'yield(NAME)', 'step(CLOCK)', 'cost(CLOCK)', 'shows(CLOCK)',
    /// 'forkjoin(blocked)', 'resolution()'
    ///
    /// Name a wait or a clock as oversleep does, or by its call (WaitForSingleObject, CLOCK_MONOTONIC_COARSE). You can
    /// also name a wait as a runtime does: parkNanos, Thread.sleep, time.sleep, sleep_for, setTimeout, WM_TIMER. No runtime
    /// is run: a sourced record says which call it makes of the span, and the answer names the record.
    #[arg(value_name = "QUESTION", required = true)]
    questions: Vec<Subject>,

    /// Modelled machines to ask, side by side, like windows-10-2004,windows-11 [default: this machine]
    #[arg(long, value_name = "MACHINE", value_delimiter = ',')]
    on: Vec<String>,

    /// Ask a model of the machine that this result file was taken on
    #[arg(long, value_name = "FILE")]
    like: Option<PathBuf>,

    #[command(flatten)]
    model: ModelArgs,

    /// Timer resolution that another process holds at the same time, like 2ms; repeat it for each such process
    #[arg(long, value_name = "SETTING", value_parser = value::setting, value_delimiter = ',')]
    neighbour: Vec<Setting>,

    /// Ask after those processes have exited
    #[arg(long, requires = "neighbour")]
    after_neighbour: bool,

    /// Values to take [default: 1000; 100 fork-joins]
    #[arg(long, value_name = "N", value_parser = value::count, allow_hyphen_values = true)]
    count: Option<u64>,

    /// How the waits follow one another
    #[arg(long, value_name = "PACE", value_enum, default_value = "back-to-back")]
    pace: PaceArg,

    #[command(flatten)]
    conditions: ConditionArgs,

    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl Ask {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        let mut replies = Vec::new();
        for (machine, lab) in self.machines()? {
            let modelled = lab.platform_id().modelled;
            let changes = if modelled.is_some() { changes(&lab.environment()) } else { Vec::new() };
            for subject in &self.questions {
                let usual = Question::of(subject.clone());
                let question = Question {
                    conditions: request::conditions::conditions(&lab, &self.conditions)?,
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
                    answer: ask(&lab, &question).map_err(|reason| with_suggestion(&lab, &reason)),
                });
            }
        }
        if let [Reply { answer: Err(reason), .. }] = &replies[..] {
            return Err(Failure::failed(reason.clone()));
        }
        if self.json {
            stdout::json(&document(&replies))?
        } else {
            stdout::text(&text(&replies, width()))?
        }
        Ok(Exit::Fine)
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

    fn machines(&self) -> Result<Vec<(String, Laboratory)>, Failure> {
        if self.on.is_empty() && self.like.is_none() {
            if !self.model.set.is_empty() || self.model.seed.is_some() {
                return Err(Failure::usage("--set and --seed change a modelled machine; name one with --on or --like"));
            }
            return Ok(vec![("this machine".to_owned(), Laboratory::on(oversleep_native::here()))]);
        }
        let named = self.on.iter().map(|name| Ok((name.clone(), request::machine::modelled(name, &self.model)?)));
        let like = self.like.iter().map(|path| {
            let args = MachineArgs { like: Some(path.clone()), model: self.model.clone(), ..MachineArgs::default() };
            Ok((format!("like {}", path.display()), request::machine::laboratory(&args)?))
        });
        named.chain(like).collect()
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
        NoAnswer::Unknown { kind, name, .. } => request::names::nearest(name, &request::names::of(lab, *kind)),
        NoAnswer::Unavailable { .. } => None,
    };
    match near {
        Some(near) => format!("{reason}; did you mean '{near}'?"),
        None => reason.to_string(),
    }
}
