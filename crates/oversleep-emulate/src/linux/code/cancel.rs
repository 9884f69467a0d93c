//! Threads that are cancelled while they wait.
//!
//! glibc ends a thread (`pthread_cancel`) by a signal whose handler unwinds the stack, to run destructors and whatever else
//! cleans up. No unwind table knows the injected code, so the unwinding would end there, and a mutex would stay locked. A
//! thread that gets this signal while it waits there is therefore brought back to the program before the handler runs, as if
//! its own call had been interrupted. If it is elsewhere in that code, the signal comes a moment later.
//! <https://sourceware.org/git/?p=glibc.git;a=blob;f=nptl/pthread_cancel.c;hb=glibc-2.36>

use std::collections::HashMap;
use std::io;

use super::interrupted::{self, Process};
use super::trampoline;
use crate::linux::process::ptrace::{self, Registers, SignalInfo, Thread, Tid};

/// The signal, `__SIGRTMIN` of glibc.
pub const SIGNAL: i32 = 32;
/// That of musl. Its handler doesn't unwind, but looks whether the thread is at a call of the C library.
pub const OF_MUSL: i32 = 33;

/// How far the instructions of a site's stub are before the end of its own call, as in `stub.rs`, and the length of that.
const BEFORE_SLOW: [u64; 3] = [10, 4, 2];
const SYSCALL_LENGTH: u64 = 2;

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
    pub fn signal(&mut self, Thread { process, tid }: Thread, of: &Process) -> io::Result<i32> {
        let later = self.0.remove(&tid);
        let info = match &later {
            Some(Later { info, is_sent: true, .. }) => *info,
            _ => ptrace::signal_info(tid)?,
        };
        if bring_to_program(tid, of)? {
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

/// Brings a thread back to its program if it waits in the injected code. Returns whether it is in the program.
fn bring_to_program(tid: Tid, of: &Process) -> io::Result<bool> {
    let registers = ptrace::registers(tid)?;
    if !trampoline::is_own(registers.rip) {
        // It may be in the call that a site's stub has.
        let rip = (of.origin)(registers.rip);
        if rip != registers.rip {
            ptrace::set_registers(tid, &Registers { rip, ..registers })?;
        }
        return Ok(true);
    }
    interrupted::bring_back(tid, &registers, of)
}

/// A thread is about to get musl's signal, or what glibc uses the same number for. A call that the kernel repeats after a
/// handler, whatever the handler does, would go on in our code or in a stub, where musl doesn't look for it: it is repeated
/// where the program made it.
///
/// # Errors
/// The thread is gone.
pub fn repeat_in_program(tid: Tid, of: &Process) -> io::Result<()> {
    let registers = ptrace::registers(tid)?;
    if !trampoline::is_own(registers.rip) {
        if let Some(rip) = place_of_stub(registers.rip, of.origin) {
            ptrace::set_registers(tid, &Registers { rip, ..registers })?;
        }
    } else if interrupted::repeats_wait(&registers) {
        interrupted::bring_back(tid, &registers, of)?;
    }
    Ok(())
}

/// Where a thread in a site's stub is in the program: behind its call if it is in the stub's own, at its call before that.
fn place_of_stub(rip: u64, origin: &dyn Fn(u64) -> u64) -> Option<u64> {
    let behind = |slow: u64| Some(origin(slow)).filter(|&behind| behind != slow);
    behind(rip).or_else(|| BEFORE_SLOW.iter().find_map(|before| Some(behind(rip + before)? - SYSCALL_LENGTH)))
}
