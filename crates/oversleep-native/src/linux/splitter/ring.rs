//! The ring in which the kernel records this thread's context switches.
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

/// Pages for records. A wait makes two records of 24 bytes.
const DATA_PAGES: usize = 8;
/// Offsets of the head and tail counters in the control page.
const HEAD_OFFSET: usize = 1024;
const TAIL_OFFSET: usize = 1032;

const ALLOW: &str = "`sudo sysctl kernel.perf_event_paranoid=2`; in a container \
    `--security-opt seccomp=unconfined` or `--cap-add PERFMON`";

pub(super) struct SwitchRing {
    // The order matters: the mapping is dropped before the descriptor.
    map: Mapping,
    _event: OwnedFd,
}

struct Mapping {
    base: NonNull<u8>,
    page_bytes: usize,
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: exactly the mapped range, to which nothing refers any more.
        unsafe { libc::munmap(self.base.as_ptr().cast(), (1 + DATA_PAGES) * self.page_bytes) };
    }
}

impl SwitchRing {
    /// Starts recording the switches of the calling thread.
    pub(super) fn open() -> Result<SwitchRing, Unavailable> {
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
        // SAFETY: `attr` has the layout and the size it states; pid 0 is the calling thread, −1 every CPU and no group.
        let raw = unsafe {
            libc::syscall(libc::SYS_perf_event_open, &raw const attr, 0_i64, -1_i64, -1_i64, FLAG_CLOSE_ON_EXEC)
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
                (1 + DATA_PAGES) * page_bytes,
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
        Ok(SwitchRing { map: Mapping { base, page_bytes }, _event: event })
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
        let head = self.head();
        let tail = self.counter(TAIL_OFFSET).load(Ordering::Relaxed);
        let mut bytes = Vec::with_capacity((head - tail) as usize);
        let data_bytes = DATA_PAGES * self.map.page_bytes;
        for position in tail..head {
            let offset = self.map.page_bytes + (position % data_bytes as u64) as usize;
            // SAFETY: within the data pages, and the kernel doesn't write between tail and head.
            bytes.push(unsafe { self.map.base.as_ptr().add(offset).read() });
        }
        // Release, so that the bytes are copied before the kernel may reuse their place.
        self.counter(TAIL_OFFSET).store(head, Ordering::Release);
        decode(&bytes)
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

/// Records: type (4 bytes), misc (2), size (2), and for a switch: pid (4), tid (4), time (8).
fn decode(mut bytes: &[u8]) -> Switches {
    let mut switches = Switches::default();
    while !bytes.is_empty() {
        let header = bytes.first_chunk::<8>().map(|h| {
            let kind = u32::from_ne_bytes([h[0], h[1], h[2], h[3]]);
            (kind, u16::from_ne_bytes([h[4], h[5]]), usize::from(u16::from_ne_bytes([h[6], h[7]])))
        });
        let Some((kind, misc, size)) = header.filter(|&(_, _, size)| (8..=bytes.len()).contains(&size)) else {
            // A torn record: what follows isn't readable, so something is missing.
            return Switches { lost: true, ..switches };
        };
        let (record, rest) = bytes.split_at(size);
        match kind {
            RECORD_SWITCH if misc & MISC_SWITCH_OUT == 0 => match record[8..].last_chunk::<8>() {
                Some(time) => {
                    switches.count += 1;
                    switches.last_at = Nanos(u64::from_ne_bytes(*time) as i64);
                }
                None => switches.lost = true,
            },
            RECORD_LOST | RECORD_LOST_SAMPLES => switches.lost = true,
            _ => {}
        }
        bytes = rest;
    }
    switches
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

    #[test]
    fn counts_switch_ins_and_keeps_the_last() {
        let stream = [
            record(RECORD_SWITCH, MISC_SWITCH_OUT, &[7, 100]),
            record(RECORD_SWITCH, 0, &[7, 200]),
            record(99, 0, &[1, 2, 3]),
            record(RECORD_SWITCH, MISC_SWITCH_OUT, &[7, 300]),
            record(RECORD_SWITCH, 0, &[7, 400]),
        ]
        .concat();
        assert_eq!(decode(&stream), Switches { count: 2, last_at: Nanos(400), lost: false });
        assert_eq!(decode(&[]), Switches::default());
    }

    #[test]
    fn lost_and_torn_records_are_reported() {
        let one = record(RECORD_SWITCH, 0, &[7, 200]);
        let lost = [one.clone(), record(RECORD_LOST, 0, &[1, 5, 7, 250])].concat();
        assert_eq!(decode(&lost), Switches { count: 1, last_at: Nanos(200), lost: true });
        for end in 1..one.len() {
            assert!(decode(&one[..end]).lost, "{end} bytes");
        }
        assert!(decode(&record(RECORD_SWITCH, 0, &[])).lost, "no time in it");
        assert!(decode(&[0; 8]).lost, "a size of zero must not loop");
    }
}
