//! What a scenario's own memory and CPU time come to. Memory that scenarios before it have freed may still belong to the
//! process.

use std::fs;

/// More than this isn't bounded memory.
pub const ADDED_MAX_KB: u64 = 64 * 1024;

/// The process's memory when a scenario begins.
pub struct Memory {
    began_kb: u64,
}

impl Memory {
    /// Begins a new peak (`clear_refs` in proc(5)).
    pub fn begin() -> Result<Memory, String> {
        fs::write("/proc/self/clear_refs", "5").map_err(|error| format!("/proc/self/clear_refs: {error}"))?;
        Ok(Memory { began_kb: kb("VmRSS")? })
    }

    /// What the peak since then adds.
    pub fn added_kb(&self) -> Result<u64, String> {
        Ok(kb("VmHWM")?.saturating_sub(self.began_kb))
    }
}

/// CPU time of this thread.
pub fn cpu_ns() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|ns| ns.parse().ok()).unwrap_or(0)
}

fn kb(name: &str) -> Result<u64, String> {
    let text = fs::read_to_string("/proc/self/status").map_err(|error| error.to_string())?;
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let kb = line.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    kb.ok_or_else(|| format!("/proc/self/status has no {name}"))
}
