//! Determines which file an output is. Two outputs, or an output and an input, may be one file under two names: a path
//! with `./`, a symbolic or hard link, a device that stands for standard output.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use oversleep_native::outputs::FileId;

use super::file::{self, Files};
use super::{Contents, stdout};
use crate::args::Document;
use crate::exit::Failure;

/// The destination of an output. A path to what standard output is connected to, such as `/dev/stdout`, is standard
/// output.
///
/// # Errors
/// It leads to the file that standard error is redirected to.
pub fn output(option: &str, path: &Path) -> Result<Document, Failure> {
    let Document::File(path) = Document::at(path) else { return Ok(Document::Stdout) };
    let file = FileId::of_path(&path).filter(|_| !is_null(&path));
    if file.is_some() && file == FileId::of_stream(&io::stdout()) {
        return Ok(Document::Stdout);
    }
    if path.is_file() && file.is_some() && file == FileId::of_stream(&io::stderr()) {
        let shown = path.display();
        return Err(Failure::usage(format!(
            "--{option}: '{shown}' is where standard error goes, which is for messages; name another file"
        )));
    }
    Ok(Document::File(path))
}

/// Writes a document to an output's destination.
///
/// # Errors
/// The system's, with the destination.
pub fn write(option: &str, path: &Path, document: Contents, files: &mut Files) -> Result<(), Failure> {
    match output(option, path)? {
        Document::Stdout => stdout::document(document).map(drop),
        Document::File(path) => {
            files.replace(&path, document).map_err(|error| Failure::Failed(file::why_not(&path, &error)))
        }
    }
}

/// Several outputs may be discarded.
fn is_null(path: &Path) -> bool {
    FileId::of_path(path).is_some_and(|file| Some(file) == FileId::of_null_device())
}

/// An existing file, or a name in an existing directory.
#[derive(Debug, PartialEq, Eq)]
enum Identity {
    Existing(FileId),
    New(FileId, OsString),
}

impl Identity {
    /// `None` if it can't be determined; such a place can't be written either.
    fn of(path: &Path) -> Option<Identity> {
        if let Some(file) = FileId::of_path(path) {
            return Some(Identity::Existing(file));
        }
        let path = file::resolved(path);
        let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(Identity::New(FileId::of_path(directory)?, path.file_name()?.to_owned()))
    }
}

/// The files that a command reads and writes, each with the name that was typed.
#[derive(Debug, Default)]
pub struct Places {
    read: Vec<(PathBuf, Identity)>,
    written: Vec<(&'static str, PathBuf, Identity)>,
}

impl Places {
    /// Starts with the files that are read, `-` for standard input; no output may replace them.
    ///
    /// # Errors
    /// Standard output is redirected to one of them.
    pub fn reading<'a>(files: impl IntoIterator<Item = &'a PathBuf>) -> Result<Places, Failure> {
        let read = files.into_iter().filter_map(|path| {
            let identity = match Document::at(path) {
                Document::Stdout => FileId::of_stream(&io::stdin()).map(Identity::Existing),
                Document::File(path) => Identity::of(&path),
            };
            Some((path.clone(), identity?))
        });
        let read = read.collect();
        let stdout = FileId::of_file_behind(&io::stdout()).map(Identity::Existing);
        let places = Places { read, written: Vec::new() };
        if let Some(read) = stdout.and_then(|stdout| places.read_as(&stdout)) {
            let read = read.display();
            return Err(Failure::usage(format!(
                "standard output goes to the result '{read}', which is read; redirect it to another file"
            )));
        }
        Ok(places)
    }

    fn read_as(&self, identity: &Identity) -> Option<&Path> {
        self.read.iter().find(|(_, other)| other == identity).map(|(read, _)| &**read)
    }

    /// The destination of an output that an option names. A file is added, and can be written.
    ///
    /// # Errors
    /// As for [`output`] and [`Places::add`], and why the file can't be written.
    pub fn claim(&mut self, option: &'static str, path: &Path) -> Result<Document, Failure> {
        let place = output(option, path)?;
        if let Document::File(path) = &place {
            self.add(option, path)?;
            file::check(path).map_err(Failure::Failed)?;
        }
        Ok(place)
    }

    /// Adds a file that an option names.
    ///
    /// # Errors
    /// Another option, or an input, is the same file.
    pub fn add(&mut self, option: &'static str, path: &Path) -> Result<(), Failure> {
        let Some(identity) = Identity::of(path).filter(|_| !is_null(path)) else { return Ok(()) };
        let shown = path.display();
        if let Some(read) = self.read_as(&identity) {
            let read = read.display();
            return Err(Failure::usage(format!(
                "--{option} '{shown}' would overwrite the result '{read}', which is read; name another file"
            )));
        }
        if let Some((other, there, _)) = self.written.iter().find(|(.., other)| *other == identity) {
            let there = there.display();
            return Err(Failure::usage(format!(
                "--{other} '{there}' and --{option} '{shown}' are the same file; give each output its own"
            )));
        }
        self.written.push((option, path.to_owned(), identity));
        Ok(())
    }

    /// Adds the pictures in a directory that an option names: whatever their names, no other output and no result that
    /// is read may be one of them or the target of a link among them.
    ///
    /// # Errors
    /// Another option, or an input, is a picture there.
    pub fn add_pictures(&mut self, option: &'static str, directory: &Path) -> Result<(), Failure> {
        let is_picture = |path: &Path| path.extension().is_some_and(|extension| extension == option);
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
        for path in entries.filter(|path| is_picture(path)) {
            self.add(option, &path)?;
        }
        let there = FileId::of_path(directory);
        let is_new_there = |identity: &Identity| match identity {
            Identity::New(directory, name) => Some(directory) == there.as_ref() && is_picture(Path::new(name)),
            Identity::Existing(_) => false,
        };
        match self.written.iter().find(|(.., identity)| is_new_there(identity)) {
            None => Ok(()),
            Some((other, path, _)) => {
                let (path, directory) = (path.display(), directory.display());
                Err(Failure::usage(format!(
                    "--{other} '{path}' may be one of the pictures of --{option} '{directory}'; name another file"
                )))
            }
        }
    }
}

/// Whether two paths lead to one file.
pub fn is_same(one: &Path, other: &Path) -> bool {
    Identity::of(one).is_some_and(|identity| Identity::of(other) == Some(identity))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_under_two_names_is_one_file() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        std::fs::write(at("old"), "").unwrap();
        std::fs::hard_link(at("old"), at("link")).unwrap();
        std::fs::create_dir(at("below")).unwrap();
        let is_same = |one: &str, other: &str| {
            let mut places = Places::default();
            places.add("json", &at(one)).unwrap();
            let twice = places.add("html", &at(other)).is_err();
            assert_eq!(twice, Places::reading([&at(one)]).unwrap().add("html", &at(other)).is_err());
            assert_eq!(twice, is_same(&at(one), &at(other)));
            twice
        };
        assert!(is_same("new", "new") && is_same("new", "./new") && is_same("new", "below/../new"));
        assert!(is_same("old", "below/../old"));
        assert!(!is_same("new", "old") && !is_same("new", "below/new") && !is_same("new", "newer"));
    }
}
