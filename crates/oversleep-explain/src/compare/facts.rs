//! The facts that matter for timing, and which of them are not the same everywhere.

use oversleep_record::Environment;
use oversleep_record::comparison::FactDifference;
use oversleep_record::environment::FactValue;

/// Names of facts, what decides most first. A fact that is not here says how it was measured (what was to be seen), not
/// how the machine keeps time.
pub const NAMES: [&str; 54] = [
    "os.name",
    "os.build",
    "os.wine_version",
    "os.is_server",
    "kernel.release",
    "timer.slack_ns",
    "timer.period_now_ns",
    "timer.period_default_ns",
    "timer.period_min_ns",
    "timer.requests_per_process",
    "timer.global_requests",
    "timer.hz",
    "timer.coarse_step_ns",
    "timer.high_resolution",
    "timer.coalescing",
    "timer.latency_tier",
    "clocksource.current",
    "clocksource.vdso",
    "vdso.present",
    "qpc.frequency_hz",
    "qpc.likely_source",
    "cpu.tsc.invariant",
    "cpu.tsc.kernel_unstable",
    "cpu.tsc.deadline",
    "kernel.preemption",
    "kernel.boot_parameters",
    "kernel.isolated_cpus",
    "kernel.nohz_full_cpus",
    "sched.policy",
    "sched.nice",
    "sched.priority_class",
    "sched.priority_separation",
    "sched.qos_class",
    "sched.rt_runtime_us",
    "cpu.model",
    "cpu.count",
    "cpu.allowed",
    "cpu.smt",
    "cpufreq.driver",
    "cpufreq.governor",
    "cpufreq.boost",
    "cpufreq.max_hz",
    "cpuidle.driver",
    "cpuidle.governor",
    "cpuidle.deepest_exit_latency_ns",
    "power.plan",
    "power.source",
    "power.on_battery",
    "power.low_power_mode",
    "virtualisation.hypervisor",
    "virtualisation.wsl",
    "container.kind",
    "cgroup.cpu_quota_cpus",
    "libc.version",
];

/// The facts that are not the same in all of these environments. One that could not be learned is as good as another;
/// where one is known and another isn't, that is told.
pub(super) fn differences(environments: &[&Environment]) -> Vec<FactDifference> {
    let value = |environment: &Environment, name: &str| environment.facts.get(name).map(|fact| fact.value.clone());
    let known = |value: &Option<FactValue>| value.clone().filter(|value| !matches!(value, FactValue::Unknown(_)));
    NAMES
        .iter()
        .map(|name| FactDifference {
            name: (*name).to_owned(),
            values: environments.iter().map(|environment| value(environment, name)).collect(),
        })
        .filter(|fact| fact.values.iter().any(|value| known(value) != known(&fact.values[0])))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use oversleep_record::{Nanos, Unavailable};

    use super::*;

    fn environment(facts: &[(&str, FactValue)]) -> Environment {
        let mut environment = Environment::default();
        facts.iter().for_each(|(name, value)| environment.set(name, value.clone(), "test"));
        environment
    }

    #[test]
    fn only_what_differs_and_matters_is_told() {
        let slack = |ns| ("timer.slack_ns", FactValue::Nanos(Nanos(ns)));
        let lost = || FactValue::Unknown(Unavailable::NotAsked);
        let base = environment(&[
            ("perf.paranoid", FactValue::Integer(2)),
            slack(50_000),
            ("cpu.count", FactValue::Integer(2)),
            ("cpu.smt", lost()),
        ]);
        let other = environment(&[
            ("cpu.count", FactValue::Integer(2)),
            slack(1),
            ("cpufreq.governor", FactValue::Text("powersave".into())),
        ]);
        let found = differences(&[&base, &other, &base]);
        assert_eq!(
            found.iter().map(|fact| fact.name.as_str()).collect::<Vec<_>>(),
            ["timer.slack_ns", "cpufreq.governor"]
        );
        assert_eq!(found[1].values, [None, Some(FactValue::Text("powersave".into())), None]);
    }

    /// The text of every source file below a directory.
    fn sources(directory: &Path, all: &mut String) {
        let entries = fs::read_dir(directory).map(|entries| entries.flatten().map(|entry| entry.path()));
        for path in entries.into_iter().flatten().collect::<Vec<PathBuf>>() {
            if path.is_dir() {
                sources(&path, all);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                all.push_str(&fs::read_to_string(&path).unwrap_or_default());
            }
        }
    }

    #[test]
    fn every_name_is_a_fact_of_some_system() {
        let mut all = String::new();
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/platform"), &mut all);
        if all.is_empty() {
            return eprintln!("skipped: no sources beside this test");
        }
        for name in NAMES {
            assert!(all.contains(&format!("\"{name}\"")), "no system has a fact {name}");
        }
    }
}
