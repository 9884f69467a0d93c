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

use oversleep_why::calls::Arch;
use oversleep_why::event::Name;

use crate::Fault;

pub use convert::Converter;
pub use facts::Facts;
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
    /// The names of threads.
    pub names: Vec<(u32, Name)>,
}

impl Head {
    pub fn of(recorder: &str) -> Head {
        Head { recorder: recorder.to_owned(), ..Head::default() }
    }
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

    /// The next one.
    fn next(&mut self) -> Result<Option<Point>, Fault>;
}
