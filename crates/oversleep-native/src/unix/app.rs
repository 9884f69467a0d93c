//! Running a user's program: it gets the signals, this process gets its exit code.
//!
//! A terminal sends Ctrl-C to both, and the program decides what to make of it. What somebody sends to this process
//! alone (`kill`) is passed on. As in `system(3)`, this process itself ends when the program does.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::atomic::{AtomicI32, Ordering};

/// The signals that end a program unless it heeds them.
const SIGNALS: [libc::c_int; 4] = [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP];

/// Process number of the program that runs; 0 where none does.
static PROGRAM: AtomicI32 = AtomicI32::new(0);
/// A signal that came before the program was there to get it.
static WAITING: AtomicI32 = AtomicI32::new(0);

/// Runs a program to its end and returns its exit code; one that a signal ended has 128 more than the signal's number,
/// as shells count it. The program begins with what the calling thread has (its timer slack).
///
/// # Errors
/// It can't be started.
pub fn run(program: &OsStr, arguments: &[OsString]) -> io::Result<i32> {
    WAITING.store(0, Ordering::SeqCst);
    let handlers = SIGNALS.map(PassedOn::from_now_on);
    let mut child = Command::new(program).args(arguments).spawn()?;
    let number = libc::pid_t::try_from(child.id()).unwrap_or(0);
    PROGRAM.store(number, Ordering::SeqCst);
    let waiting = WAITING.swap(0, Ordering::SeqCst);
    if waiting != 0 && number > 0 {
        // SAFETY: takes two numbers; the child is not waited for yet, so the number is still its own.
        unsafe { libc::kill(number, waiting) };
    }
    let status = child.wait();
    PROGRAM.store(0, Ordering::SeqCst);
    drop(handlers);
    let status = status?;
    Ok(status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1))
}

/// Sends it on to the program, unless the system sent it: then the program has it already.
extern "C" fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    let program = PROGRAM.load(Ordering::SeqCst);
    // SAFETY: the system hands a valid record to a handler installed with SA_SIGINFO; `kill` may be called in one.
    unsafe {
        match is_from_a_process(&*info) {
            true if program > 0 => _ = libc::kill(program, signal),
            true => WAITING.store(signal, Ordering::SeqCst),
            false => {}
        }
    }
}

/// Whether `kill` sent it, not a terminal. A sender in another namespace has no number here, but a code all the same.
#[cfg(not(target_vendor = "apple"))]
fn is_from_a_process(info: &libc::siginfo_t) -> bool {
    info.si_code == libc::SI_USER
}

/// Whether `kill` sent it, not a terminal: only then there is a sender.
#[cfg(target_vendor = "apple")]
fn is_from_a_process(info: &libc::siginfo_t) -> bool {
    info.si_pid != 0
}

/// One signal that is passed on until the guard is dropped.
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
        // SAFETY: both point to valid structs, and the handler calls nothing that a handler may not.
        let is_changed = unsafe { libc::sigaction(signal, &passing, &mut was) } == 0;
        let mut guard = PassedOn { signal, was: is_changed.then_some(was) };
        // What was ignored (nohup) stays ignored, by the program too.
        if is_changed && was.sa_sigaction == libc::SIG_IGN {
            guard.put_back();
        }
        guard
    }

    fn put_back(&mut self) {
        if let Some(was) = self.was.take() {
            // SAFETY: the action was this signal's own before.
            unsafe { libc::sigaction(self.signal, &was, std::ptr::null_mut()) };
        }
    }
}

impl Drop for PassedOn {
    fn drop(&mut self) {
        self.put_back();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> io::Result<i32> {
        run(OsStr::new("sh"), &["-c".into(), script.into()])
    }

    /// One test: the handlers are the process's.
    #[test]
    fn the_exit_code_is_the_programs_and_signals_reach_it() {
        let Ok(fine) = shell("exit 0") else { return };
        assert_eq!(fine, 0);
        assert_eq!(shell("exit 7").expect("a shell"), 7);
        assert_eq!(shell("kill -KILL $$").expect("a shell"), 128 + 9);
        // The program asks for a signal to this process, which sends it on.
        let asks = "trap 'exit 42' TERM; kill -TERM $PPID; sleep 5 >/dev/null 2>&1 & wait; exit 1";
        assert_eq!(shell(asks).expect("a shell"), 42);
        // A user-mode emulator starts a process before it finds out that there is no program, which ends with 127.
        let none = run(OsStr::new("no-such-program-anywhere"), &[]);
        assert!(none.is_err() || matches!(none, Ok(127)), "{none:?}");
    }
}
