//! The timeout operation of io_uring.

use oversleep_record::Unavailable;
use oversleep_system::{Target, WaitEnd, WaitInfo, Waiter, waits};

use super::args;
use super::entry::proved;
use super::reason::{ended, refused};
use super::ring::{OP_TIMEOUT, OP_TIMEOUT_REMOVE, Ring, Submission};
use crate::native::waits::calls;

calls! { waits::LINUX;
    IO_URING = "io-uring" => RingTimer::open().and_then(proved),
}

struct RingTimer {
    ring: Ring,
    /// The number of the last timer.
    number: u64,
}

/// The number of every removal.
const REMOVAL: u64 = u64::MAX;

fn not_available(call: &str, errno: i32) -> Unavailable {
    match errno {
        libc::EPERM | libc::EACCES => Unavailable::not_permitted(
            call,
            "sysctl kernel.io_uring_disabled=0, and a seccomp profile that allows io_uring (container defaults don't)",
        ),
        // Linux before 5.12 charges the ring to RLIMIT_MEMLOCK.
        libc::ENOMEM => Unavailable::not_permitted(call, "a higher limit of locked memory (ulimit -l)"),
        errno => refused(IO_URING, call, errno),
    }
}

impl RingTimer {
    fn open() -> Result<RingTimer, Unavailable> {
        match Ring::new() {
            Ok(ring) => Ok(RingTimer { ring, number: 0 }),
            Err((call, errno)) => Err(not_available(call, errno)),
        }
    }

    /// The result of timer `number`, if it is over.
    fn result(&mut self) -> Option<i32> {
        while let Some(completion) = self.ring.take() {
            if completion.user_data == self.number {
                return Some(completion.result);
            }
        }
        None
    }

    /// The submission that stops timer `number`.
    fn removal(&self) -> Submission {
        Submission {
            opcode: OP_TIMEOUT_REMOVE,
            fd: -1,
            address: self.number,
            user_data: REMOVAL,
            ..Submission::default()
        }
    }

    /// Stops the running timer and takes both completions, the timer's and the removal's, so that neither wakes the
    /// next wait. Each comes once, whether or not the removal found the timer.
    fn remove(&mut self) {
        let mut outstanding = if self.ring.push(self.removal()) { 2_i32 } else { 0 };
        while outstanding > 0 {
            // The kernel answers while it takes the submission, so this doesn't sleep.
            if self.ring.enter(1).is_err_and(|errno| errno != libc::EINTR) {
                return;
            }
            while let Some(completion) = self.ring.take() {
                outstanding -= 1;
                // Linux 5.4 can't remove timers: this one runs on and may end a later wait as interrupted.
                if completion.user_data == REMOVAL && completion.result == -libc::EINVAL {
                    return;
                }
            }
        }
    }
}

impl Waiter for RingTimer {
    fn wait(&mut self, target: Target) -> WaitEnd {
        // The kernel copies it when it takes the submission.
        let span = args::timespec(IO_URING, target.remaining);
        self.number += 1;
        let put = self.ring.push(Submission {
            opcode: OP_TIMEOUT,
            fd: -1,
            address: std::ptr::from_ref(&span).expose_provenance() as u64,
            length: 1,
            user_data: self.number,
            ..Submission::default()
        });
        if !put {
            return WaitEnd::Failed(not_available("io_uring_enter", libc::EBUSY));
        }
        let entered = self.ring.enter(1);
        match self.result() {
            Some(result) if result == -libc::ETIME => WaitEnd::TimedOut,
            Some(result) => WaitEnd::Failed(not_available("IORING_OP_TIMEOUT", -result)),
            // A signal that comes after the submission ends the call as a success.
            None => {
                self.remove();
                ended(IO_URING, entered.err().unwrap_or(libc::EINTR), 0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::conformance::{NeverEarly, Signals, check, interrupt};
    use super::*;

    #[test]
    fn io_uring_conforms() {
        check(IO_URING, NeverEarly::Holds, Signals::Interrupt);
    }

    #[test]
    fn an_interrupted_wait_leaves_no_timer_in_the_ring() {
        let mut waiter = match RingTimer::open() {
            Ok(waiter) => waiter,
            Err(why) => return oversleep_testing::skip(why),
        };
        interrupt(&mut waiter);
        assert!(waiter.ring.take().is_none());
        assert!(waiter.ring.push(waiter.removal()));
        waiter.ring.enter(1).unwrap();
        assert_eq!(waiter.ring.take().map(|completion| completion.result), Some(-libc::ENOENT));
    }

    #[test]
    fn a_refusal_says_what_to_change() {
        let Unavailable::NotPermitted { allow, .. } = not_available("io_uring_setup", libc::EPERM) else {
            panic!("a refusal is a matter of permission");
        };
        assert!(allow.contains("kernel.io_uring_disabled"));
    }
}
