//! Where the bytes of a recording are: in memory or in a file. Nothing is allocated by a size that the recording states.

use std::fs::File;
use std::io;

/// Bytes that can be read at any place.
pub trait Source {
    /// How many there are.
    fn size(&self) -> u64;

    /// Reads some of them from there on; fewer only at the end.
    ///
    /// # Errors
    /// If they can't be read.
    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<usize>;
}

impl Source for &[u8] {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<usize> {
        let rest = usize::try_from(at).ok().and_then(|at| self.get(at..)).unwrap_or_default();
        let count = rest.len().min(into.len());
        into[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }
}

/// A file that is read at any place.
#[derive(Debug)]
pub struct FileSource {
    file: File,
    size: u64,
}

impl FileSource {
    /// Of an open file.
    ///
    /// # Errors
    /// If its size can't be read.
    pub fn new(file: File) -> io::Result<FileSource> {
        let size = file.metadata()?.len();
        Ok(FileSource { file, size })
    }
}

impl Source for FileSource {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<usize> {
        let mut count = 0;
        while count < into.len() {
            match read_some(&self.file, at.saturating_add(count as u64), &mut into[count..]) {
                Ok(0) => break,
                Ok(more) => count += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(count)
    }
}

#[cfg(unix)]
fn read_some(file: &File, at: u64, into: &mut [u8]) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, into, at)
}

#[cfg(windows)]
fn read_some(file: &File, at: u64, into: &mut [u8]) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, into, at)
}

#[cfg(not(any(unix, windows)))]
fn read_some(mut file: &File, at: u64, into: &mut [u8]) -> io::Result<usize> {
    use std::io::{Read, Seek, SeekFrom};
    file.seek(SeekFrom::Start(at))?;
    file.read(into)
}
