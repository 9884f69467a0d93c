//! A time namespace that takes `CLOCK_MONOTONIC` back by seconds: sleeps end on time, and the clock doesn't go back.
//!
//! A namespace belongs to a process and can't be left, so everything happens in forked children. Without the privilege
//! to create one, there is nothing to test.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::time::Duration;

use oversleep::{Clock, Instant};

use super::child::{child, is_child};
use super::forks::forked;

/// How far the namespace takes the clock. If the machine hasn't been up for so long, the kernel refuses to take it back.
const BACK_S: i64 = -5;
const AHEAD_S: i64 = 700;

/// Creates a time namespace for the children of this process, in a user namespace of its own if necessary.
fn create(offset_s: i64) -> bool {
    // SAFETY: takes flags. https://man7.org/linux/man-pages/man2/unshare.2.html
    let is_created = unsafe {
        libc::unshare(libc::CLONE_NEWTIME) == 0 || libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWTIME) == 0
    };
    let offset = || File::options().write(true).open("/proc/self/timens_offsets");
    is_created && offset().is_ok_and(|mut file| file.write_all(format!("monotonic {offset_s} 0").as_bytes()).is_ok())
}

/// Moves this process into the namespace of its children. It must have only one thread.
fn enter() -> bool {
    File::open("/proc/self/ns/time_for_children").is_ok_and(|namespace| {
        // SAFETY: the descriptor is open. https://man7.org/linux/man-pages/man2/setns.2.html
        unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWTIME) == 0 }
    })
}

/// Nanoseconds on a clock that is the same in every time namespace.
fn real_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is writable. https://man7.org/linux/man-pages/man2/clock_gettime.2.html
    unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Whether the clock goes on from `before`, and sleeps aren't early.
fn goes_on_from(before: Instant) -> bool {
    let start_ns = real_ns();
    let inherited = before + Duration::from_millis(20);
    let is_in_order = Clock::now_ordered() >= before;
    oversleep::sleep(Duration::from_millis(2));
    oversleep::sleep_until(inherited);
    let slept_ns = real_ns() - start_ns;
    let is_not_early = slept_ns >= 2_000_000;
    let source = Clock::source();
    // The counter's next lines, which are compared with the clocks of the namespace.
    std::thread::sleep(Duration::from_millis(150));
    Clock::now();
    is_in_order && is_not_early && Clock::now_ordered() >= inherited && Clock::source() == source
}

/// Repeats what may not fail until it takes no seconds. A machine that stalls makes it slow now and then; waits by a clock
/// that was taken back would make it slow each time, and the test would not end.
fn until_quick(test: impl Fn() -> Option<bool>) {
    loop {
        let start = std::time::Instant::now();
        assert_ne!(test(), Some(false));
        if start.elapsed() < Duration::from_secs(BACK_S.unsigned_abs()) / 2 {
            return;
        }
        eprintln!("once more, because sleeps of a few milliseconds took {:?}", start.elapsed());
    }
}

/// Like `create`; if that isn't allowed, the test is skipped.
#[track_caller]
fn is_created(offset_s: i64) -> bool {
    let is_created = create(offset_s);
    if !is_created {
        oversleep_testing::skip("a process can't create a time namespace with this offset");
    }
    is_created
}

fn in_a_child(test: &str, source: &str, body: fn()) {
    if is_child() {
        return body();
    }
    let output = child(&format!("timens::{test}")).env("OVERSLEEP_CLOCK", source).output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && stdout.contains("1 passed"), "{source}\n{stdout}");
}

#[test]
fn a_child_in_another_time_namespace_sleeps_on_time() {
    for source in ["best", "os"] {
        in_a_child("a_child_in_another_time_namespace_sleeps_on_time", source, || {
            for offset_s in [BACK_S, AHEAD_S] {
                // In a child, because `/proc/self` isn't this thread.
                until_quick(|| {
                    forked(|| {
                        let before = Clock::now_ordered();
                        !is_created(offset_s) || forked(|| goes_on_from(before)) != Some(false)
                    })
                });
            }
        });
    }
}

#[test]
fn a_process_that_enters_a_time_namespace_sleeps_on_time() {
    for source in ["best", "os"] {
        in_a_child("a_process_that_enters_a_time_namespace_sleeps_on_time", source, || {
            until_quick(|| {
                forked(|| {
                    let before = Clock::now_ordered();
                    !is_created(BACK_S) || !enter() || goes_on_from(before)
                })
            });
        });
    }
}
