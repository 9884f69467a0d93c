//! Polls several coarse clocks for their steps in one loop: each is followed as far as in a loop of its own, in the
//! time that the slowest takes.

use oversleep_record::{Nanos, Unavailable};

use super::choose;
use crate::bench::Bench;
use crate::clock_scale::ClockScale;
use crate::recorder::SeriesRecorder;
use crate::still::{Reads, StillClock};

/// A clock that hardly moves must not hold up the run.
const POLLING_MAX: Nanos = Nanos(200_000_000);

/// Reads of all clocks before the time is checked again: a few microseconds.
const READS: u64 = 1_024;

/// One clock being followed.
struct Followed {
    scale: ClockScale,
    previous: u64,
    /// Its value at its first change, from which whole steps are counted.
    first: Option<u64>,
    moved: Nanos,
}

/// Polls the clocks at those indices until each has advanced that far, and at least once. Every change is one value of
/// its series. The clocks are read in bursts, one after the other: a few microseconds in all, compared with steps of
/// half a millisecond.
pub(super) fn record_steps(bench: &Bench, clocks: &mut [(usize, SeriesRecorder)], distance: Nanos) {
    let platform = bench.platform();
    let mut followed = Vec::with_capacity(clocks.len());
    for (index, recorder) in clocks {
        match choose::scale_of(platform, *index) {
            Ok(scale) => {
                let previous = platform.clocks()[*index].read();
                followed.push((Followed { scale, previous, first: None, moved: Nanos::ZERO }, *index, recorder));
            }
            Err(reason) => recorder.unavailable(reason),
        }
    }
    let reads_each = READS / followed.len().max(1) as u64;
    let begun = bench.stamp();
    let mut still = StillClock::default();
    let is_due = |clock: &Followed| clock.first.is_none() || clock.moved < distance;
    while followed.iter().any(|(clock, ..)| is_due(clock)) && !bench.stopped() {
        let now = bench.stamp();
        if now - begun >= POLLING_MAX {
            break;
        }
        bench.note(&mut still, now, Reads(READS));
        for (clock, index, recorder) in followed.iter_mut().filter(|(clock, ..)| is_due(clock)) {
            let raw = platform.clocks()[*index].poll(clock.previous, reads_each);
            if raw != clock.previous {
                clock.moved_to(raw, bench, recorder);
            }
        }
    }
    for (_, _, recorder) in followed.into_iter().filter(|(clock, ..)| clock.first.is_none() && !bench.stopped()) {
        recorder.unavailable(Unavailable::failed("polling the clock", format!("it did not move in {POLLING_MAX}")));
    }
}

impl Followed {
    fn moved_to(&mut self, raw: u64, bench: &Bench, recorder: &mut SeriesRecorder) {
        let previous = std::mem::replace(&mut self.previous, raw);
        // The time up to the first change is only a part of a step.
        let Some(first) = self.first else {
            self.first = Some(raw);
            return;
        };
        let step = self.scale.span(previous, raw);
        if step < Nanos::ZERO {
            recorder.count_backward();
        }
        recorder.record(bench.since_origin(bench.stamp()), step.0);
        self.moved = self.scale.span(first, raw);
    }
}

#[cfg(test)]
mod tests {
    use oversleep_model::sim::Sim;
    use oversleep_record::ExperimentId;
    use oversleep_record::series::{Quantity, Series, Unit};
    use oversleep_system::Platform;

    use super::*;
    use crate::{StopFlag, testing};

    #[test]
    fn all_are_followed_as_far_in_the_time_of_the_slowest() {
        let sim = Sim::start(testing::machine().build());
        let bench = Bench::new(sim.clone(), StopFlag::new(), None).expect("the reference clock is always there");
        let index = |name: &str| sim.clocks().iter().position(|clock| clock.info().name == name).expect("there");
        let followed = |name: &str| {
            let series = Series::new(ExperimentId::C3, name, Quantity::Step, Unit::Ns);
            let mut recorder = SeriesRecorder::new(series, 1_000);
            recorder.begin_round(Nanos::ZERO);
            (index(name), recorder)
        };
        let mut clocks = vec![followed("monotonic-coarse"), followed("monotonic-coarse"), followed("monotonic-coarse")];
        let begun = sim.now();
        record_steps(&bench, &mut clocks, Nanos(20_000_000));
        let took = sim.now() - begun;
        assert!(took <= Nanos(25_000_000), "{took}");
        for (_, recorder) in clocks {
            assert_eq!(recorder.into_series(false).samples.value, vec![4_000_000; 5]);
        }
    }
}
