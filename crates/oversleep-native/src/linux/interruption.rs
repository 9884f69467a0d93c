//! Ending the waits that other threads are in.

use crate::unix::interruption::{act, nothing};

/// Ends the current waits of this process's other threads by a signal that does nothing else. A wait that begins just
/// afterwards isn't ended, so call this again until the threads have finished. Waits that continue after a signal, such
/// as `std::thread::sleep`, still do.
pub(super) fn end_waits() {
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

#[cfg(test)]
mod tests {
    use std::ptr;
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
