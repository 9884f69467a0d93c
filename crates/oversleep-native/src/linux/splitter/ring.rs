//! The ring in which the kernel records a thread's context switches.
//! <https://man7.org/linux/man-pages/man2/perf_event_open.2.html>

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use oversleep_record::{Nanos, Unavailable};

use super::Switches;
use crate::linux::os;

/// `struct perf_event_attr` in version 5 (Linux 4.1), which has all fields used here.
#[repr(C)]
#[derive(Default)]
struct EventAttr {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup: u32,
    breakpoint_type: u32,
    breakpoint_address: u64,
    breakpoint_length: u64,
    branch_sample_type: u64,
    sample_regs_user: u64,
    sample_stack_user: u32,
    clock_id: i32,
    sample_regs_interrupt: u64,
    aux_watermark: u32,
    sample_max_stack: u16,
    reserved: u16,
}

const TYPE_SOFTWARE: u32 = 1;
const SOFTWARE_DUMMY: u64 = 9;
const SAMPLE_TID: u64 = 1 << 1;
const SAMPLE_TIME: u64 = 1 << 2;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
const SAMPLE_ID_ALL: u64 = 1 << 18;
const USE_CLOCK_ID: u64 = 1 << 25;
const CONTEXT_SWITCH: u64 = 1 << 26;
const FLAG_CLOSE_ON_EXEC: u64 = 1 << 3;

/// Pages for records of the calling thread. A wait makes two records of 24 bytes.
const DATA_PAGES: usize = 8;
/// Pages for records of another thread. Each of its threads has a ring, and the kernel bounds the pages of one user.
const DATA_PAGES_OF_OTHERS: usize = 1;
/// Offsets of the head and tail counters in the control page.
const HEAD_OFFSET: usize = 1024;
const TAIL_OFFSET: usize = 1032;

const ALLOW: &str = "`sudo sysctl kernel.perf_event_paranoid=2`; in a container \
    `--security-opt seccomp=unconfined` or `--cap-add PERFMON`";

/// A change of the thread that has a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    /// When, on CLOCK_MONOTONIC.
    pub at: Nanos,
    /// What changed for the recorded thread.
    pub kind: SwitchKind,
}

/// What changed for the recorded thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwitchKind {
    /// It got a CPU.
    In,
    /// It left its CPU to wait for something.
    Out,
    /// It left its CPU although it was runnable (Linux 4.17; earlier kernels call it `Out`).
    Preempted,
}

/// A ring of the kernel with the context switches of one thread.
pub struct SwitchRing {
    // The order matters: the mapping is dropped before the descriptor.
    map: Mapping,
    _event: OwnedFd,
}

struct Mapping {
    base: NonNull<u8>,
    page_bytes: usize,
    data_pages: usize,
}

// SAFETY: the mapping belongs to its owner alone, in whatever thread that is.
unsafe impl Send for Mapping {}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: exactly the mapped range, to which nothing refers any more.
        unsafe { libc::munmap(self.base.as_ptr().cast(), (1 + self.data_pages) * self.page_bytes) };
    }
}

impl SwitchRing {
    /// Starts recording the switches of the calling thread.
    pub(super) fn open() -> Result<SwitchRing, Unavailable> {
        SwitchRing::open_for(0, DATA_PAGES)
    }

    /// Starts recording the switches of a thread that this process may trace.
    ///
    /// # Errors
    /// The reason if its switches aren't readable here.
    pub fn of_thread(tid: i32) -> Result<SwitchRing, Unavailable> {
        SwitchRing::open_for(tid, DATA_PAGES_OF_OTHERS)
    }

    fn open_for(tid: i32, data_pages: usize) -> Result<SwitchRing, Unavailable> {
        let attr = EventAttr {
            kind: TYPE_SOFTWARE,
            size: size_of::<EventAttr>() as u32,
            config: SOFTWARE_DUMMY,
            sample_type: SAMPLE_TID | SAMPLE_TIME,
            // Without kernel events, everybody may open it at paranoid level 2. Switches are still recorded.
            flags: EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR | SAMPLE_ID_ALL | USE_CLOCK_ID | CONTEXT_SWITCH,
            clock_id: libc::CLOCK_MONOTONIC,
            ..EventAttr::default()
        };
        // SAFETY: `attr` has the layout and the size it states; thread 0 is the calling one, −1 every CPU and no group.
        let raw = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                &raw const attr,
                i64::from(tid),
                -1_i64,
                -1_i64,
                FLAG_CLOSE_ON_EXEC,
            )
        };
        if raw < 0 {
            return Err(explain(&io::Error::last_os_error()));
        }
        // SAFETY: the descriptor was just created and has no other owner.
        let event = unsafe { OwnedFd::from_raw_fd(raw as i32) };
        // SAFETY: takes a number and returns one.
        let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        // Writable, so that the kernel respects the tail and never overwrites unread records.
        // SAFETY: a new mapping of the event's buffer, at an address that the kernel chooses.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                (1 + data_pages) * page_bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                event.as_raw_fd(),
                0,
            )
        };
        if base == libc::MAP_FAILED {
            let error = io::Error::last_os_error();
            return Err(os::refused("mmap of a perf buffer", &error, "raise kernel.perf_event_mlock_kb"));
        }
        let base = NonNull::new(base.cast()).ok_or_else(|| Unavailable::failed("mmap of a perf buffer", "null"))?;
        Ok(SwitchRing { map: Mapping { base, page_bytes, data_pages }, _event: event })
    }

    /// The control page.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn control_page(&self) -> *const u8 {
        self.map.base.as_ptr()
    }

    fn counter(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: an aligned 64-bit counter within the control page, which lives as long as `self`; the kernel changes
        // it concurrently, hence atomic.
        unsafe { AtomicU64::from_ptr(self.map.base.as_ptr().add(offset).cast()) }
    }

    /// The kernel's write position. Acquire, so that the records before it are complete.
    fn head(&self) -> u64 {
        self.counter(HEAD_OFFSET).load(Ordering::Acquire)
    }

    /// Skips all existing records.
    pub(super) fn forget(&mut self) {
        let head = self.head();
        self.counter(TAIL_OFFSET).store(head, Ordering::Release);
    }

    /// The switch-ins since the last call of this function or of `forget`.
    pub(super) fn take(&mut self) -> Switches {
        let mut switches = Switches::default();
        let is_whole = self.each(|switch| {
            if switch.kind == SwitchKind::In {
                switches.count += 1;
                switches.last_at = switch.at;
            }
        });
        Switches { lost: !is_whole, ..switches }
    }

    /// Passes the switches since the last call of this function or of `forget` to `each`, in order. Returns whether these
    /// are all.
    pub fn each(&mut self, each: impl FnMut(Switch)) -> bool {
        let head = self.head();
        let tail = self.counter(TAIL_OFFSET).load(Ordering::Relaxed);
        let mut bytes = Vec::with_capacity((head - tail) as usize);
        let data_bytes = self.map.data_pages * self.map.page_bytes;
        for position in tail..head {
            let offset = self.map.page_bytes + (position % data_bytes as u64) as usize;
            // SAFETY: within the data pages, and the kernel doesn't write between tail and head.
            bytes.push(unsafe { self.map.base.as_ptr().add(offset).read() });
        }
        // Release, so that the bytes are copied before the kernel may reuse their place.
        self.counter(TAIL_OFFSET).store(head, Ordering::Release);
        decode(&bytes, each)
    }
}

fn explain(error: &io::Error) -> Unavailable {
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => Unavailable::not_permitted("perf_event_open for this thread", ALLOW),
        Some(libc::ENOSYS) => Unavailable::missing("perf_event_open (a kernel without it, or a sandbox)"),
        Some(libc::EINVAL | libc::E2BIG) => Unavailable::TooOld { needs: "Linux 4.3".to_owned() },
        _ => Unavailable::failed("perf_event_open", error),
    }
}

const RECORD_LOST: u32 = 2;
const RECORD_LOST_SAMPLES: u32 = 13;
const RECORD_SWITCH: u32 = 14;
const MISC_SWITCH_OUT: u16 = 1 << 13;
const MISC_SWITCH_OUT_PREEMPT: u16 = 1 << 14;

/// Records: type (4 bytes), misc (2), size (2), and for a switch: pid (4), tid (4), time (8). Returns whether none is
/// missing.
fn decode(mut bytes: &[u8], mut each: impl FnMut(Switch)) -> bool {
    let mut is_whole = true;
    while !bytes.is_empty() {
        let header = bytes.first_chunk::<8>().map(|h| {
            let kind = u32::from_ne_bytes([h[0], h[1], h[2], h[3]]);
            (kind, u16::from_ne_bytes([h[4], h[5]]), usize::from(u16::from_ne_bytes([h[6], h[7]])))
        });
        let Some((kind, misc, size)) = header.filter(|&(_, _, size)| (8..=bytes.len()).contains(&size)) else {
            // A torn record: what follows isn't readable, so something is missing.
            return false;
        };
        let (record, rest) = bytes.split_at(size);
        match kind {
            RECORD_SWITCH => match record[8..].last_chunk::<8>() {
                Some(time) => {
                    let kind = match misc & (MISC_SWITCH_OUT | MISC_SWITCH_OUT_PREEMPT) {
                        0 => SwitchKind::In,
                        MISC_SWITCH_OUT => SwitchKind::Out,
                        _ => SwitchKind::Preempted,
                    };
                    each(Switch { at: Nanos(u64::from_ne_bytes(*time) as i64), kind });
                }
                None => is_whole = false,
            },
            RECORD_LOST | RECORD_LOST_SAMPLES => is_whole = false,
            _ => {}
        }
        bytes = rest;
    }
    is_whole
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u32, misc: u16, body: &[u64]) -> Vec<u8> {
        let size = (8 + 8 * body.len()) as u16;
        let header = [kind.to_ne_bytes().as_slice(), &misc.to_ne_bytes(), &size.to_ne_bytes()].concat();
        [header, body.iter().flat_map(|word| word.to_ne_bytes()).collect()].concat()
    }

    #[test]
    fn the_layout_is_the_kernels() {
        assert_eq!(size_of::<EventAttr>(), 112);
        assert_eq!(std::mem::offset_of!(EventAttr, flags), 40);
        assert_eq!(std::mem::offset_of!(EventAttr, clock_id), 92);
    }

    fn decoded(bytes: &[u8]) -> (Vec<(SwitchKind, i64)>, bool) {
        let mut switches = Vec::new();
        let is_whole = decode(bytes, |switch| switches.push((switch.kind, switch.at.0)));
        (switches, is_whole)
    }

    #[test]
    fn switches_are_told_apart() {
        let stream = [
            record(RECORD_SWITCH, MISC_SWITCH_OUT, &[7, 100]),
            record(RECORD_SWITCH, 0, &[7, 200]),
            record(99, 0, &[1, 2, 3]),
            record(RECORD_SWITCH, MISC_SWITCH_OUT | MISC_SWITCH_OUT_PREEMPT, &[7, 300]),
            record(RECORD_SWITCH, 0, &[7, 400]),
        ]
        .concat();
        use SwitchKind::{In, Out, Preempted};
        assert_eq!(decoded(&stream), (vec![(Out, 100), (In, 200), (Preempted, 300), (In, 400)], true));
        assert_eq!(decoded(&[]), (Vec::new(), true));
    }

    #[test]
    fn lost_and_torn_records_are_reported() {
        let one = record(RECORD_SWITCH, 0, &[7, 200]);
        let lost = [one.clone(), record(RECORD_LOST, 0, &[1, 5, 7, 250])].concat();
        assert_eq!(decoded(&lost), (vec![(SwitchKind::In, 200)], false));
        for end in 1..one.len() {
            assert!(!decoded(&one[..end]).1, "{end} bytes");
        }
        assert!(!decoded(&record(RECORD_SWITCH, 0, &[])).1, "no time in it");
        assert!(!decoded(&[0; 8]).1, "a size of zero must not loop");
    }
}
