//! Recordings of Linux: what they have in common, whatever file they are in.

mod convert;
mod facts;
mod format;
pub mod perf;
pub mod perfetto;
mod point;
mod ring;
pub mod text;
pub mod trace_dat;

use oversleep_record::Nanos;
use oversleep_record::observed::wait::signed;
use oversleep_record::observed::wakes::Wakes;
use oversleep_record::observed::{By, Losses};
use oversleep_why::calls::Arch;
use oversleep_why::event::{Event, Name};
use oversleep_why::recording::Meta;

use crate::order::Plausible;
use crate::source::Source;
use crate::{Events, Fault, Opened};
use convert::Converter;
use facts::{Facts, Map};

pub use point::{Counts, POINTS, Point, Set, What};

/// What a file says of its origin.
#[derive(Clone, Debug, Default)]
pub struct Head {
    /// Its recorder, as it calls itself.
    pub recorder: String,
    pub kernel: String,
    pub arch: Option<Arch>,
    /// The clock, as the file names it.
    pub clock: String,
    /// What its times are rounded to; 0 if they aren't.
    pub resolution_ns: u64,
    /// The names of threads.
    pub names: Vec<(u32, Name)>,
    /// What the kernel calls processes that the file names by their command lines, when all points were read.
    pub programs: Map<u32, Name>,
}

impl Head {
    pub fn of(recorder: &str) -> Head {
        Head { recorder: recorder.to_owned(), ..Head::default() }
    }
}

/// The processor that a file's head states; `None` if it states none.
pub fn stated_arch(name: &str) -> Option<Arch> {
    (!name.is_empty()).then(|| Arch::named(name).unwrap_or(Arch::Unknown))
}

/// A text of a file's head, short and printable.
pub fn printable(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().map(|c| if c.is_control() { '?' } else { c }).take(128).collect()
}

/// The points of a file in the order of time.
pub trait Stream {
    fn head(&self) -> &Head;

    /// How often each tracepoint occurred so far.
    fn counts(&self) -> Counts;

    /// Whether the file ends early, or is damaged from some place on.
    fn is_truncated(&self) -> bool;

    /// Whether it may have events of this tracepoint, as far as it says which it has.
    fn may_have(&self, _tracepoint: &str) -> bool {
        true
    }

    /// Why nothing can be told from what was read.
    fn why_unread(&self) -> Option<&'static str> {
        None
    }

    /// The names of those functions, as far as the file has them.
    fn functions(&self, _wanted: &[u64]) -> Vec<(u64, String)> {
        Vec::new()
    }

    /// The next one.
    fn next(&mut self) -> Result<Option<Point>, Fault>;
}

/// Opens the points of a file.
type Open = for<'a> fn(&'a dyn Source) -> Result<Box<dyn Stream + 'a>, Fault>;

/// Opens a file of points, and reads it once.
fn opened<'a>(source: &'a dyn Source, way: &str, open: Open) -> Result<Opened<'a>, Fault> {
    let mut stream = open(source)?;
    let facts = Facts::of(&mut *stream)?;
    if let Some(why) = stream.why_unread() {
        return Err(Fault::Unread(why.to_owned()));
    }
    if !facts.can.has("sched_switch") && facts.is_truncated && stream.may_have("sched_switch") {
        return Err(Fault::CutBefore("its first sched:sched_switch event, or before what describes its events"));
    }
    if !facts.can.has("sched_switch") {
        return Err(Fault::Unread(format!(
            "it has no events of sched:sched_switch, so nothing tells when a thread waits. `oversleep why \
             --how-to-record {way}` prints what records them"
        )));
    }
    drop(stream);
    let arch = facts.head.arch.unwrap_or(Arch::Unknown);
    let mut meta = Meta::of(arch);
    meta.by = By::Recorder;
    meta.recorder = Some(facts.head.recorder.clone());
    meta.kernel = facts.head.kernel.clone();
    meta.lacks_processes = !facts.has_processes;
    meta.resolution_ns = Some(Nanos(signed(facts.head.resolution_ns))).filter(|&ns| ns != Nanos::ZERO);
    let is_truncated = facts.is_truncated;
    let counts = facts.counts.iter().map(|(entry, count)| (entry.full_name(), count)).collect();
    let plausible = facts.plausible;
    let converter = Converter::new(facts, arch);
    meta.unseen = converter.unseen();
    let losses = Losses { missing: converter.lacks(), is_truncated, ..Losses::default() };
    let events = Box::new(Points { stream: open(source)?, converter, plausible });
    Ok(Opened { meta, losses, counts, changes: Default::default(), events })
}

/// The points of a file as events.
struct Points<'a> {
    stream: Box<dyn Stream + 'a>,
    converter: Converter,
    plausible: Plausible,
}

impl Events for Points<'_> {
    fn next(&mut self, events: &mut Vec<Event>) -> Result<bool, Fault> {
        let point = self.stream.next()?;
        if let Some(point) = point.as_ref().filter(|point| point.t == 0 || self.plausible.has(point.t)) {
            self.converter.feed(point, events);
        }
        Ok(point.is_some())
    }

    fn span_ns(&self) -> u64 {
        self.converter.span_ns()
    }

    fn wakes(&mut self) -> Option<Wakes> {
        Some(self.converter.wakes())
    }
}
