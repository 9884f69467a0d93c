//! Modelled clocks compute many reads at once, and cache their value until the next step: neither may be observable.

use oversleep_record::Nanos;
use oversleep_record::conditions::Setting;
use oversleep_system::{Platform, Restore, Target};

use super::platform;
use super::*;

const READS: usize = 1_500;

/// Consecutive reads, and then until the value changes; the time in between is not a multiple of a step.
fn looks(platform: &dyn Platform, index: usize, in_bulk: bool) -> Vec<u64> {
    let clock = &platform.clocks()[index];
    let mut seen = vec![0; READS];
    if in_bulk {
        clock.read_into(&mut seen);
    } else {
        seen.fill_with(|| clock.read());
    }
    for _ in 0..20 {
        platform.spin_until(platform.now() + Nanos(333_333), &mut |_| false);
        let shown = clock.read();
        let next = match in_bulk {
            true => clock.poll(shown, READS as u64),
            false => (0..READS).map(|_| clock.read()).find(|&raw| raw != shown).unwrap_or(shown),
        };
        seen.push(next);
    }
    seen
}

fn half_a_millisecond(platform: &dyn Platform) -> Option<Box<dyn Restore>> {
    platform.tunable("resolution")?.apply(&Setting::Nanos(Nanos(500_000))).1
}

#[test]
fn reads_in_bulk_are_those_of_one_after_the_other() {
    for name in names() {
        let [in_bulk, singly] = [true, false].map(|in_bulk| {
            let platform = platform(name, &[]);
            let mut held = None;
            let mut seen = Vec::new();
            for pass in 0..3 {
                held = if pass == 1 {
                    half_a_millisecond(&*platform)
                } else {
                    drop(held);
                    None
                };
                for (index, clock) in platform.clocks().iter().enumerate() {
                    if clock.available().is_ok() {
                        seen.push((clock.info().name, looks(&*platform, index, in_bulk), platform.now()));
                    }
                }
            }
            seen
        });
        assert!(in_bulk.iter().any(|(_, seen, _)| seen[0] != seen[READS - 1]));
        for (in_bulk, singly) in in_bulk.into_iter().zip(singly) {
            assert_eq!(in_bulk, singly, "{name}");
        }
    }
}

#[test]
fn a_coarse_clock_follows_a_resolution_at_once() {
    let platform = platform("windows-11", &[]);
    let clock = platform.clocks().iter().find(|clock| clock.info().name == "system-time");
    let clock = clock.expect("it is there");
    let before = clock.read();
    let _held = half_a_millisecond(&*platform).expect("it is granted");
    platform.spin_until(platform.now() + Nanos(5_000_000), &mut |_| false);
    let gone = clock.read() - before;
    assert!((45_000..=60_000).contains(&gone), "{gone} times 100 ns, not the next tick of before");
}

/// A sleep ends at an interrupt that the tick count has counted, whenever a resolution was released before.
#[test]
fn the_tick_count_moves_across_every_sleep_that_ends_at_the_default_tick() {
    for name in ["windows-7", "windows-10-1909", "windows-11"] {
        let platform = platform(name, &[]);
        let ticks = platform.clock("get-tick-count-64").unwrap();
        let mut sleeper =
            platform.waits().iter().find(|wait| wait.info().name == "sleep").unwrap().open(&platform).unwrap();
        for phase in 0..200_i64 {
            let held = half_a_millisecond(&*platform);
            platform.spin_until(platform.now() + Nanos(3_210_987 + phase * 77_777), &mut |_| false);
            drop(held);
            let before = ticks.read();
            let start = platform.now();
            sleeper.wait(Target { remaining: MS, deadline: platform.now() + MS });
            let took = platform.now() - start;
            assert!(ticks.read() > before, "{name}: the tick count stood still in a sleep of {took}, phase {phase}");
        }
    }
}
