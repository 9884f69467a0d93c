//! What a wait keeps of the events that it consists of.

use oversleep_record::observed::wait::TimerClock;
use oversleep_why::Kind;

use crate::splits::only;
use crate::stream::{D, Stream};

#[test]
fn a_request_that_was_passed_on_unchanged_adds_no_part() {
    let wait = only(&Stream::plain()).wanting(1_000_000);
    assert_eq!((wait.segments, wait.parts), (only(&Stream::plain()).segments, only(&Stream::plain()).parts));
}

#[test]
fn a_timer_runs_by_the_clock_that_its_call_names() {
    let clock = |number: u64| {
        let mut stream = Stream::plain();
        stream.find(Kind::Arm).fields[2] |= (number + 1) << 16;
        only(&stream).clock.map(TimerClock::name)
    };
    let names = ["CLOCK_REALTIME", "CLOCK_MONOTONIC", "CLOCK_BOOTTIME", "CLOCK_TAI"].map(Some);
    assert_eq!([0, 1, 7, 11].map(clock), names);
    assert_eq!(clock(5), None);
}

#[test]
fn of_two_wake_ups_the_first_counts() {
    let mut stream = Stream::plain();
    let at = stream.events.iter().position(|event| event.kind == Kind::Wakeup).expect("it is woken");
    let mut again = stream.events[at];
    again.t += 1_000;
    stream.events.insert(at + 1, again);
    assert_eq!(only(&stream).parts, only(&Stream::plain()).parts);
}

#[test]
fn a_call_that_goes_on_before_its_time_has_the_timer_that_it_had() {
    let rearmed = |again: u64| {
        let mut stream = Stream::stopped();
        let at = stream.events.iter().rposition(|event| event.kind == Kind::Arm).expect("it is armed again");
        stream.events[at].t = again;
        stream.events[at + 1].t = again + 100;
        only(&stream).marks.rearmed
    };
    assert_eq!(rearmed(D - 400_000), None);
    assert_eq!(rearmed(D + 300 + 9_000_000), Some(D + 300 + 9_000_000));
}

#[test]
fn an_interrupt_that_came_after_its_handler_was_not_seen() {
    let interrupt = |t: u64| {
        let mut stream = Stream::plain();
        stream.find(Kind::Fire).fields[0] = t;
        only(&stream).marks.interrupt
    };
    assert_eq!(
        [D + 52_300, D + 53_000, D + 53_001, 0].map(interrupt),
        [Some(D + 52_300), Some(D + 53_000), None, None]
    );
}

#[test]
fn a_wait_that_its_timer_tells_of_began_when_its_call_did_if_that_was_seen() {
    let entered = |t: u64| {
        let mut stream = Stream::posix_timer(0, 8);
        stream.find(Kind::Waking).fields[1] = t;
        only(&stream).marks.entered
    };
    assert_eq!((entered(D - 900_000), entered(0)), (Some(D - 900_000), None));
}
