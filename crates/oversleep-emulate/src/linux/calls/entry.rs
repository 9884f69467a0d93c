//! The start of a timed wait: what its call requests, and where its thread is redirected.

use std::cell::Cell;
use std::io;

use oversleep_record::Nanos;

use super::sends::Sends;
use crate::linux::code::trampoline::Entry;
use crate::linux::filter;
use crate::linux::process::clock::ahead;
use crate::linux::process::ptrace::{self, Registers, Request, Tid};
use crate::plan::{Class, Requested};

/// What to do with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Make it unchanged: it doesn't wait, or it fails.
    AsIs,
    /// Make it unchanged, for a reason that the report names.
    PassBy(&'static str),
    /// Skip it and return this value.
    Return(i64),
    /// It requests a resolution in ns, or releases the one that its process requested.
    Resolution(u64),
    /// Its process installs a seccomp filter on itself.
    Sandbox,
    /// Its process runs natively from now on, for that reason.
    Natively(&'static str),
    /// It decides about files that are opened, so ours would wait for it.
    WatchesFiles,
    /// It starts a thread or process that wouldn't be traced: make it without that flag.
    Start(u64),
    /// It reads that clock; redirect it there if the clock is emulated.
    Clock(Entry, i32),
    /// A wait that gets another end.
    Wait(Waiting),
}

/// A wait as its call describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    pub class: Class,
    pub requested: Requested,
    pub leads_to: LeadsTo,
    /// The clock of the deadline.
    pub clock: libc::clockid_t,
}

/// Where the thread is redirected, and with which values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeadsTo {
    /// The end is on the monotonic clock; `rax` is that number.
    Number(Entry, libc::c_long),
    /// The end is on the monotonic clock; `rax` is when it would end here.
    NativeEnd(Entry),
    /// The end is on a clock that is this far ahead of the monotonic one; `rax` is that number.
    OnClock(Entry, libc::c_long, Nanos),
    /// A timer: its interval is in `rax`, and its end is on a clock that is this far ahead.
    Timer(Entry, Nanos, Nanos),
    /// A socket's timeout: the end is a span.
    Socket,
    /// A call of that number, which receives from a socket with a timeout.
    Receive(libc::c_long),
    /// The thread makes its call, which sends to a socket with a timeout.
    Send(Sends),
}

/// Seconds and a fraction in units of `unit` ns; `None` if the call would fail.
fn time([secs, fraction]: [i64; 2], unit: i64) -> Option<Nanos> {
    if secs < 0 || fraction < 0 || fraction >= 1_000_000_000 / unit {
        return None;
    }
    // An end beyond 290 years is never reached.
    secs.checked_mul(1_000_000_000)?.checked_add(fraction * unit).filter(|&ns| ns < i64::MAX / 4).map(Nanos)
}

const UNREADABLE: Answer = Answer::AsIs;

/// Why programs with unreadable memory keep native timing.
pub const PROTECTED: &str = "the system protects the memory of a program whose file its user may not read, or that made itself \
    undumpable, so it runs with native timing: run it as root";

const STRICT: &str = "strict seccomp mode fails with EINVAL, since emulation has set a filter: run it without emulate";

const DISPATCH: &str =
    "the program has its own system calls sent to a handler, also those that emulation makes: native timing";

/// Why the memory of a program isn't read.
pub const FAULTS: &str =
    "the program handles page faults of its own, so whoever reads its memory may wait for it: native timing";

/// Decides what to do with the call that these registers make.
pub fn answer(tid: Tid, registers: &Registers) -> Answer {
    if registers.orig_rax as libc::c_long == libc::SYS_timer_settime {
        let timers = std::fs::read_to_string(format!("/proc/{tid}/timers")).unwrap_or_default();
        if counts_cpu_time(&timers, registers.rdi as i32) {
            return Answer::AsIs;
        }
    }
    let is_protected = Cell::new(false);
    let look = |error: &io::Error| {
        is_protected.set(!matches!(error.raw_os_error(), Some(libc::EFAULT | libc::ESRCH)));
    };
    let two = |address| ptrace::read(tid, address).inspect_err(look);
    let four = |address| ptrace::read(tid, address).inspect_err(look);
    match answer_reading(registers, two, four) {
        Answer::AsIs if is_protected.get() => Answer::PassBy(PROTECTED),
        answer => answer,
    }
}

fn answer_reading(
    registers: &Registers,
    two: impl Fn(u64) -> io::Result<[i64; 2]>,
    four: impl Fn(u64) -> io::Result<[i64; 4]>,
) -> Answer {
    let call = registers.orig_rax as libc::c_long;
    let (a0, a1, a2, a3, a4, a5) =
        (registers.rdi, registers.rsi, registers.rdx, registers.r10, registers.r8, registers.r9);
    let timespec = |address: u64| two(address).ok().and_then(|words| time(words, 1));
    let timeval = |address: u64| two(address).ok().and_then(|words| time(words, 1_000));
    let spans = |span: Option<Nanos>, class, leads_to| match span {
        Some(span) if span > Nanos::ZERO => {
            Answer::Wait(Waiting { class, requested: Requested::Span(span), leads_to, clock: libc::CLOCK_MONOTONIC })
        }
        _ => UNREADABLE,
    };
    let until = |at: Option<Nanos>, class, clock: libc::clockid_t, entry, number| match at {
        Some(at) => {
            let ahead = ahead(clock);
            let requested = Requested::Deadline(at - ahead);
            Answer::Wait(Waiting { class, requested, leads_to: LeadsTo::OnClock(entry, number, ahead), clock })
        }
        None => UNREADABLE,
    };
    let milliseconds = |register: u64| Some(Nanos::from_millis(i64::from(register as u32 as i32)));
    use Entry as E;
    use LeadsTo::{NativeEnd, Number};
    match call {
        libc::SYS_nanosleep => spans(timespec(a0), Class::Sleep, NativeEnd(E::Nanosleep)),
        libc::SYS_clock_nanosleep if a1 & 1 == 0 => spans(timespec(a2), Class::Sleep, NativeEnd(E::ClockNanosleep)),
        libc::SYS_clock_nanosleep => until(timespec(a2), Class::SleepUntil, a0 as i32, E::AbsRdx, call),
        libc::SYS_futex => {
            const PRIVATE: u32 = libc::FUTEX_PRIVATE_FLAG as u32;
            const REAL: u32 = libc::FUTEX_CLOCK_REALTIME as u32;
            let clock = |is_real| if is_real { libc::CLOCK_REALTIME } else { libc::CLOCK_MONOTONIC };
            let until_real = |is_real| until(timespec(a3), Class::FutexUntil, clock(is_real), E::AbsR10, call);
            // The kernel refuses what it doesn't know, such as WAIT on the realtime clock.
            match (a1 as u32 & !(PRIVATE | REAL), a1 as u32 & REAL != 0) {
                (0, false) => spans(timespec(a3), Class::Futex, Number(E::FutexSpan, call)),
                (6, false) => until_real(true),
                (9 | 11 | 13, is_real) => until_real(is_real),
                _ => Answer::AsIs,
            }
        }
        libc::SYS_futex_waitv => until(timespec(a3), Class::FutexUntil, a4 as i32, E::AbsR10, call),
        filter::FUTEX_WAIT2 => until(timespec(a4), Class::FutexUntil, a5 as i32, E::AbsR8, call),
        libc::SYS_poll => spans(milliseconds(a2), Class::Poll, Number(E::Poll, libc::SYS_ppoll)),
        libc::SYS_ppoll => spans(timespec(a2), Class::Poll, NativeEnd(E::Ppoll)),
        libc::SYS_select => spans(timeval(a4), Class::Select, NativeEnd(E::Select)),
        libc::SYS_pselect6 => spans(timespec(a4), Class::Select, NativeEnd(E::Pselect)),
        libc::SYS_epoll_wait => spans(milliseconds(a3), Class::Epoll, Number(E::EpollWait, libc::SYS_epoll_pwait2)),
        libc::SYS_epoll_pwait => spans(milliseconds(a3), Class::Epoll, Number(E::RelR10, libc::SYS_epoll_pwait2)),
        libc::SYS_epoll_pwait2 => spans(timespec(a3), Class::Epoll, Number(E::RelR10, call)),
        libc::SYS_io_getevents | filter::IO_PGETEVENTS => spans(timespec(a4), Class::Epoll, Number(E::RelR8, call)),
        libc::SYS_rt_sigtimedwait => spans(timespec(a2), Class::Signal, Number(E::RelRdx, call)),
        libc::SYS_semtimedop => spans(timespec(a3), Class::Signal, Number(E::RelR10, call)),
        libc::SYS_mq_timedsend | libc::SYS_mq_timedreceive => {
            until(timespec(a4), Class::Message, libc::CLOCK_REALTIME, E::AbsR8, call)
        }
        libc::SYS_timerfd_settime => {
            timer(Class::TimerFd, [E::TimerFdSpan, E::TimerFdUntil], four(a2).ok(), a1 & 1 != 0, 1)
        }
        libc::SYS_timer_settime => timer(Class::Timer, [E::TimerSpan, E::TimerUntil], four(a2).ok(), a1 & 1 != 0, 1),
        libc::SYS_setitimer => timer(Class::IntervalTimer, [E::SetItimer; 2], four(a1).ok(), false, 1_000),
        libc::SYS_alarm => {
            let span = Nanos::from_secs(i64::from(a0 as u32));
            spans(Some(span), Class::IntervalTimer, Number(E::Alarm, call))
        }
        libc::SYS_setsockopt if a4 >= 16 => spans(timeval(a3), Class::Socket, LeadsTo::Socket),
        libc::SYS_io_uring_setup => Answer::Return(-i64::from(libc::ENOSYS)),
        libc::SYS_ptrace => match a0 as Request {
            libc::PTRACE_TRACEME | libc::PTRACE_ATTACH | libc::PTRACE_SEIZE => Answer::PassBy(
                "a debugger or tracer can't trace an emulated program, because only one process may trace it: run it without \
                 emulate",
            ),
            _ => Answer::AsIs,
        },
        libc::SYS_clock_gettime => Answer::Clock(E::RawClockGettime, a0 as i32),
        libc::SYS_clock_getres => Answer::Clock(E::RawClockGetres, a0 as i32),
        libc::SYS_gettimeofday => Answer::Clock(E::RawGettimeofday, libc::CLOCK_REALTIME),
        libc::SYS_time => Answer::Clock(E::RawTime, libc::CLOCK_REALTIME),
        // Firefox, Chromium and libseccomp try that call without a filter first, to learn whether the kernel has it.
        libc::SYS_seccomp if a2 == 0 => Answer::AsIs,
        libc::SYS_prctl if a0 == libc::PR_SET_SECCOMP as u64 && a1 == 2 && a2 == 0 => Answer::AsIs,
        libc::SYS_prctl if a0 == libc::PR_SET_SECCOMP as u64 && a1 == 1 => Answer::PassBy(STRICT),
        libc::SYS_seccomp => Answer::Sandbox,
        libc::SYS_clone => Answer::Start(a0 & !(libc::CLONE_UNTRACED as u64)),
        libc::SYS_prctl if a0 == u64::from(filter::PRCTL_DISPATCH) && a1 == 0 => Answer::AsIs,
        libc::SYS_prctl if a0 == u64::from(filter::PRCTL_DISPATCH) => Answer::Natively(DISPATCH),
        libc::SYS_userfaultfd => Answer::Natively(FAULTS),
        libc::SYS_fanotify_init => Answer::WatchesFiles,
        libc::SYS_prctl if a0 == u64::from(filter::PRCTL_RESOLUTION) => Answer::Resolution(a1),
        libc::SYS_prctl => Answer::Sandbox,
        _ => Answer::AsIs,
    }
}

/// Whether a timer of a process is on a clock of CPU time, which no tick rounds: profilers use these. Without such a list
/// (`CONFIG_CHECKPOINT_RESTORE`), no timer is taken for one.
fn counts_cpu_time(timers: &str, id: i32) -> bool {
    let mut lines = timers.lines().skip_while(|line| line.strip_prefix("ID: ") != Some(&id.to_string()));
    let clock = lines.find_map(|line| line.strip_prefix("ClockID: ")?.trim().parse::<libc::clockid_t>().ok());
    // Negative ones are those of other processes and threads, or of devices.
    clock.is_some_and(|clock| {
        clock < 0 || [libc::CLOCK_PROCESS_CPUTIME_ID, libc::CLOCK_THREAD_CPUTIME_ID].contains(&clock)
    })
}

fn timer(class: Class, [span, until]: [Entry; 2], words: Option<[i64; 4]>, is_absolute: bool, unit: i64) -> Answer {
    let Some([interval_s, interval, value_s, value]) = words else { return UNREADABLE };
    let (Some(interval), Some(value)) = (time([interval_s, interval], unit), time([value_s, value], unit)) else {
        return UNREADABLE;
    };
    if value == Nanos::ZERO {
        return Answer::AsIs;
    }
    let wait = |requested, leads_to, clock| Answer::Wait(Waiting { class, requested, leads_to, clock });
    if !is_absolute {
        return wait(Requested::Span(value), LeadsTo::Timer(span, interval, Nanos::ZERO), libc::CLOCK_MONOTONIC);
    }
    // The call doesn't say which clock the timer is on. A time of day is decades ahead of any time since boot, so that tells
    // these apart. Of the clocks since boot, one counts suspended time; on a machine that was suspended, a timer on one is
    // mistaken for one on the other.
    const DECADES: Nanos = Nanos(900_000_000_000_000_000);
    let clock = if value > DECADES { libc::CLOCK_REALTIME } else { libc::CLOCK_MONOTONIC };
    let ahead = ahead(clock);
    wait(Requested::Deadline(value - ahead), LeadsTo::Timer(until, interval, ahead), clock)
}

/// The name of a call, for the report.
pub fn name(call: libc::c_long) -> &'static str {
    macro_rules! names {
        ($($number:ident => $name:literal,)+) => {
            match call {
                $(libc::$number => $name,)+
                filter::FUTEX_WAIT2 => "futex_wait",
                filter::IO_PGETEVENTS => "io_pgetevents",
                _ => "another call",
            }
        };
    }
    names! {
        SYS_futex => "futex", SYS_epoll_wait => "epoll_wait", SYS_epoll_pwait => "epoll_pwait",
        SYS_clock_nanosleep => "clock_nanosleep", SYS_nanosleep => "nanosleep", SYS_poll => "poll", SYS_ppoll => "ppoll",
        SYS_pselect6 => "pselect6", SYS_select => "select", SYS_epoll_pwait2 => "epoll_pwait2",
        SYS_rt_sigtimedwait => "rt_sigtimedwait", SYS_timerfd_settime => "timerfd_settime",
        SYS_timer_settime => "timer_settime", SYS_setitimer => "setitimer", SYS_alarm => "alarm",
        SYS_timerfd_gettime => "timerfd_gettime", SYS_timer_gettime => "timer_gettime", SYS_getitimer => "getitimer",
        SYS_setsockopt => "setsockopt", SYS_read => "read", SYS_readv => "readv", SYS_recvfrom => "recvfrom",
        SYS_recvmsg => "recvmsg", SYS_recvmmsg => "recvmmsg", SYS_accept => "accept", SYS_accept4 => "accept4", SYS_write => "write",
        SYS_writev => "writev", SYS_sendto => "sendto", SYS_sendmsg => "sendmsg", SYS_sendmmsg => "sendmmsg",
        SYS_connect => "connect",
        SYS_mq_timedsend => "mq_timedsend", SYS_mq_timedreceive => "mq_timedreceive",
        SYS_semtimedop => "semtimedop", SYS_io_getevents => "io_getevents",
        SYS_futex_waitv => "futex_waitv", SYS_io_uring_setup => "io_uring_setup", SYS_ptrace => "ptrace",
        SYS_clock_gettime => "clock_gettime", SYS_clock_getres => "clock_getres", SYS_gettimeofday => "gettimeofday", SYS_time => "time",
        SYS_seccomp => "seccomp", SYS_prctl => "prctl", SYS_execve => "execve",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_of_cpu_time_are_told_by_their_clock() {
        let timers = "ID: 0\nsignal: 27/0\nnotify: signal/pid.7\nClockID: 1\nID: 1\nsignal: 27/0\nnotify: signal/tid.7\n\
            ClockID: 3\nID: 12\nsignal: 0/0\nnotify: none/pid.7\nClockID: -6\nID: 13\nClockID: 0\n";
        let on = [0, 1, 2, 12, 13].map(|id| counts_cpu_time(timers, id));
        assert_eq!(on, [false, true, false, true, false]);
    }
}
