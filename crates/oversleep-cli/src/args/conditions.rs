//! The conditions to measure under, shared by every measuring command. All of them concern the measuring threads, or
//! are taken back when the run ends.

use clap::Args;
use oversleep_record::Nanos;
use oversleep_record::conditions::Setting;

use super::value::{self, CpuList, LoadWish, Tuned};

/// `--load`, `--policy`, `--slack` …
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Conditions (undone afterwards; what is refused is said and the run goes on)")]
pub struct ConditionArgs {
    /// Keep up background load: spin, memory, syscalls or timers [default of N: one hog per CPU]
    ///
    /// Starts N threads of that kind before each round and stops them after it. Can be given several times, or as a list
    /// with commas.
    #[arg(long, value_name = "KIND[:N]", value_parser = value::load, value_delimiter = ',')]
    pub load: Vec<LoadWish>,

    /// Scheduling policy of the measuring threads: fifo:80, rr:1, other:5 (nice), batch, idle
    ///
    /// fifo and rr take a priority from 1 to 99 and usually need a privilege; other and batch take a nice value from
    /// -20 to 19.
    #[arg(long, value_name = "POLICY[:N]", value_parser = value::policy, allow_hyphen_values = true)]
    pub policy: Option<Setting>,

    /// Timer slack of the measuring threads, like 1ns [default: as found, usually 50us]
    #[arg(long, value_name = "SPAN", value_parser = value::slack, allow_hyphen_values = true)]
    pub slack: Option<Nanos>,

    /// Timer resolution to hold while measuring, like 1ms, on systems that have one (Windows) [default: as found]
    #[arg(long, value_name = "SPAN", value_parser = value::resolution, allow_hyphen_values = true)]
    pub resolution: Option<Nanos>,

    /// Keep the measuring threads on these CPUs, like 1 or 0,2-3
    #[arg(long, value_name = "CPUS", value_parser = value::cpus, allow_hyphen_values = true)]
    pub pin: Option<CpuList>,

    /// Lock this process's memory, so that no wake-up waits for a page
    #[arg(long)]
    pub lock_memory: bool,

    /// Forbid idle states that take longer to leave, on the whole machine, while measuring: 0 or like 20us
    #[arg(long, value_name = "SPAN", value_parser = value::latency_bound, allow_hyphen_values = true)]
    pub dma_latency: Option<Nanos>,

    /// Any tunable the measured machine has, like power-throttling=off or latency=tier-0
    ///
    /// Those of this machine stand in `oversleep doctor`; a name that is unknown is answered with all of them. Can be
    /// given several times.
    #[arg(long, value_name = "NAME=SETTING", value_parser = value::tune)]
    pub tune: Vec<Tuned>,

    /// Stamp with this clock [default: the platform's monotonic clock]; `oversleep clocks --list` names them
    #[arg(long, value_name = "NAME")]
    pub clock: Option<String>,
}
