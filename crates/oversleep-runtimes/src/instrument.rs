//! The clock that a program measures with: its rate, its step, and whether it ever goes back.

use oversleep_measure::{Bench, SeriesRecorder};
use oversleep_record::series::{Quantity, Runtime, Series, Status, Unit};
use oversleep_record::{ExperimentId, Nanos, Unavailable};

use crate::rate;

/// The series about a program's clock. Each round adds a value to each.
pub struct Instrument {
    second: SeriesRecorder,
    step: SeriesRecorder,
}

/// Timestamps of one process, in the order in which they were taken.
#[derive(Default)]
pub struct Stamps {
    last: Option<i64>,
    /// The smallest positive difference between two consecutive timestamps.
    step: Option<i64>,
    backward: u64,
}

impl Stamps {
    /// Adds the start and the end of each call.
    pub fn add(&mut self, starts: &[i64], durations: &[i64]) {
        let instants = starts.iter().zip(durations).flat_map(|(start, took)| [*start, start.saturating_add(*took)]);
        for now in instants {
            let difference = self.last.map_or(0, |last| now.saturating_sub(last));
            self.last = Some(now);
            self.backward += u64::from(difference < 0);
            if difference > 0 {
                self.step = Some(self.step.map_or(difference, |step| step.min(difference)));
            }
        }
    }
}

impl Instrument {
    /// The clock of a program that runs in this many rounds.
    pub fn of(id: &str, runtime: &Runtime, rounds: u32) -> Instrument {
        let recorder = |subject: &str, quantity, word: &str| {
            let mut series = Series::new(ExperimentId::R3, subject, quantity, Unit::Ns);
            series.key = series.key.word(id).word(word);
            series.runtime = Some(runtime.clone());
            series.requested_ns = (quantity == Quantity::Duration).then(|| Nanos::from_secs(1));
            SeriesRecorder::new(series, u64::from(rounds))
        };
        // C has a clock named `clock`, so the subject of the step must differ.
        Instrument {
            second: recorder("clock", Quantity::Duration, "second"),
            step: recorder("instrument", Quantity::Step, "step"),
        }
    }

    /// Records what one process reported. Returns whether the rate of its clock could be determined.
    pub fn record(&mut self, bench: &Bench, at: Nanos, moments: &[(i64, Nanos)], stamps: &Stamps) -> bool {
        let at = bench.since_origin(at);
        let second = rate::second(moments);
        match second {
            Some(second) => {
                self.second.series_mut().status = Status::Complete;
                self.second.record(at, second);
            }
            None if self.second.series().counts.recorded == 0 => self.second.unavailable(Unavailable::failed(
                "the rate of its clock",
                "its lines are too few or came too irregularly. Close other programs and measure again",
            )),
            None => {}
        }
        if let Some(step) = stamps.step {
            self.step.record(at, step);
        }
        for _ in 0..stamps.backward {
            self.step.count_backward();
        }
        second.is_some()
    }

    /// Marks both series as not available for this reason.
    pub fn unavailable(&mut self, reason: &Unavailable) {
        self.recorders().for_each(|recorder| recorder.unavailable(reason.clone()));
    }

    /// Both series.
    pub fn recorders(&mut self) -> impl Iterator<Item = &mut SeriesRecorder> {
        [&mut self.second, &mut self.step].into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamps(all: &[(i64, i64)]) -> Stamps {
        let mut stamps = Stamps::default();
        let (t, d): (Vec<i64>, Vec<i64>) = all.iter().copied().unzip();
        stamps.add(&t, &d);
        stamps
    }

    #[test]
    fn a_clock_that_moves_with_a_tick_shows_its_step() {
        const TICK: i64 = 15_625_000;
        let coarse = stamps(&[(TICK, 0), (TICK, TICK), (2 * TICK, 2 * TICK)]);
        assert_eq!((coarse.step, coarse.backward), (Some(TICK), 0));
        let fine = stamps(&[(1_000, 1_066_000), (1_067_040, 1_070_000)]);
        assert_eq!((fine.step, fine.backward), (Some(40), 0));
        let still = stamps(&[(5, 0), (5, 0)]);
        assert_eq!((still.step, still.backward), (None, 0));
    }

    #[test]
    fn a_clock_that_goes_back_is_counted() {
        assert_eq!(stamps(&[(1_000, 500), (900, 500)]).backward, 1);
        assert_eq!(stamps(&[(1_000, -5), (2_000, 7)]).backward, 1);
    }
}
