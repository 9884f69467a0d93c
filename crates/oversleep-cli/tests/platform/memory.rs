//! How much memory the command takes: that of what it holds, not of the text that it reads or writes.

use std::io::Read;
use std::process::Stdio;

use crate::support::Home;

/// The most memory that a process has had so far, in bytes.
fn peak_bytes(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs still");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("Linux counts it");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number of kB") * 1024
}

#[test]
fn a_result_takes_less_memory_than_its_text_whether_it_is_measured_read_or_compared() {
    if !std::path::Path::new("/proc/self/status").exists() {
        return eprintln!("skipped: no /proc here");
    }
    let home = Home::new();
    // A million samples: 21 MB of text, of which the reader of standard output takes little at first.
    let run = |args: &[&str]| {
        let mut child =
            home.command().args(args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
        let mut stdout = child.stdout.take().expect("a pipe");
        let mut text = vec![0; 100_000];
        stdout.read_exact(&mut text).expect("a long text");
        let peak = peak_bytes(child.id());
        stdout.read_to_end(&mut text).expect("the rest");
        assert!(child.wait().expect("it ends").success());
        (peak, text)
    };
    let requests: Vec<String> = (1..=10).map(|us| format!("{}us", us * 100)).collect();
    let (measured, text) = run(&[
        "waits",
        "clock-nanosleep",
        "--on",
        "linux-hz250",
        "--request",
        &requests.join(","),
        "--count",
        "100000",
        "--json",
        "-",
    ]);
    assert!(text.len() > 18_000_000, "{} bytes", text.len());
    assert!(measured < text.len() as u64 * 8 / 5, "measuring took {measured} bytes for {} of text", text.len());
    std::fs::write(home.path().join("r.json"), &text).expect("written");
    let (read, again) = run(&["report", "r.json", "--json"]);
    assert!(again.len() + 1_000 > text.len(), "{} bytes", again.len());
    assert!(read < text.len() as u64 * 8 / 5, "reading took {read} bytes for {} of text", text.len());
}
