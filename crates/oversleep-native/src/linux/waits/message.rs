//! Timed waits for a signal or a message, which never comes.

use std::ffi::CString;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use oversleep_record::Unavailable;
use oversleep_system::{Target, WaitEnd, WaitInfo, Waiter, waits};

use super::args;
use super::entry::proved;
use super::reason::{ended, errno, refused};
use super::signals::{self, Blocked};
use crate::native::waits::calls;

calls! { waits::LINUX;
    SIGTIMEDWAIT = "sigtimedwait" => SignalWait::open().and_then(proved),
    MQ_TIMEDRECEIVE = "mq-timedreceive" => Queue::open().and_then(proved),
}

struct SignalWait {
    set: libc::sigset_t,
    _blocked: Blocked,
}

impl SignalWait {
    fn open() -> Result<SignalWait, Unavailable> {
        let blocked = Blocked::real_time(signals::FOR_SIGTIMEDWAIT)?;
        Ok(SignalWait { set: signals::only(blocked.signal()), _blocked: blocked })
    }
}

impl Waiter for SignalWait {
    fn wait(&mut self, target: Target) -> WaitEnd {
        let span = args::timespec(SIGTIMEDWAIT, target.remaining);
        // SAFETY: the set and the time are valid; a null place for the details is allowed.
        // https://man7.org/linux/man-pages/man2/sigtimedwait.2.html
        match unsafe { libc::sigtimedwait(&self.set, std::ptr::null_mut(), &span) } {
            -1 => ended(SIGTIMEDWAIT, errno(), libc::EAGAIN),
            _ => WaitEnd::Interrupted,
        }
    }
}

/// An empty queue without a name. On Linux a queue's number is a descriptor.
struct Queue(OwnedFd);

impl Queue {
    fn open() -> Result<Queue, Unavailable> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = CString::new(format!("/oversleep-{}-{number}", std::process::id()))
            .map_err(|error| Unavailable::failed("mq_open", error))?;
        // SAFETY: an all-zero mq_attr is valid (numbers only).
        let mut attributes: libc::mq_attr = unsafe { std::mem::zeroed() };
        // The smallest possible queue, because RLIMIT_MSGQUEUE limits all queues of a user together.
        attributes.mq_maxmsg = 1;
        attributes.mq_msgsize = 1;
        let flags = libc::O_RDONLY | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
        let owner_only: libc::mode_t = 0o600;
        // SAFETY: the name is terminated, and O_CREAT is followed by the mode and valid attributes.
        // https://man7.org/linux/man-pages/man3/mq_open.3.html
        let queue = unsafe { libc::mq_open(name.as_ptr(), flags, owner_only, &raw mut attributes) };
        if queue < 0 {
            return Err(refused(MQ_TIMEDRECEIVE, "mq_open", errno()));
        }
        // SAFETY: a descriptor just made, owned by nobody else.
        let queue = Queue(unsafe { OwnedFd::from_raw_fd(queue) });
        // The name is removed at once, so that nothing is left behind if this process is killed.
        // SAFETY: the name is terminated. https://man7.org/linux/man-pages/man3/mq_unlink.3.html
        unsafe { libc::mq_unlink(name.as_ptr()) };
        Ok(queue)
    }
}

impl Waiter for Queue {
    fn wait(&mut self, target: Target) -> WaitEnd {
        let deadline = args::timespec(MQ_TIMEDRECEIVE, args::realtime_deadline(target.deadline));
        let mut byte = 0;
        // SAFETY: there is room for the queue's message size of one byte; a null place for the priority is allowed.
        // https://man7.org/linux/man-pages/man3/mq_receive.3.html
        let received =
            unsafe { libc::mq_timedreceive(self.0.as_raw_fd(), &raw mut byte, 1, std::ptr::null_mut(), &deadline) };
        if received < 0 { ended(MQ_TIMEDRECEIVE, errno(), libc::ETIMEDOUT) } else { WaitEnd::Interrupted }
    }
}

#[cfg(test)]
mod tests {
    use super::super::conformance::{NeverEarly, Signals, check};
    use super::*;

    #[test]
    fn sigtimedwait_conforms() {
        check(SIGTIMEDWAIT, NeverEarly::Holds, Signals::Interrupt);
    }

    #[test]
    fn mq_timedreceive_conforms() {
        check(MQ_TIMEDRECEIVE, NeverEarly::NotPromised, Signals::Interrupt);
    }
}
