//! Assertions: what has to hold of a result, and whether it does, doesn't, or can't be told.
//!
//! [`judge`] says it of a result, `against` of a result and its baseline, `pairs` of alternated pairs of rounds.
//! `figures` has the intervals: a verdict rests on where the figure lies with 99 % confidence, never on the figure alone.

mod against;
mod figures;
mod judge;
mod names;
mod pairs;
mod targets;
mod turn;

use oversleep_record::Nanos;
use oversleep_record::assertion::Place;
use oversleep_record::part::Part;

pub use against::{Across, Regression, against};
pub(crate) use figures::of_share;
pub use judge::judge;
pub use names::{Requests, names_of};
pub use pairs::{LOOKS, Pairs, seldom};
pub use turn::figures_of;

/// What has to hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Assertion {
    /// As it was typed.
    pub text: String,
    /// Where it is written, if in a file.
    pub place: Option<Place>,
    /// What it claims.
    pub claim: Claim,
}

/// What an assertion claims.
#[derive(Clone, Debug, PartialEq)]
pub enum Claim {
    /// `nanosleep(1ms).p99 < 2ms`; without a bound it is compared with a base.
    Figure {
        /// Of what.
        subject: Subject,
        /// Which figure.
        figure: Figure,
        /// What it may be.
        bound: Option<Bound>,
    },
    /// `finding(timer-slack) absent`, `cause(late-by-slack) present`.
    Presence {
        /// Its id or name.
        name: String,
        /// Whether it has to be there.
        is_present: bool,
        /// Whether it has to be about an observed program.
        is_cause: bool,
    },
    /// `timer.slack_ns = 50us`, `cpu.count != 1`.
    Fact {
        /// The fact.
        name: String,
        /// Its value.
        value: String,
        /// Whether it has to be that.
        is_equal: bool,
    },
}

/// What a figure is of. Names may have `*` for any characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// `nanosleep(1ms)`, `java:Thread.sleep(1ms)`.
    Wait {
        /// The language runtime.
        runtime: Option<String>,
        /// The wait, or `sleep` for the plain sleep.
        name: String,
        /// The request.
        request: Nanos,
    },
    /// `clock(tsc)`, `cost(tsc)`, `step(tsc)`.
    Clock(String),
    /// `series(B5/nanosleep/1ms)`.
    Series(String),
    /// `why(program/thread/call)`, and a part of it.
    Why(Observed),
    /// `period(program/thread)`, and a part of it.
    Period(Observed),
    /// `cause(late-by-run-queue)`: the share of the lateness that it explains.
    Cause(String),
}

/// Waits of an observed program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// The program.
    pub program: String,
    /// The thread.
    pub thread: Option<String>,
    /// The call.
    pub call: Option<String>,
    /// The part of their lateness or of their periods.
    pub part: Option<Part>,
}

/// A figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Figure {
    /// A percentile, as a part of 1.
    Quantile(f64),
    /// The mean.
    Mean,
    /// The largest value.
    Max,
    /// The median cost of a clock's read.
    Cost,
    /// The median step of a clock.
    Step,
    /// Deadlines that were missed.
    Missed,
    /// Wake-ups before the deadline.
    Early,
    /// How often a clock went backwards.
    Backward,
    /// The share of time that the hypervisor took.
    Steal,
    /// The share of the lateness.
    Share,
}

impl Figure {
    /// All of them with their names.
    pub const ALL: [(&'static str, Figure); 13] = [
        ("p50", Figure::Quantile(0.5)),
        ("p90", Figure::Quantile(0.9)),
        ("p99", Figure::Quantile(0.99)),
        ("p99.9", Figure::Quantile(0.999)),
        ("mean", Figure::Mean),
        ("max", Figure::Max),
        ("cost", Figure::Cost),
        ("step", Figure::Step),
        ("missed", Figure::Missed),
        ("early", Figure::Early),
        ("backward", Figure::Backward),
        ("steal", Figure::Steal),
        ("share", Figure::Share),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Figure::ALL.iter().find(|(_, figure)| *figure == self).map_or("", |(name, _)| name)
    }
}

/// How a figure is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `>`
    Above,
    /// `>=`
    AtLeast,
}

impl Op {
    /// All of them as they are typed, the longer ones first.
    pub const ALL: [(&'static str, Op); 4] =
        [("<=", Op::AtMost), (">=", Op::AtLeast), ("<", Op::Below), (">", Op::Above)];

    /// As it is typed.
    pub fn typed(self) -> &'static str {
        Op::ALL.iter().find(|(_, op)| *op == self).map_or("", |(text, _)| text)
    }
}

/// What a figure may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// How it is compared.
    pub op: Op,
    /// With what.
    pub value: Value,
}

/// What a figure is compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// `2ms`, in ns.
    Span(f64),
    /// `1%`, as a part of 1.
    Share(f64),
    /// `0`.
    Count(f64),
    /// `baseline * 1.25`.
    Baseline(f64),
}

/// A name that matches nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmatched {
    /// The assertion.
    pub text: String,
    /// Where it is written, if in a file.
    pub place: Option<Place>,
    /// What it should be the name of.
    pub what: &'static str,
    /// The name.
    pub name: String,
    /// The names that there are.
    pub known: Vec<String>,
}
