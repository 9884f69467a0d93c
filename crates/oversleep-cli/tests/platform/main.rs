//! Features of single systems: full devices, arguments that are not text.
#![cfg(unix)]

mod emulate;
mod emulate_32_bits;
mod emulate_calls;
mod emulate_cancelled;
mod emulate_control;
mod emulate_like;
mod emulate_often;
mod emulate_preload;
mod emulate_refusals;
mod emulate_sending;
mod emulate_sockets;
mod emulate_starts;
mod emulate_timers;
mod memory;
mod places;
mod run;
mod runtime_rules;
mod runtimes;
mod signals;
#[path = "../support/mod.rs"]
mod support;
mod terminal;
mod why_supervised;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use oversleep_record::ResultFile;
use support::{Ended, Home, SHORT, pauses};

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

#[test]
fn a_full_disk_loses_nothing() {
    let home = Home::new();
    let disk = home.path().join("disk");
    fs::create_dir(&disk).expect("a directory");
    let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=4k", "tmpfs"]).arg(&disk).output();
    if !mount.is_ok_and(|mount| mount.status.success()) {
        return oversleep_testing::skip("this user may not mount a small file system");
    }
    let _mounted = Mounted(disk.clone());
    fs::write(disk.join("old.json"), "old").expect("there is room for this");
    let ended = home.run(SHORT.iter().chain(&["--out", "disk/old.json"])).with_code(1);
    kept(&home, &ended.stderr, "error: can't write 'disk/old.json': ");
    assert_eq!(fs::read(disk.join("old.json")).expect("still there"), b"old", "the old file is untouched");
    assert_eq!(fs::read_dir(&disk).expect("readable").count(), 1, "nothing half written is left");
}

#[test]
fn a_full_disk_is_named_with_the_file_nobody_chose() {
    let home = Home::new();
    let disk = home.path().join("disk");
    fs::create_dir(&disk).expect("a directory");
    let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=4k", "tmpfs"]).arg(&disk).output();
    if !mount.is_ok_and(|mount| mount.status.success()) {
        return oversleep_testing::skip("this user may not mount a small file system");
    }
    let _mounted = Mounted(disk.clone());
    let mut command = home.command();
    command.current_dir(&disk).args(["--only", "B5", "--request", "1ms", "--count", "3", "--no-remedies", "--quiet"]);
    let ended = Ended::of(command.output().expect("it starts")).with_code(1);
    kept(&home, &ended.stderr, "error: can't write 'oversleep-2");
    assert_eq!(fs::read_dir(&disk).expect("readable").count(), 0, "nothing half written is left");
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

/// Runs a line of documentation. One that measures for long is interrupted once it handles signals; the others run to
/// their end.
fn run_line(home: &Home, line: &str) {
    if line.contains(['|', '>', ';', '&']) {
        let output = home.prepared(Command::new("sh")).args(["-ec", line]).output().expect("a shell");
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    let words: Vec<&str> = line.split_whitespace().skip(1).map(|word| word.trim_matches('\'')).collect();
    // On a busy machine it may take a while until signals are handled; a run that a signal kills is repeated.
    for pause in pauses() {
        let mut child =
            home.command().args(&words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
        let begun = Instant::now();
        while begun.elapsed() < pause && child.try_wait().expect("it can be asked").is_none() {
            std::thread::sleep(Duration::from_millis(20));
        }
        if child.try_wait().expect("it can be asked").is_none() {
            let interrupt = format!("kill -INT {}", child.id());
            assert!(Command::new("sh").args(["-c", &interrupt]).status().expect("a shell").success());
        }
        let output = child.wait_with_output().expect("it ends");
        if output.status.signal().is_none() {
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(matches!(output.status.code(), Some(0 | 4 | 130)), "{line}: {:?} {stderr}", output.status);
            return;
        }
    }
}

/// A home with the results that lines of documentation read.
fn furnished(lines: &[String]) -> Home {
    let home = Home::new();
    home.run(SHORT.iter().chain(&["--out", "r.json"])).fine();
    fs::create_dir(home.path().join("results")).expect("writable");
    fs::copy(home.path().join("r.json"), home.path().join("results/r.json")).expect("writable");
    let reads = |line: &&String| {
        ["oversleep report ", "oversleep compare ", "oversleep clocks "].iter().any(|start| line.starts_with(start))
    };
    for line in lines.iter().filter(reads) {
        for word in line.split_whitespace().filter(|word| word.ends_with(".json") && !word.starts_with('-')) {
            if !home.path().join(word).exists() {
                fs::copy(home.path().join("r.json"), home.path().join(word)).expect("writable");
            }
        }
    }
    home
}

#[test]
fn every_example_of_the_help_runs() {
    let mut lines = Vec::new();
    for command in [
        "",
        "check",
        "clocks",
        "waits",
        "forkjoin",
        "handoff",
        "resolution",
        "resolution show",
        "resolution hold",
        "resolution sweep",
        "resolution neighbours",
        "experiments",
        "explain",
        "report",
        "compare",
        "completions",
        "man",
    ] {
        let help = Home::new().run(command.split_whitespace().chain(["-h"])).fine().stdout;
        let examples = help.lines().skip(1).take_while(|line| !line.is_empty());
        let before = lines.len();
        lines.extend(examples.map(|line| line.trim().split("  ").next().unwrap_or_default().to_owned()));
        assert!(lines.len() > before, "{command} has no examples");
    }
    let home = furnished(&lines);
    for line in &lines {
        assert!(line.starts_with("oversleep"), "{line}");
        run_line(&home, line);
    }
}

/// A page of the project; `None` if the crate is tested without it.
#[track_caller]
fn page(name: &str) -> Option<String> {
    match fs::read_to_string(format!("{}/../../{name}", env!("CARGO_MANIFEST_DIR"))) {
        Ok(text) => Some(text.replace("\r\n", "\n")),
        Err(error) => {
            oversleep_testing::skip(format!("{name}: {error}"));
            None
        }
    }
}

/// A model gives the same answer everywhere, so the README's answer can be compared with it.
#[test]
fn the_answer_in_the_readme_is_the_one_that_is_given() {
    let Some(text) = page("README.md") else { return };
    let (_, from_command) = text.split_once("```console\n$ oversleep ask ").expect("a question");
    let (command, after) = from_command.split_once("\n```\n\n```text\n").expect("the answer behind it");
    let (shown, _) = after.split_once("\n```").expect("its end");
    let args = command.split_whitespace().map(|word| word.trim_matches('\''));
    let answer = Home::new().run(std::iter::once("ask").chain(args)).fine();
    assert_eq!(answer.stdout.trim_end(), shown);
}

/// The commands in a page's console blocks.
fn commands(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut in_console = false;
    for line in text.lines() {
        match line.trim() {
            "```console" => in_console = true,
            "```" => in_console = false,
            line if in_console => {
                lines.extend(line.strip_prefix("$ ").filter(|line| line.starts_with("oversleep")).map(str::to_owned));
            }
            _ => {}
        }
    }
    lines
}

#[test]
fn every_command_of_the_readme_and_the_guide_runs() {
    let pages: Vec<String> = ["README.md", "docs/guide.md"].into_iter().filter_map(|name| page(name)).collect();
    let mut lines = Vec::new();
    for text in &pages {
        let commands = commands(text);
        assert!(!commands.is_empty(), "a page has no ```console block with a `$ oversleep` line");
        lines.extend(commands.into_iter().filter(|line| !lines.contains(line)).collect::<Vec<_>>());
    }
    let home = furnished(&lines);
    for line in &lines {
        run_line(&home, line);
    }
}
