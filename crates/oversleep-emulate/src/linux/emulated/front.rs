//! The process that the user started. It is the program's parent, passes signals and stops on to it, and ends as it does.

use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;

use oversleep_native::passing::Passing;
use oversleep_native::{AppEnd, jobs};

use super::supervisor;
use crate::linux::job::notes::Printer;
use crate::linux::job::refusal::{self, BY_TRACE};
use crate::linux::job::socket;
use crate::linux::job::start::Start;
use crate::linux::preload::folder::Kept;
use crate::linux::preload::library;
use crate::report::Report;
use crate::{Ended, Failure, Request};

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
    let mut passing = Passing::begin();
    let (begun, mut to_supervisor) = (start.begin(Some((supervisor, to_tracer)), &mut passing), Some(to_supervisor));
    let mut kept = None;
    let begun = match begun {
        Err((BY_TRACE, error)) => {
            // Without a tracer there is no supervisor.
            to_supervisor = None;
            drop(passing);
            passing = Passing::begin();
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
    let status = jobs::wait(program);
    drop((passing, kept));
    let is_supervised = to_supervisor.is_some();
    let report = to_supervisor.and_then(|to_supervisor| {
        socket::send(to_supervisor.as_raw_fd(), supervisor::FINISH).ok()?;
        serde_json::from_slice::<Report>(&socket::receive_all(to_supervisor)?).ok()
    });
    if let Ok(printer) = printer {
        printer.end();
    }
    let end = AppEnd::from(status.map_err(|error| own("wait for the program", error))?);
    if is_supervised && report.is_none() && end == AppEnd::Signal(libc::SIGKILL) {
        return Err(Failure::Own(format!("the supervisor {}, and the program was killed with it", fate(supervisor))));
    }
    Ok(Ended { end, report })
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
