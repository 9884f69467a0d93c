//! Finer timing on a real thread, as far as this machine allows it. A denial is a legitimate outcome; an applied change
//! must be restored.

use std::thread;
use std::time::Duration;

use oversleep::resolution::{Value, What};
use oversleep::{Outcome, Resolution, Scheduling, TimerSlack};

fn real_time(priority: u8) -> (oversleep::resolution::Held, Outcome<Value>) {
    let held = Resolution::new().real_time(priority).hold();
    let outcome = held.outcome(What::RealTime).expect("it was requested").clone();
    (held, outcome)
}

#[test]
fn real_time_and_a_held_slack_are_restored() {
    let run = || {
        let _slack = TimerSlack::hold(Duration::from_nanos(7_777));
        let before = TimerSlack::current();
        let (held, outcome) = real_time(7);
        let Outcome::Applied { was, now } = outcome else { return oversleep_testing::skip(outcome) };
        // Only Linux's policy has numbers.
        assert!(
            matches!(now, Value::Scheduling(Scheduling::Fifo(7) | Scheduling::TimeCritical | Scheduling::Deadline)),
            "{now:?}"
        );
        // A lower request than the one held changes nothing.
        assert_eq!(real_time(5).1, Outcome::AlreadyFiner { is: now });
        drop(held);
        assert_eq!(TimerSlack::current(), before);
        // A second request finds the thread as it was before the first.
        let Outcome::Applied { was: again, .. } = real_time(7).1 else { panic!("it was allowed before") };
        assert_eq!(again, was);
    };
    thread::spawn(run).join().unwrap();
}

#[test]
fn a_latency_limit_lasts_as_long_as_its_guard() {
    let request = || Resolution::new().cpu_latency(Duration::from_micros(321)).hold();
    let held = request();
    match held.outcome(What::CpuLatency).expect("it was requested").clone() {
        Outcome::Applied { was, now } => {
            assert_eq!(now, Value::Time(Duration::from_micros(321)));
            assert_eq!(request().outcome(What::CpuLatency), Some(&Outcome::AlreadyFiner { is: now }));
            drop(held);
            assert_eq!(request().outcome(What::CpuLatency), Some(&Outcome::Applied { was, now }));
        }
        Outcome::AlreadyFiner { is: Value::Time(is) } => assert!(is <= Duration::from_micros(321)),
        outcome => assert!(outcome.denied().is_some_and(|denied| !denied.how.is_empty()), "{outcome:?}"),
    }
}

#[test]
fn what_a_system_lacks_is_denied_with_a_reason() {
    let held = Resolution::harmless().hold();
    let lacking = held.settings().iter().find(|setting| !setting.outcome.holds());
    // No system has both a timer slack and a timer resolution.
    assert!(lacking.expect("one is denied").to_string().contains("has no"), "{lacking:?}");
}
