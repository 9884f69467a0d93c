//! Timeouts of sockets (`SO_RCVTIMEO`, `SO_SNDTIMEO`). The kernel counts them in ticks of its own, so a call that receives
//! from such a socket or sends to it is stopped ([`super::receive`], [`super::send`]). A small filter of its own for each
//! descriptor says so, and only programs that set such timeouts have any.
//!
//! The program's timeout stays in the kernel. At each stop the kernel is asked for it, since others may have changed it:
//! other threads, processes with the same socket, and programs with native timing.

use std::io;
use std::sync::Arc;

use oversleep_record::Nanos;

use super::tracer::Tracer;
use crate::linux::calls::entry::{self, LeadsTo, Waiting};
use crate::linux::calls::program_socket::Socket;
use crate::linux::calls::timeouts::{Decision, Filtered, Timeout, Way};
use crate::linux::code::inject::{self, Call};
use crate::linux::code::trampoline;
use crate::linux::filter::{self, receiving, sending};
use crate::linux::process::lock::lock;
use crate::linux::process::ptrace::{Registers, Tid};
use crate::plan::{Class, Requested};

const REFUSED: &str = "the system refuses another filter, so a timeout of a socket ends on this kernel's own tick";
const HIDDEN: &str = "the system hides the program's sockets, so their timeouts end on this kernel's own tick";
const TOO_MANY: &str = "a process has more than 32 timeouts of sockets, with those of its parents: the others end on this kernel's own tick";
const OF_ANOTHER_FAMILY: &str =
    "a timeout of a socket ends on this kernel's own tick unless it is of TCP, UDP or the like, or local";

/// `SO_RCVTIMEO`, with its two numbers.
const SO_RCVTIMEO: [u32; 2] = [20, 66];

impl Tracer {
    /// A socket gets a timeout. Whether the call is to be made as it is, or the registers are set already.
    pub(super) fn set_timeout(&mut self, tid: Tid, registers: &Registers, span: Nanos, now: Nanos) -> bool {
        let passes_by = |tracer: &Tracer, why| {
            lock(&tracer.tally).note_passed_by("setsockopt", why);
            false
        };
        let way = if SO_RCVTIMEO.contains(&(registers.rdx as u32)) { Way::Receives } else { Way::Sends };
        let (process, descriptor) = (self.process(tid), registers.rdi as i32);
        let socket = match Socket::fetch(process, tid, descriptor) {
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
        let filtered = Filtered { descriptor, way };
        match shared.timeouts.decide(process, filtered) {
            Decision::HasIt => {
                shared.timeouts.note_requested(Timeout { inode: socket.inode(), way }, span);
                return true;
            }
            Decision::Refused => return passes_by(self, REFUSED),
            Decision::TooMany => return passes_by(self, TOO_MANY),
            Decision::Install => {}
        }
        // Closed as soon as its program closes it: what follows may take a while.
        drop(socket);
        // The thread makes its call again. Then its descriptor has a filter, or the refusal is named.
        if shared.timeouts.install(process, filtered, || install(tid, registers, filtered)).is_err() {
            // Its end may have been seen already, and comes only once.
            self.forget(tid, now);
        }
        true
    }

    /// The socket of a call, and its timeout; `None` where the call is made as it is.
    pub(super) fn timed_socket(&mut self, tid: Tid, registers: &Registers, way: Way) -> Option<(Socket, Nanos)> {
        let process = self.process(tid);
        let socket = match Socket::fetch(process, tid, registers.rdi as i32) {
            Ok(socket) => socket,
            Err(error) if error.raw_os_error() == Some(libc::EBADF) => return None,
            Err(_) => {
                lock(&self.tally).note_passed_by(entry::name(registers.orig_rax as libc::c_long), HIDDEN);
                return None;
            }
        };
        let kept = socket.timeout(way)?;
        (!socket.is_non_blocking()).then_some((socket, kept))
    }

    /// The wait for a socket with that timeout, which is closed here.
    pub(super) fn waiting(&self, socket: Socket, way: Way, kept: Nanos, leads_to: LeadsTo) -> Waiting {
        let span = self.shared.timeouts.requested(Timeout { inode: socket.inode(), way }, kept);
        Waiting { class: Class::Socket, requested: Requested::Span(span), leads_to, clock: libc::CLOCK_MONOTONIC }
    }
}

/// Makes a process install the filter of a descriptor, for all its threads; returns the answer of the system. The thread
/// then repeats its call.
fn install(tid: Tid, registers: &Registers, Filtered { descriptor, way }: Filtered) -> io::Result<i64> {
    let calls: &[libc::c_long] = match way {
        Way::Receives => &receiving::CALLS,
        Way::Sends => &sending::CALLS,
    };
    let program = filter::descriptor::filter(descriptor, calls);
    let mut bytes = Vec::new();
    bytes.extend((program.len() as u64).to_le_bytes());
    bytes.extend((trampoline::SCRATCH + 16).to_le_bytes());
    for step in program {
        bytes.extend(step.code.to_le_bytes());
        bytes.extend([step.jt, step.jf]);
        bytes.extend(step.k.to_le_bytes());
    }
    debug_assert!(bytes.len() <= trampoline::SCRATCH_SIZE, "the filter takes {} bytes", bytes.len());
    let flags = filter::TSYNC | filter::SPEC_ALLOW;
    let arguments = [filter::SET_MODE_FILTER, flags, trampoline::SCRATCH, 0, 0, 0];
    inject::make_instead(tid, registers, &bytes, Call { number: libc::SYS_seccomp, arguments })
}
