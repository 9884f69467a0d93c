//! What the tests of this crate share: runs of probes on a small modelled machine.

use std::sync::Arc;

use oversleep_model::sim::Sim;
use oversleep_record::series::{Pace, Series};
use oversleep_record::{ExperimentId, Nanos};
use oversleep_system::SharedPlatform;

use super::bench::{Bench, StopFlag};
use super::probe::{Measured, Probe};
use super::rounds::{Silent, measure};
use super::{Amount, WaitProbe};

pub(crate) use oversleep_model::testing::{MachineBuilder, machine};

pub(crate) fn measure_on(sim: Arc<Sim>, probes: Vec<Box<dyn Probe>>) -> Measured {
    let platform: SharedPlatform = sim;
    let bench = Bench::new(platform, StopFlag::new(), None).expect("the reference clock is always there");
    let mut measured = Measured::default();
    measure(&bench, probes, None, &mut Silent, &mut measured);
    measured
}

pub(crate) fn wait_series(machine: MachineBuilder, wait: &str, requested: Nanos, pace: Pace, count: u64) -> Series {
    let sim = Sim::start(machine.build());
    let amount = Amount { count, time: Nanos::MAX, rounds: 1 };
    let probe = WaitProbe::new(&*sim, ExperimentId::B5, wait, requested, amount).paced(pace);
    let measured = measure_on(sim, vec![probe.boxed()]);
    measured.series.into_iter().next().expect("one series")
}
