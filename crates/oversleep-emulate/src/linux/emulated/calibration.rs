//! This machine's own wake-up: how late sleeps are whose ends the supervisor leaves where the program wants them.
//!
//! Before the program starts, a process of our own sleeps under the same filter, stops and injected code as the program
//! will.

use std::os::fd::{AsRawFd, RawFd};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI64, Ordering};

use oversleep_record::Nanos;

use super::lead::lead_to;
use crate::linux::calls::entry::{self, Answer};
use crate::linux::code::trampoline;
use crate::linux::filter;
use crate::linux::job::socket;
use crate::linux::process::clock::now;
use crate::linux::process::ptrace::{self, Stop, Tid};
use crate::plan::{Own, Plan, Planned, Requested};
use crate::report::{OwnSleeps, OwnWakeUp};

/// What is requested, and how often in a round.
const SLEEPS: [(Nanos, usize); 3] = [(Nanos(100_000), 10), (Nanos(1_000_000), 10), (Nanos(10_000_000), 3)];
/// Rounds: about half a second in total. In the first one, the process warms up.
const ROUNDS: usize = 11;
const IN_ROUND: usize = SLEEPS[0].1 + SLEEPS[1].1 + SLEEPS[2].1;

/// Memory of both processes: when the latest sleep was called, and the lateness of each.
struct Page {
    called: AtomicI64,
    late: [AtomicI64; ROUNDS * IN_ROUND],
}

/// The requests of all sleeps, in their order.
fn requests() -> impl Iterator<Item = Nanos> {
    (0..ROUNDS).flat_map(|_| SLEEPS).flat_map(|(request, count)| std::iter::repeat_n(request, count))
}

/// Measures it and takes it off the learned waits of the plan; `None` if it has none. `niceness` is the program's.
pub fn taken_off(plan: &mut Plan, niceness: i32) -> Option<OwnWakeUp> {
    if !plan.is_learned() {
        return None;
    }
    let Some(own) = measured(niceness) else { return Some(OwnWakeUp::default()) };
    let no_later_there = plan.take_off(&own);
    let sleeps = own.after().iter().map(|(requested, late)| OwnSleeps {
        requested_ns: requested.0,
        p10_ns: late.quantile(0.1).0,
        p50_ns: late.quantile(0.5).0,
        p90_ns: late.quantile(0.9).0,
    });
    Some(OwnWakeUp {
        sleeps: sleeps.collect(),
        until_seen_ns: own.until_seen.0,
        no_later_there: no_later_there.iter().map(|one| (one.wait.to_owned(), one.requested.0)).collect(),
    })
}

/// `None` if it can't be measured: tracing may be forbidden.
fn measured(niceness: i32) -> Option<Own> {
    let filter = filter::of_emulated(&[]);
    let (to_process, to_us) = socket::pair().ok()?;
    // SAFETY: a new mapping. Zeroes are valid atomics.
    let page = unsafe {
        let may = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
        let page = libc::mmap(null_mut(), size_of::<Page>(), may, flags, -1, 0);
        if page == libc::MAP_FAILED {
            return None;
        }
        &*page.cast::<Page>()
    };
    // SAFETY: the copy makes only calls that are allowed after a fork, and never returns.
    let process = match unsafe { libc::fork() } {
        -1 => return None,
        0 => sleeps(page, &filter, niceness, to_us.as_raw_fd()),
        process => process,
    };
    drop(to_us);
    let is_traced = ptrace::seize(process).is_ok() && socket::send(to_process.as_raw_fd(), 0).is_ok();
    if !is_traced {
        // SAFETY: takes numbers; the process is ours, and nobody has waited for it.
        unsafe { libc::kill(process, libc::SIGKILL) };
    }
    let mut until_seen = Vec::new();
    while let Ok(Some((tid, stop))) = ptrace::wait(process, 0) {
        let seen = now();
        match stop {
            Stop::Gone => break,
            Stop::Wait => {
                until_seen.push(seen - Nanos(page.called.load(Ordering::Relaxed)));
                let _ = ends_on_time(tid, seen);
                let _ = ptrace::go_on(tid, 0);
            }
            Stop::Signal(signal) => _ = ptrace::go_on(tid, signal),
            _ => _ = ptrace::go_on(tid, 0),
        }
    }
    let is_complete = is_traced && until_seen.len() == page.late.len();
    let late = |wanted: Nanos| {
        let all = requests().zip(&page.late).skip(IN_ROUND).filter(|&(request, _)| request == wanted);
        (wanted, all.map(|(_, late)| Nanos(late.load(Ordering::Relaxed))).collect::<Vec<_>>())
    };
    let own = is_complete
        .then(|| Own::learned(until_seen.split_off(IN_ROUND), SLEEPS.map(|(wanted, _)| late(wanted)).into()));
    // SAFETY: nothing refers to the page any more.
    unsafe { libc::munmap((&raw const *page).cast_mut().cast(), size_of::<Page>()) };
    own.flatten()
}

/// Its timer ends when it is due.
fn ends_on_time(tid: Tid, seen: Nanos) -> std::io::Result<()> {
    let registers = ptrace::registers(tid)?;
    let Answer::Wait(waiting) = entry::answer(tid, &registers) else { return Ok(()) };
    let Requested::Span(requested) = waiting.requested else { return Ok(()) };
    let due = seen + requested;
    let planned = Planned { requested, native: due, end: due };
    lead_to(tid, registers, waiting.leads_to, &planned, seen, |interval| interval)
}

/// In the new process: sleeps, and ends. Doesn't allocate.
fn sleeps(page: &Page, filter: &[libc::sock_filter], niceness: i32, to_us: RawFd) -> ! {
    // SAFETY: calls that take numbers, constants, or memory that outlives them; the code's room is free in this program.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        libc::setpriority(libc::PRIO_PROCESS, 0, niceness);
        libc::prctl(libc::PR_SET_TIMERSLACK, 1, 0, 0, 0);
        if socket::receive(to_us).is_none() || !has_code() || filter::install(filter).is_err() {
            libc::_exit(1);
        }
        for (request, late) in requests().zip(&page.late) {
            let span = libc::timespec { tv_sec: 0, tv_nsec: request.0 };
            let called = now();
            page.called.store(called.0, Ordering::Relaxed);
            libc::syscall(libc::SYS_nanosleep, &raw const span, 0);
            late.store((now() - called - request).0, Ordering::Relaxed);
        }
        libc::_exit(0)
    }
}

/// Puts the injected code where it is in a program.
fn has_code() -> bool {
    let code = trampoline::code();
    // SAFETY: a new mapping in a place where nothing is, which is filled and then executed.
    unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
        let size = trampoline::SIZE as usize;
        let room = libc::mmap(trampoline::BASE as *mut _, size, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
        if room as u64 != trampoline::BASE {
            return false;
        }
        room.cast::<u8>().copy_from_nonoverlapping(code.as_ptr(), code.len());
        libc::mprotect(room, size, libc::PROT_READ | libc::PROT_EXEC) == 0
    }
}
