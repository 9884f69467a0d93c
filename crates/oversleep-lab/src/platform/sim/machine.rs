//! What is modelled: plain data, no behaviour.

use oversleep_record::Nanos;

use crate::platform::interface::{ClockInfo, WaitInfo};

/// A machine in figures.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Profile name, shown in every heading.
    pub name: String,
    /// `linux`, `windows`, `macos`.
    pub os: String,
    /// `x86_64`, `aarch64`.
    pub arch: String,
    /// CPUs. Threads beyond that number are not yet made to wait for one.
    pub cpu_count: u32,
    /// Cost of reading the reference clock.
    pub reference_read_cost_ns: Nanos,
    /// Cost of one turn of a spin loop.
    pub relax_cost_ns: Nanos,
    /// Cost of one unit of work.
    pub work_unit_cost_ns: Nanos,
    /// From a thread's creation until it runs.
    pub spawn_cost_ns: Nanos,
    /// From a hand-off's post until the waiter runs.
    pub handoff_wake_ns: Nanos,
    /// Timer slack of every new thread.
    pub default_slack_ns: Nanos,
    /// Clocks.
    pub clocks: Vec<ClockModel>,
    /// Waits.
    pub waits: Vec<WaitModel>,
    /// Hand-offs by name.
    pub handoffs: Vec<&'static str>,
    /// Times in which nothing runs.
    pub stalls: Vec<Stall>,
}

/// What a clock follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockSource {
    /// Virtual time.
    Elapsed,
    /// CPU time of the reading thread.
    ThreadCpu,
}

/// One clock of a machine.
#[derive(Clone, Debug)]
pub struct ClockModel {
    /// Its description.
    pub info: ClockInfo,
    /// What it follows.
    pub source: ClockSource,
    /// Cost of one read.
    pub read_cost_ns: Nanos,
    /// It shows multiples of this.
    pub step_ns: Nanos,
    /// Parts per million it runs fast.
    pub drift_ppm: i64,
    /// How far it is behind when read by every other thread: a skewed CPU.
    pub skew_ns: Nanos,
}

/// By how much a wait misses its deadline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Overshoot {
    /// Always the same; below zero is early.
    Fixed(Nanos),
    /// The thread's slack plus a wake cost.
    SlackPlus(Nanos),
    /// One after the other, over and over.
    Cycle(Vec<Nanos>),
}

/// One wait of a machine.
#[derive(Clone, Debug)]
pub struct WaitModel {
    /// Its description.
    pub info: WaitInfo,
    /// How late it is, idle.
    pub overshoot: Overshoot,
    /// Run-queue delay added per running hog.
    pub delay_per_hog_ns: Nanos,
}

/// A time in which nothing runs: the process is stopped, or the machine is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// When it begins.
    pub at: Nanos,
    /// How long it lasts.
    pub length: Nanos,
}
