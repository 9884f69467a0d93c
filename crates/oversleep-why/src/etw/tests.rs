//! Made-up records of a sleep, in order and in any order.

use proptest::prelude::*;

use super::{Record, Stamped, Translator};
use crate::Machine;
use crate::calls::Arch;
use crate::culprit::{Why, policy_words};
use crate::wait::{Outcome, Wait};

const APP: u32 = 42;
const HOG: u32 = 7;
const MS: u64 = 1_000_000;
/// The start of the wait.
const T: u64 = 100 * MS;

fn switch(t: u64, cpu: u16, old: (u32, i8, i8, i8), new: u32) -> Stamped {
    let (old, old_priority, old_state, old_wait_reason) = old;
    let record = Record::Switch { new, old, new_priority: 8, old_priority, old_state, old_wait_reason };
    Stamped { t, cpu, thread: old, record }
}

fn at(t: u64, cpu: u16, thread: u32, record: Record) -> Stamped {
    Stamped { t, cpu, thread, record }
}

/// A sleep of 1 ms that ends at a tick 2 ms later, while a thread of higher priority has the CPU for 500 µs.
fn sleep() -> Vec<Stamped> {
    vec![
        at(T - 1, 0, 0, Record::Thread { process: 40, thread: APP }),
        at(T, 0, APP, Record::CallEnter),
        switch(T + 2_000, 0, (APP, 8, 5, 4), HOG),
        at(T + 3 * MS + 10_000, 0, HOG, Record::Ready { thread: APP }),
        at(T + 3 * MS + 12_000, 0, HOG, Record::Handler { began: T + 3 * MS + 8_000, is_interrupt: false }),
        at(T + 3 * MS + 14_000, 0, HOG, Record::Handler { began: T + 3 * MS, is_interrupt: true }),
        switch(T + 3 * MS + 510_000, 0, (HOG, 15, 5, 6), APP),
        at(T + 3 * MS + 512_000, 0, APP, Record::CallExit { status: 0 }),
    ]
}

fn waits(records: &[Stamped], want_ns: Option<u64>) -> Vec<Wait> {
    translated(records, Translator::new(want_ns, true)).0
}

/// The waits, and how many ended unseen.
fn translated(records: &[Stamped], mut translator: Translator) -> (Vec<Wait>, u64) {
    let (mut machine, mut events) = (Machine::new(Arch::X86_64), Vec::new());
    records.iter().for_each(|record| translator.feed(record, &mut events));
    events.iter().for_each(|event| machine.feed(event));
    machine.finish();
    (machine.take(), machine.counts().unfinished)
}

#[test]
fn a_sleep_is_split_into_tick_handler_run_queue_and_return() {
    let all = waits(&sleep(), Some(MS));
    let [wait] = &all[..] else { panic!("{all:#?}") };
    assert_eq!((wait.tid, wait.tgid, wait.outcome, wait.requested_ns), (APP, 40, Outcome::Timer, Some(MS)));
    assert_eq!(wait.call.as_deref(), Some("NtDelayExecution"));
    let parts = wait.parts;
    assert_eq!((parts.slack, parts.irqbody, parts.wake), (2 * MS as i64, 8_000, 2_000));
    assert_eq!((parts.runq, parts.ret, parts.unattributed), (500_000, 2_000, 0));
    assert_eq!(parts.sum(), wait.lateness_ns);
    let culprit = &wait.culprits[0];
    assert_eq!((culprit.tid, culprit.why, culprit.ran_ns), (HOG, Why::HigherPriority, 500_000));
    assert_eq!(policy_words(culprit.policy, culprit.prio), "priority 15");
}

#[test]
fn without_the_request_lateness_begins_with_the_interrupt() {
    let wait = &waits(&sleep(), None)[0];
    assert_eq!((wait.parts.slack, wait.parts.runq, wait.parts.api), (0, 500_000, 0));
    assert_eq!(wait.lateness_ns, 512_000);
}

#[test]
fn a_wait_that_an_object_ended_is_no_timer_s() {
    let mut records = sleep();
    records[2] = switch(T + 2_000, 0, (APP, 8, 5, 6), HOG);
    assert_eq!(waits(&records, None)[0].outcome, Outcome::Event);
    let last = records.len() - 1;
    records[last] = at(T + 3 * MS + 512_000, 0, APP, Record::CallExit { status: 0x102 });
    let timed_out = &waits(&records, None)[0];
    assert_eq!((timed_out.outcome, timed_out.call.as_deref()), (Outcome::Timer, Some("NtWaitFor")));
}

#[test]
fn a_lost_switch_is_not_guessed() {
    let mut records = sleep();
    records.remove(6);
    let wait = &waits(&records, Some(MS))[0];
    assert_eq!((wait.parts.runq, wait.parts.unattributed), (0, 502_000));
    assert_eq!(wait.parts.sum(), wait.lateness_ns);
}

#[test]
fn a_call_without_a_thread_is_of_the_one_that_its_cpu_switched_to() {
    let mut records = sleep();
    records.insert(1, switch(T - 10, 0, (0, 0, 5, 0), APP));
    records.iter_mut().for_each(|record| record.thread = u32::MAX);
    assert_eq!(waits(&records, Some(MS)), waits(&sleep(), Some(MS)));
}

#[test]
fn a_call_that_its_thread_ended_in_is_not_of_the_next_thread_of_that_number() {
    let mut records = sleep();
    let next = at(T + 1_500, 0, 0, Record::Thread { process: 41, thread: APP });
    records.splice(2..2, [at(T + 1_000, 0, APP, Record::ThreadEnd { thread: APP }), next]);
    assert_eq!(waits(&records, Some(MS)), []);
}

#[test]
fn without_calls_a_sleep_ends_when_its_thread_gets_a_cpu() {
    let all = translated(&sleep(), Translator::new(None, false)).0;
    assert_eq!((all.len(), all[0].lateness_ns, all[0].parts.runq, all[0].parts.ret), (1, 510_000, 500_000, 0));
    let mut records = sleep();
    records[2] = switch(T + 2_000, 0, (APP, 8, 5, 6), HOG);
    assert_eq!(translated(&records, Translator::new(None, false)).0, []);
}

#[test]
fn waits_beside_missing_records_are_given_up_and_counted() {
    let mut records = sleep();
    // HOG left its CPU unseen.
    records[6] = switch(T + 3 * MS + 510_000, 0, (HOG + 1, 15, 5, 6), APP);
    assert_eq!(translated(&records, Translator::new(Some(MS), true)), (vec![], 1));
    let mut records = sleep();
    records.insert(4, at(T + 3 * MS + 11_000, 1, 0, Record::Lost { until: T + 3 * MS + 12_000, count: 3 }));
    assert_eq!(translated(&records, Translator::new(Some(MS), true)), (vec![], 1));
}

fn any_record() -> impl Strategy<Value = Stamped> {
    let id = 0..4u32;
    let record = prop_oneof![
        (id.clone(), id.clone()).prop_map(|(process, thread)| Record::Thread { process, thread }),
        id.clone().prop_map(|thread| Record::ThreadEnd { thread }),
        (id.clone(), id.clone(), any::<i8>(), any::<i8>(), 0..8i8, any::<i8>()).prop_map(
            |(new, old, new_priority, old_priority, old_state, old_wait_reason)| Record::Switch {
                new,
                old,
                new_priority,
                old_priority,
                old_state,
                old_wait_reason,
            }
        ),
        id.clone().prop_map(|thread| Record::Ready { thread }),
        (any::<u64>(), any::<bool>()).prop_map(|(began, is_interrupt)| Record::Handler { began, is_interrupt }),
        Just(Record::CallEnter),
        prop_oneof![Just(0), Just(0x102), any::<u32>()].prop_map(|status| Record::CallExit { status }),
        (any::<u64>(), any::<u64>()).prop_map(|(until, count)| Record::Lost { until, count }),
        id.clone().prop_map(|process| Record::Process { process, name: [b'p'; 16] }),
        (id.clone(), id.clone()).prop_map(|(process, thread)| {
            let name = [b't'; 16];
            Record::ThreadName { process, thread, name }
        }),
    ];
    (prop_oneof![T..T + 1_000, any::<u64>()], 0..3u16, id, record).prop_map(|(t, cpu, thread, record)| Stamped {
        t,
        cpu,
        thread,
        record,
    })
}

proptest! {
    #[test]
    fn any_order_of_records_is_no_reason_to_panic(
        records in proptest::collection::vec(any_record(), 0..200),
        want_ns in proptest::option::of(any::<u64>()),
        has_calls in any::<bool>(),
    ) {
        let all = translated(&records, Translator::new(want_ns, has_calls)).0;
        for wait in all.iter().filter(|wait| wait.outcome == Outcome::Timer) {
            prop_assert_eq!(wait.parts.sum(), wait.lateness_ns);
        }
    }
}
