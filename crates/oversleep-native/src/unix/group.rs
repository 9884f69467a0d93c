//! A program in a process group of its own, which ends as a whole.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus};

/// The environment variable by which the processes that a program starts are found again.
#[cfg(target_os = "linux")]
const MARK: &str = "OVERSLEEP_GROUP";

/// A running program and everything that it started. It is ended when this is dropped.
#[derive(Debug)]
pub struct Group {
    child: Child,
    ended: Option<ExitStatus>,
    #[cfg(target_os = "linux")]
    mark: Vec<u8>,
}

impl Group {
    /// Starts a program. Ctrl-C at the terminal doesn't reach it.
    ///
    /// # Errors
    /// If it can't be started.
    pub fn start(command: &mut Command) -> io::Result<Group> {
        command.process_group(0);
        #[cfg(target_os = "linux")]
        let mark = linux::prepare(command);
        let child = command.spawn()?;
        Ok(Group {
            child,
            ended: None,
            #[cfg(target_os = "linux")]
            mark,
        })
    }

    /// Its standard output, once, if that is a pipe.
    pub fn stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// Its standard error, once, if that is a pipe.
    pub fn stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// How the program ended, if it has; what it started goes on until [`end`](Group::end).
    ///
    /// # Errors
    /// The system's.
    pub fn ended_by_itself(&mut self) -> io::Result<Option<ExitStatus>> {
        // SAFETY: all zeros are a valid value of the structure.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        // SAFETY: `info` is a valid place, and the child hasn't been waited for. WNOWAIT leaves it so.
        let outcome = unsafe { libc::waitid(libc::P_PID, self.child.id(), &raw mut info, flags) };
        match outcome {
            0 if info.si_signo == 0 => Ok(None),
            0 => self.end().map(Some),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Ends the program and everything that it started, and returns how the program ended: by itself, if it had.
    ///
    /// # Errors
    /// The system's.
    pub fn end(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.ended {
            return Ok(status);
        }
        if let Ok(group) = libc::pid_t::try_from(self.child.id()) {
            // SAFETY: takes two numbers; the child hasn't been waited for, so its id still names its group.
            unsafe { libc::kill(-group, libc::SIGKILL) };
        }
        #[cfg(target_os = "linux")]
        linux::end_all_with(&self.mark);
        let status = self.child.wait()?;
        self.ended = Some(status);
        Ok(status)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// What only Linux has: a signal at the end of the parent, and the environment of other processes.
#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::os::unix::process::CommandExt;
    use std::process::Command;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::MARK;

    /// Marks the program, and lets it end when this process is killed.
    pub fn prepare(command: &mut Command) -> Vec<u8> {
        static STARTED: AtomicU64 = AtomicU64::new(0);
        let value = format!("{}-{}", std::process::id(), STARTED.fetch_add(1, Ordering::Relaxed));
        command.env(MARK, &value);
        // SAFETY: `prctl` with numbers only; it may be called between fork and exec.
        unsafe {
            command.pre_exec(|| {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                Ok(())
            });
        }
        format!("{MARK}={value}").into_bytes()
    }

    /// Ends the processes that left the group (`setsid`): they still have the environment that they were started with.
    pub fn end_all_with(mark: &[u8]) {
        let Ok(processes) = fs::read_dir("/proc") else { return };
        let own = std::process::id();
        for entry in processes.flatten() {
            let number = entry.file_name().to_str().and_then(|name| name.parse::<libc::pid_t>().ok());
            let Some(number) = number.filter(|&number| number > 0 && number.unsigned_abs() != own) else { continue };
            let is_marked = |environment: Vec<u8>| environment.split(|&byte| byte == 0).any(|one| one == mark);
            if fs::read(entry.path().join("environ")).is_ok_and(is_marked) {
                // SAFETY: takes two numbers; the process had the mark a moment ago.
                unsafe { libc::kill(number, libc::SIGKILL) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::process::Stdio;
    use std::time::{Duration, Instant};

    use super::*;

    fn shell(script: &str) -> Group {
        Group::start(Command::new("sh").args(["-c", script]).stdin(Stdio::null()).stdout(Stdio::piped())).unwrap()
    }

    fn first_line(group: &mut Group) -> String {
        let (mut stdout, mut line) = (group.stdout().unwrap(), String::new());
        let mut byte = [0];
        while stdout.read(&mut byte).unwrap() == 1 && byte[0] != b'\n' {
            line.push(byte[0] as char);
        }
        line
    }

    fn exists(number: &str) -> bool {
        let number: libc::pid_t = number.trim().parse().unwrap();
        // SAFETY: signal 0 only asks whether the process exists.
        unsafe { libc::kill(number, 0) == 0 }
    }

    fn is_gone(number: &str) -> bool {
        let begun = Instant::now();
        while exists(number) && begun.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(5));
        }
        !exists(number)
    }

    #[test]
    fn a_program_that_ended_by_itself_keeps_its_exit_code() {
        let mut group = shell("echo; exit 3");
        first_line(&mut group);
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(group.end().unwrap().code(), Some(3));
        assert_eq!(group.end().unwrap().code(), Some(3), "asked twice");
    }

    #[test]
    fn a_group_ends_whatever_its_members_ignore() {
        let mut group = shell("trap '' TERM INT HUP; sleep 600 & echo $!; wait");
        let member = first_line(&mut group);
        assert!(exists(&member));
        group.end().unwrap();
        assert!(is_gone(&member), "{member} is left behind");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_left_the_group_ends_too() {
        // `set -m` gives it a group of its own, and the shell that started it ends.
        let mut group = shell("(set -m; sleep 600 & echo $!)");
        let member = first_line(&mut group);
        group.end().unwrap();
        assert!(is_gone(&member), "{member} is left behind");
    }
}
