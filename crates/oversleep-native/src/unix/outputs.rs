//! What writing outputs takes of a Unix system: files without a name until they are complete, which file a path means,
//! whether there is a standard output.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use std::sync::atomic::{AtomicI32, Ordering};

/// A file, whatever it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// The file that a path leads to; `None` if there is none yet.
    pub fn of_path(path: &Path) -> Option<FileId> {
        fs::metadata(path).ok().map(|found| FileId { device: found.dev(), inode: found.ino() })
    }

    /// What a stream of this process is connected to, such as standard output.
    pub fn of_stream(stream: &impl AsFd) -> Option<FileId> {
        let found = File::from(stream.as_fd().try_clone_to_owned().ok()?).metadata().ok()?;
        Some(FileId { device: found.dev(), inode: found.ino() })
    }

    /// The regular file that a stream of this process is connected to.
    pub fn of_file_behind(stream: &impl AsFd) -> Option<FileId> {
        let found = File::from(stream.as_fd().try_clone_to_owned().ok()?).metadata().ok()?;
        found.is_file().then(|| FileId { device: found.dev(), inode: found.ino() })
    }

    /// The device that discards what is written to it, and so takes any number of outputs.
    pub fn of_null_device() -> Option<FileId> {
        FileId::of_path(Path::new("/dev/null"))
    }
}

/// Why nothing can be written to standard output: this process was started without one (`>&-`), or it is open for reading.
///
/// Rust opens `/dev/null` in place of one that is closed, before `main`, so this is seen before Rust begins. It takes a
/// write that is refused because the descriptor doesn't allow it for a write to a closed one, and that for success.
pub fn why_no_stdout() -> Option<&'static str> {
    match STDOUT_FLAGS.load(Ordering::Relaxed) {
        -1 => Some("it is closed"),
        flags => (flags & libc::O_ACCMODE == libc::O_RDONLY).then_some("it is open for reading only"),
    }
}

static STDOUT_FLAGS: AtomicI32 = AtomicI32::new(libc::O_RDWR);

// SAFETY: these are the lists of functions that the loader calls before `main`. There is no Rust runtime yet, and this one
// makes one call of the system's and stores a number.
#[used]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
static BEFORE_MAIN: extern "C" fn() = look_at_stdout;

extern "C" fn look_at_stdout() {
    // SAFETY: takes two numbers and changes nothing.
    STDOUT_FLAGS.store(unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFL) }, Ordering::Relaxed);
}

/// Whether it is a socket, which has a name like a file and can't be opened.
pub fn is_socket(found: &fs::Metadata) -> bool {
    found.file_type().is_socket()
}

/// A file in this directory that has no name yet. If the process ends before it gets one, nothing is left.
///
/// # Errors
/// The system's; file systems such as NFS have no such files.
#[cfg(target_os = "linux")]
pub fn unnamed_in(directory: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    fs::OpenOptions::new().write(true).custom_flags(libc::O_TMPFILE).open(directory)
}

/// Gives a file of [`unnamed_in`] its name.
///
/// # Errors
/// Something has that name, or the system can't.
#[cfg(target_os = "linux")]
pub fn give_name(file: &File, path: &Path) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let path = c_path(path)?;
    let link = |from: &std::ffi::CStr, directory, flags| {
        // SAFETY: both paths end with NUL, and nothing is written back.
        match unsafe { libc::linkat(directory, from.as_ptr(), libc::AT_FDCWD, path.as_ptr(), flags) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    };
    // By descriptor it takes a privilege before Linux 6.10; by its entry in /proc it takes /proc.
    let number = file.as_raw_fd();
    link(c"", number, libc::AT_EMPTY_PATH).or_else(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Err(error),
        _ => {
            let entry = c_path(Path::new(&format!("/proc/self/fd/{number}")))?;
            link(&entry, libc::AT_FDCWD, libc::AT_SYMLINK_FOLLOW)
        }
    })
}

/// Other Unix systems have no such files.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub fn unnamed_in(_directory: &Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Other Unix systems have no such files.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub fn give_name(_file: &File, _path: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Renames a file to a name that nothing has.
///
/// # Errors
/// Something has that name, or the system can't.
#[cfg(target_os = "linux")]
pub fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    let (old, new) = (c_path(from)?, c_path(to)?);
    let here = libc::AT_FDCWD;
    // SAFETY: both paths end with NUL, and nothing is written back. Not every C library has a function for it.
    let renamed =
        unsafe { libc::syscall(libc::SYS_renameat2, here, old.as_ptr(), here, new.as_ptr(), libc::RENAME_NOREPLACE) };
    match renamed {
        0 => Ok(()),
        _ => match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
            // Some file systems, such as NFS, don't know the flag.
            _ => crate::rename_by_link(from, to),
        },
    }
}

#[cfg(not(target_os = "linux"))]
/// Renames a file to a name that nothing has.
///
/// # Errors
/// The name is taken, or the system refuses.
pub fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    crate::rename_by_link(from, to)
}

#[cfg(target_os = "linux")]
fn c_path(path: &Path) -> io::Result<std::ffi::CString> {
    use std::os::unix::ffi::OsStrExt;
    Ok(std::ffi::CString::new(path.as_os_str().as_bytes())?)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_name_that_is_taken_is_never_replaced() {
        let home = std::env::temp_dir().join(format!("oversleep-outputs-{}", std::process::id()));
        fs::create_dir_all(&home).unwrap();
        let (taken, free) = (home.join("taken"), home.join("free"));
        fs::write(&taken, "old").unwrap();
        if let Ok(mut file) = unnamed_in(&home) {
            file.write_all(b"new").unwrap();
            assert_eq!(fs::read_dir(&home).unwrap().count(), 1, "it has no name");
            assert_eq!(give_name(&file, &taken).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
            give_name(&file, &free).unwrap();
            assert_eq!(fs::read(&free).unwrap(), b"new");
            fs::remove_file(&free).unwrap();
        }
        for rename in [rename_new, crate::rename_by_link] {
            let from = home.join("from");
            fs::write(&from, "new").unwrap();
            assert_eq!(rename(&from, &taken).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
            assert_eq!((fs::read(&taken).unwrap(), from.exists()), (b"old".to_vec(), true));
            rename(&from, &free).unwrap();
            assert_eq!((fs::read(&free).unwrap(), from.exists()), (b"new".to_vec(), false));
            fs::remove_file(&free).unwrap();
        }
        fs::remove_dir_all(&home).unwrap();
    }

    #[test]
    fn one_file_is_one_file_under_any_name() {
        let null = FileId::of_null_device();
        assert!(null.is_some() && null == FileId::of_path(Path::new("/dev/../dev/null")));
        assert_eq!(FileId::of_path(Path::new("/no such file")), None);
        let file = File::open("/dev/null").unwrap();
        assert_eq!(FileId::of_stream(&file), null);
        assert_eq!(why_no_stdout(), None);
    }
}
