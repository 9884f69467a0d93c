//! B12: waits that spin, their precision and their CPU time.

use oversleep_record::series::Quantity;
use oversleep_record::{ExperimentId, Nanos};
use oversleep_system::Platform;
use oversleep_system::waits::composed;

use crate::experiment::{Column, Command, Experiment};
use crate::plan::Plan;
use crate::probe::Probe;
use crate::{Amount, WaitProbe};

pub(super) static B12: Experiment = Experiment {
    id: ExperimentId::B12,
    title: "spinning waits",
    question: "How exact are waits that spin, and how much CPU time do they use?",
    method: "Three waits run at 1 ms: reading the clock until the deadline (spin), the same with a yield between reads \
             (spin-yield), and sleeping until 125 µs before the deadline and spinning through the rest (hybrid). The \
             table shows the lateness and the CPU time of the measuring thread per wait, which includes the loop \
             around it. B9 shows the same waits under load, where spinning makes them later.",
    quantities: &[Quantity::Lateness],
    columns: &[Column { name: "CPU per wait", meaning: "CPU time of the measuring thread, divided by its waits." }],
    commands: &[Command::Waits],
    probes,
    ..Experiment::BLANK
};

fn probes(platform: &dyn Platform, plan: &Plan) -> Vec<Box<dyn Probe>> {
    let amount = Amount {
        count: plan.depth.pick(40, 40, 2_000),
        time: plan.depth.pick(Nanos::from_millis(300), Nanos::from_secs(1), Nanos::from_secs(20)),
        rounds: 3,
    }
    .limited_by(plan);
    let waits = composed::ALL.into_iter().filter(|name| plan.wants(name));
    waits
        .flat_map(|wait| {
            plan.requests_or(&[Nanos::from_millis(1)]).into_iter().map(move |requested| {
                WaitProbe::new(platform, B12.id, wait, requested, amount).under(plan.conditions.clone()).boxed()
            })
        })
        .collect()
}
