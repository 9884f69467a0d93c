//! A blocking receive with the socket's own timeout.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use oversleep_record::Unavailable;
use oversleep_system::{Target, WaitEnd, WaitInfo, Waiter, waits};

use super::args;
use super::reason::{ended, errno, refused};
use crate::native::waits::calls;

calls! { waits::LINUX;
    SO_RCVTIMEO = "so-rcvtimeo" => Receive::open().map(|waiter| Box::new(waiter) as Box<dyn Waiter>),
}

struct Receive {
    socket: OwnedFd,
    /// The other end stays open, because closing it would end the wait.
    _peer: OwnedFd,
    /// The socket's current timeout; 0 before the first wait.
    set_us: i64,
}

impl Receive {
    fn open() -> Result<Receive, Unavailable> {
        let mut ends = [-1; 2];
        let kind = libc::SOCK_DGRAM | libc::SOCK_CLOEXEC;
        // SAFETY: there is room for the two descriptors. https://man7.org/linux/man-pages/man2/socketpair.2.html
        if unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) } != 0 {
            return Err(refused(SO_RCVTIMEO, "socketpair(AF_UNIX)", errno()));
        }
        // SAFETY: two descriptors just made, owned by nobody else.
        let (socket, peer) = unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) };
        let mut waiter = Receive { socket, _peer: peer, set_us: 0 };
        // Tried without a wait, which would take two ticks.
        waiter.set_timeout(1).map_err(|errno| refused(SO_RCVTIMEO, "setsockopt(SO_RCVTIMEO)", errno))?;
        if !waiter.has_timeout() {
            // Without a timeout it would receive forever.
            return Err(Unavailable::Nonsense { what: "setsockopt(SO_RCVTIMEO) succeeds and sets nothing".to_owned() });
        }
        match waiter.receive(libc::MSG_DONTWAIT) {
            libc::EAGAIN => Ok(waiter),
            errno => Err(refused(SO_RCVTIMEO, "recv", errno)),
        }
    }

    fn set_timeout(&mut self, micros: i64) -> Result<(), i32> {
        let timeout = libc::timeval { tv_sec: micros / 1_000_000, tv_usec: micros % 1_000_000 };
        // SAFETY: the option's value is a valid timeval of the stated size.
        // https://man7.org/linux/man-pages/man7/socket.7.html
        let returned = unsafe {
            libc::setsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_RCVTIMEO,
                (&raw const timeout).cast(),
                size_of::<libc::timeval>() as libc::socklen_t,
            )
        };
        if returned != 0 {
            return Err(errno());
        }
        self.set_us = micros;
        Ok(())
    }

    fn has_timeout(&self) -> bool {
        let mut found = libc::timeval { tv_sec: 0, tv_usec: 0 };
        let mut size = size_of::<libc::timeval>() as libc::socklen_t;
        let (level, option) = (libc::SOL_SOCKET, libc::SO_RCVTIMEO);
        // SAFETY: there is room for a timeval, as the size says.
        let returned =
            unsafe { libc::getsockopt(self.socket.as_raw_fd(), level, option, (&raw mut found).cast(), &raw mut size) };
        returned == 0 && (found.tv_sec, found.tv_usec) != (0, 0)
    }

    /// The error that ended the receive; 0 if it received something, although nothing is sent.
    fn receive(&self, flags: libc::c_int) -> i32 {
        let mut byte = 0_u8;
        // SAFETY: there is room for the one byte asked for. https://man7.org/linux/man-pages/man2/recv.2.html
        let received = unsafe { libc::recv(self.socket.as_raw_fd(), (&raw mut byte).cast(), 1, flags) };
        if received < 0 { errno() } else { 0 }
    }
}

impl Waiter for Receive {
    fn wait(&mut self, target: Target) -> WaitEnd {
        let micros = args::micros(SO_RCVTIMEO, target.remaining);
        if micros == 0 {
            return WaitEnd::TimedOut;
        }
        if micros != self.set_us
            && let Err(errno) = self.set_timeout(micros)
        {
            return WaitEnd::Failed(refused(SO_RCVTIMEO, "setsockopt(SO_RCVTIMEO)", errno));
        }
        match self.receive(0) {
            0 => WaitEnd::Interrupted,
            errno => ended(SO_RCVTIMEO, errno, libc::EAGAIN),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::conformance::{NeverEarly, Signals, check};
    use super::*;

    #[test]
    fn so_rcvtimeo_conforms() {
        check(SO_RCVTIMEO, NeverEarly::NotPromised, Signals::Interrupt);
    }
}
