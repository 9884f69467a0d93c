//! Signals that end a run, and waits that have to end with it.

use std::ptr;

/// The signals that end a program unless it heeds them.
const ENDING: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// Runs `install`, which puts handlers on the signals that end a program. Those that were ignored before it stay
/// ignored: `nohup` and a shell's background jobs mean that.
pub fn leaving_ignored<T>(install: impl FnOnce() -> T) -> T {
    let ignored: Vec<libc::c_int> = ENDING.into_iter().filter(|&signal| is_ignored(signal)).collect();
    let installed = install();
    ignored.into_iter().for_each(|signal| act(signal, libc::SIG_IGN));
    installed
}

/// Lets a write beyond the limit on file sizes (`ulimit -f`) fail like one on a full disk, instead of ending the process.
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

/// Without SA_RESTART, so that a call in progress ends with EINTR where a handler is put on the signal.
fn act(signal: libc::c_int, action: libc::sighandler_t) {
    // SAFETY: all-zero is a valid sigaction: no flags, an empty mask. The action is one of the system's own, or a
    // handler that does nothing.
    unsafe {
        let mut wanted: libc::sigaction = std::mem::zeroed();
        wanted.sa_sigaction = action;
        libc::sigaction(signal, &wanted, ptr::null_mut());
    }
}

/// Ends the waits that other threads of this process are in, by a signal that does nothing else. One that is entered just
/// afterwards is not ended: call it again until the threads are done. Waits that go on after a signal by themselves, like
/// `std::thread::sleep`, do so.
#[cfg(target_os = "linux")]
pub fn end_waits() {
    extern "C" fn nothing(_: libc::c_int) {}
    // Out-of-band data on a socket is all that this signal is otherwise for; nothing here has any.
    act(libc::SIGURG, nothing as *const () as libc::sighandler_t);
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return };
    // SAFETY: asks for two numbers.
    let (process, own) = unsafe { (libc::getpid(), libc::syscall(libc::SYS_gettid)) };
    for thread in threads.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<libc::pid_t>().ok()) {
        if libc::c_long::from(thread) != own {
            // SAFETY: takes three numbers. A thread that has ended since is not found, and no other process is reached.
            unsafe { libc::syscall(libc::SYS_tgkill, process, thread, libc::SIGURG) };
        }
    }
}

/// Elsewhere the wait in progress is finished. macOS would list the threads (`task_threads`) and signal each
/// (`pthread_kill`); this has not been tried on one.
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
