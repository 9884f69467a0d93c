//! Clock rate and temperature of the CPUs: how the rate is controlled, and where both are read during a measurement.

use std::collections::BTreeSet;

use oversleep_record::Unavailable;
use oversleep_record::environment::FactValue;

use super::{Answer, Entry, Machine, text};
use crate::linux::processor_state;
use crate::native::facts::facts;

const FOLDER: &str = "/sys/devices/system/cpu/cpufreq";

pub(super) const FACTS: &[Entry] = facts! {
    CpufreqDriver: "/sys/devices/system/cpu/cpufreq/policy*/scaling_driver" =>
        |machine| of_all_policies(machine, "scaling_driver"),
    CpufreqGovernor: "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor" =>
        |machine| of_all_policies(machine, "scaling_governor"),
    CpufreqBoost: "cpufreq/boost, intel_pstate/no_turbo" => boost,
    CpufreqMaxHz: "/sys/devices/system/cpu/cpufreq/policy*/cpuinfo_max_freq" => max_hz,
    CpufreqReading: "/sys/devices/system/cpu/cpu*/cpufreq" =>
        |machine| processor_state::clock_file(machine.files).map(text),
    ThermalSensor: "/sys/class/thermal/thermal_zone*/type, /sys/class/hwmon/hwmon*/name" =>
        |machine| processor_state::sensor(machine.files).map(|(name, _)| text(name)),
    ThermalThrottleCounters: "/sys/devices/system/cpu/cpu*/thermal_throttle" =>
        |machine| match processor_state::throttle_files(machine.files).0.len() {
            0 => Err(Unavailable::missing("/sys/devices/system/cpu/cpu*/thermal_throttle")),
            counters => Ok(FactValue::Integer(i64::try_from(counters).unwrap_or(i64::MAX))),
        },
};

fn policies(machine: &Machine<'_>) -> Vec<String> {
    let mut names = machine.files.names(FOLDER);
    names.retain(|name| name.starts_with("policy"));
    names
}

/// The distinct values of all policies, joined by commas.
fn of_all_policies(machine: &Machine<'_>, file: &str) -> Answer {
    let values: BTreeSet<String> = policies(machine)
        .iter()
        .filter_map(|policy| machine.files.text(&format!("{FOLDER}/{policy}/{file}")).ok())
        .collect();
    if values.is_empty() {
        return Err(Unavailable::missing(format!("{FOLDER}/policy*/{file}")));
    }
    Ok(FactValue::Text(values.into_iter().collect::<Vec<_>>().join(",")))
}

fn max_hz(machine: &Machine<'_>) -> Answer {
    let rate = |policy: &String| processor_state::hz(machine.files, &format!("{FOLDER}/{policy}/cpuinfo_max_freq"));
    let highest = policies(machine).iter().filter_map(rate).max().and_then(|hz| i64::try_from(hz).ok());
    highest.map(FactValue::Integer).ok_or_else(|| Unavailable::missing(format!("{FOLDER}/policy*/cpuinfo_max_freq")))
}

fn boost(machine: &Machine<'_>) -> Answer {
    if let Ok(boost) = machine.files.integer(&format!("{FOLDER}/boost")) {
        return Ok(FactValue::Flag(boost != 0));
    }
    if let Ok(no_turbo) = machine.files.integer("/sys/devices/system/cpu/intel_pstate/no_turbo") {
        return Ok(FactValue::Flag(no_turbo == 0));
    }
    let by_policy = |policy: String| machine.files.integer(&format!("{FOLDER}/{policy}/boost")).ok();
    let some = policies(machine).into_iter().find_map(by_policy);
    some.map(|boost| FactValue::Flag(boost != 0)).ok_or_else(|| Unavailable::missing("cpufreq/boost"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::files::Sample;

    fn answer(files: &[(&'static str, &'static str)], read: impl Fn(&Machine<'_>) -> Answer) -> Answer {
        read(&Machine::new(&Sample::of(files)))
    }

    #[test]
    fn differing_governors_are_all_named() {
        let governor = |machine: &Machine<'_>| of_all_policies(machine, "scaling_governor");
        let files = [
            ("/sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "powersave\n"),
            ("/sys/devices/system/cpu/cpufreq/policy1/scaling_governor", "performance\n"),
            ("/sys/devices/system/cpu/cpufreq/policy2/scaling_governor", "powersave\n"),
            ("/sys/devices/system/cpu/cpufreq/schedutil", ""),
        ];
        assert_eq!(answer(&files, governor), Ok(FactValue::Text("performance,powersave".to_owned())));
        assert_eq!(answer(&files[..1], governor), Ok(FactValue::Text("powersave".to_owned())));
        assert!(answer(&[], governor).is_err());
    }

    #[test]
    fn boost_of_either_driver() {
        let flag = |value| Ok(FactValue::Flag(value));
        assert_eq!(answer(&[("/sys/devices/system/cpu/cpufreq/boost", "1")], boost), flag(true));
        assert_eq!(answer(&[("/sys/devices/system/cpu/intel_pstate/no_turbo", "1")], boost), flag(false));
        assert_eq!(answer(&[("/sys/devices/system/cpu/cpufreq/policy0/boost", "0")], boost), flag(false));
        assert!(answer(&[], boost).is_err());
    }

    #[test]
    fn the_fastest_cpu_decides_the_highest_rate() {
        let hybrid = [
            ("/sys/devices/system/cpu/cpufreq/policy0/cpuinfo_max_freq", "4800000"),
            ("/sys/devices/system/cpu/cpufreq/policy8/cpuinfo_max_freq", "3600000"),
        ];
        assert_eq!(answer(&hybrid, max_hz), Ok(FactValue::Integer(4_800_000_000)));
        assert!(answer(&[], max_hz).is_err());
    }
}
