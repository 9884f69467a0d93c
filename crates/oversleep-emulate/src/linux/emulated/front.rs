//! The process that the user started. It is the program's parent, passes signals and stops on to it, and ends as it does.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;

use oversleep_native::passing::{JOB_STOPS, Passing};

use super::supervisor;
use crate::linux::job::notes::Printer;
use crate::linux::job::refusal::{self, BY_TRACE};
use crate::linux::job::socket;
use crate::linux::job::start::Start;
use crate::linux::preload::folder::Kept;
use crate::linux::preload::library;
use crate::report::Report;
use crate::{Ended, Failure, Request};

/// How often to look whether a stopped program was continued.
const WATCH_MS: i32 = 10;

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
            supervisor::run(request, stepped, front, [to_front, to_program, to_told])
        }
        supervisor => supervisor,
    };
    drop((to_front, to_program, to_told));
    let mut passing = Passing::begin(true);
    let (begun, mut to_supervisor) = (start.begin(Some((supervisor, to_tracer)), &mut passing), Some(to_supervisor));
    let mut kept = None;
    let begun = match begun {
        Err((BY_TRACE, error)) => {
            // Without a tracer there is no supervisor.
            to_supervisor = None;
            drop(passing);
            passing = Passing::begin(true);
            if error.raw_os_error() == Some(libc::ESRCH) && was_killed(supervisor) {
                return Err(Failure::Own("the supervisor was killed before the program started".to_owned()));
            }
            let why = refusal::why(BY_TRACE, error, &typed);
            let (start, folder) = preloaded(&request, why)?;
            kept = Some(folder);
            start.begin(None, &mut passing)
        }
        begun => begun,
    };
    let program = begun.map_err(|(stage, error)| match stage {
        0 => own("start a process", error),
        _ => refusal::why(stage, error, &typed),
    })?;
    let printer = Printer::begin(told, request.note);
    let status = wait(program);
    drop((passing, kept));
    let is_supervised = to_supervisor.is_some();
    let report = to_supervisor.and_then(|to_supervisor| {
        socket::send(to_supervisor.as_raw_fd(), supervisor::FINISH).ok()?;
        serde_json::from_slice::<Report>(&socket::receive_all(to_supervisor)?).ok()
    });
    if let Ok(printer) = printer {
        printer.end();
    }
    let signal = libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status));
    if is_supervised && report.is_none() && signal == Some(libc::SIGKILL) {
        return Err(Failure::Own(format!("the supervisor {}, and the program was killed with it", fate(supervisor))));
    }
    let code = signal.map_or_else(|| libc::WEXITSTATUS(status), |signal| 128 + signal);
    Ok(Ended { code, signal, report })
}

/// How the supervisor ended.
fn fate(supervisor: i32) -> String {
    let mut status = 0;
    // SAFETY: the status is writable.
    match unsafe { libc::waitpid(supervisor, &raw mut status, 0) } == supervisor {
        true if libc::WIFSIGNALED(status) => format!("was ended by signal {}", libc::WTERMSIG(status)),
        true => format!("ended with exit code {}", libc::WEXITSTATUS(status)),
        false => "ended".to_owned(),
    }
}

/// Whether the supervisor, which ends now, was killed. It ends by itself where it can't start a thread.
fn was_killed(supervisor: i32) -> bool {
    let mut status = 0;
    // SAFETY: the status is writable.
    unsafe { libc::waitpid(supervisor, &raw mut status, 0) == supervisor && libc::WIFSIGNALED(status) }
}

/// Prepares the program to run with LD_PRELOAD, unless another tracer already traces this process.
fn preloaded(request: &Request, why: Failure) -> Result<(Start, Kept), Failure> {
    let library = (!refusal::is_traced_already()).then(|| library::library_of(request)).flatten();
    let Some(library) = library else { return Err(why) };
    let other = std::env::var_os(library::VARIABLE);
    let Ok(kept) = Kept::new(&library) else { return Err(why) };
    let Ok(variable) = kept.variable(other.as_deref().map(OsStrExt::as_bytes)) else { return Err(why) };
    (request.note)(&format!("{why}, {}", library::REACHES));
    Ok((Start::new(request, &[], Some(variable))?, kept))
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
/// continued later, it continues the program; if only the program is, a process that watches it continues this one.
fn stop_with(program: i32, signal: i32) {
    let watching = continues_with(program);
    // SAFETY: takes numbers and writable memory of the right type. The signal has its default action meanwhile.
    unsafe {
        if JOB_STOPS.contains(&signal) {
            let was = Passing::set(signal, &std::mem::zeroed());
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
