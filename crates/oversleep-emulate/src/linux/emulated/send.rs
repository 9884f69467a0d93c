//! Timeouts for sending to a socket (`SO_SNDTIMEO`), which a connection also takes. Only the kernel knows when a call can go
//! on, so the thread makes its own call, and stops when that ends:
//!
//! - If it still waits at the end on the machine, it is interrupted, and the call fails as with a timeout.
//! - If the kernel's timeout ends it before, it makes its call again. Where that isn't the same, as once a part was sent, it
//!   waits for the end.

use std::io;

use super::lead::Stopped;
use super::tracer::Tracer;
use crate::linux::calls::entry::LeadsTo;
use crate::linux::calls::sends::{Next, Returned, Sends};
use crate::linux::calls::timeouts::Way;
use crate::linux::code::inject;
use crate::linux::filter::sending;
use crate::linux::process::clock::now;
use crate::linux::process::ptrace::{self, Registers, Tid};

impl Tracer {
    /// A call sends to a descriptor that once had a timeout.
    pub(super) fn send(&mut self, tid: Tid, registers: Registers, stopped: Stopped<'_>) -> io::Result<()> {
        let socket = if sending::may_wait(&registers) { self.timed_socket(tid, &registers, Way::Sends) } else { None };
        let Some((socket, kept)) = socket else {
            self.sendings.forget(tid);
            return Ok(());
        };
        if self.sendings.begin_again(tid, stopped.now) {
            return Ok(());
        }
        let is_connecting =
            registers.orig_rax as libc::c_long == libc::SYS_connect && socket.family() != Some(libc::AF_UNIX);
        let error = if is_connecting { libc::EINPROGRESS } else { libc::EAGAIN };
        let waiting = self.waiting(socket, Way::Sends, kept, LeadsTo::Send(Sends { kept, error }));
        self.wait(tid, registers, &waiting, stopped)
    }

    /// A thread's call ends.
    pub(super) fn end_call(&mut self, tid: Tid) -> io::Result<()> {
        self.outlasting.end_call(tid)?;
        self.readings.end(tid, &self.shared.timers, now())?;
        if self.sendings.is_empty() {
            return ptrace::go_on(tid, 0);
        }
        let registers = ptrace::registers(tid)?;
        let names_its_length = matches!(registers.orig_rax as libc::c_long, libc::SYS_write | libc::SYS_sendto);
        let is_whole = names_its_length && registers.rax == registers.rdx;
        match self.sendings.next(tid, Returned { result: registers.rax as i64, is_whole }, now()) {
            Some(Next::Holds) => return Ok(()),
            Some(Next::Repeats) => {
                ptrace::set_registers(tid, &inject::again(&registers))?;
            }
            Some(Next::Fails(error)) => {
                ptrace::set_registers(tid, &Registers { rax: -i64::from(error) as u64, ..registers })?;
            }
            Some(Next::GoesOn) | None => {}
        }
        ptrace::go_on(tid, 0)
    }
}
