//! Counters of the calling thread.

use std::cell::OnceCell;

use oversleep_record::Nanos;

use crate::linux::splitter::ThreadStatFile;

thread_local! {
    /// Each thread opens its own; it is closed when the thread ends.
    static STAT: OnceCell<Option<ThreadStatFile>> = const { OnceCell::new() };
}

/// The time this thread was runnable and waited for a CPU.
pub(in crate::linux) fn run_delay() -> Option<Nanos> {
    STAT.try_with(|stat| {
        let file = stat.get_or_init(|| ThreadStatFile::open().ok()).as_ref()?;
        file.read().ok().map(|stat| stat.run_delay)
    })
    .ok()
    .flatten()
}

/// Context switches and page faults.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    pub voluntary_switches: u64,
    pub involuntary_switches: u64,
    pub minor_faults: u64,
    pub major_faults: u64,
}

/// The kernel's accounts of the calling thread.
pub(super) fn usage() -> Option<Usage> {
    // SAFETY: all-zero is a valid value of this struct of numbers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a valid struct that the call fills in.
    // https://man7.org/linux/man-pages/man2/getrusage.2.html
    if unsafe { libc::getrusage(libc::RUSAGE_THREAD, &mut usage) } != 0 {
        return None;
    }
    let count = |number: libc::c_long| u64::try_from(number).unwrap_or(0);
    Some(Usage {
        voluntary_switches: count(usage.ru_nvcsw),
        involuntary_switches: count(usage.ru_nivcsw),
        minor_faults: count(usage.ru_minflt),
        major_faults: count(usage.ru_majflt),
    })
}
