//! Idle residency and package energy, from sysfs.

use oversleep_record::{Nanos, Unavailable};
use oversleep_system::{Cpu, IdleReading, IdleState, Package};

use super::files::Files;

const POWERCAP: &str = "/sys/class/powercap";

/// Both now, for the CPUs that this process may use.
pub fn read(files: &dyn Files, at: Nanos, cpus: &[Cpu]) -> IdleReading {
    IdleReading {
        at,
        cpus: u32::try_from(cpus.len()).unwrap_or(u32::MAX),
        states: states(files, cpus),
        packages: packages(files),
    }
}

/// <https://docs.kernel.org/admin-guide/pm/cpuidle.html>: `time` is in µs and grows when a CPU leaves the state.
fn states(files: &dyn Files, cpus: &[Cpu]) -> Result<Vec<IdleState>, Unavailable> {
    let mut states: Vec<IdleState> = Vec::new();
    for cpu in cpus {
        let folder = format!("/sys/devices/system/cpu/cpu{}/cpuidle", cpu.number);
        for state in files.names(&folder).iter().filter(|name| name.starts_with("state")) {
            let name = files.text(&format!("{folder}/{state}/name"))?;
            let spent = Nanos::from_micros(files.integer(&format!("{folder}/{state}/time"))?);
            match states.iter_mut().find(|other| other.name == name) {
                Some(same) => same.spent += spent,
                None => states.push(IdleState { name, spent }),
            }
        }
    }
    if states.is_empty() {
        return Err(Unavailable::missing("/sys/devices/system/cpu/cpu*/cpuidle/state*"));
    }
    Ok(states)
}

/// <https://docs.kernel.org/power/powercap/powercap.html>. Since Linux 5.10 only root may read it, because fine-grained
/// energy reveals what others compute.
fn packages(files: &dyn Files) -> Result<Vec<Package>, Unavailable> {
    let zones = files.names(POWERCAP);
    // `intel-rapl:0` is a package, on AMD's processors too; `intel-rapl:0:0` is a part of one.
    let is_package = |zone: &&String| zone.strip_prefix("intel-rapl:").is_some_and(|number| !number.contains(':'));
    let packages: Vec<Package> = zones
        .iter()
        .filter(is_package)
        .map(|zone| {
            let counter = |file: &str| -> Result<u64, Unavailable> {
                let path = format!("{POWERCAP}/{zone}/{file}");
                let value = files.integer(&path)?;
                u64::try_from(value).map_err(|_| Unavailable::Nonsense { what: format!("{path} says {value}") })
            };
            Ok(Package { energy_uj: counter("energy_uj")?, highest_uj: counter("max_energy_range_uj")? })
        })
        .collect::<Result<_, Unavailable>>()?;
    if packages.is_empty() {
        return Err(Unavailable::missing("/sys/class/powercap/intel-rapl:*"));
    }
    Ok(packages)
}

#[cfg(test)]
mod tests {
    use oversleep_system::CpuKind;

    use super::super::files::Sample;
    use super::*;

    #[test]
    fn states_are_summed_over_cpus_and_parts_of_packages_ignored() {
        let files = Sample::of(&[
            ("/sys/devices/system/cpu/cpu0/cpuidle/state0/name", "POLL"),
            ("/sys/devices/system/cpu/cpu0/cpuidle/state0/time", "5"),
            ("/sys/devices/system/cpu/cpu0/cpuidle/state1/name", "C1"),
            ("/sys/devices/system/cpu/cpu0/cpuidle/state1/time", "1000"),
            ("/sys/devices/system/cpu/cpu2/cpuidle/state1/name", "C1"),
            ("/sys/devices/system/cpu/cpu2/cpuidle/state1/time", "500"),
            ("/sys/class/powercap/intel-rapl:0/energy_uj", "123"),
            ("/sys/class/powercap/intel-rapl:0/max_energy_range_uj", "1000"),
            ("/sys/class/powercap/intel-rapl:0:0/energy_uj", "7"),
        ]);
        let cpus = [0, 2].map(|number| Cpu { number, kind: CpuKind::Uniform });
        let reading = read(&files, Nanos(1), &cpus);
        let state = |name: &str, us| IdleState { name: name.to_owned(), spent: Nanos::from_micros(us) };
        assert_eq!(reading.states, Ok(vec![state("POLL", 5), state("C1", 1_500)]));
        assert_eq!(reading.packages, Ok(vec![Package { energy_uj: 123, highest_uj: 1_000 }]));
        assert_eq!(reading.cpus, 2);
    }

    #[test]
    fn missing_files_have_a_reason() {
        let reading = read(&Sample::of(&[]), Nanos(1), &[]);
        assert!(reading.states.is_err() && reading.packages.is_err());
    }
}
