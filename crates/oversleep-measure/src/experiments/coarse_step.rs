//! B3: poll a coarse clock until it has moved 32 ms.

use oversleep_record::conditions::Setting;
use oversleep_record::series::{Quantity, Series, Unit};
use oversleep_record::{Conditions, ExperimentId, Nanos, Unavailable};
use oversleep_system::{Platform, Scope};

use super::{choose, clocks_together};
use crate::bench::Bench;
use crate::experiment::{Column, Command, Experiment};
use crate::plan::Plan;
use crate::probe::Probe;
use crate::recorder::SeriesRecorder;

pub(super) static B3: Experiment = Experiment {
    id: ExperimentId::B3,
    title: "the coarse clock's real step",
    question: "How large are the steps of a coarse clock really?",
    method: "The coarse clocks are polled in turn, without a pause, until each has moved 32 ms (and at least twice); every \
             change is one value of its series. The step that the system states can differ from the step that a program sees, \
             so both are shown. On Linux the step is one scheduler tick (1/HZ), on Windows 15.625 ms. If processes \
             may request a finer timer interrupt, the clock that programs time with is polled once more while this \
             process holds 1 ms: GetTickCount64 keeps its step.",
    quantities: &[Quantity::Step],
    columns: &[Column { name: "step", meaning: "The difference between two consecutive different readings." }],
    commands: &[Command::Clocks],
    probes,
    ..Experiment::BLANK
};

/// How far the clock must move in one round.
const DISTANCE: Nanos = Nanos(32_000_000);
/// The resolution held while the first coarse clock is polled again: the one that programs request most.
const FINER: Setting = Setting::Nanos(Nanos::from_millis(1));

fn probes(platform: &dyn Platform, plan: &Plan) -> Vec<Box<dyn Probe>> {
    let names = choose::coarse_clocks(platform).into_iter().map(|clock| clock.info().name);
    let wanted: Vec<&'static str> = names.filter(|name| plan.wants(name)).collect();
    let mut probes = Vec::new();
    if !wanted.is_empty() {
        probes.push(CoarseStep::boxed(platform, plan, &wanted, None));
    }
    let first = choose::coarse_clock(platform).map(|clock| clock.info().name).filter(|name| plan.wants(name));
    let shared = platform.resolution_tunable().filter(|tunable| {
        let info = tunable.info();
        info.scope != Scope::Thread && tunable.validate(&FINER).is_ok() && plan.conditions.setting(info.name).is_none()
    });
    if let (Some(clock), Some(tunable)) = (first, shared) {
        probes.push(CoarseStep::boxed(platform, plan, &[clock], Some(tunable.info().name)));
    }
    probes
}

/// Clocks that are polled in one loop.
struct CoarseStep {
    /// The index of each in the registry, and its series.
    clocks: Vec<(usize, SeriesRecorder)>,
    names: Vec<&'static str>,
    rounds: u32,
    conditions: Conditions,
}

impl CoarseStep {
    /// A probe of those clocks, with that tunable held at [`FINER`].
    fn boxed(platform: &dyn Platform, plan: &Plan, names: &[&'static str], held: Option<&str>) -> Box<dyn Probe> {
        let conditions = match held {
            Some(tunable) => plan.conditions_and(Conditions::as_found().with(tunable, FINER)),
            None => plan.conditions.clone(),
        };
        let followed = |name: &&'static str| {
            let index = platform.clocks().iter().position(|clock| clock.info().name == *name);
            let mut series = Series::new(B3.id, name, Quantity::Step, Unit::Ns);
            series.clock = (*name).to_owned();
            if let Some(tunable) = held {
                series.key = series.key.setting(tunable, &FINER);
            }
            series.conditions = conditions.clone();
            (index.expect("it is of this registry"), SeriesRecorder::new(series, 1_000))
        };
        let clocks = names.iter().map(followed).collect();
        Box::new(CoarseStep { clocks, names: names.to_vec(), rounds: plan.depth.pick(2, 3, 20), conditions })
    }
}

impl Probe for CoarseStep {
    fn label(&self) -> String {
        format!("{}: 32 ms of steps", self.names.join(", "))
    }

    fn rounds(&self) -> u32 {
        self.rounds
    }

    fn round_estimate(&self) -> Nanos {
        DISTANCE
    }

    fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    fn round(&mut self, bench: &Bench) -> Result<(), Unavailable> {
        clocks_together::record_steps(bench, &mut self.clocks, DISTANCE);
        Ok(())
    }

    fn recorders(&mut self) -> Vec<&mut SeriesRecorder> {
        self.clocks.iter_mut().map(|(_, recorder)| recorder).collect()
    }
}

#[cfg(test)]
mod tests {
    use oversleep_model::sim::Sim;

    use super::*;
    use crate::testing;

    #[test]
    fn eight_steps_of_4_ms_per_round() {
        let sim = Sim::start(testing::machine().build());
        let measured = testing::measure_on(sim.clone(), probes(&*sim, &Plan::default()));
        assert_eq!(measured.series.len(), 1);
        assert_eq!(measured.series[0].samples.value, vec![4_000_000; 24]);
    }
}
