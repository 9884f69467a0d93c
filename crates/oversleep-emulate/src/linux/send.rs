//! Timeouts for sending to a socket (`SO_SNDTIMEO`), which a connection also takes. Only the kernel knows when a call can go
//! on, so the thread makes its own call, and stops when that ends:
//!
//! - If it still waits at the end on the machine, it is interrupted, and the call fails as with a timeout.
//! - If the kernel's timeout ends it before, it makes its call again. Where that isn't the same, as once a part was sent, it
//!   waits for the end.

use std::io;

use oversleep_record::Nanos;

use super::crew::lock;
use super::entry::{self, LeadsTo, Waiting, now};
use super::filter::sending;
use super::inject::SYSCALL_LENGTH;
use super::processes::Program;
use super::program_socket::Socket;
use super::ptrace::{self, Registers, Tid};
use super::sends::{Next, Sends};
use super::socket_filters::HIDDEN;
use super::timeouts::Way;
use super::tracer::Tracer;
use crate::plan::{Class, Requested};

impl Tracer {
    /// A call sends to a descriptor that once had a timeout.
    pub(super) fn sends(
        &mut self,
        tid: Tid,
        registers: Registers,
        (now, program): (Nanos, Option<&Program>),
    ) -> io::Result<()> {
        let call = registers.orig_rax as libc::c_long;
        let process = self.process(tid);
        let socket = match Socket::of(process, tid, registers.rdi as i32) {
            Ok(socket) => Some(socket),
            Err(error) if error.raw_os_error() == Some(libc::EBADF) => None,
            Err(_) => {
                lock(&self.tally).passed_by(entry::name(call), HIDDEN);
                None
            }
        };
        let waits = |socket: &Socket| sending::may_wait(&registers) && !socket.is_non_blocking();
        let Some((socket, kept)) = socket.filter(waits).and_then(|socket| {
            let kept = socket.timeout(Way::Sends)?;
            Some((socket, kept))
        }) else {
            self.sendings.forget(tid);
            return Ok(());
        };
        if self.sendings.repeats(tid, now) {
            return Ok(());
        }
        let is_connecting = call == libc::SYS_connect && socket.family() != Some(libc::AF_UNIX);
        let error = if is_connecting { libc::EINPROGRESS } else { libc::EAGAIN };
        let span = self.shared.timeouts.of((socket.inode(), Way::Sends), kept);
        drop(socket);
        let waiting = Waiting {
            class: Class::Socket,
            requested: Requested::Span(span),
            leads_to: LeadsTo::Send(Sends { kept, error }),
            clock: libc::CLOCK_MONOTONIC,
        };
        self.wait(tid, registers, &waiting, (now, program))
    }

    /// A thread's call ends.
    pub(super) fn call_ends(&mut self, tid: Tid) -> io::Result<()> {
        if self.sendings.is_empty() {
            return ptrace::go_on(tid, 0);
        }
        let registers = ptrace::registers(tid)?;
        let names_its_length = matches!(registers.orig_rax as libc::c_long, libc::SYS_write | libc::SYS_sendto);
        let is_whole = names_its_length && registers.rax == registers.rdx;
        match self.sendings.next(tid, (registers.rax as i64, is_whole), now()) {
            Some(Next::Holds) => return Ok(()),
            Some(Next::Repeats) => {
                let (rip, rax) = (registers.rip - SYSCALL_LENGTH, registers.orig_rax);
                ptrace::set_registers(tid, &Registers { rip, rax, orig_rax: u64::MAX, ..registers })?;
            }
            Some(Next::Fails(error)) => {
                ptrace::set_registers(tid, &Registers { rax: -i64::from(error) as u64, ..registers })?;
            }
            Some(Next::GoesOn) | None => {}
        }
        ptrace::go_on(tid, 0)
    }
}
