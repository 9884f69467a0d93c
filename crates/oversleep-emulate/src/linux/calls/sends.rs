//! Calls that send to a socket with a timeout, and what ends them ([`crate::linux::emulated::send`]).

use std::collections::HashMap;

use oversleep_record::Nanos;

use crate::linux::process::ptrace::{self, INTERRUPTED, RESTARTS_ALWAYS, Tid};

/// How often a call is made again: each time lasts for the kernel's timeout, unless something else ends it at once.
const REPEATS_MAX: u32 = 64;

/// A call that sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sends {
    /// The kernel's timeout.
    pub kept: Nanos,
    /// The error of a timeout. A connection goes on meanwhile, and can't be made again.
    pub error: i32,
}

/// A call that sends, and its end.
#[derive(Debug)]
struct Sending {
    sends: Sends,
    /// When the thread made the call, last.
    made: Nanos,
    /// On the machine.
    end: Nanos,
    is: State,
    repeats: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The thread is in its call.
    InCall,
    /// It makes it again.
    Repeats,
    /// Its time is over.
    Interrupted,
    /// It is stopped after its call, until the end.
    Held,
}

/// What a call returned.
#[derive(Clone, Copy, Debug)]
pub struct Returned {
    /// As the kernel returns it: a negative error.
    pub result: i64,
    /// It is known that everything was sent.
    pub is_whole: bool,
}

/// What becomes of a thread whose call has ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    GoesOn,
    Fails(i32),
    Repeats,
    Holds,
}

impl Sending {
    fn next(&self, Returned { result, is_whole }: Returned, now: Nanos) -> Next {
        let is_interrupted = [INTERRUPTED, RESTARTS_ALWAYS].contains(&result);
        let is_its_error = result == -i64::from(self.sends.error);
        match self.is {
            State::Interrupted if is_interrupted => Next::Fails(self.sends.error),
            State::InCall if now >= self.end => Next::GoesOn,
            State::InCall if is_its_error && self.sends.error == libc::EAGAIN && self.repeats < REPEATS_MAX => {
                Next::Repeats
            }
            State::InCall if is_its_error => Next::Holds,
            // A part was sent, and there was no room for the rest until the kernel's timeout.
            State::InCall if result > 0 && !is_whole && now - self.made >= self.sends.kept => Next::Holds,
            _ => Next::GoesOn,
        }
    }
}

/// The calls of a tracer's threads that send to sockets with timeouts.
#[derive(Debug, Default)]
pub struct Sendings(HashMap<Tid, Sending>);

impl Sendings {
    /// Whether that thread's next stop is the end of such a call.
    pub fn has(&self, tid: Tid) -> bool {
        self.0.get(&tid).is_some_and(|sending| sending.is == State::InCall)
    }

    /// For how long, and `most` at most, no call's time is over; `None` if there is no call.
    pub fn none_ends(&self, now: Nanos, most: Nanos) -> Option<Nanos> {
        let of = |sending: &Sending| match sending.is {
            State::Interrupted => most,
            _ => (sending.end - now).clamp(Nanos(1_000), most),
        };
        self.0.values().map(of).min()
    }

    /// A thread makes such a call, which ends then.
    pub fn begin(&mut self, tid: Tid, sends: Sends, made: Nanos, end: Nanos) {
        self.0.insert(tid, Sending { sends, made, end, is: State::InCall, repeats: 0 });
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A thread is gone, or what it does is no such call.
    pub fn forget(&mut self, tid: Tid) {
        self.0.remove(&tid);
    }

    /// Begins a call again that a thread made before, whose end is known; `false` if it didn't.
    pub fn begin_again(&mut self, tid: Tid, now: Nanos) -> bool {
        let repeated = self.0.get_mut(&tid).filter(|sending| sending.is == State::Repeats);
        let Some(sending) = repeated else { return false };
        (sending.is, sending.made, sending.repeats) = (State::InCall, now, sending.repeats + 1);
        true
    }

    /// Ends those calls whose time is over.
    pub fn end(&mut self, now: Nanos) {
        self.0.retain(|&tid, sending| match sending.is {
            State::Held if sending.end <= now => {
                let _ = ptrace::go_on(tid, 0);
                false
            }
            State::InCall if sending.end <= now => {
                sending.is = State::Interrupted;
                ptrace::interrupt(tid).is_ok()
            }
            _ => true,
        });
    }

    /// A thread's call ended. What becomes of the thread; `None` if the call isn't one of these.
    pub fn next(&mut self, tid: Tid, returned: Returned, now: Nanos) -> Option<Next> {
        let sending = self.0.get_mut(&tid)?;
        let next = sending.next(returned, now);
        match next {
            Next::Repeats => sending.is = State::Repeats,
            Next::Holds => sending.is = State::Held,
            Next::GoesOn | Next::Fails(_) => self.forget(tid),
        }
        Some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_ends_with_the_machines_tick_or_by_what_comes_first() {
        let ms = |ms: i64| Nanos(ms * 1_000_000);
        const WHOLE: i32 = 9;
        let next = |(is, repeats), error, result: i32, at| {
            let sends = Sends { kept: ms(4), error };
            let sending = Sending { sends, made: ms(0), end: ms(15), is, repeats };
            sending.next(Returned { result: i64::from(result), is_whole: result == WHOLE }, ms(at))
        };
        use State::{InCall, Interrupted};
        for (is, error, result, at, wanted) in [
            (InCall, libc::EAGAIN, 5, 1, Next::GoesOn),
            (InCall, libc::EAGAIN, -libc::EINTR, 1, Next::GoesOn),
            (InCall, libc::EAGAIN, -libc::EINTR, 5, Next::GoesOn),
            (InCall, libc::EAGAIN, -libc::EPIPE, 5, Next::GoesOn),
            (InCall, libc::EAGAIN, -libc::EAGAIN, 5, Next::Repeats),
            // The kernel's ticks come late on a busy virtual machine, and its timeouts early.
            (InCall, libc::EAGAIN, -libc::EAGAIN, 3, Next::Repeats),
            (InCall, libc::EAGAIN, -libc::EAGAIN, 15, Next::GoesOn),
            (InCall, libc::EAGAIN, 5, 5, Next::Holds),
            (InCall, libc::EAGAIN, WHOLE, 5, Next::GoesOn),
            (InCall, libc::EINPROGRESS, -libc::EINPROGRESS, 5, Next::Holds),
            (InCall, libc::EINPROGRESS, 0, 5, Next::GoesOn),
            (Interrupted, libc::EAGAIN, -libc::EINTR, 15, Next::Fails(libc::EAGAIN)),
            (Interrupted, libc::EAGAIN, -512, 15, Next::Fails(libc::EAGAIN)),
            (Interrupted, libc::EINPROGRESS, -libc::EINTR, 15, Next::Fails(libc::EINPROGRESS)),
            (Interrupted, libc::EAGAIN, 5, 15, Next::GoesOn),
        ] {
            assert_eq!(next((is, 0), error, result, at), wanted, "{is:?} {error} {result} {at}");
        }
        assert_eq!(next((InCall, REPEATS_MAX), libc::EAGAIN, -libc::EAGAIN, 5), Next::Holds);
    }
}
