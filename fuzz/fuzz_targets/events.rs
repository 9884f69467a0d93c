//! Any bytes as a recording of `oversleep why`, or as the events in one.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oversleep_record::ResultFile;
use oversleep_record::observed::Losses;
use oversleep_report::terminal::{self, Detail};
use oversleep_why::calls::Arch;
use oversleep_why::event::EVENT_BYTES;
use oversleep_why::recording::{Meta, Reader, Recorder};
use oversleep_why::{Builder, Event, Kind, Machine, Outcome};

fuzz_target!(|bytes: &[u8]| {
    let (meta, events) = match Reader::new(bytes) {
        Ok(reader) => (reader.meta.clone(), reader.collect::<Vec<_>>()),
        Err(_) => (Meta::of(Arch::X86_64), bytes.chunks(EVENT_BYTES).filter_map(Event::of_bytes).collect()),
    };
    let mut recorder = Recorder::new(Vec::new(), &meta).expect("memory can be written");
    recorder.write(&events).expect("memory can be written");
    let written = recorder.finish().expect("memory can be written");
    let again = Reader::new(&written).expect("what was written is read");
    assert!(again.eq(events.iter().copied()), "a recording gives back every event");
    let (mut machine, mut builder) = (Machine::new(meta.arch), Builder::new());
    for event in &events {
        builder.saw(event.t);
        if event.kind == Kind::Steal {
            builder.stole(event.t, event.fields[0]);
        }
        machine.feed(event);
    }
    machine.finish();
    for wait in machine.take() {
        assert!(wait.outcome != Outcome::Timer || wait.parts.sum() == wait.lateness_ns, "{wait:?}");
        builder.add(&wait, &wait.thread);
    }
    let file = builder.finish(meta, None, Losses::default(), &machine);
    assert!(!terminal::report(&file, 100, Detail::Full).is_empty());
    ResultFile::read(&file.write()).expect("a result reads back");
});
