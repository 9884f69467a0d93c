//! How exactly a model is held to an observation. A rule is held to 2 %, and a figure that was taken from the row's own
//! source to how exactly that source measured.

/// What a model gave for an observation.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Whether that is within what is tolerated.
    pub reproduced: bool,
    /// Whether it is within what the row itself states: how exactly its source measured and printed.
    pub as_exactly: bool,
    /// What it was held to, in words.
    pub held_to: String,
    /// Whether that is the factor by which sources differ about such machines.
    pub is_of_machines: bool,
    /// The model's figure in the terms of the row: `mean 15.63 ms`.
    pub model: String,
}

impl Judged {
    /// Held to what the row states alone.
    pub(super) fn of(reproduced: bool, model: String) -> Judged {
        Judged { reproduced, as_exactly: reproduced, held_to: String::new(), is_of_machines: false, model }
    }
}

/// How a row is compared with its model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tolerance {
    /// Figures within 2 %.
    Figure,
    /// Figures that the source rounded.
    Rounded,
    /// Means of few values, whose standard deviation the source states.
    Sampled,
    /// Figures within the factor by which the source's own differ.
    Factor,
    /// Costs and wake-ups that are predicted, within the factor by which other sources differ about them.
    Machines,
    /// A range of values, or a sample.
    Range,
    /// The shape of a distribution, a bound, or that something is not there.
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
