//! The process that was typed: the program's parent, which passes signals and stops on and ends as the program does.

use std::ffi::CString;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::sync::atomic::{AtomicI32, Ordering};

use super::refusal::{self, BY_EXEC, BY_FILTER, BY_TRACE};
use super::{filter, socket, supervisor};
use crate::plan::Stepped;
use crate::report::Report;
use crate::{Ended, Failure, Request};

/// Signals that are passed on when a process sends them; a terminal sends its own to the program too.
const PASSED_ON: [i32; 7] =
    [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGUSR1, libc::SIGUSR2, libc::SIGWINCH];
/// Signals that stop a job. The program decides what they do, and this process follows.
const JOB_STOPS: [i32; 3] = [libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];

static PROGRAM: AtomicI32 = AtomicI32::new(0);
/// A signal that came before the program was there.
static EARLY: AtomicI32 = AtomicI32::new(0);

/// What SIGPIPE did when this process began: Rust ignores it before `main`, and a program would inherit that.
static SIGPIPE_WAS: AtomicI32 = AtomicI32::new(0);

// SAFETY: the C library calls what is in this section before `main`, without arguments that it needs.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = {
    extern "C" fn at_start() {
        // SAFETY: all-zero is a valid sigaction, and nothing is changed.
        unsafe {
            let mut was: libc::sigaction = std::mem::zeroed();
            libc::sigaction(libc::SIGPIPE, std::ptr::null(), &raw mut was);
            SIGPIPE_WAS.store(i32::from(was.sa_sigaction == libc::SIG_IGN), Ordering::Relaxed);
        }
    }
    at_start
};

/// Runs the program to its end, and says how it ended.
///
/// # Errors
/// Why it could not be started.
pub fn run(request: Request) -> Result<Ended, Failure> {
    let own = |what: &str, error: io::Error| Failure::Own(format!("can't {what}: {error}"));
    let typed: Vec<String> = request.program.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let stepped = supervisor::stepped(request.plan.as_ref(), &request.clocks).map_err(Failure::Own)?;
    let start = Start::new(&request, &stepped)?;
    let failed = |error| own("make a socket", error);
    let (to_supervisor, to_front) = socket::pair().map_err(failed)?;
    let (to_tracer, to_program) = socket::pair().map_err(failed)?;
    let (start_failed, why_not) = socket::pair().map_err(failed)?;
    // SAFETY: takes nothing.
    let front = unsafe { libc::getpid() };
    // SAFETY: the copy never returns from here; it has this thread alone, and the allocator is usable after a fork.
    let supervisor = match unsafe { libc::fork() } {
        -1 => return Err(own("start the supervisor", io::Error::last_os_error())),
        0 => {
            drop((to_supervisor, to_tracer, start_failed, why_not));
            supervisor::run((request, stepped), front, to_front, to_program)
        }
        supervisor => supervisor,
    };
    drop((to_front, to_program));
    for signal in PASSED_ON {
        pass_on_from_now(signal);
    }
    // SAFETY: the copy makes only calls that are allowed after a fork, and executes a program or ends.
    let program = match unsafe { libc::fork() } {
        -1 => return Err(own("start a process", io::Error::last_os_error())),
        0 => start.run(supervisor, to_tracer.as_raw_fd(), why_not.as_raw_fd()),
        program => program,
    };
    drop((to_tracer, why_not));
    PROGRAM.store(program, Ordering::SeqCst);
    let early = EARLY.swap(0, Ordering::SeqCst);
    if early != 0 {
        // SAFETY: takes two numbers; the program hasn't been waited for.
        unsafe { libc::kill(program, early) };
    }
    for signal in JOB_STOPS {
        // SAFETY: ignores a signal.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    if let Some(stage) = socket::receive(start_failed.as_raw_fd()) {
        let errno = socket::receive(start_failed.as_raw_fd()).unwrap_or(0);
        reap(program);
        return Err(refusal::why(stage, io::Error::from_raw_os_error(errno), &typed[0]));
    }
    drop(start_failed);
    let status = wait(program);
    PROGRAM.store(0, Ordering::SeqCst);
    let report = match socket::send(to_supervisor.as_raw_fd(), supervisor::FINISH) {
        Ok(()) => socket::receive_all(to_supervisor).and_then(|bytes| serde_json::from_slice::<Report>(&bytes).ok()),
        Err(_) => None,
    };
    let signal = libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status));
    if report.is_none() && signal == Some(libc::SIGKILL) {
        return Err(Failure::Own("the supervisor ended, and the program was killed with it".to_owned()));
    }
    let code = signal.map_or_else(|| libc::WEXITSTATUS(status), |signal| 128 + signal);
    Ok(Ended { code, signal, report: report.map(|report| Report { program: typed, ..report }) })
}

/// All that starting the program takes, made before the fork.
struct Start {
    argv: Words,
    envp: Words,
    /// None where no wait is led elsewhere.
    filter: Option<Vec<libc::sock_filter>>,
}

/// Words as `exec` takes them.
struct Words {
    pointers: Vec<*const libc::c_char>,
    _words: Vec<CString>,
}

impl Words {
    fn new(words: Vec<CString>) -> Words {
        let pointers = words.iter().map(|word| word.as_ptr()).chain([std::ptr::null()]).collect();
        Words { pointers, _words: words }
    }
}

impl Start {
    fn new(request: &Request, stepped: &[Stepped]) -> Result<Start, Failure> {
        let with_nul = |_| Failure::NotRun("an argument or a variable contains a NUL byte".to_owned());
        let argv: Result<Vec<CString>, _> = request.program.iter().map(|word| CString::new(word.as_bytes())).collect();
        let clocks: Vec<u32> = stepped.iter().map(|clock| clock.clock.id() as u32).collect();
        // A program, or what it starts, asks for another resolution under this number.
        let number = format!("OVERSLEEP_EMULATE={}", std::process::id());
        let inherited = std::env::vars_os().filter(|(name, _)| name != "OVERSLEEP_EMULATE").map(|(mut name, value)| {
            name.push("=");
            name.push(value);
            name.into_vec()
        });
        let envp: Result<Vec<CString>, _> = inherited.chain([number.into_bytes()]).map(CString::new).collect();
        let (argv, envp) = (Words::new(argv.map_err(with_nul)?), Words::new(envp.map_err(with_nul)?));
        Ok(Start { argv, envp, filter: request.plan.is_some().then(|| filter::program(&clocks)) })
    }

    /// In the new process: is traced from now on, filters its calls, and executes the program.
    fn run(&self, supervisor: i32, to_tracer: i32, why_not: i32) -> ! {
        // SAFETY: calls that take numbers, constants, or pointers to what outlives them.
        unsafe {
            let fail = |stage, error: i32| -> ! {
                let _ = socket::send(why_not, stage).and_then(|()| socket::send(why_not, error));
                libc::_exit(127)
            };
            let errno = || *libc::__errno_location();
            if SIGPIPE_WAS.load(Ordering::Relaxed) == 0 {
                libc::signal(libc::SIGPIPE, libc::SIG_DFL);
            }
            // A Yama system lets only ancestors trace.
            libc::prctl(libc::PR_SET_PTRACER, supervisor, 0, 0, 0);
            let sent = socket::send(to_tracer, libc::getpid());
            match (sent, socket::receive(to_tracer)) {
                (Ok(()), Some(0)) => {}
                (Ok(()), Some(error)) => fail(BY_TRACE, error),
                _ => fail(BY_TRACE, libc::ESRCH),
            }
            if let Some(filter) = &self.filter {
                // Ends are the machine's own: this one adds nothing to them.
                libc::prctl(libc::PR_SET_TIMERSLACK, 1, 0, 0, 0);
                if let Err(error) = filter::install(filter) {
                    fail(BY_FILTER, error.raw_os_error().unwrap_or(libc::EPERM));
                }
            }
            libc::execvpe(self.argv.pointers[0], self.argv.pointers.as_ptr(), self.envp.pointers.as_ptr());
            fail(BY_EXEC, errno())
        }
    }
}

/// Waits for the program's end, and stops with it meanwhile.
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

/// Stops by the signal that stopped the program, so that a shell sees its job stopped, and wakes the program if only this
/// process is woken.
fn stop_with(program: i32, signal: i32) {
    // SAFETY: takes numbers, and writable memory of the right type; the signal has its ordinary effect for once.
    unsafe {
        if JOB_STOPS.contains(&signal) {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
            libc::signal(signal, libc::SIG_IGN);
        } else {
            libc::raise(libc::SIGSTOP);
        }
        // The stop was reported, so only its end can be waited for.
        let mut about: libc::siginfo_t = std::mem::zeroed();
        let flags = libc::WCONTINUED | libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        let answer = libc::waitid(libc::P_PID, program as libc::id_t, &raw mut about, flags);
        if answer == 0 && about.si_pid() == 0 {
            libc::kill(program, libc::SIGCONT);
        }
    }
}

fn reap(program: i32) {
    let mut status = 0;
    // SAFETY: the status is writable.
    while unsafe { libc::waitpid(program, &raw mut status, 0) } == -1
        && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
    {}
}

/// Passes a signal on to the program, unless a terminal sent it: then the program has it.
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
        // What was ignored (nohup) stays so, in the program too.
        if was.sa_sigaction != libc::SIG_IGN {
            let mut passing: libc::sigaction = std::mem::zeroed();
            passing.sa_sigaction = pass_on as *const () as libc::sighandler_t;
            passing.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
            libc::sigaction(signal, &raw const passing, std::ptr::null_mut());
        }
    }
}

/// Ends this process as the program ended: by the same signal, without a core of its own.
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
