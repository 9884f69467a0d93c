//! C3 and C4: how other processes' requests affect a process that requests nothing.

mod probe;

use oversleep_record::conditions::Setting;
use oversleep_record::series::Quantity;
use oversleep_record::{ExperimentId, Nanos, label};
use oversleep_system::{Platform, Scope, Tunable};

use self::probe::NeighbourProbe;
use crate::experiment::{Column, Command, Experiment};
use crate::plan::{Depth, Plan};
use crate::probe::Probe;

const QUANTITIES: &[Quantity] = &[Quantity::Lateness, Quantity::Step, Quantity::StatedResolution];

const COLUMNS: &[Column] = &[
    Column {
        name: label::NEIGHBOUR.name(),
        meaning: "What the other processes requested; none if they requested nothing.",
    },
    Column { name: label::GRANTED.name(), meaning: "What the system granted them." },
    Column { name: "stated", meaning: "The timer resolution as the system states it to this process." },
    Column { name: "step", meaning: "How far a coarse clock moved in one step." },
];

pub(super) static C3: Experiment = Experiment {
    id: ExperimentId::C3,
    title: "a neighbour's resolution",
    question: "What does the timer resolution that another process requests do to this one?",
    method: "One other process at a time holds a setting of the resolution tunable: 1, 2 … 15 ms if that is a period of the \
             system's timer, otherwise the settings worth comparing (slack on Linux), and once nothing at all. This process \
             requests nothing. At each step it records the resolution that the system states, the steps of the coarse \
             clocks, and its own simplest sleep, back to back. If the resolution is the machine's, all three follow the \
             neighbour; if it is the process's own, none does.",
    quantities: QUANTITIES,
    columns: COLUMNS,
    depth: Depth::Thorough,
    commands: &[Command::ResolutionNeighbours],
    probes: one_at_a_time,
    ..Experiment::BLANK
};

pub(super) static C4: Experiment = Experiment {
    id: ExperimentId::C4,
    title: "the lowest request wins",
    question: "Which of several requests for a timer resolution counts, and what remains when its owner exits?",
    method: "This process sleeps and requests nothing. First nobody requests anything; then B requests 2 ms; then C \
             requests 4 ms while B still holds its own; then B exits. If one resolution serves the whole machine, \
             the finest request counts for as long as its owner lives, and then the next finest takes its place. Each \
             step is measured as in C3, in this order within each round.",
    quantities: QUANTITIES,
    columns: COLUMNS,
    depth: Depth::Thorough,
    commands: &[Command::ResolutionNeighbours],
    probes: lowest_wins,
    ..Experiment::BLANK
};

fn one_at_a_time(platform: &dyn Platform, plan: &Plan) -> Vec<Box<dyn Probe>> {
    let Some(resolution) = platform.resolution_tunable() else { return Vec::new() };
    let mut steps = vec![Vec::new()];
    steps.extend(settings(resolution).into_iter().map(|setting| vec![setting]));
    let probe = |held| NeighbourProbe::boxed(platform, plan, C3.id, vec![held]);
    steps.into_iter().filter_map(probe).collect()
}

fn lowest_wins(platform: &dyn Platform, plan: &Plan) -> Vec<Box<dyn Probe>> {
    let Some(resolution) = platform.resolution_tunable() else { return Vec::new() };
    let requested = [2, 4].map(|ms| Setting::Nanos(Nanos::from_millis(ms)));
    let pair = if requested.iter().all(|setting| resolution.validate(setting).is_ok()) {
        Vec::from(requested)
    } else {
        settings(resolution).into_iter().take(2).collect()
    };
    let [b, c] = pair.as_slice() else { return Vec::new() };
    let steps = vec![vec![], vec![b.clone()], vec![b.clone(), c.clone()], vec![c.clone()]];
    NeighbourProbe::boxed(platform, plan, C4.id, steps).into_iter().collect()
}

/// 1 to 15 ms if a setting is the period of a timer that processes share; otherwise the settings worth comparing.
fn settings(resolution: &dyn Tunable) -> Vec<Setting> {
    let mut settings = resolution.settings_to_compare();
    if are_spans(&settings) && resolution.info().scope != Scope::Thread {
        settings = (1..=15).map(|ms| Setting::Nanos(Nanos::from_millis(ms))).collect();
    }
    settings.retain(|setting| resolution.validate(setting).is_ok());
    settings
}

/// Whether the settings are durations: a tier or a service class is a word.
fn are_spans(settings: &[Setting]) -> bool {
    settings.iter().all(|setting| matches!(setting, Setting::Nanos(_)))
}

#[cfg(test)]
mod tests;
