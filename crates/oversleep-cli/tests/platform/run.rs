//! `run`: what a program gets that is run with a setting.
#![cfg(target_os = "linux")]

use super::support::Home;

#[test]
fn a_program_inherits_what_is_held_and_its_code_is_passed_on() {
    let home = Home::new();
    let script = "cat /proc/self/timerslack_ns; exit 7";
    let ended = home.run(["run", "--slack", "2ns", "--", "sh", "-c", script]).with_code(7);
    assert_eq!(ended.stdout, "2\n");
    assert!(ended.stderr.contains("slack is held at 2 ns"), "{}", ended.stderr);
    let quiet = home.run(["run", "--nice", "5", "--quiet", "--", "nice"]).fine();
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("5\n", ""));
}

#[test]
fn nothing_to_hold_and_no_program_are_usage_errors() {
    let home = Home::new();
    home.run(["run", "--", "true"]).with_code(2);
    home.run(["run", "--slack", "1ns"]).with_code(2);
    home.run(["run", "--nice", "20", "--", "true"]).with_code(2);
}
