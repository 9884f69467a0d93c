//! Who woke up, of each form of the same run.

use oversleep_record::observed::wakes::{Wakes, WokenBy};
use oversleep_recordings::{recognise, replay};

use crate::support::{FILES, TRACE_6, lacking};

fn wakes(bytes: &[u8]) -> Wakes {
    let file = replay(recognise(bytes).unwrap(), &bytes).unwrap();
    file.observation.unwrap().wakes.unwrap()
}

fn idle_rows(wakes: &Wakes) -> Vec<(&str, WokenBy, Option<&str>, u64)> {
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
    assert_eq!(idle_rows(&of_trace)[..3], expected);
    assert_eq!(idle_rows(&of_trace).iter().find(|row| row.0.is_empty()), Some(&("", WokenBy::Timer, None, 31)));
    assert_eq!((of_trace.idle_count(), of_trace.idle_beyond, of_trace.span_ns.0 / 1_000_000), (510, 0, 165));
    let rhythms: Vec<(&str, u64, i64)> =
        of_trace.rhythms.iter().map(|of| (&*of.thread, of.count, of.p50_ns.0 / 10_000)).collect();
    let threads = [("v-timerfd", 130, 99), ("v-abs", 124, 100), ("v-nano", 117, 107), ("v-futex", 115, 107)];
    assert_eq!(rhythms[..4], threads);
    for (_, bytes) in FILES {
        assert_eq!(wakes(bytes), of_trace);
    }
}

/// Whatever the thread did before: it is new, it slept, or it waited for another CPU.
#[test]
fn each_turn_after_idling_is_a_wake_up() {
    let [idle, app, other] = [("swapper/0", 0), ("app", 7), ("other", 8)];
    let turns =
        [(idle, 'R', app), (app, 'S', idle), (idle, 'R', app), (app, 'R', other), (other, 'S', idle), (idle, 'R', app)];
    let mut text = "# tracer: nop\n".to_owned();
    for (at, ((from, tid), state, (to, next))) in turns.into_iter().enumerate() {
        text += &format!(
            "  {from}-{tid} [000] d..2. 100.00{at}000: sched_switch: prev_comm={from} prev_pid={tid} prev_prio=120 \
             prev_state={state} ==> next_comm={to} next_pid={next} next_prio=120\n"
        );
    }
    assert_eq!(idle_rows(&wakes(text.as_bytes())), [("app", WokenBy::Unseen, None, 3)]);
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
