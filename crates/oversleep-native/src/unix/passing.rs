//! Signals that processes send to this one while it runs a program: they are for the program.
//!
//! A terminal sends its signals to the program as well, and on Linux it is known which others went to the whole process
//! group, so those aren't passed on. The program starts with the actions and
//! the mask that this process was started with: what a shell has its background jobs ignore is ignored, unless the program
//! sets a handler of its own, and then it gets what is sent to this process, too.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering};

use super::at_start;
#[cfg(target_os = "linux")]
use crate::{queued::send, witness};

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
/// Signals that the kernel sends to who makes a mistake, or reaches a limit, and that processes send as well: a watchdog, a
/// batch system.
const OF_KERNEL: [libc::c_int; 10] = [
    libc::SIGABRT,
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGSYS,
    libc::SIGTRAP,
    libc::SIGPIPE,
    libc::SIGXCPU,
    libc::SIGXFSZ,
];
/// Those of them after which the thread would make the same mistake again.
const OF_FAULTS: [libc::c_int; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGSYS, libc::SIGTRAP];
/// Whether this process stops and goes on as the program does.
const STOPS_WITH_IT: bool = cfg!(target_os = "linux");
/// Signals that stop a job. The program decides what they do.
pub const JOB_STOPS: [libc::c_int; 3] = [libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];
/// Signals that a terminal sends to a job.
const OF_TERMINALS: [libc::c_int; 7] =
    [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGWINCH, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];

/// The process id of the running program; 0 if there is none.
static PROGRAM: AtomicI32 = AtomicI32::new(0);
/// Signals that arrived before the program was started, as bits.
static EARLY: AtomicU64 = AtomicU64::new(0);
/// The threads that are passing a signal on.
static NOW: AtomicUsize = AtomicUsize::new(0);
/// Whether any signal was passed on.
static PASSED: AtomicBool = AtomicBool::new(false);
/// The handlers that the signals of a terminal and the kernel had before, which see these still.
static BEFORE: [AtomicUsize; 65] = [const { AtomicUsize::new(0) }; 65];

/// Passes signals on until it is dropped. There is one at a time.
pub struct Passing {
    former: Vec<(libc::c_int, libc::sigaction)>,
    /// The mask that this process was started with.
    mask: libc::sigset_t,
    is_blocked: bool,
    #[cfg(target_os = "linux")]
    witness: Option<witness::Witness>,
}

impl std::fmt::Debug for Passing {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "signals go to {}", PROGRAM.load(Ordering::SeqCst))
    }
}

impl Passing {
    /// Takes the signals for a program that this thread is about to start. They wait until its process is known.
    pub fn begin() -> Passing {
        EARLY.store(0, Ordering::SeqCst);
        PASSED.store(false, Ordering::SeqCst);
        let signals: Vec<libc::c_int> = ALWAYS
            .into_iter()
            .chain(OF_KERNEL)
            .chain(others())
            .chain(JOB_STOPS.into_iter().filter(|_| STOPS_WITH_IT))
            .collect();
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
            // SAFETY: the set is valid.
            unsafe { libc::sigfillset(&raw mut passing.sa_mask) };
            // SAFETY: both point to valid structs, and the handler only calls what a handler may.
            let is_changed = unsafe { libc::sigaction(signal, &raw const passing, &raw mut was) } == 0;
            BEFORE[signal as usize].store(handler_of(&was), Ordering::SeqCst);
            is_changed.then_some((signal, was))
        });
        Passing {
            former: actions.collect(),
            mask,
            is_blocked: true,
            #[cfg(target_os = "linux")]
            witness: None,
        }
    }

    /// In the new process: it has the signals as this process was started with. Allocates nothing.
    pub fn in_new_process(&self) {
        in_new_process(&self.mask);
    }

    /// The program is that process, which nobody has waited for: it gets what has come, and what comes. From now on this
    /// thread takes these signals even if this process was started with them blocked.
    pub fn to(&mut self, program: i32) {
        PROGRAM.store(program, Ordering::SeqCst);
        #[cfg(target_os = "linux")]
        {
            self.witness = (program > 0).then(witness::Witness::begin).flatten();
        }
        let early = EARLY.swap(0, Ordering::SeqCst);
        // SAFETY: takes numbers, and a set that is valid.
        unsafe {
            for signal in (1..=64).filter(|signal| program > 0 && early >> (signal - 1) & 1 == 1) {
                libc::kill(program, signal);
            }
            let mut mask = self.mask;
            self.former.iter().for_each(|(signal, _)| _ = libc::sigdelset(&raw mut mask, *signal));
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
        let mask = self.mask;
        let reset = move || {
            in_new_process(&mask);
            Ok(())
        };
        // SAFETY: it makes only calls that are allowed between fork and exec, and allocates nothing.
        unsafe { command.pre_exec(reset) };
        let child = spawn(command)?;
        self.to(i32::try_from(child.id()).unwrap_or(0));
        Ok(child)
    }

    /// Waits until the program ends. On Linux this process stops and goes on as it does, as a shell expects of its jobs.
    ///
    /// # Errors
    /// The system's.
    pub fn wait(&self, program: &mut Child) -> io::Result<ExitStatus> {
        #[cfg(target_os = "linux")]
        {
            crate::jobs::wait(program.id().cast_signed())
        }
        #[cfg(not(target_os = "linux"))]
        {
            program.wait()
        }
    }

    /// The program was waited for: whether any signal was passed on to it. A signal to the process may still wait for a
    /// thread that the system woke for it: this one takes it, and sends it to nobody.
    pub fn end(self) -> bool {
        PROGRAM.store(0, Ordering::SeqCst);
        let mut mask = self.mask;
        // SAFETY: takes numbers, and a set that is valid. One signal at least is delivered before the last call returns, and
        // Linux delivers all; it looks for them only if the mask changes.
        unsafe {
            self.former.iter().for_each(|(signal, _)| _ = libc::sigaddset(&raw mut mask, *signal));
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const mask, std::ptr::null_mut());
            self.former.iter().for_each(|(signal, _)| _ = libc::sigdelset(&raw mut mask, *signal));
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const mask, std::ptr::null_mut());
        }
        Passing::wait_for_handlers();
        PASSED.load(Ordering::SeqCst)
    }

    /// Waits until no other thread is passing a signal on: this process is about to stop, and a stop that is passed on
    /// after that would stop the program again.
    pub fn wait_for_handlers() {
        while NOW.load(Ordering::SeqCst) != 0 {
            std::thread::yield_now();
        }
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
        for (signal, was) in &self.former {
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
            unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.mask, std::ptr::null_mut()) };
        }
    }
}

fn in_new_process(mask: &libc::sigset_t) {
    at_start::restore();
    // SAFETY: the set is valid.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, mask, std::ptr::null_mut()) };
}

/// A handler that takes a number; 0 for every other action.
fn handler_of(action: &libc::sigaction) -> usize {
    let is_plain = action.sa_flags & libc::SA_SIGINFO == 0;
    let handler = action.sa_sigaction;
    if is_plain && handler != libc::SIG_IGN && handler != libc::SIG_DFL { handler } else { 0 }
}

extern "C" fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    NOW.fetch_add(1, Ordering::SeqCst);
    // SAFETY: the system passes a valid record to a handler installed with SA_SIGINFO.
    pass(signal, unsafe { &*info });
    NOW.fetch_sub(1, Ordering::SeqCst);
}

/// Passes the signal on to the program, unless it is this process's own, or was sent to the whole group, by the terminal or
/// another process, in which case the program already has it.
fn pass(signal: libc::c_int, info: &libc::siginfo_t) {
    // SAFETY: takes nothing.
    let own = unsafe { libc::getpid() };
    // SAFETY: such a signal has its sender's id.
    if is_from_a_process(info) && unsafe { info.si_pid() } == own {
        // `abort`, or a write to a pipe that nobody reads.
        return;
    }
    let program = PROGRAM.load(Ordering::SeqCst);
    // Also of one that isn't passed on, so that the next isn't taken for it.
    let mut went_to_group = went_to_group(signal);
    if (OF_TERMINALS.contains(&signal) || OF_KERNEL.contains(&signal)) && !is_from_a_process(info) {
        let before = BEFORE[signal as usize].load(Ordering::SeqCst);
        if before != 0 {
            // SAFETY: it was the signal's handler, which takes its number.
            unsafe { std::mem::transmute::<usize, extern "C" fn(libc::c_int)>(before)(signal) };
        } else if OF_FAULTS.contains(&signal) {
            // The fault is this process's own, and ends it when it comes again.
            // SAFETY: all-zero is a valid sigaction: the default action.
            Passing::set(signal, &unsafe { std::mem::zeroed() });
        }
        if OF_KERNEL.contains(&signal) {
            return;
        }
        went_to_group = true;
    } else {
        PASSED.store(true, Ordering::SeqCst);
    }
    match program {
        _ if went_to_group && !has_left_group(program) => {}
        0 => _ = EARLY.fetch_or(1 << (signal - 1), Ordering::SeqCst),
        program => send(program, signal, info),
    }
}

/// Whether the program has a group of its own, and would be in this process's if it were in its place: the first process of
/// a group doesn't leave it by `setpgid`, as `timeout` tries to.
fn has_left_group(program: i32) -> bool {
    // SAFETY: takes numbers.
    let [own, group, its, session, its_session] =
        unsafe { [libc::getpid(), libc::getpgrp(), libc::getpgid(program), libc::getsid(0), libc::getsid(program)] };
    program > 0 && own == group && its != group && its > 0 && its_session == session
}

/// Whether the program, if it still is in this process's group, got the signal as well. Keeps the thread's last error.
fn went_to_group(signal: libc::c_int) -> bool {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: the place is this thread's.
        let error = unsafe { libc::__errno_location() };
        // SAFETY: as above.
        let before = unsafe { *error };
        let has_it = witness::has_it(signal);
        // SAFETY: as above.
        unsafe { *error = before };
        has_it
    }
    #[cfg(not(target_os = "linux"))]
    {
        _ = signal;
        false
    }
}

#[cfg(not(target_os = "linux"))]
fn send(program: i32, signal: libc::c_int, _: &libc::siginfo_t) {
    // SAFETY: takes numbers, and is allowed in a handler.
    unsafe { libc::kill(program, signal) };
}

/// What only some systems have: real-time signals, and one for a failing power supply.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn others() -> impl Iterator<Item = libc::c_int> {
    (libc::SIGRTMIN()..=libc::SIGRTMAX()).chain([libc::SIGPWR])
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn others() -> impl Iterator<Item = libc::c_int> {
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
