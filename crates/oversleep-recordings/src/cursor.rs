//! Checked reads: every offset and every length is verified.

use std::io;

use crate::source::Source;

/// How much is read at once, unless one says otherwise.
const WINDOW: usize = 1 << 18;

/// Little-endian numbers of a record in memory; 0 bytes where it ends.
#[derive(Clone, Copy, Debug)]
pub struct Bytes<'a>(pub &'a [u8]);

impl<'a> Bytes<'a> {
    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(head)
    }

    pub fn u16(&mut self) -> Option<u16> {
        self.take(2)?.try_into().ok().map(u16::from_le_bytes)
    }

    pub fn u32(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_le_bytes)
    }

    /// A number of 7 bits a byte, the lowest ones first.
    pub fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for (place, &byte) in self.0.iter().take(10).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * place);
            if byte < 0x80 {
                self.0 = &self.0[place + 1..];
                return Some(value);
            }
        }
        None
    }

    /// A text that ends with 0.
    pub fn text(&mut self) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|&byte| byte == 0)?;
        let text = self.take(end)?;
        self.take(1)?;
        Some(text)
    }
}

/// A place in a source, with what lies there.
pub struct Cursor<'a> {
    source: &'a dyn Source,
    at: u64,
    window: Vec<u8>,
    window_size: usize,
    used: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(source: &'a dyn Source, at: u64) -> Cursor<'a> {
        Cursor::with_window(source, at, WINDOW)
    }

    /// One that reads that much at once.
    pub fn with_window(source: &'a dyn Source, at: u64, window_size: usize) -> Cursor<'a> {
        Cursor { source, at, window: Vec::new(), window_size, used: 0 }
    }

    /// Another place of the same source.
    pub fn new_at(of: &Cursor<'a>, at: u64) -> Cursor<'a> {
        Cursor::new(of.source, at)
    }

    /// The place of the next byte.
    pub fn at(&self) -> u64 {
        self.at
    }

    pub fn seek(&mut self, at: u64) {
        // What was passed is still there until more is read.
        let begin = self.at.saturating_sub(self.used as u64);
        let within = at.checked_sub(begin).and_then(|within| usize::try_from(within).ok());
        match within.filter(|&within| within <= self.window.len()) {
            Some(within) => self.used = within,
            None => {
                self.window.clear();
                self.used = 0;
            }
        }
        self.at = at;
    }

    /// The next bytes; `None` if there are not so many. They aren't passed.
    ///
    /// # Errors
    /// If they can't be read.
    pub fn peek(&mut self, count: usize) -> io::Result<Option<&[u8]>> {
        if self.window.len() - self.used < count {
            if (self.source.size().saturating_sub(self.at)) < count as u64 {
                return Ok(None);
            }
            self.window.drain(..self.used);
            self.used = 0;
            let have = self.window.len();
            let left = self.source.size().saturating_sub(self.at).min(count.max(self.window_size) as u64) as usize;
            self.window.resize(left, 0);
            let read = self.source.read_at(self.at + have as u64, &mut self.window[have..])?;
            self.window.truncate(have + read);
        }
        Ok(self.window.get(self.used..self.used + count))
    }

    /// Passes that many bytes.
    pub fn pass(&mut self, count: usize) {
        self.seek(self.at.saturating_add(count as u64));
    }
}
