//! Answers a question: runs the experiment that measures it, and returns the values of its series.

use oversleep_measure::{Depth, Limit, Plan, experiment, find_wait};
use oversleep_record::conditions::Setting;
use oversleep_record::label::{self, ClockRole, JoinStyle};
use oversleep_record::series::{Pace, Series};
use oversleep_record::{ClockResult, CommandName, ExperimentId, Nanos, ResultFile, Unavailable};
use oversleep_system::{ClockUnit, Neighbour, NotASetting, Platform};

use super::answer::{Answer, NoAnswer};
use super::held::hold;
use super::question::{Question, Subject};
use super::{calls, clocks, rule, sources};
use crate::catalogue::Kind;
use crate::session::{Laboratory, Request};

/// Asks a machine. It takes as long as the measurement does, which is no real time on a modelled machine.
///
/// # Errors
/// What the machine doesn't have, or why it can't be used.
pub fn ask(machine: &Laboratory, question: &Question) -> Result<Answer, NoAnswer> {
    let platform = machine.platform();
    let typed = question;
    let (question, translation) = calls::in_registry_names(machine, question)?;
    let question = &question;
    for (name, setting) in &question.conditions.requested {
        check_tunable(platform, name, setting)?;
    }
    if let Some(clock) = &question.clock {
        is_readable(platform, clock)?;
    }
    let start = |setting: &Setting| {
        platform
            .neighbour(Some(setting))
            .map_err(|reason| unavailable(&format!("a neighbour that requests {setting}"), reason))
    };
    let mut neighbours: Vec<Box<dyn Neighbour>> = question.neighbours.iter().map(start).collect::<Result<_, _>>()?;
    if question.neighbours_left {
        check(&mut neighbours, question)?;
        neighbours.clear();
    }
    let rule = explained(translation, rule::of(&machine.platform, question));
    let sources = sources::of(&machine.platform, question);
    let answer = match &question.subject {
        Subject::Wait { name, request } => wait(machine, question, name, *request),
        Subject::Yield { name } => series(machine, question, ExperimentId::B7, Kind::Wait, name),
        Subject::Cost { clock } => {
            is_readable(platform, clock).and_then(|()| series(machine, question, ExperimentId::A1, Kind::Clock, clock))
        }
        Subject::Step { clock } => is_readable(platform, clock).and_then(|()| step(machine, question, clock)),
        Subject::Shows { clock } => is_readable(platform, clock).and_then(|()| shows(machine, question, clock)),
        Subject::Resolution => resolution(platform, question),
        Subject::ForkJoin { style, coarse } => fork_join(machine, question, *style, *coarse),
    };
    check(&mut neighbours, question)?;
    drop(neighbours);
    let rule = match (&typed.subject, &question.subject) {
        // A clock as it stands in the code: what a read costs, too.
        (Subject::Step { clock: name }, Subject::Step { clock }) if name != clock => {
            with_cost(machine, question, clock, rule)
        }
        _ => rule,
    };
    let read = match &typed.subject {
        Subject::Step { clock } | Subject::Cost { clock } => calls::clock_of(machine, clock)?.1,
        _ => None,
    };
    let is_step = matches!(typed.subject, Subject::Step { .. });
    let answer = match read {
        Some(read) => answer?.through(read.of, is_step),
        None => answer?,
    };
    Ok(answer.explained(rule, sources))
}

/// The rule of a clock, and what a read of it costs on a model.
fn with_cost(machine: &Laboratory, question: &Question, clock: &str, rule: Option<String>) -> Option<String> {
    let platform = machine.platform();
    let words = || {
        let cost = series(machine, question, ExperimentId::A1, Kind::Clock, clock).ok()?.mean_ns();
        clocks::cost_words(platform, platform.clock(clock)?, cost)
    };
    rule.map(|rule| rule + &words().unwrap_or_default())
}

/// What a runtime makes of the request, and the machine's rule. Only a model knows the latter.
fn explained(translation: String, rule: Option<String>) -> Option<String> {
    match rule {
        Some(rule) => Some(translation + &rule),
        None => translation.strip_suffix("; ").map(str::to_owned),
    }
}

/// Checks that the neighbours are running, each with its setting.
fn check(neighbours: &mut [Box<dyn Neighbour>], question: &Question) -> Result<(), NoAnswer> {
    for (neighbour, setting) in neighbours.iter_mut().zip(&question.neighbours) {
        neighbour.check().map_err(|reason| unavailable(&format!("a neighbour that requests {setting}"), reason))?;
    }
    Ok(())
}

fn unknown(platform: &dyn Platform, kind: Kind, name: &str) -> NoAnswer {
    let id = platform.id();
    NoAnswer::Unknown { machine: id.modelled.unwrap_or(id.os), kind, name: name.to_owned() }
}

fn unavailable(what: &str, reason: Unavailable) -> NoAnswer {
    NoAnswer::Unavailable { what: what.to_owned(), reason }
}

fn check_tunable(platform: &dyn Platform, name: &str, setting: &Setting) -> Result<(), NoAnswer> {
    let tunable = platform.tunable(name).ok_or_else(|| unknown(platform, Kind::Tunable, name))?;
    let refused = |error: NotASetting| Unavailable::failed(format!("{name}={setting}"), error.problem);
    tunable.validate(setting).map_err(|error| unavailable(name, refused(error)))
}

/// Checks that the machine has that clock, and that this process can read it.
fn is_readable(platform: &dyn Platform, clock: &str) -> Result<(), NoAnswer> {
    let found = platform.clock(clock).ok_or_else(|| unknown(platform, Kind::Clock, clock))?;
    found.available().map_err(|reason| unavailable(clock, reason))
}

/// Runs one experiment.
fn run(machine: &Laboratory, question: &Question, id: ExperimentId, plan: Plan) -> Result<ResultFile, NoAnswer> {
    let request = Request {
        command: CommandName::Ask,
        experiments: vec![experiment(id).expect("an id of the registry")],
        plan: Plan { conditions: question.conditions.clone(), clock: question.clock.clone(), ..plan },
        name: None,
        try_remedies: false,
    };
    machine.measured(&request).map_err(|error| unavailable("asking", Unavailable::failed(id.as_str(), error)))
}

/// A plan for one subject, with the number of values from the question.
fn plan(question: &Question, subject: &str) -> Plan {
    Plan { subjects: vec![subject.to_owned()], limit: Some(Limit::Count(question.count)), ..Plan::default() }
}

/// The values of the first matching series.
fn answer(file: &ResultFile, what: &str, fits: impl Fn(&Series) -> bool) -> Result<Answer, NoAnswer> {
    let series = file.series.iter().find(|series| fits(series)).ok_or(Unavailable::NotMeasured);
    series.and_then(Answer::of_series).map_err(|reason| unavailable(what, reason))
}

fn wait(machine: &Laboratory, question: &Question, name: &str, request: Nanos) -> Result<Answer, NoAnswer> {
    let platform = machine.platform();
    let info = find_wait(platform, name).ok_or_else(|| unknown(platform, Kind::Wait, name))?.info();
    let name = info.name;
    if !info.is_timed() {
        let error = format!("it gives the CPU away and takes no duration; ask yield({name})");
        return Err(unavailable(name, Unavailable::failed("requesting a duration", error)));
    }
    let plan = Plan {
        requests: vec![request],
        pace: Some(question.pace.unwrap_or(Pace::BackToBack)),
        conditions: question.conditions.clone(),
        clock: question.clock.clone(),
        ..plan(question, name)
    };
    let series = machine.series_of_wait(name, plan);
    series.and_then(|series| Answer::of_series(&series)).map_err(|reason| unavailable(name, reason))
}

/// The values of one subject of that kind in an experiment.
fn series(
    machine: &Laboratory,
    question: &Question,
    id: ExperimentId,
    kind: Kind,
    subject: &str,
) -> Result<Answer, NoAnswer> {
    let file = run(machine, question, id, plan(question, subject))?;
    if file.series.iter().all(|series| series.subject != subject) {
        return Err(unknown(machine.platform(), kind, subject));
    }
    answer(&file, subject, |series| series.subject == subject)
}

/// The result of an experiment for a clock, converted by `values`.
fn of_clock(
    machine: &Laboratory,
    file: &ResultFile,
    clock: &str,
    values: impl Fn(&ClockResult) -> Vec<f64>,
    why_none: &str,
) -> Result<Answer, NoAnswer> {
    let result = file.clock(clock).ok_or_else(|| unknown(machine.platform(), Kind::Clock, clock))?;
    if let Some(reason) = &result.unavailable {
        return Err(unavailable(clock, reason.clone()));
    }
    Answer::of(values(result)).ok_or_else(|| unavailable(clock, Unavailable::failed("reading", why_none)))
}

/// The steps of a polled coarse clock (B3), or the median difference between two reads of a fine one (A4). A counter
/// that moves at each read steps by its period: the difference between two reads is the cost of a read.
fn step(machine: &Laboratory, question: &Question, clock: &str) -> Result<Answer, NoAnswer> {
    let polled = run(machine, question, ExperimentId::B3, Plan { limit: None, ..plan(question, clock) })?;
    if polled.series.iter().any(|series| series.subject == clock) {
        return answer(&polled, clock, |series| series.subject == clock);
    }
    let file = run(machine, question, ExperimentId::A4, Plan { limit: None, ..plan(question, clock) })?;
    let known = machine.platform().clock(clock).filter(|clock| clock.info().unit == ClockUnit::Ticks);
    let period = known.and_then(|clock| clock.stated_frequency_hz()).map(|hz| 1e9 / hz.max(1) as f64);
    let cost = series(machine, question, ExperimentId::A1, Kind::Clock, clock)?.mean_ns();
    let of_counter = |seen: f64| period.filter(|period| seen <= 2.0 * cost || (seen - period).abs() < 1.0);
    let seen = |clock: &ClockResult| clock.steps.as_ref().and_then(|steps| Some(steps.median_ns?.0 as f64));
    let values = |clock: &ClockResult| seen(clock).map(|seen| of_counter(seen).unwrap_or(seen)).into_iter().collect();
    of_clock(machine, &file, clock, values, "it did not move while it was read")
}

/// The time that a clock shows for a sleep of 100 ms (A2).
fn shows(machine: &Laboratory, question: &Question, clock: &str) -> Result<Answer, NoAnswer> {
    let plan = Plan { depth: Depth::Thorough, limit: None, ..plan(question, clock) };
    let file = run(machine, question, ExperimentId::A2, plan)?;
    let values = |clock: &ClockResult| clock.differences.iter().map(|shown| shown.indicated_ns.0 as f64).collect();
    of_clock(machine, &file, clock, values, "it was not compared")
}

/// The resolution that the system states while the conditions are held.
fn resolution(platform: &dyn Platform, question: &Question) -> Result<Answer, NoAnswer> {
    let tunable = platform.resolution_tunable().ok_or_else(|| unknown(platform, Kind::Tunable, "resolution"))?;
    let held = hold(platform, question);
    let current = tunable.current();
    drop(held);
    match current.map_err(|reason| unavailable("resolution()", reason))? {
        Setting::Nanos(period) => Answer::of(vec![period.0 as f64])
            .ok_or_else(|| unavailable("resolution()", Unavailable::Nonsense { what: period.to_string() })),
        other => {
            let error = format!("it is not a duration here: {} is '{other}'", tunable.info().name);
            Err(unavailable("resolution()", Unavailable::failed("reading it", error)))
        }
    }
}

/// A fork-join (D1), or the work of one of its threads (D2).
fn fork_join(machine: &Laboratory, question: &Question, style: JoinStyle, is_coarse: bool) -> Result<Answer, NoAnswer> {
    let id = if style == JoinStyle::Single { ExperimentId::D2 } else { ExperimentId::D1 };
    // Thorough, for the published work: 10 to 20 ms on each of eight threads.
    let plan = Plan { depth: Depth::Thorough, limit: Some(Limit::Count(question.count)), ..Plan::default() };
    let file = run(machine, question, id, plan)?;
    let role = if is_coarse || question.clock.is_some() { ClockRole::Coarse } else { ClockRole::Precise };
    if file.series.iter().all(|series| series.label(label::CLOCK_ROLE) != Some(role)) {
        let error = "no clock of this machine moves in steps long enough to show";
        return Err(unavailable("the coarse clock", Unavailable::failed("looking for one", error)));
    }
    let fits =
        |series: &Series| series.label(label::STYLE) == Some(style) && series.label(label::CLOCK_ROLE) == Some(role);
    answer(&file, style.as_str(), fits)
}
