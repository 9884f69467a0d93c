//! B2: sleeps of 1 to 15 ms, a proportional line or a flat band. They are measured one after the other: where timers end
//! on the tick, threads that begin together wake at the same tick, and on a slow CPU each begins its sleep after the
//! others', at another distance from the next tick.

use oversleep_record::label::{self, ClockRole};
use oversleep_record::series::{Pace, Quantity, Series, Unit};
use oversleep_record::{ExperimentId, Nanos};
use oversleep_system::Platform;

use super::choose;
use super::two_clocks::TwoClocks;
use crate::amount::Amount;
use crate::elapsed_probe::ElapsedProbe;
use crate::experiment::{Column, Experiment};
use crate::plan::{Depth, Plan};
use crate::probe::Probe;

pub(super) static B2: Experiment = Experiment {
    id: ExperimentId::B2,
    title: "sleep sweep, 1 to 15 ms",
    question: "Does a sleep grow with its request, or does every request from 1 to 15 ms take the same 16 ms?",
    method: "The simplest sleep is called with 1, 2 … 15 ms, pass after pass, and timed by two clocks at once: the coarse \
             one (red in the picture) outside, the precise one (blue) inside. On a \
             system that programs a timer for each wait the points lie on the diagonal; on one that checks its waits \
             only on a tick of 15.625 ms they form a flat band at 16 ms, whatever was requested.",
    quantities: &[Quantity::Duration],
    columns: &[
        Column { name: "duration", meaning: "From before the call until after it, by the precise clock." },
        Column { name: label::CLOCK_ROLE.name(), meaning: "coarse: the same sleeps as the coarse clock shows them." },
    ],
    probes,
    ..Experiment::BLANK
};

/// Passes that differ by less show the same shape: a line is half a millisecond wide, a band 15.6.
const PASSES_WIDTH: Nanos = Nanos(100_000);

fn probes(platform: &dyn Platform, plan: &Plan) -> Vec<Box<dyn Probe>> {
    let Some(sleep) = choose::simplest_sleep(platform) else { return Vec::new() };
    let coarse = choose::coarse_clock(platform);
    let passes = plan.depth.pick(2, 4, 20);
    let amount = Amount::values(u64::from(passes), passes).limited_by(plan);
    let ends_early = plan.depth == Depth::Normal && plan.limit.is_none();
    (1..=15)
        .map(Nanos::from_millis)
        .map(|requested| -> Box<dyn Probe> {
            let mut series = Series::new(B2.id, sleep.name, Quantity::Duration, Unit::Ns);
            series.key = series.key.span(requested);
            series.requested_ns = Some(requested);
            series.rounded_ns = Some(sleep.rounded(requested));
            series.pace = Some(Pace::BackToBack);
            series.conditions = plan.conditions.clone();
            let Some(clock) = coarse else { return Box::new(ElapsedProbe::new(sleep.name, series, amount)) };
            let mut by_coarse = series.clone();
            by_coarse.key = by_coarse.key.word(ClockRole::Coarse);
            by_coarse.labels.set(label::CLOCK_ROLE, ClockRole::Coarse);
            let both = [by_coarse, series];
            let probe = TwoClocks::new(platform, sleep.name, requested, clock.info().name, both, amount);
            Box::new(if ends_early { probe.until_narrow(PASSES_WIDTH) } else { probe })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use oversleep_model::sim::{Overshoot, Sim};

    use super::*;
    use crate::plan::Limit;
    use crate::testing;

    #[test]
    fn fifteen_requests_each_in_every_pass() {
        let machine = testing::machine().with_wait("nanosleep", Overshoot::Fixed(Nanos(66_000)));
        let sim = Sim::start(machine.build());
        let measured = testing::measure_on(sim.clone(), probes(&*sim, &Plan::default()));
        assert_eq!(measured.series.len(), 30);
        for (both, requested_ms) in measured.series.chunks(2).zip(1..) {
            let [coarse, precise] = both else { panic!("two clocks") };
            assert_eq!(coarse.key, format!("B2/nanosleep/{requested_ms}ms/coarse"));
            assert_eq!((coarse.clock.as_str(), coarse.counts.recorded), ("monotonic-coarse", 3));
            assert!(coarse.samples.value.iter().all(|ns| ns % 4_000_000 == 0), "{:?}", coarse.samples.value);
            assert_eq!(precise.key, format!("B2/nanosleep/{requested_ms}ms"));
            assert_eq!(precise.samples.value, vec![requested_ms * 1_000_000 + 66_020; 3]);
        }
    }

    #[test]
    fn limits_are_per_request() {
        let recorded = |limit| {
            let machine = testing::machine().with_wait("nanosleep", Overshoot::Fixed(Nanos(66_000)));
            let sim = Sim::start(machine.build());
            let plan = Plan { limit: Some(limit), ..Plan::default() };
            let series = testing::measure_on(sim.clone(), probes(&*sim, &plan)).series;
            series.iter().skip(1).step_by(2).map(|series| series.counts.recorded).collect::<Vec<_>>()
        };
        assert_eq!(recorded(Limit::Count(6)), [6; 15]);
        // Of 30 ms: the wait that is in progress at their end is finished.
        assert_eq!(recorded(Limit::Time(Nanos::from_millis(30))), [29, 15, 10, 8, 6, 5, 5, 4, 4, 3, 3, 3, 3, 3, 2]);
    }
}
