//! Which control groups a process is in, and what they leave it of the CPUs. Their paths name users and containers: they
//! are shown of followed processes, whose user asks.

use oversleep_record::observed::group::{GroupQuota, GroupSetting, GroupWeight};

use super::cgroup::{CpuGroups, cpu_group, folders, mount_of, relative};
use super::files::{Disk, Files};

/// The CPU group of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessGroup {
    /// Its path.
    pub path: String,
    /// The group itself and those that it is in whose share of a CPU isn't the default.
    pub weights: Vec<GroupWeight>,
    /// The tightest quota among them.
    pub quota: Option<GroupQuota>,
}

/// The CPU group of a process; `None` if its threads are in several.
pub fn process_group(pid: u32) -> Option<ProcessGroup> {
    group_of(pid, &Disk)
}

/// The group of a process that the freezer of version 1 can stop.
pub fn freezer_group(pid: u32) -> Option<String> {
    freezer_group_in(&Disk.text(&format!("/proc/{pid}/cgroup")).ok()?).map(str::to_owned)
}

fn freezer_group_in(groups: &str) -> Option<&str> {
    let freezer = groups.lines().find_map(|line| line.split_once(':')?.1.strip_prefix("freezer:"));
    freezer.filter(|path| *path != "/")
}

/// The most threads that are asked which group they are in.
const THREADS_MAX: usize = 64;

fn group_of(pid: u32, files: &dyn Files) -> Option<ProcessGroup> {
    let groups = files.text(&format!("/proc/{pid}/cgroup")).ok()?;
    let (version, path) = cpu_group(&groups)?;
    let of_thread = |tid: &String| files.text(&format!("/proc/{pid}/task/{tid}/cgroup")).ok();
    let is_same = |text: String| cpu_group(&text).is_some_and(|group| group == (version, path));
    let tids = files.names(&format!("/proc/{pid}/task"));
    if !tids.iter().take(THREADS_MAX).filter_map(of_thread).all(is_same) || has_ended(pid, files) {
        return None;
    }
    let table = files.text("/proc/self/mountinfo").unwrap_or_default();
    let mount = mount_of(version, &table).filter(|mount| relative(mount, path).is_some());
    let folders = mount.as_ref().map(|mount| folders(mount, path)).unwrap_or_default();
    // The nth folder is n levels above the group.
    let group_at = |n: usize| path.rsplitn(n + 1, '/').last().filter(|group| !group.is_empty()).unwrap_or("/");
    let weights =
        folders.iter().enumerate().filter_map(|(n, folder)| weight_of(version, folder, group_at(n), files)).collect();
    let cpu = CpuGroups { version, folders };
    let limits = cpu.folders.iter().enumerate().filter_map(|(n, folder)| Some((n, cpu.limit_of(folder, files)?)));
    let quota = limits.min_by(|(_, a), (_, b)| a.cpus().total_cmp(&b.cpus())).map(|(n, limit)| GroupQuota {
        group: group_at(n).to_owned(),
        file: format!("{}/{}", cpu.folders[n], if version == 1 { "cpu.cfs_quota_us" } else { "cpu.max" }),
        quota_ns: limit.quota,
        period_ns: limit.period,
    });
    Some(ProcessGroup { path: path.to_owned(), weights, quota })
}

/// Whether the CPU controller counts a process in the root group: in version 2, if no group on the way has a weight.
pub fn is_in_root(pid: u32, files: &dyn Files) -> bool {
    let groups = files.text(&format!("/proc/{pid}/cgroup")).unwrap_or_default();
    let table = files.text("/proc/self/mountinfo").unwrap_or_default();
    match cpu_group(&groups) {
        Some((1, path)) => path == "/",
        Some((version, path)) => mount_of(version, &table).is_some_and(|mount| {
            let has_weight = |folder: &String| files.integer(&format!("{folder}/cpu.weight")).is_ok();
            relative(&mount, path).is_some() && !folders(&mount, path).iter().any(has_weight)
        }),
        None => false,
    }
}

/// Whether a process has ended, and with it its membership: then version 1 shows the root group.
pub fn has_ended(pid: u32, files: &dyn Files) -> bool {
    let status = files.text(&format!("/proc/{pid}/status")).unwrap_or_default();
    status
        .lines()
        .filter_map(|line| line.strip_prefix("State:"))
        .any(|state| state.trim_start().starts_with(['Z', 'X']))
}

fn weight_of(version: u8, folder: &str, group: &str, files: &dyn Files) -> Option<GroupWeight> {
    let share = if version == 1 { GroupSetting::CpuShares } else { GroupSetting::CpuWeight };
    [GroupSetting::CpuIdle, share].into_iter().find_map(|setting| {
        let value = files.integer(&format!("{folder}/{}", setting.name())).ok()?;
        let value = u64::try_from(value).ok().filter(|&value| value != setting.default_value())?;
        Some(GroupWeight { group: group.to_owned(), folder: folder.to_owned(), setting, value })
    })
}

#[cfg(test)]
mod tests {
    use oversleep_record::Nanos;

    use super::*;
    use crate::linux::files::Sample;

    const V2_TABLE: &str = "24 1 0:22 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate";
    const V1_TABLE: &str = "34 24 0:30 / /sys/fs/cgroup/cpu,cpuacct rw shared:11 - cgroup cgroup rw,cpu,cpuacct";

    fn group(path: &str, weights: &[&GroupWeight]) -> Option<ProcessGroup> {
        let weights = weights.iter().map(|weight| (*weight).clone()).collect();
        Some(ProcessGroup { path: path.to_owned(), weights, quota: None })
    }

    fn weight(group: &str, folder: &str, setting: GroupSetting, value: u64) -> GroupWeight {
        GroupWeight { group: group.to_owned(), folder: folder.to_owned(), setting, value }
    }

    #[test]
    fn shares_that_are_not_the_default_are_those_of_a_group_and_of_the_ones_above_it() {
        let mut files = Sample::of(&[
            ("/proc/7/cgroup", "0::/batch.slice/b"),
            ("/proc/7/task/7/cgroup", "0::/batch.slice/b"),
            ("/proc/self/mountinfo", V2_TABLE),
            ("/sys/fs/cgroup/batch.slice/cpu.weight", "10"),
            ("/sys/fs/cgroup/batch.slice/cpu.idle", "0"),
            ("/sys/fs/cgroup/batch.slice/b/cpu.weight", "100"),
        ]);
        let slice = weight("/batch.slice", "/sys/fs/cgroup/batch.slice", GroupSetting::CpuWeight, 10);
        assert_eq!(group_of(7, &files), group("/batch.slice/b", &[&slice]));
        // The kernel shows a weight of 0 for a group that is idle.
        files
            .0
            .extend([("/sys/fs/cgroup/batch.slice/b/cpu.weight", "0"), ("/sys/fs/cgroup/batch.slice/b/cpu.idle", "1")]);
        let idle = weight("/batch.slice/b", "/sys/fs/cgroup/batch.slice/b", GroupSetting::CpuIdle, 1);
        assert_eq!(group_of(7, &files), group("/batch.slice/b", &[&idle, &slice]));
        files.0.insert("/proc/7/task/8/cgroup", "0::/batch.slice");
        assert_eq!(group_of(7, &files), None, "its threads are in several groups");
    }

    #[test]
    fn shares_of_version_1_and_those_that_can_not_be_read() {
        let mut files = Sample::of(&[
            ("/proc/7/cgroup", "4:cpu,cpuacct:/batch\n0::/c"),
            ("/proc/self/mountinfo", V1_TABLE),
            ("/sys/fs/cgroup/cpu,cpuacct/cpu.shares", "1024"),
            ("/sys/fs/cgroup/cpu,cpuacct/batch/cpu.shares", "102"),
        ]);
        let batch = weight("/batch", "/sys/fs/cgroup/cpu,cpuacct/batch", GroupSetting::CpuShares, 102);
        assert_eq!(group_of(7, &files), group("/batch", &[&batch]));
        files.0.insert("/proc/7/cgroup", "4:cpu,cpuacct:/\n0::/c");
        assert_eq!(group_of(7, &files), group("/", &[]), "the CPU controller is what counts");
        files.0.insert("/proc/7/status", "Name:\tapp\nState:\tZ (zombie)");
        assert_eq!(group_of(7, &files), None, "it was in any group before it ended");
        files.0.extend([("/proc/7/status", ""), ("/proc/7/cgroup", "4:cpu,cpuacct:/../other")]);
        assert_eq!(group_of(7, &files), group("/../other", &[]), "not visible from here");
        assert_eq!(group_of(8, &files), None);
    }

    #[test]
    fn the_freezer_of_version_1_has_groups_of_its_own() {
        assert_eq!(freezer_group_in("4:cpu:/a\n6:freezer:/docker/b:c\n0::/"), Some("/docker/b:c"));
        assert_eq!(freezer_group_in("6:freezer:/\n0::/c"), None, "the root can't be frozen");
        assert_eq!(freezer_group_in("0::/c"), None);
    }

    #[test]
    fn the_quota_of_a_process_is_the_tightest_on_the_way_up() {
        let mut files = Sample::of(&[
            ("/proc/7/cgroup", "0::/pods/pod/container"),
            ("/proc/self/mountinfo", V2_TABLE),
            ("/sys/fs/cgroup/pods/cpu.max", "max 100000"),
            ("/sys/fs/cgroup/pods/pod/cpu.max", "60000 100000"),
            ("/sys/fs/cgroup/pods/pod/container/cpu.max", "200000 100000"),
        ]);
        let quota = group_of(7, &files).and_then(|group| group.quota);
        let pod = GroupQuota {
            group: "/pods/pod".to_owned(),
            file: "/sys/fs/cgroup/pods/pod/cpu.max".to_owned(),
            quota_ns: Nanos(60_000_000),
            period_ns: Nanos(100_000_000),
        };
        assert_eq!(quota, Some(pod));
        files.0.extend([
            ("/proc/7/cgroup", "4:cpu,cpuacct:/svc"),
            ("/proc/self/mountinfo", V1_TABLE),
            ("/sys/fs/cgroup/cpu,cpuacct/svc/cpu.cfs_quota_us", "30000"),
            ("/sys/fs/cgroup/cpu,cpuacct/svc/cpu.cfs_period_us", "100000"),
        ]);
        let file = group_of(7, &files).and_then(|group| group.quota).map(|quota| quota.file);
        assert_eq!(file.as_deref(), Some("/sys/fs/cgroup/cpu,cpuacct/svc/cpu.cfs_quota_us"));
    }
}
