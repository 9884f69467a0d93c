//! Pictures: pure functions from plain numbers to SVG.
//!
//! # Where do I put a new picture?
//!
//! 1. One file here, named after what it shows. It holds its input (a struct of labels and `f64`s with the unit last in the field
//!    name, and a [`Frame`] for the words around it), `fn svg(&self) -> String`, and its tests: well-formed, deterministic, `<&">`
//!    escaped, empty and broken input, 1 ns and 100 s.
//! 2. Its `mod` and `pub use` lines below.
//! 3. The adapter that fills the input from a record stands with the report, not here: nothing in this room knows records, files
//!    or the terminal.
//!
//! | for this | use | never |
//! |---|---|---|
//! | markup | `svg::Canvas`: it closes and escapes | a hand-written tag |
//! | heading, finding, legend, note, accessible name | `frame::figure` | a picture without a finding in figures |
//! | places and ticks | `scale`, `axis` | an axis without a unit |
//! | colours | the table in `theme`, by class | a colour in a picture's file |
//! | words for numbers | `text` | `format!("{:.1} us")` |
//! | too many points | `stats::extremes`, `stats::thinned`, and say so in the caveat | dropping the extremes |
//!
//! What a picture promises: the finding in words, with figures (`<title>`, `<desc>` and in view); no script; nothing that depends on
//! the time, the locale or the machine; a bounded size; unknown values left out and said so, never drawn as zero.

mod axis;
mod before_after;
#[cfg(test)]
mod check;
mod cost_bars;
mod forkjoin;
mod frame;
mod heat_map;
mod lens;
mod neighbours;
mod percentiles;
mod scale;
mod split_bars;
mod stats;
mod svg;
mod sweep;
mod text;
mod theme;
mod two_clocks;

pub use before_after::{BeforeAfter, BeforeAfterRow};
pub use cost_bars::{ClockCost, CostBars, UnavailableClock};
pub use forkjoin::{ForkJoin, ForkJoinStyle};
pub use frame::{Frame, WIDTH};
pub use heat_map::HeatMap;
pub use neighbours::{NeighbourStep, Neighbours};
pub use percentiles::{Distribution, PercentileSeries, Percentiles};
pub use split_bars::{SplitBars, SplitPart, SplitRow};
pub use sweep::{Sweep, SweepPoint};
pub use theme::{Scheme, page_variables};
pub use two_clocks::{SleepSeenTwice, TwoClocks};
