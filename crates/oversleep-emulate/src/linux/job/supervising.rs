//! What each supervisor does, whether it emulates or observes: it detaches from the terminal, traces the program's process
//! and ends if a tracer fails.

use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use super::socket;
use crate::linux::process::ptrace::{self, Tid};

/// Detaches from the program's terminal, streams and descriptors.
pub fn detach(keep: &mut [RawFd]) {
    // SAFETY: calls that take numbers or constants. A descriptor that stayed open here would keep a pipe open that the
    // program's reader waits for.
    unsafe {
        libc::setsid();
        // If permitted: a wait that stops waits for the supervisor first, so it takes precedence over computation. A
        // higher priority would let a program that waits often starve the rest of the machine.
        libc::setpriority(libc::PRIO_PROCESS, 0, -5);
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT] {
            libc::signal(signal, libc::SIG_IGN);
        }
        let nothing = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        for stream in 0..3 {
            libc::dup2(nothing, stream);
        }
        keep.sort_unstable();
        let mut from = 3;
        for &kept in keep.iter().chain(&[i32::MAX]) {
            if from < kept {
                libc::syscall(libc::SYS_close_range, from, kept - 1, 0);
            }
            from = kept.saturating_add(1);
        }
    }
}

/// Runs a tracer. If it panics, the whole supervisor exits, and the kernel kills the program with it: without a tracer, the
/// program would stop forever at its next wait.
pub fn guard(tracing: impl FnOnce()) {
    if std::panic::catch_unwind(std::panic::AssertUnwindSafe(tracing)).is_err() {
        // SAFETY: ends the process.
        unsafe { libc::_exit(101) };
    }
}

/// Begins to trace the process that will execute the program, and tells it the outcome. `None` if the system refuses.
pub fn seize_program(to_program: OwnedFd) -> Option<Tid> {
    let program = socket::receive(to_program.as_raw_fd())?;
    let refused = ptrace::seize(program).err().map_or(0, |error| error.raw_os_error().unwrap_or(libc::EPERM));
    let _ = socket::send(to_program.as_raw_fd(), refused);
    (refused == 0).then_some(program)
}
