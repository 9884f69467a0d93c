//! Where the library that programs load is: in a folder of this user that no other one may write.
//!
//! What the program leaves running keeps the variable that names the library, and whatever has that name is loaded into all
//! that it starts. So the name may never become somebody else's: no process id is in it, and the folder stays. The file
//! itself goes once nobody has it loaded, at the end of this process or when another one needs the folder.

use std::ffi::CString;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::library::VARIABLE;

/// Whoever else may write a folder or its entries.
const OTHERS: u32 = 0o022;
const STICKY: u32 = 0o1000;

/// A library that programs load. It is removed when this is dropped, unless one has it loaded still.
pub struct Kept {
    path: PathBuf,
}

impl Kept {
    /// Keeps a library in the first folder that suits.
    ///
    /// # Errors
    /// None does.
    pub fn new(library: &[u8]) -> io::Result<Kept> {
        let mut last = io::ErrorKind::NotFound.into();
        for folder in folders() {
            match Kept::within(&folder, library) {
                Ok(kept) => return Ok(kept),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn within(folder: &Path, library: &[u8]) -> io::Result<Kept> {
        // Words of the variable are separated by these.
        let is_one_word = !folder.as_os_str().as_bytes().iter().any(|byte| b" :\t\n".contains(byte));
        if !folder.is_absolute() || !is_one_word {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        match DirBuilder::new().mode(0o755).create(folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        if !is_ours(folder)? {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        sweep(folder);
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let path = folder.join(format!("{}-{}.so", std::process::id(), since.as_nanos()));
        let file = OpenOptions::new().write(true).create_new(true).mode(0o644).open(&path)?;
        let kept = Kept { path };
        fill(file, library)?;
        can_be_executed(&File::open(&kept.path)?, library.len())?;
        Ok(kept)
    }

    /// The variable by which programs load it, before whatever else they are told to.
    ///
    /// # Errors
    /// It has a NUL byte.
    pub fn variable(&self, other: Option<&[u8]>) -> io::Result<CString> {
        let mut words = [VARIABLE.as_bytes(), b"=", self.path.as_os_str().as_bytes()].concat();
        if let Some(other) = other.filter(|other| !other.is_empty()) {
            words.push(b':');
            words.extend_from_slice(other);
        }
        CString::new(words).map_err(|_| io::ErrorKind::InvalidInput.into())
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let _ = remove_unloaded(&self.path);
    }
}

/// Writes a library. Its file is closed then: one that is open isn't removed.
fn fill(mut file: File, library: &[u8]) -> io::Result<()> {
    file.write_all(library)?;
    // Whatever this process's mask is, programs of other users may read it, as `sudo -u` starts them.
    file.set_permissions(Permissions::from_mode(0o444))
}

/// Folders that may suit, the best first. Other users' programs, which root may start, have to reach root's.
fn folders() -> Vec<PathBuf> {
    // SAFETY: takes nothing.
    let user = unsafe { libc::geteuid() };
    let temporary = std::env::temp_dir().join(format!("oversleep-{user}"));
    let within = |variable: &str, rest: &str| std::env::var_os(variable).map(|place| PathBuf::from(place).join(rest));
    match user {
        0 => vec!["/run/oversleep".into(), "/var/lib/oversleep".into(), temporary],
        _ => [within("XDG_RUNTIME_DIR", "oversleep"), within("HOME", ".cache/oversleep"), Some(temporary)]
            .into_iter()
            .flatten()
            .collect(),
    }
}

/// Whether nobody but this user and root can change what is in the folder, or put another one in its place.
fn is_ours(folder: &Path) -> io::Result<bool> {
    // SAFETY: takes nothing.
    let user = unsafe { libc::geteuid() };
    let own = fs::symlink_metadata(folder)?;
    let parent = fs::metadata(folder.parent().unwrap_or(folder))?;
    let is_fixed = parent.mode() & OTHERS == 0 || parent.mode() & STICKY != 0;
    let is_trusted = parent.uid() == 0 || parent.uid() == user;
    Ok(own.is_dir() && own.uid() == user && own.mode() & OTHERS == 0 && is_fixed && is_trusted)
}

/// Programs map its code; some file systems don't allow that.
fn can_be_executed(file: &File, length: usize) -> io::Result<()> {
    let may = libc::PROT_READ | libc::PROT_EXEC;
    // SAFETY: a new mapping of that file, which nothing uses.
    unsafe {
        let place = libc::mmap(std::ptr::null_mut(), length, may, libc::MAP_PRIVATE, file.as_raw_fd(), 0);
        if place == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        libc::munmap(place, length);
    }
    Ok(())
}

/// Removes what processes that were killed have left there.
fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let process = path.file_stem().and_then(|name| name.to_str()?.split_once('-')?.0.parse::<u32>().ok());
        let is_over = process.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists());
        if is_over && path.extension().is_some_and(|end| end == "so") {
            let _ = remove_unloaded(&path);
        }
    }
}

/// Removes a library that no program has loaded: the kernel grants a lease to write only where nobody else has the file
/// open or mapped. <https://man7.org/linux/man-pages/man2/F_GETLEASE.2const.html>
fn remove_unloaded(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    // SAFETY: takes numbers. The lease ends with the descriptor.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_WRLCK) } {
        0 => fs::remove_file(path),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("oversleep-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        folder
    }

    #[test]
    fn a_library_stays_as_long_as_it_is_loaded() {
        let folder = folder("kept");
        let kept = Kept::within(&folder, b"a library").expect("a folder");
        let path = kept.path.clone();
        let name = [b"LD_PRELOAD=", path.as_os_str().as_bytes(), b":other.so"].concat();
        assert_eq!(kept.variable(Some(b"other.so")).expect("words").as_bytes(), name);
        let loaded = File::open(&path).expect("a library");
        drop(kept);
        assert!(path.exists(), "somebody has it");
        drop(loaded);
        // The next one that needs the folder sweeps it; this process lives still, so its own stay.
        sweep(&folder);
        assert!(path.exists());
        let of_none = folder.join("4294967295-1.so");
        fs::rename(&path, &of_none).expect("another name");
        sweep(&folder);
        assert!(!of_none.exists(), "its process is gone");
        let path = Kept::within(&folder, b"a library").map(|kept| kept.path.clone()).expect("a folder");
        assert!(!path.exists(), "nobody has it");
        assert!(Kept::within(&folder, b"").is_err(), "nothing can't be mapped");
        fs::remove_dir(&folder).expect("nothing is left of it");
    }

    #[test]
    fn a_folder_that_others_may_write_or_replace_is_not_used() {
        let outer = folder("outer");
        let inner = outer.join("inner");
        let is_taken = |outer_mode, inner_mode| {
            let _ = fs::remove_dir_all(&outer);
            fs::create_dir_all(&inner).expect("folders");
            fs::set_permissions(&inner, Permissions::from_mode(inner_mode)).expect("rights");
            fs::set_permissions(&outer, Permissions::from_mode(outer_mode)).expect("rights");
            Kept::within(&inner, b"a library").is_ok()
        };
        assert!(is_taken(0o755, 0o755));
        assert!(is_taken(0o1777, 0o700), "nobody else may rename it there");
        assert!(!is_taken(0o777, 0o700));
        assert!(!is_taken(0o755, 0o777));
        fs::remove_dir_all(&outer).expect("removed");
        fs::create_dir_all(&outer).expect("a folder");
        std::os::unix::fs::symlink(&outer, &inner).expect("a link");
        assert!(Kept::within(&inner, b"a library").is_err(), "a link");
        assert!(Kept::within(&outer.join("a b"), b"a library").is_err(), "two words");
        fs::remove_dir_all(&outer).expect("removed");
    }
}
