//! A program in a job object of its own, which ends as a whole.
//! <https://learn.microsoft.com/windows/win32/procthread/job-objects>

use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::os::windows::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus};

use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation, SetInformationJobObject,
    TerminateJobObject,
};

const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;

/// A running program and everything that it started. It is ended when this is dropped, or when this process ends.
#[derive(Debug)]
pub struct Group {
    child: Child,
    job: OwnedHandle,
    ended: Option<ExitStatus>,
}

impl Group {
    /// Starts a program. Ctrl-C at the console doesn't reach it.
    ///
    /// # Errors
    /// Fails if the program can't be started.
    pub fn start(command: &mut Command) -> io::Result<Group> {
        let job = job()?;
        let mut child = command.creation_flags(CREATE_NEW_PROCESS_GROUP).spawn()?;
        // SAFETY: both handles are open.
        if unsafe { AssignProcessToJobObject(job.as_raw_handle(), child.as_raw_handle()) } == 0 {
            let error = io::Error::last_os_error();
            let _ = child.kill();
            return Err(error);
        }
        Ok(Group { child, job, ended: None })
    }

    /// Takes the program's standard output, if it is a pipe.
    pub fn stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// Takes the program's standard error, if it is a pipe.
    pub fn stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// The program's exit status, if it has ended; processes that it started run until [`end`](Group::end).
    ///
    /// # Errors
    /// The system's.
    pub fn ended_by_itself(&mut self) -> io::Result<Option<ExitStatus>> {
        match self.child.try_wait()? {
            Some(_) => self.end().map(Some),
            None => Ok(None),
        }
    }

    /// Ends the program and everything that it started, and returns the program's exit status, even if it had exited before.
    ///
    /// # Errors
    /// The system's.
    pub fn end(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.ended {
            return Ok(status);
        }
        // SAFETY: the handle is open.
        unsafe { TerminateJobObject(self.job.as_raw_handle(), 1) };
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

/// A job that ends its processes when its last handle is closed.
fn job() -> io::Result<OwnedHandle> {
    // SAFETY: no attributes and no name.
    let raw = unsafe { CreateJobObjectW(std::ptr::null(), std::ptr::null()) };
    if raw.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the handle is new and nobody else's.
    let job = unsafe { OwnedHandle::from_raw_handle(raw) };
    let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    let size = size_of::<JOBOBJECT_EXTENDED_LIMIT_INFORMATION>() as u32;
    // SAFETY: the structure is of the class that is named, and `size` is its size.
    let is_set =
        unsafe { SetInformationJobObject(raw, JobObjectExtendedLimitInformation, (&raw const limits).cast(), size) };
    if is_set == 0 { Err(io::Error::last_os_error()) } else { Ok(job) }
}

/// Ends every group of this process, before it quits: Windows does so itself.
pub fn end_all() {}
