//! Follows the timed waits of a program without privileges: a supervisor stops it at both ends of each one.
//!
//! The supervisor (`supervisor`) is a process of its own. It stays until the program has ended, even if nobody reads its
//! events any more (`stream`), because the program's filter needs a tracer. Its tracer (`tracer`) notes both stops of a
//! call and what each thread did in between (`thread`, `line`); `call` turns these into the events of one wait. An event
//! states that the timer was not seen.

mod call;
mod line;
mod stream;
mod supervisor;
mod thread;
mod tracer;

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::ExitStatus;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use oversleep_native::jobs;
use oversleep_native::passing::Passing;
use oversleep_native::switches::SwitchRing;
use oversleep_record::observed::By;
use oversleep_why::Event;
use oversleep_why::event::EVENT_BYTES;

use crate::Failure;
use crate::linux::filter;
use crate::linux::job::start::Start;
use crate::linux::job::{refusal, socket};

/// How much is read at once, and how many such pieces wait here.
const PIECE_BYTES: usize = 1024 * EVENT_BYTES;
const PIECES: usize = 64;
/// How long the last events may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// A program whose waits are followed.
#[derive(Debug)]
pub struct Observation {
    program: i32,
    control: OwnedFd,
    pieces: Receiver<Vec<u8>>,
    rest: Vec<u8>,
    is_over: bool,
}

/// The end of an observed program, to be waited for in any thread. Until then, signals to this process go to the program.
#[derive(Debug)]
pub struct Running {
    program: i32,
    _passing: Passing,
}

impl Observation {
    /// Starts a program and follows it, and with `follows_children` all that it starts.
    ///
    /// # Errors
    /// Why it can't be started or traced.
    pub fn begin(program: &[OsString], follows_children: bool) -> Result<(Observation, Running), Failure> {
        let own = |what: &str, error: io::Error| Failure::Own(format!("can't {what}: {error}"));
        let typed = program.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
        let start = Start::observed(program, filter::of_observed())?;
        let has_switches = Observation::by() == By::Supervisor;
        let pair = || socket::pair().map_err(|error| own("make a socket", error));
        let ((control, to_front), (from, stream), (to_tracer, to_program)) = (pair()?, pair()?, pair()?);
        // SAFETY: the child never returns from here. It has only this thread, and the allocator is usable after a fork.
        let supervisor = match unsafe { libc::fork() } {
            -1 => return Err(own("start the supervisor", io::Error::last_os_error())),
            0 => {
                drop((control, from, to_tracer));
                supervisor::run([to_front, stream, to_program], follows_children, has_switches)
            }
            supervisor => supervisor,
        };
        drop((to_front, stream, to_program));
        let mut passing = Passing::begin();
        let program =
            start.begin(Some((supervisor, to_tracer)), &mut passing).map_err(|(stage, error)| match stage {
                0 => own("start a process", error),
                _ => refusal::why(stage, error, &typed),
            })?;
        let (sender, pieces) = mpsc::sync_channel(PIECES);
        let mut from = UnixStream::from(from);
        let reading = std::thread::Builder::new().spawn(move || {
            let mut piece = vec![0; PIECE_BYTES];
            while let Ok(length @ 1..) = from.read(&mut piece) {
                if sender.send(piece[..length].to_vec()).is_err() {
                    return;
                }
            }
        });
        reading.map_err(|error| own("start a thread", error))?;
        let running = Running { program, _passing: passing };
        Ok((Observation { program, control, pieces, rest: Vec::new(), is_over: false }, running))
    }

    /// Whether a program can be followed here. None is run: there is no program of that name, and the error that says so
    /// comes after all that may be refused.
    ///
    /// # Errors
    /// What is refused, and how to allow it.
    pub fn check() -> Result<(), Failure> {
        match Observation::begin(&["a program".into()], false) {
            Ok(_) | Err(Failure::NotFound(_) | Failure::NotRun(_)) => Ok(()),
            Err(refused) => Err(refused),
        }
    }

    /// Who follows the waits here, and with what.
    pub fn by() -> By {
        // What a process may record of itself, it may record of a program that it traces.
        if SwitchRing::of_thread(0).is_ok() { By::Supervisor } else { By::SupervisorWithoutSwitches }
    }

    /// The program's process id.
    pub fn id(&self) -> u32 {
        self.program.unsigned_abs()
    }

    /// Appends the events that have arrived. Returns whether there are more. With `is_last`, the program is followed no
    /// longer and all events are waited for.
    pub fn drain(&mut self, events: &mut Vec<Event>, is_last: bool) -> bool {
        if is_last && !std::mem::replace(&mut self.is_over, true) {
            let _ = socket::send(self.control.as_raw_fd(), supervisor::FINISH);
        }
        let piece = match is_last {
            true => self.pieces.recv_timeout(PATIENCE).ok(),
            false => self.pieces.try_recv().ok(),
        };
        let Some(piece) = piece else { return false };
        self.rest.extend_from_slice(&piece);
        let whole = self.rest.len() / EVENT_BYTES * EVENT_BYTES;
        events.extend(self.rest[..whole].chunks_exact(EVENT_BYTES).filter_map(Event::of_bytes));
        self.rest.drain(..whole);
        true
    }
}

impl Running {
    /// Waits for the program's end.
    ///
    /// # Errors
    /// The system's refusal.
    pub fn wait(self) -> io::Result<ExitStatus> {
        jobs::wait(self.program)
    }
}
