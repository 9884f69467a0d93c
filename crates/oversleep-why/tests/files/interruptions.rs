//! Waits that signals and stops interrupt.

use oversleep_record::observed::interruption::{Interrupted, Interruption, Sender};
use oversleep_why::{Kind, Outcome, Wait};

use crate::splits::{only, waits};
use crate::stream::{self, Stream};

fn by(wait: &Wait) -> Vec<String> {
    wait.interruptions.iter().map(|one| format!("{} {}", one.count, one.by)).collect()
}

#[test]
fn a_sleep_that_a_handler_interrupted_is_one_wait_and_no_stop() {
    let mut stream = Stream::interrupted();
    let unseen = only(&stream);
    assert_eq!((unseen.outcome, unseen.restarts), (Outcome::Timer, 1));
    assert_eq!((unseen.parts.signal, unseen.parts.stop), (54_400, 0), "slack again, and the time in between");
    assert_eq!((unseen.parts.slack, unseen.parts.api), (50_000, 300));
    assert_eq!(unseen.parts.sum(), unseen.lateness_ns);
    assert!(unseen.is_attributed() && unseen.interruptions.is_empty(), "nobody saw who sent it");
    stream.signal(10, 0, 77, "sampler");
    let seen = only(&stream);
    assert_eq!((seen.parts, by(&seen)), (unseen.parts, vec!["1 SIGUSR1 from sampler (77)".to_owned()]));
}

#[test]
fn a_rest_may_be_rounded_but_the_same_request_is_another_wait() {
    for (spans, is_one) in [
        ([1_000_000, 996_000], false),
        ([1_000_000, 1_000_000], false),
        ([20_000_000, 19_000_000], true),
        ([20_000_000, 18_000_000], false),
    ] {
        let mut stream = Stream::interrupted();
        stream.request(spans);
        assert_eq!(waits(&stream).len() == 1, is_one, "{spans:?}; 0.5 ms passed");
    }
}

#[test]
fn the_own_interval_timer_interrupts_a_sleep_and_is_not_its_wait() {
    let mut stream = Stream::interrupted();
    stream.by_interval_timer();
    stream.signal(14, 0x80, 0, "");
    let wait = only(&stream);
    assert_eq!((wait.timer.as_deref(), wait.requested_ns, wait.outcome), (None, Some(1_000_000), Outcome::Timer));
    assert_eq!((wait.parts.signal, wait.parts.stop), (54_400, 0));
    assert_eq!(by(&wait), ["1 SIGALRM of its own timer (setitimer)"]);
}

#[test]
fn what_stops_a_thread_is_named_and_its_signal_is_no_interruption() {
    for (bits, what) in [(4, Interruption::Stopped), (8, Interruption::Traced), (16, Interruption::Frozen)] {
        let mut stream = Stream::stopped();
        stream.out_after_return(bits);
        stream.signal(19, 0, 77, "bash");
        let wait = only(&stream);
        assert_eq!((wait.parts.stop, wait.parts.signal), (9_000_000, 0));
        assert_eq!(wait.interruptions, [Interrupted { by: what, count: 1 }]);
    }
}

#[test]
fn a_thread_that_is_frozen_where_it_sleeps_is_stopped_until_it_is_thawed() {
    let mut stream = Stream::plain();
    let waking = stream.events.iter_mut().find(|event| event.kind == Kind::Waking).expect("it is there");
    waking.fields[2] = 1;
    let wait = only(&stream);
    assert_eq!((wait.parts.stop, wait.parts.wake), (400, 0), "from the timer's callback on");
    assert_eq!(wait.interruptions, [Interrupted { by: Interruption::Frozen, count: 1 }]);
}

#[test]
fn a_wait_that_a_signal_ended_says_which() {
    let mut stream = Stream::interrupted();
    stream.events.truncate(6);
    stream.signal(15, 0, 1, "systemd");
    let wait = waits(&stream).remove(0);
    assert_eq!((wait.outcome, by(&wait)), (Outcome::Signal, vec!["1 SIGTERM from systemd (1)".to_owned()]));
    let mut stream = Stream::plain();
    stream.signal(10, 0, 77, "sampler");
    assert_eq!(only(&stream).interruptions, [], "it came when the call was over");
    let mut waited_for = Stream::posix_timer(stream::PAUSE, -514i64 as u64);
    waited_for.signal(14, -2, 0, "");
    assert_eq!(only(&waited_for).interruptions, [], "the wait was for this signal");
}

#[test]
fn senders_are_told_apart_by_the_code_of_the_signal() {
    let sender = |code: i64, pid: u64| {
        let mut stream = Stream::interrupted();
        stream.signal(17, code, pid, "");
        match only(&stream).interruptions.remove(0).by {
            Interruption::Signal { sender, .. } => sender,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(sender(-6, 9), Sender::Process { pid: 9, name: String::new() });
    assert_eq!(sender(0, 0), Sender::Process { pid: 0, name: String::new() }, "it is outside of the namespace");
    assert_eq!(sender(1, 0), Sender::Kernel, "a child ended");
    assert_eq!(sender(-2, 0), Sender::OwnTimer { call: "timer_settime".to_owned() });
}
