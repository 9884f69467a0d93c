//! The loops that time waits: on a schedule of absolute deadlines, or call by call.

use oversleep_record::series::Pace;
use oversleep_record::{Nanos, Unavailable};
use oversleep_system::{WaitEnd, Waiter};

use super::bench::Bench;
use super::recorder::SeriesRecorder;
use super::still::{Reads, StillClock};

/// What to wait for, how often and how long.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitTask {
    pub requested: Nanos,
    pub pace: Pace,
    pub count_max: u64,
    pub time_max: Nanos,
    /// The number of the round: random phases must not repeat.
    pub round: u32,
    /// The period of the interrupt that ends the wait, if the system states one. Random phases cover whole periods.
    pub tick: Option<Nanos>,
    /// Whether it waits for what is left of a deadline if a wait ended before it, as runtimes do at a fixed rate.
    pub waits_again: bool,
}

impl WaitTask {
    /// The longest random pause, a whole number of ticks, so that every phase is equally likely. At least twice the
    /// longest default tick, which is 15.625 ms on Windows. If no tick is stated, 20 ms are whole ticks at 1000, 300,
    /// 250 and 100 Hz.
    pub fn phase_range(&self) -> Nanos {
        match self.tick.filter(|tick| *tick > Nanos::ZERO) {
            Some(tick) => self.requested.max(Nanos(31_250_000)).round_up_to(tick),
            None => self.requested.round_up_to(Nanos::from_millis(20)),
        }
    }
}

/// Runs the task. Every value is a signed lateness.
///
/// # Errors
/// Why the wait itself failed; earlier values are kept.
pub(super) fn run(
    bench: &Bench,
    waiter: &mut dyn Waiter,
    task: &WaitTask,
    recorder: &mut SeriesRecorder,
) -> Result<(), Unavailable> {
    match task.pace {
        Pace::Periodic => periodic(bench, waiter, task, recorder),
        Pace::BackToBack => call_by_call(bench, waiter, task, recorder, None),
        Pace::RandomPhase => call_by_call(bench, waiter, task, recorder, Some(Phase::new(task))),
    }
}

/// Deadlines at base + k × request. The schedule never moves: a deadline that passed while the thread was off the CPU
/// is recorded without a call, with its lateness at that time.
fn periodic(
    bench: &Bench,
    waiter: &mut dyn Waiter,
    task: &WaitTask,
    recorder: &mut SeriesRecorder,
) -> Result<(), Unavailable> {
    let base = bench.stamp();
    let schedule_end = base + task.time_max;
    let mut deadline = base + task.requested;
    let mut done = 0;
    let mut end = base;
    let mut still = StillClock::default();
    while done < task.count_max && deadline <= schedule_end && !bench.stopped() {
        let start = bench.stamp();
        if start >= deadline {
            recorder.record_missed(bench.since_origin(deadline), (start - deadline).0);
            end = start;
        } else {
            match waiter.wait(bench.target(start, deadline)) {
                WaitEnd::TimedOut => {
                    end = bench.stamp();
                    if end < start {
                        recorder.count_backward();
                    }
                    if task.waits_again
                        && let Some(reason) = wait_again(bench, waiter, deadline, &mut end)
                    {
                        return Err(reason);
                    }
                    recorder.record(bench.since_origin(start), (end - deadline).0);
                }
                WaitEnd::Interrupted => {
                    recorder.count_interrupted(bench);
                    end = bench.stamp();
                    // The deadline is unchanged: wait for the rest, unless the run is ending.
                    if end < deadline {
                        continue;
                    }
                    recorder.record(bench.since_origin(start), (end - deadline).0);
                }
                WaitEnd::Failed(reason) => return Err(reason),
            }
        }
        bench.note(&mut still, end, Reads::of(task.requested));
        done += 1;
        deadline += task.requested;
    }
    // Computed from the elapsed time instead of counted in the loop, so that a skipped period would show.
    let on_schedule = (end - base).min(task.time_max);
    let passed = on_schedule.0.max(0) / task.requested.0.max(1);
    recorder.add_expected(u64::try_from(passed).unwrap_or(0).min(task.count_max));
    Ok(())
}

/// How often a call is made again for one deadline. One that takes a long span for a short one would never reach it.
const AGAIN_MAX: u32 = 100_000;

/// Waits for what is left of a deadline until it has passed; what rounds to nothing is looked at again a millisecond later.
/// Returns why a wait failed.
fn wait_again(bench: &Bench, waiter: &mut dyn Waiter, deadline: Nanos, end: &mut Nanos) -> Option<Unavailable> {
    let mut stands_still = false;
    let mut left = AGAIN_MAX;
    while *end < deadline && !bench.stopped() {
        let start = bench.stamp();
        left -= 1;
        if left == 0 {
            return Some(Unavailable::failed(
                "waiting",
                "the call ends long before its deadline, however often it is made again",
            ));
        }
        let until = if stands_still { deadline.max(start + Nanos::from_millis(1)) } else { deadline };
        if start >= until {
            *end = start;
            break;
        }
        if let WaitEnd::Failed(reason) = waiter.wait(bench.target(start, until)) {
            return Some(reason);
        }
        *end = bench.stamp();
        // Reads of the clock take time, but less than any wait.
        stands_still = *end - start < Nanos::from_micros(10);
    }
    None
}

/// Each call is its own deadline: its start plus the request.
fn call_by_call(
    bench: &Bench,
    waiter: &mut dyn Waiter,
    task: &WaitTask,
    recorder: &mut SeriesRecorder,
    mut phase: Option<Phase>,
) -> Result<(), Unavailable> {
    let base = bench.stamp();
    let mut done = 0;
    let mut start = base;
    let mut still = StillClock::default();
    while done < task.count_max && start - base < task.time_max && !bench.stopped() {
        if let Some(phase) = &mut phase {
            bench.spin_until(bench.platform().now() + phase.next());
            if bench.stopped() {
                break;
            }
        }
        start = bench.stamp();
        let deadline = start + task.requested;
        let ended = waiter.wait(bench.target(start, deadline));
        let end = bench.stamp();
        match ended {
            WaitEnd::TimedOut => {
                if end < start {
                    recorder.count_backward();
                }
                recorder.record(bench.since_origin(start), (end - deadline).0);
                done += 1;
            }
            WaitEnd::Interrupted => recorder.count_interrupted(bench),
            WaitEnd::Failed(reason) => return Err(reason),
        }
        bench.note(&mut still, end, Reads::of(task.requested));
        start = end;
    }
    Ok(())
}

/// Pauses of random length.
struct Phase {
    state: u64,
    range_ns: u64,
}

impl Phase {
    fn new(task: &WaitTask) -> Phase {
        Phase {
            state: 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(2 * u64::from(task.round) + 1),
            range_ns: task.phase_range().0.unsigned_abs().max(1),
        }
    }

    /// The next pause. The seed is fixed per round, so that runs are comparable.
    fn next(&mut self) -> Nanos {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        Nanos((self.state % self.range_ns) as i64)
    }
}

#[cfg(test)]
mod tests {
    use oversleep_model::sim::{Overshoot, Sim, Stall};
    use oversleep_record::ExperimentId;
    use oversleep_record::Series;
    use oversleep_record::series::{Quantity, Unit};
    use oversleep_system::SharedPlatform;

    use super::super::testing::{self, wait_series};
    use super::super::{Amount, StopFlag, WaitProbe};
    use super::*;

    #[test]
    fn a_fixed_overshoot_is_the_lateness_in_every_pace() {
        for pace in [Pace::BackToBack, Pace::Periodic] {
            let machine = testing::machine().with_wait("nanosleep", Overshoot::Fixed(Nanos(66_000)));
            let series = wait_series(machine, "nanosleep", Nanos::from_millis(1), pace, 100);
            assert_eq!(series.counts.recorded, 100);
            // One read of the 20 ns clock lies between the wake-up and the stamp.
            assert_eq!((series.distribution.min(), series.distribution.max()), (Some(66_020), Some(66_020)), "{pace}");
        }
    }

    #[test]
    fn a_500_ms_stop_shows_as_500_late_deadlines() {
        let stall = Stall { at: Nanos::from_millis(2_000), length: Nanos::from_millis(500) };
        let machine =
            testing::machine().with_wait("clock-nanosleep-abs", Overshoot::Fixed(Nanos(10_000))).with_stall(stall);
        let millisecond = Nanos::from_millis(1);
        let series = wait_series(machine, "clock-nanosleep-abs", millisecond, Pace::Periodic, 5_000);
        assert_eq!(series.counts.recorded, 5_000);
        assert_eq!(series.counts.expected, Some(5_000));
        let late = series.distribution.count_above(millisecond.0 / 2);
        assert!((498..=501).contains(&late), "{late} as recorded");
        assert_eq!(series.calls().count_above(millisecond.0 / 2), 1, "what a tool that skips deadlines would show");
        let corrected = series.corrected().unwrap().count_above(millisecond.0 / 2);
        assert!((498..=501).contains(&corrected), "{corrected} corrected");
    }

    /// A wait whose first call ends after half of its time, as if interrupted by a signal.
    struct CutOnce {
        kernel_wait: Box<dyn Waiter>,
        was_cut: bool,
    }

    impl Waiter for CutOnce {
        fn wait(&mut self, target: oversleep_system::Target) -> WaitEnd {
            if std::mem::replace(&mut self.was_cut, true) {
                return self.kernel_wait.wait(target);
            }
            let half = Nanos(target.remaining.0 / 2);
            self.kernel_wait.wait(oversleep_system::Target { remaining: half, deadline: target.deadline - half });
            WaitEnd::Interrupted
        }
    }

    #[test]
    fn a_signal_does_not_end_a_period() {
        let machine = testing::machine().with_wait("nanosleep", Overshoot::Fixed(Nanos(10_000)));
        let platform: SharedPlatform = Sim::start(machine.build());
        let bench = Bench::new(platform.clone(), StopFlag::new(), None).unwrap();
        let kernel_wait = platform.wait("nanosleep").unwrap().open(&platform).unwrap();
        let mut recorder = recorder();
        let task = task(Pace::Periodic, 5);
        run(&bench, &mut CutOnce { kernel_wait, was_cut: false }, &task, &mut recorder).unwrap();
        let series = recorder.into_series(false);
        assert_eq!((series.counts.recorded, series.counts.interrupted, series.counts.early), (5, 1, 0));
        assert_eq!(series.counts.expected, Some(5));
    }

    /// A wait during which the stop flag is raised, and which the following signal ends.
    struct StoppedInTheMiddle(StopFlag);

    impl Waiter for StoppedInTheMiddle {
        fn wait(&mut self, _target: oversleep_system::Target) -> WaitEnd {
            self.0.raise();
            WaitEnd::Interrupted
        }
    }

    #[test]
    fn a_wait_that_ends_with_the_run_is_not_counted_as_interrupted() {
        for pace in [Pace::Periodic, Pace::BackToBack] {
            let platform: SharedPlatform = Sim::start(testing::machine().build());
            let stop = StopFlag::new();
            let bench = Bench::new(platform, stop.clone(), None).unwrap();
            let mut recorder = recorder();
            let task = task(pace, 5);
            run(&bench, &mut StoppedInTheMiddle(stop), &task, &mut recorder).unwrap();
            let counts = recorder.into_series(true).counts;
            assert_eq!((counts.recorded, counts.interrupted), (0, 0), "{pace}");
        }
    }

    fn recorder() -> SeriesRecorder {
        SeriesRecorder::new(Series::new(ExperimentId::B5, "nanosleep", Quantity::Lateness, Unit::Ns), 5)
    }

    fn task(pace: Pace, count_max: u64) -> WaitTask {
        let requested = Nanos::from_millis(1);
        WaitTask { requested, pace, count_max, time_max: Nanos::MAX, round: 0, tick: None, waits_again: false }
    }

    #[test]
    fn the_last_wait_s_lateness_adds_no_deadline() {
        let machine = testing::machine().with_wait("nanosleep", Overshoot::Fixed(Nanos(66_000)));
        let sim = Sim::start(machine.build());
        let amount = Amount { count: u64::MAX, time: Nanos::from_millis(1), rounds: 1 };
        let probe = WaitProbe::new(&*sim, ExperimentId::B5, "nanosleep", Nanos(10_000), amount);
        let series = testing::measure_on(sim, vec![probe.boxed()]).series.remove(0);
        assert_eq!((series.counts.recorded, series.counts.expected), (100, Some(100)));
    }

    #[test]
    fn early_wake_ups_of_a_schedule_are_not_clamped_either() {
        let machine = testing::machine().with_wait("clock-nanosleep-abs", Overshoot::Fixed(Nanos(-5_000)));
        let series = wait_series(machine, "clock-nanosleep-abs", Nanos::from_millis(1), Pace::Periodic, 10);
        assert_eq!(series.counts.early, 10);
        assert!(series.distribution.max().unwrap() < -4_000);
    }

    #[test]
    fn early_wake_ups_are_counted_not_clamped() {
        let overshoot = Overshoot::Cycle(vec![Nanos(-5_000), Nanos(3_000)]);
        let machine = testing::machine().with_wait("nanosleep", overshoot);
        let series = wait_series(machine, "nanosleep", Nanos::from_millis(1), Pace::BackToBack, 10);
        assert_eq!(series.counts.early, 5);
        assert!(series.distribution.min().unwrap() < -4_000);
    }

    #[test]
    fn random_phase_spins_between_calls() {
        let machine = testing::machine().with_wait("nanosleep", Overshoot::Fixed(Nanos(1_000)));
        let series = wait_series(machine, "nanosleep", Nanos::from_millis(1), Pace::RandomPhase, 10);
        let starts: Vec<i64> = series.samples.start_ns.iter().collect();
        let gaps: Vec<i64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.iter().all(|gap| (1_000_000..23_000_000).contains(gap)), "{gaps:?}");
        assert!(gaps.windows(2).any(|pair| (pair[0] - pair[1]).abs() > 1_000_000));
    }
}
