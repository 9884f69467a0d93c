//! The conditions to measure under, shared by every measuring command. All of them concern the measuring threads, or are
//! restored when the run ends.

use clap::Args;
use oversleep_record::Nanos;
use oversleep_record::conditions::Setting;

use super::value::{self, CpuList, TypedLoad, TypedTunable};

/// `--load`, `--policy`, `--slack` …
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Conditions (undone afterwards; if one is refused, oversleep warns and goes on)")]
pub struct ConditionArgs {
    /// Run background load while measuring: spin, memory, syscalls or timers [default N: one thread per CPU]
    ///
    /// oversleep starts N threads of that kind before each round and stops them after it. Repeat the option or separate
    /// kinds with commas for several.
    #[arg(long, value_name = "KIND[:N]", value_parser = value::load, value_delimiter = ',')]
    pub load: Vec<TypedLoad>,

    /// Scheduling policy of the measuring threads: fifo:80, rr:1, other:5 (nice), batch, idle
    ///
    /// fifo and rr take a priority from 1 to 99 and usually need a privilege; other and batch take a nice value from
    /// -20 to 19.
    #[arg(long, value_name = "POLICY[:N]", value_parser = value::policy, allow_hyphen_values = true)]
    pub policy: Option<Setting>,

    /// Timer slack of the measuring threads, like 1ns [default: as found, usually 50us]
    #[arg(long, value_name = "DURATION", value_parser = value::slack, allow_hyphen_values = true)]
    pub slack: Option<Nanos>,

    /// Timer resolution to hold while measuring, like 1ms (Windows) [default: as found]
    #[arg(long, value_name = "DURATION", value_parser = value::resolution, allow_hyphen_values = true)]
    pub resolution: Option<Nanos>,

    /// Pin the measuring threads to these CPUs, like 1 or 0,2-3
    #[arg(long, value_name = "CPUS", value_parser = value::cpus, allow_hyphen_values = true)]
    pub pin: Option<CpuList>,

    /// Lock this process's memory, so that no wake-up waits for a page fault
    #[arg(long)]
    pub lock_memory: bool,

    /// Forbid idle states with an exit latency above this, on the whole machine: 0, or a duration like 20us
    #[arg(long, value_name = "DURATION", value_parser = value::latency_bound, allow_hyphen_values = true)]
    pub dma_latency: Option<Nanos>,

    /// Set any tunable of the measured machine, like power-throttling=off or latency=tier-0
    ///
    /// `oversleep doctor` lists the tunables of this machine. Repeat the option for several.
    #[arg(long, value_name = "NAME=SETTING", value_parser = value::tune)]
    pub tune: Vec<TypedTunable>,

    /// Clock to take timestamps with, from `oversleep clocks --list` [default: the clock that deadlines are on]
    #[arg(long, value_name = "NAME")]
    pub clock: Option<String>,
}
