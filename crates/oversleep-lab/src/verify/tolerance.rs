//! The tolerances for observations: 2 % for a rule, and the source's own precision for a figure that was taken from the
//! row's source.

/// The model's answer for an observation.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Whether it is within the tolerance.
    pub reproduced: bool,
    /// Whether it is within what the row itself states: the precision of its source.
    pub as_exactly: bool,
    /// The tolerance, in words.
    pub held_to: String,
    /// The factor by which sources differ about such machines, if that is the tolerance.
    pub of_machines: Option<f64>,
    /// The model's figure in the terms of the row: `mean 15.63 ms`.
    pub model: String,
}

impl Judged {
    /// Judged by what the row states alone.
    pub(super) fn of(reproduced: bool, model: String) -> Judged {
        Judged { reproduced, as_exactly: reproduced, held_to: String::new(), of_machines: None, model }
    }
}

/// The kind of comparison of a row with its model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tolerance {
    /// Figures within 2 %.
    Figure,
    /// Figures that the source rounded.
    Rounded,
    /// Means of few values, whose standard deviation the source states.
    Sampled,
    /// Figures within the factor by which the source's own figures differ.
    Factor,
    /// Costs and wake-ups that are predicted, within the factor by which other sources differ about them.
    Machines,
    /// A range of values, or a sample.
    Range,
    /// The shape of a distribution, a bound, or the absence of something.
    Shape,
}

impl Tolerance {
    /// All of them, strictest first.
    pub const ALL: [Tolerance; 7] = [
        Tolerance::Figure,
        Tolerance::Rounded,
        Tolerance::Sampled,
        Tolerance::Factor,
        Tolerance::Machines,
        Tolerance::Range,
        Tolerance::Shape,
    ];

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Tolerance::Figure => "a figure within 2 %",
            Tolerance::Rounded => "a figure within half of the unit that its source rounded to",
            Tolerance::Sampled => {
                "a mean of few values or runs, within the sampling error that its source's deviation comes to"
            }
            Tolerance::Factor => "a cost within the factor by which its source's own figures differ",
            Tolerance::Machines => {
                "a predicted cost or wake-up within the factor by which other sources differ, 2 at most"
            }
            Tolerance::Range => "a range, or a sample",
            Tolerance::Shape => "a shape, a bound or an absence",
        }
    }
}
