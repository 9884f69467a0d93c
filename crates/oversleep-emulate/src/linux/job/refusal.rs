//! Why a program can't be emulated here, and the remedy.

use std::io;

use crate::Failure;

/// Where starting the program failed.
pub const BY_TRACE: i32 = 1;
pub const BY_FILTER: i32 = 2;
pub const BY_EXEC: i32 = 3;

/// Why the program was not started.
pub fn why(stage: i32, error: io::Error, program: &str) -> Failure {
    match stage {
        BY_TRACE => {
            let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
            let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
            let reason = match error.raw_os_error() {
                // It ended before it answered.
                Some(libc::ESRCH) => "the supervisor could not start: raise the limit on processes, threads or memory",
                _ => untraceable(scope.trim(), is_traced(&status)),
            };
            Failure::NotTraced(format!("can't trace '{program}': {error}; {reason}"))
        }
        BY_FILTER => Failure::Own(format!(
            "can't filter the system calls of '{program}': {error}; the kernel needs seccomp filters, and a container must \
             allow them"
        )),
        _ if error.kind() == io::ErrorKind::NotFound => Failure::NotFound(format!("can't run '{program}': {error}")),
        _ => Failure::NotRun(format!("can't run '{program}': {error}")),
    }
}

/// Why tracing is forbidden, by the system's setting and by whether this command is traced itself.
/// <https://docs.kernel.org/admin-guide/LSM/Yama.html>
fn untraceable(scope: &str, is_traced: bool) -> &'static str {
    match scope {
        _ if is_traced => "another tracer, such as strace, gdb or another emulate, already traces this command",
        "2" => "kernel.yama.ptrace_scope is 2, which leaves tracing to administrators: run it as root, or set 1",
        "3" => "kernel.yama.ptrace_scope is 3, which forbids tracing until the next boot",
        _ => "a container may forbid ptrace: allow it with --cap-add=SYS_PTRACE",
    }
}

/// Whether another tracer has this command, and would have the program.
pub fn is_traced_already() -> bool {
    is_traced(&std::fs::read_to_string("/proc/self/status").unwrap_or_default())
}

fn is_traced(status: &str) -> bool {
    status.lines().any(|line| line.strip_prefix("TracerPid:").is_some_and(|tracer| tracer.trim() != "0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_setting_has_its_reason() {
        // 1 allows ancestors to trace, and those that a program names: it names the supervisor.
        for (scope, is_traced, says) in [
            ("", false, "container"),
            ("1", false, "container"),
            ("2", false, "administrators"),
            ("3", false, "next boot"),
            ("0", true, "strace"),
        ] {
            assert!(untraceable(scope, is_traced).contains(says), "{scope} {is_traced}");
        }
        assert!(is_traced("Name:\tx\nTracerPid:\t17\n"));
        assert!(!is_traced("Name:\tx\nTracerPid:\t0\n") && !is_traced(""));
    }

    #[test]
    fn a_program_that_can_not_be_run_is_no_failure_of_the_supervisor() {
        let of = |stage, errno| why(stage, io::Error::from_raw_os_error(errno), "app");
        assert!(matches!(of(BY_TRACE, libc::EPERM), Failure::NotTraced(_)));
        assert!(matches!(of(BY_FILTER, libc::EINVAL), Failure::Own(_)));
        assert!(matches!(of(BY_EXEC, libc::ENOENT), Failure::NotFound(_)));
        assert!(matches!(of(BY_EXEC, libc::EACCES), Failure::NotRun(_)));
    }
}
