//! Reads `/proc` and `/sys`, behind a trait so that facts can be tested with other machines' files.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::sync::Mutex;

use oversleep_record::Unavailable;

/// Longer than any file read here; anything beyond is cut.
const LONGEST: u64 = 4 << 20;

/// A source of files.
pub trait Files {
    /// All bytes of a file.
    ///
    /// # Errors
    /// The reason if it can't be read.
    fn bytes(&self, path: &str) -> Result<Vec<u8>, Unavailable>;

    /// The names in a folder, sorted; empty if there is no such folder.
    fn names(&self, folder: &str) -> Vec<String>;

    /// The target of a symbolic link; `None` if there is no such link.
    fn link(&self, path: &str) -> Option<String>;

    /// A file as trimmed text.
    ///
    /// # Errors
    /// The reason if it can't be read.
    fn text(&self, path: &str) -> Result<String, Unavailable> {
        self.bytes(path).map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    /// A file with a single integer.
    ///
    /// # Errors
    /// The reason if it can't be read or contains something else.
    fn integer(&self, path: &str) -> Result<i64, Unavailable> {
        let text = self.text(path)?;
        text.parse().map_err(|_| Unavailable::Nonsense { what: format!("{path} says '{}'", shortened(&text)) })
    }
}

/// The first words of a file, for a message.
pub fn shortened(text: &str) -> String {
    text.chars().take(40).filter(|c| !c.is_control()).collect()
}

/// The real file system.
pub struct Disk;

impl Files for Disk {
    fn bytes(&self, path: &str) -> Result<Vec<u8>, Unavailable> {
        let explain = |error: std::io::Error| match error.kind() {
            ErrorKind::NotFound => Unavailable::missing(path),
            ErrorKind::PermissionDenied => Unavailable::not_permitted(format!("reading {path}"), "run as root"),
            _ => Unavailable::failed(format!("read {path}"), error),
        };
        let mut bytes = Vec::new();
        File::open(path).and_then(|file| file.take(LONGEST).read_to_end(&mut bytes)).map_err(explain)?;
        Ok(bytes)
    }

    fn names(&self, folder: &str) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
        let mut names: Vec<String> =
            entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    fn link(&self, path: &str) -> Option<String> {
        std::fs::read_link(path).ok()?.into_os_string().into_string().ok()
    }
}

/// Reads each file only once, for several facts.
pub struct Cached<F> {
    inner: F,
    read: Mutex<BTreeMap<String, Result<Vec<u8>, Unavailable>>>,
}

impl<F: Files> Cached<F> {
    /// An empty cache.
    pub fn new(inner: F) -> Cached<F> {
        Cached { inner, read: Mutex::new(BTreeMap::new()) }
    }
}

impl<F: Files> Files for Cached<F> {
    fn bytes(&self, path: &str) -> Result<Vec<u8>, Unavailable> {
        let mut read = self.read.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        read.entry(path.to_owned()).or_insert_with(|| self.inner.bytes(path)).clone()
    }

    fn names(&self, folder: &str) -> Vec<String> {
        self.inner.names(folder)
    }

    fn link(&self, path: &str) -> Option<String> {
        self.inner.link(path)
    }
}

/// Another machine's files, for tests.
#[cfg(test)]
#[derive(Default)]
pub struct Sample(pub BTreeMap<&'static str, &'static str>);

#[cfg(test)]
impl Sample {
    /// A machine with only these files.
    pub fn of(files: &[(&'static str, &'static str)]) -> Sample {
        Sample(files.iter().copied().collect())
    }
}

#[cfg(test)]
impl Files for Sample {
    fn bytes(&self, path: &str) -> Result<Vec<u8>, Unavailable> {
        self.0.get(path).map(|text| text.as_bytes().to_vec()).ok_or_else(|| Unavailable::missing(path))
    }

    fn names(&self, folder: &str) -> Vec<String> {
        let prefix = format!("{folder}/");
        let mut names: Vec<String> = self
            .0
            .keys()
            .filter_map(|path| path.strip_prefix(&prefix))
            .filter_map(|rest| rest.split('/').next())
            .map(str::to_owned)
            .collect();
        names.dedup();
        names
    }

    fn link(&self, path: &str) -> Option<String> {
        self.0.get(path).map(|target| (*target).to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_has_a_reason() {
        let missing = Disk.text("/proc/no/such/file").expect_err("missing");
        assert_eq!(missing, Unavailable::missing("/proc/no/such/file"));
        assert_eq!(Disk.names("/no/such/folder"), Vec::<String>::new());
        let sample = Sample::of(&[("/a/x/1", " 7\n"), ("/a/x/2", "seven"), ("/a/y", "")]);
        assert_eq!(sample.integer("/a/x/1"), Ok(7));
        assert_eq!(sample.integer("/a/x/2"), Err(Unavailable::Nonsense { what: "/a/x/2 says 'seven'".to_owned() }));
        assert_eq!(sample.names("/a"), ["x", "y"]);
        let cached = Cached::new(sample);
        assert_eq!(cached.text("/a/x/1"), cached.text("/a/x/1"));
    }
}
