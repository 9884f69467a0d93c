//! Signals: measurements are kept, changes are restored, and no incomplete file is left.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use oversleep_record::ResultFile;
use oversleep_record::file::Completion;

use crate::support::{Ended, Home, pauses};

fn signal(child: &Child, name: &str) {
    let sent = Command::new("sh").arg("-c").arg(format!("kill -{name} {}", child.id())).status().expect("a shell");
    assert!(sent.success());
}

/// A run that would take hours, once it surely handles signals: the announcement of its length comes after that.
fn long_run(wait: &str, home: &Home, more: &[&str]) -> (Child, BufReader<std::process::ChildStderr>) {
    announced(home.command().args(["waits", wait, "--for", "24h"]).args(more))
}

/// Starts a command that announces a day.
fn announced(command: &mut Command) -> (Child, BufReader<std::process::ChildStderr>) {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut stderr = BufReader::new(child.stderr.take().expect("piped"));
    let mut line = String::new();
    stderr.read_line(&mut line).expect("readable");
    let announced = "this will take about 24 h; press Ctrl-C to end it and keep what was measured\n";
    if line != announced {
        let _ = child.kill();
    }
    assert_eq!(line, announced);
    (child, stderr)
}

#[test]
fn what_was_measured_is_kept_when_it_is_interrupted() {
    let is_kept = |name: &str, pause: Duration| {
        let home = Home::new();
        let (child, mut stderr) = long_run("nanosleep", &home, &["--request", "1ms", "--out", "r.json"]);
        sleep(pause);
        signal(&child, name);
        let mut lines = String::new();
        std::io::Read::read_to_string(&mut stderr, &mut lines).expect("readable");
        let ended = Ended::of(child.wait_with_output().expect("it ends")).with_code(130);
        assert!(
            lines.starts_with(
                "ending the run with what was measured; a second signal (Ctrl-C, SIGTERM) quits at once\n"
            ),
            "{lines}"
        );
        assert!(ended.stdout.contains("nanosleep"), "the report is shown: {}", ended.stdout);
        let result = ResultFile::read(&fs::read(home.path().join("r.json")).expect("written")).expect("a result");
        assert_eq!(result.completion, Completion::Interrupted);
        result.series[0].has_values()
    };
    for name in ["INT", "TERM"] {
        assert!(pauses().any(|pause| is_kept(name, pause)));
    }
}

/// `timeout` sends its signal to the process and to its group: two signals, a moment apart.
#[test]
fn signals_that_come_together_are_one() {
    let are_one = || {
        let home = Home::new();
        let (child, mut stderr) = long_run("nanosleep", &home, &["--request", "1ms", "--out", "r.json"]);
        let sent = Instant::now();
        let script = format!("for i in 1 2 3 4 5 6 7 8; do kill -TERM {0}; kill -INT {0}; done", child.id());
        assert!(Command::new("sh").args(["-c", &script]).stderr(Stdio::null()).status().is_ok());
        let mut lines = String::new();
        std::io::Read::read_to_string(&mut stderr, &mut lines).expect("readable");
        Ended::of(child.wait_with_output().expect("it ends")).with_code(130);
        if lines.contains("quitting at once") {
            // Right only if the machine held one of them up for half a second. Then this says nothing.
            assert!(sent.elapsed() >= Duration::from_millis(500), "{lines}");
            return false;
        }
        let result = ResultFile::read(&fs::read(home.path().join("r.json")).expect("written")).expect("a result");
        assert_eq!(result.completion, Completion::Interrupted);
        true
    };
    while !are_one() {}
}

/// Nothing reads the pipe, so the delivery never ends by itself.
#[test]
fn the_first_signal_ends_a_blocked_delivery_and_the_result_is_kept() {
    let is_kept = || {
        let home = Home::new();
        assert!(Command::new("mkfifo").arg(home.path().join("pipe")).status().is_ok_and(|made| made.success()));
        let mut command = home.command();
        // More than a pipe holds.
        command.args(["waits", "nanosleep", "--on", "linux-hz250", "--request", "1ms", "--count", "10000"]);
        command.args(["--json", "pipe"]).stdout(Stdio::null()).stderr(Stdio::piped());
        let child = command.spawn().expect("it starts");
        // It is opened once its other end is: when the delivery begins.
        let pipe = File::open(home.path().join("pipe")).expect("its other end is opened");
        let sent = Instant::now();
        signal(&child, "INT");
        let ended = Ended::of(child.wait_with_output().expect("it ends")).with_code(130);
        drop(pipe);
        if ended.stderr.is_empty() {
            // Right only if the machine held up its last words for as long as they may take. Then this says nothing.
            assert!(sent.elapsed() >= Duration::from_secs(3));
            return false;
        }
        let begins = "warning: ended before every output was written; the result is kept in ";
        assert!(ended.stderr.starts_with(begins), "{}", ended.stderr);
        let kept = home.temporary_files();
        let [name] = kept.as_slice() else { panic!("{kept:?}") };
        let kept = fs::read(home.path().join("temp").join(name)).expect("readable");
        assert!(ResultFile::read(&kept).is_ok_and(|result| result.completion == Completion::Complete));
        true
    };
    while !is_kept() {}
}

/// A process that is killed can't clean up.
#[test]
#[cfg(target_os = "linux")]
fn a_killed_process_leaves_nothing_half_written() {
    for after_ms in [2, 5, 10, 20, 40, 80] {
        let home = Home::new();
        let mut command = home.command();
        command
            .args(crate::support::SHORT)
            .args(["--out", "r.json", "--html", "r.html"])
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut child = command.spawn().expect("it starts");
        sleep(Duration::from_millis(after_ms));
        child.kill().expect("it is ours");
        child.wait().expect("it ends");
        for name in home.files() {
            let bytes = fs::read(home.path().join(&name)).expect("readable");
            let is_whole = match name.as_str() {
                "r.json" => ResultFile::read(&bytes).is_ok(),
                _ => name == "r.html" && bytes.ends_with(b"</html>\n"),
            };
            assert!(is_whole, "{after_ms} ms: {name} has {} bytes", bytes.len());
        }
    }
}

/// The kernel announces the soft limit by a signal.
#[test]
fn the_limit_on_cpu_time_ends_a_run_with_its_result() {
    let home = Home::new();
    let line = "ulimit -St 1; exec \"$0\" waits spin --request 1ms --for 24h --out r.json";
    let mut command = home.prepared(Command::new("sh"));
    command.args(["-c", line, env!("CARGO_BIN_EXE_oversleep")]);
    let ended = Ended::of(command.output().expect("a shell")).with_code(130);
    assert!(ended.stderr.contains("the CPU time that this process may use"), "{}", ended.stderr);
    let result = ResultFile::read(&fs::read(home.path().join("r.json")).expect("written")).expect("a result");
    assert!(result.completion == Completion::Interrupted && result.series[0].has_values());
}

/// The kernel kills at the hard limit. So that there is a signal before, and time for the result, the soft one is lowered.
#[test]
#[cfg(target_os = "linux")]
fn before_the_hard_limit_on_cpu_time_there_is_a_signal() {
    let home = Home::new();
    let mut command = home.prepared(Command::new("sh"));
    command.args([
        "-c",
        "ulimit -t 100; exec \"$0\" waits spin --request 1ms --for 24h --out r.json",
        env!("CARGO_BIN_EXE_oversleep"),
    ]);
    let (child, mut stderr) = announced(&mut command);
    let limits = fs::read_to_string(format!("/proc/{}/limits", child.id())).expect("its limits");
    signal(&child, "XCPU");
    let mut lines = String::new();
    std::io::Read::read_to_string(&mut stderr, &mut lines).expect("readable");
    Ended::of(child.wait_with_output().expect("it ends")).with_code(130);
    let limit = limits.lines().find_map(|line| line.strip_prefix("Max cpu time")).expect("on CPU time");
    assert_eq!(limit.split_whitespace().take(2).collect::<Vec<_>>(), ["95", "100"]);
    assert!(lines.contains("the CPU time that this process may use"), "{lines}");
    let result = ResultFile::read(&fs::read(home.path().join("r.json")).expect("written")).expect("a result");
    assert_eq!(result.completion, Completion::Interrupted);
}

/// The first signal doesn't wait for a wait of a minute, on systems that can end one.
#[test]
#[cfg(target_os = "linux")]
fn a_long_wait_is_ended_by_the_first_signal() {
    let home = Home::new();
    let began = Instant::now();
    let (child, mut stderr) = long_run("nanosleep", &home, &["--request", "60s", "--out", "r.json"]);
    // A part of the first wait.
    sleep(Duration::from_millis(200));
    signal(&child, "INT");
    let minutes = began.elapsed().as_secs() / 60;
    let mut lines = String::new();
    std::io::Read::read_to_string(&mut stderr, &mut lines).expect("readable");
    Ended::of(child.wait_with_output().expect("it ends")).with_code(130);
    let result = ResultFile::read(&fs::read(home.path().join("r.json")).expect("written")).expect("a result");
    assert_eq!(result.completion, Completion::Interrupted);
    let counts = result.series[0].counts;
    assert!(counts.recorded <= minutes, "{counts:?} in {minutes} minutes: the wait lasted to its end");
    assert_eq!(counts.interrupted, 0, "it was ended by us, not by the machine");
    assert!(!lines.contains("can't be interrupted"), "{lines}");
}

/// `std::thread::sleep` continues after a signal, which is reported. A signal before the wait has begun ends the run at
/// once, so the test then tries again, later.
#[test]
fn what_can_not_be_cut_short_is_said_to_be_finished() {
    let is_finished = |pause: Duration| {
        let home = Home::new();
        let (child, mut stderr) = long_run("thread-sleep", &home, &["--request", "2500ms", "--out", "r.json"]);
        sleep(pause);
        signal(&child, "INT");
        let mut lines = String::new();
        std::io::Read::read_to_string(&mut stderr, &mut lines).expect("readable");
        Ended::of(child.wait_with_output().expect("it ends")).with_code(130);
        lines.contains("\nthe wait in progress can't be interrupted; the run ends after it\n")
    };
    assert!(pauses().any(is_finished));
}

/// `std::thread::sleep` continues after a signal, so the first one can't end it. One before the wait has begun ends the
/// run, so the test then tries again, later.
#[test]
fn the_second_signal_ends_it_at_once() {
    let quits_at_once = |pause: Duration| {
        let home = Home::new();
        let (mut child, mut stderr) = long_run("thread-sleep", &home, &["--request", "60s", "--out", "r.json"]);
        sleep(pause);
        let mut lines = [String::new(), String::new()];
        for line in &mut lines {
            signal(&child, "INT");
            stderr.read_line(line).expect("readable");
            // Signals within half a second count as one.
            sleep(Duration::from_millis(600));
        }
        assert!(lines[0].starts_with("ending the run"), "{lines:?}");
        assert_eq!(child.wait().expect("it ends").code(), Some(130));
        let unfinished: Vec<String> = home.files().into_iter().filter(|file| file != "r.json").collect();
        assert!(unfinished.is_empty(), "{unfinished:?}");
        lines[1].starts_with("warning: quitting at once") && home.files().is_empty()
    };
    assert!(pauses().any(quits_at_once));
}

/// As `nohup` starts programs.
#[test]
fn what_was_ignored_stays_ignored() {
    let home = Home::new();
    let line = "trap '' HUP INT; exec \"$0\" waits nanosleep --request 10ms --for 24h --out r.json";
    let mut command = Command::new("sh");
    command.current_dir(home.path()).args(["-c", line, env!("CARGO_BIN_EXE_oversleep")]);
    let (mut child, _stderr) = announced(&mut command);
    signal(&child, "HUP");
    signal(&child, "INT");
    // If it heeded them, it would end in this time, at least on a quiet machine.
    sleep(Duration::from_millis(600));
    assert!(child.try_wait().expect("it is ours").is_none(), "it was ended");
    signal(&child, "TERM");
    Ended::of(child.wait_with_output().expect("it ends")).with_code(130);
    let result = ResultFile::read(&fs::read(home.path().join("r.json")).expect("written")).expect("a result");
    assert_eq!(result.completion, Completion::Interrupted);
}

#[test]
fn holding_ends_with_a_signal_and_a_program_gets_what_is_sent_to_its_keeper() {
    let home = Home::new();
    let hold = |program: &[&str]| {
        let mut command = home.command();
        command.args(["resolution", "hold", "1ms"]).args(program).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("it starts")
    };
    let mut alone = hold(&[]);
    let mut lines = BufReader::new(alone.stderr.take().expect("piped")).lines();
    let heeds_signals = lines.any(|line| line.is_ok_and(|line| line == "press Ctrl-C to release it"));
    if heeds_signals {
        signal(&alone, "INT");
    }
    let ended = alone.wait().expect("it ends");
    assert_eq!((heeds_signals, ended.code()), (true, Some(0)));

    let script = "sleep 86400 >/dev/null 2>&1 & trap \"kill $!; exit 3\" TERM; echo ready; wait; exit 1";
    let mut keeper = hold(&["--", "sh", "-c", script]);
    let mut ready = String::new();
    BufReader::new(keeper.stdout.take().expect("piped")).read_line(&mut ready).expect("readable");
    assert_eq!(ready, "ready\n");
    signal(&keeper, "TERM");
    assert_eq!(keeper.wait().expect("it ends").code(), Some(3));
}

/// Where nothing else ends a watch, a signal is its regular end; with a time it is cut short. The help says both.
#[test]
fn a_watch_ends_with_the_code_that_its_help_names() {
    let home = Home::new();
    for (more, code) in [(&[][..], 0), (&["--for", "24h"], 130)] {
        let mut command = home.command();
        command.args(["resolution", "watch", "--every", "100ms", "--out", "r.json"]).args(more);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let mut stderr = BufReader::new(child.stderr.take().expect("piped"));
        let mut line = String::new();
        stderr.read_line(&mut line).expect("readable");
        assert!(line.starts_with("Watching this machine every 100 ms "), "{line}");
        signal(&child, "INT");
        let ended = Ended::of(child.wait_with_output().expect("it ends"));
        // The machine may be too disturbed for a conclusion.
        assert!(ended.code == Some(code) || code == 0 && ended.code == Some(4), "{ended:?}");
    }
    for (command, codes) in [
        (
            &["resolution", "watch"][..],
            &["  0  success, also when Ctrl-C ends a watch without --for", "130  interrupted before"][..],
        ),
        (&["why"], &["  0  success, also when Ctrl-C ends following without --for", "130  interrupted before"]),
        (&["ask"], &["130  interrupted: there is no answer"]),
        (&["run"], &["130  interrupted: a signal ended the first run"]),
    ] {
        let help = home.run(command.iter().chain(&["-h"])).fine().stdout;
        assert!(codes.iter().all(|code| help.contains(code)), "{command:?}: {help}");
    }
}

/// The signal goes to the main thread, which waits for the end of the round.
#[test]
#[cfg(target_os = "linux")]
fn a_wait_that_ends_by_a_signal_is_measured_to_its_end() {
    let home = Home::new();
    let ended = home.run(["waits", "setitimer", "--request", "300us", "--count", "500", "--json", "--quiet"]);
    let result = ended.measured().result();
    let series = result.series("B5/setitimer/300us").expect("it was measured");
    assert_eq!((&series.status, series.counts.recorded), (&oversleep_record::series::Status::Complete, 500));
}
