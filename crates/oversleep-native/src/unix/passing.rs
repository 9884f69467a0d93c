//! Signals that processes send to this one while it runs a program: they are for the program.
//!
//! A terminal sends its signals to the program as well, so those aren't passed on. The program starts with the actions and
//! the mask that this process was started with: what a shell has its background jobs ignore is ignored, unless the program
//! sets a handler of its own, and then it gets what is sent to this process, too.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering};

#[cfg(target_os = "linux")]
use crate::queued::send;

/// Signals that processes and timers send.
const ALWAYS: [libc::c_int; 11] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGALRM,
    libc::SIGTERM,
    libc::SIGWINCH,
    libc::SIGVTALRM,
    libc::SIGPROF,
    libc::SIGIO,
];
/// Signals that stop a job. The program decides what they do.
pub const JOB_STOPS: [libc::c_int; 3] = [libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];
/// Signals that a terminal sends to a job.
const OF_TERMINALS: [libc::c_int; 7] =
    [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGWINCH, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];

/// The process id of the running program; 0 if there is none.
static PROGRAM: AtomicI32 = AtomicI32::new(0);
/// Signals that arrived before the program was started, as bits.
static EARLY: AtomicU64 = AtomicU64::new(0);
/// Whether any signal was passed on.
static PASSED: AtomicBool = AtomicBool::new(false);
/// The handlers that the terminal's signals had before, which see these still.
static BEFORE: [AtomicUsize; 65] = [const { AtomicUsize::new(0) }; 65];

/// Passes signals on until it is dropped. There is one at a time.
pub struct Passing {
    former: Former,
    is_blocked: bool,
}

/// The actions and the mask that this process was started with.
#[derive(Clone)]
struct Former {
    actions: Vec<(libc::c_int, libc::sigaction)>,
    mask: libc::sigset_t,
}

impl std::fmt::Debug for Passing {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "signals go to {}", PROGRAM.load(Ordering::SeqCst))
    }
}

impl Passing {
    /// Takes the signals for a program that this thread is about to start, with those that stop a job if `stops`. They wait
    /// until it is known which process that is.
    pub fn begin(stops: bool) -> Passing {
        EARLY.store(0, Ordering::SeqCst);
        PASSED.store(false, Ordering::SeqCst);
        let signals: Vec<libc::c_int> =
            ALWAYS.into_iter().chain(real_time()).chain(JOB_STOPS.into_iter().filter(|_| stops)).collect();
        // SAFETY: all-zero is a valid set, and the calls fill it.
        let (mut taken, mut mask): (libc::sigset_t, libc::sigset_t) = unsafe { std::mem::zeroed() };
        // SAFETY: the sets are valid.
        unsafe {
            libc::sigemptyset(&raw mut taken);
            signals.iter().for_each(|&signal| _ = libc::sigaddset(&raw mut taken, signal));
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const taken, &raw mut mask);
        }
        let actions = signals.into_iter().filter_map(|signal| {
            // SAFETY: all-zero is a valid sigaction: no flags, an empty mask, the default action.
            let (mut passing, mut was): (libc::sigaction, libc::sigaction) = unsafe { std::mem::zeroed() };
            passing.sa_sigaction = pass_on as *const () as libc::sighandler_t;
            passing.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
            // SAFETY: both point to valid structs, and the handler only calls what a handler may.
            let is_changed = unsafe { libc::sigaction(signal, &raw const passing, &raw mut was) } == 0;
            BEFORE[signal as usize].store(handler_of(&was), Ordering::SeqCst);
            is_changed.then_some((signal, was))
        });
        Passing { former: Former { actions: actions.collect(), mask }, is_blocked: true }
    }

    /// In the new process: it has the signals as this process was started with. Allocates nothing.
    pub fn in_new_process(&self) {
        self.former.restore();
    }

    /// The program is that process, which nobody has waited for: it gets what has come, and what comes. From now on this
    /// thread takes these signals even if this process was started with them blocked.
    pub fn to(&mut self, program: i32) {
        PROGRAM.store(program, Ordering::SeqCst);
        let early = EARLY.swap(0, Ordering::SeqCst);
        // SAFETY: takes numbers, and a set that is valid.
        unsafe {
            for signal in (1..64).filter(|signal| program > 0 && early >> signal & 1 == 1) {
                libc::kill(program, signal);
            }
            let mut mask = self.former.mask;
            self.former.actions.iter().for_each(|(signal, _)| _ = libc::sigdelset(&raw mut mask, *signal));
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const mask, std::ptr::null_mut());
        }
        self.is_blocked = false;
    }

    /// Starts a program by `spawn`, which gets the command.
    ///
    /// # Errors
    /// It can't be started.
    pub fn spawn(
        &mut self,
        command: &mut Command,
        spawn: impl FnOnce(&mut Command) -> io::Result<Child>,
    ) -> io::Result<Child> {
        let former = self.former.clone();
        let reset = move || {
            former.restore();
            Ok(())
        };
        // SAFETY: it makes only calls that are allowed between fork and exec, and allocates nothing.
        unsafe { command.pre_exec(reset) };
        let child = spawn(command)?;
        self.to(i32::try_from(child.id()).unwrap_or(0));
        Ok(child)
    }

    /// The program was waited for: whether any signal was passed on to it.
    pub fn end(self) -> bool {
        PASSED.load(Ordering::SeqCst)
    }

    /// Sets the action of a signal for a moment; returns the one that it had.
    pub fn set(signal: libc::c_int, action: &libc::sigaction) -> libc::sigaction {
        // SAFETY: all-zero is a valid sigaction; both point to valid ones.
        unsafe {
            let mut was: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, action, &raw mut was);
            was
        }
    }
}

impl Drop for Passing {
    fn drop(&mut self) {
        PROGRAM.store(0, Ordering::SeqCst);
        for (signal, was) in &self.former.actions {
            // What came before the program ended, and no thread has taken yet, was for the program: it must not end this
            // process. To ignore a signal drops what is pending.
            if was.sa_sigaction == libc::SIG_DFL {
                // SAFETY: all-zero is a valid sigaction.
                let mut ignoring: libc::sigaction = unsafe { std::mem::zeroed() };
                ignoring.sa_sigaction = libc::SIG_IGN;
                Passing::set(*signal, &ignoring);
            }
            Passing::set(*signal, was);
        }
        if self.is_blocked {
            // SAFETY: the set is valid.
            unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.former.mask, std::ptr::null_mut()) };
        }
    }
}

impl Former {
    /// In a new process, which has no handlers: what was ignored is ignored. Allocates nothing.
    fn restore(&self) {
        for (signal, was) in &self.actions {
            // SAFETY: all-zero is a valid sigaction, and the action is a predefined one.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                let is_ignored = was.sa_sigaction == libc::SIG_IGN;
                action.sa_sigaction = if is_ignored { libc::SIG_IGN } else { libc::SIG_DFL };
                libc::sigaction(*signal, &raw const action, std::ptr::null_mut());
            }
        }
        // SAFETY: the set is valid.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.mask, std::ptr::null_mut()) };
    }
}

/// A handler that takes a number; 0 for every other action.
fn handler_of(action: &libc::sigaction) -> usize {
    let is_plain = action.sa_flags & libc::SA_SIGINFO == 0;
    let handler = action.sa_sigaction;
    if is_plain && handler != libc::SIG_IGN && handler != libc::SIG_DFL { handler } else { 0 }
}

/// Passes the signal on to the program, unless the terminal sent it, in which case the program already has it.
extern "C" fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    // SAFETY: the system passes a valid record to a handler installed with SA_SIGINFO.
    let info = unsafe { &*info };
    if OF_TERMINALS.contains(&signal) && !is_from_a_process(info) {
        let before = BEFORE[signal as usize].load(Ordering::SeqCst);
        if before != 0 {
            // SAFETY: it was the signal's handler, which takes its number.
            unsafe { std::mem::transmute::<usize, extern "C" fn(libc::c_int)>(before)(signal) };
        }
        return;
    }
    PASSED.store(true, Ordering::SeqCst);
    match PROGRAM.load(Ordering::SeqCst) {
        0 => _ = EARLY.fetch_or(1 << signal, Ordering::SeqCst),
        program => send(program, signal, info),
    }
}

#[cfg(not(target_os = "linux"))]
fn send(program: i32, signal: libc::c_int, _: &libc::siginfo_t) {
    // SAFETY: takes numbers, and is allowed in a handler.
    unsafe { libc::kill(program, signal) };
}

/// The last of them has no bit in a set of 64.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn real_time() -> impl Iterator<Item = libc::c_int> {
    libc::SIGRTMIN()..=libc::SIGRTMAX().min(63)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn real_time() -> impl Iterator<Item = libc::c_int> {
    std::iter::empty()
}

/// Whether `kill` or its like sent it, not a terminal. A sender in another namespace has no id here, but the code is set.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn is_from_a_process(info: &libc::siginfo_t) -> bool {
    matches!(info.si_code, libc::SI_USER | libc::SI_QUEUE | libc::SI_TKILL)
}

/// Whether `kill` sent it, not a terminal, which has no sender id.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn is_from_a_process(info: &libc::siginfo_t) -> bool {
    // SAFETY: the system fills in the id for the signals that reach the handler: `kill` and a terminal send them.
    unsafe { info.si_pid() != 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_for_the_program_that_no_thread_took_before_the_end_does_not_end_this_process() {
        let mut passing = Passing::begin(false);
        passing.to(0);
        // SAFETY: all-zero is a valid set, the calls fill it; the signal is for this thread, which has it blocked.
        let (mut set, mut before): (libc::sigset_t, libc::sigset_t) = unsafe { std::mem::zeroed() };
        // SAFETY: the sets are valid.
        unsafe {
            libc::sigemptyset(&raw mut set);
            libc::sigaddset(&raw mut set, libc::SIGALRM);
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, &raw mut before);
            libc::pthread_kill(libc::pthread_self(), libc::SIGALRM);
        }
        drop(passing);
        // SAFETY: the set is valid. Were the signal still pending, it would end this process here.
        unsafe {
            let mut pending: libc::sigset_t = std::mem::zeroed();
            libc::sigpending(&raw mut pending);
            assert_eq!(libc::sigismember(&raw const pending, libc::SIGALRM), 0, "it is still pending");
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        }
    }
}
