//! The system calls with a timeout, by processor: number, name, and how each one states its timeout.

use serde::{Deserialize, Serialize};

/// The processor that determines a stream's call numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arch {
    /// x86-64.
    #[serde(rename = "x86_64")]
    X86_64,
    /// 64-bit Arm.
    Aarch64,
    /// A recording doesn't say: only calls are named whose numbers all processors share.
    Unknown,
}

impl Arch {
    /// The processor by Rust's name for it.
    pub fn named(name: &str) -> Option<Arch> {
        match name {
            "x86_64" => Some(Arch::X86_64),
            "aarch64" => Some(Arch::Aarch64),
            _ => None,
        }
    }

    /// Rust's name for it.
    pub fn name(self) -> &'static str {
        match self {
            Arch::X86_64 => "x86_64",
            Arch::Aarch64 => "aarch64",
            Arch::Unknown => "unknown",
        }
    }

    /// Which of a call's numbers is its own.
    fn number(self, [x86, arm]: [Option<u32>; 2]) -> Option<u32> {
        match self {
            Arch::X86_64 => x86,
            Arch::Aarch64 => arm,
            Arch::Unknown => x86.filter(|_| x86 == arm),
        }
    }
}

/// How a call states its timeout. The values are those of `enum form` in the kernel program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A span in a `timespec`.
    SpanTimespec = 1,
    /// A span or a deadline, depending on a flag.
    ClockNanosleep,
    /// A span or a deadline, depending on the operation.
    Futex,
    /// Milliseconds.
    Millis,
    /// A span in a `timeval`.
    SpanTimeval,
    /// A deadline in a `timespec`.
    DeadlineTimespec,
    /// The extended argument of `io_uring_enter`.
    IoUring,
    /// A deadline, with a clock as an argument.
    Futex2,
    /// No timeout in its arguments: it may still wait for a timer, or have a timeout by `SO_RCVTIMEO`.
    Untimed,
    /// It sets a timer of its own, by a period and a first expiry in `timespec`.
    SetsTimer,
    /// As `SetsTimer`, but in `timeval`.
    SetsTimeval,
    /// It sets a timer of its own, in seconds.
    Seconds,
}

/// Call numbers from this one on are those of 32-bit programs on x86.
pub const COMPAT: u32 = 512;

/// Which result of a call means that its time was over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// This value.
    Is(i64),
    /// Any value: the call ends by its timer only if the timer says so.
    Any,
}

/// One system call.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// Its name.
    pub name: &'static str,
    /// Its numbers: x86-64, then 64-bit Arm.
    pub numbers: [Option<u32>; 2],
    /// How the call states its timeout.
    pub form: Form,
    /// The index of the argument with the timeout.
    pub timeout: u8,
    /// The index of the argument with the flags that distinguish a span from a deadline.
    pub flags: u8,
    /// Size in bytes of each half of its times.
    pub width: u8,
    /// The result of a wait that ended by time.
    pub over: Over,
}

const ZERO: Over = Over::Is(0);
const EAGAIN: Over = Over::Is(-11);
const ETIME: Over = Over::Is(-62);
const ETIMEDOUT: Over = Over::Is(-110);

const fn call(name: &'static str, x86: i32, arm: i32, form: Form, timeout: u8, over: Over) -> Call {
    Call { name, numbers: [number_of(x86), number_of(arm)], form, timeout, flags: 1, width: 8, over }
}

/// A call of 32-bit programs on x86, with `width` bytes for each half of its times.
const fn compat(name: &'static str, number: u32, width: u8, form: Form, timeout: u8, over: Over) -> Call {
    Call { name, numbers: [Some(COMPAT + number), None], form, timeout, flags: 1, width, over }
}

const fn number_of(n: i32) -> Option<u32> {
    if n < 0 { None } else { Some(n as u32) }
}

/// All calls that are followed.
pub const CALLS: &[Call] = &[
    call("nanosleep", 35, 101, Form::SpanTimespec, 0, ZERO),
    call("clock_nanosleep", 230, 115, Form::ClockNanosleep, 2, ZERO),
    call("futex", 202, 98, Form::Futex, 3, ETIMEDOUT),
    call("poll", 7, -1, Form::Millis, 2, ZERO),
    call("ppoll", 271, 73, Form::SpanTimespec, 2, ZERO),
    call("select", 23, -1, Form::SpanTimeval, 4, ZERO),
    call("pselect6", 270, 72, Form::SpanTimespec, 4, ZERO),
    call("epoll_wait", 232, -1, Form::Millis, 3, ZERO),
    call("epoll_pwait", 281, 22, Form::Millis, 3, ZERO),
    call("epoll_pwait2", 441, 441, Form::SpanTimespec, 3, ZERO),
    call("rt_sigtimedwait", 128, 137, Form::SpanTimespec, 2, EAGAIN),
    call("mq_timedsend", 242, 182, Form::DeadlineTimespec, 4, ETIMEDOUT),
    call("mq_timedreceive", 243, 183, Form::DeadlineTimespec, 4, ETIMEDOUT),
    call("semtimedop", 220, 192, Form::SpanTimespec, 3, EAGAIN),
    call("io_uring_enter", 426, 426, Form::IoUring, 4, ETIME),
    call("io_getevents", 208, 4, Form::SpanTimespec, 4, ZERO),
    call("io_pgetevents", 333, 292, Form::SpanTimespec, 4, ZERO),
    call("futex_waitv", 449, 449, Form::Futex2, 3, ETIMEDOUT),
    call("futex_wait", 455, 455, Form::Futex2, 4, ETIMEDOUT),
    call("recvfrom", 45, 207, Form::Untimed, 0, EAGAIN),
    call("recvmsg", 47, 212, Form::Untimed, 0, EAGAIN),
    call("recvmmsg", 299, 243, Form::Untimed, 0, EAGAIN),
    call("sendto", 44, 206, Form::Untimed, 0, EAGAIN),
    call("sendmsg", 46, 211, Form::Untimed, 0, EAGAIN),
    call("accept", 43, 202, Form::Untimed, 0, EAGAIN),
    call("accept4", 288, 242, Form::Untimed, 0, EAGAIN),
    call("connect", 42, 203, Form::Untimed, 0, Over::Is(-115)),
    call("read", 0, 63, Form::Untimed, 0, Over::Any),
    call("pause", 34, -1, Form::Untimed, 0, Over::Any),
    call("rt_sigsuspend", 130, 133, Form::Untimed, 0, Over::Any),
    call("restart_syscall", 219, 128, Form::Untimed, 0, Over::Any),
    call("timerfd_settime", 286, 86, Form::SetsTimer, 2, Over::Any),
    call("timer_settime", 223, 110, Form::SetsTimer, 2, Over::Any),
    call("setitimer", 38, 103, Form::SetsTimeval, 1, Over::Any),
    call("alarm", 37, -1, Form::Seconds, 0, Over::Any),
    compat("nanosleep", 162, 4, Form::SpanTimespec, 0, ZERO),
    compat("clock_nanosleep", 267, 4, Form::ClockNanosleep, 2, ZERO),
    compat("clock_nanosleep_time64", 407, 8, Form::ClockNanosleep, 2, ZERO),
    compat("futex", 240, 4, Form::Futex, 3, ETIMEDOUT),
    compat("futex_time64", 422, 8, Form::Futex, 3, ETIMEDOUT),
    compat("poll", 168, 4, Form::Millis, 2, ZERO),
    compat("ppoll", 309, 4, Form::SpanTimespec, 2, ZERO),
    compat("ppoll_time64", 414, 8, Form::SpanTimespec, 2, ZERO),
    compat("select", 142, 4, Form::SpanTimeval, 4, ZERO),
    compat("pselect6", 308, 4, Form::SpanTimespec, 4, ZERO),
    compat("pselect6_time64", 413, 8, Form::SpanTimespec, 4, ZERO),
    compat("epoll_wait", 256, 4, Form::Millis, 3, ZERO),
    compat("epoll_pwait", 319, 4, Form::Millis, 3, ZERO),
    compat("epoll_pwait2", 441, 8, Form::SpanTimespec, 3, ZERO),
    compat("rt_sigtimedwait", 177, 4, Form::SpanTimespec, 2, EAGAIN),
    compat("rt_sigtimedwait_time64", 421, 8, Form::SpanTimespec, 2, EAGAIN),
    compat("mq_timedsend", 279, 4, Form::DeadlineTimespec, 4, ETIMEDOUT),
    compat("mq_timedsend_time64", 418, 8, Form::DeadlineTimespec, 4, ETIMEDOUT),
    compat("mq_timedreceive", 280, 4, Form::DeadlineTimespec, 4, ETIMEDOUT),
    compat("mq_timedreceive_time64", 419, 8, Form::DeadlineTimespec, 4, ETIMEDOUT),
    compat("semtimedop_time64", 420, 8, Form::SpanTimespec, 3, EAGAIN),
    // semtimedop, as the C library makes it with times of 32 bits; other operations of ipc set no timer.
    compat("ipc", 117, 4, Form::SpanTimespec, 5, EAGAIN),
    compat("io_uring_enter", 426, 8, Form::IoUring, 4, ETIME),
    compat("io_getevents", 247, 4, Form::SpanTimespec, 4, ZERO),
    compat("io_pgetevents", 385, 4, Form::SpanTimespec, 4, ZERO),
    compat("io_pgetevents_time64", 416, 8, Form::SpanTimespec, 4, ZERO),
    compat("futex_waitv", 449, 8, Form::Futex2, 3, ETIMEDOUT),
    compat("futex_wait", 455, 8, Form::Futex2, 4, ETIMEDOUT),
    compat("socketcall", 102, 4, Form::Untimed, 0, EAGAIN),
    compat("recvfrom", 371, 4, Form::Untimed, 0, EAGAIN),
    compat("recvmsg", 372, 4, Form::Untimed, 0, EAGAIN),
    compat("sendto", 369, 4, Form::Untimed, 0, EAGAIN),
    compat("sendmsg", 370, 4, Form::Untimed, 0, EAGAIN),
    compat("accept4", 364, 4, Form::Untimed, 0, EAGAIN),
    compat("connect", 362, 4, Form::Untimed, 0, Over::Is(-115)),
    compat("read", 3, 4, Form::Untimed, 0, Over::Any),
    compat("pause", 29, 4, Form::Untimed, 0, Over::Any),
    compat("rt_sigsuspend", 179, 4, Form::Untimed, 0, Over::Any),
    compat("restart_syscall", 0, 4, Form::Untimed, 0, Over::Any),
    compat("timerfd_settime", 325, 4, Form::SetsTimer, 2, Over::Any),
    compat("timerfd_settime64", 411, 8, Form::SetsTimer, 2, Over::Any),
    compat("timer_settime", 260, 4, Form::SetsTimer, 2, Over::Any),
    compat("timer_settime64", 409, 8, Form::SetsTimer, 2, Over::Any),
    compat("setitimer", 104, 4, Form::SetsTimeval, 1, Over::Any),
    compat("alarm", 27, 4, Form::Seconds, 0, Over::Any),
];

/// The number of waking up, where only that was recorded.
pub const WAKE_UP: u32 = 0x1_0002;

/// Waits of Windows, which have no fixed numbers, and waking up, which is no call: these numbers are oversleep's.
const UNNUMBERED: &[Call] = &[
    call("NtDelayExecution", 0x1_0000, 0x1_0000, Form::Untimed, 0, Over::Any),
    call("NtWaitFor", 0x1_0001, 0x1_0001, Form::Untimed, 0, Over::Any),
    call(oversleep_record::identity::WAKE_UP, WAKE_UP as i32, WAKE_UP as i32, Form::Untimed, 0, ZERO),
];

/// Further calls that a thread may sleep in, which set no timer: their names and numbers.
const UNTIMED: &[(&str, [Option<u32>; 2])] = &[
    ("write", [Some(1), Some(64)]),
    ("open", [Some(2), None]),
    ("close", [Some(3), Some(57)]),
    ("mmap", [Some(9), Some(222)]),
    ("mprotect", [Some(10), Some(226)]),
    ("munmap", [Some(11), Some(215)]),
    ("ioctl", [Some(16), Some(29)]),
    ("pread64", [Some(17), Some(67)]),
    ("pwrite64", [Some(18), Some(68)]),
    ("readv", [Some(19), Some(65)]),
    ("writev", [Some(20), Some(66)]),
    ("msync", [Some(26), Some(227)]),
    ("madvise", [Some(28), Some(233)]),
    ("sendfile", [Some(40), Some(71)]),
    ("clone", [Some(56), Some(220)]),
    ("execve", [Some(59), Some(221)]),
    ("wait4", [Some(61), Some(260)]),
    ("semop", [Some(65), Some(193)]),
    ("msgsnd", [Some(69), Some(189)]),
    ("msgrcv", [Some(70), Some(188)]),
    ("fcntl", [Some(72), Some(25)]),
    ("flock", [Some(73), Some(32)]),
    ("fsync", [Some(74), Some(82)]),
    ("fdatasync", [Some(75), Some(83)]),
    ("ftruncate", [Some(77), Some(46)]),
    ("rename", [Some(82), None]),
    ("unlink", [Some(87), None]),
    ("sync", [Some(162), Some(81)]),
    ("getdents64", [Some(217), Some(61)]),
    ("waitid", [Some(247), Some(95)]),
    ("openat", [Some(257), Some(56)]),
    ("newfstatat", [Some(262), Some(79)]),
    ("unlinkat", [Some(263), Some(35)]),
    ("splice", [Some(275), Some(76)]),
    ("sync_file_range", [Some(277), Some(84)]),
    ("fallocate", [Some(285), Some(47)]),
    ("preadv", [Some(295), Some(69)]),
    ("pwritev", [Some(296), Some(70)]),
    ("syncfs", [Some(306), Some(267)]),
    ("renameat2", [Some(316), Some(276)]),
    ("membarrier", [Some(324), Some(283)]),
    ("statx", [Some(332), Some(291)]),
    ("clone3", [Some(435), Some(435)]),
];

/// The name of a call, or its number if it isn't known here.
pub fn call_name(arch: Arch, number: u32) -> String {
    let untimed = || UNTIMED.iter().find(|(_, numbers)| arch.number(*numbers) == Some(number)).map(|(name, _)| *name);
    Call::of(arch, number)
        .map(|call| call.name)
        .or_else(untimed)
        .map_or_else(|| format!("call {number}"), str::to_owned)
}

/// Whether [`call_name`] may return this.
pub fn is_call(name: &str) -> bool {
    let number = name.strip_prefix("call ").is_some_and(|number| number.parse::<u32>().is_ok());
    number || Call::is_named(name) || UNTIMED.iter().any(|(known, _)| *known == name)
}

impl Call {
    /// Its number on that processor.
    pub fn number(&self, arch: Arch) -> Option<u32> {
        arch.number(self.numbers)
    }

    /// Whether a call of any processor has that name.
    pub fn is_named(name: &str) -> bool {
        CALLS.iter().chain(UNNUMBERED).any(|call| call.name == name)
    }

    /// Whether a call of that name takes whole milliseconds.
    pub fn is_in_milliseconds(name: &str) -> bool {
        CALLS.iter().any(|call| call.name == name && call.form == Form::Millis)
    }

    /// Whether a timeout of the call is an option of its socket, such as `SO_RCVTIMEO`: it has none among its arguments. The
    /// kernel keeps such timeouts by its tick.
    pub fn has_socket_timeout(name: &str) -> bool {
        // A restarted call has its own timer.
        CALLS.iter().any(|call| call.name == name && call.form == Form::Untimed && name != "restart_syscall")
    }

    /// The call of that number.
    pub fn of(arch: Arch, number: u32) -> Option<&'static Call> {
        CALLS.iter().chain(UNNUMBERED).find(|call| call.number(arch) == Some(number))
    }
}

/// Whether the result says that the kernel will restart the call: `ERESTARTSYS`, `-NOINTR`, `-NOHAND`, `-RESTARTBLOCK`.
pub fn is_restarted(result: i64) -> bool {
    matches!(result, -514..=-512 | -516)
}
