//! A probe that records the duration of a wait, end minus start, instead of its lateness.

use oversleep_record::{Conditions, Nanos, Series, Unavailable};
use oversleep_system::WaitEnd;

use super::amount::Amount;
use super::bench::Bench;
use super::probe::Probe;
use super::recorder::SeriesRecorder;

/// One wait timed call by call.
pub(super) struct ElapsedProbe {
    wait: &'static str,
    requested: Nanos,
    recorder: SeriesRecorder,
    amount: Amount,
    conditions: Conditions,
}

impl ElapsedProbe {
    /// `series` states the request and the conditions. A wait without a deadline has no request.
    pub(super) fn new(wait: &'static str, series: Series, amount: Amount) -> ElapsedProbe {
        let requested = series.requested_ns.unwrap_or(Nanos(1));
        ElapsedProbe {
            wait,
            requested,
            conditions: series.conditions.clone(),
            recorder: SeriesRecorder::new(series, amount.planned(requested)),
            amount,
        }
    }
}

impl Probe for ElapsedProbe {
    fn label(&self) -> String {
        match self.recorder.series().requested_ns {
            Some(requested) => format!("{} {requested}", self.wait),
            None => self.wait.to_owned(),
        }
    }

    fn rounds(&self) -> u32 {
        self.amount.rounds
    }

    fn round_estimate(&self) -> Nanos {
        self.amount.round_estimate(self.requested + Nanos(70_000))
    }

    fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    fn round(&mut self, bench: &Bench) -> Result<(), Unavailable> {
        self.recorder.series_mut().clock = bench.clock_name().to_owned();
        let mut waiter = bench.open_wait(self.wait)?;
        let mut share = self.amount.share(bench, self.recorder.series().counts.recorded);
        while share.next(bench) {
            let start = bench.stamp();
            let ended = waiter.wait(bench.target(start, start + self.requested));
            let end = bench.stamp();
            match ended {
                WaitEnd::TimedOut => self.recorder.record(bench.since_origin(start), (end - start).0),
                WaitEnd::Interrupted => self.recorder.count_interrupted(bench),
                WaitEnd::Failed(reason) => return Err(reason),
            }
        }
        Ok(())
    }

    fn recorders(&mut self) -> Vec<&mut SeriesRecorder> {
        vec![&mut self.recorder]
    }
}
