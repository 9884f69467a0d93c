//! Timeouts for receiving from a socket (`SO_RCVTIMEO`). The kernel counts them in ticks of its own, so a call that receives
//! from such a socket is stopped, too, and waits for the socket until the end on the machine. A small filter of its own for
//! each descriptor says so, and only programs that set such timeouts have any.
//!
//! At each stop the kernel is asked for the socket's timeout, since others may have changed it: other threads, processes
//! with the same socket, and programs with native timing.
//!
//! Timeouts for sending stay with the kernel: a call may be able to send although the socket doesn't count as writable, so
//! waiting for that would delay it.

use std::io;
use std::sync::Arc;

use oversleep_record::Nanos;

use super::crew::lock;
use super::entry::{self, LeadsTo, Waiting};
use super::filter::receiving::{self, How};
use super::inject;
use super::processes::Program;
use super::program_socket::Socket;
use super::ptrace::{self, Registers, Tid};
use super::tracer::Tracer;
use super::trampoline;
use crate::plan::{Class, Requested};

/// How many descriptors of a process may have a filter: each one is run at all calls that receive.
const FILTERS_MAX: usize = 32;

const SENDS: &str = "a timeout for sending ends on this kernel's own tick";
const REFUSED: &str = "the system refuses another filter, so a timeout for receiving ends on this kernel's own tick";
const HIDDEN: &str =
    "the system hides the program's sockets, so a timeout for receiving ends on this kernel's own tick";
const TOO_MANY: &str =
    "more than 32 descriptors of a process got timeouts for receiving: those of others end on this kernel's own tick";
const OF_ANOTHER_FAMILY: &str =
    "a timeout for receiving ends on this kernel's own tick unless the socket is of TCP, UDP or the like, or local";
const MORE: &str = "a call that waits for more than the first data of a socket ends on this kernel's own tick";

/// `SO_RCVTIMEO`, with its two numbers.
const SO_RCVTIMEO: [u32; 2] = [20, 66];

impl Tracer {
    /// A socket gets a timeout. Whether the call is to be made as it is, or the registers are set already.
    pub(super) fn sets_timeout(&mut self, tid: Tid, registers: &Registers, span: Nanos, now: Nanos) -> bool {
        let passes_by = |tracer: &Tracer, why| {
            lock(&tracer.tally).passed_by("setsockopt", why);
            false
        };
        if !SO_RCVTIMEO.contains(&(registers.rdx as u32)) {
            return passes_by(self, SENDS);
        }
        let (process, descriptor) = (self.process(tid), registers.rdi as i32);
        let socket = match Socket::of(process, tid, descriptor) {
            Ok(socket) => socket,
            // The call fails.
            Err(error) if error.raw_os_error() == Some(libc::EBADF) => return true,
            Err(_) => return passes_by(self, HIDDEN),
        };
        match socket.family() {
            Some(libc::AF_UNIX | libc::AF_INET | libc::AF_INET6) => {}
            Some(_) => return passes_by(self, OF_ANOTHER_FAMILY),
            None => return true,
        }
        let shared = Arc::clone(&self.shared);
        let refusal = {
            let mut filters = lock(&shared.timeouts.filters);
            let of = filters.entry(process).or_default();
            match () {
                () if of.descriptors.contains(&descriptor) => {
                    shared.timeouts.requests(socket.inode(), span);
                    return true;
                }
                () if of.is_refused => Some(REFUSED),
                () if of.descriptors.len() >= FILTERS_MAX => Some(TOO_MANY),
                () => None,
            }
        };
        if let Some(why) = refusal {
            return passes_by(self, why);
        }
        // Closed as soon as its program closes it: what follows may take a while.
        drop(socket);
        let installed = {
            let _installing = lock(&shared.timeouts.installing);
            install(tid, registers, descriptor)
        };
        match installed {
            // The thread makes its call again, and its descriptor has a filter then.
            Ok(0) => {
                lock(&shared.timeouts.filters).entry(process).or_default().descriptors.insert(descriptor);
                true
            }
            Ok(_) => {
                lock(&shared.timeouts.filters).entry(process).or_default().is_refused = true;
                // It repeats this call, too, and is told then.
                true
            }
            // Its end may have been seen already, and comes only once.
            Err(_) => {
                self.forget(tid, now);
                true
            }
        }
    }

    /// A call receives from a descriptor that once had a timeout.
    pub(super) fn receives(
        &mut self,
        tid: Tid,
        registers: Registers,
        (now, program): (Nanos, Option<&Program>),
    ) -> io::Result<()> {
        let call = registers.orig_rax as libc::c_long;
        let how = receiving::how(&registers);
        if how == How::AtOnce {
            return Ok(());
        }
        let process = self.process(tid);
        let socket = match Socket::of(process, tid, registers.rdi as i32) {
            Ok(socket) => socket,
            Err(error) if error.raw_os_error() == Some(libc::EBADF) => return Ok(()),
            Err(_) => {
                lock(&self.tally).passed_by(entry::name(call), HIDDEN);
                return Ok(());
            }
        };
        let Some(kept) = socket.receive_timeout() else { return Ok(()) };
        if socket.is_non_blocking() {
            return Ok(());
        }
        if how == How::More || socket.waits_for_more() {
            lock(&self.tally).passed_by(entry::name(call), MORE);
            return Ok(());
        }
        // A call that reads nothing doesn't wait.
        if call == libc::SYS_readv && ptrace::read::<2>(tid, registers.rsi).map_or(true, |[_, length]| length == 0) {
            return Ok(());
        }
        let span = self.shared.timeouts.of(socket.inode(), kept);
        drop(socket);
        let waiting = Waiting {
            class: Class::Socket,
            requested: Requested::Span(span),
            leads_to: LeadsTo::Receive(call),
            clock: libc::CLOCK_MONOTONIC,
        };
        self.wait(tid, registers, &waiting, (now, program))
    }
}

/// Makes a process install the filter of a descriptor, for all its threads; returns the answer of the system. The thread
/// then repeats its call.
fn install(tid: Tid, registers: &Registers, descriptor: i32) -> io::Result<i64> {
    const SET_MODE_FILTER: u64 = 1;
    /// For all threads, without a loss of speed (`SECCOMP_FILTER_FLAG_SPEC_ALLOW`).
    const FLAGS: u64 = 1 | 4;
    let program = receiving::of(descriptor);
    let mut bytes = Vec::new();
    bytes.extend((program.len() as u64).to_le_bytes());
    bytes.extend((trampoline::SCRATCH + 16).to_le_bytes());
    for step in program {
        bytes.extend(step.code.to_le_bytes());
        bytes.extend([step.jt, step.jf]);
        bytes.extend(step.k.to_le_bytes());
    }
    debug_assert!(bytes.len() <= trampoline::SCRATCH_SIZE, "the filter takes {} bytes", bytes.len());
    inject::instead(tid, registers, &bytes, (libc::SYS_seccomp, [SET_MODE_FILTER, FLAGS, trampoline::SCRATCH, 0, 0, 0]))
}
