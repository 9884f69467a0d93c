//! 200 µs burnt at one stage: the right part grows by as much, against runs without in turn.

use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use aya::programs::BtfTracePoint;
use aya::{Btf, Ebpf, EbpfLoader};
use oversleep_why::Part;

use super::observe::{Running, collector, judge, p50, timed, watch};
use super::victim;

static OBJECT: &[u8] = aya::include_bytes_aligned!("../../../../crates/oversleep-collect/bpf/inject.bpf.o");

const BURNT_NS: i64 = 200_000;
/// What both runs burn where time is exact.
const COMMON_NS: i64 = 200_000;

/// How often each stage is tried, and how exact nine of ten rounds must be.
#[derive(Clone, Copy)]
pub struct Bar {
    pub rounds: usize,
    pub bound_ns: i64,
    /// The injector is loaded in both runs, and burns 200 µs more in one of them: its own cost, of about 1 µs, is no part
    /// of the difference.
    pub is_exact: bool,
}
const RUN: Duration = Duration::from_millis(600);

pub struct Stage {
    pub name: &'static str,
    number: u32,
    hooks: &'static [(&'static str, &'static str)],
    part: Part,
    /// Ours comes first, because the stage begins with our own event.
    is_after: bool,
    /// Another task must set timers on the CPU all the time.
    needs_timers: bool,
}

const fn stage(name: &'static str, number: u32, hooks: &'static [(&'static str, &'static str)], part: Part) -> Stage {
    Stage { name, number, hooks, part, is_after: number == 1, needs_timers: number == 3 }
}

const ARM: (&str, &str) = ("at_arm", "hrtimer_start");
/// Where the processor's own timer has no tracepoint, its interrupt is one of a device.
const TIMER_IRQ: (&str, &str) =
    ("at_timer_irq", if cfg!(target_arch = "x86_64") { "local_timer_entry" } else { "irq_handler_entry" });

pub const STAGES: &[Stage] = &[
    stage("inject sys_enter", 1, &[("at_enter", "sys_enter")], Part::Api),
    stage("inject timer interrupt", 2, &[ARM, TIMER_IRQ], Part::Irq),
    stage("inject interrupts off", 3, &[ARM], Part::Irq),
    stage("inject sched_waking", 4, &[("at_waking", "sched_waking")], Part::Wake),
    stage("inject sched_wakeup", 5, &[("at_queued", "sched_wakeup")], Part::Ipi),
    stage("inject sched_switch", 6, &[("at_switch", "sched_switch")], Part::Runq),
    stage("inject sys_exit", 7, &[("at_return", "sys_exit")], Part::Ret),
];

fn injector(stage: &Stage, pid: u32, burnt_ns: i64) -> Result<Ebpf, String> {
    let said = |error: &dyn std::error::Error| format!("SKIPPED: the injector can't be loaded (Linux 5.17): {error}");
    let btf = Btf::from_sys_fs().map_err(|error| said(&error))?;
    let burnt_ns = burnt_ns.max(0) as u64;
    let mut loader = EbpfLoader::new();
    loader.btf(Some(&btf)).override_global("tgid_of_victim", &pid, true).override_global("stage", &stage.number, true);
    loader.override_global("burn_ns", &burnt_ns, true);
    let mut bpf = loader.load(OBJECT).map_err(|error| said(&error))?;
    for (function, tracepoint) in stage.hooks {
        let program = bpf.program_mut(function).ok_or("the injector has no such function")?;
        let program: &mut BtfTracePoint = program.try_into().map_err(|error| said(&error))?;
        program.load(tracepoint, &btf).map_err(|error| said(&error))?;
        program.attach().map_err(|error| said(&error))?;
    }
    Ok(bpf)
}

/// The median of the stage's part, with or without the injection.
fn run(stage: &Stage, pid: u32, burnt_ns: Option<i64>) -> Result<i64, String> {
    let load = |is_now: bool| burnt_ns.filter(|_| is_now).map(|burnt_ns| injector(stage, pid, burnt_ns)).transpose();
    let before = load(!stage.is_after)?;
    let mut collector = collector()?;
    let after = load(stage.is_after)?;
    collector.follow(pid).map_err(|error| error.to_string())?;
    let waits = timed(watch(&mut collector, RUN));
    drop((before, after));
    if let Some(wait) = waits.iter().find(|wait| wait.parts.sum() != wait.lateness_ns) {
        return Err(format!("parts that don't add up: {wait:?}"));
    }
    p50(&waits, stage.part)
}

/// This process on the first CPU; afterwards on those that it had. Programs that it starts inherit that, and
/// SCHED_DEADLINE is refused to those that may not use every CPU.
struct OnFirstCpu {
    before: Option<String>,
}

impl OnFirstCpu {
    fn begin() -> OnFirstCpu {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        set_cpus("0");
        OnFirstCpu { before: list.map(|list| list.trim().to_owned()) }
    }
}

impl Drop for OnFirstCpu {
    fn drop(&mut self) {
        if let Some(cpus) = &self.before {
            set_cpus(cpus);
        }
    }
}

fn set_cpus(cpus: &str) {
    let _ = Command::new("taskset").args(["-apc", cpus, &std::process::id().to_string()]).output();
}

pub fn check(stage: &Stage, bar: Bar) -> Result<String, String> {
    // This program and what it measures are on two CPUs.
    let _apart = OnFirstCpu::begin();
    // Whatever else runs on this machine must not get in its way.
    let victim = Running::start(&mut victim::with(&victim::before_others(), "waits:1000"))?;
    let mut other = if stage.needs_timers {
        // Before anything that shares the CPU, and after the victim: otherwise it is at work at only some of the expiries.
        Some(victim::with(&victim::after_it(), "sets-timers:0"))
    } else {
        // How long an idle CPU takes to come back depends on the host, and changes between two runs by more than the bound.
        victim::keeps_busy()
    };
    let _other = other.as_mut().map(Running::start).transpose()?;
    sleep(Duration::from_millis(200));
    let mut grown = Vec::new();
    for _ in 0..bar.rounds {
        let common = bar.is_exact.then_some(COMMON_NS);
        let without = run(stage, victim.pid(), common)?;
        // Interrupts that stay off begin with the expiry: they end what is usual and what is burnt at once.
        let usual = if stage.needs_timers { without } else { 0 };
        grown.push(run(stage, victim.pid(), Some(BURNT_NS + common.unwrap_or(usual)))? - without);
    }
    let good = grown.iter().filter(|ns| (*ns - BURNT_NS).abs() <= bar.bound_ns).count();
    grown.sort_unstable();
    let us = |ns: i64| ns as f64 / 1e3;
    let text = format!(
        "{}: +{:.1} µs ({:.1} to {:.1}), {good} of {} rounds within 200 ± {} µs",
        stage.part.name(),
        us(grown[bar.rounds / 2]),
        us(grown[0]),
        us(grown[bar.rounds - 1]),
        bar.rounds,
        us(bar.bound_ns),
    );
    judge(good * 10 >= bar.rounds * 9, text)
}
