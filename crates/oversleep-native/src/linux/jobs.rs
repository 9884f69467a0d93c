//! Waiting for a program that may stop meanwhile: a shell that waits for this process sees its job stop and go on.

use std::ffi::{CStr, CString};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use crate::passing::{JOB_STOPS, Passing};

/// How often to look whether a stopped program was continued.
const WATCH_MS: i32 = 10;

/// Waits until the program, a child, ends. Whenever it stops, this process stops too.
///
/// # Errors
/// The system's.
pub fn wait(program: i32) -> io::Result<ExitStatus> {
    loop {
        let mut status = 0;
        // SAFETY: the status is writable.
        if unsafe { libc::waitpid(program, &raw mut status, libc::WUNTRACED) } == -1 {
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        } else if libc::WIFSTOPPED(status) {
            stop_with(program, libc::WSTOPSIG(status));
        } else {
            return Ok(ExitStatus::from_raw(status));
        }
    }
}

/// Stops this process by the signal that stopped the program, so that a shell sees its job stopped. If only this process is
/// continued later, it continues the program; if only the program is, a process that watches it continues this one.
fn stop_with(program: i32, signal: i32) {
    let watching = continues_with(program);
    // SAFETY: takes numbers and writable memory of the right type. The signal has its default action meanwhile.
    unsafe {
        if JOB_STOPS.contains(&signal) {
            let was = Passing::set(signal, &std::mem::zeroed());
            Passing::wait_for_handlers();
            libc::raise(signal);
            Passing::set(signal, &was);
        } else {
            libc::raise(libc::SIGSTOP);
        }
        if watching > 0 {
            libc::kill(watching, libc::SIGKILL);
            while libc::waitpid(watching, std::ptr::null_mut(), 0) == -1
                && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
            {}
        }
        // This stop was already reported, so only what follows it can be waited for.
        let mut about: libc::siginfo_t = std::mem::zeroed();
        let flags = libc::WCONTINUED | libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        let answer = libc::waitid(libc::P_PID, program as libc::id_t, &raw mut about, flags);
        if answer == 0 && about.si_pid() == 0 {
            libc::kill(program, libc::SIGCONT);
        }
    }
}

/// Starts a process that continues this one once the program isn't stopped any more. A process that is stopped can't do
/// anything, and the kernel tells no other one but the parent of what is continued.
fn continues_with(program: i32) -> i32 {
    let stat = CString::new(format!("/proc/{program}/stat")).unwrap_or_default();
    // SAFETY: the copy makes only calls that are allowed after a fork, and never returns.
    unsafe {
        let front = libc::getpid();
        match libc::fork() {
            0 => {
                // Apart from the job that stops.
                libc::setsid();
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                libc::syscall(libc::SYS_close_range, 0, i32::MAX, 0);
                while libc::getppid() == front && is_stopped(&stat) {
                    libc::poll(std::ptr::null_mut(), 0, WATCH_MS);
                }
                if libc::getppid() == front {
                    libc::kill(front, libc::SIGCONT);
                }
                loop {
                    // This process continues at its own time, and ends this one then; it may not have stopped yet.
                    libc::poll(std::ptr::null_mut(), 0, WATCH_MS);
                    libc::kill(libc::getppid(), libc::SIGCONT);
                }
            }
            watching => watching,
        }
    }
}

/// Whether a process is stopped, or traced and stopped. Doesn't allocate.
fn is_stopped(stat: &CStr) -> bool {
    let mut text = [0_u8; 256];
    // SAFETY: a name that ends, and room for what is read.
    let read = unsafe {
        let file = libc::open(stat.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        let read = libc::read(file, text.as_mut_ptr().cast(), text.len());
        libc::close(file);
        read
    };
    let text = text.get(..usize::try_from(read).unwrap_or(0)).unwrap_or_default();
    // The name is in parentheses and may have some itself.
    let state = text.iter().rposition(|&byte| byte == b')').and_then(|at| text.get(at + 2));
    matches!(state, Some(b'T' | b't'))
}
