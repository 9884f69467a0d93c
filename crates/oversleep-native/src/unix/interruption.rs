//! Signals that end a run.

use std::io::{self, Read};
use std::os::fd::{IntoRawFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};

/// The signals that end a program by default.
const ENDING: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// Runs `install`, which sets handlers for the signals that end a program. Signals that were ignored stay ignored, as
/// `nohup` and a shell's background jobs intend.
pub fn leaving_ignored<T>(install: impl FnOnce() -> T) -> T {
    let ignored: Vec<libc::c_int> = ENDING.into_iter().filter(|&signal| is_ignored(signal)).collect();
    let installed = install();
    ignored.into_iter().for_each(|signal| act(signal, libc::SIG_IGN));
    installed
}

/// The signals that a shell without job control has its background jobs ignore
/// (<https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html>, 2.11).
const OF_KEYBOARD: [libc::c_int; 2] = [libc::SIGINT, libc::SIGQUIT];

/// Has that program end on the keyboard's signals, even if this process was started with them ignored: what is ignored stays
/// so in a new program. For tests, which send them.
pub fn heeded_by(command: &mut Command) -> &mut Command {
    let reset = || {
        OF_KEYBOARD.into_iter().for_each(|signal| act(signal, libc::SIG_DFL));
        Ok(())
    };
    // SAFETY: it calls only `sigaction`, which is allowed between fork and exec, and allocates nothing.
    unsafe { command.pre_exec(reset) }
}

/// Makes a write beyond the limit on file sizes (`ulimit -f`) fail as on a full disk, instead of ending the process.
/// Programs that this one runs are still ended: a handler, unlike an ignored signal, isn't inherited.
pub fn fail_writes_beyond_the_limit() {
    act(libc::SIGXFSZ, nothing as *const () as libc::sighandler_t);
}

/// Keeps children that have ended until they are waited for, even if this process was started with SIGCHLD ignored.
/// Programs that it runs for a user ignore it still.
pub fn keep_ended_children() {
    if is_ignored(libc::SIGCHLD) {
        act(libc::SIGCHLD, libc::SIG_DFL);
    }
}

/// The soft limit on CPU time that this process was started with, if it was lowered.
pub(super) static CPU_LIMIT_S: OnceLock<libc::rlim_t> = OnceLock::new();

/// The handler of a signal that only has to arrive.
pub(crate) extern "C" fn nothing(_: libc::c_int) {}

/// Where the handler of SIGXCPU writes.
static TO_WATCHER: AtomicI32 = AtomicI32::new(-1);

/// Calls `then` in a thread of its own when this process reaches its soft limit on CPU time (`ulimit -St`), or somebody says
/// so by its signal, as batch systems do. A hard limit ends a process without a signal, so where both are the same the soft
/// one is lowered to leave time for an end.
///
/// # Errors
/// The system's; the signal then ends the process.
pub fn at_cpu_limit(then: impl Fn() + Send + 'static) -> io::Result<()> {
    if is_ignored(libc::SIGXCPU) || TO_WATCHER.load(Ordering::SeqCst) != -1 {
        return Ok(());
    }
    let (mut watched, to_watcher) = io::pipe()?;
    let number: RawFd = to_watcher.into_raw_fd();
    TO_WATCHER.store(number, Ordering::SeqCst);
    let watch = move || {
        // The other end stays open as long as the process.
        while watched.read_exact(&mut [0]).is_ok() {
            then();
        }
    };
    std::thread::Builder::new().name("cpu-limit".into()).spawn(watch)?;
    act(libc::SIGXCPU, tell_watcher as *const () as libc::sighandler_t);
    let none = libc::RLIM_INFINITY;
    let mut limit = libc::rlimit { rlim_cur: none, rlim_max: none };
    // SAFETY: the call only fills the limit.
    if unsafe { libc::getrlimit(libc::RLIMIT_CPU, &mut limit) } != 0 || limit.rlim_max == none {
        return Ok(());
    }
    let last = limit.rlim_max.saturating_sub((limit.rlim_max / 10).clamp(1, 5)).max(1);
    if limit.rlim_cur > last {
        let _ = CPU_LIMIT_S.set(limit.rlim_cur);
        limit.rlim_cur = last;
        // SAFETY: points to a valid limit. Lowering a soft limit needs no privilege.
        unsafe { libc::setrlimit(libc::RLIMIT_CPU, &limit) };
    }
    Ok(())
}

/// The kernel repeats SIGXCPU every second, and the watcher reads what it writes.
extern "C" fn tell_watcher(_: libc::c_int) {
    // SAFETY: `write` is allowed in a handler, and the byte is valid. The descriptor is never closed.
    unsafe { libc::write(TO_WATCHER.load(Ordering::SeqCst), [0u8].as_ptr().cast(), 1) };
}

pub(super) fn is_ignored(signal: libc::c_int) -> bool {
    // SAFETY: all-zero is a valid sigaction, and the call only fills it.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, ptr::null(), &mut now) == 0 && now.sa_sigaction == libc::SIG_IGN
    }
}

/// Sets a signal's action, without SA_RESTART, so that a handler makes the current call end with EINTR.
pub(crate) fn act(signal: libc::c_int, action: libc::sighandler_t) {
    // SAFETY: all-zero is a valid sigaction: no flags, an empty mask. The action is a predefined one, or a handler that
    // does nothing.
    unsafe {
        let mut new: libc::sigaction = std::mem::zeroed();
        new.sa_sigaction = action;
        libc::sigaction(signal, &new, ptr::null_mut());
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    #[test]
    fn a_program_heeds_the_keyboard_although_its_parent_does_not() {
        // SIGQUIT, because nobody sends it to the other tests of this process meanwhile.
        act(libc::SIGQUIT, libc::SIG_IGN);
        let status = |is_heeded: bool| {
            let mut command = Command::new("sh");
            command.args(["-c", "ulimit -c 0; kill -QUIT $$; exit 7"]);
            if is_heeded {
                heeded_by(&mut command);
            }
            command.status().expect("a shell")
        };
        let (ignored, heeded) = (status(false), status(true));
        act(libc::SIGQUIT, libc::SIG_DFL);
        assert_eq!((ignored.code(), heeded.signal()), (Some(7), Some(libc::SIGQUIT)));
    }
}
