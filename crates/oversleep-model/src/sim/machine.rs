//! The model of a machine: plain data without behaviour.

use oversleep_record::{Environment, Nanos, Unavailable};
use oversleep_system::rules::{Expiry, Grid, SleepingThread, Timing};
use oversleep_system::runtime_calls::Record;
use oversleep_system::{ClockInfo, Cpu, HandoffInfo, LoadInfo, SlackRule, TunableInfo, WaitInfo};

use super::learned::{Learned, When};
use super::scheduler::Scheduler;
use super::spread::{Random, Spread};

/// A machine in figures.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The profile's name, shown in every heading.
    pub name: String,
    /// `linux`, `windows`, `macos`.
    pub os: String,
    /// `x86_64`, `aarch64`.
    pub arch: String,
    /// The seed of all random values.
    pub seed: u64,
    /// Its CPUs; threads beyond their number wait for one.
    pub cpus: Vec<Cpu>,
    /// How threads share the CPUs.
    pub scheduler: Scheduler,
    /// What decides when timers end.
    pub timing: Timing,
    /// What a wake-up costs.
    pub wake: Wake,
    /// Registry name of the clock that deadlines are on.
    pub reference_clock: &'static str,
    /// Cost of one turn of a spin loop.
    pub relax_cost_ns: Nanos,
    /// Cost of one unit of work.
    pub work_unit_cost_ns: Nanos,
    /// The kinds of load.
    pub loads: &'static [LoadInfo],
    /// The computation of a timer-driven hog at each wake-up, including switches.
    pub timer_load_work_ns: Nanos,
    /// From a thread's creation until it runs.
    pub spawn_cost_ns: Nanos,
    /// From a hand-off's post, or a thread's end, until the waiter runs.
    pub handoff_wake: Spread,
    /// Cost of yielding the CPU when no other thread wants it.
    pub yield_cost: Spread,
    /// Clocks.
    pub clocks: Vec<ClockModel>,
    /// Waits.
    pub waits: Vec<WaitModel>,
    /// Hand-offs, and why the machine doesn't have one.
    pub handoffs: Vec<(&'static HandoffInfo, Option<Unavailable>)>,
    /// Calls of language runtimes as a result shows them, which take precedence over the built-in table.
    pub runtime_calls: Vec<Record>,
    /// What can be changed.
    pub tunables: Vec<&'static TunableInfo>,
    /// Facts about the machine.
    pub facts: Environment,
    /// Times at which nothing runs.
    pub stalls: Vec<Stall>,
}

/// The source of a clock's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockSource {
    /// Virtual time.
    Elapsed,
    /// Virtual time as of the last timer interrupt, whatever its period is now.
    LastInterrupt,
    /// The same, counted in whole default periods: it moves at the interrupt that completes one.
    DefaultTick,
    /// CPU time of the reading thread.
    ThreadCpu,
    /// CPU time of all threads of the process.
    ProcessCpu,
}

/// One clock of a machine.
#[derive(Clone, Debug)]
pub struct ClockModel {
    /// Its description.
    pub info: ClockInfo,
    /// What it follows.
    pub source: ClockSource,
    /// Cost of one read, in ps: most clocks take a few ns.
    pub read_cost_ps: u64,
    /// It shows multiples of this.
    pub step_ns: Nanos,
    /// Ticks per second of the raw value.
    pub frequency_hz: u64,
    /// Parts per million it runs fast.
    pub drift_ppm: i64,
    /// How far it is behind on every second CPU.
    pub skew_ns: Nanos,
    /// Why this machine doesn't have it.
    pub unavailable: Option<Unavailable>,
}

/// The amount by which a wait misses its deadline.
#[derive(Clone, Debug, PartialEq)]
pub enum Overshoot {
    /// By the rules of its system ([`oversleep_system::SlackRule`]), plus the wake cost of the machine.
    ByRule,
    /// A constant; below zero is early.
    Fixed(Nanos),
    /// The thread's slack plus a wake cost.
    SlackPlus(Nanos),
    /// These values in turn, repeatedly.
    Cycle(Vec<Nanos>),
    /// As measured on a real machine.
    Learned(Learned),
}

/// One wait of a machine.
#[derive(Clone, Debug)]
pub struct WaitModel {
    /// Its description.
    pub info: WaitInfo,
    /// How late it is, idle.
    pub overshoot: Overshoot,
    /// Its cost beyond the machine's wake cost.
    pub extra: Spread,
    /// The shortest span it waits; shorter ones are stretched (`SetTimer` has 10 ms).
    pub shortest_ns: Nanos,
    /// The unit to which its span is rounded up, beyond the call's own rounding.
    pub unit_ns: Nanos,
    /// The longest delay that the system may add to serve it together with others.
    pub tolerance_ns: Nanos,
    /// The grid on which it ends; none if zero.
    pub grid_ns: Nanos,
    /// The timer resolution it holds while it waits (`timeSetEvent`).
    pub raises_to_ns: Option<Nanos>,
    /// Why this machine doesn't have it.
    pub unavailable: Option<Unavailable>,
}

impl WaitModel {
    /// A wait that follows the rules of its system.
    pub fn by_rule(info: WaitInfo) -> WaitModel {
        WaitModel {
            info,
            overshoot: Overshoot::ByRule,
            extra: Spread::fixed(Nanos::ZERO),
            shortest_ns: Nanos::ZERO,
            unit_ns: Nanos(1),
            tolerance_ns: Nanos::ZERO,
            grid_ns: Nanos::ZERO,
            raises_to_ns: None,
            unavailable: None,
        }
    }

    /// The span for a request: rounded by the call, then by this machine.
    pub fn rounded(&self, requested: Nanos) -> Nanos {
        self.info.rounded(requested).max(self.shortest_ns).round_up_to(self.unit_ns)
    }

    /// When the rules of its system end the wait that is entered `now` and due at `due`. `grid` is the grid of the
    /// timer interrupt as this process sees it.
    pub fn expiry(
        &self,
        timing: &Timing,
        grid: Option<Grid>,
        thread: &SleepingThread,
        (now, due): (Nanos, Nanos),
        tolerance: Nanos,
        happens: impl FnOnce(f64) -> bool,
    ) -> Expiry {
        match self.grid_ns {
            // Waits on a grid are found by polling, which ignores slack.
            period if period > Nanos::ZERO && self.info.slack != SlackRule::Tick => {
                Expiry::at(Grid { origin: Nanos::ZERO, period }.at_or_after(due))
            }
            _ => timing.timer_expiry(grid, self.info.slack, thread, (now, due), tolerance, happens),
        }
    }

    /// When such a wait of `thread`, entered `now` for that span, ends on this machine while nothing else runs: as
    /// learned, unless a changed setting makes the rules more accurate.
    pub fn end(
        &self,
        timing: &Timing,
        grid: Option<Grid>,
        thread: &SleepingThread,
        (now, requested): (Nanos, Nanos),
        (is_as_found, random): (bool, &Random),
    ) -> Nanos {
        let happens = |probability| random.happens(probability);
        match &self.overshoot {
            Overshoot::Learned(learned) if is_as_found => {
                let was = SleepingThread { slack: learned.slack().unwrap_or(thread.slack), ..*thread };
                let late = learned.draw(requested, random, |when, span| match when {
                    When::Learned => self.put_off(timing, &was, (now, span), happens),
                    When::Now => self.put_off(timing, thread, (now, span), happens),
                });
                now + requested + late
            }
            _ => {
                let due = now + self.rounded(requested);
                let expiry = self.expiry(timing, grid, thread, (now, due), self.tolerance_ns, happens);
                timing.beside_others(expiry, || random.unit()).hard
            }
        }
    }

    /// The rule's delay for a wait of that length that is entered now, if there is such a rule.
    pub fn put_off(
        &self,
        timing: &Timing,
        thread: &SleepingThread,
        (now, span): (Nanos, Nanos),
        happens: impl FnOnce(f64) -> bool,
    ) -> Nanos {
        let rule = self.info.slack;
        if let SlackRule::None | SlackRule::NoTimer | SlackRule::OfItsWaits | SlackRule::TimerResolution = rule {
            return Nanos::ZERO;
        }
        timing.expiry(rule, thread, now, now + self.info.rounded(span), happens).hard - now - span
    }
}

/// The cost of a wake-up, from the timer until the thread runs, on a free CPU.
#[derive(Clone, Debug)]
pub struct Wake {
    /// Interrupt and switch.
    pub cost: Spread,
    /// Interrupt and switch, for a thread under a real-time policy.
    pub real_time: Spread,
    /// Until the thread of the kernel runs in which timers of ordinary threads end, if they end in one.
    pub expiry_thread: Spread,
    /// Idle states by expected idle time, the shortest first: the span from which the state is chosen, and its exit
    /// cost. A latency limit held by a program bounds them.
    pub idle_exits: Vec<(Nanos, Spread)>,
    /// Idle states for a thread under a real-time policy.
    pub real_time_idle_exits: Vec<(Nanos, Spread)>,
}

/// A time in which nothing runs, because the process or the machine is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// When it begins.
    pub at: Nanos,
    /// How long it lasts.
    pub length: Nanos,
}
