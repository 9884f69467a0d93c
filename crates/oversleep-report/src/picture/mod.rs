//! Shapes for pictures: pure functions from plain numbers to SVG.
//!
//! A picture of a result is an entry in `view::pictures`; it fills a shape from here, or draws with the same tools. A
//! new shape is a file here, with its input (labels, `f64`s with the unit last in the field name, and a [`Frame`] for
//! the words around it), `fn svg(&self) -> String` for every [`Form`], its name in `shapes!`, and tests: well-formed,
//! deterministic, `<&">` escaped, empty and broken input, 1 ns and 100 s. Nothing in this room knows results, files or
//! the terminal.
//!
//! | for this | use | never |
//! |---|---|---|
//! | markup | `svg::Canvas`: it closes and escapes | a hand-written tag |
//! | heading, finding, legend, note, accessible name | `frame::figure` | a picture without a finding in figures |
//! | places and ticks | `scale`, `axis` | an axis without a unit |
//! | colours | the table in `theme`, by class | a colour in a shape's file |
//! | words for numbers | `text` | `format!("{:.1} us")` |
//! | too many points | `stats::extremes`, `stats::thinned`, and say so in the caveat | dropping the extremes |
//!
//! Every picture states its finding in words and figures (`<title>`, `<desc>` and in view), has a bounded size, and
//! leaves unknown values out and says so. It has no script, and nothing in it depends on the time, the locale or the
//! machine.

mod answers;
mod axis;
mod before_after;
#[cfg(test)]
mod check;
mod cost_bars;
mod distribution;
mod forkjoin;
mod frame;
mod heat_map;
mod latency_cpu;
mod lens;
mod neighbour_curves;
mod neighbours;
mod order;
mod percentiles;
mod scale;
mod split_bars;
mod stats;
mod svg;
mod sweep;
mod text;
mod theme;
mod timeline;
mod two_clocks;

/// A picture in each of its forms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forms {
    /// The document of its own.
    pub alone: String,
    /// For a page.
    pub wide: String,
    /// For a page on a phone.
    pub narrow: String,
}

/// Which forms are drawn. The others stay empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// All.
    All,
    /// The document of its own.
    Alone,
    /// Those for a page.
    ForPage,
}

/// Something that can be drawn.
pub trait Shape {
    /// The words around it.
    fn frame(&mut self) -> &mut Frame;

    /// It in the frame's form.
    fn drawn(&self) -> String;

    /// It in the wanted forms; those for a page have these words instead of the frame's.
    fn forms(mut self, heading: &str, note: &str, wanted: Wanted) -> Forms
    where
        Self: Sized,
    {
        let alone = if wanted == Wanted::ForPage { String::new() } else { self.drawn() };
        if wanted == Wanted::Alone {
            return Forms { alone, ..Forms::default() };
        }
        heading.clone_into(&mut self.frame().heading);
        note.clone_into(&mut self.frame().note);
        let mut of = |form| {
            self.frame().form = form;
            self.drawn()
        };
        Forms { alone, wide: of(Form::Wide), narrow: of(Form::Narrow) }
    }
}

macro_rules! shapes {
    ($($shape:ident),+) => {
        $(impl Shape for $shape {
            fn frame(&mut self) -> &mut Frame {
                &mut self.frame
            }

            fn drawn(&self) -> String {
                self.svg()
            }
        })+
    };
}

shapes!(
    Answers,
    BeforeAfter,
    CostBars,
    ForkJoin,
    HeatMap,
    LatencyCpu,
    NeighbourCurves,
    Neighbours,
    Percentiles,
    SplitBars,
    Sweep,
    Timeline,
    TwoClocks
);

pub use answers::{AnswerRow, Answers};
pub use before_after::{BeforeAfter, BeforeAfterRow};
pub use cost_bars::{ClockCost, CostBars, UnavailableClock};
pub use distribution::Distribution;
pub use forkjoin::{ForkJoin, ForkJoinStyle};
pub use frame::{Form, Frame};
pub use heat_map::{Cells, HeatMap};
pub use latency_cpu::{LatencyCpu, LatencyPoint, StrategyCurve};
pub use neighbour_curves::{MachineCurve, NeighbourCurves, Sleeps};
pub use neighbours::{NeighbourStep, Neighbours};
pub use percentiles::{PercentileSeries, Percentiles};
pub use split_bars::{SplitBars, SplitPart, SplitRow};
pub use sweep::{Sweep, SweepPoint};
pub use theme::{Scheme, for_plain_viewers, page_variables, style_sheet};
pub use timeline::{Timeline, TimelineLine, TimelineVisit};
pub use two_clocks::{SleepSeenTwice, TwoClocks};
