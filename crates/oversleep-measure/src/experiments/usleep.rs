//! B4: loops of usleep(1000) and usleep(300), per kind of CPU.

use oversleep_record::conditions::Setting;
use oversleep_record::series::{Pace, Quantity};
use oversleep_record::{Conditions, ExperimentId, Nanos, label};
use oversleep_system::tunables::names;
use oversleep_system::{CpuKind, Platform};

use super::choose;
use crate::experiment::{Column, Experiment};
use crate::plan::Plan;
use crate::probe::Probe;
use crate::{Amount, WaitProbe};

pub(super) static B4: Experiment = Experiment {
    id: ExperimentId::B4,
    title: "usleep loops",
    question: "How long do usleep(1000) and usleep(300) take, and does it depend on the kind of CPU?",
    method: "The calls run back to back, each with its own deadline. If the machine has performance and efficiency \
             cores, the loop also runs pinned to one of each, because their wake-up costs differ. Platforms without \
             usleep measure their simplest sleep.",
    quantities: &[Quantity::Lateness],
    columns: &[Column {
        name: label::CPU_KIND.name(),
        meaning: "The kind of CPU the loop was pinned to: performance or efficiency.",
    }],
    probes,
    ..Experiment::BLANK
};

fn probes(platform: &dyn Platform, plan: &Plan) -> Vec<Box<dyn Probe>> {
    let Some(name) =
        platform.wait("usleep").map(|wait| wait.info().name).or(choose::simplest_sleep(platform).map(|i| i.name))
    else {
        return Vec::new();
    };
    let amount = Amount {
        count: plan.depth.pick(30, 60, 2_000),
        time: plan.depth.pick(Nanos::from_millis(400), Nanos::from_secs(1), Nanos::from_secs(30)),
        rounds: 3,
    }
    .limited_by(plan);
    let mut probes = Vec::new();
    for requested in plan.requests_or(&[Nanos::from_micros(300), Nanos::from_millis(1)]) {
        let probe = || WaitProbe::new(platform, B4.id, name, requested, amount).paced(Pace::BackToBack);
        probes.push(probe().under(plan.conditions.clone()).boxed());
        for kind in [CpuKind::Performance, CpuKind::Efficiency] {
            let Some(cpu) = platform.cpus().into_iter().find(|cpu| cpu.kind == kind) else { continue };
            let pinned = Conditions::as_found().with(names::PIN, Setting::Cpus(vec![cpu.number]));
            probes.push(
                probe()
                    .keyed(|key| key.named(label::CPU_KIND.name(), kind))
                    .under(plan.conditions_and(pinned))
                    .labelled(label::CPU_KIND, kind)
                    .boxed(),
            );
        }
    }
    probes
}
