//! Threads that are cancelled while they wait.
//!
//! glibc ends a thread (`pthread_cancel`) by a signal whose handler unwinds the stack, to run destructors and whatever else
//! cleans up. No unwind table knows the injected code, so the unwinding would end there, and a mutex would stay locked. A
//! thread that gets this signal while it waits there is therefore brought back to the program before the handler runs, as if
//! its own call had been interrupted. If it is elsewhere in that code, the signal comes a moment later.
//! <https://sourceware.org/git/?p=glibc.git;a=blob;f=nptl/pthread_cancel.c;hb=glibc-2.36>

use std::collections::HashMap;
use std::io;

use super::trampoline::{self, Entry};
use crate::linux::process::ptrace::{self, INTERRUPTED, RESTARTS_ALWAYS, Registers, SignalInfo, Thread, Tid};

/// The signal, `__SIGRTMIN` of glibc.
pub const SIGNAL: i32 = 32;
/// That of musl. Its handler doesn't unwind, but looks whether the thread is at a call of the C library.
pub const OF_MUSL: i32 = 33;

/// What the injected code has on the stack while it waits: words of its own and the saved registers, as in `trampoline.s`.
const OWN: u64 = 56;
const SAVED: usize = 8;
const RED_ZONE: u64 = 128;
/// How far the instructions of a site's stub are before the end of its own call, as in `stub.rs`, and the length of that.
const BEFORE_SLOW: [u64; 3] = [10, 4, 2];
const SYSCALL_LENGTH: u64 = 2;

/// As [`RESTARTS_ALWAYS`], for other calls.
const RESTARTS: [i64; 3] = [-513, -514, -516];

/// Threads whose signal comes a moment later.
#[derive(Default)]
pub struct Cancelled(HashMap<Tid, Later>);

struct Later {
    process: Tid,
    /// Who sent it, which the handler checks.
    info: SignalInfo,
    /// Whether it is on its way again.
    is_sent: bool,
}

impl Cancelled {
    /// Whether any signal is to be sent again.
    pub fn any_waits(&self) -> bool {
        self.0.values().any(|later| !later.is_sent)
    }

    /// Sends the signals again. Their threads have run since then.
    pub fn send(&mut self) {
        self.0.retain(|&tid, later| {
            // SAFETY: takes numbers. https://man7.org/linux/man-pages/man2/tgkill.2.html
            later.is_sent || unsafe { libc::syscall(libc::SYS_tgkill, later.process, tid, SIGNAL) } == 0
        });
        self.0.values_mut().for_each(|later| later.is_sent = true);
    }

    /// A thread is about to get the signal. What it gets now: the signal, or 0.
    pub fn signal(&mut self, Thread { process, tid }: Thread, origin: impl Fn(u64) -> u64) -> io::Result<i32> {
        let later = self.0.remove(&tid);
        let info = match &later {
            Some(Later { info, is_sent: true, .. }) => *info,
            _ => ptrace::signal_info(tid)?,
        };
        if bring_to_program(tid, origin)? {
            if later.is_some_and(|later| later.is_sent) {
                ptrace::set_signal_info(tid, &info)?;
            }
            return Ok(SIGNAL);
        }
        self.0.insert(tid, Later { process, info, is_sent: false });
        Ok(0)
    }

    /// A thread is gone, or executes another program.
    pub fn forget(&mut self, tid: Tid) {
        self.0.remove(&tid);
    }
}

/// Brings a thread back to its program if it waits in the injected code. Returns whether it is in the program; `origin`
/// gives the place of the program that a return address stands for.
fn bring_to_program(tid: Tid, origin: impl Fn(u64) -> u64) -> io::Result<bool> {
    let registers = ptrace::registers(tid)?;
    if !trampoline::is_own(registers.rip) {
        // It may be in the call that a site's stub has.
        let rip = origin(registers.rip);
        if rip != registers.rip {
            ptrace::set_registers(tid, &Registers { rip, ..registers })?;
        }
        return Ok(true);
    }
    let result = registers.rax as i64;
    let is_in_call = registers.orig_rax as i64 >= 0;
    let is_interrupted = RESTARTS.contains(&result) || [RESTARTS_ALWAYS, INTERRUPTED].contains(&result);
    if !is_in_call || !is_interrupted || !waits_at(registers.rip) {
        return Ok(false);
    }
    bring_back(tid, &registers, origin)?;
    Ok(true)
}

/// A thread is about to get musl's signal, or what glibc uses the same number for. A call that the kernel repeats after a
/// handler, whatever the handler does, would go on in our code or in a stub, where musl doesn't look for it: it is repeated
/// where the program made it.
///
/// # Errors
/// The thread is gone.
pub fn repeat_in_program(tid: Tid, origin: impl Fn(u64) -> u64) -> io::Result<()> {
    let registers = ptrace::registers(tid)?;
    let is_repeated = registers.orig_rax as i64 >= 0 && registers.rax as i64 == RESTARTS_ALWAYS;
    if !trampoline::is_own(registers.rip) {
        if let Some(rip) = place_of_stub(registers.rip, origin) {
            ptrace::set_registers(tid, &Registers { rip, ..registers })?;
        }
    } else if is_repeated && waits_at(registers.rip) {
        bring_back(tid, &registers, origin)?;
    }
    Ok(())
}

/// Where a thread in a site's stub is in the program: behind its call if it is in the stub's own, at its call before that.
fn place_of_stub(rip: u64, origin: impl Fn(u64) -> u64) -> Option<u64> {
    let behind = |slow: u64| Some(origin(slow)).filter(|&behind| behind != slow);
    behind(rip).or_else(|| BEFORE_SLOW.iter().find_map(|before| Some(behind(rip + before)? - SYSCALL_LENGTH)))
}

/// Brings a thread that waits in the injected code back to its program.
fn bring_back(tid: Tid, registers: &Registers, origin: impl Fn(u64) -> u64) -> io::Result<()> {
    let result = registers.rax as i64;
    let saved = registers.rsp + OWN;
    let words: [i64; SAVED] = ptrace::read(tid, saved)?;
    let [r9, r8, r10, rdx, rsi, rdi, rcx, _flags] = words.map(|word| word as u64);
    let rsp = saved + 8 * SAVED as u64 + RED_ZONE;
    let back = Registers { r9, r8, r10, rdx, rsi, rdi, rcx, rsp, rip: origin(rcx), ..*registers };
    let back = match result {
        // Only calls that keep their number fail so, and the kernel repeats that number where the program made it.
        RESTARTS_ALWAYS => back,
        _ => Registers { rax: INTERRUPTED as u64, orig_rax: u64::MAX, ..back },
    };
    ptrace::set_registers(tid, &back)
}

/// Whether the injected code makes waiting calls there. Setting a timer doesn't wait.
fn waits_at(address: u64) -> bool {
    let within = |from: Entry, to: Entry| (from.address()..to.address()).contains(&address);
    within(Entry::AbsRdx, Entry::TimerFdSpan) || within(Entry::Loaded, Entry::Install)
}
