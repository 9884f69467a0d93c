//! What a machine answers: the experiments run on it, and their series taken apart into values.

use oversleep_record::conditions::Setting;
use oversleep_record::label::{ClockRole, JoinStyle};
use oversleep_record::series::{Pace, Quantity, Series, Status};
use oversleep_record::{Distribution, ExperimentId, Nanos, Unavailable, label};

use super::question::{Question, Subject};
use super::{calls, rule};
use crate::session::{Laboratory, Request};
use oversleep_measure::{Depth, Experiment, Limit, Plan, Silent, StopFlag, experiment, find_wait};
use oversleep_system::{Neighbour, Platform, Restore};

/// What the values of an answer are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// What was asked about itself: how long a call took, what a read cost, by how much a clock moved.
    Itself,
    /// How late a deadline of a schedule was served. That is not what the call took: it was entered late or early, or not
    /// at all where the deadline had passed.
    Lateness,
}

/// The values measured, in ns, smallest first, and the rule behind them.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    values_ns: Vec<f64>,
    rule: Option<String>,
    meaning: Meaning,
    /// All values, where there are more than are kept one by one.
    all: Option<All>,
}

/// A distribution in the unit of its series: ns = base + value x scale.
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
    #[error("{machine} has no {kind} '{name}'")]
    Unknown {
        /// The machine's name.
        machine: String,
        /// What kind of thing.
        kind: &'static str,
        /// As typed.
        name: String,
    },
    /// It has, but it can't be used there.
    #[error("{what}: {reason}")]
    Unavailable {
        /// What.
        what: String,
        /// Why.
        reason: Unavailable,
    },
}

impl Answer {
    fn of(mut values_ns: Vec<f64>) -> Option<Answer> {
        if values_ns.is_empty() || values_ns.iter().any(|value| !value.is_finite()) {
            return None;
        }
        values_ns.sort_by(f64::total_cmp);
        Some(Answer { values_ns, rule: None, meaning: Meaning::Itself, all: None })
    }

    /// The values that are kept one by one, smallest first: all of them, up to a cap.
    pub fn values_ns(&self) -> &[f64] {
        &self.values_ns
    }

    /// How many values there are in all.
    pub fn count(&self) -> u64 {
        self.all.as_ref().map_or(self.values_ns.len() as u64, |all| all.distribution.count())
    }

    /// All values with how many there are of each, smallest first; beyond the cap within 0.1 %.
    pub fn counted_ns(&self) -> Vec<(f64, u64)> {
        match &self.all {
            Some(all) => all.distribution.buckets().map(|(value, count)| (all.ns(value as f64), count)).collect(),
            None => self.values_ns.iter().map(|&value| (value, 1)).collect(),
        }
    }

    /// What the values are.
    pub fn meaning(&self) -> Meaning {
        self.meaning
    }

    /// Why it is so, in a sentence; only a model knows.
    pub fn rule(&self) -> Option<&str> {
        self.rule.as_deref()
    }

    /// The smallest.
    pub fn min_ns(&self) -> f64 {
        let of_all = self.all.as_ref().and_then(|all| Some(all.ns(all.distribution.min()? as f64)));
        of_all.unwrap_or(self.values_ns[0])
    }

    /// The largest.
    pub fn max_ns(&self) -> f64 {
        let of_all = self.all.as_ref().and_then(|all| Some(all.ns(all.distribution.max()? as f64)));
        of_all.unwrap_or(self.values_ns[self.values_ns.len() - 1])
    }

    /// The mean.
    pub fn mean_ns(&self) -> f64 {
        if let Some(mean) = self.all.as_ref().and_then(|all| Some(all.ns(all.distribution.mean()?))) {
            return mean;
        }
        self.values_ns.iter().sum::<f64>() / self.values_ns.len() as f64
    }

    /// The value that this share of all values doesn't exceed; 0.5 is the median.
    pub fn quantile_ns(&self, share: f64) -> f64 {
        if let Some(value) = self.all.as_ref().and_then(|all| Some(all.ns(all.distribution.quantile(share)? as f64))) {
            return value;
        }
        let rank = (share * self.values_ns.len() as f64).ceil().max(1.0) as usize;
        self.values_ns[rank.min(self.values_ns.len()) - 1]
    }
}

/// Asks a machine. Takes as long as the measurement does there: no time at all on a modelled one.
///
/// # Errors
/// What it doesn't have, or why it can't be used.
pub fn ask(machine: &Laboratory, question: &Question) -> Result<Answer, NoAnswer> {
    let platform = machine.platform();
    let (question, translated) = calls::in_registry_names(platform, question);
    let question = &question;
    for (name, setting) in &question.conditions.requested {
        check_tunable(platform, name, setting)?;
    }
    let mut neighbours: Vec<Box<dyn Neighbour>> = Vec::new();
    for setting in &question.neighbours {
        let started = platform.neighbour(Some(setting));
        neighbours
            .push(started.map_err(|reason| unavailable(&format!("a neighbour that asks for {setting}"), reason))?);
    }
    let rule = rule::of(platform, question).map(|rule| translated + &rule);
    let answer = match &question.subject {
        Subject::Wait { name, request } => wait(machine, question, name, *request),
        Subject::Yield { name } => series(machine, question, (ExperimentId::B7, "yield"), name),
        Subject::Cost { clock } => {
            is_there(platform, clock).and_then(|()| series(machine, question, (ExperimentId::A1, "clock"), clock))
        }
        Subject::Step { clock } => is_there(platform, clock).and_then(|()| step(machine, question, clock)),
        Subject::Shows { clock } => is_there(platform, clock).and_then(|()| shows(machine, question, clock)),
        Subject::Resolution => resolution(platform, question),
        Subject::ForkJoin { style, coarse } => fork_join(machine, question, *style, *coarse),
    };
    drop(neighbours);
    Ok(Answer { rule, ..answer? })
}

/// Holds what the asking process and thread hold, on the calling thread.
pub(super) fn hold(platform: &dyn Platform, question: &Question) -> Vec<Option<Box<dyn Restore>>> {
    let wishes = question.conditions.requested.iter();
    wishes.filter_map(|(name, setting)| Some(platform.tunable(name)?.apply(setting).1)).collect()
}

fn name_of(platform: &dyn Platform) -> String {
    let id = platform.id();
    id.modelled.unwrap_or(id.os)
}

fn unknown(platform: &dyn Platform, kind: &'static str, name: &str) -> NoAnswer {
    NoAnswer::Unknown { machine: name_of(platform), kind, name: name.to_owned() }
}

fn unavailable(what: &str, reason: Unavailable) -> NoAnswer {
    NoAnswer::Unavailable { what: what.to_owned(), reason }
}

fn check_tunable(platform: &dyn Platform, name: &str, setting: &Setting) -> Result<(), NoAnswer> {
    let tunable = platform.tunable(name).ok_or_else(|| unknown(platform, "tunable", name))?;
    tunable
        .validate(setting)
        .map_err(|error| unavailable(name, Unavailable::failed(format!("{name}={setting}"), error.problem)))
}

/// Runs one experiment on one subject.
fn run(
    machine: &Laboratory,
    question: &Question,
    id: ExperimentId,
    plan: Plan,
) -> Result<oversleep_record::ResultFile, NoAnswer> {
    let experiment: &'static Experiment = experiment(id).expect("ids here are those of the registry");
    let request = Request {
        command: "ask".to_owned(),
        experiments: vec![experiment],
        plan: Plan { conditions: question.conditions.clone(), clock: question.clock.clone(), ..plan },
        name: None,
        try_remedies: false,
    };
    let ran = machine.run(&request, &StopFlag::new(), &mut Silent);
    ran.map_err(|error| unavailable("asking", Unavailable::Failed { call: id.to_string(), error: error.to_string() }))
}

fn plan(question: &Question, subject: &str) -> Plan {
    Plan { subjects: vec![subject.to_owned()], limit: Some(Limit::Count(question.count)), ..Plan::default() }
}

fn wait(machine: &Laboratory, question: &Question, name: &str, request: Nanos) -> Result<Answer, NoAnswer> {
    let platform = machine.platform();
    let info = find_wait(platform, name).ok_or_else(|| unknown(platform, "wait", name))?.info();
    let name = info.name;
    if !info.is_timed() {
        let error = format!("it gives the CPU away and waits for no span; ask yield({name})");
        return Err(unavailable(name, Unavailable::failed("asking for a span", error)));
    }
    let pace = question.pace.unwrap_or(Pace::BackToBack);
    let plan = Plan { asks: vec![request], pace: Some(pace), ..plan(question, name) };
    let file = run(machine, question, ExperimentId::B5, plan)?;
    answer_of(file.series.iter().find(|series| series.subject == name), name)
}

/// The values of one subject of an experiment, and what such a subject is.
fn series(
    machine: &Laboratory,
    question: &Question,
    (id, kind): (ExperimentId, &'static str),
    subject: &str,
) -> Result<Answer, NoAnswer> {
    let file = run(machine, question, id, plan(question, subject))?;
    match file.series.iter().find(|series| series.subject == subject) {
        None => Err(unknown(machine.platform(), kind, subject)),
        found => answer_of(found, subject),
    }
}

/// That the machine has that clock, and can read it.
fn is_there(platform: &dyn Platform, clock: &str) -> Result<(), NoAnswer> {
    let found = platform.clock(clock).ok_or_else(|| unknown(platform, "clock", clock))?;
    found.available().map_err(|reason| unavailable(clock, reason))
}

/// A series' values: lateness as what the call took where each call is its own deadline, costs in ns.
fn answer_of(series: Option<&Series>, what: &str) -> Result<Answer, NoAnswer> {
    let Some(series) = series else { return Err(unavailable(what, Unavailable::NotMeasured)) };
    if let Status::Unavailable { reason } = &series.status {
        return Err(unavailable(what, reason.clone()));
    }
    let (base, meaning) = match (series.quantity, series.requested_ns, series.pace) {
        (Quantity::Lateness, _, Some(Pace::Periodic)) => (0.0, Meaning::Lateness),
        (Quantity::Lateness, Some(requested), _) => (requested.0 as f64, Meaning::Itself),
        _ => (0.0, Meaning::Itself),
    };
    let scale = if series.unit == oversleep_record::series::Unit::Ps { 1e-3 } else { 1.0 };
    let values = series.samples.value.iter().map(|&value| base + value as f64 * scale).collect();
    let kept =
        Answer::of(values).ok_or_else(|| unavailable(what, Unavailable::failed("measuring", "no value came of it")))?;
    let all = || All { distribution: series.distribution.clone(), base, scale };
    Ok(Answer { meaning, all: (series.samples.beyond_cap > 0).then(all), ..kept })
}

/// The steps a coarse clock makes while it is polled (B3); of a fine one, the median difference of its reads (A4).
fn step(machine: &Laboratory, question: &Question, clock: &str) -> Result<Answer, NoAnswer> {
    let polled = run(machine, question, ExperimentId::B3, Plan { limit: None, ..plan(question, clock) })?;
    if let Some(series) = polled.series.iter().find(|series| series.subject == clock) {
        return answer_of(Some(series), clock);
    }
    let file = run(machine, question, ExperimentId::A4, Plan { limit: None, ..plan(question, clock) })?;
    let known = file.clock(clock).ok_or_else(|| unknown(machine.platform(), "clock", clock))?;
    if let Some(reason) = &known.unavailable {
        return Err(unavailable(clock, reason.clone()));
    }
    let step = known.steps.as_ref().and_then(|steps| steps.median_ns);
    Answer::of(step.map(|step| step.0 as f64).into_iter().collect())
        .ok_or_else(|| unavailable(clock, Unavailable::failed("reading", "it did not move while it was looked at")))
}

fn shows(machine: &Laboratory, question: &Question, clock: &str) -> Result<Answer, NoAnswer> {
    let plan = Plan { depth: Depth::Thorough, limit: None, ..plan(question, clock) };
    let file = run(machine, question, ExperimentId::A2, plan)?;
    let known = file.clock(clock).ok_or_else(|| unknown(machine.platform(), "clock", clock))?;
    if let Some(reason) = &known.unavailable {
        return Err(unavailable(clock, reason.clone()));
    }
    let shown = known.differences.iter().map(|difference| difference.indicated_ns.0 as f64).collect();
    Answer::of(shown).ok_or_else(|| unavailable(clock, Unavailable::failed("reading", "it was not compared")))
}

/// What the system says while the conditions are held.
fn resolution(platform: &dyn Platform, question: &Question) -> Result<Answer, NoAnswer> {
    let tunable = platform.resolution_tunable().ok_or_else(|| unknown(platform, "tunable", "resolution"))?;
    let held = hold(platform, question);
    let current = tunable.current();
    drop(held);
    match current.map_err(|reason| unavailable("resolution()", reason))? {
        Setting::Nanos(span) => Answer::of(vec![span.0 as f64])
            .ok_or_else(|| unavailable("resolution()", Unavailable::Nonsense { what: span.to_string() })),
        other => {
            let error = format!("it is no span here: {} is '{other}'", tunable.info().name);
            Err(unavailable("resolution()", Unavailable::failed("reading it", error)))
        }
    }
}

fn fork_join(machine: &Laboratory, question: &Question, style: JoinStyle, coarse: bool) -> Result<Answer, NoAnswer> {
    let id = if style == JoinStyle::Single { ExperimentId::D2 } else { ExperimentId::D1 };
    // The published work: 10 to 20 ms on each of eight threads.
    let plan = Plan { depth: Depth::Thorough, limit: Some(Limit::Count(question.count.min(100))), ..Plan::default() };
    let file = run(machine, question, id, plan)?;
    let by_coarse = coarse || question.clock.is_some();
    if by_coarse && file.series.iter().all(|series| series.label(label::CLOCK_ROLE) != Some(ClockRole::Coarse)) {
        let error = "no clock of this machine moves in steps long enough to show";
        return Err(unavailable("the coarse clock", Unavailable::failed("looking for one", error)));
    }
    let role = if by_coarse { ClockRole::Coarse } else { ClockRole::Precise };
    let wanted =
        |series: &&Series| series.label(label::STYLE) == Some(style) && series.label(label::CLOCK_ROLE) == Some(role);
    answer_of(file.series.iter().find(wanted), style.as_str())
}
