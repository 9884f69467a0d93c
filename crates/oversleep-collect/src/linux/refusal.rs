//! What the kernel's refusals mean, and the remedy for each.

use std::error::Error;
use std::io;

use crate::CollectError;

/// The type information can't be read.
pub fn types(error: &dyn Error) -> CollectError {
    match os_error(error) {
        Some(io::ErrorKind::PermissionDenied) => refused(),
        _ => CollectError::NoTypes,
    }
}

/// The program or one of its maps can't be loaded.
pub fn load(error: &(dyn Error + 'static)) -> CollectError {
    // In lockdown, the kernel has no functions that read its memory: loading a program that calls one fails with EINVAL.
    let lockdown = std::fs::read_to_string(LOCKDOWN).unwrap_or_default();
    if is_permission(error) || is_confidential(&lockdown) { refused() } else { CollectError::Load(chain(error)) }
}

const LOCKDOWN: &str = "/sys/kernel/security/lockdown";

fn is_confidential(lockdown: &str) -> bool {
    lockdown.contains("[confidentiality]")
}

/// Whether the kernel refused for lack of a privilege.
pub fn is_permission(error: &(dyn Error + 'static)) -> bool {
    os_error(error) == Some(io::ErrorKind::PermissionDenied)
}

fn os_error(error: &dyn Error) -> Option<io::ErrorKind> {
    let mut next: Option<&dyn Error> = Some(error);
    while let Some(error) = next {
        // `downcast_ref` needs a 'static error, which sources are.
        if let Some(source) = error.source() {
            if let Some(io) = source.downcast_ref::<io::Error>() {
                return Some(io.kind());
            }
            next = Some(source);
        } else {
            next = None;
        }
    }
    None
}

fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        let more = source.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        next = source.source();
    }
    text
}

fn refused() -> CollectError {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let release = ["/etc/os-release", "/usr/lib/os-release"].map(read);
    refusal(&Here {
        status: &read("/proc/self/status"),
        lockdown: &read(LOCKDOWN),
        kernel: &read("/proc/sys/kernel/osrelease"),
        mounts: &read("/proc/self/mountinfo"),
        distribution: release.iter().find(|release| !release.is_empty()).map_or("", String::as_str),
        exe: &exe(),
        has_setcap: has_setcap(),
    })
}

fn exe() -> String {
    std::env::current_exe().map_or_else(|_| "oversleep".to_owned(), |path| path.display().to_string())
}

fn has_setcap() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let own = std::env::split_paths(&path);
    // Users often have no sbin directory in their PATH, but sudo does.
    own.chain(["/usr/sbin", "/sbin", "/usr/local/sbin"].map(Into::into)).any(|place| place.join("setcap").is_file())
}

const CAP_SYS_ADMIN: u32 = 21;
const CAP_PERFMON: u32 = 38;
const CAP_BPF: u32 = 39;

/// What the system reveals about this process and itself.
#[derive(Clone, Copy)]
struct Here<'a> {
    status: &'a str,
    lockdown: &'a str,
    kernel: &'a str,
    mounts: &'a str,
    distribution: &'a str,
    exe: &'a str,
    has_setcap: bool,
}

impl Here<'_> {
    fn status(&self, name: &str) -> Option<&str> {
        let line = self.status.lines().find_map(|line| line.strip_prefix(name))?;
        Some(line.trim_start_matches(':').trim())
    }

    fn has(&self, mask: &str, capability: u32) -> bool {
        let mask = self.status(mask).and_then(|mask| u64::from_str_radix(mask, 16).ok());
        mask.is_some_and(|mask| mask >> capability & 1 == 1)
    }

    /// Whether the kernel has CAP_BPF and CAP_PERFMON, which came with 5.8.
    fn has_fine_capabilities(&self) -> bool {
        let mut numbers = self.kernel.split(['.', '-']).map(|number| number.trim().parse::<u32>().unwrap_or(0));
        let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        version == (0, 0) || version >= (5, 8)
    }

    /// Whether the program is on a file system where the kernel ignores file capabilities.
    fn is_on_nosuid(&self) -> bool {
        let mount = |line: &str| {
            let mut fields = line.split(' ').skip(4);
            let (place, options) = (fields.next()?.to_owned(), fields.next()?.to_owned());
            let is_below = place == "/" || self.exe.strip_prefix(&place).is_some_and(|rest| rest.starts_with('/'));
            is_below.then_some((place.len(), options.split(',').any(|option| option == "nosuid")))
        };
        self.mounts.lines().filter_map(mount).max_by_key(|(length, _)| *length).is_some_and(|(_, is_nosuid)| is_nosuid)
    }

    /// Whether the distribution is `name` or derived from it.
    fn is_like(&self, name: &str) -> bool {
        let ids =
            self.distribution.lines().filter_map(|line| line.strip_prefix("ID=").or(line.strip_prefix("ID_LIKE=")));
        ids.flat_map(|ids| ids.trim_matches('"').split_whitespace()).any(|id| id == name)
    }

    /// The command that installs `setcap`.
    fn install_setcap(&self) -> &'static str {
        [
            ("debian", "sudo apt install libcap2-bin"),
            ("ubuntu", "sudo apt install libcap2-bin"),
            ("fedora", "sudo dnf install libcap"),
            ("rhel", "sudo dnf install libcap"),
            ("suse", "sudo zypper install libcap-progs"),
            ("opensuse", "sudo zypper install libcap-progs"),
            ("arch", "sudo pacman -S libcap"),
            ("alpine", "sudo apk add libcap"),
            ("gentoo", "sudo emerge sys-libs/libcap"),
        ]
        .into_iter()
        .find_map(|(name, command)| self.is_like(name).then_some(command))
        .unwrap_or("install libcap's programs")
    }
}

/// The refusal that explains the kernel's facts about this process.
fn refusal(here: &Here) -> CollectError {
    let refused = |missing: &str, remedy: String| CollectError::Refused {
        missing: missing.to_owned(),
        remedy,
        command: None,
        more: Vec::new(),
    };
    if is_confidential(here.lockdown) {
        return refused(
            "it is locked down (confidentiality), so no program may read its memory",
            "Boot with lockdown=integrity or without Secure Boot".to_owned(),
        );
    }
    let may = |capability| here.has("CapEff", capability);
    if may(CAP_SYS_ADMIN) || may(CAP_BPF) && may(CAP_PERFMON) {
        return refused(
            "this process has the capabilities, so something else forbids bpf(): a container's seccomp filter or a security \
             module",
            "Run it outside of the container, or start the container with --cap-add BPF --cap-add PERFMON and a seccomp \
             profile that allows bpf()"
                .to_owned(),
        );
    }
    let bound = |capability| here.has("CapBnd", capability);
    if !bound(CAP_BPF) && !bound(CAP_SYS_ADMIN) {
        return refused(
            "this container was started without CAP_BPF and CAP_PERFMON, and no process in it can get them",
            "Start it with --cap-add BPF --cap-add PERFMON, or run oversleep on the host".to_owned(),
        );
    }
    if here.status("NoNewPrivs") == Some("1") {
        return refused(
            "this process can't gain privileges (no_new_privs), as in a sandbox or a service with NoNewPrivileges",
            "Run it outside of the sandbox, or give the service AmbientCapabilities=CAP_BPF CAP_PERFMON CAP_SYS_PTRACE"
                .to_owned(),
        );
    }
    let capabilities = if here.has_fine_capabilities() {
        "cap_bpf,cap_perfmon,cap_sys_ptrace"
    } else {
        "cap_sys_admin,cap_sys_ptrace"
    };
    let lacks = if here.has_fine_capabilities() { "CAP_BPF and CAP_PERFMON" } else { "CAP_SYS_ADMIN" };
    let exe = here.exe;
    let mut more = Vec::new();
    let (place, command) = if here.is_like("nixos") {
        let wrapper = format!(
            "security.wrappers.oversleep = {{ source = \"{exe}\"; owner = \"root\"; group = \"root\"; capabilities = \
             \"{capabilities}+ep\"; }};"
        );
        (" in configuration.nix", wrapper)
    } else if here.is_on_nosuid() {
        more.push(format!("{exe} is on a file system that is mounted nosuid, where the kernel ignores them."));
        let installed = "/usr/local/bin/oversleep";
        ("", format!("sudo install {exe} {installed} && sudo setcap {capabilities}+ep {installed}"))
    } else if here.has_setcap {
        ("", format!("sudo setcap {capabilities}+ep {exe}"))
    } else {
        ("", format!("{} && sudo setcap {capabilities}+ep {exe}", here.install_setcap()))
    };
    more.push(
        "To grant them to a group only, make the file its own first (chgrp, chmod 750). No sysctl grants them."
            .to_owned(),
    );
    more.push("Without privileges, `oversleep check` splits its own waits in three parts.".to_owned());
    CollectError::Refused {
        missing: format!("it lacks {lacks}"),
        remedy: format!("Run it with sudo, or grant them once{place}"),
        command: Some(command),
        more,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOBODY: &str = "CapEff:\t0000000000000000\nCapBnd:\t000001ffffffffff\nNoNewPrivs:\t0\n";
    const HERE: Here = Here {
        status: NOBODY,
        lockdown: "",
        kernel: "6.18.0-1-amd64\n",
        mounts: "22 1 0:5 / / rw,relatime - ext4 /dev/vda rw\n30 22 0:9 / /home rw,nosuid,nodev - ext4 /dev/vdb rw\n",
        distribution: "NAME=\"Debian\"\nID=debian\n",
        exe: "/usr/bin/oversleep",
        has_setcap: true,
    };

    fn message(here: Here) -> String {
        refusal(&here).to_string()
    }

    #[test]
    fn what_is_missing_is_named_with_what_grants_it() {
        assert!(message(HERE).contains("once: sudo setcap cap_bpf,cap_perfmon,cap_sys_ptrace+ep /usr/bin/oversleep"));
        let CollectError::Refused { missing, command, more, .. } = refusal(&HERE) else { panic!("refused") };
        assert_eq!(missing, "it lacks CAP_BPF and CAP_PERFMON");
        let command = command.expect("a command");
        assert_eq!(command, "sudo setcap cap_bpf,cap_perfmon,cap_sys_ptrace+ep /usr/bin/oversleep");
        assert!(more.iter().all(|sentence| sentence.ends_with('.')), "{more:?}");
        let container = "CapEff:\t00000000a80425fb\nCapBnd:\t00000000a80425fb\n";
        assert!(message(Here { status: container, ..HERE }).contains("--cap-add BPF --cap-add PERFMON"));
        let root = "CapEff:\t000001ffffffffff\nCapBnd:\t000001ffffffffff\n";
        assert!(message(Here { status: root, ..HERE }).contains("seccomp"));
        let locked = Here { lockdown: "none integrity [confidentiality]\n", ..HERE };
        assert!(message(Here { status: root, ..locked }).contains("locked down"));
        let sandbox = NOBODY.replace("NoNewPrivs:\t0", "NoNewPrivs:\t1");
        assert!(message(Here { status: &sandbox, ..HERE }).contains("AmbientCapabilities="));
    }

    #[test]
    fn the_command_is_the_one_of_this_kernel_and_distribution() {
        let old = message(Here { kernel: "5.4.0-150-generic\n", ..HERE });
        assert!(
            old.contains("it lacks CAP_SYS_ADMIN") && old.contains("setcap cap_sys_admin,cap_sys_ptrace+ep"),
            "{old}"
        );
        assert!(message(Here { kernel: "5.10.0\n", ..HERE }).contains("cap_bpf"));
        for (release, command) in [
            ("ID=ubuntu\nID_LIKE=debian\n", "once: sudo apt install libcap2-bin && sudo setcap cap_bpf"),
            ("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", "sudo dnf install libcap &&"),
            ("ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"\n", "sudo zypper install libcap-progs &&"),
            ("ID=arch\n", "sudo pacman -S libcap &&"),
            ("ID=alpine\n", "sudo apk add libcap &&"),
            ("ID=unheard\n", "install libcap's programs &&"),
            ("ID=nixos\n", "security.wrappers.oversleep = { source"),
        ] {
            let said = message(Here { distribution: release, has_setcap: false, ..HERE });
            assert!(said.contains(command), "{said}");
        }
    }

    #[test]
    fn capabilities_of_files_need_a_file_system_that_has_them() {
        let at_home = message(Here { exe: "/home/kim/oversleep", ..HERE });
        assert!(at_home.contains("once: sudo install /home/kim/oversleep /usr/local/bin/oversleep &&"), "{at_home}");
        let CollectError::Refused { more, .. } = refusal(&Here { exe: "/home/kim/oversleep", ..HERE }) else {
            panic!("refused")
        };
        assert!(more[0].contains("mounted nosuid"), "{more:?}");
        assert!(!message(Here { exe: "/homes/oversleep", ..HERE }).contains("/usr/local"));
    }
}
