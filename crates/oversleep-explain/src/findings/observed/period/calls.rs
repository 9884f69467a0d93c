//! Calls in which no thread waits for work: whoever sleeps in them is held up.

/// Why threads sleep in a call, and what helps.
pub(super) struct Sleep {
    calls: &'static [&'static str],
    /// What it waits for.
    pub until: &'static str,
    pub advice: &'static str,
}

/// Calls that only read, or wait for one of several things, are in none: these may wait for work.
static ALL: &[Sleep] = &[
    Sleep {
        calls: &[
            "fsync",
            "fdatasync",
            "sync",
            "syncfs",
            "sync_file_range",
            "msync",
            "fallocate",
            "ftruncate",
            "open",
            "openat",
            "close",
            "unlink",
            "unlinkat",
            "rename",
            "renameat2",
            "newfstatat",
            "statx",
            "getdents64",
            "pread64",
            "preadv",
            "pwrite64",
            "pwritev",
            "mmap",
            "munmap",
            "madvise",
        ],
        until: "a disk or a file system",
        advice: "Let another thread make the calls that wait for the disk, or make them less often",
    },
    Sleep {
        calls: &["write", "writev", "sendto", "sendmsg", "sendfile", "splice"],
        until: "a full pipe or socket whose reader is slow, or a disk",
        advice: "See who reads what is written here, and why that is slow; or let another thread write it",
    },
    Sleep {
        calls: &["wait4", "waitid"],
        until: "the end of a child process",
        advice: "Let another thread wait for child processes",
    },
    Sleep {
        calls: &["connect"],
        until: "an answer to a connection",
        advice: "Connect in another thread, or before the loop begins",
    },
    Sleep {
        calls: &["flock"],
        until: "a lock on a file",
        advice: "Hold the lock on the file for as short as possible, or take it with LOCK_NB",
    },
];

impl Sleep {
    /// `None` for a call in which a thread may wait for work.
    pub(super) fn of(call: &str) -> Option<&'static Sleep> {
        ALL.iter().find(|sleep| sleep.calls.contains(&call))
    }
}

#[cfg(test)]
mod tests {
    use oversleep_system::calls::is_call;

    use super::*;

    #[test]
    fn every_call_is_one_that_recordings_name() {
        ALL.iter().flat_map(|sleep| sleep.calls).for_each(|call| assert!(is_call(call), "{call}"));
        assert_eq!(
            ["read", "ppoll", "futex"].map(|call| Sleep::of(call).is_some()),
            [false; 3],
            "it may wait for work"
        );
    }
}
