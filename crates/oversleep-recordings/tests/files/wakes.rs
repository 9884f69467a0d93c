//! Who woke up, of each form of the same run.

use oversleep_record::observed::wakes::{Wakes, WokenBy};
use oversleep_recordings::{recognise, replay};

use crate::support::{FILES, TRACE_6, lacking};

fn wakes(bytes: &[u8]) -> Wakes {
    let file = replay(recognise(bytes).unwrap(), &bytes).unwrap();
    file.observation.unwrap().wakes.unwrap()
}

fn idle(wakes: &Wakes) -> Vec<(&str, WokenBy, Option<&str>, u64)> {
    wakes.idle.iter().map(|of| (&*of.program, of.by, of.timer.as_deref(), of.count)).collect()
}

#[test]
fn one_run_has_the_same_wake_ups_in_every_form() {
    let of_trace = wakes(TRACE_6);
    let expected = [
        ("v-timerfd", WokenBy::Timer, None, 104),
        ("v-abs", WokenBy::Timer, Some("sleep of a thread"), 78),
        ("v-nano", WokenBy::Timer, Some("sleep of a thread"), 63),
    ];
    assert_eq!(idle(&of_trace)[..3], expected);
    assert_eq!(idle(&of_trace).iter().find(|row| row.0.is_empty()), Some(&("", WokenBy::Timer, None, 31)));
    assert_eq!((of_trace.idle_count(), of_trace.idle_beyond, of_trace.span_ns.0 / 1_000_000), (501, 0, 165));
    let rhythms: Vec<(&str, u64, i64)> =
        of_trace.rhythms.iter().map(|of| (&*of.thread, of.count, of.p50_ns.0 / 10_000)).collect();
    let threads = [("v-timerfd", 130, 99), ("v-abs", 124, 100), ("v-nano", 117, 107), ("v-futex", 115, 107)];
    assert_eq!(rhythms[..4], threads);
    for (_, bytes) in FILES {
        assert_eq!(wakes(bytes), of_trace);
    }
}

#[test]
fn without_callbacks_or_wake_ups_nothing_is_said_of_what_woke_a_thread() {
    for lacks in ["hrtimer_expire_exit", "sched_waking"] {
        let wakes = wakes(&lacking(TRACE_6, lacks));
        assert!(!wakes.idle.is_empty(), "{lacks}");
        assert!(wakes.idle.iter().all(|row| row.by == WokenBy::Unseen && row.timer.is_none()), "{lacks}: {wakes:?}");
    }
    let wakes = wakes(&lacking(TRACE_6, "hrtimer_start"));
    assert!(wakes.idle.iter().all(|row| row.timer.is_none()), "{wakes:?}");
}
