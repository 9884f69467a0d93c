//! Starts a program under Wine, and starts it again if Wine lost it: `cargo prove cross under-wine wine PROGRAM…` is
//! the runner of the tests for Windows. Wine 8 sometimes refuses a program (`wine client error: recvmsg: Connection
//! reset by peer`) or never begins it, if its server ends at that moment. A test program prints its first line at once,
//! so one that ends with an error or stays silent without any line of its own has not begun, and no test of it is lost
//! by another start. What a test starts can be lost in the same way: `CreateProcess` then fails with the internal error
//! 1359, because the new process ended before its first instruction, or that ends with 0xC0000142, because Wine's own
//! libraries didn't begin in it. Such a test program is started again as a whole.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The word that leads here.
pub const VERB: &str = "under-wine";

/// How often a program is started.
const STARTS_MAX: usize = 3;

/// How long a program may stay silent before it counts as not begun.
const SILENT_MAX: Duration = Duration::from_mins(2);

/// What Wine itself prints where it loses a program.
const LOST: &str = "wine client error";

/// How Rust shows the error of a start that Wine lost, and the exit code of a program that never began.
const CHILD_LOST: [&str; 2] = ["Os { code: 1359,", "Some(-1073741502)"];

/// The test program whose tests allocate most of the time, in modelled runs.
const ALLOCATING: &str = "oversleep_lab-";

/// Its test that takes minutes, of models that are the same on every system.
const ELSEWHERE: &str = "no_better_known_call_is_left_out";

/// How many tests of that program run at once, if not as many as of others. Wine's heap has one lock: ten tests took 54 s
/// one after another, and more than 100 s together on 2 CPUs (Wine 8, 2026-12-01).
fn test_threads(arguments: &[String]) -> Option<&'static str> {
    let file = arguments.first().map(Path::new).and_then(Path::file_name)?;
    file.to_string_lossy().starts_with(ALLOCATING).then_some("1")
}

/// Runs `program` with its arguments and passes its output and exit code on.
///
/// # Errors
/// The program can't be started, or its output can't be read.
pub fn run(program: &str, arguments: &[String]) -> Result<ExitCode, String> {
    let log = std::env::temp_dir().join(format!("oversleep-under-wine-{}.log", std::process::id()));
    let code = (1..=STARTS_MAX).find_map(|start| {
        let mut command = Command::new(program);
        command.args(arguments).envs(test_threads(arguments).map(|threads| ("RUST_TEST_THREADS", threads)));
        if test_threads(arguments).is_some() {
            command.args(["--skip", ELSEWHERE]);
        }
        match started(&mut command, &log, SILENT_MAX, &mut std::io::stdout()) {
            Ok(Ended::NotBegun | Ended::ChildLost(_)) if start < STARTS_MAX => {
                println!(
                    "{program} lost {}, or what it starts: started again",
                    arguments.first().map_or("", String::as_str)
                );
                None
            }
            Ok(Ended::NotBegun) => Some(Err(format!("{program} did not begin in {STARTS_MAX} starts"))),
            Ok(Ended::With(code) | Ended::ChildLost(code)) => Some(Ok(ExitCode::from(code))),
            Err(error) => Some(Err(format!("{program}: {error}"))),
        }
    });
    let _ = std::fs::remove_file(&log);
    code.expect("the last start has an outcome")
}

#[derive(Debug, PartialEq, Eq)]
enum Ended {
    With(u8),
    NotBegun,
    /// With this code, after it could not start another program.
    ChildLost(u8),
}

/// One start. Its output goes through a file, because programs that Wine starts keep a pipe open.
fn started(command: &mut Command, log: &Path, silent_max: Duration, out: &mut impl Write) -> std::io::Result<Ended> {
    let output = File::create(log)?;
    let mut child = command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output).spawn()?;
    let mut written = File::open(log)?;
    let begun_at = Instant::now();
    let mut text = Vec::new();
    loop {
        let ended = child.try_wait()?;
        let passed_on = text.len();
        written.read_to_end(&mut text)?;
        out.write_all(&text[passed_on..])?;
        match ended {
            Some(status) if status.success() || has_begun(&text) => {
                let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
                let says = String::from_utf8_lossy(&text);
                let has_lost_child = !status.success() && CHILD_LOST.iter().any(|lost| says.contains(lost));
                return Ok(if has_lost_child { Ended::ChildLost(code) } else { Ended::With(code) });
            }
            Some(_) => return Ok(Ended::NotBegun),
            None if begun_at.elapsed() > silent_max && !has_begun(&text) => {
                child.kill()?;
                child.wait()?;
                return Ok(Ended::NotBegun);
            }
            None => sleep(Duration::from_millis(20)),
        }
    }
}

/// Whether a line is the program's own.
fn has_begun(text: &[u8]) -> bool {
    String::from_utf8_lossy(text).lines().any(|line| !line.trim().is_empty() && !line.starts_with(LOST))
}

/// The runner for cargo: this program with the words that lead here.
///
/// # Errors
/// This program's own path is not known.
pub fn runner(program: &str) -> Result<String, String> {
    let own: PathBuf = std::env::current_exe().map_err(|error| format!("this program's path: {error}"))?;
    Ok(format!("{} cross {VERB} {program}", own.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_that_allocate_run_one_after_another() {
        let of = |file: &str| test_threads(&[file.to_owned(), "--quiet".to_owned()]);
        assert_eq!(of("/t/debug/deps/oversleep_lab-03a0.exe"), Some("1"));
        assert_eq!(of("/t/debug/deps/cli-cb61.exe"), None);
    }

    fn shell(script: &str, silent_max: Duration) -> (Ended, String) {
        let name = format!("oversleep-under-wine-test-{}-{:?}", std::process::id(), std::thread::current().id());
        let log = std::env::temp_dir().join(name);
        let mut out = Vec::new();
        let ended = started(Command::new("sh").args(["-c", script]), &log, silent_max, &mut out).unwrap();
        std::fs::remove_file(&log).unwrap();
        (ended, String::from_utf8(out).unwrap())
    }

    #[test]
    fn what_began_ends_with_its_own_code_and_what_wine_lost_has_not_begun() {
        let long = Duration::from_mins(1);
        assert_eq!(shell("echo running 1 test; exit 101", long), (Ended::With(101), "running 1 test\n".to_owned()));
        assert_eq!(shell("exit 0", long).0, Ended::With(0));
        let lost = "echo 'wine client error:0: recvmsg: Connection reset by peer' >&2; exit 1";
        assert_eq!(shell(lost, long).0, Ended::NotBegun);
        assert_eq!(shell("sleep 60", Duration::ZERO).0, Ended::NotBegun);
        let child_lost = "echo 'it starts: Os { code: 1359, kind: Uncategorized }'";
        assert_eq!(shell(&format!("{child_lost}; exit 101"), long).0, Ended::ChildLost(101));
        assert_eq!(shell("echo '  left: Some(-1073741502)'; exit 101", long).0, Ended::ChildLost(101));
        assert_eq!(shell(child_lost, long).0, Ended::With(0));
        // A line between others, as Wine prints it while a test runs.
        assert_eq!(shell(&format!("echo running 1 test; {lost}"), long).0, Ended::With(1));
    }
}
