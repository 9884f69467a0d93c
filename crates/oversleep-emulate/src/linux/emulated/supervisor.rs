//! The process that traces the program, and answers requests from the front process and other programs.

use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread;

use oversleep_record::Nanos;

use super::calibration;
use super::settings::Settings;
use super::shared::Shared;
use super::tracer::Tracer;
use crate::Request;
use crate::linux::job::notes::Notes;
use crate::linux::job::socket;
use crate::linux::job::supervising::{detach, guard, seize_program};
use crate::linux::process::clock::{now, resolution_of};
use crate::linux::process::ptrace;
use crate::linux::process::status;
use crate::plan::{ClockChoice, Holder, Plan, Resolution, Stepped};

/// Sent by the front process when the program has ended; the answer is the report.
pub const FINISH: i32 = 1;

/// Traces the program to its end. This process is a copy of the one that continues as `front`, and never returns.
/// The descriptors lead to the front process, to the program's process before it executes the program, and to where the
/// front process prints.
pub fn run(request: Request, stepped: Vec<Stepped>, front: i32, ends: [OwnedFd; 3]) -> ! {
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        supervise(request, stepped, front, ends);
    }));
    // SAFETY: ends the process at once: what its parent registered is not its own.
    unsafe { libc::_exit(i32::from(outcome.is_err())) }
}

/// The clocks whose steps differ from this system's. A Linux clock with the same steps is left alone.
///
/// # Errors
/// A chosen clock doesn't exist on the machine.
pub fn stepped(plan: Option<&Plan>, choice: &ClockChoice) -> Result<Vec<Stepped>, String> {
    let Some(plan) = plan else { return Ok(Vec::new()) };
    let mut stepped = plan.clocks(choice)?;
    stepped.retain(|clock| {
        let is_itself = clock.stands_for == clock.clock.name() && !clock.follows_interrupts;
        !is_itself || clock.shows_multiples_of(Nanos(1)) != resolution_of(clock.clock.id())
    });
    Ok(stepped)
}

fn supervise(mut request: Request, stepped: Vec<Stepped>, front: i32, [to_front, to_program, notes]: [OwnedFd; 3]) {
    end_with(front);
    ptrace::keep_stops();
    // SAFETY: takes numbers.
    let niceness = unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
    detach(&mut [&to_front, &to_program, &notes].map(AsRawFd::as_raw_fd));
    // It has no other stream for the message of a panic.
    if let Ok(told) = notes.try_clone().map(Notes::new) {
        std::panic::set_hook(Box::new(move |panic| told.tell(&format!("the supervisor failed: {panic}"))));
    }
    let mut held = match &request.plan {
        Some(plan) => plan.resolution(now()),
        None => Resolution::of_no_machine(),
    };
    if request.resolution.is_some() {
        held.hold(Holder::All, request.resolution, now());
    }
    let own_wake_up = request.plan.as_mut().and_then(|plan| calibration::taken_off(plan, niceness));
    let shared = Arc::new(Shared::new(Settings::new(request, stepped, own_wake_up), held, Notes::new(notes)));
    for listener in socket::listen(front) {
        let shared = Arc::clone(&shared);
        let _ = thread::Builder::new().spawn(move || {
            for connection in listener.incoming().flatten() {
                receive(&shared, connection);
            }
        });
    }
    let tracing = {
        let shared = Arc::clone(&shared);
        thread::Builder::new().spawn(move || {
            guard(|| {
                if let Some(program) = seize_program(to_program) {
                    let mut tracer = Tracer::new(shared, None);
                    tracer.meet(program);
                    tracer.run();
                }
            });
        })
    };
    if socket::receive(to_front.as_raw_fd()) == Some(FINISH) {
        // What the program left running in the background continues, as it does without supervision.
        // SAFETY: takes numbers. https://man7.org/linux/man-pages/man2/PR_SET_PDEATHSIG.2const.html
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, 0) };
        let document = serde_json::to_vec(&shared.report()).unwrap_or_default();
        let _ = UnixStream::from(to_front).write_all(&document);
    }
    if let Ok(tracing) = tracing {
        let _ = tracing.join();
    }
    shared.crew.join();
}

/// Ends no later than `front`.
fn end_with(front: i32) {
    // SAFETY: calls that take numbers or constants.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if libc::getppid() != front {
            libc::_exit(0);
        }
    }
}

/// Has a request served in a thread of its own, so that none waits for another one. Another user is refused before anything
/// is read.
fn receive(shared: &Arc<Shared>, connection: UnixStream) {
    if !socket::is_of_this_user(&connection) {
        let _ = connection.set_nonblocking(true);
        let _ = (&connection).write_all(b"no the emulated program belongs to another user\n");
        return;
    }
    let shared = Arc::clone(shared);
    let _ = thread::Builder::new().stack_size(1 << 20).spawn(move || obey(&shared, &connection));
}

/// Serves one request from another program of the same user.
fn obey(shared: &Shared, mut connection: &UnixStream) -> io::Result<()> {
    let line = socket::request(connection)?;
    let answer = match answer_to(shared, line.trim()) {
        Ok(answer) => format!("ok {answer}\n"),
        Err(why) => format!("no {why}\n"),
    };
    connection.write_all(answer.as_bytes())
}

fn answer_to(shared: &Shared, line: &str) -> Result<String, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words[..] {
        ["resolution", period, ref whom @ ..] => {
            let requested = match period {
                "released" => None,
                typed => Some(Nanos(typed.parse().map_err(|_| format!("'{typed}' is not a period in ns"))?)),
            };
            let holder = match whom {
                [] => Holder::All,
                [process] => Holder::Process(
                    process
                        .parse()
                        .ok()
                        .filter(|&process| status::is_traced_here(process))
                        .ok_or_else(|| format!("'{process}' is not a process of the emulated program"))?,
                ),
                _ => return Err("too many words".to_owned()),
            };
            let granted = shared.hold(holder, requested, now());
            let granted = granted.ok_or_else(|| {
                format!("{} has no timer interrupt whose period programs can request", shared.settings.machine())
            })?;
            Ok(granted.0.to_string())
        }
        ["report"] => serde_json::to_string(&shared.report()).map_err(|error| error.to_string()),
        _ => Err(format!("'{line}' is not a request")),
    }
}
