//! A small modelled machine for the tests of this room.

use std::sync::Arc;

use oversleep_record::Nanos;
use oversleep_record::clock::{AcrossSuspend, Counts, Epoch};
use oversleep_record::series::{Pace, Series};

use super::bench::{Bench, StopFlag};
use super::probe::{Measured, Probe};
use super::rounds::{Silent, measure};
use super::wait_probe::{Amount, WaitProbe};
use crate::platform::sim::{ClockModel, ClockSource, Machine, Overshoot, Sim, Stall, WaitModel};
use crate::platform::{ClockInfo, Family, Granularity, SharedPlatform, SlackRule, WaitInfo, ZeroMeans};

/// Builds a machine step by step.
#[derive(Clone)]
pub(crate) struct MachineBuilder(Machine);

/// Two CPUs, a 20 ns clock, a coarse one that steps by 4 ms, a CPU-time clock, hand-offs that take 5 µs, no waits.
pub(crate) fn machine() -> MachineBuilder {
    let clock = |name, counts, source, cost, step| ClockModel {
        info: ClockInfo {
            name,
            call: name,
            doc: "modelled",
            counts,
            epoch: Epoch::Boot,
            unit: "ns",
            across_suspend: AcrossSuspend::Stops,
            bits: 64,
            may_avoid_syscall: true,
            since: "",
            page: "",
        },
        source,
        read_cost_ns: Nanos(cost),
        step_ns: Nanos(step),
        drift_ppm: 0,
        skew_ns: Nanos::ZERO,
    };
    MachineBuilder(Machine {
        name: "test".to_owned(),
        os: "linux".to_owned(),
        arch: "x86_64".to_owned(),
        cpu_count: 2,
        reference_read_cost_ns: Nanos(20),
        relax_cost_ns: Nanos(500),
        work_unit_cost_ns: Nanos(1_000),
        spawn_cost_ns: Nanos(15_000),
        handoff_wake_ns: Nanos(5_000),
        default_slack_ns: Nanos(50_000),
        clocks: vec![
            clock("monotonic", Counts::ElapsedTime, ClockSource::Elapsed, 20, 1),
            clock("monotonic-coarse", Counts::ElapsedTime, ClockSource::Elapsed, 50, 4_000_000),
            clock("clock", Counts::ProcessCpuTime, ClockSource::ThreadCpu, 280, 1_000),
        ],
        waits: Vec::new(),
        handoffs: vec!["futex", "eventfd"],
        stalls: Vec::new(),
    })
    .with_yield()
}

impl MachineBuilder {
    fn add(mut self, name: &'static str, family: Family, granularity: Granularity, overshoot: Overshoot) -> Self {
        self.0.waits.push(WaitModel {
            info: WaitInfo {
                name,
                call: name,
                doc: "modelled",
                family,
                absolute: name.ends_with("-abs"),
                granularity,
                zero: ZeroMeans::ReturnsAtOnce,
                slack: SlackRule::ThreadSlack,
                since: "",
                page: "",
            },
            overshoot,
            delay_per_hog_ns: Nanos::ZERO,
        });
        self
    }

    fn with_yield(self) -> Self {
        self.add("sched-yield", Family::Yield, Granularity::NANOSECOND, Overshoot::Fixed(Nanos::ZERO))
    }

    pub(crate) fn with_wait(self, name: &'static str, overshoot: Overshoot) -> Self {
        self.add(name, Family::Sleep, Granularity::NANOSECOND, overshoot)
    }

    pub(crate) fn with_millisecond_wait(self, name: &'static str, overshoot: Overshoot) -> Self {
        self.add(name, Family::Poll, Granularity::MILLISECOND, overshoot)
    }

    pub(crate) fn with_delay_per_hog(mut self, name: &str, delay: Nanos) -> Self {
        self.0.waits.iter_mut().filter(|wait| wait.info.name == name).for_each(|wait| wait.delay_per_hog_ns = delay);
        self
    }

    pub(crate) fn with_stall(mut self, stall: Stall) -> Self {
        self.0.stalls.push(stall);
        self
    }

    pub(crate) fn with_clock(mut self, name: &str, change: impl FnOnce(&mut ClockModel)) -> Self {
        change(self.0.clocks.iter_mut().find(|clock| clock.info.name == name).expect("a clock of the builder"));
        self
    }

    pub(crate) fn build(self) -> Machine {
        self.0
    }
}

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
    let probe = WaitProbe::new(&*sim, "B5", wait, requested, "", amount).paced(pace);
    let measured = measure_on(sim, vec![probe.boxed()]);
    measured.series.into_iter().next().expect("one series")
}
