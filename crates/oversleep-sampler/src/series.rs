//! What was sampled as series, which every report, comparison and finding reads.

use oversleep_record::series::{Counts, Pace, Quantity, Unit};
use oversleep_record::{ExperimentId, Nanos, Series};

use crate::burst::Kind;
use crate::sampler::Sampler;
use crate::slices::{Part, Slice};

impl Sampler {
    /// A series for each kind of wait; `clock` is the registry name of the clock of its timestamps. The short waits are
    /// those that `oversleep waits` measures, in bursts. Of the pauses no single request can be stated.
    pub fn series(&self, clock: &str) -> Vec<Series> {
        let all: Vec<&Slice> = self.slices.iter().collect();
        Kind::ALL.into_iter().map(|kind| self.of_kind(kind, clock, &all)).collect()
    }

    /// The series of the slices from that moment on to which nothing is added any more, with the begin of the first one and
    /// that of the next; the last slice of all is one of them if `is_over`. `None` if there are none.
    pub fn part(&self, clock: &str, since: Nanos, is_over: bool) -> Option<(Vec<Series>, Nanos, Nanos)> {
        let mut from: Vec<&Slice> = self.slices.iter().filter(|slice| slice.start >= since).collect();
        let growing = if is_over { None } else { from.pop() };
        let (first, last) = from.first().zip(from.last())?;
        let next = growing.map_or(last.end, |growing| growing.start);
        Some((Kind::ALL.into_iter().map(|kind| self.of_kind(kind, clock, &from)).collect(), first.start, next))
    }

    fn of_kind(&self, kind: Kind, clock: &str, slices: &[&Slice]) -> Series {
        let sampling = &self.sampling;
        let mut series = Series::new(ExperimentId::B5, &sampling.wait, Quantity::Lateness, Unit::Ns);
        let mut part = Part::default();
        slices.iter().for_each(|slice| part.merge(&slice.parts[kind as usize]));
        series.key = match kind {
            Kind::Burst => series.key.span(sampling.requested),
            Kind::Pause => series.key.word("pause"),
        };
        series.requested_ns = (kind == Kind::Burst).then_some(sampling.requested);
        series.pace = Some(if kind == Kind::Burst { Pace::Periodic } else { Pace::BackToBack });
        series.clock = clock.to_owned();
        series.counts = Counts {
            expected: (kind == Kind::Burst).then(|| part.values.count()),
            recorded: part.values.count(),
            missed: part.missed,
            early: part.values.early_count(),
            backward: part.backward,
            interrupted: part.interrupted,
        };
        series.rounds = slices.iter().map(|slice| slice.round(kind)).collect();
        series.rounds.retain(|round| round.count > 0);
        series.distribution = part.values;
        series
    }

    /// From the first to the last wait of what the series cover.
    pub fn covered(&self) -> Nanos {
        let (first, last) = (self.slices.iter().next(), self.slices.iter().last());
        first.zip(last).map_or(Nanos::ZERO, |(first, last)| last.end - first.start)
    }
}
