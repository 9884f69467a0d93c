//! Published observations beside the figures of a result that they concern, by id and source.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use oversleep_explain::is_undisturbed;
use oversleep_record::label::{self, ClockRole};
use oversleep_record::series::{Pace, Quantity, Series, Unit};
use oversleep_record::{ExperimentId, FactName, Nanos, ResultFile};
use oversleep_system::tunables::names;
use oversleep_system::waits::sets::plain_sleeps;

use super::judge::{judge, machine_of, of_machines};
use super::{Basis, Described, Expect, Judged, Observation, Other, observations};
use crate::ask::{Answer, Question, Subject};
use crate::machines::{self, Description, Source};

/// The fewest values for a comparison.
const VALUES_MIN: u64 = 20;

static OBSERVATIONS: LazyLock<Vec<Observation>> = LazyLock::new(|| observations().unwrap_or_default());

/// The descriptions of the machines that observations name.
static MACHINES: LazyLock<BTreeMap<String, Description>> = LazyLock::new(|| {
    let names = machines::names().into_iter();
    names.filter_map(|name| Some((name.to_owned(), machines::describe(name, &[]).ok()?))).collect()
});

/// An observation beside the figure that it concerns.
#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    /// Its id, with its part.
    pub id: &'static str,
    /// The published statement, in its own terms.
    pub published: &'static str,
    /// Where.
    pub source: String,
    /// The figure, as a question: `nanosleep(1ms)`.
    pub figure: String,
    /// That figure of this result, in the terms of the observation.
    pub here: String,
    /// Whether it is within what the observation tolerates; for a modelled machine, whether `machines verify` says so.
    pub is_reproduced: bool,
    /// The figure in `machines verify`, if that decides otherwise than the one of this result: under load, or by chance.
    pub of_verify: Option<String>,
    /// The factor by which machines differ about it, if that figure is only reproduced to within it.
    pub factor: Option<f64>,
}

impl Observation {
    /// Whether oversleep measured it, so that nobody else published it.
    fn is_ours(&self) -> bool {
        self.source.starts_with("oversleep-")
    }

    /// Its source in a line: author, title, year.
    pub fn source_in_words(&self) -> String {
        let Some(source) = Source::find(&self.source) else { return self.source.clone() };
        let by = self.by.as_ref().map(|by| format!("{by} in ")).unwrap_or_default();
        by + &source.citation()
    }

    /// The experiment that measures it; `None` if none does.
    pub fn experiment(&self) -> Option<ExperimentId> {
        Some(experiment_of(&self.question().ok()?))
    }
}

/// Observations of what that experiment measures, each once however many parts it has.
pub fn of_experiment(id: ExperimentId) -> Vec<&'static Observation> {
    let mut found: Vec<&Observation> = Vec::new();
    let published = OBSERVATIONS.iter().filter(|observation| !observation.is_ours());
    for observation in published.filter(|observation| observation.experiment() == Some(id)) {
        if found.iter().all(|other| other.whole() != observation.whole()) {
            found.push(observation);
        }
    }
    found
}

fn experiment_of(question: &Question) -> ExperimentId {
    let conditions = &question.conditions;
    let is_held = |tunable| conditions.setting(tunable).is_some();
    match &question.subject {
        Subject::Cost { .. } => ExperimentId::A1,
        Subject::Shows { .. } => ExperimentId::A2,
        Subject::Step { .. } => ExperimentId::B3,
        Subject::Yield { .. } => ExperimentId::B7,
        Subject::ForkJoin { style: label::JoinStyle::Single, .. } => ExperimentId::D2,
        Subject::ForkJoin { .. } => ExperimentId::D1,
        Subject::Resolution if question.neighbours.is_empty() => ExperimentId::C1,
        _ if question.neighbours.len() == 1 => ExperimentId::C3,
        _ if question.neighbours.len() > 1 => ExperimentId::C4,
        _ if !conditions.load.is_empty() => ExperimentId::B9,
        _ if is_held(names::RESOLUTION) || is_held(names::SLACK) => ExperimentId::C2,
        _ if !conditions.requested.is_empty() => ExperimentId::B8,
        _ if question.pace == Some(Pace::RandomPhase) => ExperimentId::B6,
        _ if question.clock.is_some() => ExperimentId::B1,
        Subject::Wait { name, request } if name == "sleep" && is_swept(*request) => ExperimentId::B2,
        _ => ExperimentId::B5,
    }
}

/// Requests of the sweep that the survey of waits omits.
fn is_swept(request: Nanos) -> bool {
    (2..=15).any(|ms| ms != 5 && request == Nanos::from_millis(ms))
}

/// The observations of that experiment for the system that the result was taken on, each with what the figure is here.
pub fn beside(file: &ResultFile, id: ExperimentId) -> Vec<Beside> {
    let of_experiment = OBSERVATIONS.iter().filter(|observation| observation.experiment() == Some(id));
    of_experiment.filter_map(|observation| of(file, id, observation)).collect()
}

fn of(file: &ResultFile, id: ExperimentId, observation: &'static Observation) -> Option<Beside> {
    if observation.is_ours() || !is_same_system(file, observation) {
        return None;
    }
    let (question, expect) = (observation.question().ok()?, observation.expect.as_ref()?);
    // Two answers, or none, can't be compared with a figure of one series.
    if matches!(expect, Expect::Other(Other::Agrees { .. } | Other::Absent { .. })) {
        return None;
    }
    let (answer, figure) = answer(file, id, &question)?;
    let own = here(observation, &question, expect, &answer);
    let (of_result, is_own) = (own.model.clone(), own.reproduced);
    let Judged { reproduced, as_exactly, model, of_machines, .. } = match file.platform.modelled {
        // The row is about that model, which a run answers by other seeds, rounds and numbers of values.
        Some(_) => judge(observation, false, &mut Described::default()).ok()?.2,
        None => own,
    };
    Some(Beside {
        id: &observation.id,
        published: &observation.published,
        source: observation.source_in_words(),
        figure,
        here: of_result,
        is_reproduced: reproduced,
        of_verify: (reproduced != is_own).then_some(model),
        factor: of_machines.filter(|_| reproduced && !as_exactly),
    })
}

/// The judgement of a figure of this result.
fn here(observation: &Observation, question: &Question, expect: &Expect, answer: &Answer) -> Judged {
    let request = match question.subject {
        Subject::Wait { request, .. } => Some(request),
        _ => None,
    };
    let judged = expect.judge(answer, request);
    let factor = if judged.reproduced { None } else { factor(observation, question, answer) };
    Judged { reproduced: judged.reproduced || factor.is_some(), of_machines: factor, ..judged }
}

/// As in `machines verify`: a cost or wake-up that isn't taken from the observation's source may differ as machines do.
fn factor(observation: &Observation, question: &Question, answer: &Answer) -> Option<f64> {
    let described = MACHINES.get(observation.machine.as_deref()?)?;
    let machine = machine_of(observation, None).ok()?;
    if Basis::of(&machine, described, question, &observation.source).is_fitted() {
        return None;
    }
    let held = of_machines(observation, question, described, None, answer).ok()??;
    held.is_within.then_some(held.factor)
}

/// The figures of a result that answer a question, and their subject.
fn answer(file: &ResultFile, id: ExperimentId, question: &Question) -> Option<(Answer, String)> {
    let clock = |name: &str| file.clocks.iter().find(|clock| clock.name == *name && clock.unavailable.is_none());
    match &question.subject {
        Subject::Shows { clock: name } => {
            let clock = clock(name)?;
            let cost = clock.cost_series.as_ref().and_then(|key| file.series(key));
            if file.platform.modelled.is_none() && cost.is_some_and(|series| !is_undisturbed(file, series)) {
                return None;
            }
            let shown = clock.differences.iter().map(|shown| shown.indicated_ns.0 as f64).collect();
            Some((Answer::of(shown)?, question.subject.to_string()))
        }
        Subject::Resolution => None,
        Subject::Wait { .. }
        | Subject::Yield { .. }
        | Subject::Cost { .. }
        | Subject::Step { .. }
        | Subject::ForkJoin { .. } => {
            let series = file.experiment(id).find(|series| is_of(file, series, question))?;
            // Published figures are those of quiet machines.
            if !is_undisturbed(file, series) {
                return None;
            }
            let base = match (series.quantity, series.requested_ns) {
                (Quantity::Lateness, Some(requested)) => requested.0 as f64,
                _ => 0.0,
            };
            let scale = if series.unit == Unit::Ps { 1e-3 } else { 1.0 };
            let figure = match series.requested_ns {
                Some(requested) => format!("{}({})", series.subject, requested.as_typed()),
                None => question.subject.to_string(),
            };
            Some((Answer::of_distribution(&series.distribution, base, scale)?, figure))
        }
    }
}

/// Whether the series measured the question's subject in the same way.
fn is_of(file: &ResultFile, series: &Series, question: &Question) -> bool {
    let is_subject = match &question.subject {
        Subject::Wait { name, request } => {
            let is_name = series.subject == *name
                || name == "sleep" && plain_sleeps(&file.platform.os).first() == Some(&series.subject.as_str());
            is_name && series.requested_ns == Some(*request)
        }
        Subject::Yield { name } => series.subject == *name && !is_competing(series),
        Subject::Cost { clock } | Subject::Step { clock } => series.subject == *clock,
        Subject::ForkJoin { style, coarse } => {
            let role = if *coarse { ClockRole::Coarse } else { ClockRole::Precise };
            // As published: eight threads, each with 10 to 20 ms of work.
            let (threads, work) = if *style == label::JoinStyle::Single { (1, 15) } else { (8, 120) };
            series.label(label::STYLE) == Some(*style)
                && series.label(label::CLOCK_ROLE) == Some(role)
                && series.label(label::THREADS) == Some(threads)
                && series.label(label::WORK) == Some(Nanos::from_millis(work))
        }
        Subject::Shows { .. } | Subject::Resolution => false,
    };
    // On Windows a wait on a schedule begins anywhere in a tick; where timers are exact, that makes no difference.
    let is_pace = match question.pace {
        Some(Pace::RandomPhase) => series.label(label::PHASE) == Some(label::Phase::Random),
        _ => series.pace != Some(Pace::Periodic) || (file.platform.os != "windows" && series.counts.missed == 0),
    };
    let neighbours = series.label(label::NEIGHBOUR).map(|held| held.0).unwrap_or_default();
    is_subject
        && is_pace
        && series.distribution.count() >= VALUES_MIN
        && series.conditions.same_request(&question.conditions)
        && neighbours == question.neighbours
        && question.clock.as_ref().is_none_or(|clock| series.clock == *clock)
}

fn is_competing(series: &Series) -> bool {
    series.label(label::COMPETITION) == Some(label::Competition::Competing)
}

/// Whether the observation was made on a system whose rules are those of the result's machine.
fn is_same_system(file: &ResultFile, observation: &Observation) -> bool {
    let Some(name) = observation.machine.as_deref() else { return false };
    if let Some(modelled) = &file.platform.modelled {
        let changes = file.environment.list(FactName::ModelSet).unwrap_or_default();
        return modelled.split(" with ").next() == Some(name) && changes == observation.set;
    }
    // A row that changes its profile has a machine of its own.
    let Some(machine) = MACHINES.get(name).filter(|_| observation.set.is_empty()) else { return false };
    let figure = |path: &str| {
        machine.figures.iter().find(|figure| figure.path == path).map(|figure| figure.value.trim_matches('"'))
    };
    let facts = &file.environment;
    let is_arch = figure("machine.arch").is_none_or(|arch| arch == file.platform.arch);
    let is_os = figure("machine.os").is_some_and(|os| os == file.platform.os);
    let wsl = facts.text(FactName::VirtualisationWsl).filter(|kind| *kind != "none");
    let is_wsl = wsl.map(str::to_lowercase) == name.starts_with("wsl").then(|| name.to_owned());
    let policy = figure("scheduler.policy").map_or("other", |policy| policy.split(':').next().unwrap_or(policy));
    let is_policy = facts.text(FactName::SchedPolicy).unwrap_or("other") == policy || file.platform.os != "linux";
    let hz = || figure("timers.hz").and_then(|hz| hz.parse().ok());
    let is_hz = !matches!(observation.ask, Some(Subject::Step { .. })) || facts.integer(FactName::TimerHz) == hz();
    let build = figure("facts.os.build").and_then(|build| build.parse().ok());
    let is_server = |value: Option<bool>| value.unwrap_or(false);
    let is_era = file.platform.os != "windows"
        || era(facts.integer(FactName::OsBuild)) == era(build)
            && is_server(facts.flag(FactName::OsIsServer))
                == is_server(figure("facts.os.is_server").map(|is| is == "true"));
    // Measurements under Wine say nothing about Windows, and vice versa.
    let is_wine = facts.text(FactName::OsWineVersion).is_some() || figure("facts.os.wine_version").is_some();
    is_os && is_arch && is_policy && is_wsl && is_hz && is_era && !is_wine
}

/// Builds of Windows between which the rules of its timers changed: 8, 10 2004, 11.
fn era(build: Option<i64>) -> Option<usize> {
    Some([9_200, 19_041, 22_000].iter().filter(|&&first| build.is_some_and(|build| build >= first)).count())
        .filter(|_| build.is_some())
}

#[cfg(test)]
#[path = "published_tests.rs"]
mod tests;
