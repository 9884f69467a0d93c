//! Files: checked before they are needed, replaced as a whole or not at all, and never overwritten unless the user names
//! them.
//!
//! A file has no name until it is complete, if the system supports that, so that a killed process leaves nothing
//! behind. Otherwise it has a hidden name meanwhile.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use oversleep_native::outputs::{self, FileId};

use super::Contents;
use super::unfinished::{self, Unfinished};

/// How much of a document is written at a time.
pub const WRITE_BYTES: usize = 64 << 10;

/// Checks whether a file can be written there, without leaving a trace.
///
/// # Errors
/// Why not, and what to do.
pub fn check(path: &Path) -> Result<(), String> {
    let target = resolved(path);
    let tried = match fs::metadata(path) {
        Ok(found) if found.is_dir() => {
            return Err(format!("can't write '{}': it is a directory; name a file in it", path.display()));
        }
        Ok(found) if outputs::is_socket(&found) => {
            return Err(format!("can't write '{}': it is a socket; name a file", path.display()));
        }
        // A device or a pipe: opening it may block, or be noticed at the other end.
        Ok(found) if !found.is_file() => Ok(()),
        // Replacing a file only needs write access to its directory, but a protected file must not be replaced, not
        // even an append-only one.
        Ok(_) => OpenOptions::new().write(true).open(path).and_then(|_| Draft::check(directory_of(&target))),
        // For a name that is too long, Windows reports that there is no such file.
        Err(error) if error.kind() == io::ErrorKind::NotFound && has_too_long_a_name(path) => {
            Err(io::Error::new(io::ErrorKind::InvalidFilename, "its name is too long"))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound && is_named_as_directory(path, &target) => {
            return Err(format!("can't write '{}': its name is a directory's; name a file", path.display()));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Draft::check(directory_of(&target)),
        Err(error) => Err(error),
    };
    tried.map_err(|error| why_not(path, &error))
}

/// Whether a name, or the target of a link with that name, has the form of a directory's name.
fn is_named_as_directory(path: &Path, target: &Path) -> bool {
    let ends = |path: &Path| path.to_string_lossy().ends_with(std::path::is_separator);
    ends(path) || ends(target)
}

/// Whether no file system allows names of that length.
fn has_too_long_a_name(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().encode_utf16().count() > 255)
}

/// Checks whether files can be created in a directory that exists, or that can be created, without leaving a trace.
///
/// # Errors
/// Why not, and what to do.
pub fn check_in(directory: &Path) -> Result<(), String> {
    let shown = directory.display();
    if let Some(file) = directory.ancestors().find(|part| part.exists() && !part.is_dir()) {
        let which = if file == directory { "it".to_owned() } else { format!("'{}'", file.display()) };
        return Err(format!("can't write '{shown}': {which} is a file; name a directory"));
    }
    let is_new = |part: &&Path| !part.as_os_str().is_empty() && !part.exists();
    let new: Vec<&Path> = directory.ancestors().take_while(is_new).collect();
    let tried = fs::create_dir_all(directory).and_then(|()| Draft::check(directory));
    for part in new {
        let _ = fs::remove_dir(part);
    }
    tried.map_err(|error| why_not(directory, &error))
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
        io::ErrorKind::FileTooLarge => {
            format!("can't write '{shown}': {error}; raise the limit on file sizes (ulimit -f)")
        }
        // What the document has no form for.
        io::ErrorKind::InvalidInput => format!("can't write '{shown}': {error}"),
        _ => format!("can't write '{shown}': {error}; choose another place"),
    }
}

/// The files that one command writes: it never replaces one of them by another.
#[derive(Debug, Default)]
pub struct Files {
    written: Vec<FileId>,
    /// As the user named them.
    names: Vec<String>,
}

impl Files {
    /// Writes the document there. The old file stays until the new one is complete on disk.
    ///
    /// # Errors
    /// The system's, or this command has already written that file; the old file is then untouched.
    pub fn replace(&mut self, path: &Path, contents: Contents) -> io::Result<()> {
        let permissions = match fs::metadata(path) {
            Ok(found) if !found.is_file() => {
                written(&OpenOptions::new().write(true).open(path)?, contents)?;
                self.names.push(path.display().to_string());
                return Ok(());
            }
            Ok(found) => Some(found.permissions()),
            Err(_) => None,
        };
        if FileId::of_path(path).is_some_and(|file| self.written.contains(&file)) {
            return Err(io::Error::other("another output of this run has just been written there"));
        }
        let target = resolved(path);
        let mut draft = Draft::write(directory_of(&target), contents, permissions)?;
        match draft.name(&target) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => draft.replace(&target)?,
            done => done?,
        }
        self.written.extend(FileId::of_path(&target));
        self.names.push(path.display().to_string());
        Ok(())
    }

    /// The names of what was written so far.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Writes the document to a new file: `stem.extension`, or `stem-2.extension` and so on.
    ///
    /// # Errors
    /// The system's; nothing is left behind.
    pub fn create(&mut self, directory: &Path, stem: &str, extension: &str, contents: Contents) -> io::Result<PathBuf> {
        const ATTEMPTS: u32 = 10_000;
        let mut draft = Draft::write(directory, contents, None)?;
        for attempt in 1..=ATTEMPTS {
            let name = match attempt {
                1 => format!("{stem}.{extension}"),
                _ => format!("{stem}-{attempt}.{extension}"),
            };
            let path = directory.join(name);
            match draft.name(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                done => {
                    done?;
                    self.written.extend(FileId::of_path(&path));
                    self.names.push(path.display().to_string());
                    return Ok(path);
                }
            }
        }
        Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("{ATTEMPTS} files of that name exist")))
    }
}

/// A written file that has no name yet.
struct Draft<'a> {
    directory: &'a Path,
    contents: Contents<'a>,
    permissions: Option<Permissions>,
    state: State,
}

enum State {
    Unnamed(File),
    Hidden(Unfinished),
}

impl<'a> Draft<'a> {
    /// Checks whether a file can be created in that directory.
    fn check(directory: &Path) -> io::Result<()> {
        match outputs::unnamed_in(in_words(directory)) {
            Ok(_) => Ok(()),
            Err(_) => hidden(directory).map(drop),
        }
    }

    fn write(directory: &'a Path, contents: Contents<'a>, permissions: Option<Permissions>) -> io::Result<Draft<'a>> {
        unfinished::remove_stale(in_words(directory));
        let state = match outputs::unnamed_in(in_words(directory)) {
            Ok(file) => {
                fill(&file, contents, permissions.as_ref())?;
                State::Unnamed(file)
            }
            Err(_) => State::Hidden(filled(directory, contents, permissions.as_ref())?),
        };
        Ok(Draft { directory, contents, permissions, state })
    }

    /// Gives it this name, unless something has it.
    fn name(&mut self, path: &Path) -> io::Result<()> {
        if let State::Unnamed(file) = &self.state {
            match outputs::give_name(file, path) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => self.hide()?,
                done => return done,
            }
        }
        self.finish(|hidden| outputs::rename_new(hidden, path))
    }

    /// Gives it this name in place of the file that has it.
    fn replace(&mut self, path: &Path) -> io::Result<()> {
        if let State::Unnamed(file) = &self.state {
            let beside = hidden_name(self.directory);
            match Unfinished::make(&beside, || outputs::give_name(file, &beside)) {
                Ok((unfinished, ())) => self.state = State::Hidden(unfinished),
                Err(_) => self.hide()?,
            }
        }
        self.finish(|hidden| fs::rename(hidden, path))
    }

    /// Writes it again under a hidden name: without `/proc`, an unnamed file can't get a name.
    fn hide(&mut self) -> io::Result<()> {
        self.state = State::Hidden(filled(self.directory, self.contents, self.permissions.as_ref())?);
        Ok(())
    }

    fn finish(&self, last: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
        match &self.state {
            State::Hidden(unfinished) => unfinished.finish(|| last(unfinished.path())),
            State::Unnamed(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

fn filled(directory: &Path, contents: Contents, permissions: Option<&Permissions>) -> io::Result<Unfinished> {
    let (unfinished, file) = hidden(directory)?;
    fill(&file, contents, permissions)?;
    Ok(unfinished)
}

/// Writes all of a document.
fn written(file: &File, contents: Contents) -> io::Result<()> {
    let mut writer = BufWriter::with_capacity(WRITE_BYTES, file);
    contents(&mut writer)?;
    writer.flush()
}

fn fill(file: &File, contents: Contents, permissions: Option<&Permissions>) -> io::Result<()> {
    written(file, contents)?;
    if let Some(permissions) = permissions {
        file.set_permissions(permissions.clone())?;
    }
    file.sync_all()
}

/// A new file with a hidden name.
fn hidden(directory: &Path) -> io::Result<(Unfinished, File)> {
    let path = hidden_name(directory);
    Unfinished::make(&path, || File::create_new(&path))
}

/// A hidden name that no other process and no other file of this one uses. It is short, whatever the final name.
fn hidden_name(directory: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_nanos();
    unfinished::hidden_name(directory, &format!("{now}-{count}"))
}

fn directory_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

/// The directory in the form for system calls.
fn in_words(directory: &Path) -> &Path {
    if directory.as_os_str().is_empty() { Path::new(".") } else { directory }
}

/// The target of a symbolic link, so that the link is preserved, even if its target doesn't exist yet.
pub fn resolved(path: &Path) -> PathBuf {
    // The same limit as in Linux.
    const LINKS_MAX: u32 = 40;
    if let Ok(found) = fs::canonicalize(path) {
        return found;
    }
    let mut target = path.to_owned();
    for _ in 0..LINKS_MAX {
        let Ok(next) = fs::read_link(&target) else { break };
        target = directory_of(&target).join(next);
    }
    target
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
        Files::default().replace(&path, &|out| out.write_all(b"one")).unwrap();
        check(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one", "a check changes nothing");
        Files::default().replace(&path, &|out| out.write_all(b"two")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(names(home.path()), ["r.json"]);
    }

    #[test]
    fn one_command_writes_a_file_once() {
        let home = tempfile::tempdir().unwrap();
        let (path, again) = (home.path().join("r"), home.path().join("./r"));
        let mut files = Files::default();
        let mut write = |path: &Path, text: &str| files.replace(path, &|out| out.write_all(text.as_bytes()));
        write(&path, "one").unwrap();
        write(&home.path().join("s"), "two").unwrap();
        assert!(write(&again, "three").is_err());
        assert_eq!(fs::read(&path).unwrap(), b"one");
    }

    #[test]
    fn names_nobody_chose_never_clobber() {
        let home = tempfile::tempdir().unwrap();
        for (content, name) in [("a", "x.json"), ("b", "x-2.json"), ("c", "x-3.json")] {
            let write = |out: &mut dyn Write| out.write_all(content.as_bytes());
            let path = Files::default().create(home.path(), "x", "json", &write).unwrap();
            assert_eq!(path, home.path().join(name));
        }
        assert_eq!(fs::read(home.path().join("x.json")).unwrap(), b"a");
        assert_eq!(names(home.path()).len(), 3);
    }

    #[test]
    fn without_unnamed_files_a_hidden_one_is_renamed() {
        let home = tempfile::tempdir().unwrap();
        fn draft<'a>(directory: &'a Path, contents: Contents<'a>) -> Draft<'a> {
            let state = State::Hidden(filled(directory, contents, None).unwrap());
            Draft { directory, contents, permissions: None, state }
        }
        let path = home.path().join("r");
        draft(home.path(), &|out| out.write_all(b"one")).name(&path).unwrap();
        let mut second = draft(home.path(), &|out| out.write_all(b"two"));
        assert_eq!(second.name(&path).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"one");
        second.replace(&path).unwrap();
        drop(draft(home.path(), &|out| out.write_all(b"three")));
        assert_eq!((fs::read(&path).unwrap(), names(home.path())), (b"two".to_vec(), vec!["r".to_owned()]));
    }

    #[test]
    fn says_what_is_in_the_way() {
        let home = tempfile::tempdir().unwrap();
        let directory = check(home.path()).unwrap_err();
        assert!(directory.ends_with("it is a directory; name a file in it"), "{directory}");
        let nowhere = check(&home.path().join("no/r.json")).unwrap_err();
        assert!(nowhere.ends_with("its directory does not exist; create it first"), "{nowhere}");
        assert!(check(&home.path().join("x".repeat(5_000))).is_err(), "no file can have that name");
        check_in(&home.path().join("made/below")).unwrap();
        assert!(!home.path().join("made").exists(), "a check leaves no trace");
        fs::write(home.path().join("f"), "").unwrap();
        let file = check_in(&home.path().join("f")).unwrap_err();
        assert!(file.ends_with("/f': it is a file; name a directory") || file.contains("\\f': it is"), "{file}");
        let below = check_in(&home.path().join("f/below")).unwrap_err();
        assert!(below.ends_with("is a file; name a directory"), "{below}");
    }
}
