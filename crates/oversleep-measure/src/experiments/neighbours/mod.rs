//! C3 and C4: what other processes' requests do to a process that asked for nothing.

mod probe;

use oversleep_record::conditions::Setting;
use oversleep_record::{ExperimentId, Nanos};

use self::probe::NeighbourProbe;
use crate::plan::Plan;
use crate::probe::Probe;
use crate::registry::{Experiment, Published};
use oversleep_system::{Platform, Scope, Tunable};

pub(super) static C3: Experiment = Experiment {
    id: ExperimentId::C3,
    reads: &[],
    title: "a neighbour's resolution",
    question: "What does the timer resolution that another process asks for do to this one?",
    doc: "One other process at a time holds a setting of the resolution tunable: 1, 2 … 15 ms where that is a span of the \
          system's timer, the settings worth comparing elsewhere (slack on Linux), and once nothing at all. This process \
          asks for nothing. At each step it records the resolution the system states, the steps of the coarse clocks and \
          its own plain sleep, back to back. Where the resolution is the machine's, all three follow the neighbour; \
          where it is the process's own, none does.",
    published: &[
        Published {
            os: "windows",
            what: "Sleep(1) beside a neighbour that holds 1 ms, Windows 10 1909 and before",
            value: "1.0 to 2.0 ms",
            source: "several, Windows 7 to 10 1909",
        },
        Published {
            os: "windows",
            what: "the same since Windows 10 2004",
            value: "15.99 ms",
            source: "timer resolution studies, Windows 10 2004",
        },
    ],
    probes: one_at_a_time,
};

pub(super) static C4: Experiment = Experiment {
    id: ExperimentId::C4,
    reads: &[],
    title: "the lowest request wins",
    question: "Which of several requests for a timer resolution counts, and what remains when its owner leaves?",
    doc: "This process sleeps and asks for nothing. First nobody asks; then B asks for 2 ms; then C asks for 4 ms while B \
          still holds its own; then B leaves. Where one resolution serves the machine the finest request counts for as \
          long as its owner lives, and the next finest takes its place. Measured at each step as in C3, in this order \
          within each round.",
    published: &[Published {
        os: "windows",
        what: "2 ms and 4 ms requested by two processes",
        value: "2 ms until its owner ends, then 4 ms",
        source: "timeBeginPeriod's documentation; several, Windows 7 to 10 1909",
    }],
    probes: lowest_wins,
};

fn one_at_a_time(platform: &dyn Platform, plan: &Plan) -> Vec<Box<dyn Probe>> {
    let Some(resolution) = platform.resolution_tunable() else { return Vec::new() };
    let mut steps = vec![Vec::new()];
    steps.extend(settings(resolution).into_iter().map(|setting| vec![setting]));
    steps.into_iter().filter_map(|held| NeighbourProbe::boxed(platform, plan, ExperimentId::C3, vec![held])).collect()
}

fn lowest_wins(platform: &dyn Platform, plan: &Plan) -> Vec<Box<dyn Probe>> {
    let Some(resolution) = platform.resolution_tunable() else { return Vec::new() };
    let asked = [2, 4].map(|ms| Setting::Nanos(Nanos::from_millis(ms)));
    let pair = if asked.iter().all(|setting| resolution.validate(setting).is_ok()) {
        Vec::from(asked)
    } else {
        settings(resolution).into_iter().take(2).collect()
    };
    let [b, c] = pair.as_slice() else { return Vec::new() };
    let steps = vec![vec![], vec![b.clone()], vec![b.clone(), c.clone()], vec![c.clone()]];
    NeighbourProbe::boxed(platform, plan, ExperimentId::C4, steps).into_iter().collect()
}

/// 1 to 15 ms where a setting is a span of a timer that others share; otherwise what is worth comparing.
fn settings(resolution: &dyn Tunable) -> Vec<Setting> {
    let mut settings = resolution.settings_to_compare();
    if are_spans(&settings) && resolution.info().scope != Scope::Thread {
        settings = (1..=15).map(|ms| Setting::Nanos(Nanos::from_millis(ms))).collect();
    }
    settings.retain(|setting| resolution.validate(setting).is_ok());
    settings
}

/// A tier or a class is a word.
fn are_spans(settings: &[Setting]) -> bool {
    settings.iter().all(|setting| matches!(setting, Setting::Nanos(_)))
}

#[cfg(test)]
mod tests;
