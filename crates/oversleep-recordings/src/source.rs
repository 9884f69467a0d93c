//! Where the bytes of a recording are: in memory or in a file. Nothing is allocated by a size that the recording states.

use std::cell::RefCell;
use std::io::{self, Read, Seek, SeekFrom};

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

/// Something that is read at any place, as a file is.
#[derive(Debug)]
pub struct SeekSource<R> {
    inner: RefCell<R>,
    size: u64,
}

impl<R: Read + Seek> SeekSource<R> {
    /// Of a file.
    ///
    /// # Errors
    /// If its size can't be read.
    pub fn new(mut inner: R) -> io::Result<SeekSource<R>> {
        let size = inner.seek(SeekFrom::End(0))?;
        Ok(SeekSource { inner: RefCell::new(inner), size })
    }
}

impl<R: Read + Seek> Source for SeekSource<R> {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<usize> {
        let mut inner = self.inner.borrow_mut();
        inner.seek(SeekFrom::Start(at))?;
        let mut count = 0;
        while count < into.len() {
            match inner.read(&mut into[count..]) {
                Ok(0) => break,
                Ok(more) => count += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(count)
    }
}
