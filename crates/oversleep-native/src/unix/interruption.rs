//! Signals that end a run, and the waits that must end with it.

use std::ptr;

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
pub fn fail_writes_beyond_the_limit() {
    act(libc::SIGXFSZ, libc::SIG_IGN);
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
    extern "C" fn nothing(_: libc::c_int) {}
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
