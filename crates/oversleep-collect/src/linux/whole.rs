//! Waits that went their usual way: the kernel program keeps their steps and sends them in one record when the call returns.

use oversleep_why::event::{Event, Kind};

use super::{u16_at, u32_at, u64_at};

/// Bytes of such a record, `struct whole` of the kernel program.
pub const WHOLE_BYTES: usize = BETWEEN_AT + BETWEEN_BYTES;
/// Bytes of a thread's state there: behind these, what it does now, since when it has no CPU, and its page fault.
pub const THREAD_BYTES: usize = BETWEEN_AT + 2 * BETWEEN_BYTES + 56 + 24;
/// Both have the steps there, and then what the thread did before its call.
const STEPS_AT: usize = 56;
const STEPS_BYTES: usize = 240;
const BETWEEN_AT: usize = STEPS_AT + STEPS_BYTES;
const BETWEEN_BYTES: usize = 56;
/// Where a thread's state says that its steps are kept.
const IS_KEPT_AT: usize = 48;
/// Where a record has its kind, as every event has it; this one's is no event's.
const KIND_AT: usize = 16;
const WHOLE: u16 = 0;

/// Events that one record stands for at most.
pub const EVENTS_MAX: usize = 8;

/// What is written down of a thread beside its steps.
struct Thread {
    tid: u32,
    tgid: u32,
    number: u32,
    entered: u64,
    request: u64,
    has_slept: u64,
}

/// The record, if it is one.
pub fn whole(record: &[u8]) -> Option<[u8; WHOLE_BYTES]> {
    let bytes: [u8; WHOLE_BYTES] = record.get(..WHOLE_BYTES)?.try_into().ok()?;
    (u16_at(&bytes, KIND_AT) == WHOLE).then_some(bytes)
}

/// When its call returned.
pub fn time_of(whole: &[u8; WHOLE_BYTES]) -> u64 {
    u64_at(whole, 0)
}

/// The events that it stands for, in the order of time.
pub fn events_of_whole(whole: &[u8; WHOLE_BYTES]) -> impl Iterator<Item = Event> {
    let thread = Thread {
        tid: u32_at(whole, 8),
        tgid: u32_at(whole, 12),
        number: u32_at(whole, 20),
        has_slept: u64::from(u32_at(whole, 28)),
        entered: u64_at(whole, 32),
        request: u64_at(whole, 40),
    };
    let mut returned = thread.event(Kind::Return, time_of(whole));
    (returned.cpu, returned.x) = (u16_at(whole, 18), u32_at(whole, 24));
    returned.fields[0] = u64_at(whole, 48);
    let mut steps = steps(&thread, &whole[STEPS_AT..]);
    // It went on where its call ended: otherwise it would have left a CPU meanwhile.
    steps[6].iter_mut().for_each(|running| running.cpu = returned.cpu);
    steps.into_iter().flatten().chain([returned])
}

/// What was kept of a wait that goes on.
pub fn events_of_thread(tid: u32, state: &[u8; THREAD_BYTES]) -> impl Iterator<Item = Event> {
    let thread = Thread {
        tid,
        tgid: u32_at(state, 52),
        number: u32_at(state, 32),
        has_slept: u64::from(state[47]),
        entered: u64_at(state, 0),
        request: u64_at(state, 8),
    };
    let kept = (state[IS_KEPT_AT] != 0).then(|| steps(&thread, &state[STEPS_AT..]));
    kept.into_iter().flatten().flatten()
}

impl Thread {
    fn event(&self, kind: Kind, t: u64) -> Event {
        let mut event = Event::new(kind, t, self.tid);
        event.tgid = self.tgid;
        event
    }
}

/// What the thread did before its call, and the steps up to having a CPU; those that were not seen are missing.
fn steps(thread: &Thread, at: &[u8]) -> [Option<Event>; EVENTS_MAX - 1] {
    const ON_STACK: u64 = 0;
    let (time, number) = (|n: usize| u64_at(at, 8 * n), |offset: usize| u32_at(at, offset));
    let [soft, hard, ids, form] = [time(1), time(2), time(10), u64::from(number(88))];
    let name = |offset: usize| at.get(offset..offset + 16).and_then(|name| name.try_into().ok()).unwrap_or_default();
    let (thread_name, is_late) = (name(120), number(220) != 0);
    let step = |kind, n: usize, x: u32, fields: [u64; 6]| {
        let event = Event { x, fields, ..thread.event(kind, time(n)) };
        (event.t != 0).then_some(event)
    };
    let mut armed = step(Kind::Arm, 0, thread.number, [thread.entered, thread.request, form, soft, hard, ids]);
    armed.iter_mut().for_each(|armed| (armed.cpu, armed.name) = (u16_at(at, 116), thread_name));
    let mut fired = step(Kind::Fire, 3, number(216), [time(4), 0, u64::from(number(92)), soft, hard, ON_STACK]);
    fired.iter_mut().for_each(|fired| (fired.cpu, fired.name) = (u16_at(at, 118), name(200)));
    let mut context = step(Kind::Context, 3, number(92), [17, 18, 19, 20, 21, 22].map(time)).filter(|_| is_late);
    context.iter_mut().for_each(|context| (context.cpu, context.name) = (u16_at(at, 118), name(184)));
    let mut waking = step(Kind::Waking, 5, thread.number, [0, thread.entered, 0, time(28), time(29), ids]);
    waking.iter_mut().for_each(|waking| waking.name = thread_name);
    let wakeup =
        [u64::from(number(100)), time(8), signed(number(104)), u64::from(number(108)), u64::from(number(112)), 0];
    let wakeup = step(Kind::Wakeup, 6, number(96), wakeup);
    let mut running = step(Kind::In, 7, 0, [thread.has_slept, time(9), 0, 0, 0, 0]);
    running.iter_mut().for_each(|running| running.cpu = number(96) as u16);
    [before(thread, time(0), &at[STEPS_BYTES..]), armed, fired, context, waking, wakeup, running]
}

/// What the thread did since its wait before, if that was seen.
fn before(thread: &Thread, armed: u64, at: &[u8]) -> Option<Event> {
    let fields = [0, 8, 16, 24, 32, 40].map(|offset| u64_at(at, offset));
    let event = Event { x: u32_at(at, 48), fields, ..thread.event(Kind::Between, armed) };
    (fields[1] != 0).then_some(event)
}

/// A priority, as events have it.
fn signed(number: u32) -> u64 {
    i64::from(number as i32) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record as the kernel program lays it out: each field is its own place.
    fn record(steps_seen: &[usize]) -> [u8; WHOLE_BYTES] {
        let mut bytes = [0; WHOLE_BYTES];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(0, &9_000u64.to_le_bytes());
        put(8, &12u32.to_le_bytes());
        put(12, &7u32.to_le_bytes());
        put(18, &3u16.to_le_bytes());
        put(20, &230u32.to_le_bytes());
        put(24, &6u32.to_le_bytes());
        put(28, &1u32.to_le_bytes());
        put(32, &1_000u64.to_le_bytes());
        put(40, &500u64.to_le_bytes());
        put(48, &(-4i64).to_le_bytes());
        for &n in steps_seen {
            put(STEPS_AT + 8 * n, &(1_100 + 100 * n as u64).to_le_bytes());
        }
        put(STEPS_AT + 104, &(-1i32).to_le_bytes());
        put(STEPS_AT + 116, &2u16.to_le_bytes());
        put(STEPS_AT + 118, &1u16.to_le_bytes());
        put(STEPS_AT + 120, b"app");
        bytes
    }

    #[test]
    fn a_whole_wait_is_the_events_of_its_steps() {
        let whole = whole(&record(&[0, 1, 2, 3, 5, 6, 7])).expect("its kind is 0");
        let events: Vec<Event> = events_of_whole(&whole).collect();
        let kinds: Vec<Kind> = events.iter().map(|event| event.kind).collect();
        assert_eq!(kinds, [Kind::Arm, Kind::Fire, Kind::Waking, Kind::Wakeup, Kind::In, Kind::Return]);
        let times: Vec<u64> = events.iter().map(|event| event.t).collect();
        assert_eq!(times, [1_100, 1_400, 1_600, 1_700, 1_800, 9_000]);
        assert!(events.iter().all(|event| (event.tid, event.tgid) == (12, 7)));
        assert_eq!(events.iter().map(|event| event.cpu).collect::<Vec<_>>(), [2, 1, 0, 0, 3, 3]);
        assert_eq!((events[0].x, &events[0].fields[..5]), (230, &[1_000, 500, 0, 1_200, 1_300][..]));
        assert_eq!((oversleep_why::event::text(&events[0].name), events[4].fields[0]), ("app".to_owned(), 1));
        assert_eq!((events[3].fields[2] as i32, events[5].fields[0] as i64, events[5].x), (-1, -4, 6));
    }

    #[test]
    fn what_the_thread_did_before_comes_first() {
        let mut bytes = record(&[0, 1, 2, 3, 5, 6, 7]);
        for (n, value) in (0..).zip([400u64, 1_000, 1, 2, 3, 4]) {
            bytes[BETWEEN_AT + 8 * n..][..8].copy_from_slice(&value.to_le_bytes());
        }
        bytes[BETWEEN_AT + 48] = 9;
        let events: Vec<Event> = events_of_whole(&whole(&bytes).expect("its kind is 0")).collect();
        assert_eq!((events.len(), events[0].kind, events[0].t, events[0].x), (7, Kind::Between, 1_100, 9));
        assert_eq!((events[0].tid, events[0].fields), (12, [400, 1_000, 1, 2, 3, 4]));
    }

    #[test]
    fn a_late_timer_brings_what_its_cpu_did_before() {
        let mut late = record(&[0, 1, 2, 3, 5, 6, 7, 17, 22]);
        late[STEPS_AT + 220] = 1;
        late[STEPS_AT + 216] = 99;
        late[STEPS_AT + 184..][..4].copy_from_slice(b"eth0");
        late[STEPS_AT + 200..][..3].copy_from_slice(b"hog");
        let events: Vec<Event> = events_of_whole(&whole(&late).expect("its kind is 0")).collect();
        assert_eq!((events[1].kind, events[1].x, &events[1].name[..4]), (Kind::Fire, 99, &b"hog\0"[..]));
        let context = events[2];
        assert_eq!((context.kind, context.t, context.cpu), (Kind::Context, events[1].t, events[1].cpu));
        assert_eq!((context.fields, &context.name[..4]), ([2_800, 0, 0, 0, 0, 3_300], &b"eth0"[..]));
    }

    #[test]
    fn a_step_that_was_not_seen_is_missing() {
        let whole = whole(&record(&[0, 1, 2, 6, 7])).expect("its kind is 0");
        let kinds: Vec<Kind> = events_of_whole(&whole).map(|event| event.kind).collect();
        assert_eq!(kinds, [Kind::Arm, Kind::Wakeup, Kind::In, Kind::Return]);
    }

    #[test]
    fn other_records_are_none() {
        let mut other = record(&[0]);
        other[KIND_AT] = 7;
        assert!(whole(&other).is_none() && whole(&other[..88]).is_none());
    }

    #[test]
    fn what_goes_on_is_told_up_to_there() {
        let mut state = [0; THREAD_BYTES];
        state[STEPS_AT..WHOLE_BYTES].copy_from_slice(&record(&[0, 1, 2])[STEPS_AT..]);
        state[52] = 7;
        assert_eq!(events_of_thread(12, &state).count(), 0, "its steps were sent");
        state[IS_KEPT_AT] = 1;
        let events: Vec<Event> = events_of_thread(12, &state).collect();
        assert_eq!((events.len(), events[0].kind, events[0].tid, events[0].tgid), (1, Kind::Arm, 12, 7));
    }
}
