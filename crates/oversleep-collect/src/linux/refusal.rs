//! What the kernel's refusals mean, and what would help.

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
    if is_permission(error) { refused() } else { CollectError::Load(chain(error)) }
}

/// Whether the kernel refused for want of a privilege.
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
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let lockdown = read("/sys/kernel/security/lockdown").unwrap_or_default();
    refusal(&read("/proc/self/status").unwrap_or_default(), &lockdown, &exe())
}

fn exe() -> String {
    std::env::current_exe().map_or_else(|_| "oversleep".to_owned(), |path| path.display().to_string())
}

const CAP_SYS_ADMIN: u32 = 21;
const CAP_PERFMON: u32 = 38;
const CAP_BPF: u32 = 39;

/// From what the kernel says of this process.
fn refusal(status: &str, lockdown: &str, exe: &str) -> CollectError {
    if lockdown.contains("[confidentiality]") {
        return CollectError::Refused {
            missing: "it is locked down (confidentiality), so no program may read its memory".to_owned(),
            remedy: "Boot with lockdown=integrity or without Secure Boot".to_owned(),
        };
    }
    let mask = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        u64::from_str_radix(line.trim_start_matches(':').trim(), 16).ok()
    };
    let has = |mask: Option<u64>, capability: u32| mask.is_some_and(|mask| mask >> capability & 1 == 1);
    let may = |capability| has(mask("CapEff"), capability);
    if may(CAP_SYS_ADMIN) || may(CAP_BPF) && may(CAP_PERFMON) {
        return CollectError::Refused {
            missing:
                "this process has the capabilities, so something else forbids bpf(): a container's seccomp filter or \
                      a security module"
                    .to_owned(),
            remedy:
                "Run it outside of the container, or start the container with --cap-add BPF --cap-add PERFMON and a \
                     seccomp profile that allows bpf()"
                    .to_owned(),
        };
    }
    let bound = |capability| has(mask("CapBnd"), capability);
    if !bound(CAP_BPF) && !bound(CAP_SYS_ADMIN) {
        return CollectError::Refused {
            missing: "this container was started without CAP_BPF and CAP_PERFMON, and no process in it can get them"
                .to_owned(),
            remedy: "Start it with --cap-add BPF --cap-add PERFMON, or run oversleep on the host".to_owned(),
        };
    }
    CollectError::Refused {
        missing: "it lacks CAP_BPF and CAP_PERFMON".to_owned(),
        remedy: format!(
            "Run it with sudo, or grant them once: sudo setcap cap_bpf,cap_perfmon,cap_sys_ptrace+ep {exe} (before Linux \
             5.8: cap_sys_admin)"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(status: &str, lockdown: &str) -> String {
        refusal(status, lockdown, "/usr/bin/oversleep").to_string()
    }

    #[test]
    fn what_is_missing_is_named_with_what_grants_it() {
        let user = "CapEff:\t0000000000000000\nCapBnd:\t000001ffffffffff\n";
        assert!(message(user, "").contains("sudo setcap cap_bpf,cap_perfmon,cap_sys_ptrace+ep /usr/bin/oversleep"));
        let container = "CapEff:\t00000000a80425fb\nCapBnd:\t00000000a80425fb\n";
        assert!(message(container, "").contains("--cap-add BPF --cap-add PERFMON"));
        let root = "CapEff:\t000001ffffffffff\nCapBnd:\t000001ffffffffff\n";
        assert!(message(root, "").contains("seccomp"));
        assert!(message(root, "none integrity [confidentiality]\n").contains("locked down"));
    }
}
