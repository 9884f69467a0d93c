//! B7: the cost of yielding the CPU, alone and among competitors.

use oversleep_record::label::{self, Competition};
use oversleep_record::series::{Quantity, Series, Unit};
use oversleep_record::{Conditions, ExperimentId};
use oversleep_system::{Family, Platform};

use crate::amount::Amount;
use crate::elapsed_probe::ElapsedProbe;
use crate::experiment::{Column, Command, Experiment};
use crate::plan::Plan;
use crate::probe::Probe;

pub(super) static B7: Experiment = Experiment {
    id: ExperimentId::B7,
    title: "yield",
    question: "What does yielding the CPU cost, alone and among competing threads?",
    method: "Each yield call is timed individually, on an idle machine and beside one spinning thread per CPU. Alone \
             it returns at once: a loop of yields is a spin loop with system calls in it. Among competitors it may \
             cost their time slice, which is milliseconds, or nothing if the scheduler finds that the caller is \
             still next.",
    quantities: &[Quantity::Cost],
    columns: &[Column {
        name: label::COMPETITION.name(),
        meaning: "idle, or competing: beside one spinning thread per CPU.",
    }],
    commands: &[Command::NamedWaits],
    probes,
    ..Experiment::BLANK
};

fn probes(platform: &dyn Platform, plan: &Plan) -> Vec<Box<dyn Probe>> {
    let cpus = u32::try_from(platform.cpus().len()).unwrap_or(1);
    let hogs = platform.loads().first().map(|load| Conditions::as_found().with_load(load.info().name, cpus));
    let yields = platform.waits().iter().map(|wait| wait.info()).filter(|info| info.family == Family::Yield);
    let mut probes: Vec<Box<dyn Probe>> = Vec::new();
    for info in yields.filter(|info| plan.wants(info.name)) {
        let contests =
            [(Competition::Idle, Some(Conditions::as_found()), 400), (Competition::Competing, hogs.clone(), 30)];
        for (competition, conditions, per_round) in contests {
            let Some(conditions) = conditions else { continue };
            let mut series = Series::new(B7.id, info.name, Quantity::Cost, Unit::Ns);
            series.key = series.key.word(competition);
            series.labels.set(label::COMPETITION, competition);
            series.conditions = plan.conditions_and(conditions);
            let per_round = plan.depth.pick(per_round / 2, per_round, per_round * 10);
            let amount = Amount::values(3 * per_round, 3).limited_by(plan);
            probes.push(Box::new(ElapsedProbe::new(info.name, series, amount)));
        }
    }
    probes
}
