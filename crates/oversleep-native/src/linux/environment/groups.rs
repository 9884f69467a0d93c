//! CPU time limits of this process's control groups.

use oversleep_record::environment::FactValue;

use super::{Answer, Entry, Machine, text};
use crate::native::facts::facts;

pub(super) const FACTS: &[Entry] = facts! {
    CgroupVersion: "/proc/self/cgroup, /proc/self/mountinfo" =>
        |machine| machine.groups().map(|groups| FactValue::Integer(groups.version.into())),
    CgroupCpuQuotaCpus: "cpu.max or cpu.cfs_quota_us of this group and those above it" => quota,
    CgroupCpuWeight: "cpu.weight or cpu.shares of this group" => weight,
    CgroupCpuPeriod: "cpu.max or cpu.cfs_period_us of the group with the quota" =>
        |machine| match machine.groups()?.tightest(machine.files) {
            Some(limit) => Ok(FactValue::Nanos(limit.period)),
            // This is known, like the quota itself: there is none.
            None => Ok(text("none")),
        },
};

fn quota(machine: &Machine<'_>) -> Answer {
    let limit = machine.groups()?.tightest(machine.files);
    Ok(limit.map_or_else(|| text("none"), |limit| FactValue::Real(limit.cpus())))
}

fn weight(machine: &Machine<'_>) -> Answer {
    // A group that shares with nobody, such as the root of all, has none.
    Ok(machine.groups()?.weight(machine.files).map_or_else(|| text("none"), FactValue::Integer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::files::Sample;

    #[test]
    fn a_quota_is_in_cpus_or_none() {
        let table = "24 1 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw";
        let mut files = Sample::of(&[("/proc/self/cgroup", "0::/a"), ("/proc/self/mountinfo", table)]);
        assert_eq!(quota(&Machine::new(&files)), Ok(text("none")));
        files.0.insert("/sys/fs/cgroup/a/cpu.max", "50000 100000");
        assert_eq!(quota(&Machine::new(&files)), Ok(FactValue::Real(0.5)));
        assert!(quota(&Machine::new(&Sample::default())).is_err());
    }

    #[test]
    fn shares_of_version_1_are_on_the_scale_of_weights() {
        let table = "24 1 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw";
        let mut files = Sample::of(&[("/proc/self/cgroup", "0::/a"), ("/proc/self/mountinfo", table)]);
        assert_eq!(weight(&Machine::new(&files)), Ok(text("none")));
        files.0.insert("/sys/fs/cgroup/a/cpu.weight", "39");
        assert_eq!(weight(&Machine::new(&files)), Ok(FactValue::Integer(39)));
        let table = "24 1 0:22 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu";
        let mut files = Sample::of(&[("/proc/self/cgroup", "3:cpu:/a"), ("/proc/self/mountinfo", table)]);
        for (shares, expected) in [("1024", 100), ("2", 1), ("262144", 10_000), ("102", 10)] {
            files.0.insert("/sys/fs/cgroup/cpu/a/cpu.shares", shares);
            assert_eq!(weight(&Machine::new(&files)), Ok(FactValue::Integer(expected)), "{shares}");
        }
    }
}
