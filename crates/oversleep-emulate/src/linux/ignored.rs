//! Signals that a program ignores don't end its waits. The kernel discards such a signal before it wakes a thread,
//! unless the thread is traced: then the call fails with EINTR before the tracer sees the signal. Most calls are
//! repeated by the kernel if no handler ran; those here are not, so the tracer has them made again.

use std::io;

use super::filter::IO_PGETEVENTS;
use super::inject;
use super::ptrace::{self, INTERRUPTED, Registers, Tid};
use super::trampoline::Entry;

/// The signals whose default is that nothing happens.
const BY_DEFAULT: [i32; 4] = [libc::SIGCHLD, libc::SIGCONT, libc::SIGURG, libc::SIGWINCH];

/// A thread is about to get a signal: if the program ignores it, and it ended a call that the kernel doesn't repeat, the
/// thread makes the call again. A call with a timeout is made again where what is left of it is known: in our own code.
///
/// # Errors
/// The thread is gone.
pub fn outlasts(tid: Tid, signal: i32) -> io::Result<()> {
    let registers = ptrace::registers(tid)?;
    if registers.rax as i64 != INTERRUPTED {
        return Ok(());
    }
    let Some(repeated) = repeated(&registers) else { return Ok(()) };
    match std::fs::read_to_string(format!("/proc/{tid}/status")) {
        Ok(status) if is_ignored(&status, signal) => ptrace::set_registers(tid, &repeated),
        _ => Ok(()),
    }
}

/// The registers with which the call is made again; `None` for a call that the kernel repeats, or whose rest is unknown.
fn repeated(registers: &Registers) -> Option<Registers> {
    let Registers { rip, rdx, r10, r8, .. } = *registers;
    let is_endless = match registers.orig_rax as libc::c_long {
        libc::SYS_semop => true,
        libc::SYS_rt_sigtimedwait => rdx == 0,
        libc::SYS_semtimedop | libc::SYS_epoll_pwait2 => r10 == 0,
        libc::SYS_io_getevents | IO_PGETEVENTS => r8 == 0,
        libc::SYS_epoll_wait | libc::SYS_epoll_pwait => (r10 as u32 as i32) < 0,
        _ => return None,
    };
    let ours = [
        (Entry::RelRdx, Entry::RelRdxBegun, Entry::RelR10),
        (Entry::RelR10, Entry::RelR10Begun, Entry::RelR8),
        (Entry::RelR8, Entry::RelR8Begun, Entry::EpollWait),
        (Entry::EpollWait, Entry::EpollWaitBegun, Entry::Poll),
    ];
    let is_within = |&&(from, _, to): &&(Entry, Entry, Entry)| (from.address()..to.address()).contains(&rip);
    match ours.iter().find(is_within) {
        Some((_, begun, _)) => Some(Registers { rip: begun.address(), orig_rax: u64::MAX, ..*registers }),
        None => is_endless.then(|| inject::again(registers)),
    }
}

/// Whether a process with that status ignores the signal, or leaves it to a default that does nothing.
fn is_ignored(status: &str, signal: i32) -> bool {
    let has = |field: &str| {
        let set = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix(field)?.trim(), 16).ok());
        set.is_some_and(|set| set >> (signal - 1) & 1 == 1)
    };
    has("SigIgn:") || BY_DEFAULT.contains(&signal) && !has("SigCgt:")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registers(call: libc::c_long, rip: u64) -> Registers {
        // SAFETY: a struct of numbers.
        let registers: Registers = unsafe { std::mem::zeroed() };
        Registers { orig_rax: call as u64, rax: INTERRUPTED as u64, rip, ..registers }
    }

    #[test]
    fn a_call_without_an_end_is_made_again_and_one_with_an_end_in_our_code_counts_anew() {
        const PLACE: u64 = 0x5555_0000_0002;
        for call in [libc::SYS_semop, libc::SYS_rt_sigtimedwait, libc::SYS_epoll_pwait2, libc::SYS_io_getevents] {
            let again = repeated(&registers(call, PLACE)).expect("again");
            assert_eq!((again.rip, again.rax, again.orig_rax), (PLACE - 2, call as u64, u64::MAX), "{call}");
        }
        let until =
            |r10: i32| repeated(&Registers { r10: r10 as u32 as u64, ..registers(libc::SYS_epoll_wait, PLACE) });
        assert!(until(-1).is_some() && until(0).is_none() && until(9).is_none());
        assert!(repeated(&registers(libc::SYS_futex, PLACE)).is_none(), "the kernel repeats it");
        for (entry, begun) in [(Entry::RelRdx, Entry::RelRdxBegun), (Entry::EpollWait, Entry::EpollWaitBegun)] {
            let ours = Registers { rdx: 8, r10: 8, ..registers(libc::SYS_epoll_pwait2, begun.address() + 40) };
            let again = repeated(&ours).expect("again");
            assert_eq!((again.rip, again.orig_rax), (begun.address(), u64::MAX), "{entry:?}");
        }
    }

    #[test]
    fn what_is_ignored_is_a_matter_of_actions_and_defaults() {
        let status = "Name:\tx\nSigBlk:\tffffffffffffffff\nSigIgn:\t0000000000000200\nSigCgt:\t0000000000010000\n";
        let ignored = |signal| is_ignored(status, signal);
        assert!(ignored(libc::SIGUSR1), "bit 9");
        assert!(!ignored(libc::SIGCHLD), "bit 16 has a handler");
        assert!(ignored(libc::SIGWINCH) && ignored(libc::SIGURG) && !ignored(libc::SIGTERM));
    }
}
