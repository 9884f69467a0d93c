//! B9: waits under load.

use oversleep_record::series::Quantity;
use oversleep_record::{Conditions, ExperimentId, Nanos};
use oversleep_system::waits::composed;
use oversleep_system::{Family, Platform};

use super::choose;
use crate::experiment::{Column, Experiment};
use crate::plan::{Depth, Plan};
use crate::probe::Probe;
use crate::{Amount, WaitProbe};

pub(super) static B9: Experiment = Experiment {
    id: ExperimentId::B9,
    title: "waits under load",
    question: "What happens to waits when every CPU is busy?",
    method: "One wait of each family and the spinning waits run at 1 ms beside one busy thread per CPU. The kinds of \
             load are threads that never sleep, that stream through memory, that make system calls endlessly, and that \
             fire timers. Their rounds alternate with those of the idle series, so both see the same machine. A fair \
             scheduler usually lets a sleeper in at once; a spinner has used up its share and pays with whole time \
             slices.",
    quantities: &[Quantity::Lateness],
    columns: &[Column { name: "load", meaning: "The kind of load and its number of threads." }],
    probes,
    ..Experiment::BLANK
};

fn probes(platform: &dyn Platform, plan: &Plan) -> Vec<Box<dyn Probe>> {
    let cpus = u32::try_from(platform.cpus().len()).unwrap_or(1);
    let families = [Family::Sleep, Family::Poll, Family::Lock, Family::Timer, Family::Message];
    let mut waits = choose::first_of_each(platform, &families);
    waits.extend(composed::ALL.map(str::to_owned));
    if !plan.subjects.is_empty() {
        waits.clone_from(&plan.subjects);
    }
    let amount = Amount {
        count: plan.depth.pick(12, 30, 1_000),
        time: plan.depth.pick(Nanos::from_millis(80), Nanos::from_millis(160), Nanos::from_secs(5)),
        rounds: 3,
    }
    .limited_by(plan);
    let mut probes = Vec::new();
    for (index, load) in platform.loads().iter().enumerate() {
        // The first kind is the plain CPU hog. Beside the others only the simplest sleep is measured, unless there is
        // time.
        let all_waits = index == 0 || plan.depth == Depth::Thorough;
        if plan.depth == Depth::Quick && index > 0 {
            continue;
        }
        for wait in waits.iter().take(if all_waits { waits.len() } else { 1 }) {
            for requested in plan.requests_or(&[Nanos::from_millis(1)]) {
                let kind = load.info().name;
                let conditions = plan.conditions_and(Conditions::as_found().with_load(kind, cpus));
                probes.push(
                    WaitProbe::new(platform, B9.id, wait, requested, amount)
                        .keyed(|key| key.named("load", format_args!("{kind}:{cpus}")))
                        .under(conditions)
                        .boxed(),
                );
            }
        }
    }
    probes
}
