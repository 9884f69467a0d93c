//! Counters that injected code updates: one page, shared with all programs, with two counters per call and its wait.

use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::linux::process::lock::lock;
use crate::linux::process::memory_file::memory_file;
use crate::linux::process::ptrace::Tid;

/// Pairs of counters on the page.
const COUNT: usize = 256;
/// One wait in this many stops at the supervisor regardless, and is counted there.
pub const SAMPLE: u64 = 256;

/// A call, and the machine's wait that stands for it.
pub type Counted = (&'static str, &'static str);

/// The counters.
pub struct Counters {
    page: *const [[AtomicU64; 2]; COUNT],
    file: OwnedFd,
    /// The call and wait that each pair belongs to, in the order of the page.
    whose: Mutex<Vec<Counted>>,
}

// SAFETY: the page is mapped as long as the process lives, and holds atomics only.
unsafe impl Send for Counters {}
// SAFETY: as above.
unsafe impl Sync for Counters {}

impl Counters {
    /// A new page; `None` if the system refuses it.
    pub fn new() -> Option<Counters> {
        let file = memory_file(c"oversleep-counters").ok()?;
        // SAFETY: a new mapping of a new file.
        unsafe {
            let size = size_of::<[[AtomicU64; 2]; COUNT]>();
            if libc::ftruncate(file.as_raw_fd(), size as libc::off_t) != 0 {
                return None;
            }
            let may = libc::PROT_READ | libc::PROT_WRITE;
            let page = libc::mmap(std::ptr::null_mut(), size, may, libc::MAP_SHARED, file.as_raw_fd(), 0);
            (page != libc::MAP_FAILED).then(|| Counters { page: page.cast(), file, whose: Mutex::default() })
        }
    }

    /// The path by which that process can open the page; empty if it means another file there, or none: in a container,
    /// for example, or where it sees no /proc.
    pub fn path(&self, process: Tid) -> String {
        let path = format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd());
        let file = |path: &str| std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()));
        let is_it = file(&path).is_some() && file(&path) == file(&format!("/proc/{process}/root{path}"));
        if is_it { path } else { String::new() }
    }

    /// Adds what a process counted on a page of its own.
    pub fn add(&self, offset: u64, counted: [u64; 2]) {
        // SAFETY: the page stays mapped.
        let page = unsafe { &*self.page };
        for (counter, more) in page.get(offset as usize / 16).into_iter().flatten().zip(counted) {
            counter.fetch_add(more, Ordering::Relaxed);
        }
    }

    /// The offset of the pair within the page; `None` if the page is full.
    pub fn offset(&self, counted: Counted) -> Option<u64> {
        let mut whose = lock(&self.whose);
        let at = whose.iter().position(|other| *other == counted).or_else(|| {
            whose.push(counted);
            (whose.len() <= COUNT).then(|| whose.len() - 1)
        })?;
        Some(16 * at as u64)
    }

    /// Per call: how many waits ran without a stop, and how many of those sleeps ended a tick or more too late.
    pub fn all(&self) -> Vec<(Counted, [u64; 2])> {
        let whose = lock(&self.whose);
        // SAFETY: the page stays mapped.
        let page = unsafe { &*self.page };
        let counts = |[count, late]: &[AtomicU64; 2]| {
            let count = count.load(Ordering::Relaxed);
            [count - count / SAMPLE, late.load(Ordering::Relaxed)]
        };
        whose.iter().zip(page).map(|(&counted, pair)| (counted, counts(pair))).collect()
    }
}
