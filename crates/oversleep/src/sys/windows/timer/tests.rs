//! Requests beside those of the host program, on a model of Windows, and the real calls.

use std::collections::BTreeMap;

use super::*;

/// One request per process, and winmm's count of requests in whole milliseconds.
#[derive(Default)]
struct Model {
    counted: BTreeMap<u32, u32>,
    request: Option<u32>,
    refuses_below_ms: bool,
}

impl Model {
    /// winmm passes on its shortest request when that changes, and withdraws the request with the last.
    fn pass_on(&mut self, before: Option<u32>) {
        let shortest = self.counted.keys().next().copied();
        if shortest != before {
            self.request = shortest.map(|ms| ms * MILLISECOND);
        }
    }
}

impl System for Model {
    fn begin(&mut self, ms: u32) -> Result<(), Why> {
        let before = self.counted.keys().next().copied();
        *self.counted.entry(ms).or_default() += 1;
        self.pass_on(before);
        Ok(())
    }

    fn end(&mut self, ms: u32) {
        let before = self.counted.keys().next().copied();
        let count = self.counted.get_mut(&ms).expect("every end has a begin");
        *count -= 1;
        if *count == 0 {
            self.counted.remove(&ms);
        }
        self.pass_on(before);
    }

    fn replace(&mut self, units: u32) -> Result<(), Why> {
        if self.refuses_below_ms && units < MILLISECOND {
            return Err(Why::Failed { call: "NtSetTimerResolution", errno: -1 });
        }
        self.request = Some(units);
        Ok(())
    }
}

#[test]
fn the_host_programs_request_outlives_ours() {
    for hosts_ms in [1, 2, 5] {
        for ours in [5_000, 10_000, 20_000, 156_250] {
            let (mut system, mut requests) = (Model::default(), Requests::NONE);
            system.begin(hosts_ms).unwrap();
            requests.add(&mut system, ours).unwrap();
            let finest = if ours < MILLISECOND { ours } else { counted_ms(ours).min(hosts_ms) * MILLISECOND };
            assert_eq!(system.request, Some(finest));
            requests.remove(&mut system, ours);
            assert_eq!(system.request, Some(hosts_ms * MILLISECOND), "{ours} beside {hosts_ms} ms");
            system.end(hosts_ms);
            assert_eq!(system.request, None);
        }
    }
}

#[test]
fn our_request_survives_those_of_the_host() {
    let (mut system, mut requests) = (Model::default(), Requests::NONE);
    requests.add(&mut system, 5_000).unwrap();
    for ms in [1, 5] {
        system.begin(ms).unwrap();
        assert_eq!(system.request, Some(5_000));
        system.end(ms);
        assert_eq!(system.request, Some(5_000));
    }
    requests.remove(&mut system, 5_000);
    assert_eq!(system.request, None);
}

#[test]
fn the_shortest_counts_until_it_is_dropped_in_any_order() {
    let (mut system, mut requests) = (Model::default(), Requests::NONE);
    for requested in [20_000, 5_070, 5_000, 5_000] {
        requests.add(&mut system, requested).unwrap();
    }
    let mut after = |requested| {
        requests.remove(&mut system, requested);
        (system.request, requests.outstanding)
    };
    assert_eq!(after(5_000), (Some(5_000), 3));
    assert_eq!(after(5_000), (Some(5_070), 2));
    assert_eq!(after(5_070), (Some(20_000), 1));
    assert_eq!(after(20_000), (None, 0));
}

#[test]
fn a_refusal_leaves_nothing_behind() {
    let (mut system, mut requests) = (Model { refuses_below_ms: true, ..Model::default() }, Requests::NONE);
    assert!(requests.add(&mut system, 5_000).is_err());
    assert_eq!((system.request, requests.outstanding, requests.below.len()), (None, 0, 0));
}

#[test]
fn whole_milliseconds_are_never_longer_than_requested() {
    assert_eq!([1, 5_000, 10_000, 19_999, 156_250].map(counted_ms), [1, 1, 1, 1, 15]);
    assert_eq!(counted_ms(u32::MAX), MS_MAX);
}

#[test]
fn guards_are_counted_and_withdrawn() {
    // No other test requests this period.
    let period = Duration::from_nanos(777_700);
    let held = || requests().below.iter().filter(|&&requested| requested == 7_777).count();
    let (first, outcome) = hold_timer(period);
    if first.is_none() {
        assert!(outcome.denied().is_some_and(|denied| !denied.how.is_empty()) && held() == 0);
        return oversleep_testing::skip(outcome);
    }
    let second = hold_timer(period).0;
    assert_eq!(held(), 2);
    drop(first);
    assert_eq!(held(), 1);
    drop(second);
    assert_eq!(held(), 0);
}

#[test]
fn a_request_that_changes_nothing_is_already_finer_or_ignored() {
    let in_effect = |period| InEffect { finest: 5_000, period };
    let outcome = |requested, was, now| outcome(requested, in_effect(was), in_effect(now));
    assert_eq!(outcome(10_000, 156_250, 10_000), Outcome::Applied { was: span(156_250), now: span(10_000) });
    // Finer than before, and the finest possible.
    assert_eq!(outcome(1_000, 156_250, 5_000), Outcome::Applied { was: span(156_250), now: span(5_000) });
    // Held by another process, and on the timer's own grid.
    assert_eq!(outcome(10_000, 5_000, 5_000), Outcome::AlreadyFiner { is: span(5_000) });
    assert_eq!(outcome(10_000, 10_007, 10_007), Outcome::AlreadyFiner { is: span(10_007) });
    for (requested, period, how) in [(1_000, 5_000, "no less than the finest"), (10_000, 156_250, "battery saver")] {
        let refused = outcome(requested, period, period);
        assert!(!refused.holds() && refused.to_string().contains(how), "{refused}");
    }
}

#[test]
fn every_outcome_is_consistent() {
    match hold_timer(Duration::from_millis(4)).1 {
        Outcome::Applied { was, now } => assert!(now < was),
        Outcome::AlreadyFiner { is } => assert!(is > Duration::ZERO),
        Outcome::Denied(denied) => assert!(!denied.how.is_empty()),
    }
}
