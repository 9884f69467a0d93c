//! Files that others may write. A process with privileges reads them only if they are what they should be: opening a pipe
//! blocks, opening a device may do anything, a link leads anywhere, and what another user made isn't the program's.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Opens a file for reading if it is a regular one, and belongs to that user where one is given. The last part of the path
/// may not be a link. Nothing else is opened on the way.
///
/// # Errors
/// It is something else, it belongs to somebody else, or the system's refusal.
pub fn open_theirs(path: &Path, owner: Option<u32>) -> io::Result<File> {
    reopened(&OpenOptions::new().read(true).custom_flags(libc::O_PATH | libc::O_NOFOLLOW).open(path)?, owner)
}

/// Opens the file that a link of the kernel leads to, as those in `/proc` do, if it is a regular one.
///
/// # Errors
/// It is something else, or the system's refusal.
pub fn open_linked(path: &Path) -> io::Result<File> {
    reopened(&OpenOptions::new().read(true).custom_flags(libc::O_PATH).open(path)?, None)
}

fn reopened(named: &File, owner: Option<u32>) -> io::Result<File> {
    let about = named.metadata()?;
    if !about.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
    }
    if owner.is_some_and(|owner| owner != about.uid()) {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it belongs to another user"));
    }
    // The same file, whatever has its name by now.
    OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(format!("/proc/self/fd/{}", named.as_raw_fd()))
}

/// The user of a running process; `None` if it has ended.
pub fn user_of(process: u32) -> Option<u32> {
    std::fs::metadata(format!("/proc/{process}")).ok().map(|about| about.uid())
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn only_a_regular_file_of_that_user_is_opened() {
        let folder = std::env::temp_dir().join(format!("oversleep-theirs-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let own = user_of(std::process::id()).expect("a user");
        let (file, link, pipe) = (folder.join("file"), folder.join("link"), folder.join("pipe"));
        std::fs::write(&file, "text").expect("a file");
        std::os::unix::fs::symlink(&file, &link).expect("a link");
        let name = std::ffi::CString::new(pipe.as_os_str().as_encoded_bytes()).expect("a name");
        // SAFETY: the name ends with a NUL byte.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        let mut text = String::new();
        open_theirs(&file, Some(own)).expect("a file").read_to_string(&mut text).expect("its text");
        assert_eq!(text, "text");
        assert!(open_theirs(&file, None).is_ok());
        let kind = |path: &Path, owner| open_theirs(path, owner).expect_err("refused").kind();
        assert_eq!(kind(&file, Some(own + 1)), io::ErrorKind::PermissionDenied);
        // Opening the pipe would block.
        for other in [&link, &pipe, Path::new("/dev/zero"), &folder] {
            assert_eq!(kind(other, None), io::ErrorKind::InvalidInput, "{}", other.display());
        }
        std::fs::remove_dir_all(&folder).expect("removed");
        assert_eq!(user_of(u32::MAX), None);
    }
}
