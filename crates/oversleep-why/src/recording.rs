//! A stream of events as a file: written during collection, readable on any system.
//!
//! The file has a line that names the format, a line of JSON that describes the origin of the stream, and the events. Each
//! field is encoded as the difference from the value that the previous events suggest, as a variable-length number. An event
//! takes 20 to 30 bytes. What was learnt of processes meanwhile follows, if the recording came to its end.

use std::io::{self, Read, Seek, SeekFrom, Write};

use oversleep_record::Nanos;
use oversleep_record::environment::Os;
use oversleep_record::observed::By;
use serde::{Deserialize, Serialize};

use crate::calls::Arch;
use crate::coding::Coder;
use crate::event::Event;
use crate::part::Part;

pub use oversleep_record::observed::Named;

/// The first line.
const MAGIC: &[u8] = b"oversleep-why 1\n";
/// The last bytes of a recording that came to its end; before them is the length of what was learnt, in 4 bytes.
const END: &[u8] = b"\noversleep-why end\n";
/// The longest JSON line that a recording may have.
const META_MAX: usize = 1 << 20;
/// The most bytes before and behind the events.
const PART_MAX: u64 = META_MAX as u64 + 100;

/// Where a stream is from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    /// The system, as results name it. Earlier recordings don't say; they are from Linux.
    #[serde(default = "linux", skip_serializing_if = "is_linux")]
    pub os: String,
    /// The processor, which decides what call numbers mean.
    pub arch: Arch,
    /// The kernel, as it calls itself.
    #[serde(default)]
    pub kernel: String,
    /// Who followed it.
    #[serde(default, skip_serializing_if = "By::is_kernel")]
    pub by: By,
    /// The recorder of another project, as it calls itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorder: Option<String>,
    /// Parts that it doesn't show.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<Part>,
    /// It doesn't say which threads are of one process.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lacks_processes: bool,
    /// What its recorder rounds times to, if that is more than 1 ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution_ns: Option<Nanos>,
    /// What was followed, in words.
    #[serde(default)]
    pub target: String,
    /// When it began, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_unix_s: Option<i64>,
    /// Processes that ran before the stream began; all that were followed, if it came to its end.
    #[serde(default)]
    pub processes: Vec<Named>,
    /// Processes whose tasks ran instead, as far as their control groups were asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub neighbours: Vec<Named>,
}

/// What was learnt of processes while they were followed.
#[derive(Debug, Serialize, Deserialize)]
struct Learnt {
    processes: Vec<Named>,
    neighbours: Vec<Named>,
}

impl Meta {
    /// Where a stream of that processor is from, if nothing else is known.
    pub fn of(arch: Arch) -> Meta {
        Meta {
            os: linux(),
            arch,
            kernel: String::new(),
            by: By::Kernel,
            recorder: None,
            unseen: Vec::new(),
            lacks_processes: false,
            resolution_ns: None,
            target: String::new(),
            taken_unix_s: None,
            processes: Vec::new(),
            neighbours: Vec::new(),
        }
    }
}

fn linux() -> String {
    Os::Linux.name().to_owned()
}

fn is_linux(os: &str) -> bool {
    os == Os::Linux.name()
}

/// Why a recording can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordingError {
    /// It is something else.
    #[error("it is no recording of oversleep why")]
    Other,
    /// A later version wrote it.
    #[error("a later version of oversleep wrote it (format {0}); use that version to read it")]
    Later(String),
    /// The line that describes the stream's origin can't be read.
    #[error("its second line can't be read: {0}")]
    Meta(String),
}

/// Writes a recording.
#[derive(Debug)]
pub struct Recorder<W> {
    out: W,
    coder: Coder,
    buffer: Vec<u8>,
}

impl<W: Write> Recorder<W> {
    /// Starts a recording.
    ///
    /// # Errors
    /// If the head can't be written.
    pub fn new(mut out: W, meta: &Meta) -> io::Result<Recorder<W>> {
        out.write_all(MAGIC)?;
        serde_json::to_writer(&mut out, meta)?;
        out.write_all(b"\n")?;
        Ok(Recorder { out, coder: Coder::default(), buffer: Vec::new() })
    }

    /// Appends events.
    ///
    /// # Errors
    /// If they can't be written.
    pub fn write(&mut self, events: &[Event]) -> io::Result<()> {
        self.buffer.clear();
        for event in events {
            self.coder.encode(event, &mut self.buffer);
        }
        self.out.write_all(&self.buffer)
    }

    /// Finishes the recording, with what is known of processes by then.
    ///
    /// # Errors
    /// If the end can't be written.
    pub fn finish(mut self, processes: Vec<Named>, neighbours: Vec<Named>) -> io::Result<W> {
        let learnt = serde_json::to_vec(&Learnt { processes, neighbours })?;
        // A recording with more of them than can be read back is still one.
        if learnt.len() <= META_MAX {
            self.out.write_all(&learnt)?;
            self.out.write_all(&(learnt.len() as u32).to_le_bytes())?;
            self.out.write_all(END)?;
        }
        self.out.flush()?;
        Ok(self.out)
    }
}

/// Reads the events of a recording one by one.
#[derive(Debug)]
pub struct Reader<R> {
    /// The origin of the stream.
    pub meta: Meta,
    /// The events, and those bytes of them that were read and not decoded yet.
    source: R,
    read: Vec<u8>,
    at: usize,
    is_whole: bool,
    coder: Coder,
    is_broken: bool,
}

/// How much is read at a time, and the length of the longest event: its kind, 12 numbers and a name.
const CHUNK: usize = 1 << 16;
const EVENT_MAX: usize = 1 + 12 * 10 + 16;

impl<'a> Reader<&'a [u8]> {
    /// Whether a file starts like a recording.
    pub fn knows(bytes: &[u8]) -> bool {
        bytes.starts_with(b"oversleep-why ")
    }

    /// Reads the head.
    ///
    /// # Errors
    /// If this version can't read it as a recording.
    pub fn new(bytes: &'a [u8]) -> Result<Reader<&'a [u8]>, RecordingError> {
        let (mut meta, mut events) = head(bytes)?;
        if let Some((before, learnt)) = learnt(events) {
            (meta.processes, meta.neighbours) = (learnt.processes, learnt.neighbours);
            events = before;
        }
        Ok(Reader::of(meta, events))
    }
}

impl<F: Read + Seek> Reader<io::Take<F>> {
    /// Reads the head of a file, and what was learnt at its end. The events between are never in memory together.
    ///
    /// # Errors
    /// If it can't be read, or this version can't read it as a recording.
    pub fn in_file(mut file: F) -> io::Result<Result<Reader<io::Take<F>>, RecordingError>> {
        let length = file.seek(SeekFrom::End(0))?;
        let mut part = |from: u64| -> io::Result<Vec<u8>> {
            let mut bytes = Vec::new();
            file.seek(SeekFrom::Start(from))?;
            file.by_ref().take(PART_MAX).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let first = part(0)?;
        let (mut meta, begins) = match head(&first) {
            Ok((meta, rest)) => (meta, (first.len() - rest.len()) as u64),
            Err(error) => return Ok(Err(error)),
        };
        let last = part(length.saturating_sub(PART_MAX).max(begins))?;
        let mut ends = length;
        if let Some((before, learnt)) = learnt(&last) {
            (meta.processes, meta.neighbours) = (learnt.processes, learnt.neighbours);
            ends = length - (last.len() - before.len()) as u64;
        }
        file.seek(SeekFrom::Start(begins))?;
        Ok(Ok(Reader::of(meta, file.take(ends.saturating_sub(begins)))))
    }
}

impl<R: Read> Reader<R> {
    fn of(meta: Meta, source: R) -> Reader<R> {
        let coder = Coder::default();
        Reader { meta, source, read: Vec::new(), at: 0, is_whole: false, coder, is_broken: false }
    }

    /// Whether it was read up to something that is no event: its writer was killed, or the file is damaged.
    pub fn is_broken(&self) -> bool {
        self.is_broken
    }
}

/// What the first line and the second one say, and what follows them.
fn head(bytes: &[u8]) -> Result<(Meta, &[u8]), RecordingError> {
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        return Err(match bytes.strip_prefix(b"oversleep-why ") {
            Some(rest) => {
                let version = rest.iter().take(8).take_while(|byte| byte.is_ascii_digit());
                RecordingError::Later(version.map(|&byte| char::from(byte)).collect())
            }
            None => RecordingError::Other,
        });
    };
    let line = rest.iter().take(META_MAX).position(|&byte| byte == b'\n');
    let line = line.ok_or_else(|| RecordingError::Meta("it has no end".to_owned()))?;
    let meta = serde_json::from_slice(&rest[..line]).map_err(|error| RecordingError::Meta(error.to_string()))?;
    Ok((meta, &rest[line + 1..]))
}

/// What follows the events of a recording that came to its end, and the events.
fn learnt(rest: &[u8]) -> Option<(&[u8], Learnt)> {
    let (rest, length) = rest.strip_suffix(END)?.split_last_chunk()?;
    let (events, text) = rest.split_at_checked(rest.len().checked_sub(u32::from_le_bytes(*length) as usize)?)?;
    Some((events, serde_json::from_slice(text).ok()?))
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        if self.is_broken {
            return None;
        }
        if !self.is_whole && self.read.len() - self.at < EVENT_MAX {
            self.read.drain(..self.at);
            self.at = 0;
            match self.source.by_ref().take(CHUNK as u64).read_to_end(&mut self.read) {
                Ok(count) => self.is_whole = count < CHUNK,
                Err(_) => self.is_broken = true,
            }
        }
        let mut rest = &self.read[self.at..];
        if rest.is_empty() {
            return None;
        }
        let event = self.coder.decode(&mut rest);
        self.at = self.read.len() - rest.len();
        self.is_broken |= event.is_none();
        event
    }
}
