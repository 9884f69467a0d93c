//! What the kernel says of a thread in `/proc/<tid>/status`.

use super::ptrace::Tid;

/// The process of a thread, according to the system.
pub fn process_of(tid: Tid) -> Option<Tid> {
    in_status(tid, "Tgid:")
}

/// How many filters of system calls a process has, according to the system.
pub fn filters_of(process: Tid) -> Option<Tid> {
    in_status(process, "Seccomp_filters:")
}

/// Whether a thread of this supervisor traces that process.
pub fn is_traced_here(process: Tid) -> bool {
    let is_own = |tracer: Tid| tracer > 0 && std::fs::exists(format!("/proc/self/task/{tracer}")).unwrap_or(false);
    process_of(process) == Some(process) && in_status(process, "TracerPid:").is_some_and(is_own)
}

fn in_status(tid: Tid, field: &str) -> Option<Tid> {
    let status = std::fs::read_to_string(format!("/proc/{tid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix(field))?.trim().parse().ok()
}

/// Whether that address is on the stack of a process's first thread.
pub fn is_first_stack(tid: Tid, at: u64) -> bool {
    let maps = std::fs::read_to_string(format!("/proc/{tid}/maps")).unwrap_or_default();
    let stack = maps.lines().find(|line| line.ends_with("[stack]")).and_then(|line| line.split_once(' '));
    let ends = stack.and_then(|(range, _)| range.split_once('-'));
    let ends = ends.map(|(from, to)| [from, to].map(|end| u64::from_str_radix(end, 16).unwrap_or(0)));
    ends.is_some_and(|[from, to]| (from..to).contains(&at))
}
