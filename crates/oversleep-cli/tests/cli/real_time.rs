//! On the real machine, in real time, with generous bounds: run with `-- --ignored`.

use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use oversleep_record::ResultFile;

/// Sends a signal by name; `None` if there is no `kill` program.
fn signal(name: &str, pid: u32) -> Option<bool> {
    Command::new("kill").args([name, &pid.to_string()]).status().ok().map(|status| status.success())
}

#[test]
#[ignore = "for the proving ground: real time, five seconds"]
fn a_stop_of_500_ms_in_a_run_of_5_s_shows_as_500_late_deadlines() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_oversleep"))
        .args(["waits", "clock-nanosleep-abs", "--request", "1ms", "--for", "5s", "--json", "--quiet"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    sleep(Duration::from_millis(1_500));
    if signal("-STOP", child.id()).is_none() {
        child.kill().and_then(|()| child.wait()).expect("it can be ended");
        return oversleep_testing::skip("no kill program here");
    }
    sleep(Duration::from_millis(500));
    signal("-CONT", child.id());
    let output = child.wait_with_output().expect("it ends by itself");
    let file = ResultFile::read(&output.stdout).expect("one result on stdout");

    let series = file.series("B5/clock-nanosleep-abs/1ms").expect("what was asked for");
    assert_eq!(series.counts.expected, Some(series.counts.recorded), "no deadline is skipped");
    // The stop is the longest run of deadlines without a call; other runs are the machine's own.
    let longest = series.samples.missed_runs.iter().map(|run| run[1]).max().unwrap_or(0);
    assert!((450..=900).contains(&longest), "{longest} deadlines passed during the stop");
    let late = |distribution: &oversleep_record::Distribution| distribution.count_above(1_000_000);
    let recorded = late(&series.distribution);
    let corrected = late(&series.corrected().expect("it has a request"));
    assert!(recorded >= longest - 2, "{recorded} late as recorded");
    assert!(corrected >= longest - 10, "{corrected} late after correction");
    assert!(late(series.calls()) < recorded, "a tool that skips would show next to none");
}
