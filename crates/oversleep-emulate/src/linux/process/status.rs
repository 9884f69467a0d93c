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

/// Whether a process's system calls are filtered, as far as the system says it.
pub fn is_filtered(process: Tid) -> bool {
    in_status(process, "Seccomp:") != Some(0)
}

/// Whether a thread of this supervisor traces that process.
pub fn is_traced_here(process: Tid) -> bool {
    let is_own = |tracer: Tid| tracer > 0 && std::fs::exists(format!("/proc/self/task/{tracer}")).unwrap_or(false);
    process_of(process) == Some(process) && in_status(process, "TracerPid:").is_some_and(is_own)
}

/// Whether a thread's process has a handler for a signal.
pub fn handles(tid: Tid, signal: i32) -> bool {
    let set = field_of(tid, "SigCgt:").and_then(|set| u64::from_str_radix(&set, 16).ok());
    set.is_some_and(|set| set >> (signal - 1) & 1 == 1)
}

/// Whether calls leave a program's timeouts as they are, instead of writing what is left of them (`STICKY_TIMEOUTS`).
pub fn keeps_timeouts(tid: Tid) -> bool {
    const STICKY: u32 = 0x400_0000;
    let text = std::fs::read_to_string(format!("/proc/{tid}/personality")).unwrap_or_default();
    u32::from_str_radix(text.trim(), 16).is_ok_and(|personality| personality & STICKY != 0)
}

fn in_status(tid: Tid, field: &str) -> Option<Tid> {
    field_of(tid, field)?.parse().ok()
}

fn field_of(tid: Tid, field: &str) -> Option<String> {
    let status = std::fs::read_to_string(format!("/proc/{tid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix(field)).map(|value| value.trim().to_owned())
}

/// Whether that address is on the stack of a process's first thread.
pub fn is_first_stack(tid: Tid, at: u64) -> bool {
    let maps = std::fs::read_to_string(format!("/proc/{tid}/maps")).unwrap_or_default();
    let stack = maps.lines().find(|line| line.ends_with("[stack]")).and_then(|line| line.split_once(' '));
    let ends = stack.and_then(|(range, _)| range.split_once('-'));
    let ends = ends.map(|(from, to)| [from, to].map(|end| u64::from_str_radix(end, 16).unwrap_or(0)));
    ends.is_some_and(|[from, to]| (from..to).contains(&at))
}
