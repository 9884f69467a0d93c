//! The process that the user started. It is the program's parent, passes signals and stops on to it, and ends as it does.

use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicI32, Ordering};

use super::notes::Teller;
use super::refusal::{self, BY_TRACE};
use super::start::Start;
use super::{preload, socket, supervisor};
use crate::report::Report;
use crate::{Ended, Failure, Request};

/// Signals that are passed on if a process sent them. A terminal sends its signals to the program anyway.
const PASSED_ON: [i32; 7] =
    [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGUSR1, libc::SIGUSR2, libc::SIGWINCH];
/// Signals that stop a job. The program decides what they do, and this process does the same.
const JOB_STOPS: [i32; 3] = [libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];

static PROGRAM: AtomicI32 = AtomicI32::new(0);
/// A signal that arrived before the program was started.
static EARLY: AtomicI32 = AtomicI32::new(0);

/// Runs the program until it ends, and returns how it ended.
///
/// # Errors
/// Why it could not be started.
pub fn run(request: Request) -> Result<Ended, Failure> {
    let own = |what: &str, error: io::Error| Failure::Own(format!("can't {what}: {error}"));
    let typed = request.program.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    let stepped = supervisor::stepped(request.plan.as_ref(), &request.clocks).map_err(Failure::Own)?;
    let start = Start::new(&request, &stepped, None)?;
    let failed = |error| own("make a socket", error);
    let (to_supervisor, to_front) = socket::pair().map_err(failed)?;
    let (to_tracer, to_program) = socket::pair().map_err(failed)?;
    let (told, to_told) = socket::pair().map_err(failed)?;
    // SAFETY: takes nothing.
    let front = unsafe { libc::getpid() };
    // SAFETY: the child never returns from here. It has only this thread, and the allocator is usable after a fork.
    let supervisor = match unsafe { libc::fork() } {
        -1 => return Err(own("start the supervisor", io::Error::last_os_error())),
        0 => {
            drop((to_supervisor, to_tracer, told));
            supervisor::run((request, stepped), front, [to_front, to_program, to_told])
        }
        supervisor => supervisor,
    };
    drop((to_front, to_program, to_told));
    for signal in PASSED_ON {
        pass_on_from_now(signal);
    }
    let (begun, mut to_supervisor) = (start.begin(Some((supervisor, to_tracer)), follow), Some(to_supervisor));
    let begun = match begun {
        Err((BY_TRACE, error)) => {
            // Without a tracer there is no supervisor. The next attempt must not inherit the signals ignored here.
            to_supervisor = None;
            stop_with_jobs(libc::SIG_DFL);
            if error.raw_os_error() == Some(libc::ESRCH) && was_killed(supervisor) {
                return Err(Failure::Own("the supervisor was killed before the program started".to_owned()));
            }
            let why = refusal::why(BY_TRACE, error, &typed);
            preloaded(&request, why)?.begin(None, follow)
        }
        begun => begun,
    };
    let program = begun.map_err(|(stage, error)| match stage {
        0 => own("start a process", error),
        _ => refusal::why(stage, error, &typed),
    })?;
    let teller = Teller::begin(told, request.note);
    let status = wait(program);
    PROGRAM.store(0, Ordering::SeqCst);
    let is_supervised = to_supervisor.is_some();
    let report = to_supervisor.and_then(|to_supervisor| {
        socket::send(to_supervisor.as_raw_fd(), supervisor::FINISH).ok()?;
        serde_json::from_slice::<Report>(&socket::receive_all(to_supervisor)?).ok()
    });
    if let Ok(teller) = teller {
        teller.end();
    }
    let signal = libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status));
    if is_supervised && report.is_none() && signal == Some(libc::SIGKILL) {
        return Err(Failure::Own("the supervisor ended, and the program was killed with it".to_owned()));
    }
    let code = signal.map_or_else(|| libc::WEXITSTATUS(status), |signal| 128 + signal);
    Ok(Ended { code, signal, report })
}

/// Whether the supervisor, which ends now, was killed. It ends by itself where it can't start a thread.
fn was_killed(supervisor: i32) -> bool {
    let mut status = 0;
    // SAFETY: the status is writable.
    unsafe { libc::waitpid(supervisor, &raw mut status, 0) == supervisor && libc::WIFSIGNALED(status) }
}

/// From now on, signals are passed on to the program, and this process stops when it stops.
fn follow(program: i32) {
    PROGRAM.store(program, Ordering::SeqCst);
    let early = EARLY.swap(0, Ordering::SeqCst);
    if early != 0 {
        // SAFETY: takes two numbers; the program hasn't been waited for.
        unsafe { libc::kill(program, early) };
    }
    stop_with_jobs(libc::SIG_IGN);
}

/// Sets the action of the signals that stop a job.
fn stop_with_jobs(action: libc::sighandler_t) {
    for signal in JOB_STOPS {
        // SAFETY: the action is to ignore the signal, or its default.
        unsafe { libc::signal(signal, action) };
    }
}

/// Prepares the program to run with LD_PRELOAD, unless another tracer already traces this process.
fn preloaded(request: &Request, why: Failure) -> Result<Start, Failure> {
    let library = (!refusal::is_traced_already()).then(|| preload::library_of(request)).flatten();
    let Some(library) = library else { return Err(why) };
    let other = std::env::var_os(preload::VARIABLE);
    let variable = preload::variable(&library, other.as_deref().map(OsStrExt::as_bytes));
    let Ok(variable) = variable else { return Err(why) };
    (request.note)(&format!("{why}, {}", preload::REACHES));
    Start::new(request, &[], Some(variable))
}

/// Waits until the program ends. Whenever it stops, this process stops too.
fn wait(program: i32) -> i32 {
    loop {
        let mut status = 0;
        // SAFETY: the status is writable.
        let waited = unsafe { libc::waitpid(program, &raw mut status, libc::WUNTRACED | libc::WCONTINUED) };
        if waited == -1 && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted {
            continue;
        }
        if waited == program && libc::WIFSTOPPED(status) {
            stop_with(program, libc::WSTOPSIG(status));
            continue;
        }
        if waited == program && libc::WIFCONTINUED(status) {
            continue;
        }
        return status;
    }
}

/// Stops this process by the signal that stopped the program, so that a shell sees its job stopped. If only this process is
/// continued later, it continues the program.
fn stop_with(program: i32, signal: i32) {
    // SAFETY: takes numbers and writable memory of the right type. The signal has its default action meanwhile.
    unsafe {
        if JOB_STOPS.contains(&signal) {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
            libc::signal(signal, libc::SIG_IGN);
        } else {
            libc::raise(libc::SIGSTOP);
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

/// Passes a signal on to the program, unless a terminal sent it: then the program received it as well.
extern "C" fn pass_on(signal: i32, about: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    let program = PROGRAM.load(Ordering::SeqCst);
    // SAFETY: the system passes a valid record to such a handler, and `kill` is allowed in one.
    unsafe {
        match (*about).si_code {
            libc::SI_KERNEL => {}
            _ if program > 0 => _ = libc::kill(program, signal),
            _ => EARLY.store(signal, Ordering::SeqCst),
        }
    }
}

fn pass_on_from_now(signal: i32) {
    // SAFETY: all-zero is a valid sigaction; the handler only makes calls that a handler may.
    unsafe {
        let mut was: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut was);
        // An ignored signal (nohup) stays ignored, in the program too.
        if was.sa_sigaction != libc::SIG_IGN {
            let mut passing: libc::sigaction = std::mem::zeroed();
            passing.sa_sigaction = pass_on as *const () as libc::sighandler_t;
            passing.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
            libc::sigaction(signal, &raw const passing, std::ptr::null_mut());
        }
    }
}

/// Ends this process by the signal that ended the program, without a core file of its own.
pub fn end_by(signal: i32) {
    // SAFETY: takes numbers and readable memory.
    unsafe {
        let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
        libc::signal(signal, libc::SIG_DFL);
        let mut only: libc::sigset_t = std::mem::zeroed();
        libc::sigaddset(&raw mut only, signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const only, std::ptr::null_mut());
        libc::kill(libc::getpid(), signal);
    }
}
