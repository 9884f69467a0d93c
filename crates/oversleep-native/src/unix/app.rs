//! Running a user's program: it gets the signals, and this process gets its exit code.
//!
//! A terminal sends Ctrl-C to both, and the program decides what to do. A signal sent only to this process (`kill`) is
//! passed on. As in `system(3)`, this process ends when the program does.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::atomic::{AtomicI32, Ordering};

/// The signals that end a program by default.
const SIGNALS: [libc::c_int; 4] = [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP];

/// The process id of the running program; 0 if there is none.
static PROGRAM: AtomicI32 = AtomicI32::new(0);
/// A signal that arrived before the program was started.
static WAITING: AtomicI32 = AtomicI32::new(0);

/// Runs a program to its end and returns its exit code. As in shells, a program ended by a signal has 128 plus the
/// signal's number. The program inherits the calling thread's settings, such as its timer slack.
///
/// # Errors
/// If it can't be started.
pub fn run(program: &OsStr, arguments: &[OsString]) -> io::Result<i32> {
    WAITING.store(0, Ordering::SeqCst);
    let handlers = SIGNALS.map(PassedOn::from_now_on);
    let mut child = Command::new(program).args(arguments).spawn()?;
    let number = libc::pid_t::try_from(child.id()).unwrap_or(0);
    PROGRAM.store(number, Ordering::SeqCst);
    let waiting = WAITING.swap(0, Ordering::SeqCst);
    if waiting != 0 && number > 0 {
        // SAFETY: takes two numbers; the child hasn't been reaped, so the id is still its own.
        unsafe { libc::kill(number, waiting) };
    }
    let status = child.wait();
    PROGRAM.store(0, Ordering::SeqCst);
    drop(handlers);
    let status = status?;
    Ok(status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1))
}

/// Passes the signal on to the program, unless the terminal sent it, in which case the program already has it.
extern "C" fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    let program = PROGRAM.load(Ordering::SeqCst);
    // SAFETY: the system passes a valid record to a handler installed with SA_SIGINFO, and `kill` is allowed in one.
    unsafe {
        match is_from_a_process(&*info) {
            true if program > 0 => _ = libc::kill(program, signal),
            true => WAITING.store(signal, Ordering::SeqCst),
            false => {}
        }
    }
}

/// Whether `kill` sent it, not a terminal. A sender in another namespace has no id here, but the code is set.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn is_from_a_process(info: &libc::siginfo_t) -> bool {
    info.si_code == libc::SI_USER
}

/// Whether `kill` sent it, not a terminal, which has no sender id.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn is_from_a_process(info: &libc::siginfo_t) -> bool {
    // SAFETY: the system fills in the id for the signals that reach the handler: `kill` and a terminal send them.
    unsafe { info.si_pid() != 0 }
}

/// Passes on one signal until the guard is dropped.
struct PassedOn {
    signal: libc::c_int,
    was: Option<libc::sigaction>,
}

impl PassedOn {
    fn from_now_on(signal: libc::c_int) -> PassedOn {
        // SAFETY: all-zero is a valid sigaction: no flags, an empty mask, the default action.
        let (mut passing, mut was): (libc::sigaction, libc::sigaction) = unsafe { std::mem::zeroed() };
        passing.sa_sigaction = pass_on as *const () as libc::sighandler_t;
        passing.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        // SAFETY: both point to valid structs, and the handler only calls what a handler may.
        let is_changed = unsafe { libc::sigaction(signal, &passing, &mut was) } == 0;
        let mut guard = PassedOn { signal, was: is_changed.then_some(was) };
        // A signal that was ignored (nohup) stays ignored, in the program too.
        if is_changed && was.sa_sigaction == libc::SIG_IGN {
            guard.restore();
        }
        guard
    }

    fn restore(&mut self) {
        if let Some(was) = self.was.take() {
            // SAFETY: the action was this signal's former one.
            unsafe { libc::sigaction(self.signal, &was, std::ptr::null_mut()) };
        }
    }
}

impl Drop for PassedOn {
    fn drop(&mut self) {
        self.restore();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> io::Result<i32> {
        run(OsStr::new("sh"), &["-c".into(), script.into()])
    }

    /// A single test, because the handlers belong to the process.
    #[test]
    fn the_exit_code_comes_from_the_program_and_signals_reach_it() {
        let fine = match shell("exit 0") {
            Ok(fine) => fine,
            Err(why) => return oversleep_testing::skip(why),
        };
        assert_eq!(fine, 0);
        assert_eq!(shell("exit 7").expect("a shell"), 7);
        assert_eq!(shell("kill -KILL $$").expect("a shell"), 128 + 9);
        // The program sends a signal to this process, which passes it on.
        let script = "trap 'exit 42' TERM; kill -TERM $PPID; while :; do sleep 1 >/dev/null 2>&1 & wait; done";
        assert_eq!(shell(script).expect("a shell"), 42);
        // A user-mode emulator starts a process before it notices that there is no program, and exits with 127.
        let none = run(OsStr::new("no-such-program-anywhere"), &[]);
        assert!(none.is_err() || matches!(none, Ok(127)), "{none:?}");
    }
}
