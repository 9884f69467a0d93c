//! How the program is started: all that takes memory is made before the fork.

use std::ffi::{CString, OsString};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use oversleep_native::passing::Passing;

use super::refusal::{BY_EXEC, BY_FILTER, BY_TRACE};
use super::socket;
use crate::linux::filter;
use crate::linux::preload::library;
use crate::plan::{ClockChoice, Stepped};
use crate::{Failure, Request};

/// All that starting the program takes, made before the fork.
pub struct Start {
    argv: Words,
    envp: Words,
    /// None where it isn't traced.
    filter: Option<Vec<libc::sock_filter>>,
    /// Whether it runs without the filter where the system refuses that.
    may_lack_filter: bool,
    /// Whether its waits have this system's timer slack.
    has_slack: bool,
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
    /// With a library to load before the program's, it isn't traced.
    pub fn new(request: &Request, stepped: &[Stepped], preload: Option<CString>) -> Result<Start, Failure> {
        let mut clocks: Vec<u32> = stepped.iter().map(|clock| clock.clock.id() as u32).collect();
        if let Some(plan) =
            request.plan.as_ref().filter(|_| request.clocks == ClockChoice::Coarse && request.has_adapters)
        {
            clocks.extend(plan.port_clocks().iter().map(|clock| clock.id() as u32));
            clocks.sort_unstable();
            clocks.dedup();
        }
        let is_emulated = request.plan.is_some();
        let filter =
            preload.is_none().then(|| if is_emulated { filter::of_emulated(&clocks) } else { filter::of_native() });
        // A program, or what it starts, asks for another resolution under this number.
        let number = format!("OVERSLEEP_EMULATE={}", std::process::id());
        let is_passed_on = |(name, _): &(OsString, OsString)| {
            name != "OVERSLEEP_EMULATE" && (preload.is_none() || name != library::VARIABLE)
        };
        let more = [CString::new(number).map_err(with_nul)?].into_iter().chain(preload.clone()).collect();
        // Ends are the machine's own: the slack of this one adds nothing to them.
        Ok(Start {
            filter,
            may_lack_filter: !is_emulated,
            has_slack: !is_emulated,
            ..Start::passing(&request.program, is_passed_on, more)?
        })
    }

    /// A program that stops where this filter says and is left alone otherwise.
    pub fn observed(program: &[OsString], filter: Vec<libc::sock_filter>) -> Result<Start, Failure> {
        Ok(Start { filter: Some(filter), ..Start::passing(program, |_| true, Vec::new())? })
    }

    fn passing(
        program: &[OsString],
        is_passed_on: impl Fn(&(OsString, OsString)) -> bool,
        more: Vec<CString>,
    ) -> Result<Start, Failure> {
        let argv: Result<Vec<CString>, _> = program.iter().map(|word| CString::new(word.as_bytes())).collect();
        let inherited = std::env::vars_os().filter(is_passed_on).map(|(mut name, value)| {
            name.push("=");
            name.push(value);
            CString::new(name.into_vec())
        });
        let envp: Result<Vec<CString>, _> = inherited.chain(more.into_iter().map(Ok)).collect();
        let (argv, envp) = (Words::new(argv.map_err(with_nul)?), Words::new(envp.map_err(with_nul)?));
        Ok(Start { argv, envp, filter: None, may_lack_filter: false, has_slack: true })
    }

    /// Starts the program in a process of its own, which gets the signals and is traced by that supervisor, which answers
    /// there. An error has the stage that failed, or 0 where there is no process.
    pub fn begin(&self, tracer: Option<(i32, OwnedFd)>, passing: &mut Passing) -> Result<i32, (i32, io::Error)> {
        let (start_failed, why_not) = socket::pair().map_err(|error| (0, error))?;
        let tracer_of = tracer.as_ref().map(|(supervisor, to_tracer)| (*supervisor, to_tracer.as_raw_fd()));
        // SAFETY: the copy makes only calls that are allowed after a fork, and executes a program or ends.
        let program = match unsafe { libc::fork() } {
            -1 => return Err((0, io::Error::last_os_error())),
            0 => self.run(tracer_of, why_not.as_raw_fd(), passing),
            program => program,
        };
        drop((tracer, why_not));
        passing.to(program);
        let Some(stage) = socket::receive(start_failed.as_raw_fd()) else { return Ok(program) };
        let errno = socket::receive(start_failed.as_raw_fd()).unwrap_or(0);
        reap(program);
        Err((stage, io::Error::from_raw_os_error(errno)))
    }

    /// In the new process: is traced from now on, filters its calls, and executes the program.
    fn run(&self, tracer: Option<(i32, i32)>, why_not: i32, passing: &Passing) -> ! {
        passing.in_new_process();
        // SAFETY: calls that take numbers, constants, or pointers to what outlives them.
        unsafe {
            let fail = |stage, error: i32| -> ! {
                let _ = socket::send(why_not, stage).and_then(|()| socket::send(why_not, error));
                libc::_exit(127)
            };
            let errno = || *libc::__errno_location();
            if let Some((supervisor, to_tracer)) = tracer {
                // A Yama system lets only ancestors trace.
                libc::prctl(libc::PR_SET_PTRACER, supervisor, 0, 0, 0);
                let sent = socket::send(to_tracer, libc::getpid());
                match (sent, socket::receive(to_tracer)) {
                    (Ok(()), Some(0)) => {}
                    (Ok(()), Some(error)) => fail(BY_TRACE, error),
                    _ => fail(BY_TRACE, libc::ESRCH),
                }
            }
            if !self.has_slack {
                libc::prctl(libc::PR_SET_TIMERSLACK, 1, 0, 0, 0);
            }
            if let Some(filter) = &self.filter
                && let Err(error) = filter::install(filter)
                && !self.may_lack_filter
            {
                fail(BY_FILTER, error.raw_os_error().unwrap_or(libc::EPERM));
            }
            libc::execvpe(self.argv.pointers[0], self.argv.pointers.as_ptr(), self.envp.pointers.as_ptr());
            fail(BY_EXEC, errno())
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

fn with_nul(_: std::ffi::NulError) -> Failure {
    Failure::NotRun("an argument or a variable contains a NUL byte".to_owned())
}
