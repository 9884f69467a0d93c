//! Long runs: every deadline is counted, clocks wrap, and memory does not grow.

use oversleep_model::sim::{Overshoot, Sim, Stall};
use oversleep_record::series::{Pace, Series};
use oversleep_record::{ExperimentId, Nanos};
use oversleep_system::SharedPlatform;

use crate::testing::{self, MachineBuilder};
use crate::{Amount, Bench, Measured, Silent, StopFlag, WaitProbe, measure};

const DAY: Nanos = Nanos::from_secs(24 * 3_600);

fn machine() -> MachineBuilder {
    testing::machine().with_wait("clock-nanosleep-abs", Overshoot::Fixed(Nanos(66_000)))
}

/// Deadlines with that period, for that time.
fn waits(machine: MachineBuilder, requested: Nanos, time: Nanos, clock: Option<&str>) -> Series {
    let platform: SharedPlatform = Sim::start(machine.build());
    let amount = Amount { count: u64::MAX, time, rounds: 1 };
    let probe = WaitProbe::new(&*platform, ExperimentId::B5, "clock-nanosleep-abs", requested, amount);
    let bench = Bench::new(platform, StopFlag::new(), clock).expect("a clock of the machine");
    let mut measured = Measured::default();
    measure(&bench, vec![probe.paced(Pace::Periodic).boxed()], None, &mut Silent, &mut measured);
    measured.series.remove(0)
}

#[test]
fn a_week_counts_every_deadline_and_keeps_no_more_than_a_day_and_a_half() {
    // The machine stands still for an hour on the third day.
    let hour = Nanos::from_secs(3_600);
    let stall = Stall { at: DAY * 2, length: hour };
    let week = waits(machine().with_stall(stall), Nanos::from_secs(1), DAY * 7, None);
    let counts = week.counts;
    assert_eq!((counts.expected, counts.recorded, counts.backward), (Some(7 * 86_400), 7 * 86_400, 0));
    assert!((3_598..=3_600).contains(&counts.missed), "{counts:?}");
    assert_eq!(week.distribution.count(), counts.recorded);
    assert!(week.distribution.max().is_some_and(|max| (hour.0 - max).abs() < 1_100_000_000));
    let rounds: Vec<Option<Nanos>> = week.rounds.iter().map(|round| round.disturbance.stalled_ns).collect();
    assert!(matches!(rounds[..], [Some(span)] if (span - hour).0.abs() < 1_100_000_000), "{rounds:?}");
    let kept = |series: &Series| [series.samples.start_ns.capacity(), series.samples.value.capacity()];
    assert_eq!(week.samples.len() as u64 + week.samples.beyond_cap, counts.recorded);
    let day_and_a_half = waits(machine(), Nanos::from_secs(1), Nanos::from_secs(130_000), None);
    assert_eq!(kept(&week), kept(&day_and_a_half), "the first samples of both are the same");
}

#[test]
fn a_clock_that_wraps_again_and_again_still_counts_on() {
    // 34 bits of ns wrap every 17 s.
    let wrapping = machine().with_clock("monotonic-coarse", |clock| clock.info.bits = 34);
    let series = waits(wrapping, Nanos::from_millis(100), Nanos::from_secs(120), Some("monotonic-coarse"));
    let counts = series.counts;
    assert_eq!((counts.backward, counts.recorded), (0, 1_200), "{counts:?}");
    // The tolerance is one step of that clock.
    let (min, max) = (series.distribution.min().unwrap(), series.distribution.max().unwrap());
    assert!(min >= -4_000_000 && max <= 4_100_000, "{min} {max}");
    let starts: Vec<i64> = series.samples.start_ns.iter().collect();
    assert!(starts.is_sorted());
}
