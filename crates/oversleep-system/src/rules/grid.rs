//! Equidistant moments.

use oversleep_record::Nanos;

/// A grid of moments: the tick as one process sees it, the multiples of a timer's period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// One of its moments.
    pub origin: Nanos,
    /// The distance between two moments.
    pub period: Nanos,
}

impl Grid {
    /// The last moment of the grid at or before that one.
    #[inline]
    pub fn at_or_before(&self, moment: Nanos) -> Nanos {
        self.origin + (moment - self.origin).round_down_to(self.period)
    }

    /// The first moment of the grid at or after that one.
    #[inline]
    pub fn at_or_after(&self, moment: Nanos) -> Nanos {
        self.origin + (moment - self.origin).round_up_to(self.period)
    }
}
