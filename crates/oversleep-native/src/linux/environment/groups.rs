//! CPU time limits of this process's control groups.

use oversleep_record::FactName;
use oversleep_record::environment::FactValue;

use super::{Answer, Entry, Machine, text};

pub(super) const FACTS: &[Entry] = &[
    Entry {
        name: FactName::CgroupVersion,
        source: "/proc/self/cgroup, /proc/self/mountinfo",
        read: |machine| machine.groups().map(|groups| FactValue::Integer(groups.version.into())),
    },
    Entry {
        name: FactName::CgroupCpuQuotaCpus,
        source: "cpu.max or cpu.cfs_quota_us of this group and those above it",
        read: quota,
    },
    Entry {
        name: FactName::CgroupCpuPeriod,
        source: "cpu.max or cpu.cfs_period_us of the group with the quota",
        read: |machine| match machine.groups()?.tightest(machine.files) {
            Some(limit) => Ok(FactValue::Nanos(limit.period)),
            // This is known, like the quota itself: there is none.
            None => Ok(text("none")),
        },
    },
];

fn quota(machine: &Machine<'_>) -> Answer {
    let limit = machine.groups()?.tightest(machine.files);
    Ok(limit.map_or_else(|| text("none"), |limit| FactValue::Real(limit.cpus())))
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
}
