//! Timeouts for receiving from a socket (`SO_RCVTIMEO`): the thread waits for the socket until the end on the machine, in
//! the injected code.

use std::io;

use super::lead::Stopped;
use super::tracer::Tracer;
use crate::linux::calls::entry::{self, LeadsTo};
use crate::linux::calls::timeouts::Way;
use crate::linux::filter::receiving::{self, How};
use crate::linux::process::lock::lock;
use crate::linux::process::ptrace::{self, Registers, Tid};

const MORE: &str = "a call that waits for more than the first data of a socket ends on this kernel's own tick";

impl Tracer {
    /// A call receives from a descriptor that once had a timeout.
    pub(super) fn receive(&mut self, tid: Tid, registers: Registers, stopped: Stopped<'_>) -> io::Result<()> {
        let call = registers.orig_rax as libc::c_long;
        let how = receiving::how(&registers);
        if how == How::AtOnce {
            return Ok(());
        }
        let Some((socket, kept)) = self.timed_socket(tid, &registers, Way::Receives) else { return Ok(()) };
        if how == How::More || socket.waits_for_more() {
            lock(&self.tally).note_passed_by(entry::name(call), MORE);
            return Ok(());
        }
        // A call that can't accept fails, and one that reads nothing doesn't wait.
        if [libc::SYS_accept, libc::SYS_accept4].contains(&call) && !socket.listens() {
            return Ok(());
        }
        if call == libc::SYS_readv && ptrace::read::<2>(tid, registers.rsi).map_or(true, |[_, length]| length == 0) {
            return Ok(());
        }
        let waiting = self.waiting(socket, Way::Receives, kept, LeadsTo::Receive(call));
        self.wait(tid, registers, &waiting, stopped)
    }
}
