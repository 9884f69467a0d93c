//! Running a user's program: it gets the signals, and this process gets its exit code.
//!
//! A terminal sends Ctrl-C to both, and the program decides what to do. A signal sent only to this process (`kill`) is
//! passed on. As in `system(3)`, this process ends when the program does.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use super::passing::Passing;

/// Runs a program to its end and returns its exit code. As in shells, a program ended by a signal has 128 plus the
/// signal's number. The program inherits the calling thread's settings, such as its timer slack.
///
/// # Errors
/// If it can't be started.
pub fn run(program: &OsStr, arguments: &[OsString]) -> io::Result<i32> {
    run_signalled(program, arguments).map(|(code, _)| code)
}

/// The same, and whether a signal to this process was passed on to the program.
///
/// # Errors
/// If it can't be started.
pub fn run_signalled(program: &OsStr, arguments: &[OsString]) -> io::Result<(i32, bool)> {
    let mut passing = Passing::begin(false);
    let mut child = passing.spawn(Command::new(program).args(arguments), Command::spawn)?;
    let status = child.wait();
    let is_signalled = passing.end();
    let status = status?;
    Ok((status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1), is_signalled))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> io::Result<i32> {
        run(OsStr::new("sh"), &["-c".into(), script.into()])
    }

    /// Names the process that is this test's alone.
    const ALONE: &str = "OVERSLEEP_TEST_ALONE";

    /// A single test in a process of its own, because handlers belong to a process, and other tests send signals to theirs.
    #[test]
    fn the_exit_code_comes_from_the_program_and_signals_reach_it() {
        if std::env::var_os(ALONE).is_none() {
            let name = "unix::app::tests::the_exit_code_comes_from_the_program_and_signals_reach_it";
            let mut own = Command::new(std::env::current_exe().expect("it runs"));
            let output = own.args([name, "--exact", "--nocapture"]).env(ALONE, "1").output().expect("it starts");
            let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
            assert!(output.status.success() && said[0].contains("1 passed"), "{}{}", said[0], said[1]);
            return;
        }
        let fine = match shell("exit 0") {
            Ok(fine) => fine,
            Err(why) => return oversleep_testing::skip(why),
        };
        assert_eq!(fine, 0);
        assert_eq!(shell("exit 7").expect("a shell"), 7);
        assert_eq!(shell("kill -KILL $$").expect("a shell"), 128 + 9);
        // The program sends a signal to this process, which passes it on.
        for signal in ["TERM", "USR1", "ALRM"] {
            let script = format!(
                "trap 'exit 42' {signal}; kill -{signal} $PPID; while :; do sleep 1 >/dev/null 2>&1 & wait; done"
            );
            assert_eq!(shell(&script).expect("a shell"), 42, "{signal}");
        }
        ignored_signals_are_passed_on_and_stay_ignored();
        // A user-mode emulator starts a process before it notices that there is no program, and exits with 127.
        let none = run(OsStr::new("no-such-program-anywhere"), &[]);
        assert!(none.is_err() || matches!(none, Ok(127)), "{none:?}");
    }

    /// A shell leaves alone what it was started to ignore, so the mask of ignored signals tells.
    fn ignored_signals_are_passed_on_and_stay_ignored() {
        let was = {
            // SAFETY: all-zero is a valid sigaction.
            let mut ignoring: libc::sigaction = unsafe { std::mem::zeroed() };
            ignoring.sa_sigaction = libc::SIG_IGN;
            Passing::set(libc::SIGUSR2, &ignoring)
        };
        let (mut passing, command) = (Passing::begin(false), &mut Command::new("sh"));
        let script = "kill -USR2 $PPID; grep SigIgn /proc/$$/status";
        let output = passing.spawn(command.args(["-c", script]).stdout(std::process::Stdio::piped()), Command::spawn);
        let output = output.expect("a shell").wait_with_output().expect("its output");
        let is_passed_on = passing.end();
        Passing::set(libc::SIGUSR2, &was);
        assert!(is_passed_on, "the handler took a signal that was ignored before");
        if cfg!(target_os = "linux") {
            let text = String::from_utf8_lossy(&output.stdout);
            let ignored = u64::from_str_radix(text.rsplit(['\t', ' ']).next().unwrap_or_default().trim(), 16);
            assert_eq!(ignored.map(|bits| bits >> (libc::SIGUSR2 - 1) & 1), Ok(1), "{text}");
        }
    }
}
