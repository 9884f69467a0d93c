//! B1: the same sleeps timed by two clocks.

use oversleep_record::label::{self, ClockRole};
use oversleep_record::series::{Pace, Quantity, Series, Unit};
use oversleep_record::{Conditions, ExperimentId, Nanos, Unavailable};
use oversleep_system::{Platform, WaitEnd};

use super::choose;
use crate::amount::Amount;
use crate::bench::Bench;
use crate::clock_scale::ClockScale;
use crate::experiment::{Column, Experiment};
use crate::plan::Plan;
use crate::probe::Probe;
use crate::recorder::SeriesRecorder;
use crate::settled::is_narrow;

pub(super) static B1: Experiment = Experiment {
    id: ExperimentId::B1,
    title: "one sleep, two clocks",
    question: "How long does a coarse clock say that a sleep of 1 ms takes, and how long does it really take?",
    method: "Each sleep is timed by two clocks at once: the coarse one (GetTickCount64, CLOCK_MONOTONIC_COARSE) \
             outside, the precise one inside. In one chart the coarse clock is red and the precise one blue: what the \
             coarse clock shows is a multiple of its own step and says nothing about the sleep. A program that \
             measures with the coarse clock sees zero or one step.",
    quantities: &[Quantity::Duration],
    columns: &[Column {
        name: label::CLOCK_ROLE.name(),
        meaning: "coarse or precise: the clock that timed the sleep.",
    }],
    probes,
    ..Experiment::BLANK
};

fn probes(platform: &dyn Platform, plan: &Plan) -> Vec<Box<dyn Probe>> {
    let Some(coarse) = choose::coarse_clock(platform) else { return Vec::new() };
    let Some(sleep) = choose::simplest_sleep(platform) else { return Vec::new() };
    let coarse_name = coarse.info().name;
    let amount = Amount::values(plan.depth.pick(50, 100, 1_000), ROUNDS).limited_by(plan);
    plan.requests_or(&[Nanos::from_millis(1)])
        .into_iter()
        .map(|requested| -> Box<dyn Probe> {
            let series = |role| {
                let mut series = Series::new(B1.id, sleep.name, Quantity::Duration, Unit::Ns);
                series.key = series.key.span(requested).word(role);
                series.requested_ns = Some(requested);
                series.rounded_ns = Some(sleep.rounded(requested));
                series.pace = Some(Pace::BackToBack);
                series.labels.set(label::CLOCK_ROLE, role);
                series.conditions = plan.conditions.clone();
                series
            };
            let both = [ClockRole::Coarse, ClockRole::Precise].map(series);
            Box::new(TwoClocks::new(platform, sleep.name, requested, coarse_name, both, amount))
        })
        .collect()
}

const ROUNDS: u32 = 4;

/// One sleep, timed by two clocks at once, call by call.
pub(super) struct TwoClocks {
    wait: &'static str,
    requested: Nanos,
    coarse_index: usize,
    coarse_name: &'static str,
    coarse: SeriesRecorder,
    precise: SeriesRecorder,
    amount: Amount,
    /// It ends early if its rounds differ by no more than this.
    width: Option<Nanos>,
    /// With whom it may share the time of a round.
    conditions: Conditions,
}

impl TwoClocks {
    /// The series are the coarse clock's and the precise one's, under the same conditions.
    pub(super) fn new(
        platform: &dyn Platform,
        wait: &'static str,
        requested: Nanos,
        coarse_name: &'static str,
        [coarse, precise]: [Series; 2],
        amount: Amount,
    ) -> TwoClocks {
        let index = platform.clocks().iter().position(|clock| clock.info().name == coarse_name);
        TwoClocks {
            wait,
            requested,
            coarse_index: index.expect("it is of this registry"),
            coarse_name,
            conditions: precise.conditions.clone(),
            coarse: SeriesRecorder::new(coarse, amount.planned(requested)),
            precise: SeriesRecorder::new(precise, amount.planned(requested)),
            amount,
            width: None,
        }
    }

    /// The same, ending with the third round if all durations are within that width.
    pub(super) fn until_narrow(self, width: Nanos) -> TwoClocks {
        TwoClocks { width: Some(width), ..self }
    }
}

impl Probe for TwoClocks {
    fn label(&self) -> String {
        format!("{} {} by two clocks", self.wait, self.requested)
    }

    fn rounds(&self) -> u32 {
        self.amount.rounds
    }

    fn round_estimate(&self) -> Nanos {
        self.amount.round_estimate(self.requested + Nanos(70_000))
    }

    fn is_settled(&self) -> Option<bool> {
        self.width.map(|width| is_narrow(self.precise.series(), width))
    }

    fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    fn round(&mut self, bench: &Bench) -> Result<(), Unavailable> {
        let platform = bench.platform();
        let clock = platform.clocks()[self.coarse_index].as_ref();
        let scale = ClockScale::of(platform, clock)?;
        self.coarse.series_mut().clock = self.coarse_name.to_owned();
        self.precise.series_mut().clock = bench.clock_name().to_owned();
        let mut waiter = bench.open_wait(self.wait)?;
        let mut share = self.amount.share(bench, self.precise.series().counts.recorded);
        while share.next(bench) {
            let coarse_start = clock.read();
            let start = bench.stamp();
            let ended = waiter.wait(bench.target(start, start + self.requested));
            let end = bench.stamp();
            let coarse_end = clock.read();
            match ended {
                WaitEnd::TimedOut => {}
                WaitEnd::Interrupted => {
                    self.precise.count_interrupted(bench);
                    continue;
                }
                WaitEnd::Failed(reason) => return Err(reason),
            }
            self.coarse.record(bench.since_origin(start), scale.span(coarse_start, coarse_end).0);
            self.precise.record(bench.since_origin(start), (end - start).0);
        }
        Ok(())
    }

    fn recorders(&mut self) -> Vec<&mut SeriesRecorder> {
        vec![&mut self.coarse, &mut self.precise]
    }
}

#[cfg(test)]
mod tests {
    use oversleep_model::sim::{Overshoot, Sim};

    use super::*;
    use crate::plan::Limit;
    use crate::testing;

    #[test]
    fn the_coarse_clock_shows_steps_and_the_precise_one_the_sleep() {
        let machine = testing::machine().with_wait("nanosleep", Overshoot::Fixed(Nanos(66_000)));
        let sim = Sim::start(machine.build());
        let measured = testing::measure_on(sim.clone(), probes(&*sim, &Plan::default()));
        let [coarse, precise] = &measured.series[..] else { panic!("two series") };
        assert_eq!(coarse.key, "B1/nanosleep/1ms/coarse");
        assert!(coarse.samples.value.iter().all(|ns| ns == 0 || ns == 4_000_000));
        assert!(coarse.samples.value.iter().any(|ns| ns == 4_000_000));
        assert_eq!((precise.distribution.min(), precise.distribution.max()), (Some(1_066_020), Some(1_066_020)));
        assert_eq!(coarse.counts.recorded, 100);
    }

    #[test]
    fn a_limit_of_time_is_heeded() {
        let machine = testing::machine().with_wait("nanosleep", Overshoot::Fixed(Nanos(66_000)));
        let sim = Sim::start(machine.build());
        let plan = Plan { limit: Some(Limit::Time(Nanos::from_millis(20))), ..Plan::default() };
        let measured = testing::measure_on(sim.clone(), probes(&*sim, &plan));
        assert!(measured.series.iter().all(|series| series.counts.recorded == 19), "19 times 1.066 ms");
    }
}
