//! What the system knows about a process.

use oversleep_why::recording::Named;

/// A process's name, and its place among the groups that share the CPUs.
pub fn named(tgid: u32) -> Option<Named> {
    let group = oversleep_native::process_group(tgid);
    let (cgroup, weights, quota) = group.map_or_else(Default::default, |of| (Some(of.path), of.weights, of.quota));
    let (freezer, autogroup) = (oversleep_native::freezer_group(tgid), oversleep_native::autogroup(tgid));
    Some(Named { tgid, name: command_name(tgid)?, cgroup, weights, quota, autogroup, freezer, runtime: None })
}

/// The name of a process.
pub fn command_name(pid: u32) -> Option<String> {
    std::fs::read_to_string(format!("/proc/{pid}/comm")).ok().map(|name| name.trim_end().to_owned())
}

/// The process of a thread, which for its first thread has the same id; `None` if there is no such thread.
pub fn process_of(tid: u32) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{tid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("Tgid:")?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_the_id_of_its_process() {
        let own = std::process::id();
        let thread = std::thread::spawn(|| {
            let link = std::fs::read_link("/proc/thread-self").unwrap();
            let own = link.file_name().unwrap().to_str().unwrap().parse().unwrap();
            (own, process_of(own))
        });
        let (thread, its_process) = thread.join().unwrap();
        assert_ne!(thread, own);
        assert_eq!((process_of(own), its_process, process_of(u32::MAX)), (Some(own), Some(own), None));
    }
}
