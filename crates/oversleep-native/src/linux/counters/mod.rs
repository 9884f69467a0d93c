//! Counters of the system and of the calling thread, which show what else happened during a measurement.
//!
//! Files are opened once and read at offset 0, so that a reading is much shorter than the measured window. A counter
//! that isn't readable is `None`, never zero.

mod parse;
mod suspend;
mod system_file;
mod thread;

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use oversleep_record::{Disturbance, Nanos};
use oversleep_system::CounterReading;

use self::parse::{CpuTicks, ticks_to_nanos};
use self::suspend::Suspend;
use self::system_file::SystemFile;
use super::cgroup::{self, Throttling};
use super::files::Disk;
use super::os;

pub(super) use thread::run_delay;

/// The system's files, open for the lifetime of the process.
pub struct SystemCounters {
    stat: Option<SystemFile>,
    pressure: Option<SystemFile>,
    interrupts: Option<SystemFile>,
    throttling: Vec<SystemFile>,
    /// If several groups have a limit: how long any of them throttled this one.
    throttled_by_any: Option<SystemFile>,
    ticks_per_second: i64,
    /// The last reported CPU time of other processes; see [`SystemCounters::other_cpu`].
    other_cpu_ns: AtomicI64,
    suspend: Suspend,
}

/// With hundreds of CPUs these two files take milliseconds to read. One that takes longer than this is left out,
/// because it would disturb the measurement.
const STAT_LIMIT: Duration = Duration::from_micros(500);
const INTERRUPTS_LIMIT: Duration = Duration::from_micros(100);

impl SystemCounters {
    /// Opens the files that exist.
    pub fn open() -> SystemCounters {
        // SAFETY: takes a number and returns one.
        let ticks_per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
        SystemCounters {
            stat: SystemFile::open("/proc/stat").filter(|file| file.is_faster_than(STAT_LIMIT)),
            pressure: SystemFile::open("/proc/pressure/cpu"),
            interrupts: SystemFile::open("/proc/interrupts").filter(|file| file.is_faster_than(INTERRUPTS_LIMIT)),
            throttled_by_any: throttled_by_any(),
            throttling: throttling_files(),
            ticks_per_second,
            other_cpu_ns: AtomicI64::new(0),
            suspend: Suspend::new(),
        }
    }

    /// All counters now, for the calling thread.
    pub fn read(&self) -> CounterReading {
        let system = self.stat.as_ref().and_then(|file| file.with_text(parse::cpu_ticks));
        let throttling = self.throttling();
        let usage = thread::usage();
        let totals = Disturbance {
            window_ns: Nanos::ZERO,
            steal_ns: system.and_then(|ticks| ticks_to_nanos(ticks.steal, self.ticks_per_second)),
            cpu_pressure_ns: self.pressure.as_ref().and_then(|file| file.with_text(parse::pressure_some)),
            other_cpu_ns: system.and_then(|ticks| self.other_cpu(ticks)),
            run_delay_ns: run_delay(),
            voluntary_switches: usage.map(|usage| usage.voluntary_switches),
            involuntary_switches: usage.map(|usage| usage.involuntary_switches),
            minor_faults: usage.map(|usage| usage.minor_faults),
            major_faults: usage.map(|usage| usage.major_faults),
            throttled_ns: throttling.map(|throttling| throttling.time),
            throttled_periods: throttling.map(|throttling| throttling.periods),
            timer_interrupts: self.interrupts.as_ref().and_then(|file| file.with_text(parse::timer_interrupts)),
            // Interrupts of all kinds together say nothing about timers.
            all_interrupts: None,
            own_cpu_ns: cpu_time(libc::CLOCK_THREAD_CPUTIME_ID),
            suspended_ns: self.suspend.since_boot(),
            ..Disturbance::default()
        };
        CounterReading { at: os::monotonic_now(), totals }
    }

    /// Busy time of all CPUs minus that of this process and of the programs that it ran. The first is in ticks of 10 ms and
    /// the second in ns, so the difference jitters by a few ticks. The reported value never decreases, because the true one
    /// doesn't.
    fn other_cpu(&self, system: CpuTicks) -> Option<Nanos> {
        let busy = ticks_to_nanos(system.busy, self.ticks_per_second)?;
        let others = (busy - cpu_time(libc::CLOCK_PROCESS_CPUTIME_ID)? - children_cpu_time()).0;
        Some(Nanos(self.other_cpu_ns.fetch_max(others, Ordering::Relaxed).max(others)))
    }

    /// The sum for this group and its ancestors, because each counts only its own throttling. Two groups may throttle at the
    /// same time, so their times don't add up: since Linux 6.6 the kernel counts the time in which any of them throttles.
    fn throttling(&self) -> Option<Throttling> {
        let mut sum = None;
        for file in &self.throttling {
            let Throttling { time, periods } = file.with_text(cgroup::parse_stat)?;
            let Throttling { time: time_before, periods: periods_before } = sum.unwrap_or_default();
            sum = Some(Throttling { time: time_before + time, periods: periods_before + periods });
        }
        match self.throttled_by_any.as_ref().and_then(|file| file.with_text(cgroup::parse_local)) {
            Some(time) => sum.map(|sum| Throttling { time, ..sum }),
            None => sum,
        }
    }
}

/// `cpu.stat` of the groups with a limit; if there are none, of the nearest group that counts throttling.
fn throttling_files() -> Vec<SystemFile> {
    let Ok(groups) = cgroup::find(&Disk) else { return Vec::new() };
    let counting = |folder: &String| {
        let file = SystemFile::open(&format!("{folder}/cpu.stat"))?;
        file.with_text(cgroup::parse_stat).map(|_| file)
    };
    let limited = groups.folders.iter().filter(|folder| groups.limit_of(folder, &Disk).is_some());
    let limited: Vec<SystemFile> = limited.filter_map(counting).collect();
    if limited.is_empty() { groups.folders.iter().find_map(counting).into_iter().collect() } else { limited }
}

/// `cpu.stat.local` of this group, if more than one has a limit.
fn throttled_by_any() -> Option<SystemFile> {
    let groups = cgroup::find(&Disk).ok()?;
    let limits = groups.folders.iter().filter(|folder| groups.limit_of(folder, &Disk).is_some()).count();
    if limits < 2 {
        return None;
    }
    let file = SystemFile::open(&format!("{}/cpu.stat.local", groups.folders[0]))?;
    file.with_text(cgroup::parse_local).map(|_| file)
}

/// CPU time of the children that have ended, with their own. Until a child ends, its time counts as that of others.
fn children_cpu_time() -> Nanos {
    // SAFETY: all-zero is a valid value, and the call only fills it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage);
        usage
    };
    let span = |time: libc::timeval| Nanos::from_secs(time.tv_sec) + Nanos::from_micros(time.tv_usec);
    span(usage.ru_utime) + span(usage.ru_stime)
}

fn cpu_time(clock: libc::clockid_t) -> Option<Nanos> {
    Some(Nanos(os::clock_ns(clock) as i64)).filter(|&time| time > Nanos::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads;

    #[test]
    fn counters_only_grow() {
        let counters = SystemCounters::open();
        let first = counters.read();
        threads::work(100_000);
        // A thread that loses its processor before it sleeps may find the millisecond over, and makes no switch.
        let window = loop {
            std::thread::sleep(Duration::from_millis(1));
            let window = first.until(&counters.read());
            if window.voluntary_switches != Some(0) {
                break window;
            }
        };
        assert!(window.window_ns >= Nanos::from_millis(1));
        // A counter readable at both ends has a value for the window, unless it went backwards.
        assert_eq!(window.other_cpu_ns.is_some(), first.totals.other_cpu_ns.is_some());
        assert_eq!(window.voluntary_switches.is_some(), first.totals.voluntary_switches.is_some());
        assert!(window.own_cpu_ns.is_none_or(|time| time > Nanos::ZERO && time < window.window_ns), "{window:?}");
    }

    #[test]
    fn programs_that_this_process_ran_are_not_others() {
        let before = children_cpu_time();
        // Kernels that count CPU time by ticks may have counted nothing of one program.
        while children_cpu_time() == before {
            let burn = "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done";
            assert!(std::process::Command::new("sh").args(["-c", burn]).status().unwrap().success());
        }
    }

    #[test]
    fn the_cpu_time_of_others_never_decreases() {
        let counters = SystemCounters { ticks_per_second: 100, ..SystemCounters::open() };
        let high = counters.other_cpu(CpuTicks { busy: 1_000_000_000, steal: 0 });
        assert_eq!(counters.other_cpu(CpuTicks { busy: 1, steal: 0 }), high);
    }
}
