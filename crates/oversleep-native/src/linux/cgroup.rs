//! Finds the CPU controller of a process's control group in all three layouts: v1, v2, and v1 with an empty v2. The path of
//! this process's own group names users and containers, so it is never shown.

use oversleep_record::{Nanos, Unavailable};

use super::files::Files;

/// The folders that may limit this process's CPU time, from its own group up to the visible root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuGroups {
    /// 1 or 2.
    pub version: u8,
    /// The process's own group comes first.
    pub folders: Vec<String>,
}

/// A share of CPU time: `quota` in every `period`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// CPU time per period.
    pub quota: Nanos,
    /// Length of a period.
    pub period: Nanos,
}

impl Limit {
    /// The limit in CPUs.
    pub fn cpus(&self) -> f64 {
        self.quota.0 as f64 / self.period.0 as f64
    }
}

/// The needed fields of a line in `/proc/self/mountinfo`.
pub struct Mount<'a> {
    root: &'a str,
    point: String,
    kind: &'a str,
    options: &'a str,
}

fn mounts(text: &str) -> impl Iterator<Item = Mount<'_>> {
    text.lines().filter_map(|line| {
        let (mount, file_system) = line.split_once(" - ")?;
        let mut fields = mount.split(' ').skip(3);
        let (root, point) = (fields.next()?, unescape(fields.next()?));
        let mut fields = file_system.split(' ');
        Some(Mount { root, point, kind: fields.next()?, options: fields.nth(1).unwrap_or("") })
    })
}

/// Mount tables write space, tab, newline and backslash as octal numbers.
fn unescape(text: &str) -> String {
    text.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
}

/// Finds the groups.
///
/// # Errors
/// The reason: no `/proc`, no control groups, or none of their file systems mounted.
pub fn find(files: &dyn Files) -> Result<CpuGroups, Unavailable> {
    let groups = files.text("/proc/self/cgroup")?;
    let table = files.text("/proc/self/mountinfo")?;
    locate(&groups, &table).ok_or_else(|| Unavailable::missing("a mounted cgroup file system with the CPU controller"))
}

fn locate(groups: &str, table: &str) -> Option<CpuGroups> {
    let (version, path) = cpu_group(groups)?;
    Some(CpuGroups { version, folders: folders(&mount_of(version, table)?, path) })
}

/// The version of the CPU controller, and the path of the group that it counts a process in.
pub fn cpu_group(groups: &str) -> Option<(u8, &str)> {
    // `number:controllers:path`; the path itself may contain colons.
    let groups = || {
        groups.lines().filter_map(|line| {
            let mut fields = line.splitn(3, ':');
            Some((fields.next()?, fields.next()?, fields.next()?))
        })
    };
    let v1 = groups().find(|(_, controllers, _)| controllers.split(',').any(|name| name == "cpu"));
    let v2 = || groups().find(|(number, controllers, _)| *number == "0" && controllers.is_empty());
    v1.map(|group| (1, group.2)).or_else(|| Some((2, v2()?.2)))
}

pub fn mount_of(version: u8, table: &str) -> Option<Mount<'_>> {
    mounts(table).find(|mount| match version {
        1 => mount.kind == "cgroup" && mount.options.split(',').any(|option| option == "cpu"),
        _ => mount.kind == "cgroup2",
    })
}

pub fn folders(mount: &Mount<'_>, path: &str) -> Vec<String> {
    // A container sees its own group as the root of the mount, but /proc may still show the host's path.
    let relative = relative(mount, path).unwrap_or("");
    let mut folders = vec![mount.point.clone()];
    for part in relative.split('/').filter(|part| !part.is_empty()) {
        let parent = folders.last().map_or("", String::as_str).trim_end_matches('/');
        folders.push(format!("{parent}/{part}"));
    }
    folders.reverse();
    folders
}

/// The path of a group within a mount, if it is there.
pub fn relative<'a>(mount: &Mount<'_>, path: &'a str) -> Option<&'a str> {
    let rest = path.strip_prefix(mount.root)?;
    let is_within = mount.root == "/" || rest.is_empty() || rest.starts_with('/');
    // A path with `..` is outside this process's namespace.
    (is_within && !rest.split('/').any(|part| part == "..")).then(|| rest.trim_matches('/'))
}

impl CpuGroups {
    /// The limit of one folder; `None` if it has none.
    pub fn limit_of(&self, folder: &str, files: &dyn Files) -> Option<Limit> {
        if self.version == 1 {
            let quota_us = files.integer(&format!("{folder}/cpu.cfs_quota_us")).ok()?;
            let period_us = files.integer(&format!("{folder}/cpu.cfs_period_us")).ok()?;
            return limit(quota_us, period_us);
        }
        let text = files.text(&format!("{folder}/cpu.max")).ok()?;
        let (quota, period) = text.split_once(' ')?;
        limit(quota.parse().ok()?, period.parse().ok()?)
    }

    /// The weight of this group beside its siblings, 100 unless somebody set it. Version 1 has 1,024 shares for that.
    pub fn weight(&self, files: &dyn Files) -> Option<i64> {
        let own = self.folders.first()?;
        match self.version {
            1 => Some(((files.integer(&format!("{own}/cpu.shares")).ok()? * 100 + 512) / 1_024).clamp(1, 10_000)),
            _ => files.integer(&format!("{own}/cpu.weight")).ok(),
        }
    }

    /// The tightest limit of this group and those above it.
    pub fn tightest(&self, files: &dyn Files) -> Option<Limit> {
        let limits = self.folders.iter().filter_map(|folder| self.limit_of(folder, files));
        limits.min_by(|a, b| a.cpus().total_cmp(&b.cpus()))
    }
}

fn limit(quota_us: i64, period_us: i64) -> Option<Limit> {
    let limit = Limit { quota: Nanos::from_micros(quota_us), period: Nanos::from_micros(period_us) };
    (quota_us > 0 && period_us > 0).then_some(limit)
}

/// Throttling according to `cpu.stat`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Throttling {
    /// Total throttled time.
    pub time: Nanos,
    /// Number of throttled periods.
    pub periods: u64,
}

/// Parses `cpu.stat` of either version; `None` if the group counts no throttling (the root, or no CPU controller).
pub fn parse_stat(text: &str) -> Option<Throttling> {
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        line.trim().parse::<i64>().ok()
    };
    let time = value("throttled_usec").map(Nanos::from_micros).or_else(|| value("throttled_time").map(Nanos))?;
    Some(Throttling { time, periods: u64::try_from(value("nr_throttled")?).ok()? })
}

/// Parses `cpu.stat.local` of either version: for how long this group or one above it was throttled, each moment once.
/// Linux 6.6 and later.
pub fn parse_local(text: &str) -> Option<Nanos> {
    let value =
        |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok());
    value("throttled_usec").map(Nanos::from_micros).or_else(|| value("throttled_time").map(Nanos))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::files::Sample;

    const V2_TABLE: &str = "24 1 0:22 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate";
    const V1_TABLE: &str = "33 24 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
34 24 0:30 / /sys/fs/cgroup/cpu,cpuacct rw shared:11 - cgroup cgroup rw,cpu,cpuacct
35 24 0:31 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw";

    #[test]
    fn a_nested_group_of_version_2() {
        let groups = locate("0::/user.slice/user-1000.slice/app:1.scope\n", V2_TABLE).expect("found");
        let folders = [
            "/sys/fs/cgroup/user.slice/user-1000.slice/app:1.scope",
            "/sys/fs/cgroup/user.slice/user-1000.slice",
            "/sys/fs/cgroup/user.slice",
            "/sys/fs/cgroup",
        ];
        assert_eq!(groups, CpuGroups { version: 2, folders: folders.map(str::to_owned).to_vec() });
    }

    #[test]
    fn version_1_and_both_at_once() {
        let text = "5:memory:/a\n4:cpu,cpuacct:/docker/abc\n2:cpuset:/b\n0::/c";
        let groups = locate(text, V1_TABLE).expect("found");
        assert_eq!(groups.version, 1);
        assert_eq!(groups.folders[0], "/sys/fs/cgroup/cpu,cpuacct/docker/abc");
        assert_eq!(groups.folders.len(), 3);
    }

    #[test]
    fn a_container_sees_its_own_group_as_the_root() {
        let table = "34 24 0:30 /docker/abc /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu";
        assert_eq!(locate("4:cpu:/docker/abc", table).expect("found").folders, ["/sys/fs/cgroup/cpu"]);
        assert_eq!(
            locate("4:cpu:/docker/abc/sub", table).expect("found").folders,
            ["/sys/fs/cgroup/cpu/sub", "/sys/fs/cgroup/cpu"]
        );
        assert_eq!(locate("4:cpu:/docker/abcdef", table).expect("found").folders, ["/sys/fs/cgroup/cpu"]);
        assert_eq!(locate("0::/../other", V2_TABLE).expect("found").folders, ["/sys/fs/cgroup"]);
        assert_eq!(locate("0::/", ""), None);
        assert_eq!(locate("", V2_TABLE), None);
    }

    #[test]
    fn the_tightest_limit_on_the_way_up_counts() {
        let groups = CpuGroups { version: 2, folders: vec!["/g/a/b".into(), "/g/a".into(), "/g".into()] };
        let files = Sample::of(&[("/g/a/b/cpu.max", "max 100000\n"), ("/g/a/cpu.max", "150000 100000\n")]);
        let limit = Limit { quota: Nanos::from_millis(150), period: Nanos::from_millis(100) };
        assert_eq!(groups.tightest(&files), Some(limit));
        assert_eq!(limit.cpus(), 1.5);
        assert_eq!(groups.tightest(&Sample::default()), None);

        let groups = CpuGroups { version: 1, folders: vec!["/c/x".into(), "/c".into()] };
        let files = Sample::of(&[
            ("/c/x/cpu.cfs_quota_us", "20000"),
            ("/c/x/cpu.cfs_period_us", "50000"),
            ("/c/cpu.cfs_quota_us", "-1"),
            ("/c/cpu.cfs_period_us", "100000"),
        ]);
        assert_eq!(groups.tightest(&files).map(|limit| limit.cpus()), Some(0.4));
    }

    #[test]
    fn reads_throttling_of_both_versions() {
        let v2 = "usage_usec 9\nuser_usec 5\nnr_periods 10\nnr_throttled 3\nthrottled_usec 1234\nnr_bursts 0";
        assert_eq!(parse_stat(v2), Some(Throttling { time: Nanos(1_234_000), periods: 3 }));
        let v1 = "nr_periods 0\nnr_throttled 2\nthrottled_time 987654321\n";
        assert_eq!(parse_stat(v1), Some(Throttling { time: Nanos(987_654_321), periods: 2 }));
        assert_eq!(parse_local("throttled_usec 1234\n"), Some(Nanos(1_234_000)));
        assert_eq!(parse_local("throttled_time 987654321\n"), Some(Nanos(987_654_321)));
        assert_eq!(parse_local("usage_usec 9\n"), None);
        assert_eq!(parse_stat("usage_usec 9\nuser_usec 5\nsystem_usec 4"), None, "the root group");
    }
}
