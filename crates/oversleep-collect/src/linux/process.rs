//! What the system knows about a process.

/// The cgroup whose quota applies to a process.
pub fn cgroup_of(pid: u32) -> Option<String> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
    let of = |line: &str| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        let has_quota = controllers.is_empty() || controllers.split(',').any(|name| name == "cpu");
        (has_quota && path != "/").then(|| path.to_owned())
    };
    text.lines().find_map(of)
}

/// The name of a process.
pub fn command_name(pid: u32) -> Option<String> {
    std::fs::read_to_string(format!("/proc/{pid}/comm")).ok().map(|name| name.trim_end().to_owned())
}
