//! A process stopped by `SIGSTOP` sees the time that passed.

use std::io::{BufRead, BufReader};
use std::thread;
use std::time::Duration;

use oversleep::clock::{Clock, monotonic_ns};

use super::child::{child, is_child};

const STOP: Duration = Duration::from_millis(300);

/// Stops a child; once it has stopped, or ended, sleeps and lets it continue.
fn stop_for_a_while(child: libc::pid_t) {
    let changes = libc::WSTOPPED | libc::WEXITED | libc::WNOWAIT;
    // SAFETY: the child is ours and stays until it is waited for; an all-zero siginfo_t is valid, and written to.
    // https://man7.org/linux/man-pages/man2/waitid.2.html
    unsafe {
        assert_eq!(libc::kill(child, libc::SIGSTOP), 0);
        let mut info: libc::siginfo_t = std::mem::zeroed();
        assert_eq!(libc::waitid(libc::P_PID, child as libc::id_t, &raw mut info, changes), 0);
    }
    thread::sleep(STOP + Duration::from_millis(1));
    // SAFETY: as above.
    unsafe { libc::kill(child, libc::SIGCONT) };
}

#[test]
fn a_stopped_process_sees_the_time_that_passed() {
    if is_child() {
        let (outer_ns, start, inner_ns) = (monotonic_ns(), Clock::now_ordered(), monotonic_ns());
        println!("ready");
        // Successive readings are close together until the process is stopped and continued. Without its parent it ends.
        let mut before = start;
        while before.nanos_since(start) < 600_000_000_000 {
            let now = Clock::now_ordered();
            if now.nanos_since(before) >= STOP.as_nanos() as i64 {
                let (inner_end_ns, end, outer_end_ns) = (monotonic_ns(), Clock::now_ordered(), monotonic_ns());
                let [min, max] = [inner_end_ns - inner_ns, outer_end_ns - outer_ns];
                println!("\njump {min} {} {max}", end.nanos_since(start));
                return;
            }
            before = now;
        }
        return;
    }
    let mut stopped = child("stopped::a_stopped_process_sees_the_time_that_passed").spawn().unwrap();
    let mut lines = BufReader::new(stopped.stdout.take().unwrap()).lines().map_while(Result::ok);
    if !lines.any(|line| line.contains("ready")) {
        // Under a user-mode emulator the kernel can't start this program again, and the child exits with 127.
        assert_eq!(stopped.wait().unwrap().code(), Some(127), "the child runs");
        return oversleep_testing::skip("this program can't start itself");
    }
    stop_for_a_while(stopped.id() as libc::pid_t);
    let jump = lines.find_map(|line| Some(line.strip_prefix("jump ")?.to_owned())).expect("the child sees the jump");
    stopped.wait().unwrap();
    let jump: Vec<u64> = jump.split(' ').map(|ns| ns.parse().unwrap()).collect();
    let [min_ns, clock_ns, max_ns] = jump[..] else { panic!("{jump:?}") };
    assert!(clock_ns >= STOP.as_nanos() as u64, "{jump:?}");
    // A line may run ahead of the operating system's clock by 0.1 ms.
    assert!(clock_ns + 100_000 >= min_ns && clock_ns <= max_ns + 100_000, "{jump:?}");
}
