//! The hypervisor, subsystem or container that this process runs in.

use oversleep_record::Unavailable;
use oversleep_record::environment::FactValue;

use super::{Entry, text};
use crate::linux::files::Files;
use crate::linux::os;
use crate::native::facts::facts;
#[cfg(target_arch = "x86_64")]
use crate::processor::cpuid;

pub(super) const FACTS: &[Entry] = facts! {
    VirtualisationHypervisor: "CPUID leaf 40000000h, /sys/hypervisor/type, /proc/cpuinfo, device tree" =>
        |machine| hypervisor(machine.files).map(FactValue::Text),
    VirtualisationWsl: "uname" => |_| os::kernel_names().map(|(release, _)| text(wsl(&release))),
    ContainerKind: "/proc/self/ns, /.dockerenv, /run/.containerenv, /run/systemd/container, /proc/1/cgroup, environment variables" =>
        |machine| Ok(text(container(machine.files, |name| std::env::var(name).ok()))),
};

/// From the release of Microsoft's kernels: `4.4.0-19041-Microsoft` is version 1, `5.15.90.1-microsoft-standard-WSL2`
/// is version 2.
fn wsl(release: &str) -> &'static str {
    if release.contains("WSL2") || release.contains("microsoft-standard") {
        "wsl2"
    } else if release.ends_with("-Microsoft") {
        "wsl1"
    } else {
        "none"
    }
}

/// A kernel that runs as a program of another one. CPUID describes the host there.
pub(super) const USER_MODE_LINUX: &str = "user-mode-linux";

/// The hypervisor's common name, `none` on bare metal.
pub(super) fn hypervisor(files: &dyn Files) -> Result<String, Unavailable> {
    let by_kernel = files.text("/sys/hypervisor/type").ok().filter(|name| name == "xen" || name == "kvm");
    if let Some(name) = by_kernel {
        return Ok(name);
    }
    if files.text("/proc/cpuinfo").is_ok_and(|text| text.contains("User Mode Linux")) {
        return Ok(USER_MODE_LINUX.to_owned());
    }
    by_processor(files)
}

#[cfg(target_arch = "x86_64")]
fn by_processor(_: &dyn Files) -> Result<String, Unavailable> {
    Ok(cpuid::hypervisor().to_owned())
}

#[cfg(not(target_arch = "x86_64"))]
fn by_processor(files: &dyn Files) -> Result<String, Unavailable> {
    by_device_tree(files)
}

/// ARM has no such register. The device tree may name the hypervisor, or the machine that emulators and hypervisors make
/// up; otherwise it is unknown. <https://www.kernel.org/doc/Documentation/devicetree/bindings/arm/linux,dummy-virt.yaml>
#[cfg(any(test, not(target_arch = "x86_64")))]
fn by_device_tree(files: &dyn Files) -> Result<String, Unavailable> {
    let is_made_up = || files.text("/proc/device-tree/compatible").is_ok_and(|name| name.contains("linux,dummy-virt"));
    let compatible = files.text("/proc/device-tree/hypervisor/compatible");
    match compatible.as_deref() {
        Ok(name) if name.contains("kvm") => Ok("kvm".to_owned()),
        Ok(name) if name.contains("xen") => Ok("xen".to_owned()),
        Ok(_) => Ok("other".to_owned()),
        Err(_) if files.text("/proc/device-tree/model").is_ok_and(|model| model.starts_with("Raspberry Pi")) => {
            Ok("none".to_owned())
        }
        Err(_) if is_made_up() => Ok("other".to_owned()),
        Err(_) => Err(Unavailable::missing("the hypervisor's entry in the device tree")),
    }
}

/// The kind of container, from files that container engines leave behind.
fn container(files: &dyn Files, variable: impl Fn(&str) -> Option<String>) -> &'static str {
    let exists = |path: &str| files.bytes(path).is_ok();
    let known = |name: &str| match name.trim() {
        "docker" => "docker",
        "podman" => "podman",
        "lxc" | "lxc-libvirt" => "lxc",
        "systemd-nspawn" => "systemd-nspawn",
        "wsl" => "none",
        _ => "other",
    };
    if variable("KUBERNETES_SERVICE_HOST").is_some() {
        return "kubernetes";
    }
    // A virtual machine made from a container's image has these files, too. But a container has at least one namespace
    // of its own, and the kernel's initial namespaces have fixed numbers (include/linux/proc_ns.h).
    let first = [("pid", "pid:[4026531836]"), ("uts", "uts:[4026531838]"), ("ipc", "ipc:[4026531839]")];
    let is_first =
        |(kind, number): (&str, &str)| files.link(&format!("/proc/self/ns/{kind}")).as_deref() == Some(number);
    if first.into_iter().all(is_first) {
        return "none";
    }
    if exists("/run/.containerenv") {
        return "podman";
    }
    if exists("/.dockerenv") {
        return "docker";
    }
    let stated = variable("container").or_else(|| files.text("/run/systemd/container").ok());
    if let Some(name) = stated.filter(|name| !name.trim().is_empty()) {
        return known(&name);
    }
    let groups = files.text("/proc/1/cgroup").unwrap_or_default();
    let marks = [("kubepods", "kubernetes"), ("/docker", "docker"), ("libpod", "podman"), ("/lxc", "lxc")];
    marks.into_iter().find(|(mark, _)| groups.contains(mark)).map_or("none", |(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::files::Sample;

    #[test]
    fn windows_subsystems_by_release() {
        assert_eq!(wsl("4.4.0-19041-Microsoft"), "wsl1");
        assert_eq!(wsl("5.15.90.1-microsoft-standard-WSL2"), "wsl2");
        assert_eq!(wsl("6.1.0-18-amd64"), "none");
        assert_eq!(wsl("6.8.0-1015-azure"), "none");
    }

    #[test]
    fn the_kernel_names_xen() {
        assert_eq!(hypervisor(&Sample::of(&[("/sys/hypervisor/type", "xen\n")])), Ok("xen".to_owned()));
    }

    #[test]
    fn arm_machines_by_their_device_tree() {
        let named = |files: &[(&'static str, &'static str)]| by_device_tree(&Sample::of(files));
        let virt = ("/proc/device-tree/compatible", "linux,dummy-virt\0");
        assert_eq!(named(&[virt]), Ok("other".to_owned()), "qemu's machine, under KVM or emulated");
        let kvm = ("/proc/device-tree/hypervisor/compatible", "linux,kvm\0");
        assert_eq!(named(&[kvm, virt]), Ok("kvm".to_owned()));
        let pi = ("/proc/device-tree/model", "Raspberry Pi 4 Model B\0");
        assert_eq!(named(&[pi, ("/proc/device-tree/compatible", "raspberrypi,4-model-b\0")]), Ok("none".to_owned()));
        assert!(named(&[]).is_err());
    }

    #[test]
    fn user_mode_linux_is_known_whatever_the_hosts_processor_says() {
        let cpuinfo = ("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: User Mode Linux\n");
        assert_eq!(hypervisor(&Sample::of(&[cpuinfo])), Ok("user-mode-linux".to_owned()));
    }

    #[test]
    fn containers_by_their_marks() {
        let kind = |files: &[(&'static str, &'static str)], variables: &[(&str, &str)]| {
            container(&Sample::of(files), |name| {
                variables.iter().find(|(variable, _)| *variable == name).map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(kind(&[], &[]), "none");
        assert_eq!(kind(&[("/.dockerenv", "")], &[]), "docker");
        let first = [
            ("/.dockerenv", ""),
            ("/proc/self/ns/pid", "pid:[4026531836]"),
            ("/proc/self/ns/uts", "uts:[4026531838]"),
            ("/proc/self/ns/ipc", "ipc:[4026531839]"),
        ];
        assert_eq!(kind(&first, &[]), "none", "a virtual machine made from an image");
        assert_eq!(kind(&first[..3], &[]), "docker");
        assert_eq!(kind(&[("/.dockerenv", "")], &[("KUBERNETES_SERVICE_HOST", "x")]), "kubernetes");
        assert_eq!(kind(&[("/run/.containerenv", "name=\"secret\"")], &[]), "podman");
        assert_eq!(kind(&[], &[("container", "lxc")]), "lxc");
        assert_eq!(kind(&[("/run/systemd/container", "systemd-nspawn\n")], &[]), "systemd-nspawn");
        assert_eq!(kind(&[("/proc/1/cgroup", "12:cpu:/docker/0123\n")], &[]), "docker");
        assert_eq!(kind(&[("/proc/1/cgroup", "0::/init.scope\n")], &[("container", "oci")]), "other");
    }
}
