//! What this process was started with and changes for itself: a program that it runs starts with the same.

use std::sync::atomic::{AtomicU64, Ordering};

use super::interruption::{CPU_LIMIT_S, act, is_ignored};

/// The signals that were ignored, as bits. Rust ignores SIGPIPE before `main`, and the command changes others.
static IGNORED: AtomicU64 = AtomicU64::new(0);
/// The standard streams that were closed, as bits. Rust opens `/dev/null` in their place, also before `main`.
static CLOSED: AtomicU64 = AtomicU64::new(0);

const SIGNALS: std::ops::RangeInclusive<libc::c_int> = 1..=64;
const STREAMS: std::ops::RangeInclusive<libc::c_int> = libc::STDIN_FILENO..=libc::STDERR_FILENO;

// SAFETY: these are the lists of functions that the loader calls before `main`. There is no Rust runtime yet, and this one
// makes calls of the system's and stores a number.
#[used]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
static BEFORE_MAIN: extern "C" fn() = look;

extern "C" fn look() {
    let bits = |numbers: std::ops::RangeInclusive<libc::c_int>, is_set: fn(libc::c_int) -> bool| {
        numbers.filter(|&number| is_set(number)).fold(0, |bits, number| bits | bit(number))
    };
    IGNORED.store(bits(SIGNALS, is_ignored), Ordering::Relaxed);
    // SAFETY: takes two numbers and changes nothing.
    CLOSED.store(bits(STREAMS, |stream| unsafe { libc::fcntl(stream, libc::F_GETFD) } == -1), Ordering::Relaxed);
}

fn bit(number: libc::c_int) -> u64 {
    1 << (number & 63)
}

/// In a new process that is about to execute a program: what was ignored is ignored, all else has its default action, what
/// was closed is closed, and the limit on CPU time is the former one. Allocates nothing.
pub(super) fn restore() {
    let ignored = IGNORED.load(Ordering::Relaxed);
    for signal in SIGNALS {
        // No handler of this process runs in the new one, where it would take a signal that is for the program.
        act(signal, if ignored & bit(signal) != 0 { libc::SIG_IGN } else { libc::SIG_DFL });
    }
    let closed = CLOSED.load(Ordering::Relaxed);
    // SAFETY: takes a number. Nothing of this process is open there but `/dev/null`.
    STREAMS.filter(|&stream| closed & bit(stream) != 0).for_each(|stream| _ = unsafe { libc::close(stream) });
    let Some(&cpu_limit_s) = CPU_LIMIT_S.get() else { return };
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the calls take a valid limit. Raising a soft limit up to the hard one needs no privilege.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_CPU, &raw mut limit) == 0 {
            limit.rlim_cur = cpu_limit_s.min(limit.rlim_max);
            libc::setrlimit(libc::RLIMIT_CPU, &raw const limit);
        }
    }
}
