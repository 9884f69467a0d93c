//! Slices of time: the rounds of what was sampled.

use oversleep_record::series::Round;
use oversleep_record::{Distribution, Disturbance, Nanos};

use crate::burst::Kind;

/// The most slices; then neighbours become one.
const SLICES_MAX: usize = 64;
/// The length of the first slices. Doubled four times it is a minute.
const FIRST: Nanos = Nanos(3_750_000_000);
const MINUTE: Nanos = Nanos::from_millis(60_000);
const HOUR: Nanos = Nanos::from_millis(3_600_000);

/// What the result covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Covers {
    /// Everything since the start; slices become longer.
    Everything,
    /// About the last hour.
    LastHour,
}

/// What a slice has of one kind of wait.
#[derive(Clone, Debug)]
pub struct Part {
    pub values: Distribution,
    pub missed: u64,
    pub interrupted: u64,
    pub backward: u64,
}

impl Part {
    fn new() -> Part {
        Part { values: Distribution::growing(), missed: 0, interrupted: 0, backward: 0 }
    }

    pub fn merge(&mut self, other: &Part) {
        self.values.merge(&other.values);
        self.missed += other.missed;
        self.interrupted += other.interrupted;
        self.backward += other.backward;
    }
}

impl Default for Part {
    fn default() -> Part {
        Part::new()
    }
}

/// One slice.
#[derive(Clone, Debug)]
pub struct Slice {
    pub start: Nanos,
    pub end: Nanos,
    /// By [`Kind`].
    pub parts: [Part; 2],
    pub disturbance: Disturbance,
}

impl Slice {
    fn new(start: Nanos) -> Slice {
        Slice { start, end: start, parts: [Part::new(), Part::new()], disturbance: Disturbance::default() }
    }

    fn merge(&mut self, later: &Slice) {
        self.end = later.end;
        self.parts.iter_mut().zip(&later.parts).for_each(|(part, other)| part.merge(other));
        self.disturbance = self.disturbance.merged(&later.disturbance);
    }

    /// As a round of a series.
    pub fn round(&self, kind: Kind) -> Round {
        let values = &self.parts[kind as usize].values;
        let beyond = |percent: u64| values.count() * (100 - percent) / 100 > 0;
        Round {
            start_ns: self.start,
            count: values.count(),
            median: values.p50(),
            p90: beyond(90).then(|| values.quantile(0.9)).flatten(),
            p99: beyond(99).then(|| values.p99()).flatten(),
            disturbance: self.disturbance,
        }
    }
}

/// All slices that are kept.
#[derive(Clone, Debug)]
pub struct Slices {
    covers: Covers,
    length: Nanos,
    slices: Vec<Slice>,
}

impl Slices {
    pub fn new(covers: Covers) -> Slices {
        Slices { covers, length: FIRST, slices: Vec::new() }
    }

    /// The slice of that moment.
    pub fn at(&mut self, at: Nanos) -> &mut Slice {
        let is_over = self.slices.last().is_none_or(|last| at - last.start >= self.length);
        if is_over {
            if self.covers == Covers::LastHour {
                self.slices.retain(|slice| at - slice.end < HOUR);
            }
            if self.slices.len() >= SLICES_MAX {
                self.halve();
            }
            self.slices.push(Slice::new(at));
        }
        self.slices.last_mut().expect("there is one")
    }

    fn halve(&mut self) {
        if self.covers == Covers::LastHour && self.length >= MINUTE {
            self.slices.remove(0);
            return;
        }
        let mut merged: Vec<Slice> = Vec::with_capacity(SLICES_MAX);
        for (index, slice) in self.slices.drain(..).enumerate() {
            match merged.last_mut() {
                Some(last) if index % 2 == 1 => last.merge(&slice),
                _ => merged.push(slice),
            }
        }
        self.slices = merged;
        self.length += self.length;
    }

    pub fn iter(&self) -> impl Iterator<Item = &Slice> {
        self.slices.iter()
    }
}
