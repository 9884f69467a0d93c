//! The threads of a measurement and their work, identical on all real machines.

use std::hint::black_box;
use std::panic::resume_unwind;
use std::thread::{Builder, JoinHandle};

use oversleep_record::{Nanos, Unavailable};
use oversleep_system::ThreadHandle;

struct Handle {
    thread: JoinHandle<()>,
    end: Option<end::Of>,
}

impl ThreadHandle for Handle {
    fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }

    fn ended_within(&self, limit: Nanos) -> bool {
        // If the system offers no timed wait for the end, only joining remains.
        self.end.as_ref().is_none_or(|end| end.comes_within(limit))
    }

    fn join(self: Box<Self>) {
        if let Err(panic) = self.thread.join() {
            resume_unwind(panic);
        }
    }
}

/// Starts a thread. Linux shows the first 15 bytes of its name.
pub fn spawn(name: &str, body: Box<dyn FnOnce() + Send>) -> Result<Box<dyn ThreadHandle>, Unavailable> {
    // The builder panics on a zero byte in a name.
    let builder = Builder::new().name(name.replace('\0', ""));
    match builder.spawn(body) {
        Ok(thread) => Ok(Box::new(Handle { thread, end: None })),
        Err(error) => Err(Unavailable::failed("starting a thread", error)),
    }
}

/// Starts a thread whose end can be waited for.
pub fn spawn_watched(name: &str, body: Box<dyn FnOnce() + Send>) -> Result<Box<dyn ThreadHandle>, Unavailable> {
    let (signal, end) = end::pair();
    let body = move || {
        // Dropped when the thread ends, even by unwinding.
        let _signal = signal;
        body();
    };
    match Builder::new().name(name.replace('\0', "")).spawn(body) {
        Ok(thread) => Ok(Box::new(Handle { thread, end })),
        Err(error) => Err(Unavailable::failed("starting a thread", error)),
    }
}

/// The end of a thread as the end of a stream whose other side the thread holds, so that it can be waited for.
#[cfg(unix)]
mod end {
    use std::io::{ErrorKind, Read};
    use std::os::unix::net::UnixStream;
    use std::time::{Duration, Instant};

    use oversleep_record::Nanos;

    use crate::readable::is_readable_within;

    pub(super) struct Of(UnixStream);

    pub(super) fn pair() -> (Option<UnixStream>, Option<Of>) {
        UnixStream::pair().map_or((None, None), |(signal, end)| (Some(signal), Some(Of(end))))
    }

    impl Of {
        pub(super) fn comes_within(&self, limit: Nanos) -> bool {
            let limit = limit.to_std().unwrap_or_default();
            let begun = Instant::now();
            let mut left = limit;
            loop {
                match is_readable_within(&self.0, left) {
                    // Repeated signals may interrupt this wait again and again.
                    Err(error) if error.kind() == ErrorKind::Interrupted => {
                        left = limit.saturating_sub(begun.elapsed());
                        if left.is_zero() {
                            return false;
                        }
                    }
                    // A seccomp filter may refuse this call, or the next one.
                    Err(_) => return self.ended_by_timeout(limit),
                    Ok(has_ended) => return has_ended,
                }
            }
        }

        fn ended_by_timeout(&self, limit: Duration) -> bool {
            let limit = limit.max(Duration::from_micros(1));
            let is_set = self.0.set_read_timeout(Some(limit)).is_ok();
            if !is_set || !matches!(self.0.read_timeout(), Ok(Some(_))) {
                // No other timed wait is left to try: `true` makes the caller join, which may block forever.
                return true;
            }
            let passed = [ErrorKind::WouldBlock, ErrorKind::TimedOut, ErrorKind::Interrupted];
            (&self.0).read_exact(&mut [0]).map_or_else(|error| !passed.contains(&error.kind()), |()| true)
        }
    }
}

/// The end of a thread by a channel, which is safe here: on these systems, nothing moves the clock under a running process.
#[cfg(not(unix))]
mod end {
    use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};

    use oversleep_record::Nanos;

    pub(super) struct Of(Receiver<()>);

    pub(super) fn pair() -> (Option<Sender<()>>, Option<Of>) {
        let (signal, end) = channel();
        (Some(signal), Some(Of(end)))
    }

    impl Of {
        pub(super) fn comes_within(&self, limit: Nanos) -> bool {
            let ended = self.0.recv_timeout(limit.to_std().unwrap_or_default());
            ended != Err(RecvTimeoutError::Timeout)
        }
    }
}

/// Mixes bits `units` times. Each step depends on the last, so neither the compiler nor the processor can shorten it.
pub fn work(units: u64) {
    let mut state = black_box(0x9e37_79b9_7f4a_7c15_u64);
    for _ in 0..units {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    black_box(state);
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn a_thread_runs_and_is_joined() {
        let ran = Arc::new(AtomicBool::new(false));
        let inside = Arc::clone(&ran);
        spawn("name\0with zero", Box::new(move || inside.store(true, Ordering::Relaxed))).expect("a thread").join();
        assert!(ran.load(Ordering::Relaxed));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_thread_that_does_not_end_is_noticed_and_its_wait_can_be_ended() {
        let body = || {
            let (here, hour) = (crate::here(), Nanos::from_secs(3_600));
            let mut waiter = here.wait("clock-nanosleep").expect("described").open(&here).expect("it works");
            waiter.wait(oversleep_system::Target { remaining: hour, deadline: here.now() + hour });
        };
        let thread = spawn_watched("waits", Box::new(body)).expect("a thread");
        assert!(!thread.ended_within(Nanos::from_millis(1)));
        while !thread.ended_within(Nanos::from_millis(1)) {
            crate::end_waits();
        }
        thread.join();
    }

    #[test]
    fn a_panic_reaches_the_joining_thread() {
        let handle = spawn("panics", Box::new(|| resume_unwind(Box::new("passed on")))).expect("a thread");
        let panic = catch_unwind(AssertUnwindSafe(|| handle.join())).expect_err("panicked");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"passed on"));
    }
}
