//! What was sampled as series, which every report, comparison and finding reads.

use oversleep_record::series::{Counts, Pace, Quantity, Unit};
use oversleep_record::{ExperimentId, Nanos, Series};

use crate::burst::Kind;
use crate::sampler::Sampler;

impl Sampler {
    /// A series for each kind of wait; `clock` is the registry name of the clock of its timestamps. The short waits are
    /// those that `oversleep waits` measures, in bursts. Of the pauses no single request can be stated.
    pub fn series(&self, clock: &str) -> Vec<Series> {
        Kind::ALL.into_iter().map(|kind| self.of_kind(kind, clock)).collect()
    }

    fn of_kind(&self, kind: Kind, clock: &str) -> Series {
        let sampling = &self.sampling;
        let mut series = Series::new(ExperimentId::B5, &sampling.wait, Quantity::Lateness, Unit::Ns);
        let part = self.kept(kind);
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
        series.rounds = self.slices.iter().map(|slice| slice.round(kind)).collect();
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
