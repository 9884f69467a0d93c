//! A process stopped by `SIGSTOP` sees the time that passed.

use std::io::{BufRead, BufReader};
use std::process::Command;
use std::thread;
use std::time::Duration;

use oversleep::clock::{Clock, monotonic_ns};

use super::child::{child, is_child};

#[test]
fn a_stopped_process_sees_the_time_that_passed() {
    if is_child() {
        let (outer_ns, start, inner_ns) = (monotonic_ns(), Clock::now_ordered(), monotonic_ns());
        println!("ready");
        // Successive readings are close together until the process is stopped and continued.
        let mut before = start;
        while before.nanos_since(start) < 60_000_000_000 {
            let now = Clock::now_ordered();
            if now.nanos_since(before) >= 300_000_000 {
                let (inner_end_ns, end, outer_end_ns) = (monotonic_ns(), Clock::now_ordered(), monotonic_ns());
                let [min, max] = [inner_end_ns - inner_ns, outer_end_ns - outer_ns];
                println!("\njump {min} {} {max}", end.nanos_since(start));
                return;
            }
            before = now;
        }
        return;
    }
    // The shell's built-in `kill`, because not every system has a program of that name.
    let signal = |name: &str, pid: u32| Command::new("sh").args(["-c", &format!("kill {name} {pid}")]).status();
    let mut stopped = child("stopped::a_stopped_process_sees_the_time_that_passed").spawn().unwrap();
    let mut lines = BufReader::new(stopped.stdout.take().unwrap()).lines().map_while(Result::ok);
    if !lines.any(|line| line.contains("ready")) {
        // Under a user-mode emulator the kernel can't start this program again, and the child exits with 127.
        assert_eq!(stopped.wait().unwrap().code(), Some(127), "the child runs");
        return println!("this program can't start itself here");
    }
    if signal("-STOP", stopped.id()).is_ok_and(|status| status.success()) {
        thread::sleep(Duration::from_millis(500));
        signal("-CONT", stopped.id()).unwrap();
    }
    let jump = lines.find_map(|line| Some(line.strip_prefix("jump ")?.to_owned())).expect("the child sees the jump");
    stopped.wait().unwrap();
    let jump: Vec<u64> = jump.split(' ').map(|ns| ns.parse().unwrap()).collect();
    let [min_ns, clock_ns, max_ns] = jump[..] else { panic!("{jump:?}") };
    assert!(clock_ns >= 300_000_000, "{jump:?}");
    // A line may run ahead of the operating system's clock by 0.1 ms.
    assert!(clock_ns + 100_000 >= min_ns && clock_ns <= max_ns + 100_000, "{jump:?}");
}
