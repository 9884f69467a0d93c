//! B6: back to back against random phase.

use oversleep_record::label::{self, Phase};
use oversleep_record::series::{Pace, Quantity};
use oversleep_record::{ExperimentId, Nanos};
use oversleep_system::Platform;

use super::choose;
use crate::experiment::{Column, Experiment};
use crate::plan::Plan;
use crate::probe::Probe;
use crate::{Amount, WaitProbe};

pub(super) static B6: Experiment = Experiment {
    id: ExperimentId::B6,
    title: "random phase",
    question: "Does it matter when a sleep begins?",
    method: "The simplest sleep runs back to back, and then again with a pause of random length before each call \
             (spinning, uniform over whole ticks: 20 ms or more). On a system with a tick, back-to-back calls all \
             begin just after a tick and take a whole one, while calls at random phase take anything from nothing to a \
             tick. If every wait has its own timer, both agree.",
    quantities: &[Quantity::Lateness],
    columns: &[Column {
        name: label::PHASE.name(),
        meaning: "back-to-back, or random: after a pause of random length.",
    }],
    probes,
    ..Experiment::BLANK
};

fn probes(platform: &dyn Platform, plan: &Plan) -> Vec<Box<dyn Probe>> {
    let Some(sleep) = choose::simplest_sleep(platform) else { return Vec::new() };
    let amount = Amount {
        count: plan.depth.pick(30, 33, 1_000),
        time: plan.depth.pick(Nanos::from_millis(800), Nanos::from_secs(2), Nanos::from_secs(30)),
        rounds: 3,
    }
    .limited_by(plan);
    plan.requests_or(&[Nanos::from_millis(1)])
        .into_iter()
        .flat_map(|requested| {
            [(Phase::BackToBack, Pace::BackToBack), (Phase::Random, Pace::RandomPhase)].map(|(phase, pace)| {
                WaitProbe::new(platform, B6.id, sleep.name, requested, amount)
                    .keyed(|key| key.word(phase))
                    .paced(pace)
                    .labelled(label::PHASE, phase)
                    .under(plan.conditions.clone())
                    .boxed()
            })
        })
        .collect()
}
