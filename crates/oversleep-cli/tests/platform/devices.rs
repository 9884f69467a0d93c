//! Arguments that are no text, and outputs that can't be written: full devices and disks, and directories that nobody
//! writes to.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};

use oversleep_record::ResultFile;

use crate::support::{self, Ended, Home, SHORT};

#[test]
fn arguments_that_are_no_text_are_refused_or_taken_as_paths() {
    let home = Home::new();
    let no_text = OsStr::from_bytes(b"\xff\xfe.json");
    for args in [[OsStr::new("waits"), no_text], [OsStr::new("explain"), no_text], [no_text, no_text]] {
        home.run(args).with_code(2);
    }
    let short = SHORT.iter().map(OsStr::new);
    home.run(short.chain([OsStr::new("--out"), no_text])).fine();
    assert!(fs::metadata(home.path().join(no_text)).is_ok());
    home.run([OsStr::new("report"), no_text]).fine();
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    for args in [&["experiments"][..], &["explain"], &["completions", "bash"], &SHORT] {
        let home = Home::new();
        let mut child =
            home.command().args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        drop(child.stdout.take());
        let ended = Ended::of(child.wait_with_output().expect("it ends")).fine();
        assert_eq!(ended.stderr, "", "{args:?}");
    }
}

/// As `oversleep … | head -1` ends for it.
#[test]
fn an_exit_code_is_the_results_whoever_reads_it() {
    let recording = format!("{}/../oversleep-why/tests/recorded/fifo.why", env!("CARGO_MANIFEST_DIR"));
    let home = Home::new();
    home.run(["waits", "nanosleep", "--on", "linux-hz250", "--count", "3", "--out", "a.json", "--quiet"]).fine();
    home.run(["waits", "poll", "--on", "linux-hz250", "--count", "3", "--out", "b.json", "--quiet"]).fine();
    for (args, code) in [
        (&["why", &recording, "--full", "--fail-if", "p99>50us"][..], 3),
        (&["why", &recording, "--fail-if", "p99>3ms"], 4),
        (&["compare", "a.json", "b.json"], 4),
        (&["compare", "a.json", "b.json", "--json"], 4),
        (&["report", "a.json", "b.json"], 0),
    ] {
        home.run(args).with_code(code);
        let mut command = home.command();
        let mut child = command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        drop(child.stdout.take());
        let ended = Ended::of(child.wait_with_output().expect("it ends")).with_code(code);
        assert!(!ended.stderr.contains("standard output"), "{args:?}: {}", ended.stderr);
    }
}

/// A full device, if there is one.
fn full() -> Option<File> {
    fs::OpenOptions::new().write(true).open("/dev/full").ok()
}

#[test]
fn a_full_device_loses_nothing() {
    let (Some(_), home) = (full(), Home::new()) else { return oversleep_testing::skip("no /dev/full here") };
    let ended = home.run(SHORT.iter().chain(&["--out", "/dev/full", "--quiet"])).with_code(1);
    assert!(ended.stdout.contains("thread-sleep"), "the report is shown all the same");
    kept(&home, &ended.stderr, "error: can't write '/dev/full': ");
    assert!(fs::metadata("/dev/full").is_ok_and(|found| !found.is_file()), "a device is not replaced by a file");
}

#[test]
fn a_comparison_that_was_measured_is_kept_and_no_command_is_named_that_cannot_read_it() {
    let (Some(_), home) = (full(), Home::new()) else { return oversleep_testing::skip("no /dev/full here") };
    let machines = ["--on", "windows-11,linux-hz250", "--out", "/dev/full"];
    let error = home.run(SHORT.iter().chain(&machines)).with_code(1).stderr;
    assert!(error.contains("; the result is kept in ") && !error.contains("oversleep report"), "{error}");
    let path = error.trim().rsplit("kept in ").next().expect("a path");
    assert!(fs::read_to_string(path).expect("it is there").contains("oversleep-comparison/3"));
}

#[test]
fn full_standard_output_loses_nothing() {
    for option in [&["--json"][..], &[], &["--html", "-"]] {
        let (Some(full), home) = (full(), Home::new()) else { return oversleep_testing::skip("no /dev/full here") };
        let output = home.command().args(SHORT).args(option).stdout(full).output().expect("it starts");
        let ended = Ended::of(output).with_code(1);
        kept(&home, &ended.stderr, "error: can't write to standard output: ");
    }
    let (Some(full), home) = (full(), Home::new()) else { return oversleep_testing::skip("no /dev/full here") };
    let output = home.command().arg("experiments").stdout(full).output().expect("it starts");
    assert!(Ended::of(output).with_code(1).stderr.starts_with("error: can't write to standard output: "));
}

/// Checks that the message names a file that contains the result.
#[track_caller]
fn kept(home: &Home, stderr: &str, begins: &str) {
    assert!(stderr.starts_with(begins) && stderr.contains("the result is kept in "), "{stderr}");
    let kept = home.temporary_files();
    let [name] = kept.as_slice() else { panic!("{kept:?}") };
    assert!(stderr.contains(name.as_str()), "{stderr}");
    let path = home.path().join("temp").join(name);
    assert!(ResultFile::read(&fs::read(&path).expect("readable")).is_ok_and(|result| result.series[0].has_values()));
}

#[test]
fn with_no_place_left_the_result_goes_to_standard_output() {
    let (Some(_), home) = (full(), Home::new()) else { return oversleep_testing::skip("no /dev/full here") };
    let mut command = home.command();
    command.args(SHORT).args(["--out", "/dev/full"]).env("TMPDIR", "/dev/null/nowhere");
    let ended = Ended::of(command.output().expect("it starts")).with_code(1);
    assert!(ended.stderr.contains("the result is the last line on standard output"), "{}", ended.stderr);
    let last = ended.stdout.lines().last().expect("a line");
    assert!(ResultFile::read(last.as_bytes()).is_ok());
}

/// A separate file system, unmounted by the guard.
struct Mounted(std::path::PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// A file system of 4 kB in the folder `disk`. Where this user may not mount one, the test is skipped.
#[track_caller]
fn small_disk(home: &Home) -> Option<Mounted> {
    let disk = home.path().join("disk");
    fs::create_dir(&disk).expect("a directory");
    let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=4k", "tmpfs"]).arg(&disk).output();
    if !mount.is_ok_and(|mount| mount.status.success()) {
        oversleep_testing::skip("this user may not mount a small file system");
        return None;
    }
    Some(Mounted(disk))
}

#[test]
fn a_full_disk_loses_nothing() {
    let home = Home::new();
    let Some(mounted) = small_disk(&home) else { return };
    let disk = &mounted.0;
    fs::write(disk.join("old.json"), "old").expect("there is room for this");
    let ended = home.run(SHORT.iter().chain(&["--out", "disk/old.json"])).with_code(1);
    kept(&home, &ended.stderr, "error: can't write 'disk/old.json': ");
    assert_eq!(fs::read(disk.join("old.json")).expect("still there"), b"old", "the old file is untouched");
    assert_eq!(fs::read_dir(disk).expect("readable").count(), 1, "nothing half written is left");
}

#[test]
fn a_full_disk_is_named_with_the_file_nobody_chose() {
    let home = Home::new();
    let Some(mounted) = small_disk(&home) else { return };
    let disk = &mounted.0;
    let mut command = home.command();
    command.current_dir(disk).args(["--only", "B5", "--request", "1ms", "--count", "3", "--no-remedies", "--quiet"]);
    let ended = Ended::of(command.output().expect("it starts")).with_code(1);
    kept(&home, &ended.stderr, "error: can't write 'oversleep-2");
    assert_eq!(fs::read_dir(disk).expect("readable").count(), 0, "nothing half written is left");
}

#[test]
fn an_unwritable_directory_is_no_reason_not_to_measure() {
    let home = Home::new();
    let nowhere =
        if fs::metadata("/proc/self").is_ok() { "/proc" } else { return oversleep_testing::skip("no /proc here") };
    let mut command = home.command();
    command.current_dir(nowhere).args(["--only", "B5", "--request", "1ms", "--count", "3", "--no-remedies"]);
    let ended = Ended::of(command.output().expect("it starts")).measured();
    assert!(ended.stderr.starts_with("warning: the current directory is not writable; "), "{}", ended.stderr);
    assert_eq!(home.temporary_files().len(), 2, "{:?}", home.temporary_files());
    let named = home.run(SHORT.iter().chain(&["--out", "/proc/r.json"])).with_code(1);
    assert!(named.stderr.starts_with("error: can't write '/proc/r.json': "), "{}", named.stderr);
}

#[test]
fn a_link_stays_a_link() {
    let home = Home::new();
    fs::write(home.path().join("real.json"), "old").expect("writable");
    std::os::unix::fs::symlink("real.json", home.path().join("link.json")).expect("a link");
    home.run(SHORT.iter().chain(&["--out", "link.json"])).fine();
    assert!(fs::symlink_metadata(home.path().join("link.json")).expect("there").is_symlink());
    assert!(fs::metadata(home.path().join("real.json")).expect("there").len() > 100);
}

/// As `oversleep report <(…)` reads: what a pipe holds comes once.
#[test]
fn a_result_in_a_named_pipe_is_read() {
    let home = Home::new();
    home.run(["waits", "nanosleep", "--on", "linux-hz250", "--count", "3", "--out", "a.json", "--quiet"]).fine();
    let shown = home.run(["report", "a.json"]).fine().stdout;
    let script = "mkfifo x; cat a.json > x & exec \"$0\" report x";
    let mut command = home.prepared(Command::new("sh"));
    let output = command.args(["-ec", script]).arg(support::binary()).output().expect("a shell");
    assert_eq!(Ended::of(output).fine().stdout, shown);
}
