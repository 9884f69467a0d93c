//! Recordings that other tools made of a kernel's events, as the events that `oversleep why` knows.
//!
//! A kind of file is one entry of [`FORMATS`]. It is recognised by its content and read in two passes: the first one learns
//! what the file can show and how its clock relates to the timers', the second one makes events. Both read the file in
//! pieces, so memory doesn't grow with it. What a recording doesn't show is listed, and is never 0.
#![forbid(unsafe_code)]

mod cursor;
pub mod how_to;
mod linux;
mod source;
mod zstd;

use std::io;

use oversleep_record::ResultFile;
use oversleep_record::observed::{By, Losses};
use oversleep_why::Event;
use oversleep_why::calls::Arch;
use oversleep_why::names::Names;
use oversleep_why::recording::Meta;
use oversleep_why::session::Session;

use linux::{Converter, Facts, Stream};

pub use source::{SeekSource, Source};

/// The most CPUs that a recording can have.
const CPUS_MAX: u32 = 4_096;
/// How many events are passed on at once, at least.
const BATCH: usize = 4_096;

/// A kind of file.
pub struct Format {
    /// As it is called: `perf.data`.
    pub name: &'static str,
    /// How to record one: a name in [`how_to::WAYS`].
    way: &'static str,
    /// Whether a file that begins like this is one.
    knows: fn(&[u8]) -> bool,
    open: Open,
}

type Open = for<'a> fn(&'a dyn Source) -> Result<Box<dyn Stream + 'a>, Fault>;

impl std::fmt::Debug for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Every kind.
pub const FORMATS: &[&Format] =
    &[&linux::trace_dat::FORMAT, &linux::perf::FORMAT, &linux::perfetto::FORMAT, &linux::text::FORMAT];

/// The kind of a file that begins like this.
pub fn recognise(head: &[u8]) -> Option<&'static Format> {
    FORMATS.iter().copied().find(|format| (format.knows)(head))
}

/// Why a recording can't be read.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// Its bytes can't be read.
    #[error(transparent)]
    Unreadable(#[from] io::Error),
    /// It ends before its first event.
    #[error("it ends before its events begin")]
    CutOff,
    /// It is damaged.
    #[error("it is damaged: {0}")]
    Damaged(String),
    /// It is of a kind that isn't read.
    #[error("such a recording isn't read: {0}")]
    Unread(String),
}

/// An opened recording.
pub struct Opened<'a> {
    /// Where it is from, and what it doesn't show.
    pub meta: Meta,
    /// What is known to be missing.
    pub losses: Losses,
    /// How often each tracepoint occurs that is read.
    pub counts: Vec<(String, u64)>,
    stream: Box<dyn Stream + 'a>,
    converter: Converter,
}

impl std::fmt::Debug for Opened<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opened").field("meta", &self.meta).finish_non_exhaustive()
    }
}

impl Format {
    /// Opens a file of this kind, and reads it once.
    ///
    /// # Errors
    /// If it can't be read as one.
    pub fn open<'a>(&self, source: &'a dyn Source) -> Result<Opened<'a>, Fault> {
        let facts = Facts::of(&mut *(self.open)(source)?)?;
        if !facts.can.has("sched_switch") {
            return Err(Fault::Unread(format!(
                "it has no events of sched:sched_switch, so nothing tells when a thread waits. `oversleep why \
                 --how-to-record {}` prints what records them",
                self.way
            )));
        }
        let arch = facts.head.arch.unwrap_or(Arch::X86_64);
        let mut meta = Meta::of(arch);
        meta.by = By::Recorder;
        meta.recorder = Some(facts.head.recorder.clone());
        meta.kernel = facts.head.kernel.clone();
        let is_truncated = facts.is_truncated;
        let counts = facts.counts.iter().map(|(entry, count)| (entry.full_name(), count)).collect();
        let converter = Converter::new(facts, arch);
        meta.unseen = converter.unseen();
        let losses = Losses { missing: converter.lacks(), is_truncated, ..Losses::default() };
        Ok(Opened { meta, losses, counts, stream: (self.open)(source)?, converter })
    }
}

/// The result of a recording, without findings.
///
/// # Errors
/// If it can't be read.
pub fn replay(format: &Format, source: &dyn Source) -> Result<ResultFile, Fault> {
    let opened = format.open(source)?;
    let session = Session::new(opened.meta.arch, Names::default(), None, None);
    opened.into_result(session)
}

impl Opened<'_> {
    /// Feeds all events to a session, and ends that.
    ///
    /// # Errors
    /// If it can't be read, or the session's trace not be written.
    pub fn into_result(mut self, mut session: Session<'_>) -> Result<ResultFile, Fault> {
        let mut events = Vec::new();
        loop {
            self.events(&mut events)?;
            if events.is_empty() {
                break;
            }
            session.feed(events.iter().copied())?;
        }
        Ok(session.finish(self.meta, self.losses)?)
    }

    /// Its next events in the order of time; none when it is over.
    ///
    /// # Errors
    /// If it can't be read.
    pub fn events(&mut self, events: &mut Vec<Event>) -> Result<(), Fault> {
        events.clear();
        while events.len() < BATCH {
            let Some(point) = self.stream.next()? else { break };
            self.converter.feed(&point, events);
        }
        Ok(())
    }
}
