//! Processes that outlive the program that started them.
//!
//! This process asks the kernel to become their parent (`PR_SET_CHILD_SUBREAPER`). So a process can't escape by leaving its
//! group or its session, or by clearing its environment: when the program ends, it is a child of this process.
//! <https://man7.org/linux/man-pages/man2/PR_SET_CHILD_SUBREAPER.2const.html>

use std::fs;
use std::time::Duration;

use crate::children::Children;

/// How long the orphans may take to end; a process in an uninterruptible call takes longer.
const TRIES: u32 = 2_000;
const PAUSE: Duration = Duration::from_millis(1);

/// The fields of `/proc/PID/stat` that tell orphans from other children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stat {
    parent: u32,
    group: u32,
    /// In clock ticks since boot.
    started: u64,
}

impl Stat {
    fn read(process: u32) -> Option<Stat> {
        Stat::parse(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
    }

    /// The second field is the program's name in parentheses, which may contain anything.
    fn parse(text: &str) -> Option<Stat> {
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
        let (parent, group) = (fields.get(1)?.parse().ok()?, fields.get(2)?.parse().ok()?);
        Some(Stat { parent, group, started: fields.get(19)?.parse().ok()? })
    }
}

/// From now on, orphans become children of this process, until it ends.
pub fn adopt() {
    // SAFETY: takes numbers only.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) };
}

/// When a process started, in clock ticks since boot.
pub fn started(process: u32) -> Option<u64> {
    Stat::read(process).map(|stat| stat.started)
}

/// Ends the orphans that started at that time or later, and those that they leave in turn. `own` are no orphans, and nor is
/// a child in this process's own group: of a program's processes, only those that have left its group are still alive.
pub fn end_all(since: u64, own: &Children) {
    for _ in 0..TRIES {
        // One that may not be ended would be waited for in vain.
        let killed: Vec<libc::pid_t> = orphans(since, own).into_iter().filter(|&number| kill(number)).collect();
        if killed.is_empty() {
            return;
        }
        // A sandbox may refuse the call that `sleep` makes, which then panics.
        std::thread::park_timeout(PAUSE);
        for number in killed {
            // SAFETY: a status isn't wanted. The process is a child, which nothing else waits for.
            unsafe { libc::waitpid(number, std::ptr::null_mut(), libc::WNOHANG) };
        }
    }
}

fn kill(process: libc::pid_t) -> bool {
    // SAFETY: takes two numbers. The process is a child that nobody has waited for, so no other has its number.
    unsafe { libc::kill(process, libc::SIGKILL) == 0 }
}

fn orphans(since: u64, own: &Children) -> Vec<libc::pid_t> {
    let this = std::process::id();
    let (Some(itself), Ok(processes)) = (Stat::read(this), fs::read_dir("/proc")) else { return Vec::new() };
    let numbers = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_orphan = |number: &u32| {
        Stat::read(*number).is_some_and(|one| {
            one.parent == this && one.group != itself.group && one.started >= since && !own.contains(*number)
        })
    };
    numbers.filter(is_orphan).filter_map(|number| number.try_into().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_spaces_and_parentheses_hides_no_field() {
        let text = "4711 (a) S (b) S 12 34 56 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 10 11";
        assert_eq!(Stat::parse(text), Some(Stat { parent: 12, group: 34, started: 987_654 }));
        assert_eq!(Stat::parse("4711 (a) S 12"), None);
        assert!(Stat::read(std::process::id()).is_some_and(|own| own.started > 0));
    }
}
