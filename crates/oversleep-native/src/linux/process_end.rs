//! The end of a process that was not started here, by a descriptor that belongs to it and to no later process of that id.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::path::Path;
use std::time::Duration;

/// How often a process is looked for where descriptors of processes are refused.
const LOOK: Duration = Duration::from_millis(200);

/// A process, until it ends.
#[derive(Debug)]
pub struct ProcessEnd {
    pid: u32,
    /// `None` where a filter refuses the call.
    descriptor: Option<OwnedFd>,
}

impl ProcessEnd {
    /// Of that process.
    ///
    /// # Errors
    /// `NotFound` if there is none.
    pub fn of(pid: u32) -> io::Result<ProcessEnd> {
        // SAFETY: takes numbers only. https://man7.org/linux/man-pages/man2/pidfd_open.2.html
        let number = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
        let descriptor = match RawFd::try_from(number) {
            // SAFETY: the call has just opened it for this process.
            Ok(number) if number >= 0 => Some(unsafe { OwnedFd::from_raw_fd(number) }),
            _ => {
                if io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH) {
                    return Err(io::ErrorKind::NotFound.into());
                }
                None
            }
        };
        Ok(ProcessEnd { pid, descriptor })
    }

    /// Waits until all of its threads have ended, also if nobody has read its exit status yet.
    pub fn wait(self) {
        let Some(descriptor) = &self.descriptor else { return self.look() };
        let mut entry = libc::pollfd { fd: descriptor.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: `entry` is one writable entry.
        while unsafe { libc::poll(&raw mut entry, 1, -1) } < 0
            && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
        {}
    }

    fn look(&self) {
        while Path::new(&format!("/proc/{}", self.pid)).exists() {
            // A sandbox may refuse the call that `sleep` makes, which then panics.
            std::thread::park_timeout(LOOK);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};
    use std::sync::mpsc;

    use super::*;

    /// Waits in a thread, which closes the channel.
    fn waited_for(end: ProcessEnd) -> mpsc::Receiver<()> {
        let (sender, ended) = mpsc::channel();
        std::thread::spawn(move || {
            end.wait();
            drop(sender);
        });
        assert_eq!(ended.try_recv(), Err(mpsc::TryRecvError::Empty));
        ended
    }

    #[test]
    fn a_process_that_nobody_waited_for_has_ended() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let ended = waited_for(ProcessEnd::of(child.id()).unwrap());
        // It ends with its input, and stays until its exit status is read.
        drop(child.stdin.take());
        assert!(ended.recv().is_err());
        let looked_for = waited_for(ProcessEnd { descriptor: None, ..ProcessEnd::of(child.id()).unwrap() });
        child.wait().unwrap();
        assert!(looked_for.recv().is_err());
        assert_eq!(ProcessEnd::of(child.id()).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
