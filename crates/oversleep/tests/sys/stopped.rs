//! A stopped process: the time that passed is shown, by `SIGSTOP` from outside.

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
        // Until it is stopped, and then continued, no two readings are far apart.
        let mut before = start;
        while before.nanos_since(start) < 60_000_000_000 {
            let now = Clock::now_ordered();
            if now.nanos_since(before) >= 300_000_000 {
                let (inner_end_ns, end, outer_end_ns) = (monotonic_ns(), Clock::now_ordered(), monotonic_ns());
                let [least, most] = [inner_end_ns - inner_ns, outer_end_ns - outer_ns];
                println!("\njump {least} {} {most}", end.nanos_since(start));
                return;
            }
            before = now;
        }
        return;
    }
    // The shell's own `kill`, because a program of that name isn't everywhere.
    let signal = |name: &str, pid: u32| Command::new("sh").args(["-c", &format!("kill {name} {pid}")]).status();
    let mut stopped = child("stopped::a_stopped_process_sees_the_time_that_passed").spawn().unwrap();
    let mut lines = BufReader::new(stopped.stdout.take().unwrap()).lines().map_while(Result::ok);
    if !lines.any(|line| line.contains("ready")) {
        // What a process ends with whose program can't be begun: under a user-mode emulator the kernel knows no way to.
        assert_eq!(stopped.wait().unwrap().code(), Some(127), "the child runs");
        return println!("this program can't be started from itself here");
    }
    if signal("-STOP", stopped.id()).is_ok_and(|status| status.success()) {
        thread::sleep(Duration::from_millis(500));
        signal("-CONT", stopped.id()).unwrap();
    }
    let jump = lines.find_map(|line| Some(line.strip_prefix("jump ")?.to_owned())).expect("the child sees the jump");
    stopped.wait().unwrap();
    let jump: Vec<u64> = jump.split(' ').map(|ns| ns.parse().unwrap()).collect();
    let [least_ns, clock_ns, most_ns] = jump[..] else { panic!("{jump:?}") };
    // The operating system's clock says so, too, but for what a line may run ahead of it.
    assert!(clock_ns >= 300_000_000, "{jump:?}");
    assert!(clock_ns + 100_000 >= least_ns && clock_ns <= most_ns + 100_000, "{jump:?}");
}
