//! Signals that end a run, and the waits that must end with it.

use std::io::{self, Read};
use std::os::fd::{IntoRawFd, RawFd};
use std::ptr;
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

/// Makes a write beyond the limit on file sizes (`ulimit -f`) fail as on a full disk, instead of ending the process.
/// Programs that this one runs are still ended: a handler, unlike an ignored signal, isn't inherited.
pub fn fail_writes_beyond_the_limit() {
    act(libc::SIGXFSZ, nothing as *const () as libc::sighandler_t);
}

extern "C" fn nothing(_: libc::c_int) {}

/// Where the handler of SIGXCPU writes.
static TO_WATCHER: AtomicI32 = AtomicI32::new(-1);

/// Calls `then` once, in a thread of its own, when this process reaches its soft limit on CPU time (`ulimit -St`). A hard
/// limit ends a process without a signal, so where both are the same the soft one is lowered to leave time for an end.
///
/// # Errors
/// The system's; the limit then ends the process.
pub fn at_cpu_limit(then: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let none = libc::RLIM_INFINITY;
    let mut limit = libc::rlimit { rlim_cur: none, rlim_max: none };
    // SAFETY: the call only fills the limit.
    let found = unsafe { libc::getrlimit(libc::RLIMIT_CPU, &mut limit) };
    if found != 0 || (limit.rlim_cur == none && limit.rlim_max == none) {
        return Ok(());
    }
    let (mut watched, to_watcher) = io::pipe()?;
    let number: RawFd = to_watcher.into_raw_fd();
    TO_WATCHER.store(number, Ordering::SeqCst);
    let watch = move || {
        // The other end stays open as long as the process.
        if watched.read_exact(&mut [0]).is_ok() {
            then();
        }
    };
    std::thread::Builder::new().name("cpu-limit".into()).spawn(watch)?;
    act(libc::SIGXCPU, tell_watcher as *const () as libc::sighandler_t);
    let last = limit.rlim_max.saturating_sub((limit.rlim_max / 10).clamp(1, 5)).max(1);
    if limit.rlim_max != none && limit.rlim_cur > last {
        limit.rlim_cur = last;
        // SAFETY: points to a valid limit. Lowering a soft limit needs no privilege.
        unsafe { libc::setrlimit(libc::RLIMIT_CPU, &limit) };
    }
    Ok(())
}

/// The kernel repeats SIGXCPU every second; the watcher reads only the first byte, and the pipe takes many more.
extern "C" fn tell_watcher(_: libc::c_int) {
    // SAFETY: `write` is allowed in a handler, and the byte is valid. The descriptor is never closed.
    unsafe { libc::write(TO_WATCHER.load(Ordering::SeqCst), [0u8].as_ptr().cast(), 1) };
}

fn is_ignored(signal: libc::c_int) -> bool {
    // SAFETY: all-zero is a valid sigaction, and the call only fills it.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, ptr::null(), &mut now) == 0 && now.sa_sigaction == libc::SIG_IGN
    }
}

/// Sets a signal's action, without SA_RESTART, so that a handler makes the current call end with EINTR.
fn act(signal: libc::c_int, action: libc::sighandler_t) {
    // SAFETY: all-zero is a valid sigaction: no flags, an empty mask. The action is a predefined one, or a handler that
    // does nothing.
    unsafe {
        let mut new: libc::sigaction = std::mem::zeroed();
        new.sa_sigaction = action;
        libc::sigaction(signal, &new, ptr::null_mut());
    }
}

/// Ends the current waits of this process's other threads by a signal that does nothing else. A wait that begins just
/// afterwards isn't ended, so call this again until the threads have finished. Waits that continue after a signal, such
/// as `std::thread::sleep`, still do.
#[cfg(target_os = "linux")]
pub fn end_waits() {
    // This signal is otherwise only for out-of-band data on sockets, which nothing here uses.
    act(libc::SIGURG, nothing as *const () as libc::sighandler_t);
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return };
    // SAFETY: both calls take no argument and return a number.
    let (process, own) = unsafe { (libc::getpid(), libc::syscall(libc::SYS_gettid)) };
    for thread in threads.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<libc::pid_t>().ok()) {
        if libc::c_long::from(thread) != own {
            // SAFETY: takes three numbers. A thread that has ended isn't found, and no other process is reached.
            unsafe { libc::syscall(libc::SYS_tgkill, process, thread, libc::SIGURG) };
        }
    }
}

/// Elsewhere the current wait runs to its end. On macOS one could list the threads (`task_threads`) and signal each
/// (`pthread_kill`); this is untested.
#[cfg(not(target_os = "linux"))]
pub fn end_waits() {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_wait_of_another_thread_ends() {
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let hour = libc::timespec { tv_sec: 3_600, tv_nsec: 0 };
                // SAFETY: points to a valid span; nothing is written back.
                let ended = unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, 0, &hour, ptr::null_mut()) };
                assert_eq!(ended, libc::EINTR);
                over.store(true, Ordering::SeqCst);
            });
            while !over.load(Ordering::SeqCst) {
                end_waits();
                std::thread::sleep(Duration::from_millis(1));
            }
        });
    }
}
