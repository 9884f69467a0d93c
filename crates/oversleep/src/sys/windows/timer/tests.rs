//! Requests beside those of the host program, on a stand-in for Windows; and the calls themselves.

use std::collections::BTreeMap;

use super::*;

/// One request per process, and winmm's count of those in whole milliseconds on top of it.
#[derive(Default)]
struct Model {
    counted: BTreeMap<u32, u32>,
    request: Option<u32>,
    refuses_below_ms: bool,
}

impl Model {
    /// winmm passes its shortest on when that changes, and takes the request back with the last.
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
        let count = self.counted.get_mut(&ms).expect("ended what was begun");
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
fn what_the_host_program_asked_for_outlives_ours() {
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
fn ours_outlives_the_comings_and_goings_of_the_host() {
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
    for asked in [20_000, 5_070, 5_000, 5_000] {
        requests.add(&mut system, asked).unwrap();
    }
    let mut after = |asked| {
        requests.remove(&mut system, asked);
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
fn whole_milliseconds_are_never_longer_than_asked() {
    assert_eq!([1, 5_000, 10_000, 19_999, 156_250].map(counted_ms), [1, 1, 1, 1, 15]);
    assert_eq!(counted_ms(u32::MAX), MS_MAX);
}

#[test]
fn guards_are_counted_and_taken_back() {
    // No other test asks for this one.
    let period = Duration::from_nanos(777_700);
    let held = || requests().below.iter().filter(|&&asked| asked == 7_777).count();
    let (first, outcome) = hold_timer(period);
    if first.is_none() {
        assert!(outcome.denied().is_some_and(|denied| !denied.how.is_empty()) && held() == 0);
        return;
    }
    let second = hold_timer(period).0;
    assert_eq!(held(), 2);
    drop(first);
    assert_eq!(held(), 1);
    drop(second);
    assert_eq!(held(), 0);
}

#[test]
fn a_request_that_changes_nothing_is_finer_already_or_ignored() {
    let in_effect = |period| InEffect { finest: 5_000, period };
    let outcome = |asked, was, now| became(asked, in_effect(was), in_effect(now));
    assert_eq!(outcome(10_000, 156_250, 10_000), Outcome::Applied { was: span(156_250), now: span(10_000) });
    // Finer than before, and as fine as there is.
    assert_eq!(outcome(1_000, 156_250, 5_000), Outcome::Applied { was: span(156_250), now: span(5_000) });
    // Of another process, and on the timer's own grid.
    assert_eq!(outcome(10_000, 5_000, 5_000), Outcome::AlreadyFiner { is: span(5_000) });
    assert_eq!(outcome(10_000, 10_007, 10_007), Outcome::AlreadyFiner { is: span(10_007) });
    for (asked, period, how) in [(1_000, 5_000, "no less than the finest"), (10_000, 156_250, "battery saver")] {
        let refused = outcome(asked, period, period);
        assert!(!refused.holds() && refused.to_string().contains(how), "{refused}");
    }
}

#[test]
fn what_is_in_effect_is_what_was_asked_or_finer() {
    match hold_timer(Duration::from_millis(4)).1 {
        Outcome::Applied { was, now } => assert!(now < was),
        Outcome::AlreadyFiner { is } => assert!(is > Duration::ZERO),
        Outcome::Denied(denied) => assert!(!denied.how.is_empty()),
    }
}
