//! The facts that matter for timing, and their differences between machines.

use oversleep_record::comparison::FactDifference;
use oversleep_record::environment::FactValue;
use oversleep_record::{Environment, FactName};

/// Facts by their names, several to a line.
macro_rules! facts {
    ($($name:ident)+) => { &[$(oversleep_record::FactName::$name),+] };
}
#[cfg(test)]
pub(crate) use facts;

/// Names of facts, the most decisive first. Other facts describe how oversleep measured (what it could read), not how
/// the machine keeps time.
pub const NAMES: &[FactName] = facts![
    OsName OsBuild OsWineVersion OsIsServer KernelRelease
    TimerSlack TimerPeriodNow TimerPeriodDefault TimerPeriodMin TimerRequestsPerProcess TimerGlobalRequests
    TimerHz TimerCoarseStep TimerHighResolution TimerCoalescing TimerLatencyTier
    ClocksourceCurrent ClocksourceVdso VdsoPresent QpcFrequencyHz QpcLikelySource
    CpuTscInvariant CpuTscKernelUnstable CpuTscDeadline
    KernelPreemption KernelBootParameters KernelIsolatedCpus KernelNohzFullCpus
    SchedPolicy SchedNice SchedPriorityClass SchedPrioritySeparation SchedQosClass SchedRtRuntimeUs
    CpuModel CpuCount CpuAllowed CpuSmt
    CpufreqDriver CpufreqGovernor CpufreqBoost CpufreqMaxHz
    CpuidleDriver CpuidleGovernor CpuidleDeepestExitLatency
    PowerPlan PowerSource PowerOnBattery PowerLowPowerMode
    VirtualisationHypervisor VirtualisationWsl ContainerKind CgroupCpuQuotaCpus LibcVersion
];

/// The facts that are not the same in all of these environments. Unknown facts count as equal, whatever the reason; a known
/// and an unknown one differ.
pub(super) fn differences(environments: &[&Environment]) -> Vec<FactDifference> {
    let value =
        |environment: &Environment, name: FactName| environment.facts.get(name.as_str()).map(|fact| fact.value.clone());
    let known = |value: &Option<FactValue>| value.clone().filter(|value| !matches!(value, FactValue::Unknown(_)));
    NAMES
        .iter()
        .map(|name| FactDifference {
            name: (*name).into(),
            values: environments.iter().map(|environment| value(environment, *name)).collect(),
        })
        .filter(|fact| fact.values.iter().any(|value| known(value) != known(&fact.values[0])))
        .collect()
}

#[cfg(test)]
mod tests {
    use oversleep_record::{Nanos, Unavailable};

    use super::*;

    fn environment(facts: &[(FactName, FactValue)]) -> Environment {
        let mut environment = Environment::default();
        facts.iter().for_each(|(name, value)| environment.set(*name, value.clone(), "test"));
        environment
    }

    #[test]
    fn only_what_differs_and_matters_is_listed() {
        let slack = |ns| (FactName::TimerSlack, FactValue::Nanos(Nanos(ns)));
        let lost = || FactValue::Unknown(Unavailable::NotMeasured);
        let base = environment(&[
            (FactName::PerfParanoid, FactValue::Integer(2)),
            slack(50_000),
            (FactName::CpuCount, FactValue::Integer(2)),
            (FactName::CpuSmt, lost()),
        ]);
        let other = environment(&[
            (FactName::CpuCount, FactValue::Integer(2)),
            slack(1),
            (FactName::CpufreqGovernor, FactValue::Text("powersave".into())),
        ]);
        let found = differences(&[&base, &other, &base]);
        assert_eq!(
            found.iter().map(|fact| fact.name.as_str()).collect::<Vec<_>>(),
            [FactName::TimerSlack, FactName::CpufreqGovernor].map(FactName::as_str)
        );
        assert_eq!(found[1].values, [None, Some(FactValue::Text("powersave".into())), None]);
    }
}
