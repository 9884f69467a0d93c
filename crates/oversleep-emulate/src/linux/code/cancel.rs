//! Threads that are cancelled while they wait.
//!
//! glibc ends a thread (`pthread_cancel`) by a signal whose handler unwinds the stack, to run destructors and whatever else
//! cleans up. No unwind table knows the injected code, so the unwinding would end there, and a mutex would stay locked. A
//! thread that gets this signal while it waits there is therefore brought back to the program before the handler runs, as if
//! its own call had been interrupted. If it is elsewhere in that code, the signal comes a moment later.
//!
//! So it is with musl's signal: its handler looks whether the thread is at a call of the C library that can be cancelled.
//! Elsewhere it only blocks the signal, which then wouldn't end the wait.
//! <https://sourceware.org/git/?p=glibc.git;a=blob;f=nptl/pthread_cancel.c;hb=glibc-2.36>

use std::collections::HashMap;
use std::io;

use super::interrupted::{self, Process};
use super::trampoline;
use crate::linux::process::ptrace::{self, Registers, SignalInfo, Thread, Tid};

/// The signal, `__SIGRTMIN` of glibc.
pub const SIGNAL: i32 = 32;
/// That of musl, or what glibc uses the same number for.
pub const OF_MUSL: i32 = 33;

/// How far the instructions of a site's stub are before the end of its own call, as in `stub.rs`, and the length of that.
const BEFORE_SLOW: [u64; 3] = [10, 4, 2];
const SYSCALL_LENGTH: u64 = 2;

/// Threads whose signal comes a moment later.
#[derive(Default)]
pub struct Cancelled(HashMap<(Tid, i32), Later>);

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
        self.0.retain(|&(tid, signal), later| {
            // SAFETY: takes numbers. https://man7.org/linux/man-pages/man2/tgkill.2.html
            later.is_sent || unsafe { libc::syscall(libc::SYS_tgkill, later.process, tid, signal) } == 0
        });
        self.0.values_mut().for_each(|later| later.is_sent = true);
    }

    /// A thread is about to get the signal. What it gets now: the signal, or 0.
    pub fn signal(&mut self, Thread { process, tid }: Thread, signal: i32, of: &Process) -> io::Result<i32> {
        let later = self.0.remove(&(tid, signal));
        let info = match &later {
            Some(Later { info, is_sent: true, .. }) => *info,
            _ => ptrace::signal_info(tid)?,
        };
        if bring_to_program(tid, signal, of)? {
            if later.is_some_and(|later| later.is_sent) {
                ptrace::set_signal_info(tid, &info)?;
            }
            return Ok(signal);
        }
        self.0.insert((tid, signal), Later { process, info, is_sent: false });
        Ok(0)
    }

    /// A thread is gone, or executes another program.
    pub fn forget(&mut self, tid: Tid) {
        self.0.retain(|&(of, _), _| of != tid);
    }
}

/// Brings a thread back to its program if it waits in the injected code. Returns whether it is in the program.
fn bring_to_program(tid: Tid, signal: i32, of: &Process) -> io::Result<bool> {
    let registers = ptrace::registers(tid)?;
    if trampoline::is_own(registers.rip) {
        return interrupted::bring_back(tid, &registers, of);
    }
    // It may be in the call that a site's stub has. musl doesn't look there for a call that the kernel repeats.
    let in_program = match signal {
        OF_MUSL => place_of_stub(registers.rip, of.origin),
        _ => Some((of.origin)(registers.rip)).filter(|&rip| rip != registers.rip),
    };
    if let Some(rip) = in_program {
        ptrace::set_registers(tid, &Registers { rip, ..registers })?;
    }
    Ok(true)
}

/// Where a thread in a site's stub is in the program: behind its call if it is in the stub's own, at its call before that.
fn place_of_stub(rip: u64, origin: &dyn Fn(u64) -> u64) -> Option<u64> {
    let behind = |slow: u64| Some(origin(slow)).filter(|&behind| behind != slow);
    behind(rip).or_else(|| BEFORE_SLOW.iter().find_map(|before| Some(behind(rip + before)? - SYSCALL_LENGTH)))
}
