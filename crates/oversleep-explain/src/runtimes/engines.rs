//! Streaming engines in a result: their throughput flat out, their latency at fixed rates, and their CPU time, with
//! their own parks and with others.

use oversleep_record::series::{Quantity, Runtime};
use oversleep_record::{ExperimentId, Nanos, ResultFile, Series, label};

/// One operation of an engine, under one variant.
#[derive(Clone, Copy, Debug)]
pub struct EngineRun<'a> {
    /// The engine.
    pub runtime: &'a Runtime,
    /// Its series.
    pub series: &'a Series,
}

/// All runs of engines, in the order of the result.
pub fn runs(file: &ResultFile) -> Vec<EngineRun<'_>> {
    let measured = file.experiment(ExperimentId::R5).filter(|series| series.has_values());
    measured.filter_map(|series| Some(EngineRun { runtime: series.runtime.as_ref()?, series })).collect()
}

impl<'a> EngineRun<'a> {
    /// How its threads park; `None` for the engine's default.
    pub fn variant(&self) -> Option<String> {
        self.series.label(label::VARIANT)
    }

    /// Whether it passed items on as fast as it could.
    pub fn is_flat_out(&self) -> bool {
        self.series.quantity == Quantity::ItemsPerSecond
    }

    /// Items per second that were due; `None` flat out.
    pub fn rate(&self) -> Option<f64> {
        let period = self.series.requested_ns.filter(|_| !self.is_flat_out())?;
        (period > Nanos::ZERO).then(|| 1.0 / period.as_secs_f64())
    }

    /// The number of CPUs that the whole program kept busy.
    pub fn cores(&self) -> Option<f64> {
        let cpu = self.series.label(label::CPU)?;
        let span = self.series.requested_ns? * i64::try_from(self.series.counts.recorded).ok()?;
        (span > Nanos::ZERO).then(|| cpu.as_secs_f64() / span.as_secs_f64())
    }

    /// The run of that engine with its own parks.
    pub fn as_it_comes(&self, runs: &[EngineRun<'a>]) -> Option<EngineRun<'a>> {
        self.variant()?;
        let is_same = |other: &&EngineRun<'_>| {
            let (one, other_series) = (self.series, other.series);
            other.variant().is_none()
                && (other.runtime, &other_series.subject) == (self.runtime, &one.subject)
                && (other_series.quantity, other_series.requested_ns) == (one.quantity, one.requested_ns)
        };
        runs.iter().find(is_same).copied()
    }

    /// How many times as good it is as another run: more items, or a shorter latency.
    pub fn gain(&self, over: &EngineRun<'_>) -> Option<f64> {
        let p50 = |run: &EngineRun<'_>| run.series.distribution.p50().filter(|&p50| p50 > 0).map(|p50| p50 as f64);
        let (after, before) = (p50(self)?, p50(over)?);
        Some(if self.is_flat_out() { after / before } else { before / after })
    }
}
