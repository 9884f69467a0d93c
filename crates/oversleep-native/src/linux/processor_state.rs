//! Clock rate, temperature and thermal throttling of the CPUs, from `/sys`.
//!
//! A reading takes from a few µs up to a millisecond, so it is made outside the measurement. On x86 before Linux 5.19
//! the kernel may sleep for 10 ms if nobody has read the clock rate recently.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use oversleep_record::{Nanos, ProcessorState, Unavailable};

use super::files::Files;

const CPUS: &str = "/sys/devices/system/cpu";
const ZONES: &str = "/sys/class/thermal";
const CHIPS: &str = "/sys/class/hwmon";
/// Files that take longer than this to read are left out, because reading them around each round would lengthen the
/// run.
const LIMIT: Duration = Duration::from_millis(1);

/// The files of this machine, found once.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Sources {
    /// The file with the clock rate.
    clock: Option<&'static str>,
    throttle_counts: Vec<String>,
    /// Empty before Linux 5.6.
    throttle_times: Vec<String>,
    temperature: Option<String>,
}

impl Sources {
    /// All files that exist and are quick to read.
    pub(super) fn quick(files: &dyn Files) -> Sources {
        let quick = |read: &dyn Fn()| {
            let times = (0..3).map(|_| {
                let start = Instant::now();
                read();
                start.elapsed()
            });
            times.min().is_some_and(|fastest| fastest < LIMIT)
        };
        let mut sources = Sources::find(files);
        if !quick(&|| _ = (sum(files, &sources.throttle_counts), sum(files, &sources.throttle_times))) {
            (sources.throttle_counts, sources.throttle_times) = (Vec::new(), Vec::new());
        }
        let is_quick = |path: &String| quick(&|| drop(files.integer(path)));
        sources.temperature = sources.temperature.filter(is_quick);
        sources
    }

    fn find(files: &dyn Files) -> Sources {
        let (throttle_counts, throttle_times) = throttle_files(files);
        Sources {
            clock: clock_file(files).ok(),
            throttle_counts,
            throttle_times,
            temperature: sensor(files).ok().map(|(_, path)| path),
        }
    }

    /// The state now, for a thread on this CPU.
    pub(super) fn read(&self, files: &dyn Files, cpu: Option<u32>) -> ProcessorState {
        let of_cpu = |file: &str| hz(files, &format!("{CPUS}/cpu{}/cpufreq/{file}", cpu?));
        let clock = self.clock.and_then(of_cpu);
        let limit = || {
            let (max, allowed) = (of_cpu("cpuinfo_max_freq")?, of_cpu("scaling_max_freq")?);
            allowed.checked_mul(1_000)?.checked_div(max)
        };
        let limit = self.clock.and_then(|_| limit());
        let millis = sum(files, &self.throttle_times).and_then(|ms| i64::try_from(ms).ok());
        ProcessorState {
            clock_min_hz: clock,
            clock_max_hz: clock,
            limit_min_permille: limit,
            limit_max_permille: limit,
            temperature_max_millicelsius: self.temperature.as_ref().and_then(|path| files.integer(path).ok()),
            thermal_pressure: None,
            thermal_throttles: sum(files, &self.throttle_counts),
            thermal_throttled_ns: millis.map(Nanos::from_millis),
        }
    }
}

/// A frequency in Hz from a file in kHz.
pub(super) fn hz(files: &dyn Files, path: &str) -> Option<u64> {
    u64::try_from(files.integer(path).ok()?).ok().filter(|&khz| khz > 0)?.checked_mul(1_000)
}

/// The CPUs with a folder, ascending.
fn cpus(files: &dyn Files) -> Vec<u32> {
    let number = |name: String| name.strip_prefix("cpu")?.parse().ok();
    let mut cpus: Vec<u32> = files.names(CPUS).into_iter().filter_map(number).collect();
    cpus.sort_unstable();
    cpus
}

/// The file with a CPU's clock rate. Preferably the one with the rate that the hardware counted over the last
/// milliseconds; otherwise the one with the rate that the driver last requested or, on x86, counted.
pub(super) fn clock_file(files: &dyn Files) -> Result<&'static str, Unavailable> {
    let cpus = cpus(files);
    let has = |file: &&str| {
        cpus.iter().any(|cpu| files.names(&format!("{CPUS}/cpu{cpu}/cpufreq")).iter().any(|name| name == file))
    };
    let known = ["cpuinfo_avg_freq", "scaling_cur_freq"];
    known.into_iter().find(has).ok_or_else(|| Unavailable::missing(format!("{CPUS}/cpu*/cpufreq/scaling_cur_freq")))
}

/// The files with counts and times of throttling, one per core and package. All CPUs of a core or package repeat them.
pub(super) fn throttle_files(files: &dyn Files) -> (Vec<String>, Vec<String>) {
    let mut seen = BTreeSet::new();
    let (mut counts, mut times) = (Vec::new(), Vec::new());
    for cpu in cpus(files) {
        let folder = format!("{CPUS}/cpu{cpu}");
        let topology = |file: &str| files.integer(&format!("{folder}/topology/{file}"));
        let package = topology("physical_package_id").unwrap_or(0);
        let core = topology("core_id").unwrap_or(i64::from(cpu));
        let names = files.names(&format!("{folder}/thermal_throttle"));
        for (part, key) in [("core", (package, Some(core))), ("package", (package, None))] {
            let path = |what: &str| Some(format!("{part}_throttle_{what}")).filter(|name| names.contains(name));
            let Some(count) = path("count").filter(|_| seen.insert(key)) else { continue };
            counts.push(format!("{folder}/thermal_throttle/{count}"));
            times.extend(path("total_time_ms").map(|time| format!("{folder}/thermal_throttle/{time}")));
        }
    }
    (counts, times)
}

/// `None` if one isn't readable, or there are none.
fn sum(files: &dyn Files, paths: &[String]) -> Option<u64> {
    let numbers = paths.iter().map(|path| u64::try_from(files.integer(path).ok()?).ok());
    numbers.reduce(|sum, one| sum?.checked_add(one?))?
}

/// The processor's own sensor by its driver's name, and its file. Sensors of boards, disks and batteries say nothing
/// about the clock rate, so only known names count.
pub(super) fn sensor(files: &dyn Files) -> Result<(&'static str, String), Unavailable> {
    const OF_ZONES: [&str; 4] = ["x86_pkg_temp", "cpu-thermal", "cpu_thermal", "cpu0-thermal"];
    const OF_CHIPS: [&str; 4] = ["coretemp", "k10temp", "zenpower", "cpu_thermal"];
    let among = |folder: &str, word: &str, known: &[&'static str], value: &str| {
        files.names(folder).into_iter().find_map(|entry| {
            let says = files.text(&format!("{folder}/{entry}/{word}")).ok()?;
            let name = known.iter().find(|name| **name == says)?;
            let path = format!("{folder}/{entry}/{value}");
            files.integer(&path).ok().map(|_| (*name, path))
        })
    };
    among(ZONES, "type", &OF_ZONES, "temp")
        .or_else(|| among(CHIPS, "name", &OF_CHIPS, "temp1_input"))
        .ok_or_else(|| Unavailable::missing("a temperature sensor of the processor in /sys/class/thermal or hwmon"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::files::{Disk, Sample};

    /// A package of two cores, the first with two CPUs.
    fn intel() -> Sample {
        Sample::of(&[
            ("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "800000"),
            ("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3600000"),
            ("/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "1800000"),
            ("/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "5"),
            ("/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_total_time_ms", "12"),
            ("/sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count", "7"),
            ("/sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_total_time_ms", "30"),
            ("/sys/devices/system/cpu/cpu0/topology/core_id", "0"),
            ("/sys/devices/system/cpu/cpu0/topology/physical_package_id", "0"),
            ("/sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "5"),
            ("/sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_total_time_ms", "12"),
            ("/sys/devices/system/cpu/cpu1/thermal_throttle/package_throttle_count", "7"),
            ("/sys/devices/system/cpu/cpu1/thermal_throttle/package_throttle_total_time_ms", "30"),
            ("/sys/devices/system/cpu/cpu1/topology/core_id", "0"),
            ("/sys/devices/system/cpu/cpu1/topology/physical_package_id", "0"),
            ("/sys/devices/system/cpu/cpu2/thermal_throttle/core_throttle_count", "100"),
            ("/sys/devices/system/cpu/cpu2/thermal_throttle/core_throttle_total_time_ms", "1000"),
            ("/sys/devices/system/cpu/cpu2/thermal_throttle/package_throttle_count", "7"),
            ("/sys/devices/system/cpu/cpu2/thermal_throttle/package_throttle_total_time_ms", "30"),
            ("/sys/devices/system/cpu/cpu2/topology/core_id", "1"),
            ("/sys/devices/system/cpu/cpu2/topology/physical_package_id", "0"),
            ("/sys/class/thermal/thermal_zone0/type", "acpitz"),
            ("/sys/class/thermal/thermal_zone0/temp", "27800"),
            ("/sys/class/thermal/thermal_zone1/type", "x86_pkg_temp"),
            ("/sys/class/thermal/thermal_zone1/temp", "61000"),
        ])
    }

    #[test]
    fn each_core_and_each_package_counts_once() {
        let state = Sources::find(&intel()).read(&intel(), Some(0));
        let expected = ProcessorState {
            clock_min_hz: Some(800_000_000),
            clock_max_hz: Some(800_000_000),
            limit_min_permille: Some(500),
            limit_max_permille: Some(500),
            temperature_max_millicelsius: Some(61_000),
            thermal_pressure: None,
            thermal_throttles: Some(5 + 100 + 7),
            thermal_throttled_ns: Some(Nanos::from_millis(12 + 1_000 + 30)),
        };
        assert_eq!(state, expected);
        let elsewhere = Sources::find(&intel()).read(&intel(), Some(1));
        assert_eq!((elsewhere.clock_min_hz, elsewhere.limit_min_permille), (None, None), "a CPU without these files");
        assert_eq!(elsewhere.thermal_throttles, Some(112));
    }

    #[test]
    fn before_5_6_there_are_counts_without_times() {
        let old = Sample::of(&[
            ("/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "0"),
            ("/sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count", "0"),
        ]);
        let state = Sources::find(&old).read(&old, Some(0));
        assert_eq!(state, ProcessorState { thermal_throttles: Some(0), ..ProcessorState::default() });
    }

    #[test]
    fn a_counted_rate_is_preferred_to_a_requested_one() {
        let arm = Sample::of(&[
            ("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_avg_freq", "1512345"),
            ("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2400000"),
            ("/sys/class/hwmon/hwmon0/name", "nvme"),
            ("/sys/class/hwmon/hwmon0/temp1_input", "35000"),
            ("/sys/class/hwmon/hwmon1/name", "k10temp"),
            ("/sys/class/hwmon/hwmon1/temp1_input", "44250"),
        ]);
        assert_eq!(clock_file(&arm), Ok("cpuinfo_avg_freq"));
        let state = Sources::find(&arm).read(&arm, Some(0));
        assert_eq!((state.clock_max_hz, state.temperature_max_millicelsius), (Some(1_512_345_000), Some(44_250)));
        assert_eq!(sensor(&arm).map(|(name, _)| name), Ok("k10temp"));
    }

    #[test]
    fn without_files_the_state_is_unknown() {
        let bare = Sample::default();
        assert_eq!(Sources::find(&bare), Sources::default());
        assert!(Sources::default().read(&bare, Some(0)).is_unseen());
        assert!(clock_file(&bare).is_err() && sensor(&bare).is_err());
        let broken = Sample::of(&[
            ("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "<unknown>"),
            ("/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "many"),
        ]);
        assert!(Sources::find(&broken).read(&broken, Some(0)).is_unseen(), "never zero");
        assert!(Sources::find(&intel()).read(&intel(), None).clock_min_hz.is_none(), "the CPU is unknown");
    }

    #[test]
    fn this_machine_is_readable() {
        let sources = Sources::quick(&Disk);
        let (first, last) = (sources.read(&Disk, Some(0)), sources.read(&Disk, Some(0)));
        assert!(last.thermal_throttles >= first.thermal_throttles);
        assert_eq!(last.limit_max_permille.is_some(), first.limit_max_permille.is_some());
    }
}
