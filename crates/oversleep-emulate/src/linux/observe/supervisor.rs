//! The process that traces an observed program and sends its events.

use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread;

use super::stream::Stream;
use super::tracer::Tracer;
use crate::linux::job::supervising::{detach, guard, seize_program};
use crate::linux::process::ptrace;

/// Sent by the front process when the program is to be followed no longer; the stream of events then ends.
pub const FINISH: i32 = 1;
/// The longest time that an event waits.
const SENDING_MS: i32 = 50;

/// Traces the program to its end. This process is a copy of the one that reads its events, and never returns.
pub fn run(ends: [OwnedFd; 3], follows_children: bool, has_switches: bool) -> ! {
    let outcome =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| supervise(ends, follows_children, has_switches)));
    // SAFETY: ends the process at once: what its parent registered is not its own.
    unsafe { libc::_exit(i32::from(outcome.is_err())) }
}

fn supervise([to_front, stream, to_program]: [OwnedFd; 3], follows_children: bool, has_switches: bool) {
    // SAFETY: takes a constant.
    let slack = unsafe { libc::prctl(libc::PR_GET_TIMERSLACK) };
    detach(&mut [to_front.as_raw_fd(), stream.as_raw_fd(), to_program.as_raw_fd()]);
    prepare();
    let events = Arc::new(Stream::new());
    let tracing = {
        let events = Arc::clone(&events);
        thread::Builder::new().spawn(move || {
            guard(|| {
                if let Some(program) = seize_program(to_program) {
                    Tracer::new(program, i64::from(slack), events, follows_children, has_switches).run();
                }
            });
        })
    };
    let mut stream = UnixStream::from(stream);
    while !is_over(to_front.as_raw_fd()) {
        if events.send(&mut stream).is_err() {
            break;
        }
    }
    events.close();
    let _ = events.send(&mut stream);
    drop(stream);
    if let Ok(tracing) = tracing {
        let _ = tracing.join();
    }
}

/// Whether the front process has finished or is gone; waits for that for a moment.
fn is_over(front: RawFd) -> bool {
    let mut front_end = libc::pollfd { fd: front, events: libc::POLLIN, revents: 0 };
    // SAFETY: one writable record.
    unsafe { libc::poll(&raw mut front_end, 1, SENDING_MS) > 0 }
}

/// Waits of the supervisor end on time, and stops of the program don't interrupt it.
fn prepare() {
    ptrace::keep_stops();
    // SAFETY: calls that take numbers, or records that outlive them.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1, 0, 0, 0);
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
        // Each thread of the program takes three descriptors.
        let mut files = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut files) == 0 {
            files.rlim_cur = files.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const files);
        }
    }
}
