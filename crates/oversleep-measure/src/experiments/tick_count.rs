//! R4 on a modelled machine: what Free Pascal's clock and a precise one show of the same sleeps, fork-joins and loops.

use oversleep_record::label::{self, ClockRole, JoinStyle};
use oversleep_record::series::{Pace, Quantity, Runtime, Series, Unit};
use oversleep_record::{ExperimentId, Nanos};
use oversleep_system::Platform;

use super::two_clocks::TwoClocks;
use super::{choose, fork_join};
use crate::amount::Amount;
use crate::plan::{Plan, WorkSpan};
use crate::probe::Probe;

/// The longest sleep of the sweep in ms, and how often each is repeated.
const SLEEP_MAX_MS: i64 = 15;
const SLEEPS: u64 = 10;

/// Its probes: sleeps by that wait of 1 to 15 ms, threads whose end the main thread asks for every millisecond, as Free
/// Pascal does, and the work of one of them.
pub fn probes(platform: &dyn Platform, plan: &Plan, sleep: &'static str, runtime: &Runtime) -> Vec<Box<dyn Probe>> {
    let Some(coarse) = choose::coarse_clock(platform).map(|clock| clock.info().name) else { return Vec::new() };
    let series = |name: &str, requested: Nanos, role: ClockRole| {
        let mut series = Series::new(ExperimentId::R4, name, Quantity::Duration, Unit::Ns);
        series.key = series.key.span(requested).word(role);
        series.requested_ns = Some(requested);
        series.runtime = Some(runtime.clone());
        series.labels.set(label::CLOCK_ROLE, role);
        series
    };
    let repeats = plan.depth.pick(15, 30, 100);
    let sleeps = (1..=SLEEP_MAX_MS).map(Nanos::from_millis).map(|requested| -> Box<dyn Probe> {
        let both = [ClockRole::Coarse, ClockRole::Precise]
            .map(|role| Series { pace: Some(Pace::BackToBack), ..series("Sleep", requested, role) });
        let amount = Amount { count: SLEEPS, time: Nanos::MAX, rounds: 1 };
        Box::new(TwoClocks::new(platform, sleep, requested, coarse, both, amount))
    });
    let span = WorkSpan { min: Nanos::from_millis(10), max: Nanos::from_millis(20) };
    let plan = &Plan { work: plan.work.or(Some(span)), ..plan.clone() };
    // WaitFor waits for the thread itself, with messages in the main thread: rtl/win/tthread.inc of Free Pascal 3.2.2.
    let work = [
        ("fork-join", JoinStyle::Polling),
        ("fork-join(WaitFor)", JoinStyle::Blocked),
        ("single-threaded", JoinStyle::Single),
    ]
    .into_iter();
    sleeps
        .chain(work.map(|(name, style)| {
            fork_join::named(platform, plan, style, repeats, |role, mean| series(name, mean, role))
        }))
        .collect()
}

#[cfg(test)]
mod tests {
    use oversleep_model::sim::{Overshoot, Sim};

    use super::*;
    use crate::testing;

    /// The machine's coarse clock steps by 4 ms, and its sleeps are 66 µs late.
    #[test]
    fn the_coarse_clock_quantises_the_same_calls_that_the_precise_one_shows() {
        let machine = testing::machine().with_wait("nanosleep", Overshoot::Fixed(Nanos(66_000)));
        let sim = Sim::start(machine.build());
        let runtime = Runtime { name: "free-pascal".to_owned(), version: "3".to_owned() };
        let measured = testing::measure_on(sim.clone(), probes(&*sim, &Plan::default(), "nanosleep", &runtime));
        assert_eq!(measured.series.len(), 2 * (15 + 3));
        for series in &measured.series {
            let is_coarse = series.key.to_string().ends_with("/coarse");
            let all_steps = series.samples.value.iter().all(|ns| ns % 4_000_000 == 0);
            assert_eq!(all_steps, is_coarse, "{}", series.key);
        }
        let of = |key: &str| measured.series.iter().find(|series| series.key == key).unwrap_or_else(|| panic!("{key}"));
        assert_eq!(of("R4/Sleep/7ms/precise").distribution.min(), Some(7_066_020));
        // A blocked join ends with the longest work, a polling one at the end of a sleep.
        let p50 = |name: &str| of(&format!("R4/{name}/15ms/precise")).distribution.p50().expect("values");
        assert!(p50("fork-join(WaitFor)") < p50("fork-join"), "{} {}", p50("fork-join(WaitFor)"), p50("fork-join"));
        let alone = &of("R4/single-threaded/15ms/precise").distribution;
        assert!(alone.min() >= Some(9_900_000) && alone.max() <= Some(20_500_000), "{alone:?}");
    }
}
