//! Whether a signal was sent to the whole process group, in which the program got it as well, or to this process alone. The
//! kernel's record says the same of both, so a process of its own, the witness, is in the group too, and keeps what it gets.
//!
//! The kernel sends to the members of a group from the newest to the oldest, in one go (`attach_pid`, `__kill_pgrp_info`).
//! The witness is newer than the program, which is newer than this process: what has come to this process and was sent to
//! the group has come to both.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// How long a handler waits for an answer until it continues a witness that somebody has stopped.
const CONTINUE_MS: i32 = 20;
/// After so many of these the witness counts as gone: signals are passed on, as without it.
const TRIES: usize = 50;
/// How long the witness keeps what nobody asks about: somebody has sent that to the witness alone.
const KEPT_MS: i32 = 1_000;

/// The socket to the witness; -1 if there is none.
static SOCKET: AtomicI32 = AtomicI32::new(-1);
static PROCESS: AtomicI32 = AtomicI32::new(0);
/// Whether a handler is waiting for an answer.
static IS_BUSY: AtomicBool = AtomicBool::new(false);

/// The witness, until it is dropped. There is one at a time.
pub struct Witness {
    _socket: OwnedFd,
}

impl Witness {
    /// Starts it, once the program's process exists. This thread has all signals blocked that handlers ask about. `None`
    /// if the system refuses.
    pub fn begin() -> Option<Witness> {
        let mut ends = [-1; 2];
        let arguments = place_of_arguments();
        // SAFETY: the ends are writable. The copy makes only calls that are allowed after a fork, and never returns.
        let process = unsafe {
            if libc::socketpair(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0, ends.as_mut_ptr()) != 0 {
                return None;
            }
            let process = libc::fork();
            if process == 0 {
                keep(ends[1], arguments);
            }
            process
        };
        // SAFETY: both were just opened, and nothing else has them.
        let [socket, _other] = ends.map(|end| unsafe { OwnedFd::from_raw_fd(end) });
        if process < 0 {
            return None;
        }
        PROCESS.store(process, Ordering::SeqCst);
        SOCKET.store(socket.as_raw_fd(), Ordering::SeqCst);
        Some(Witness { _socket: socket })
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        // A handler that begins now doesn't ask any more; one that waits ends first.
        SOCKET.store(-1, Ordering::SeqCst);
        while IS_BUSY.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        let process = PROCESS.swap(0, Ordering::SeqCst);
        // SAFETY: takes numbers. Nobody has waited for this child.
        unsafe {
            libc::kill(process, libc::SIGKILL);
            while libc::waitpid(process, std::ptr::null_mut(), 0) == -1 && *libc::__errno_location() == libc::EINTR {}
        }
    }
}

/// Whether the signal that has come to this process went to its whole group; no if that isn't known. For a handler during
/// which all signals are blocked. It costs a wake-up of the witness and one of this process.
pub fn has_it(signal: i32) -> bool {
    if SOCKET.load(Ordering::SeqCst) < 0 {
        return false;
    }
    while IS_BUSY.swap(true, Ordering::SeqCst) {
        // SAFETY: takes nothing.
        unsafe { libc::sched_yield() };
    }
    let socket = SOCKET.load(Ordering::SeqCst);
    let answer = if socket < 0 { None } else { ask(socket, signal) };
    if answer.is_none() {
        SOCKET.store(-1, Ordering::SeqCst);
    }
    IS_BUSY.store(false, Ordering::SeqCst);
    answer == Some(true)
}

fn ask(socket: i32, signal: i32) -> Option<bool> {
    // SAFETY: the numbers are readable and writable, and the socket is open.
    unsafe {
        if libc::send(socket, (&raw const signal).cast(), size_of::<i32>(), libc::MSG_NOSIGNAL) == -1 {
            return None;
        }
        for _ in 0..TRIES {
            let mut ready = libc::pollfd { fd: socket, events: libc::POLLIN, revents: 0 };
            if libc::poll(&raw mut ready, 1, CONTINUE_MS) == 1 {
                return received(socket).map(|answer| answer != 0);
            }
            libc::kill(PROCESS.load(Ordering::SeqCst), libc::SIGCONT);
        }
    }
    None
}

fn received(socket: i32) -> Option<i32> {
    let mut number = 0_i32;
    // SAFETY: the number is writable.
    let length = unsafe { libc::recv(socket, (&raw mut number).cast(), size_of::<i32>(), 0) };
    (length == size_of::<i32>().cast_signed()).then_some(number)
}

/// The witness: answers whether it has a signal, which it then has no more, until the other end is closed.
fn keep(socket: i32, arguments: Option<(usize, usize)>) -> ! {
    // SAFETY: the sets and numbers outlive the calls. The arguments are this copy's own, on its stack.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, std::ptr::null_mut());
        // What is sent to processes by their name or their arguments isn't for this one.
        libc::prctl(libc::PR_SET_NAME, c"signal-witness".as_ptr());
        if let Some((place, length)) = arguments {
            std::ptr::write_bytes(place as *mut u8, 0, length);
        }
        // A stream that stayed open here would keep a pipe open that somebody reads to its end.
        libc::dup2(socket, 0);
        libc::syscall(libc::SYS_close_range, 1, i32::MAX, 0);
        let signals = libc::signalfd(-1, &raw const all, 0);
        let none = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        let mut has_some = false;
        loop {
            let of = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
            let mut ready = [of(0), of(if has_some { -1 } else { signals })];
            let count = libc::poll(ready.as_mut_ptr(), 2, if has_some { KEPT_MS } else { -1 });
            if ready[0].revents != 0 {
                let Some(signal) = received(0) else { libc::_exit(0) };
                let mut only: libc::sigset_t = std::mem::zeroed();
                libc::sigaddset(&raw mut only, signal);
                let answer =
                    i32::from(libc::sigtimedwait(&raw const only, std::ptr::null_mut(), &raw const none) == signal);
                libc::send(0, (&raw const answer).cast(), size_of::<i32>(), libc::MSG_NOSIGNAL);
            } else if count == 0 {
                while libc::sigtimedwait(&raw const all, std::ptr::null_mut(), &raw const none) > 0 {}
                has_some = false;
            } else {
                has_some = ready[1].revents != 0;
            }
        }
    }
}

/// Where this process's arguments are in its memory, and how long they are.
/// <https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html>
fn place_of_arguments() -> Option<(usize, usize)> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // Fields 48 and 49. The second is the program's name in parentheses, which may have anything in it.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(45);
    let (start, end): (usize, usize) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    (start != 0 && end > start).then(|| (start, end - start))
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use crate::passing::Passing;

    /// Names the process that is this test's alone.
    const ALONE: &str = "OVERSLEEP_TEST_ALONE";
    /// It gets 20 signals with its group. After each, the other process passes another one on, which was sent later.
    /// Real-time signals are queued, so none of them is lost to one that is pending.
    const PROGRAM: &str = "n=0; m=0; trap 'n=$((n+1))' 40; trap 'm=$((m+1))' 41
        while [ $m -lt 20 ]; do before=$m; kill -40 0; kill -41 $PPID; while [ $m = $before ]; do sleep 0.01; done; done
        exit $n";

    /// In a group of its own.
    #[test]
    #[ignore = "for the proving ground: shells merge signals that come while they are stalled"]
    fn a_signal_to_the_group_reaches_the_program_once() {
        if std::env::var_os(ALONE).is_none() {
            let name = "witness::tests::a_signal_to_the_group_reaches_the_program_once";
            let mut own = Command::new(std::env::current_exe().expect("it runs"));
            // A user-mode emulator can't start what it runs.
            let output = match own.args([name, "--exact"]).env(ALONE, "1").process_group(0).output() {
                Ok(output) => output,
                Err(why) => return oversleep_testing::skip(why),
            };
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
            return;
        }
        let mut passing = Passing::begin();
        let mut program = match passing.spawn(Command::new("sh").args(["-c", PROGRAM]), Command::spawn) {
            Ok(program) => program,
            Err(why) => return oversleep_testing::skip(why),
        };
        assert_eq!(passing.wait(&mut program).expect("it ends").code(), Some(20));
    }
}
