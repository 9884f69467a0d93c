//! The groups that the kernel makes of sessions. They share the CPUs as control groups do, for processes that are in no CPU
//! control group. Source: <https://man7.org/linux/man-pages/man7/sched.7.html>, "The autogroup feature".

use oversleep_record::observed::group::Autogroup;

use super::files::{Disk, Files};
use super::process_groups::{has_ended, is_in_root};

/// The namespace of control groups that the system starts with; in another one, paths begin at a group of the container.
const FIRST_NAMESPACE: &str = "cgroup:[4026531835]";

/// The session's group that a process shares the CPUs in; `None` if it is in a CPU control group, if the kernel makes no
/// such groups, or if that can't be told.
pub fn autogroup(pid: u32) -> Option<Autogroup> {
    autogroup_of(pid, &Disk)
}

fn autogroup_of(pid: u32, files: &dyn Files) -> Option<Autogroup> {
    let is_on = files.integer("/proc/sys/kernel/sched_autogroup_enabled") == Ok(1);
    let sees_all = files.link("/proc/self/ns/cgroup").as_deref() == Some(FIRST_NAMESPACE);
    if !is_on || !sees_all || !is_in_root(pid, files) || has_ended(pid, files) {
        return None;
    }
    parse(&files.text(&format!("/proc/{pid}/autogroup")).ok()?)
}

/// `/autogroup-4 nice 0`.
fn parse(text: &str) -> Option<Autogroup> {
    let (id, nice) = text.strip_prefix("/autogroup-")?.split_once(" nice ")?;
    Some(Autogroup { id: id.parse().ok()?, nice: nice.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::files::Sample;

    const V1: &str = "34 24 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu";
    const V2: &str = "24 1 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw";

    fn files(groups: &'static str, mounts: &'static str) -> Sample {
        let mut files = Sample::of(&[
            ("/proc/sys/kernel/sched_autogroup_enabled", "1"),
            ("/proc/self/mountinfo", mounts),
            ("/proc/7/cgroup", groups),
            ("/proc/7/autogroup", "/autogroup-40 nice -5"),
        ]);
        files.0.insert("/proc/self/ns/cgroup", FIRST_NAMESPACE);
        files
    }

    #[test]
    fn a_process_of_no_cpu_group_is_in_that_of_its_session() {
        let group = Some(Autogroup { id: 40, nice: -5 });
        assert_eq!(autogroup_of(7, &files("1:cpu:/\n0::/a", V1)), group);
        assert_eq!(autogroup_of(7, &files("1:cpu:/batch\n0::/", V1)), None);
        assert_eq!(autogroup_of(7, &files("0::/", V2)), group);
        let scope = "0::/user.slice/session-3.scope";
        assert_eq!(autogroup_of(7, &files(scope, V2)), group, "no group on the way shares out CPUs");
        let mut enabled = files(scope, V2);
        enabled.0.insert("/sys/fs/cgroup/user.slice/cpu.weight", "100");
        assert_eq!(autogroup_of(7, &enabled), None);
        assert_eq!(autogroup_of(8, &files("0::/", V2)), None, "there is no such process");
    }

    #[test]
    fn no_group_is_told_where_the_kernel_makes_none_or_not_all_is_seen() {
        let mut off = files("0::/", V2);
        off.0.insert("/proc/sys/kernel/sched_autogroup_enabled", "0");
        assert_eq!(autogroup_of(7, &off), None);
        let mut container = files("0::/", V2);
        container.0.insert("/proc/self/ns/cgroup", "cgroup:[4026532456]");
        assert_eq!(autogroup_of(7, &container), None);
        let mut ended = files("0::/", V2);
        ended.0.insert("/proc/7/status", "State:\tZ (zombie)");
        assert_eq!(autogroup_of(7, &ended), None);
        assert_eq!(parse("/autogroup-4 nice"), None);
    }
}
