//! Streams that no kernel delivers: any order, any fields, gaps, damage. Nothing panics, and sums stay exact.

use std::fmt::Debug;
use std::io::Read;

use oversleep_record::ResultFile;
use oversleep_record::observed::Losses;
use oversleep_why::calls::Arch;
use oversleep_why::recording::{Meta, Reader, Recorder, RecordingError};
use oversleep_why::trace::TraceWriter;
use oversleep_why::{Builder, Event, Kind, Machine, Outcome, Part, Wait};
use proptest::prelude::*;

use crate::stream::{D, Stream};

fn meta() -> Meta {
    Meta { kernel: "6.18".to_owned(), target: "app".to_owned(), ..Meta::of(Arch::X86_64) }
}

/// Through the machine, a result and a trace.
fn through(events: &[Event]) -> Vec<Wait> {
    let mut machine = Machine::new(Arch::X86_64);
    let mut builder = Builder::new();
    for event in events {
        builder.saw(event.t);
        if event.kind == Kind::Steal {
            builder.stole(event.t, event.fields[0]);
        }
        machine.feed(event);
    }
    machine.finish();
    let waits = machine.take();
    let mut trace = TraceWriter::new(Vec::new()).unwrap();
    for wait in &waits {
        builder.add(wait, "app");
        trace.add(wait).unwrap();
    }
    let written = trace.finish().unwrap();
    serde_json::from_slice::<serde_json::Value>(&written).expect("a trace is JSON");
    let file = builder.finish(meta(), None, Losses::default(), &machine);
    let read = ResultFile::read(&file.write()).expect("a result reads back");
    assert!(read.write() == file.write(), "{file:#?}");
    waits
}

fn check(waits: &[Wait]) {
    for wait in waits.iter().filter(|wait| wait.outcome == Outcome::Timer) {
        assert_eq!(wait.parts.sum(), wait.lateness_ns, "{wait:#?}");
        let is_below = |&part: &Part| part != Part::Api && wait.parts.get(part) < 0;
        assert!(wait.lateness_ns < 0 || !Part::ALL.iter().any(is_below), "{wait:#?}");
    }
}

fn any_event() -> impl Strategy<Value = Event> {
    let near = prop_oneof![Just(0), D - 3_000..D + 3_000, any::<u64>()];
    let fields = prop::array::uniform6(prop_oneof![near.clone(), 0..6u64, Just(-516i64 as u64)]);
    let number = prop_oneof![Just(230u32), Just(219), Just(0), 0..8u32, any::<u32>()];
    (1..=17u16, near, 0..3u16, 1..4u32, number, fields).prop_map(|(kind, t, cpu, tid, x, fields)| {
        let kind = Kind::of(kind).expect("all numbers up to 17 are kinds");
        Event { cpu, tid, x, fields, ..Event::new(kind, t, tid) }
    })
}

/// A real wait whose events are shuffled, lost, doubled and changed.
fn damaged() -> impl Strategy<Value = Vec<Event>> {
    let streams = prop_oneof![Just(Stream::plain()), Just(Stream::stopped()), Just(Stream::timerfd())];
    let changes = prop::collection::vec((any::<prop::sample::Index>(), 0..4u8, -100_000..100_000i64), 0..6);
    (streams, changes).prop_map(|(stream, changes)| {
        let mut events = stream.events;
        for (index, what, by) in changes {
            if events.is_empty() {
                break;
            }
            let at = index.index(events.len());
            match what {
                0 => drop(events.remove(at)),
                1 => events[at].t = events[at].t.wrapping_add_signed(by),
                2 => events.insert(at, events[at]),
                _ => {
                    let other = (at + 1) % events.len();
                    events.swap(at, other);
                }
            }
        }
        events
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn any_events_in_any_order_are_split_exactly(events in prop::collection::vec(any_event(), 0..60)) {
        check(&through(&events));
    }

    #[test]
    fn damaged_streams_are_split_exactly(events in damaged()) {
        check(&through(&events));
    }

    #[test]
    fn a_recording_gives_back_every_event(events in prop::collection::vec(any_event(), 0..60)) {
        let mut recorder = Recorder::new(Vec::new(), &meta()).unwrap();
        for events in events.chunks(7) {
            recorder.write(events).unwrap();
        }
        let bytes = recorder.finish(Vec::new(), Vec::new()).unwrap();
        let mut reader = Reader::new(&bytes).unwrap();
        prop_assert_eq!(&reader.meta, &meta());
        prop_assert_eq!(reader.by_ref().collect::<Vec<_>>(), events);
        prop_assert!(!reader.is_broken());
    }

    #[test]
    fn a_truncated_or_damaged_recording_is_read_up_to_there(
        events in damaged(), cut in any::<prop::sample::Index>(), flip in any::<prop::sample::Index>(), bit in 0..8u8,
    ) {
        let mut recorder = Recorder::new(Vec::new(), &meta()).unwrap();
        recorder.write(&events).unwrap();
        let mut bytes = recorder.finish(Vec::new(), Vec::new()).unwrap();
        let whole: Vec<Event> = Reader::new(&bytes).unwrap().collect();
        fn in_file(bytes: &[u8]) -> Result<Reader<impl Read + Debug>, RecordingError> {
            Reader::in_file(std::io::Cursor::new(bytes)).unwrap()
        }
        prop_assert_eq!(in_file(&bytes).unwrap().collect::<Vec<_>>(), whole.clone());
        let cut = &bytes[..cut.index(bytes.len())];
        prop_assert_eq!(in_file(cut).map(Iterator::collect::<Vec<_>>), Reader::new(cut).map(Iterator::collect));
        if let Ok(reader) = Reader::new(cut) {
            let some: Vec<Event> = reader.collect();
            prop_assert_eq!(&whole[..some.len()], &some[..]);
        }
        let at = flip.index(bytes.len());
        bytes[at] ^= 1 << bit;
        if let Ok(reader) = Reader::new(&bytes) {
            check(&through(&reader.collect::<Vec<_>>()));
        }
    }
}

/// Half the range of numbers away from the event's time, which is the farthest: found by the fuzz target `events`.
#[test]
fn the_farthest_time_is_not_taken_for_one_that_was_not_seen() {
    const HALF: u64 = 1 << 63;
    let times = [0, 1, HALF - 1, HALF, HALF + 1, u64::MAX];
    let far =
        |&t: &u64| [0, t, t ^ HALF, u64::MAX].map(|field| Event { fields: [field; 6], ..Event::new(Kind::Arm, t, 1) });
    let events: Vec<Event> = times.iter().flat_map(far).collect();
    let mut recorder = Recorder::new(Vec::new(), &meta()).unwrap();
    recorder.write(&events).unwrap();
    let bytes = recorder.finish(Vec::new(), Vec::new()).unwrap();
    assert_eq!(Reader::new(&bytes).unwrap().collect::<Vec<_>>(), events);
}

#[test]
fn a_plain_wait_takes_thirty_bytes_an_event_after_the_first() {
    let one = Stream::plain().events;
    let mut many = Vec::new();
    for n in 0..100u64 {
        many.extend(one.iter().map(|event| {
            let mut event = *event;
            event.t += n * 2_000_000;
            event.fields =
                event.fields.map(|field| if field > D / 2 && field < 2 * D { field + n * 2_000_000 } else { field });
            event
        }));
    }
    let mut recorder = Recorder::new(Vec::new(), &meta()).unwrap();
    recorder.write(&many).unwrap();
    let bytes = recorder.finish(Vec::new(), Vec::new()).unwrap();
    assert!(bytes.len() / many.len() <= 30, "{} bytes for {} events", bytes.len(), many.len());
}

#[test]
fn another_file_or_a_later_version_is_told_apart() {
    assert!(Reader::new(b"{}").unwrap_err().to_string().contains("no recording"));
    assert!(Reader::new(b"oversleep-why 7\n{}\n").unwrap_err().to_string().contains("(format 7)"));
    assert!(Reader::new(b"oversleep-why 12\n{}\n").unwrap_err().to_string().contains("(format 12)"));
    assert!(Reader::new(b"oversleep-why 1\n{\"arch\":\"vax\"}\n").unwrap_err().to_string().contains("second line"));
    assert!(Reader::new(b"oversleep-why 1\n").is_err());
}

#[test]
fn memory_stays_however_many_threads_timers_and_cpus_a_stream_names() {
    let mut machine = Machine::new(Arch::X86_64);
    for n in 0..70_000u32 {
        let mut arm = Stream::plain().events[0];
        (arm.tid, arm.tgid, arm.cpu) = (n, n, n as u16);
        machine.feed(&arm);
        for kind in [Kind::Fire, Kind::Run, Kind::Set, Kind::Fork, Kind::Steal] {
            let mut event = Event { cpu: n as u16, ..Event::new(kind, u64::from(n), n) };
            event.fields = [1, u64::from(n), 0, 0, 0, if kind == Kind::Set { u64::from(n) } else { 1 }];
            machine.feed(&event);
        }
    }
    assert!(machine.processes().len() <= 65_536);
    assert_eq!(machine.counts().events, 420_000);
}
