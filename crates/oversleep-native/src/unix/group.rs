//! A program in a process group of its own, which ends as a whole.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus};

use crate::children::{Children, children};
#[cfg(target_os = "linux")]
use crate::orphans;

/// Ends these groups, and the processes that have left them.
#[cfg_attr(not(target_os = "linux"), expect(unused_variables, reason = "only Linux hands orphans over"))]
fn end_groups(leaders: &[u32], children: &Children) {
    for leader in leaders.iter().filter_map(|&leader| libc::pid_t::try_from(leader).ok()) {
        // SAFETY: takes two numbers; nobody has waited for the leader, so its number still names its group.
        unsafe { libc::kill(-leader, libc::SIGKILL) };
    }
    // When the leader has ended, whatever it left is a child of this process.
    leaders.iter().for_each(|&leader| wait_until_ended(leader));
    #[cfg(target_os = "linux")]
    if let Some(since) = leaders.iter().filter_map(|&leader| orphans::started(leader)).min() {
        orphans::end_all(since, children);
    }
}

/// Waits until a child has ended, and leaves its exit status to others.
fn wait_until_ended(child: u32) {
    // SAFETY: all zeros are a valid value of the structure.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    // SAFETY: `info` is a valid place.
    while unsafe { libc::waitid(libc::P_PID, child, &raw mut info, libc::WEXITED | libc::WNOWAIT) } != 0
        && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
    {}
}

/// Ends every group of this process, before it quits.
pub fn end_all() {
    let children = children();
    end_groups(&children.leaders, &children);
}

/// A running program and everything that it started. It is ended when this is dropped.
#[derive(Debug)]
pub struct Group {
    child: Child,
    ended: Option<ExitStatus>,
}

impl Group {
    /// Starts a program. Ctrl-C at the terminal doesn't reach it.
    ///
    /// # Errors
    /// If it can't be started.
    pub fn start(command: &mut Command) -> io::Result<Group> {
        command.process_group(0);
        #[cfg(target_os = "linux")]
        {
            orphans::adopt();
            end_with_this_thread(command);
        }
        // Another thread must not take it for an orphan meanwhile.
        let mut children = children();
        let child = command.spawn()?;
        children.leaders.push(child.id());
        Ok(Group { child, ended: None })
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
        let mut children = children();
        end_groups(&[self.child.id()], &children);
        let status = self.child.wait()?;
        children.leaders.retain(|&leader| leader != self.child.id());
        self.ended = Some(status);
        Ok(status)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// Lets the program end when the thread that starts it is gone, also where this process is killed.
#[cfg(target_os = "linux")]
fn end_with_this_thread(command: &mut Command) {
    // SAFETY: `prctl` with numbers only; it may be called between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::process::Stdio;
    use std::time::Duration;

    use super::*;
    #[cfg(target_os = "linux")]
    use crate::children::{forget, spawn_other};

    fn shell(script: &str) -> Group {
        Group::start(Command::new("sh").args(["-c", script]).stdin(Stdio::null()).stdout(Stdio::piped())).unwrap()
    }

    fn first_line(group: &mut Group) -> String {
        let (mut stdout, mut line) = (group.stdout().unwrap(), String::new());
        let mut byte = [0];
        // It goes on where a signal that another test sends interrupts it.
        while stdout.read_exact(&mut byte).is_ok() && byte[0] != b'\n' {
            line.push(byte[0] as char);
        }
        line
    }

    fn exists(number: &str) -> bool {
        let number: libc::pid_t = number.trim().parse().unwrap();
        // SAFETY: signal 0 only asks whether the process exists.
        unsafe { libc::kill(number, 0) == 0 }
    }

    /// One that was killed may take a moment. Those that are left behind sleep for longer than any run of the tests.
    fn wait_until_gone(number: &str) {
        while exists(number) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_program_that_ended_by_itself_keeps_its_exit_code() {
        let mut group = shell("exit 3");
        // Its output ends while it exits.
        assert_eq!(first_line(&mut group), "");
        assert_eq!(group.end().unwrap().code(), Some(3));
        assert_eq!(group.end().unwrap().code(), Some(3), "asked twice");
    }

    #[test]
    fn a_group_ends_whatever_its_members_ignore() {
        let mut group = shell("trap '' TERM INT HUP; sleep 100000 & echo $!; wait");
        let member = first_line(&mut group);
        assert!(exists(&member));
        group.end().unwrap();
        wait_until_gone(&member);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_left_the_group_ends_too() {
        // `set -m` gives it a group of its own, and the shell that started it ends.
        let mut group = shell("(set -m; sleep 100000 & echo $!)");
        let member = first_line(&mut group);
        group.end().unwrap();
        wait_until_gone(&member);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_daemon_with_its_own_session_and_no_environment_ends_too() {
        let mut group = shell("env -i setsid sh -c '(env -i setsid sleep 100000 & echo $!)' & sleep 100000");
        let daemon = first_line(&mut group);
        group.end().unwrap();
        wait_until_gone(&daemon);
        // The same after the program ended by itself.
        let mut group = shell("(env -i setsid sleep 100000 & echo $!)");
        let daemon = first_line(&mut group);
        while group.ended_by_itself().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        wait_until_gone(&daemon);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_end_of_a_group_leaves_other_children_alone() {
        let mut group = shell("echo; sleep 100000");
        first_line(&mut group);
        let mut plain = Command::new("sleep").arg("100000").spawn().unwrap();
        let mut apart = spawn_other(Command::new("sleep").arg("100000").process_group(0)).unwrap();
        group.end().unwrap();
        for child in [&mut plain, &mut apart] {
            assert!(child.try_wait().unwrap().is_none(), "it runs on");
            child.kill().unwrap();
            child.wait().unwrap();
        }
        forget(apart.id());
    }
}
