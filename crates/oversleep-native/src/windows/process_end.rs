//! The end of a process that was not started here, by a handle that belongs to it and to no later process of that id.

use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};

use windows_sys::Win32::Foundation::ERROR_INVALID_PARAMETER;
use windows_sys::Win32::System::Threading::{INFINITE, OpenProcess, PROCESS_SYNCHRONIZE, WaitForSingleObject};

/// A process, until it ends.
#[derive(Debug)]
pub struct ProcessEnd(OwnedHandle);

impl ProcessEnd {
    /// Of that process.
    ///
    /// # Errors
    /// `NotFound` if there is none; another one if it is protected.
    pub fn of(pid: u32) -> io::Result<ProcessEnd> {
        // SAFETY: takes numbers only.
        // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-openprocess
        let handle = unsafe { OpenProcess(PROCESS_SYNCHRONIZE, 0, pid) };
        if handle.is_null() {
            let error = io::Error::last_os_error();
            let is_none = error.raw_os_error() == Some(ERROR_INVALID_PARAMETER as i32);
            return Err(if is_none { io::ErrorKind::NotFound.into() } else { error });
        }
        // SAFETY: the call has just opened it.
        Ok(ProcessEnd(unsafe { OwnedHandle::from_raw_handle(handle) }))
    }

    /// Waits until it has ended.
    pub fn wait(self) {
        // SAFETY: the handle is open and may be waited for.
        // https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-waitforsingleobject
        unsafe { WaitForSingleObject(self.0.as_raw_handle(), INFINITE) };
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn it_is_waited_for_until_it_ends() {
        let mut child =
            Command::new("cmd").args(["/c", "pause"]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let end = ProcessEnd::of(child.id()).unwrap();
        drop(child.stdin.take());
        end.wait();
        assert!(child.try_wait().unwrap().is_some());
        assert_eq!(ProcessEnd::of(!3).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
