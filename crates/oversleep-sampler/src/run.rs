//! Drives a sampler on a platform.

use oversleep_measure::Bench;
use oversleep_record::{Nanos, Unavailable};
use oversleep_system::{WaitEnd, Waiter};

use crate::burst::{Burst, Ended, Kind, Wait};
use crate::clocks::read_costs;
use crate::machine::MachineState;
use crate::sampler::{Sampler, Sampling};

/// Lends the sampler for a moment.
pub type Lend<'a> = dyn FnMut(&mut dyn FnMut(&mut Sampler)) + 'a;

/// Facts that may change are read this often: it takes some ms.
const FACTS_EVERY: Nanos = Nanos::from_millis(300_000);
/// Clocks are read this often.
const CLOCKS_EVERY: Nanos = Nanos::from_millis(60_000);

/// Samples until the run is stopped, or broken by a late wait. `with` lends the sampler for a moment, never during a wait.
/// The burst in which the run is stopped counts as far as it got.
///
/// # Errors
/// Why that wait can't be used here.
pub fn run(bench: &Bench, with: &mut Lend<'_>) -> Result<(), Unavailable> {
    let mut sampling = None;
    with(&mut |sampler| sampling = Some(sampler.sampling().clone()));
    let sampling = sampling.expect("the sampler is lent");
    sample(bench, &mut *bench.open_wait(&sampling.wait)?, &sampling, with)
}

fn sample(bench: &Bench, waiter: &mut dyn Waiter, sampling: &Sampling, with: &mut Lend<'_>) -> Result<(), Unavailable> {
    let (mut facts_at, mut clocks_at) = (bench.stamp() + FACTS_EVERY, bench.stamp());
    // Whether a wait ended so late that the run ends.
    let mut add = |waits: Vec<Wait>, with: &mut Lend<'_>| {
        let platform = bench.platform();
        let burst = Burst { waits, after: platform.counters(), unix_s: platform.unix_time_s() };
        let mut is_broken = false;
        with(&mut |sampler| {
            sampler.add(&burst);
            is_broken = sampler.broken_by().is_some();
        });
        if !is_broken && burst.after.at >= facts_at && !bench.stopped() {
            let machine = MachineState::of(&bench.platform().environment());
            with(&mut |sampler| sampler.note(machine.clone()));
            facts_at = bench.stamp() + FACTS_EVERY;
        }
        if !is_broken && burst.after.at >= clocks_at && !sampling.clocks.is_empty() && !bench.stopped() {
            let costs = read_costs(bench.platform(), &sampling.clocks);
            with(&mut |sampler| sampler.note_reads(costs.clone()));
            clocks_at = bench.stamp() + CLOCKS_EVERY;
        }
        is_broken
    };
    while !bench.stopped() {
        let mut waits = Vec::with_capacity(sampling.burst as usize);
        let ended = burst(bench, waiter, sampling, &mut waits);
        // Each is added as soon as it is over: what the counters say then is about it alone.
        if add(waits, with) {
            return Ok(());
        }
        ended?;
        if bench.stopped() {
            break;
        }
        let (mut pause, mut waits) = (Nanos::ZERO, Vec::with_capacity(1));
        with(&mut |sampler| pause = sampler.next_pause());
        let ended = until(bench, waiter, (Kind::Pause, pause), bench.stamp() + pause, &mut waits);
        if add(waits, with) {
            return Ok(());
        }
        ended?;
    }
    Ok(())
}

/// Short waits at absolute deadlines, one request apart, up to the one that ends the run.
fn burst(
    bench: &Bench,
    waiter: &mut dyn Waiter,
    sampling: &Sampling,
    waits: &mut Vec<Wait>,
) -> Result<(), Unavailable> {
    let (mut deadline, requested) = (bench.stamp(), sampling.requested);
    for _ in 0..sampling.burst {
        deadline += requested;
        let is_broken = sampling.break_above.zip(waits.last()).is_some_and(|(bound, last)| last.lateness > bound);
        if is_broken || bench.stopped() {
            break;
        }
        until(bench, waiter, (Kind::Burst, requested), deadline, waits)?;
    }
    Ok(())
}

fn until(
    bench: &Bench,
    waiter: &mut dyn Waiter,
    (kind, requested): (Kind, Nanos),
    deadline: Nanos,
    waits: &mut Vec<Wait>,
) -> Result<(), Unavailable> {
    let delayed = bench.platform().run_delay();
    let start = bench.stamp();
    let mut add = |end: Nanos, ended| {
        let run_delay = delayed.zip(bench.platform().run_delay()).map(|(before, after)| after - before);
        let lateness = end - deadline;
        waits.push(Wait { kind, requested, end: bench.since_origin(end), lateness, ended, run_delay });
    };
    if start >= deadline {
        add(start, Ended::Missed);
        return Ok(());
    }
    let ended = waiter.wait(bench.target(start, deadline));
    let end = bench.stamp();
    match ended {
        WaitEnd::TimedOut if end < start => add(end, Ended::Backward),
        WaitEnd::TimedOut => add(end, Ended::TimedOut),
        // The signal that ends the run isn't worth a count.
        WaitEnd::Interrupted if bench.stopped() => {}
        WaitEnd::Interrupted => add(end, Ended::Interrupted),
        WaitEnd::Failed(reason) => return Err(reason),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use oversleep_measure::StopFlag;
    use oversleep_model::sim::{Overshoot, Sim, Stall};
    use oversleep_model::testing::machine;
    use oversleep_system::SharedPlatform;

    use super::*;

    fn sampled(platform: SharedPlatform, sampling: Sampling, bursts: u64) -> Sampler {
        let stop = StopFlag::new();
        let bench = Bench::new(platform.clone(), stop.clone(), None).unwrap();
        let mut sampler = Sampler::new(sampling, platform.counters(), MachineState::default());
        run(&bench, &mut |lend| {
            lend(&mut sampler);
            if sampler.tally(Kind::Pause).lateness.count() == bursts {
                stop.raise();
            }
        })
        .unwrap();
        sampler
    }

    #[test]
    fn a_burst_is_eight_short_waits_and_a_pause_of_random_length() {
        let machine = machine().with_wait("nanosleep", Overshoot::Fixed(Nanos(66_000)));
        let sampler = sampled(Sim::start(machine.build()), Sampling::of("nanosleep"), 1_000);
        let [burst, pause] = Kind::ALL.map(|kind| sampler.tally(kind));
        assert_eq!((burst.lateness.count(), pause.lateness.count()), (8_000, 1_000));
        assert!(burst.lateness.max().is_some_and(|late| late < 66_100), "{:?}", burst.lateness.max());
        let covered = sampler.covered();
        assert!((covered - Nanos::from_millis(908_000)).0.abs() < 20_000_000_000, "{covered}: 0.9 s each on average");
        let series = sampler.series("monotonic");
        assert_eq!(series.iter().map(|series| series.counts.recorded).collect::<Vec<_>>(), [8_000, 1_000]);
        assert!((32..=64).contains(&series[0].rounds.len()), "{}", series[0].rounds.len());
        assert_eq!(series[0].rounds.iter().map(|round| round.count).sum::<u64>(), 8_000);
    }

    #[test]
    fn pauses_last_from_half_to_one_and_a_half_times_their_mean_and_any_length_between() {
        let platform: SharedPlatform = Sim::start(machine().build());
        let mut sampler = Sampler::new(Sampling::of("nanosleep"), platform.counters(), MachineState::default());
        let pauses: Vec<i64> = (0..10_000).map(|_| sampler.next_pause().0 / 1_000_000).collect();
        assert!(pauses.iter().all(|ms| (450..1_350).contains(ms)));
        for tenth in 0..10 {
            let count = pauses.iter().filter(|&&ms| (ms - 450) / 90 == tenth).count();
            assert!((900..1_100).contains(&count), "{count} in tenth {tenth}");
        }
    }

    #[test]
    fn a_late_wait_ends_the_run_where_that_was_requested() {
        let stall = Stall { at: Nanos::from_millis(30_000), length: Nanos::from_millis(5_000) };
        let machine = machine().with_wait("nanosleep", Overshoot::Fixed(Nanos(10_000))).with_stall(stall);
        let sampling = Sampling { break_above: Some(Nanos(200_000)), ..Sampling::of("nanosleep") };
        let sampler = sampled(Sim::start(machine.build()), sampling, 1_000_000);
        let broken = sampler.broken_by().expect("broken").wait;
        assert!(sampler.covered() < Nanos::from_millis(37_000), "{}", sampler.covered());
        assert!(broken.lateness > Nanos::from_millis(3_000), "{broken:?}");
        let last = sampler.slices.iter().last().expect("there is one").end;
        assert_eq!(last, broken.end, "no wait follows it");
    }

    #[test]
    fn a_wait_that_is_not_there_is_a_reason() {
        let platform: SharedPlatform = Sim::start(machine().build());
        let bench = Bench::new(platform.clone(), StopFlag::new(), None).unwrap();
        let mut sampler = Sampler::new(Sampling::of("no-such-wait"), platform.counters(), MachineState::default());
        let ended = run(&bench, &mut |lend| lend(&mut sampler));
        assert_eq!((ended, sampler.bursts()), (Err(Unavailable::NotOnThisPlatform), 0));
    }

    /// A wait during which the stop flag is raised, and which the following signal ends.
    struct StoppedInPause(StopFlag, Box<dyn Waiter>);

    impl Waiter for StoppedInPause {
        fn wait(&mut self, target: oversleep_system::Target) -> WaitEnd {
            if target.remaining < Nanos::from_millis(2) {
                return self.1.wait(target);
            }
            self.0.raise();
            WaitEnd::Interrupted
        }
    }

    #[test]
    fn a_run_that_is_stopped_in_a_pause_keeps_the_waits_before_it() {
        let machine = machine().with_wait("nanosleep", Overshoot::Fixed(Nanos(10_000)));
        let platform: SharedPlatform = Sim::start(machine.build());
        let stop = StopFlag::new();
        let bench = Bench::new(platform.clone(), stop.clone(), None).unwrap();
        let mut sampler = Sampler::new(Sampling::of("nanosleep"), platform.counters(), MachineState::default());
        let mut waiter = StoppedInPause(stop, bench.open_wait("nanosleep").unwrap());
        sample(&bench, &mut waiter, &Sampling::of("nanosleep"), &mut |lend| lend(&mut sampler)).unwrap();
        let [burst, pause] = Kind::ALL.map(|kind| sampler.tally(kind));
        assert_eq!((burst.lateness.count(), pause.lateness.count(), pause.interrupted), (8, 0, 0));
    }
}
