//! Files: checked before they are needed, replaced as a whole or not at all, and never overwritten unless you name them.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::unfinished::Unfinished;

/// Checks whether a file can be written there, and leaves no trace.
///
/// # Errors
/// Why not, and what to do.
pub fn check(path: &Path) -> Result<(), String> {
    let tried = match fs::metadata(path) {
        Ok(found) if found.is_dir() => {
            return Err(format!("can't write '{}': it is a directory; name a file in it", path.display()));
        }
        // A device or a pipe: opening it may block, or be noticed at the other end.
        Ok(found) if !found.is_file() => Ok(()),
        // Replacing a file takes write access to its directory only, but a protected file must stay.
        Ok(_) => OpenOptions::new().append(true).open(path).and_then(|_| check_directory(&resolved(path))),
        Err(_) => check_directory(path),
    };
    tried.map_err(|error| why_not(path, &error))
}

/// Checks whether files can be created in a directory, which is created if needed.
///
/// # Errors
/// Why not, and what to do.
pub fn check_in(directory: &Path) -> Result<(), String> {
    fs::create_dir_all(directory)
        .and_then(|()| check_directory(&directory.join("picture.svg")))
        .map_err(|error| why_not(directory, &error))
}

fn check_directory(path: &Path) -> io::Result<()> {
    let beside = beside(path);
    File::create_new(&beside)?;
    fs::remove_file(&beside)
}

/// Why a place can't be written, and what to do.
pub fn why_not(path: &Path, error: &io::Error) -> String {
    let shown = path.display();
    match error.kind() {
        io::ErrorKind::NotFound => format!("can't write '{shown}': its directory does not exist; create it first"),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            format!("can't write '{shown}': {error}; choose a place you may write to")
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            format!("can't write '{shown}': {error}; free some space or choose another place")
        }
        _ => format!("can't write '{shown}': {error}; choose another place"),
    }
}

/// Writes the bytes there. The old file stays until all of the new one is safely written.
///
/// # Errors
/// The system's; the old file is untouched then.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let permissions = match fs::metadata(path) {
        Ok(found) if !found.is_file() => {
            let mut device = OpenOptions::new().write(true).open(path)?;
            device.write_all(bytes)?;
            return device.flush();
        }
        Ok(found) => Some(found.permissions()),
        Err(_) => None,
    };
    let target = resolved(path);
    let (part, beside) = written_beside(&target, bytes, permissions)?;
    Unfinished::finish([part], || fs::rename(&beside, &target))
}

/// Writes the bytes to a new file in the same directory.
fn written_beside(target: &Path, bytes: &[u8], permissions: Option<Permissions>) -> io::Result<(Unfinished, PathBuf)> {
    let path = beside(target);
    let (part, mut file) = Unfinished::make(&path, || File::create_new(&path))?;
    file.write_all(bytes)?;
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    file.sync_all()?;
    Ok((part, path))
}

/// Writes the bytes to a new file: `stem.extension`, or `stem-2.extension` and so on.
///
/// # Errors
/// The system's; nothing is left behind then.
pub fn create(directory: &Path, stem: &str, extension: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    const ATTEMPTS: u32 = 10_000;
    for attempt in 1..=ATTEMPTS {
        let name = match attempt {
            1 => format!("{stem}.{extension}"),
            _ => format!("{stem}-{attempt}.{extension}"),
        };
        let path = directory.join(name);
        // An empty file reserves the name first, so that replacing it overwrites nobody's file.
        match Unfinished::make(&path, || File::create_new(&path)) {
            Ok((name, taken)) => {
                // Some systems refuse to replace an open file.
                drop(taken);
                let (part, beside) = written_beside(&path, bytes, None)?;
                return Unfinished::finish([name, part], || fs::rename(&beside, &path)).map(|()| path);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("{ATTEMPTS} files of that name exist")))
}

/// The target of a symbolic link, so that the link stays one.
fn resolved(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// A hidden name in the same directory, so that renaming it stays within one file system.
fn beside(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.part", std::process::id()));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(directory)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn replaces_as_a_whole_and_leaves_nothing_else() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("r.json");
        check(&path).unwrap();
        assert!(names(home.path()).is_empty(), "a check leaves no trace");
        replace(&path, b"one").unwrap();
        check(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one", "a check changes nothing");
        replace(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(names(home.path()), ["r.json"]);
    }

    #[test]
    fn names_nobody_chose_never_clobber() {
        let home = tempfile::tempdir().unwrap();
        for (content, name) in [("a", "x.json"), ("b", "x-2.json"), ("c", "x-3.json")] {
            let path = create(home.path(), "x", "json", content.as_bytes()).unwrap();
            assert_eq!(path, home.path().join(name));
        }
        assert_eq!(fs::read(home.path().join("x.json")).unwrap(), b"a");
        assert_eq!(names(home.path()).len(), 3);
    }

    #[test]
    fn says_what_is_in_the_way() {
        let home = tempfile::tempdir().unwrap();
        let directory = check(home.path()).unwrap_err();
        assert!(directory.ends_with("it is a directory; name a file in it"), "{directory}");
        let nowhere = check(&home.path().join("no/r.json")).unwrap_err();
        assert!(nowhere.ends_with("its directory does not exist; create it first"), "{nowhere}");
        check_in(&home.path().join("made/below")).unwrap();
        assert!(home.path().join("made/below").is_dir());
    }
}
