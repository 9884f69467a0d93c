//! Builds a machine from the figures of a profile.

mod facts;
mod figures;
mod turns;

use oversleep_record::Nanos;
use oversleep_record::clock::Counts;
use oversleep_system::{ClockInfo, Cpu, CpuKind, Follows, WaitInfo};

use super::MachineError;
use super::bounds::{self, check_clock};
use super::profile::Profile;
use super::versions;
use crate::sim::systems::{SYSTEMS, System};
use crate::sim::{
    ClockModel, ClockSource, Machine, OneShot, PollShare, Reach, Tick, TickBase, Tier, Timing, WaitModel, Wake,
};

pub(super) use figures::Figures;

/// The machine's name in every heading and file. It includes the changes, so that nobody mistakes it for the original.
fn full_name(profile: &Profile, seed: u64) -> String {
    let mut parts = profile.changes.clone();
    if seed != super::SEED {
        parts.push(format!("seed {seed}"));
    }
    if parts.is_empty() { profile.name.clone() } else { format!("{} with {}", profile.name, parts.join(", ")) }
}

/// The machine of a profile.
pub(super) fn machine(profile: &Profile, seed: u64) -> Result<Machine, MachineError> {
    let figures = Figures(profile);
    let os = figures.text("machine.os");
    let system = SYSTEMS
        .into_iter()
        .find(|system| system.os == os)
        .ok_or_else(|| figures.wrong("machine.os", "it is not stated"))?;
    for (path, stated) in &profile.stated {
        bounds::check(path, &stated.value).map_err(|why| figures.wrong(path, why))?;
    }
    if let Some(path) = bounds::NEEDED.iter().find(|path| figures.value(path).is_none()) {
        return Err(figures.wrong(path, "it is not stated"));
    }
    let count = figures.integer("cpus.count");
    let timing = timing(&figures)?;
    let clocks = clocks(&figures, system, &timing)?;
    Ok(Machine {
        name: full_name(profile, seed),
        os: os.to_owned(),
        arch: figures.text("machine.arch").to_owned(),
        seed,
        cpus: cpus(&figures, count)?,
        scheduler: turns::scheduler(&figures, system)?,
        wake: wake(&figures),
        reference_clock: system.reference_clock(),
        relax_cost_ns: figures.span("work.relax"),
        work_unit_cost_ns: figures.span("work.unit"),
        loads: system.loads(),
        timer_load_work_ns: figures.span("work.timer-load"),
        spawn_cost_ns: figures.span("wake.thread-start"),
        handoff_wake: figures.spread("wake.handoff"),
        yield_cost: figures.spread("wake.yield"),
        clocks,
        waits: system.waits().map(|info| wait(&figures, &timing, info)).collect(),
        handoffs: system.handoffs().iter().map(|info| (info, figures.missing(info.name, info.since))).collect(),
        runtime_calls: Vec::new(),
        tunables: system.tunables().collect(),
        facts: facts::stated(&figures, &timing, count, seed)?,
        timing,
        stalls: Vec::new(),
    })
}

fn cpus(figures: &Figures<'_>, count: i64) -> Result<Vec<Cpu>, MachineError> {
    let stated = figures.integer("cpus.efficiency");
    // A machine with fewer CPUs than its profile's has fewer efficiency cores, too.
    if stated > count && figures.is_by_user("cpus.efficiency") {
        let why = format!("the machine has {count} CPUs; write at most {count}, or change cpus.count too");
        return Err(figures.wrong("cpus.efficiency", why));
    }
    let thrifty = stated.min(count);
    let kind = |number: i64| match thrifty {
        0 => CpuKind::Uniform,
        _ if number < count - thrifty => CpuKind::Performance,
        _ => CpuKind::Efficiency,
    };
    Ok((0..count).map(|number| Cpu { number: number as u32, kind: kind(number) }).collect())
}

/// The cost of a wake-up. A machine whose processors don't enter idle states has no exit cost.
fn wake(figures: &Figures<'_>) -> Wake {
    let stays_awake = figures.is_off("cpus.idle-states");
    let exits = |path| if stays_awake { Vec::new() } else { figures.ladder(path) };
    let has_own = stays_awake && figures.value("wake.cost-awake").is_some();
    Wake {
        cost: figures.spread(if has_own { "wake.cost-awake" } else { "wake.cost" }),
        real_time: figures.spread("wake.real-time"),
        expiry_thread: figures.spread("wake.expiry-thread"),
        idle_exits: exits("wake.idle-exits"),
        real_time_idle_exits: exits("wake.real-time-idle-exits"),
    }
}

fn timing(figures: &Figures<'_>) -> Result<Timing, MachineError> {
    let hz = figures.integer("timers.hz");
    let is_linux = figures.text("machine.os") == "linux";
    if is_linux && hz < 1 {
        return Err(figures.wrong("timers.hz", "it is not stated"));
    }
    let release = versions::release(figures.text(versions::RELEASE));
    let is_before = |version| release.is_some_and(|release| release < version);
    Ok(Timing {
        default_slack_ns: figures.span("timers.slack"),
        poll_share: PollShare {
            plain_ppm: figures.share_ppm("timers.poll-share"),
            nice_ppm: figures.share_ppm("timers.poll-share-nice"),
            max_ns: figures.span("timers.poll-share-most"),
        },
        tick: tick(figures)?,
        one_shot: OneShot {
            grid_ns: figures.span("timers.grid").max(Nanos(1)),
            ends_when_due: figures.text("timers.one-shot-ends") == "when-due",
            p_late: figures.share("timers.grid-p-late"),
            slack_ns: figures.span("timers.one-shot-slack"),
            aligned_max_ns: figures.span("timers.grid-aligned-most"),
        },
        wheel_ns: if hz > 0 { Nanos(1_000_000_000 / hz) } else { Nanos::ZERO },
        // WSL 1 shows a version of Linux, and has none of its code.
        wheel_from_last_tick: is_linux
            && figures.text("facts.virtualisation.wsl") != "wsl1"
            && is_before(versions::STEPPED_WHEEL),
        locks_keep_slack: is_linux && is_before(versions::LOCKS_HEED_POLICY),
        others_hz: u32::try_from(figures.integer("timers.others-hz")).unwrap_or(0),
        tiers: tiers(figures, "timers.tiers"),
        kernel_tier: tiers(figures, "timers.kernel-tier").pop(),
    })
}

fn tiers(figures: &Figures<'_>, path: &str) -> Vec<Tier> {
    figures.tiers(path).into_iter().map(|(name, shift, max_ns)| Tier { name, shift, max_ns }).collect()
}

fn tick(figures: &Figures<'_>) -> Result<Option<Tick>, MachineError> {
    if figures.value("timers.tick").is_none() {
        return Ok(None);
    }
    let (default_ns, shortest_ns) = (figures.span("timers.tick"), figures.span("timers.tick-shortest"));
    if shortest_ns > default_ns {
        let why = format!("it is longer than the tick itself, {default_ns}; write less, or change timers.tick too");
        return Err(figures.wrong("timers.tick-shortest", why));
    }
    if figures.span("timers.margin") >= shortest_ns {
        let why = format!("it is not shorter than the shortest tick, {shortest_ns}; write less");
        return Err(figures.wrong("timers.margin", why));
    }
    let timer_hz = figures.integer("timers.timer-hz").unsigned_abs();
    if timer_hz > 0 && 128_000_000_000 / i128::from(timer_hz) * 2 > i128::from(shortest_ns.0) {
        return Err(figures.wrong("timers.timer-hz", "128 cycles of it are not much shorter than the shortest tick"));
    }
    Ok(Some(Tick {
        default_ns,
        shortest_ns,
        timer_hz: (timer_hz > 0).then_some(timer_hz),
        base: if figures.text("timers.base") == "last-tick" { TickBase::LastTick } else { TickBase::Call },
        // Only an idle processor lets one interrupt pass in favour of a slightly later one.
        p_two_tick: if figures.is_off("cpus.idle-states") { 1.0 } else { figures.share("timers.p-two-tick") },
        margin_ns: figures.span("timers.margin"),
        ends_waits: !figures.is_off("timers.tick-ends-waits"),
        held_ns: figures.span("timers.held-by-others"),
        reach: if figures.text("timers.requests-reach") == "asker" { Reach::Requesters } else { Reach::Everyone },
        drops_hidden: figures.flag("timers.drops-hidden"),
        is_hidden: figures.flag("timers.window-hidden"),
    }))
}

fn clocks(figures: &Figures<'_>, system: System, timing: &Timing) -> Result<Vec<ClockModel>, MachineError> {
    let arch = figures.text("machine.arch");
    let clocks = system.clocks().filter(|info| info.is_on(arch));
    clocks.map(|&info| clock(figures, info, timing, system)).collect()
}

fn clock(figures: &Figures<'_>, info: ClockInfo, timing: &Timing, system: System) -> Result<ClockModel, MachineError> {
    let name = info.name;
    let frequency_hz = match info.unit.frequency_hz() {
        Some(hz) => hz,
        None => {
            let path = format!("frequencies.{name}");
            // Counters of one processor have one frequency: rdtscp is rdtsc's.
            let shared = if name.starts_with("tsc") { "frequencies.tsc" } else { &path };
            match figures.integer(&path).max(figures.integer(shared)).unsigned_abs() {
                hz @ 1..=10_000_000_000 => hz,
                _ => return Err(figures.wrong(&path, "a counter counts from 1 to 10,000,000,000 times per second")),
            }
        }
    };
    let finest = Nanos(i64::try_from(1_000_000_000 / frequency_hz).unwrap_or(1).max(1));
    // Clocks don't follow a tick that ends no waits.
    let has_tick = timing.tick.as_ref().is_some_and(|tick| tick.ends_waits);
    let followed = match info.follows {
        Follows::KernelTick => timing.wheel_ns.max(finest),
        Follows::DefaultTick if has_tick => timing.tick.as_ref().map_or(finest, |tick| tick.default_ns),
        // The unit rounds the reading; the step is that of the clock's source.
        _ => finest.max(figures.counter_period(&info)),
    };
    let own = figures.span(&format!("steps.{name}"));
    let clock = ClockModel {
        source: match (info.counts, info.follows) {
            (Counts::ThreadCpuTime, _) => ClockSource::ThreadCpu,
            (Counts::ProcessCpuTime, _) => ClockSource::ProcessCpu,
            (_, Follows::LastInterrupt) if has_tick || timing.tick.is_none() => ClockSource::LastInterrupt,
            (_, Follows::DefaultTick) if has_tick => ClockSource::DefaultTick,
            _ => ClockSource::Elapsed,
        },
        read_cost_ps: figures.cost_ps(system, &info),
        step_ns: if own > Nanos::ZERO { own } else { followed },
        frequency_hz,
        drift_ppm: 0,
        skew_ns: Nanos::ZERO,
        unavailable: figures.missing(name, info.since),
        info,
    };
    match check_clock(&clock, system.reference_clock()) {
        Ok(()) => Ok(clock),
        Err(why) => Err(figures
            .wrong(name, format!("{why}, and this takes {} ps and steps by {}", clock.read_cost_ps, clock.step_ns))),
    }
}

fn wait(figures: &Figures<'_>, timing: &Timing, info: &WaitInfo) -> WaitModel {
    let name = info.name;
    let own = figures.span(&format!("grids.{name}"));
    // Without high-resolution timers the kernel checks for expired timers at its own tick.
    let grid_ns = if lacks_high_resolution(figures, timing) { own.max(timing.wheel_ns) } else { own };
    let raises = figures.span(&format!("raises.{name}"));
    WaitModel {
        extra: figures.spread(&format!("extra.{name}")),
        shortest_ns: figures.span(&format!("shortest.{name}")),
        unit_ns: figures.span(&format!("units.{name}")).max(Nanos(1)),
        tolerance_ns: figures.span(&format!("tolerance.{name}")),
        grid_ns,
        raises_to_ns: (raises > Nanos::ZERO).then_some(raises),
        unavailable: figures.missing(name, info.since),
        ..WaitModel::by_rule(info.clone())
    }
}

/// Whether it is a Linux whose kernel was built or booted without high-resolution timers.
fn lacks_high_resolution(figures: &Figures<'_>, timing: &Timing) -> bool {
    timing.tick.is_none() && timing.wheel_ns > Nanos::ZERO && !figures.flag("timers.high-resolution")
}
