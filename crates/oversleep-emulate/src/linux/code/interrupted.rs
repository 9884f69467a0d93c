//! Threads whose wait in the injected code a signal's handler interrupts.
//!
//! No unwind table knows that code. A handler's stack trace would end there, and so would whatever the handler throws. Such
//! a thread is therefore brought back to its program before the handler runs, as if its own call had been interrupted.

use std::io;

use oversleep_record::Nanos;

use super::inject::SYSCALL_LENGTH;
use super::rule::SLEEPS;
use super::trampoline::{self, Entry};
use crate::linux::process::ptrace::{self, INTERRUPTED, RESTARTS_ALWAYS, Registers, Tid};
use crate::linux::process::{clock, status};

/// What the injected code has on the stack while it waits: words of its own, of which one is the native end, and the saved
/// registers, as in `trampoline.s`.
const OWN: usize = 7;
const NATIVE_END: usize = 4;
const SAVED: usize = 8;
const RED_ZONE: u64 = 128;

/// As [`RESTARTS_ALWAYS`], for other calls: those that no handler interrupts, and those that each interrupts.
const RESTARTS_UNSEEN: i64 = -513;
const ENDS: [i64; 3] = [INTERRUPTED, -514, -516];

/// How the injected code goes back to the program once a call has ended: `add rsp, 56; pop r9`.
const END: [u8; 6] = [0x48, 0x83, 0xc4, 0x38, 0x41, 0x59];

/// The calls that it makes on the way.
const ASIDE: [libc::c_long; 4] =
    [libc::SYS_clock_gettime, libc::SYS_personality, libc::SYS_getpid, libc::SYS_process_vm_writev];

/// The entries in place of calls that don't wait, and the calls.
const OTHERS: [(Entry, libc::c_long); 7] = [
    (Entry::TimerFdSpan, libc::SYS_timerfd_settime),
    (Entry::TimerFdUntil, libc::SYS_timerfd_settime),
    (Entry::TimerSpan, libc::SYS_timer_settime),
    (Entry::TimerUntil, libc::SYS_timer_settime),
    (Entry::SetItimer, libc::SYS_setitimer),
    (Entry::Alarm, libc::SYS_alarm),
    (Entry::SetSockOpt, libc::SYS_setsockopt),
];

/// What the thread's process has of its own.
pub struct Process<'a> {
    /// The place of the program that a return address stands for.
    pub origin: &'a dyn Fn(u64) -> u64,
    /// How far its monotonic clock is ahead of ours.
    pub ahead: Nanos,
}

/// Where a thread is in the injected code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// At the end of the call that it makes for the program.
    Call,
    /// It was just led there. On a busy system, it waits for a CPU now.
    Wait(Entry),
    /// The same, in place of a call that doesn't wait.
    Other(libc::c_long),
    Elsewhere,
}

fn place_of(registers: &Registers) -> At {
    let rip = registers.rip;
    if !trampoline::is_own(rip) {
        return At::Elsewhere;
    }
    if registers.orig_rax == u64::MAX {
        let wait = Entry::ALL.iter().find(|entry| is_wait(**entry) && entry.address() == rip).copied().map(At::Wait);
        let other = || OTHERS.iter().find(|(entry, _)| entry.address() == rip).map(|&(_, call)| At::Other(call));
        let installs = || (Entry::Install.address() == rip).then_some(At::Other(registers.rax as libc::c_long));
        return wait.or_else(other).or_else(installs).unwrap_or(At::Elsewhere);
    }
    let is_aside = (registers.orig_rax as i64) < 0 || ASIDE.contains(&(registers.orig_rax as libc::c_long));
    let ends =
        || trampoline::code().get((rip - trampoline::BASE) as usize..).is_some_and(|code| code.starts_with(&END));
    let waits = || waits_at(rip) && (is_interrupted(registers) || !is_between(rip, Entry::Receive, Entry::TimerFdSpan));
    if !is_aside && (ends() || waits()) { At::Call } else { At::Elsewhere }
}

/// Whether threads are led there from a call that waits.
fn is_wait(entry: Entry) -> bool {
    const BEGUN: [Entry; 4] = [Entry::RelRdxBegun, Entry::RelR10Begun, Entry::RelR8Begun, Entry::EpollWaitBegun];
    is_between(entry.address(), Entry::AbsRdx, Entry::TimerFdSpan) && !BEGUN.contains(&entry)
}

/// Whether a signal interrupted the thread's call.
fn is_interrupted(registers: &Registers) -> bool {
    let result = registers.rax as i64;
    registers.orig_rax as i64 >= 0 && (is_repeated(registers) || ENDS.contains(&result))
}

/// Whether the kernel may make the thread's call again, which then has kept its number.
fn is_repeated(registers: &Registers) -> bool {
    [RESTARTS_ALWAYS, RESTARTS_UNSEEN].contains(&(registers.rax as i64))
}

/// Whether the injected code makes waiting calls there. Setting a timer doesn't wait.
fn waits_at(rip: u64) -> bool {
    is_between(rip, Entry::AbsRdx, Entry::TimerFdSpan) || is_between(rip, Entry::Loaded, Entry::Install)
}

fn is_between(rip: u64, from: Entry, to: Entry) -> bool {
    (from.address()..to.address()).contains(&rip)
}

/// Whether a thread in the injected code can be brought back to its program.
pub fn may_be_brought_back(registers: &Registers) -> bool {
    place_of(registers) != At::Elsewhere
}

/// A thread is about to run the handler of a signal: it runs it in its program. Returns whether it isn't in the injected
/// code any more.
///
/// # Errors
/// The thread is gone.
pub fn bring_back(tid: Tid, registers: &Registers, process: &Process) -> io::Result<bool> {
    let (own, native_end) = match place_of(registers) {
        At::Elsewhere => return Ok(!trampoline::is_own(registers.rip)),
        At::Other(call) => {
            let rip = (process.origin)(registers.rcx) - SYSCALL_LENGTH;
            let again = Registers { rip, rax: call as u64, orig_rax: u64::MAX, ..*registers };
            return ptrace::set_registers(tid, &again).map(|()| true);
        }
        At::Wait(entry) => (at_once(entry, registers), registers.rax),
        At::Call => {
            let words: [i64; OWN + SAVED] = ptrace::read(tid, registers.rsp)?;
            let [r9, r8, r10, rdx, rsi, rdi, rcx, eflags] = std::array::from_fn(|at| words[OWN + at] as u64);
            let rsp = registers.rsp + 8 * words.len() as u64 + RED_ZONE;
            (Registers { r9, r8, r10, rdx, rsi, rdi, rcx, eflags, rsp, ..*registers }, words[NATIVE_END] as u64)
        }
    };
    let mut back = Registers { rip: (process.origin)(own.rcx), ..own };
    // The kernel repeats a call where the program made it.
    if !is_repeated(&own) {
        let result = own.rax as i64;
        back.rax = if ENDS.contains(&result) { INTERRUPTED as u64 } else { own.rax };
        back.orig_rax = u64::MAX;
    }
    if let Some(Rest { to, unit, is_of_sleep }) = rest(tid, registers, &own)
        && if is_of_sleep { back.rax as i64 == INTERRUPTED } else { !status::keeps_timeouts(tid) }
    {
        let left = (Nanos(native_end as i64) - clock::now() - process.ahead).max(Nanos::ZERO).0;
        let written = ptrace::write(tid, to, [left / 1_000_000_000, left % 1_000_000_000 / unit]);
        if is_of_sleep && written.is_err_and(|error| error.raw_os_error() == Some(libc::EFAULT)) {
            back.rax = -i64::from(libc::EFAULT) as u64;
        }
    }
    ptrace::set_registers(tid, &back).map(|()| true)
}

/// The registers of a thread whose wait is interrupted as soon as it begins there.
fn at_once(entry: Entry, registers: &Registers) -> Registers {
    let (call, operation) = (registers.rax as libc::c_long, registers.rsi & 0x7f);
    let repeated = match (entry, call) {
        (Entry::AbsR10, libc::SYS_futex) if [6, 11, 13].contains(&operation) => Some(RESTARTS_UNSEEN),
        (Entry::AbsR10, libc::SYS_futex) => None,
        (Entry::AbsR10 | Entry::AbsR8, _) => Some(RESTARTS_ALWAYS),
        _ => None,
    };
    match repeated {
        Some(result) => Registers { rax: result as u64, orig_rax: registers.rax, ..*registers },
        None => Registers { rax: INTERRUPTED as u64, ..*registers },
    }
}

/// What is left of a call's time, which it writes to the program's memory.
struct Rest {
    to: u64,
    /// The ns in a unit of its fraction.
    unit: i64,
    /// A sleep writes it only if it is interrupted, and then fails where it can't.
    is_of_sleep: bool,
}

/// What the call writes that a thread makes in the injected code, of a program with these registers of its own.
fn rest(tid: Tid, registers: &Registers, own: &Registers) -> Option<Rest> {
    let within = |from: Entry, to: Entry| is_between(registers.rip, from, to);
    let (to, unit, is_of_sleep) = if within(Entry::Sleep, Entry::SiteNanosleep) {
        let is_nanosleep = ptrace::peek(tid, registers.r8 + SLEEPS as u64).ok()? == 1;
        (if is_nanosleep { own.rsi } else { own.r10 }, 1, true)
    } else if within(Entry::Nanosleep, Entry::ClockNanosleep) {
        (own.rsi, 1, true)
    } else if within(Entry::ClockNanosleep, Entry::Receive) {
        (own.r10, 1, true)
    } else if within(Entry::Ppoll, Entry::Select) {
        (own.rdx, 1, false)
    } else if within(Entry::Select, Entry::Pselect) {
        (own.r8, 1_000, false)
    } else if within(Entry::Pselect, Entry::Nanosleep) {
        (own.r8, 1, false)
    } else {
        return None;
    };
    (to != 0).then_some(Rest { to, unit, is_of_sleep })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(rip: u64, orig_rax: i64, rax: i64) -> At {
        // SAFETY: a struct of numbers.
        let registers: Registers = unsafe { std::mem::zeroed() };
        place_of(&Registers { rip, orig_rax: orig_rax as u64, rax: rax as u64, ..registers })
    }

    #[test]
    fn a_thread_is_brought_back_where_it_has_begun_nothing_or_ended_its_call() {
        let code = trampoline::code();
        let behind = |from: Entry| {
            let from = from.offset() as usize;
            let at = code[from..].windows(2 + END.len()).position(|code| code[..2] == [0x0f, 5] && code[2..] == END);
            trampoline::BASE + (from + at.expect("a call")) as u64 + SYSCALL_LENGTH
        };
        assert_eq!(place(behind(Entry::AbsRdx), 230, -514), At::Call, "interrupted");
        assert_eq!(place(behind(Entry::SetItimer), 38, 0), At::Call, "its signal comes at once");
        assert_eq!(place(Entry::Poll.address() + 9, libc::SYS_clock_gettime, 0), At::Elsewhere, "on the way");
        assert_eq!(place(Entry::Poll.address() + 9, -1, 0), At::Elsewhere);
        assert_eq!(place(Entry::Poll.address(), -1, 7), At::Wait(Entry::Poll));
        assert_eq!(place(Entry::Receive.address(), -1, 0), At::Wait(Entry::Receive));
        assert_eq!(place(Entry::RelRdxBegun.address(), -1, 0), At::Elsewhere, "its registers are saved already");
        assert_eq!(place(Entry::Alarm.address(), -1, 0), At::Other(37));
        assert_eq!(place(Entry::Install.address(), -1, 35), At::Other(35));
        assert_eq!(place(Entry::Receive.address() + 99, 271, 1), At::Elsewhere, "it receives next");
        assert_eq!(place(Entry::Receive.address() + 99, 271, -514), At::Call);
        assert_eq!(place(0x5555_0000, 35, -516), At::Elsewhere, "in the program");
    }
}
