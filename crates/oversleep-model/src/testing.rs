//! A small modelled machine, built step by step, for tests.

use oversleep_record::clock::Counts;
use oversleep_record::environment::{Environment, FactValue};
use oversleep_record::{FactName, Nanos};
use oversleep_system::{
    ClockInfo, Cpu, CpuKind, Family, Granularity, SlackRule, Takes, WaitInfo, clocks, describe, handoffs, loads,
    tunables,
};

use crate::sim::{
    ClockModel, ClockSource, Machine, OnWake, OneShot, Overshoot, Policy, PollShare, PriorityIs, Scheduler,
    SchedulerKind, Spread, Stall, Starving, Timing, WaitModel, Wake,
};

/// A machine on which waits end exactly when its rules say: waking takes no time, a reading of its
/// clock a nanosecond, and nothing happens by chance.
#[must_use]
pub fn by_rules_alone(mut machine: Machine) -> Machine {
    let none = || Spread::fixed(Nanos::ZERO);
    (machine.wake.cost, machine.wake.real_time, machine.yield_cost) = (none(), none(), none());
    machine.wake.expiry_thread = none();
    machine.wake.idle_exits.clear();
    machine.wake.real_time_idle_exits.clear();
    machine.scheduler.preempt_delay = none();
    machine.scheduler.wake_cpu_ns = Nanos::ZERO;
    machine.stalls.clear();
    if let Some(tick) = &mut machine.timing.tick {
        tick.p_two_tick = 0.0;
    }
    machine.timing.one_shot.p_late = 0.0;
    machine.timing.others_hz = 0;
    machine.waits.iter_mut().for_each(|wait| wait.extra = none());
    for clock in machine.clocks.iter_mut().filter(|clock| clock.info.name == machine.reference_clock) {
        (clock.read_cost_ps, clock.step_ns, clock.frequency_hz) = (1_000, Nanos(1), 1_000_000_000);
        (clock.drift_ppm, clock.skew_ns) = (0, Nanos::ZERO);
    }
    machine
}

/// Builds a machine step by step.
#[derive(Clone)]
pub struct MachineBuilder(Machine);

/// Two CPUs, a 20 ns clock, a coarse one that steps by 4 ms, a CPU-time clock, hand-offs that take 5 µs, no waits.
pub fn machine() -> MachineBuilder {
    let clock = |name, counts, source, cost, step| ClockModel {
        info: ClockInfo { name, call: name, doc: "Modelled.", counts, ..clocks::COMMON },
        source,
        read_cost_ps: cost,
        step_ns: Nanos(step),
        frequency_hz: 1_000_000_000,
        drift_ppm: 0,
        skew_ns: Nanos::ZERO,
        unavailable: None,
    };
    let fixed = |ns| Spread::fixed(Nanos(ns));
    MachineBuilder(Machine {
        name: "test".to_owned(),
        os: "linux".to_owned(),
        arch: "x86_64".to_owned(),
        seed: 1,
        cpus: (0..2).map(|number| Cpu { number, kind: CpuKind::Uniform }).collect(),
        scheduler: Scheduler {
            kind: SchedulerKind::Fair,
            slice_ns: Nanos(3_000_000),
            yield_forfeits: false,
            preempt_delay: fixed(0),
            wake_cpu_ns: Nanos::ZERO,
            starving: Starving { after_ns: Nanos::from_secs(4), look_ns: Nanos::from_secs(1) },
            policies: vec![Policy {
                name: "other".to_owned(),
                priority: (-20, 19),
                rank: 0,
                priority_is: PriorityIs::Nice,
                weight: 1_024,
                is_real_time: false,
                on_wake: OnWake::Displaces,
            }],
            initial: ("other".to_owned(), 0),
        },
        timing: Timing {
            default_slack_ns: Nanos(50_000),
            poll_share: PollShare { plain_ppm: 1_000, nice_ppm: 5_000, max_ns: Nanos::from_millis(100) },
            tick: None,
            one_shot: OneShot {
                grid_ns: Nanos(1),
                ends_when_due: false,
                p_late: 0.0,
                slack_ns: Nanos::ZERO,
                aligned_max_ns: Nanos::ZERO,
            },
            wheel_ns: Nanos::from_millis(4),
            wheel_from_last_tick: false,
            locks_keep_slack: false,
            others_hz: 0,
            tiers: Vec::new(),
            kernel_tier: None,
        },
        wake: Wake {
            cost: fixed(0),
            real_time: fixed(0),
            expiry_thread: fixed(0),
            idle_exits: Vec::new(),
            real_time_idle_exits: Vec::new(),
        },
        reference_clock: "monotonic",
        relax_cost_ns: Nanos(500),
        loads: loads::LINUX,
        timer_load_work_ns: Nanos(5_000),
        work_unit_cost_ns: Nanos(1_000),
        spawn_cost_ns: Nanos(15_000),
        handoff_wake: fixed(5_000),
        yield_cost: fixed(1_000),
        clocks: vec![
            clock("monotonic", Counts::ElapsedTime, ClockSource::Elapsed, 20_000, 1),
            clock("monotonic-coarse", Counts::ElapsedTime, ClockSource::Elapsed, 50_000, 4_000_000),
            clock("clock", Counts::ProcessCpuTime, ClockSource::ThreadCpu, 280_000, 1_000),
        ],
        waits: Vec::new(),
        handoffs: vec![(describe!(handoffs::LINUX, "futex"), None), (describe!(handoffs::LINUX, "eventfd"), None)],
        runtime_calls: Vec::new(),
        tunables: tunables::LINUX[..3].iter().collect(),
        facts: facts(),
        stalls: Vec::new(),
    })
    .with_yield()
}

fn facts() -> Environment {
    let mut facts = Environment::default();
    facts.set(FactName::CpuCount, FactValue::Integer(2), "model");
    facts.set(FactName::TimerSlack, FactValue::Nanos(Nanos(50_000)), "model");
    facts
}

impl MachineBuilder {
    fn add(mut self, name: &'static str, family: Family, granularity: Granularity, overshoot: Overshoot) -> Self {
        self.0.waits.push(WaitModel {
            overshoot,
            ..WaitModel::by_rule(WaitInfo {
                name,
                call: name,
                family,
                takes: match family {
                    Family::Yield => Takes::Nothing,
                    _ if name.ends_with("-abs") => Takes::Deadline,
                    _ => Takes::Span,
                },
                granularity,
                slack: SlackRule::ThreadSlack,
                ..WaitInfo::BLANK
            })
        });
        self
    }

    fn with_yield(self) -> Self {
        self.add("sched-yield", Family::Yield, Granularity::NANOSECOND, Overshoot::Fixed(Nanos::ZERO))
    }

    /// A sleep in whole nanoseconds.
    pub fn with_wait(self, name: &'static str, overshoot: Overshoot) -> Self {
        self.add(name, Family::Sleep, Granularity::NANOSECOND, overshoot)
    }

    /// A polling wait that takes whole milliseconds.
    pub fn with_millisecond_wait(self, name: &'static str, overshoot: Overshoot) -> Self {
        self.add(name, Family::Poll, Granularity::MILLISECOND, overshoot)
    }

    /// Sets the delay until a woken thread displaces another one when all CPUs are taken.
    pub fn with_preempt_delay(mut self, delay: Nanos) -> Self {
        self.0.scheduler.preempt_delay = Spread::fixed(delay);
        self
    }

    /// Sets the number of CPUs, which are all alike.
    pub fn with_cpus(mut self, count: u32) -> Self {
        self.0.cpus = (0..count).map(|number| Cpu { number, kind: CpuKind::Uniform }).collect();
        self
    }

    /// Adds a time in which nothing of this process runs.
    pub fn with_stall(mut self, stall: Stall) -> Self {
        self.0.stalls.push(stall);
        self
    }

    /// Changes a clock.
    pub fn with_clock(mut self, name: &str, change: impl FnOnce(&mut ClockModel)) -> Self {
        change(self.0.clocks.iter_mut().find(|clock| clock.info.name == name).expect("a clock of the builder"));
        self
    }

    /// The machine.
    pub fn build(self) -> Machine {
        self.0
    }
}
