//! Recordings that other tools made of a kernel's events, as the events that `oversleep why` knows.
//!
//! A kind of file is one entry of [`FORMATS`]. It is recognised by its content and read in two passes: the first one learns
//! what the file can show and how its clock relates to the timers', the second one makes events. Both read the file in
//! pieces, so memory doesn't grow with it. What a recording doesn't show is listed, and is never 0.
#![forbid(unsafe_code)]

mod cursor;
pub mod how_to;
mod linux;
mod order;
pub mod packed;
mod source;
mod windows;

use std::io;

use oversleep_record::change::Change;
use oversleep_record::observed::Losses;
use oversleep_record::observed::wait::signed;
use oversleep_record::observed::wakes::Wakes;
use oversleep_record::{Nanos, ResultFile};
use oversleep_why::Event;
use oversleep_why::names::Names;
use oversleep_why::part::Part;
use oversleep_why::recording::Meta;
use oversleep_why::session::Session;

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

/// Opens a file of a kind that is recorded in such a way.
type Open = for<'a> fn(&'a dyn Source, &str) -> Result<Opened<'a>, Fault>;

impl std::fmt::Debug for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Every kind.
pub const FORMATS: &[&Format] = &[
    &linux::trace_dat::FORMAT,
    &linux::perf::FORMAT,
    &windows::FORMAT,
    &linux::perfetto::FORMAT,
    &linux::text::FORMAT,
];

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
    /// It ends before its first event; [`Fault::Cut`] says so to users.
    #[error("it ends before its events begin")]
    CutOff,
    /// It ends before that.
    #[error("it ends before {0}")]
    CutBefore(&'static str),
    /// It ends before something that is needed.
    #[error(
        "it is cut off: its {size} B end before {needed}. Copy the whole file again, or record it again: \
         `oversleep why --how-to-record {way}` prints how"
    )]
    Cut {
        /// How many bytes it has.
        size: u64,
        /// What doesn't come.
        needed: &'static str,
        /// How to record it.
        way: &'static str,
    },
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
    /// How often each kind of event occurs that is read.
    pub counts: Vec<(String, u64)>,
    /// Changes of what decides how timers end, and how many more there are.
    pub changes: (Vec<Change>, u64),
    events: Box<dyn Events + 'a>,
}

/// The events of a file, in the order of time.
trait Events {
    /// States how long the program meant to wait, which may show parts that were unseen.
    fn intend(&mut self, _want_ns: u64, _unseen: &mut Vec<Part>) {}

    /// Appends some; `false` if there are no more.
    fn next(&mut self, events: &mut Vec<Event>) -> Result<bool, Fault>;

    /// From the first to the last thing that was recorded, when all events were read.
    fn span_ns(&self) -> u64;

    /// Who woke up, when all events were read.
    fn wakes(&mut self) -> Option<Wakes>;
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
        let cut = |needed| Fault::Cut { size: source.size(), needed, way: self.way };
        (self.open)(source, self.way).map_err(|fault| match fault {
            Fault::CutOff => cut("its events begin"),
            Fault::CutBefore(needed) => cut(needed),
            other => other,
        })
    }
}

/// The result of a recording, without findings.
///
/// # Errors
/// If it can't be read.
pub fn replay(format: &Format, source: &dyn Source) -> Result<ResultFile, Fault> {
    let opened = format.open(source)?;
    let session = Session::new(opened.meta.arch, Names::of_recording(&opened.meta), None, None);
    opened.into_result(session)
}

impl Opened<'_> {
    /// Feeds all events to a session, and ends that.
    ///
    /// # Errors
    /// If it can't be read, or the session's trace not be written.
    pub fn into_result(mut self, mut session: Session<'_>) -> Result<ResultFile, Fault> {
        if let Some(want_ns) = session.want_ns() {
            self.events.intend(want_ns, &mut self.meta.unseen);
        }
        let mut events = Vec::new();
        loop {
            self.events(&mut events)?;
            if events.is_empty() {
                break;
            }
            session.feed(events.iter().copied())?;
        }
        let mut file = session.finish(self.meta, self.losses)?;
        (file.changes, file.changes_beyond) = self.changes;
        // Its events are those of waits only.
        file.duration_ns = file.duration_ns.max(Nanos(signed(self.events.span_ns())));
        if let Some(observation) = &mut file.observation {
            observation.wakes = self.events.wakes().filter(|wakes| !wakes.is_empty());
        }
        Ok(file)
    }

    /// Its next events in the order of time; none when it is over.
    ///
    /// # Errors
    /// If it can't be read.
    pub fn events(&mut self, events: &mut Vec<Event>) -> Result<(), Fault> {
        events.clear();
        while events.len() < BATCH {
            if !self.events.next(events)? {
                break;
            }
        }
        Ok(())
    }
}
