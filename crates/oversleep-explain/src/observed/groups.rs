//! Control groups as people know them: containers, pods and units. The forms of their paths are those of runc and systemd,
//! Docker (<https://docs.docker.com/engine/containers/runmetrics/>), Podman and the kubelet's two drivers
//! (<https://kubernetes.io/docs/setup/production-environment/container-runtimes/#cgroup-drivers>).

use std::fmt;

use oversleep_record::ResultFile;
use oversleep_record::observed::group::GroupQuota;

use super::{SOME_GROUP, process_of};

/// Letters of a container's id that its commands take and show.
const SHORT_ID: usize = 12;
const ID: usize = 64;
/// A pod's id: 32 hexadecimal digits, in five parts unless it is a pod of the node's own files.
const POD_IDS: [usize; 2] = [32, 36];

/// Who made a control group, and what it is called there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A container of Docker or Podman.
    Container { tool: &'static str, id: String },
    /// A pod of Kubernetes, and the container in it.
    Pod { id: String, container: Option<String> },
    /// A unit of systemd.
    Unit(String),
    /// Somebody else's.
    Group(String),
}

impl Place {
    /// By the path of its group.
    pub(crate) fn of(path: &str) -> Place {
        let parts = || path.rsplit('/').filter(|part| !part.is_empty());
        let container = parts().find_map(id_in);
        if let Some(id) = parts().find_map(pod_in) {
            return Place::Pod { id, container: container.map(|(id, _)| id) };
        }
        if let Some((id, part)) = container {
            let tool = match part {
                part if part.starts_with("libpod-") => Some("podman"),
                part if part.starts_with("docker-") => Some("docker"),
                _ => path.split('/').any(|part| part == "docker").then_some("docker"),
            };
            if let Some(tool) = tool {
                return Place::Container { tool, id };
            }
        }
        let leaf = parts().next().unwrap_or_default();
        let is_unit = [".service", ".slice", ".scope"].iter().any(|ending| leaf.ends_with(ending));
        if is_unit { Place::Unit(leaf.to_owned()) } else { Place::Group(path.to_owned()) }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Container { tool, id } => write!(f, "{tool} container {id}"),
            Place::Pod { id, container: Some(container) } => write!(f, "container {container} of pod {id}"),
            Place::Pod { id, container: None } => write!(f, "pod {id}"),
            Place::Unit(name) => f.write_str(name),
            Place::Group(path) => f.write_str(path),
        }
    }
}

/// The short id of a container in a part of a path, and that part: `docker-3f2a….scope`, `3f2a…`.
fn id_in(part: &str) -> Option<(String, &str)> {
    let name = part.strip_suffix(".scope").unwrap_or(part);
    let id = name.rsplit(['-', ':']).next()?;
    let is_id = id.len() == ID && id.bytes().all(|letter| letter.is_ascii_hexdigit());
    is_id.then(|| (id[..SHORT_ID].to_owned(), part))
}

/// The id of a pod: `pod8f7e2c1a-…`, `kubepods-burstable-pod8f7e2c1a_….slice`.
fn pod_in(part: &str) -> Option<String> {
    let part = part.split(':').next().unwrap_or_default();
    let name = part.strip_suffix(".slice").unwrap_or(part);
    let id = name.rsplit_once("pod").filter(|(before, _)| before.is_empty() || before.ends_with('-'))?.1;
    let is_id =
        POD_IDS.contains(&id.len()) && id.bytes().all(|letter| letter.is_ascii_hexdigit() || b"-_".contains(&letter));
    is_id.then(|| id.replace('_', "-"))
}

/// What stops threads by a CPU quota, as far as it was seen.
pub(crate) struct Quota<'a> {
    place: Option<Place>,
    stated: Option<&'a GroupQuota>,
}

impl<'a> Quota<'a> {
    /// Of a process.
    pub(crate) fn of(file: &'a ResultFile, tgid: u32) -> Quota<'a> {
        let process = process_of(file, tgid);
        let stated = process.and_then(|process| process.quota.as_ref());
        let own = || process.and_then(|process| process.cgroup.as_ref()).filter(|path| *path != "/");
        let path = stated.map(|quota| &quota.group).or_else(own);
        Quota { place: path.map(|path| Place::of(path)), stated }
    }

    /// Whose it is: `/svc`, `docker container 3f2a9c0d12ab`, `its control group`.
    pub(crate) fn whose(&self) -> String {
        self.place.as_ref().map_or_else(|| SOME_GROUP.to_owned(), Place::to_string)
    }

    /// How much it is: ` (30 ms of each 100 ms)`.
    pub(crate) fn amount(&self) -> String {
        let amount = |quota: &GroupQuota| format!(" ({} of each {})", quota.quota_ns, quota.period_ns);
        self.stated.map(amount).unwrap_or_default()
    }

    /// What raises it, as an imperative, and the command that removes it.
    pub(crate) fn raise(&self) -> (String, Option<String>) {
        let how = match (&self.place, self.stated) {
            (Some(Place::Container { .. }), _) => "its option --cpus",
            (Some(Place::Pod { .. }), _) => {
                "limits.cpu of the container (without a limit, requests.cpu still shares out the CPUs)"
            }
            (Some(Place::Unit(_)), _) => "CPUQuota= of the unit",
            (_, Some(quota)) => quota.file.rsplit('/').next().unwrap_or_default(),
            (_, None) => "cpu.max or cpu.cfs_quota_us",
        };
        let sentence = format!(
            "Raise or remove the quota of {}{} with {how}, or run fewer threads in it",
            self.whose(),
            self.amount()
        );
        (sentence, self.place.as_ref().zip(self.stated).and_then(|(place, quota)| removed(place, quota)))
    }
}

/// The command that removes a quota. Nothing outside of Kubernetes may change that of a pod; the command there shows which
/// one it is.
fn removed(place: &Place, quota: &GroupQuota) -> Option<String> {
    let command = match place {
        Place::Pod { container, .. } => {
            let id = container.as_ref()?;
            return Some(format!("# command that shows the names of container and pod\ncrictl ps --id {id}"));
        }
        Place::Container { tool, id } => format!("{tool} update --cpu-quota -1 {id}"),
        Place::Unit(name) => format!("systemctl set-property {name} CPUQuota="),
        Place::Group(_) if quota.file.ends_with("/cpu.max") => format!("echo max > {}", quota.file),
        Place::Group(_) => format!("echo -1 > {}", quota.file),
    };
    Some(format!("# command that removes it\n{command}"))
}

#[cfg(test)]
mod tests {
    use oversleep_record::Nanos;
    use oversleep_record::observed::{Named, Observation};
    use oversleep_record::testing::Sheet;

    use super::*;

    const CONTAINER: &str = "3f2a9c0d12ab4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5";

    #[test]
    fn a_group_is_called_what_its_maker_calls_it() {
        let said = |path: &str| Place::of(&path.replace("ID", CONTAINER)).to_string();
        assert_eq!(said("/docker/ID"), "docker container 3f2a9c0d12ab");
        assert_eq!(said("/system.slice/docker-ID.scope"), "docker container 3f2a9c0d12ab");
        assert_eq!(said("/machine.slice/libpod-ID.scope/container"), "podman container 3f2a9c0d12ab");
        let pod = "8f7e2c1a-0b3d-4e5f-8a9b-1c2d3e4f5a6b";
        let in_pod = format!("container 3f2a9c0d12ab of pod {pod}");
        assert_eq!(said(&format!("/kubepods/burstable/pod{pod}/ID")), in_pod);
        let slice = format!("kubepods-burstable-pod{}.slice", pod.replace('-', "_"));
        let path = format!("/kubepods.slice/kubepods-burstable.slice/{slice}/cri-containerd-ID.scope");
        assert_eq!(said(&path), in_pod);
        assert_eq!(said(&format!("/kubepods.slice/{slice}")), format!("pod {pod}"));
        assert_eq!(
            said(&format!("/kubelet.slice/{slice}:cri-containerd:ID")),
            "container 3f2a9c0d12ab of pod ".to_owned() + pod
        );
        assert_eq!(said("/system.slice/checkout.service"), "checkout.service");
        assert_eq!(said("/checkout-svc"), "/checkout-svc");
        assert_eq!(said("/podium/ID"), format!("/podium/{CONTAINER}"), "nobody known made it");
    }

    #[test]
    fn a_quota_is_raised_where_it_is_stated() {
        let raised = |group: &str, file: &str| {
            let quota = GroupQuota {
                group: group.replace("ID", CONTAINER),
                file: file.to_owned(),
                quota_ns: Nanos(30_000_000),
                period_ns: Nanos(100_000_000),
            };
            let process = Named { tgid: 7, quota: Some(quota), ..Named::default() };
            let mut sheet = Sheet::linux();
            sheet.file.observation = Some(Observation { processes: vec![process], ..Observation::default() });
            let (sentence, command) = Quota::of(&sheet.file, 7).raise();
            format!("{sentence} | {}", command.unwrap_or_default().replace('\n', " "))
        };
        assert_eq!(
            raised("/svc", "/sys/fs/cgroup/svc/cpu.max"),
            "Raise or remove the quota of /svc (30 ms of each 100 ms) with cpu.max, or run fewer threads in it | # command that \
             removes it echo max > /sys/fs/cgroup/svc/cpu.max"
        );
        assert!(raised("/svc", "/c/svc/cpu.cfs_quota_us").ends_with("echo -1 > /c/svc/cpu.cfs_quota_us"));
        assert!(raised("/docker/ID", "").ends_with("docker update --cpu-quota -1 3f2a9c0d12ab"));
        assert!(raised("/system.slice/a.service", "").ends_with("systemctl set-property a.service CPUQuota="));
        let pod = "/kubepods/pod8f7e2c1a0b3d4e5f8a9b1c2d3e4f5a6b/ID";
        assert!(raised(pod, "").ends_with("crictl ps --id 3f2a9c0d12ab"));
        let unknown = Quota::of(&Sheet::linux().file, 7).raise();
        assert_eq!(unknown.1, None);
        assert_eq!(
            unknown.0,
            "Raise or remove the quota of its control group with cpu.max or cpu.cfs_quota_us, or run fewer threads in it"
        );
    }
}
