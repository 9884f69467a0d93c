//! Signals that a program ignores don't end its waits. The kernel discards such a signal before it wakes a thread,
//! unless the thread is traced: then the call fails with EINTR before the tracer sees the signal. Most calls are
//! repeated by the kernel if no handler ran; those here are not, so the tracer has them made again.

use std::collections::HashMap;
use std::io;

use oversleep_record::Nanos;

use super::entry::{self, Answer};
use crate::linux::code::inject;
use crate::linux::code::trampoline::Entry;
use crate::linux::filter::IO_PGETEVENTS;
use crate::linux::process::clock;
use crate::linux::process::ptrace::{self, INTERRUPTED, Registers, STOPS, Tid};
use crate::plan::Requested;

/// The signals whose default is that nothing happens.
const BY_DEFAULT: [i32; 4] = [libc::SIGCHLD, libc::SIGCONT, libc::SIGURG, libc::SIGWINCH];

/// What the kernel leaves of the stack below its pointer.
const RED_ZONE: u64 = 128;

/// The calls of a tracer's threads that are made again.
#[derive(Default)]
pub struct Outlasting {
    threads: HashMap<Tid, Thread>,
}

#[derive(Default)]
struct Thread {
    /// When the timed call ends that the thread made last.
    end: Option<Nanos>,
    /// The registers at the end of a call, and those with which it is made again.
    again: Option<(Registers, Registers)>,
    /// Whether that was made again with another timeout, of which the program is to know nothing.
    is_changed: bool,
    /// Whether a stop ended the call: then it fails natively, too.
    has_stopped: bool,
}

impl Outlasting {
    /// A thread begins a call in the program's code. When its call ends that is made again with another timeout.
    pub fn note_call(&mut self, tid: Tid, registers: &Registers) -> Option<Nanos> {
        timeout(&mut { *registers })?;
        let thread = self.threads.entry(tid).or_default();
        if thread.again.is_some_and(|(_, again)| again.rip + inject::SYSCALL_LENGTH == registers.rip)
            && thread.is_changed
        {
            return thread.end;
        }
        *thread = Thread::default();
        if let Answer::Wait(waiting) = entry::answer(tid, registers)
            && let Requested::Span(span) = waiting.requested
        {
            thread.end = Some(clock::now() + span);
        }
        None
    }

    /// Whether the thread's call was made again with another timeout.
    pub fn has_changed(&self, tid: Tid) -> bool {
        self.threads.get(&tid).is_some_and(|thread| thread.is_changed)
    }

    /// A thread's call ends: its registers are the program's again.
    ///
    /// # Errors
    /// The thread is gone.
    pub fn end_call(&mut self, tid: Tid) -> io::Result<()> {
        let Some(thread) = self.threads.get_mut(&tid) else { return Ok(()) };
        if !std::mem::take(&mut thread.is_changed) {
            return Ok(());
        }
        let Some((before, _)) = thread.again.take() else { return Ok(()) };
        let Registers { rdx, r10, r8, .. } = before;
        ptrace::set_registers(tid, &Registers { rdx, r10, r8, ..ptrace::registers(tid)? })
    }

    /// A thread is about to get a signal: if the program ignores it, and it ended a call that the kernel doesn't repeat, the
    /// thread makes the call again, for the rest of its time. If another signal comes before that, the call fails after all.
    /// Returns the thread's registers.
    ///
    /// # Errors
    /// The thread is gone.
    pub fn take_signal(&mut self, tid: Tid, signal: i32) -> io::Result<Registers> {
        let registers = ptrace::registers(tid)?;
        let is_ignored = || {
            let status = std::fs::read_to_string(format!("/proc/{tid}/status"));
            status.is_ok_and(|status| is_ignored(&status, signal))
        };
        if let Some(thread) = self.threads.get_mut(&tid)
            && let Some((before, again)) = thread.again
            && (registers.rip, registers.rax, registers.orig_rax) == (again.rip, again.rax, u64::MAX)
        {
            if is_ignored() {
                return Ok(registers);
            }
            *thread = Thread::default();
            return ptrace::set_registers(tid, &before).map(|()| before);
        }
        if registers.rax as i64 != INTERRUPTED || timeout(&mut { registers }).is_none() && !is_endless(&registers) {
            return Ok(registers);
        }
        let thread = self.threads.entry(tid).or_default();
        if STOPS.contains(&signal) {
            thread.has_stopped = true;
            return Ok(registers);
        }
        if std::mem::take(&mut thread.has_stopped) || !is_ignored() {
            return Ok(registers);
        }
        let Some(again) = repeated(&registers).or_else(|| for_the_rest(tid, &registers, thread.end?)) else {
            return Ok(registers);
        };
        thread.is_changed = (again.rdx, again.r10, again.r8) != (registers.rdx, registers.r10, registers.r8);
        thread.again = Some((registers, again));
        ptrace::set_registers(tid, &again).map(|()| again)
    }

    /// A thread is gone, or runs another program.
    pub fn forget(&mut self, tid: Tid) {
        self.threads.remove(&tid);
    }
}

/// The register with the timeout of a call that the kernel doesn't repeat, and whether it has milliseconds instead of an
/// address.
fn timeout(registers: &mut Registers) -> Option<(&mut u64, bool)> {
    match registers.orig_rax as libc::c_long {
        libc::SYS_rt_sigtimedwait => Some((&mut registers.rdx, false)),
        libc::SYS_semtimedop | libc::SYS_epoll_pwait2 => Some((&mut registers.r10, false)),
        libc::SYS_io_getevents | IO_PGETEVENTS => Some((&mut registers.r8, false)),
        libc::SYS_epoll_wait | libc::SYS_epoll_pwait => Some((&mut registers.r10, true)),
        _ => None,
    }
}

/// Whether it is such a call without an end.
fn is_endless(registers: &Registers) -> bool {
    match timeout(&mut { *registers }) {
        Some((milliseconds, true)) => (*milliseconds as u32 as i32) < 0,
        Some((address, false)) => *address == 0,
        None => registers.orig_rax as libc::c_long == libc::SYS_semop,
    }
}

/// The registers with which the call is made again; `None` for a call whose rest is unknown. A call with a timeout is made
/// again where what is left of it is known: in our own code.
fn repeated(registers: &Registers) -> Option<Registers> {
    let ours = [
        (Entry::RelRdx, Entry::RelRdxBegun, Entry::RelR10),
        (Entry::RelR10, Entry::RelR10Begun, Entry::RelR8),
        (Entry::RelR8, Entry::RelR8Begun, Entry::EpollWait),
        (Entry::EpollWait, Entry::EpollWaitBegun, Entry::Poll),
    ];
    let is_within = |&&(from, _, to): &&(Entry, Entry, Entry)| (from.address()..to.address()).contains(&registers.rip);
    match ours.iter().find(is_within) {
        Some((_, begun, _)) => Some(Registers { rip: begun.address(), orig_rax: u64::MAX, ..*registers }),
        None => is_endless(registers).then(|| inject::again(registers)),
    }
}

/// The registers with which a call in the program's code is made again until that end. The rest of its time is written to
/// where the kernel keeps nothing for the program.
fn for_the_rest(tid: Tid, registers: &Registers, end: Nanos) -> Option<Registers> {
    let left = (end - clock::now()).max(Nanos::ZERO).0 as u64;
    let mut changed = *registers;
    let (register, has_milliseconds) = timeout(&mut changed)?;
    *register = if has_milliseconds {
        // The filter doesn't stop a call with a timeout of 0.
        left.div_ceil(1_000_000).max(1)
    } else {
        let place = (registers.rsp - RED_ZONE - 16) & !15;
        ptrace::poke(tid, place, left / 1_000_000_000).ok()?;
        ptrace::poke(tid, place + 8, left % 1_000_000_000).ok()?;
        place
    };
    Some(inject::again(&changed))
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
        let timed = Registers { r10: 9, ..registers(libc::SYS_epoll_wait, PLACE) };
        let rest = for_the_rest(0, &timed, clock::now() + Nanos(7_500_000_000)).expect("the rest");
        assert_eq!((rest.rip, rest.r10.div_ceil(1_000)), (PLACE - 2, 8));
        assert_eq!(for_the_rest(0, &timed, clock::now()).map(|rest| rest.r10), Some(1));
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
