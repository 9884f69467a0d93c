//! The newest waits, for whoever watches.

use std::collections::VecDeque;

use oversleep_record::{Distribution, Nanos};

use crate::burst::Kind;

/// The waits of the last seconds.
#[derive(Clone, Debug)]
pub struct Recent {
    span: Nanos,
    values: VecDeque<(Nanos, Kind, i64)>,
}

/// However short the pauses are.
const VALUES_MAX: usize = 100_000;

impl Recent {
    pub(crate) fn of(span: Nanos) -> Recent {
        Recent { span, values: VecDeque::new() }
    }

    pub(crate) fn add(&mut self, end: Nanos, kind: Kind, lateness: i64) {
        self.values.push_back((end, kind, lateness));
        while self.values.front().is_some_and(|(first, ..)| *first < end - self.span) || self.values.len() > VALUES_MAX
        {
            self.values.pop_front();
        }
    }

    /// The lateness of one kind.
    pub fn distribution(&self, kind: Kind) -> Distribution {
        let mut values = Distribution::growing();
        self.values.iter().filter(|(_, of, _)| *of == kind).for_each(|(.., value)| values.record(*value));
        values
    }

    /// The newest value of one kind.
    pub fn newest(&self, kind: Kind) -> Option<Nanos> {
        self.values.iter().rev().find(|(_, of, _)| *of == kind).map(|(.., value)| Nanos(*value))
    }

    /// The largest lateness of the waits that ended at most that long before the newest one; `None` if there are none.
    pub fn largest_within(&self, span: Nanos) -> Option<i64> {
        let newest = self.values.back()?.0;
        self.values.iter().rev().take_while(|(end, ..)| newest - *end <= span).map(|(.., value)| *value).max()
    }
}
