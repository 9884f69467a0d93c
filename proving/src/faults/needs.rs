//! The faults that this machine can stage.

use std::process::{Command, Stdio};

use super::row::Need;

/// Why a row can't be staged here; `None` if it can.
pub fn lacking(need: Need) -> Option<String> {
    let runs = |script: &str| {
        let own = std::env::current_exe().unwrap_or_default();
        let mut command = Command::new("sh");
        command.args(["-c", script]).env("X", own).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let (is_there, reason) = match need {
        Need::Mounts => (
            runs("unshare -m sh -c 'mount -t tmpfs tmpfs /mnt'"),
            "this user may not mount a file system in a namespace of its own".to_owned(),
        ),
        Need::Filter => {
            (runs("\"$X\" faults-filter uname:1 -- true"), "system calls can't be filtered here".to_owned())
        }
        Need::Strace => (runs("strace -qq -o /dev/null true"), "strace is not installed, or may not trace".to_owned()),
        Need::Command(name) => (runs(&format!("command -v {name}")), format!("{name} is not installed")),
        Need::Group(controller) => {
            // With version 2, every group can be frozen.
            let two = "grep -qw $C /sys/fs/cgroup/cgroup.subtree_control || test $C = freezer -a -e /sys/fs/cgroup/cgroup.procs";
            let script = format!(
                "C={controller}; R=/sys/fs/cgroup; if test -d $R/$C; then R=$R/$C; else {two} || exit 1; fi; \
                 G=$R/oversleep-faults-$$; mkdir $G && sh -c \"echo \\$\\$ >$G/cgroup.procs\"; c=$?; rmdir $G; exit $c"
            );
            (runs(&script), format!("this user may not make control groups with the controller {controller}"))
        }
        Need::Device(path) => (runs(&format!("test -c {path}")), format!("there is no {path}")),
    };
    (!is_there).then_some(reason)
}
