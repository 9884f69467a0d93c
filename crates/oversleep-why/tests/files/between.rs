//! What threads do between their waits.

use oversleep_record::observed::period::{Between, Block};
use oversleep_why::{Event, Kind, Outcome, Wait};

use crate::splits::waits;
use crate::stream::{D, Stream, TID};

const MS: u64 = 1_000_000;
/// From one wait to the next.
const LATER: u64 = 40 * MS;
/// The end of the first one.
const END: u64 = D + 58_000;

fn event(kind: Kind, t: u64, x: u32, fields: [u64; 6]) -> Event {
    Event { x, fields, ..Event::new(kind, t, TID) }
}

/// Two plain waits, and these events between them.
fn two(between: &[Event]) -> Vec<Wait> {
    let mut stream = Stream::plain();
    let mut second = stream.events.clone();
    for event in &mut second {
        event.t += LATER;
        // Its times are later, too.
        event.fields.iter_mut().filter(|field| **field > D / 2 && **field < 2 * D).for_each(|field| *field += LATER);
    }
    stream.events.extend_from_slice(between);
    stream.events.extend(second);
    waits(&stream)
}

fn events(call: u64, waker: &str) -> [Event; 3] {
    let entered = D + LATER - MS;
    let mut run = event(Kind::Run, END + 9 * MS, 0, [END + 6 * MS, 120, 0, 2, 0, 0]);
    (run.tid, run.tgid, run.name[0], run.cpu) = (77, 77, b'x', 1);
    let own = 120;
    let mut held = event(Kind::Held, END + 9 * MS, 0, [END + MS, END + 5 * MS, 0, call, 55, own]);
    held.name[..waker.len()].copy_from_slice(waker.as_bytes());
    held.cpu = 1;
    [run, held, event(Kind::Between, entered, 3, [END, entered, 4 * MS, 7, 4 * MS, 9])]
}

#[test]
fn a_wait_brings_what_its_thread_did_since_the_one_before() {
    let both = two(&events(202, "writer"));
    assert_eq!((both.len(), &both[0].before), (2, &None));
    let before = both[1].before.as_ref().expect("it was told");
    let [held] = &*before.held else { panic!("{before:?}") };
    let block =
        Block { call: "futex".to_owned(), woken_by: "writer".to_owned(), count: 1, total_ns: 4 * MS, max_ns: 4 * MS };
    assert_eq!(held.block, Some(block));
    let ran: Vec<(&str, u64)> = held.culprits.iter().map(|of| (&*of.name, of.ran_ns)).collect();
    assert_eq!(ran, [("x", 3 * MS)], "it ran while the thread could have, not while that slept");
    let until_ns = D + LATER - MS;
    let sums =
        Between { from_ns: END, until_ns, runq_ns: 4 * MS, quota_ns: 7, blocked_ns: 4 * MS, ..Between::default() };
    assert_eq!(*before, Between { fault_ns: 9, fault_count: 3, held: before.held.clone(), ..sums });
}

#[test]
fn who_wakes_a_thread_is_named_for_locks_only() {
    // An interrupt wakes whoever waits for a device, in the time of any task.
    for (call, name) in [(74, "fsync"), (9_999, "call 9999"), (u64::MAX, "")] {
        let both = two(&events(call, "writer"));
        let block = both[1].before.as_ref().and_then(|before| before.held[0].block.clone()).expect("it slept");
        assert_eq!((&*block.call, &*block.woken_by), (name, ""));
    }
    let in_fault = two(&events(-2i64 as u64, "writer"));
    assert_eq!(in_fault[1].before.as_ref().expect("it was told").held[0].block, None);
}

#[test]
fn what_is_older_than_the_last_wait_is_not_of_this_period() {
    let [run, mut held, between] = events(202, "writer");
    held.t = END - 1;
    assert_eq!(two(&[run, held, between])[1].before.as_ref().expect("it was told").held, []);
}

#[test]
fn a_sleep_that_its_own_timer_ends_for_good_is_cut_off() {
    let mut stream = Stream::interrupted();
    stream.by_interval_timer();
    stream.signal(14, 0x80, 0, "");
    // Up to the end of the first call.
    let end = stream.events.iter().position(|event| event.kind == Kind::Return).expect("it is there");
    stream.events.truncate(end + 2);
    let wait = waits(&stream).remove(0);
    assert_eq!((wait.timer.as_deref(), wait.requested_ns, wait.outcome), (None, Some(1_000_000), Outcome::Signal));
    assert_eq!(wait.interruptions[0].by.to_string(), "SIGALRM of its own timer (setitimer)");
}
