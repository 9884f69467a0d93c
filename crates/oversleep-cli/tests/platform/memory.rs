//! The memory use of the command: that of its data, not of the text that it reads or writes.

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
        return oversleep_testing::skip("no /proc here");
    }
    let home = Home::new();
    // Half a million samples: 10 MB of text, of which the reader of standard output takes little at first.
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
    let requests = requests.join(",");
    let measure = |count: &str| {
        run(&[
            "waits",
            "clock-nanosleep",
            "--on",
            "linux-hz250",
            "--request",
            &requests,
            "--count",
            count,
            "--json",
            "-",
        ])
    };
    // The program's own memory depends on the build, so a long result is compared with a short one.
    let (program, short) = measure("1000");
    let (measured, text) = measure("50000");
    let longer = (text.len() - short.len()) as u64;
    assert!(longer > 9_000_000, "{longer} bytes");
    let taken = measured.saturating_sub(program);
    assert!(taken < longer, "measuring took {taken} bytes for {longer} of text");
    std::fs::write(home.path().join("short.json"), &short).expect("written");
    std::fs::write(home.path().join("r.json"), &text).expect("written");
    let (program, _) = run(&["report", "short.json", "--json"]);
    let (read, again) = run(&["report", "r.json", "--json"]);
    assert!(again.len() + 1_000 > text.len(), "{} bytes", again.len());
    let taken = read.saturating_sub(program);
    assert!(taken < longer, "reading took {taken} bytes for {longer} of text");
}

/// A log of Windows' tools may be UTF-16: twice its text is in memory, beside the text itself, and no third copy.
#[test]
fn a_file_of_another_program_is_in_memory_as_it_is_and_as_text() {
    if !std::path::Path::new("/proc/self/status").exists() {
        return oversleep_testing::skip("no /proc here");
    }
    let home = Home::new();
    let times: Vec<String> = (0..200_000).map(|n| format!("{:.16}", 1.000_07_f64.powi(n) * 1e-3)).collect();
    let text = format!(
        r#"{{"results":[{{"command":"a","mean":1,"stddev":1,"median":1,"times":[{}],"exit_codes":[0]}}]{}}}"#,
        times.join(","),
        " ".repeat(24_000_000)
    );
    let wide: Vec<u8> = [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let peak = |bytes: &[u8]| {
        std::fs::write(home.path().join("h.json"), bytes).expect("written");
        let mut command = home.command();
        command.args(["export", "h.json", "--to", "buckets"]).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("it starts");
        let mut stdout = child.stdout.take().expect("a pipe");
        let mut all = vec![0; 100_000];
        stdout.read_exact(&mut all).expect("many buckets");
        let peak = peak_bytes(child.id());
        stdout.read_to_end(&mut all).expect("the rest");
        assert!(child.wait().expect("it ends").success());
        (peak, all)
    };
    let ((narrow, one), (taken, same)) = (peak(text.as_bytes()), peak(&wide));
    assert_eq!(one.len(), same.len());
    let more = taken.saturating_sub(narrow);
    assert!(more < wide.len() as u64 * 13 / 10, "{more} bytes more for {} of UTF-16", wide.len());
}
