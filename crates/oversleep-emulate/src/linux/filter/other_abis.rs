//! Timed waits of the other call tables of x86-64 kernels: that of 32-bit programs (i386), which a 64-bit program reaches
//! with `int 0x80`, and x32. They aren't emulated, so each one is named in the report.
//!
//! Numbers: <https://github.com/torvalds/linux/blob/v6.12/arch/x86/entry/syscalls/syscall_32.tbl> and `syscall_64.tbl`.

use super::calls::When;
use crate::linux::process::ptrace::{self, Registers, Tid};

/// A call by its number, what makes it a timed wait, and its name in the report.
type Call = (u32, When, &'static str);

/// What the filter tells the tracer of such a call beside what it tells of all.
pub const MARK: u32 = 1;
/// Numbers from here on are of the x32 table.
pub const X32: u32 = 0x4000_0000;

/// Why such a call isn't emulated.
pub const NATIVE: &str =
    "a call by int 0x80 or of the x32 table has native timing: only the 64-bit calls are redirected";

/// Those of 32-bit programs. The old `select` (82) has its arguments in memory, so it is named even without a timeout.
pub(super) const I386: &[Call] = &[
    (240, When::Futex, "futex (i386)"),
    (422, When::Futex, "futex (i386)"),
    (162, When::Given(0), "nanosleep (i386)"),
    (267, When::Passing(0), "clock_nanosleep (i386)"),
    (407, When::Passing(0), "clock_nanosleep (i386)"),
    (168, When::Positive(2), "poll (i386)"),
    (309, When::Given(2), "ppoll (i386)"),
    (414, When::Given(2), "ppoll (i386)"),
    (82, When::Always, "select (i386)"),
    (142, When::Given(4), "select (i386)"),
    (308, When::Given(4), "pselect6 (i386)"),
    (413, When::Given(4), "pselect6 (i386)"),
    (256, When::Positive(3), "epoll_wait (i386)"),
    (319, When::Positive(3), "epoll_pwait (i386)"),
    (441, When::Given(3), "epoll_pwait2 (i386)"),
    (177, When::Given(2), "rt_sigtimedwait (i386)"),
    (421, When::Given(2), "rt_sigtimedwait (i386)"),
    (279, When::Given(4), "mq_timedsend (i386)"),
    (418, When::Given(4), "mq_timedsend (i386)"),
    (280, When::Given(4), "mq_timedreceive (i386)"),
    (419, When::Given(4), "mq_timedreceive (i386)"),
    (117, When::Is(0, SEMTIMEDOP), "semtimedop (i386)"),
    (420, When::Given(3), "semtimedop (i386)"),
    (247, When::Given(4), "io_getevents (i386)"),
    (385, When::Given(4), "io_pgetevents (i386)"),
    (416, When::Given(4), "io_pgetevents (i386)"),
    (449, When::Given(3), "futex_waitv (i386)"),
    (455, When::Given(4), "futex_wait (i386)"),
];

/// `SEMTIMEDOP`, an operation of `ipc`.
const SEMTIMEDOP: u32 = 4;

/// Those of x32: the 64-bit numbers, but for one.
pub(super) const OF_X32: &[Call] = &[
    (202, When::Futex, "futex (x32)"),
    (232, When::Positive(3), "epoll_wait (x32)"),
    (281, When::Positive(3), "epoll_pwait (x32)"),
    (230, When::Passing(0), "clock_nanosleep (x32)"),
    (35, When::Given(0), "nanosleep (x32)"),
    (7, When::Positive(2), "poll (x32)"),
    (271, When::Given(2), "ppoll (x32)"),
    (270, When::Given(4), "pselect6 (x32)"),
    (23, When::Given(4), "select (x32)"),
    (441, When::Given(3), "epoll_pwait2 (x32)"),
    (523, When::Given(2), "rt_sigtimedwait (x32)"),
    (242, When::Given(4), "mq_timedsend (x32)"),
    (243, When::Given(4), "mq_timedreceive (x32)"),
    (220, When::Given(3), "semtimedop (x32)"),
    (208, When::Given(4), "io_getevents (x32)"),
    (333, When::Given(4), "io_pgetevents (x32)"),
    (449, When::Given(3), "futex_waitv (x32)"),
    (455, When::Given(4), "futex_wait (x32)"),
];

/// The name of the call that a thread stopped at, if it is of another table.
pub fn name(tid: Tid, registers: &Registers) -> Option<&'static str> {
    let number = registers.orig_rax as u32;
    let of = |calls: &[Call], number| calls.iter().find(|call| call.0 == number).map(|call| call.2);
    if number >= X32 {
        return of(OF_X32, number - X32);
    }
    // Tables share some numbers, so the filter's mark decides.
    of(I386, number).filter(|_| ptrace::message(tid).is_ok_and(|told| told & u64::from(MARK) != 0))
}
