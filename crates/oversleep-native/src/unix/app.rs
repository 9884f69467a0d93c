//! Running a user's program: it gets the signals, and this process ends as it does.
//!
//! A terminal sends Ctrl-C to both, and the program decides what to do. A signal sent only to this process (`kill`) is
//! passed on. As in `system(3)`, this process ends when the program does.

use std::ffi::{OsStr, OsString};
use std::io;
use std::process::Command;

use super::passing::Passing;
use crate::AppEnd;

/// Runs a program to its end and returns how it ended. The program inherits the calling thread's settings, such as its
/// timer slack.
///
/// # Errors
/// If it can't be started.
pub fn run(program: &OsStr, arguments: &[OsString]) -> io::Result<AppEnd> {
    run_signalled(program, arguments).map(|(end, _)| end)
}

/// The same, and whether a signal to this process was passed on to the program.
///
/// # Errors
/// If it can't be started.
pub fn run_signalled(program: &OsStr, arguments: &[OsString]) -> io::Result<(AppEnd, bool)> {
    let mut passing = Passing::begin();
    let mut child = passing.spawn(Command::new(program).args(arguments), Command::spawn)?;
    let status = passing.wait(&mut child);
    let is_signalled = passing.end();
    Ok((status?.into(), is_signalled))
}

/// Ends this process by the signal that ended a program, so that its parent sees what it would see of the program. There is
/// no core dump of this process beside the program's. Returns where the signal ends nothing: in the first process of a
/// namespace.
pub fn end_by(signal: i32) {
    // SAFETY: takes numbers and readable memory.
    unsafe {
        let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
        // The limit doesn't bind a program that the kernel passes core dumps to (core.5).
        #[cfg(target_os = "linux")]
        libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0);
        libc::signal(signal, libc::SIG_DFL);
        let mut only: libc::sigset_t = std::mem::zeroed();
        libc::sigaddset(&raw mut only, signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const only, std::ptr::null_mut());
        // To this thread, which has taken it when the call returns.
        libc::raise(signal);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::process::Stdio;

    use super::*;
    use crate::interruption::{act, keep_ended_children};

    fn shell(script: &str) -> io::Result<AppEnd> {
        run(OsStr::new("sh"), &["-c".into(), script.into()])
    }

    /// Names the process that is this test's alone.
    const ALONE: &str = "OVERSLEEP_TEST_ALONE";
    /// What that process is started to ignore. Rust ignores SIGPIPE before `main`, and a parent can't wait where SIGCHLD is.
    const IGNORED: [libc::c_int; 4] = [libc::SIGUSR2, libc::SIGPIPE, libc::SIGXFSZ, libc::SIGCHLD];

    /// A single test in a process of its own, because handlers belong to a process, and other tests send signals to theirs.
    #[test]
    fn a_program_gets_the_signals_and_this_process_ends_as_it_does() {
        let Some(task) = std::env::var_os(ALONE) else { return in_processes_of_their_own() };
        keep_ended_children();
        crate::interruption::fail_writes_beyond_the_limit();
        if task == "end" {
            if let Ok(AppEnd::Signal(signal)) = shell("ulimit -c 0; kill -$SIGNAL $$") {
                end_by(signal);
            }
            return;
        }
        let fine = match shell("exit 0") {
            Ok(fine) => fine,
            Err(why) => return oversleep_testing::skip(why),
        };
        assert_eq!(fine, AppEnd::Code(0));
        assert_eq!(shell("exit 7").expect("a shell"), AppEnd::Code(7));
        let killed = shell("kill -KILL $$").expect("a shell");
        assert_eq!((killed, killed.code()), (AppEnd::Signal(9), 137));
        // The program sends a signal to this process, which passes it on.
        for signal in ["TERM", "USR1", "ALRM"] {
            let script = format!(
                "trap 'exit 42' {signal}; kill -{signal} $PPID; while :; do sleep 1 >/dev/null 2>&1 & wait; done"
            );
            assert_eq!(shell(&script).expect("a shell"), AppEnd::Code(42), "{signal}");
        }
        ignored_signals_are_passed_on_and_stay_ignored();
        // A user-mode emulator starts a process before it notices that there is no program, and exits with 127.
        let none = run(OsStr::new("no-such-program-anywhere"), &[]);
        assert!(none.is_err() || matches!(none, Ok(AppEnd::Code(127))), "{none:?}");
    }

    fn in_processes_of_their_own() {
        let name = "unix::app::tests::a_program_gets_the_signals_and_this_process_ends_as_it_does";
        let own = |task: &str| {
            let mut own = Command::new(std::env::current_exe().expect("it runs"));
            own.args([name, "--exact", "--nocapture"]).env(ALONE, task);
            own
        };
        let ignore = || {
            IGNORED.into_iter().for_each(|signal| act(signal, libc::SIG_IGN));
            // Of its threads only the one that runs a program takes this one.
            block(libc::SIGUSR2);
            Ok(())
        };
        let mut all = own("all");
        // SAFETY: it calls only `sigaction` and `pthread_sigmask`, which are allowed between fork and exec, and allocates
        // nothing.
        let output = unsafe { all.pre_exec(ignore) }.output().expect("it starts");
        let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        assert!(output.status.success() && said[0].contains("1 passed"), "{}{}", said[0], said[1]);
        for (name, signal) in
            [("TERM", libc::SIGTERM), ("KILL", libc::SIGKILL), ("SEGV", libc::SIGSEGV), ("PIPE", libc::SIGPIPE)]
        {
            let status = own("end").env("SIGNAL", name).output().expect("it starts").status;
            assert_eq!((status.signal(), status.core_dumped()), (Some(signal), false), "{name}");
        }
    }

    fn block(signal: libc::c_int) {
        // SAFETY: all-zero is memory for a set, which the calls fill and read.
        unsafe {
            let mut only: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut only);
            libc::sigaddset(&raw mut only, signal);
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const only, std::ptr::null_mut());
        }
    }

    /// A shell leaves alone what it was started to ignore, so the mask of ignored signals tells.
    fn ignored_signals_are_passed_on_and_stay_ignored() {
        let (mut passing, command) = (Passing::begin(), &mut Command::new("sh"));
        let script = "read end; kill -USR2 $PPID; grep SigIgn /proc/$$/status";
        command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let shell = passing.spawn(command, Command::spawn).expect("a shell");
        // The signal waits, as if the system had woken a thread for it that hasn't run since.
        block(libc::SIGUSR2);
        let output = shell.wait_with_output().expect("its output");
        assert!(passing.end(), "the handler took a signal that was ignored before");
        if cfg!(target_os = "linux") {
            let text = String::from_utf8_lossy(&output.stdout);
            let ignored = u64::from_str_radix(text.rsplit(['\t', ' ']).next().unwrap_or_default().trim(), 16);
            // A shell heeds SIGCHLD.
            let stay = IGNORED.into_iter().filter(|&signal| signal != libc::SIGCHLD);
            let expected = stay.fold(0, |bits, signal| bits | 1 << (signal - 1));
            // Another test of the parent ignores SIGQUIT for a moment.
            assert_eq!(ignored.map(|bits| bits & expected), Ok(expected), "{text}");
        }
    }
}
