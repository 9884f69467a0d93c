//! The timer slack of other processes, as far as this one may read it.

use std::collections::{BTreeMap, BTreeSet};

use oversleep_record::conditions::Setting;
use oversleep_record::{Nanos, Unavailable};
use oversleep_system::{Holders, ResolutionHolders};

use super::files::Files;

/// `PF_KTHREAD` in the flags of `/proc/PID/stat`: a kernel thread, which no program can slow down.
const KERNEL_THREAD: u64 = 0x0020_0000;

/// The processes by the slack of their first thread. The kernel (since 4.6) shows that of others only to
/// `CAP_SYS_NICE`.
///
/// # Errors
/// The reason if no process's slack is readable.
pub fn by_slack(files: &dyn Files, own_pid: u32) -> Result<ResolutionHolders, Unavailable> {
    let mut found: BTreeMap<Setting, (u64, BTreeSet<String>)> = BTreeMap::new();
    let mut unknown_count = 0;
    let mut refusal = None;
    for pid in files.names("/proc").iter().filter_map(|name| name.parse::<u32>().ok()).filter(|&pid| pid != own_pid) {
        // The process may have ended meanwhile.
        let Some((name, flags)) = files.text(&format!("/proc/{pid}/stat")).ok().and_then(|text| name_and_flags(&text))
        else {
            continue;
        };
        if flags & KERNEL_THREAD != 0 {
            continue;
        }
        match files.integer(&format!("/proc/{pid}/timerslack_ns")) {
            Ok(slack) => {
                let (count, names) = found.entry(Setting::Nanos(Nanos(slack))).or_default();
                *count += 1;
                names.insert(name);
            }
            Err(reason) => {
                unknown_count += 1;
                refusal.get_or_insert(reason);
            }
        }
    }
    match refusal {
        Some(reason) if found.is_empty() => Err(explained(reason)),
        _ => {
            let holders = |(setting, (process_count, names)): (Setting, (u64, BTreeSet<String>))| Holders {
                setting,
                process_count,
                names: names.into_iter().collect(),
            };
            Ok(ResolutionHolders { settings: found.into_iter().map(holders).collect(), unknown_count })
        }
    }
}

/// The name in brackets, which may itself contain brackets and spaces, and the seventh field after it.
fn name_and_flags(stat: &str) -> Option<(String, u64)> {
    let (begin, end) = (stat.find('(')?, stat.rfind(')')?);
    let flags = stat.get(end + 1..)?.split_whitespace().nth(6)?.parse().ok()?;
    Some((stat.get(begin + 1..end)?.to_owned(), flags))
}

/// The reason for all processes, without the path of a particular one.
fn explained(reason: Unavailable) -> Unavailable {
    const WHAT: &str = "reading the timer slack of other processes";
    match reason {
        Unavailable::Missing { .. } => {
            Unavailable::TooOld { needs: "Linux 4.6 or later, for /proc/PID/timerslack_ns".to_owned() }
        }
        _ => Unavailable::not_permitted(WHAT, "grant CAP_SYS_NICE, or run as root"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::files::Sample;
    use super::*;

    const USER: &str = "(some app) S 1 1 1 0 -1 4194304 0 0";

    #[test]
    fn processes_are_counted_by_slack_without_kernel_threads() {
        let files = Sample::of(&[
            ("/proc/2/stat", "2 (kthreadd) S 0 0 0 0 -1 2129984 0 0"),
            ("/proc/2/timerslack_ns", "50000"),
            ("/proc/10/stat", "10 (a) b) S 1 1 1 0 -1 4194304 0 0"),
            ("/proc/10/timerslack_ns", "50000\n"),
            ("/proc/11/stat", USER),
            ("/proc/11/timerslack_ns", "50000\n"),
            ("/proc/12/stat", USER),
            ("/proc/12/timerslack_ns", "1\n"),
            ("/proc/13/stat", USER),
            ("/proc/99/stat", USER),
            ("/proc/99/timerslack_ns", "7\n"),
            ("/proc/uptime", "1 1"),
        ]);
        let found = by_slack(&files, 99).expect("some are readable");
        assert_eq!(found.unknown_count, 1);
        let holders = |ns, process_count, names: &[&str]| Holders {
            setting: Setting::Nanos(Nanos(ns)),
            process_count,
            names: names.iter().map(|&name| name.to_owned()).collect(),
        };
        assert_eq!(found.settings, [holders(1, 1, &["some app"]), holders(50_000, 2, &["a) b", "some app"])]);
    }

    #[test]
    fn without_readable_processes_the_reason_says_what_helps() {
        let old = by_slack(&Sample::of(&[("/proc/10/stat", USER)]), 1).unwrap_err();
        assert!(matches!(old, Unavailable::TooOld { .. }), "{old}");
        let refused = explained(Unavailable::failed("read /proc/10/timerslack_ns", "Operation not permitted"));
        assert!(refused.to_string().contains("CAP_SYS_NICE"), "{refused}");
        assert_eq!(by_slack(&Sample::of(&[]), 1), Ok(ResolutionHolders::default()), "the only process");
    }
}
