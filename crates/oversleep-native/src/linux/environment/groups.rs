//! CPU time limits of this process's control groups.

use oversleep_record::environment::FactValue;

use super::{Answer, Entry, Machine, text};
use crate::native::facts::facts;

pub(super) const FACTS: &[Entry] = facts! {
    CgroupVersion: "/proc/self/cgroup, /proc/self/mountinfo" =>
        |machine| machine.groups().map(|groups| FactValue::Integer(groups.version.into())),
    CgroupCpuQuotaCpus: "cpu.max or cpu.cfs_quota_us of this group and those above it" => quota,
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
