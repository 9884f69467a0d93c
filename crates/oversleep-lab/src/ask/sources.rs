//! The figures of a modelled machine that decide an answer, and the source of each.

use oversleep_measure::{beneath_library, find_wait, library_waits};
use oversleep_record::FactName;
use oversleep_system::tunables::names::RESOLUTION;
use oversleep_system::{SharedPlatform, SlackRule};

use super::answer::Cited;
use super::calls::beneath;
use super::question::{Question, Subject};
use crate::machines::{Figure, describe};

/// The most sources that a figure names here.
const NAMED_MAX: usize = 2;

/// The figures that decide, by their sources. Empty for a real machine, and for a model of a result.
pub(super) fn of(shared: &SharedPlatform, question: &Question) -> Vec<Cited> {
    let id = shared.id();
    let Some(name) = id.modelled.as_ref().and_then(|modelled| modelled.split(" with ").next()) else {
        return Vec::new();
    };
    let environment = shared.environment();
    let Ok(described) = describe(name, environment.list(FactName::ModelSet).unwrap_or_default()) else {
        return Vec::new();
    };
    let question = beneath(shared, question).unwrap_or_else(|| question.clone());
    let mut by_source: Vec<Cited> = Vec::new();
    for path in paths(shared, &question) {
        let of = |path: &str| described.figures.iter().find(|figure| figure.path == path);
        // A clock without a cost of its own has that of the others.
        let others = || path.starts_with("costs.").then(|| of("costs.other")).flatten();
        let Some(figure) = of(&path).or_else(others) else { continue };
        let path = &figure.path;
        let (what, source) = (format!("{path} = {}", figure.value), cited(figure, name));
        match by_source.iter_mut().find(|cited| cited.source == source) {
            Some(cited) => cited.figures.push(what),
            None => by_source.push(Cited { figures: vec![what], source }),
        }
    }
    by_source
}

fn cited(figure: &Figure, machine: &str) -> String {
    match figure.source_id.split(" + ").count() {
        count if count > NAMED_MAX => {
            format!("the mean of {count} sources, which `oversleep machines {machine}` lists")
        }
        _ => figure.source.clone(),
    }
}

/// The figures that decide, by their paths in a profile. A machine states some of them.
fn paths(shared: &SharedPlatform, question: &Question) -> Vec<String> {
    let platform = &**shared;
    let mut paths: Vec<&str> = Vec::new();
    let of_clock = |kind: &str, clock: &str| vec![format!("{kind}.{clock}")];
    match &question.subject {
        Subject::Wait { name, .. } => {
            let is_of_library = library_waits(platform).iter().any(|wait| wait.info().name == name);
            let wait = if is_of_library { beneath_library(shared, name) } else { find_wait(platform, name) };
            let Some(wait) = wait else { return Vec::new() };
            paths.extend(match wait.info().slack {
                SlackRule::ThreadSlack => &["timers.slack"][..],
                SlackRule::ThreadSlackOrShare => &["timers.slack", "timers.poll-share"],
                SlackRule::Tick => &["timers.hz"],
                SlackRule::TimerResolution => &["timers.tick", "timers.base", "timers.p-two-tick"],
                SlackRule::ClassShare => &["timers.tiers"],
                SlackRule::KernelShare => &["timers.kernel-tier"],
                SlackRule::None => &["timers.grid", "timers.grid-p-late"],
                SlackRule::NoTimer | SlackRule::OfItsWaits => &[],
            });
            let holds = question.conditions.setting(RESOLUTION).is_some() || !question.neighbours.is_empty();
            if holds && wait.info().slack == SlackRule::TimerResolution {
                paths.extend(["timers.requests-reach", "timers.tick-shortest", "timers.drops-hidden"]);
            }
            paths.push("wake.cost");
        }
        Subject::Yield { .. } => paths.push("wake.yield"),
        Subject::Step { clock } | Subject::Shows { clock } => return of_clock("steps", clock),
        Subject::Cost { clock } => return of_clock("costs", clock),
        Subject::Resolution => paths.extend(["timers.tick", "timers.tick-shortest", "timers.requests-reach"]),
        Subject::ForkJoin { .. } => paths.extend(["wake.handoff", "wake.thread-start"]),
    }
    if !question.conditions.load.is_empty() {
        paths.extend(["scheduler.kind", "scheduler.slice"]);
    }
    paths.into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::ask;
    use crate::machines::load;

    #[test]
    fn every_answer_of_a_model_names_the_source_of_what_decides() {
        for name in crate::machines::names() {
            let lab = load(name, &[], 1).unwrap_or_else(|error| panic!("{error}"));
            let question = Question { count: 2, ..Question::of("sleep(1ms)".parse().unwrap()) };
            let answer = ask(&lab, &question).unwrap_or_else(|error| panic!("{error}"));
            assert!(!answer.sources().is_empty(), "{name}");
        }
        let lab = load("windows-11", &[], 1).unwrap_or_else(|error| panic!("{error}"));
        let question = Question { count: 2, ..Question::of("Thread.sleep(1ms)".parse().unwrap()) };
        let answer = ask(&lab, &question).unwrap_or_else(|error| panic!("{error}"));
        let has = |part: &str| answer.sources().iter().any(|cited| cited.figures.iter().any(|figure| figure == part));
        assert!(has("timers.tick = 15.625ms") && has("timers.requests-reach = asker"), "{:?}", answer.sources());
    }
}
