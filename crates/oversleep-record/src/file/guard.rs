//! Checks a file's text before it is parsed: it must be UTF-8, name a known schema, have no key twice in one object,
//! and not take much more memory than its length. A parser notices the first three only in part, and the last one too
//! late.

use std::collections::BTreeSet;
use std::io::{self, Read};

use super::letters::Letters;
use super::memory::{Known, Meter};
use super::{FILE_BYTES_MAX, MEMORY_MAX};

/// Why a file's text can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Fault {
    #[error("repeated key")]
    RepeatedKey { key: String, line: usize, column: usize },
    #[error("another schema")]
    OtherSchema { found: String },
    #[error("another encoding")]
    OtherEncoding(&'static str),
    #[error("not UTF-8")]
    NotUtf8 { line: usize, column: usize },
    #[error("too large")]
    TooLarge,
    #[error("too much memory")]
    TooMuchMemory,
}

/// The parser refuses a document that is deeper than this.
const DEPTH_MAX: usize = 128;

/// The schema that the head of a document names.
pub(super) fn schema_of(head: &[u8]) -> Option<String> {
    // It knows no schema, so that it finds any.
    let mut scan = Scan::default();
    for &byte in head {
        match scan.byte(byte) {
            Some(Fault::OtherSchema { found }) => return Some(found),
            Some(_) => return None,
            None if scan.frames.len() > DEPTH_MAX => return None,
            None => {}
        }
    }
    None
}

/// A source whose text is checked on its way. A byte order mark is left out.
pub(super) struct Guard<R> {
    source: R,
    letters: Letters,
    scan: Scan,
    /// Bytes given to the reader.
    pub given: u64,
    fault: Option<Fault>,
}

impl<R: Read> Guard<R> {
    /// `schemas` are the schemas that the reader knows.
    pub fn new(source: R, schemas: &'static [&'static str]) -> Guard<R> {
        let scan = Scan { schemas, ..Scan::default() };
        Guard { source, letters: Letters::default(), scan, given: 0, fault: None }
    }

    /// Fills `buffer` as far as the source has data.
    fn fill(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.source.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }

    /// Removes a byte order mark from the first bytes, and detects other encodings.
    fn begin(&mut self, first: &mut [u8], count: usize) -> usize {
        let encoding = match first {
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [b'{', 0, ..] | [0, b'{', ..] => Some("UTF-16"),
            [0x1f, 0x8b, ..] => Some("gzip"),
            [0xfd, b'7', b'z', b'X', b'Z', ..] => Some("xz"),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some("zstd"),
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some("bzip2"),
            [b'P', b'K', 3, 4, ..] => Some("ZIP"),
            _ => None,
        };
        if let Some(encoding) = encoding {
            self.fault = Some(Fault::OtherEncoding(encoding));
            return 0;
        }
        if first.starts_with(b"\xef\xbb\xbf") {
            first.copy_within(3..count, 0);
            return count - 3;
        }
        count
    }
}

impl<R: Read> Read for Guard<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(fault) = &self.fault {
            return Err(io::Error::other(fault.clone()));
        }
        let mut count = self.fill(buffer)?;
        if self.given == 0 {
            count = self.begin(&mut buffer[..count], count);
        }
        let invalid = self.letters.invalid_at(&buffer[..count]);
        let (mut sound, fault) = self.scan.bytes(&buffer[..invalid.unwrap_or(count)]);
        let not_utf8 = |_| Fault::NotUtf8 { line: self.scan.line + 1, column: self.scan.column + 1 };
        self.fault = self.fault.take().or(fault).or(invalid.map(not_utf8));
        self.given += sound as u64;
        if self.given > FILE_BYTES_MAX {
            self.fault = Some(Fault::TooLarge);
        }
        // Samples, which make results long, take a third of their text in memory.
        if self.scan.meter.taken() > MEMORY_MAX.max(self.given / 2) {
            self.fault = Some(Fault::TooMuchMemory);
            sound = 0;
        }
        match &self.fault {
            // The bytes before the fault come first, because they may have a fault of their own that only the parser
            // detects.
            Some(fault) if sound == 0 => Err(io::Error::other(fault.clone())),
            _ => Ok(sound),
        }
    }
}

/// The scanner's position within the syntax.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Between,
    Text {
        is_escaped: bool,
        is_kept: bool,
    },
    Number,
}

/// The keys of an object so far, as hashes. Most objects have few, which take no memory of their own.
#[derive(Default)]
struct Keys {
    few: [u64; 16],
    count: usize,
    more: BTreeSet<u64>,
}

impl Keys {
    /// Whether the key is new.
    fn insert(&mut self, key: u64) -> bool {
        let known = &self.few[..self.count.min(self.few.len())];
        if known.contains(&key) || self.more.contains(&key) {
            return false;
        }
        match self.few.get_mut(self.count) {
            Some(free) => *free = key,
            None => _ = self.more.insert(key),
        }
        self.count += 1;
        true
    }
}

/// An open object or list.
struct Frame {
    is_object: bool,
    /// Whether the next text is a key.
    expects_key: bool,
    keys: Keys,
    /// The last key, if it is one that the scan knows.
    key: Known,
}

/// Whether a number may have it after its first character.
fn is_of_number(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')
}

/// A hash of a key, eight bytes at a time. There are as many keys as numbers, and no two that a result has share one.
fn hash(key: &[u8]) -> u64 {
    key.chunks(8).fold(key.len() as u64, |hash, chunk| {
        let mut bytes = [0; 8];
        bytes[..chunk.len()].copy_from_slice(chunk);
        (hash.rotate_left(23) ^ u64::from_le_bytes(bytes)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    })
}

/// Scans JSON text without validating it; the parser does that.
#[derive(Default)]
struct Scan {
    schemas: &'static [&'static str],
    state: State,
    frames: Vec<Frame>,
    /// The key or the schema being read.
    text: Vec<u8>,
    line: usize,
    column: usize,
    meter: Meter,
}

impl Scan {
    /// Scans more bytes. Returns the number of bytes before a fault, and the fault.
    fn bytes(&mut self, bytes: &[u8]) -> (usize, Option<Fault>) {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            let run = self.run(&bytes[at..]);
            if run > 0 {
                at += run;
                continue;
            }
            self.column += 1;
            if byte == b'\n' {
                (self.line, self.column) = (self.line + 1, 0);
            }
            if let Some(fault) = self.byte(byte) {
                return (at, Some(fault));
            }
            at += 1;
        }
        (bytes.len(), None)
    }

    /// Scans letters up to what may end a text, or the digits of a number, all at once: most of a result is one or the
    /// other. Returns their number.
    fn run(&mut self, bytes: &[u8]) -> usize {
        let length = |ends: fn(&u8) -> bool| bytes.iter().position(ends).unwrap_or(bytes.len());
        let run = match self.state {
            State::Text { is_escaped: false, is_kept } => {
                let letters = length(|byte| matches!(byte, b'"' | b'\\' | b'\n'));
                self.meter.letters(letters as u64);
                if is_kept {
                    self.text.extend_from_slice(&bytes[..letters]);
                }
                letters
            }
            State::Number => {
                let digits = length(|byte| !is_of_number(*byte));
                bytes[..digits].iter().for_each(|&digit| self.meter.digit(digit));
                digits
            }
            State::Text { .. } | State::Between => 0,
        };
        self.column += run;
        run
    }

    fn byte(&mut self, byte: u8) -> Option<Fault> {
        match self.state {
            State::Text { is_escaped, is_kept } => {
                if byte == b'"' && !is_escaped {
                    self.state = State::Between;
                    return if is_kept { self.kept_text_ends() } else { None };
                }
                self.meter.letters(1);
                if is_kept {
                    self.text.push(byte);
                }
                self.state = State::Text { is_escaped: byte == b'\\' && !is_escaped, is_kept };
            }
            State::Number if is_of_number(byte) => self.meter.digit(byte),
            State::Number => {
                self.meter.number_ends(self.place(), self.is_in_list());
                self.state = State::Between;
                self.between(byte);
            }
            State::Between => self.between(byte),
        }
        None
    }

    fn between(&mut self, byte: u8) {
        match byte {
            b'"' => {
                let place = self.place();
                let is_key = self.frames.last().is_some_and(|frame| frame.expects_key);
                let is_schema = !is_key && self.frames.len() == 1 && place == Known::Schema;
                self.text.clear();
                self.state = State::Text { is_escaped: false, is_kept: is_key || is_schema };
                self.meter.text_begins();
                if !is_key {
                    self.meter.text(self.is_in_list());
                }
            }
            b'{' | b'[' => {
                self.meter.container(byte == b'{', self.place());
                let is_object = byte == b'{';
                let frame = Frame { is_object, expects_key: is_object, keys: Keys::default(), key: Known::Other };
                self.frames.push(frame);
            }
            b'}' | b']' => _ = self.frames.pop(),
            b',' | b':' => {
                if let Some(frame) = self.frames.last_mut() {
                    frame.expects_key = frame.is_object && byte == b',';
                }
            }
            b'-' | b'0'..=b'9' => {
                self.state = State::Number;
                self.meter.number(byte);
            }
            b't' | b'f' | b'n' => self.meter.word(self.is_in_list()),
            _ => {}
        }
    }

    fn is_in_list(&self) -> bool {
        self.frames.last().is_some_and(|frame| !frame.is_object)
    }

    /// The part of the document that matters to the scan: a column of samples, or anything else.
    fn place(&self) -> Known {
        let key = |depth: usize| self.frames.get(depth).map_or(Known::Other, |frame| frame.key);
        match (self.frames.len(), key(0), key(2), key(3)) {
            (1, Known::Schema, ..) => Known::Schema,
            // The root, the list of series, a series, its samples, a column.
            (4.., Known::Series, Known::Samples, place @ (Known::Column | Known::MissedRuns)) => place,
            _ => Known::Other,
        }
    }

    fn kept_text_ends(&mut self) -> Option<Fault> {
        let is_plain = !self.text.contains(&b'\\');
        let text = match is_plain {
            true => std::mem::take(&mut self.text),
            false => {
                let quoted = [b"\"", &self.text[..], b"\""].concat();
                serde_json::from_slice::<String>(&quoted).map_or_else(|_| self.text.clone(), String::into_bytes)
            }
        };
        let frame = self.frames.last_mut()?;
        if !frame.expects_key {
            let found = String::from_utf8_lossy(&text);
            let is_known = self.schemas.contains(&found.as_ref());
            return (!is_known).then(|| Fault::OtherSchema { found: found.chars().take(100).collect() });
        }
        if !frame.keys.insert(hash(&text)) {
            let key = String::from_utf8_lossy(&text).chars().take(100).collect();
            return Some(Fault::RepeatedKey { key, line: self.line + 1, column: self.column });
        }
        frame.key = Known::of(&text);
        self.meter.key(frame.keys.count, text.len());
        self.text = text;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::schema_of;

    #[test]
    fn a_document_names_its_schema_wherever_it_stands() {
        let why = Some("oversleep-why/1");
        for (head, found) in [
            (&br#"{"schema":"oversleep-why/1","tool""#[..], why),
            (b"{ \"command\": \"oversleep-why/2\",\n \"schema\" :\n\"oversleep-why/1\"", why),
            (br#"{"tool":{"schema":"other"},"schema":"oversleep-why/1""#, why),
            (br#"{"name":"\"schema\":\"other\"","schema":"oversleep-why/1""#, why),
            (br#"{"name":"oversleep-why/1""#, None),
            (b"", None),
        ] {
            assert_eq!(schema_of(head).as_deref(), found);
        }
        let deep = [&b"{\"a\":".repeat(200)[..], br#""schema":"oversleep-why/1""#].concat();
        assert_eq!(schema_of(&deep), None);
    }
}
