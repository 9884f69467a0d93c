//! Stacks in a stream: of which wait they are, and their names.

use oversleep_record::observed::Losses;
use oversleep_why::calls::Arch;
use oversleep_why::recording::Meta;
use oversleep_why::stack::{events_of_stack, events_of_symbol};
use oversleep_why::{Builder, Event, Kind, Machine, Wait};

use crate::stream::{D, Stream};

fn waits(stream: &Stream) -> Vec<Wait> {
    let mut machine = Machine::new(Arch::X86_64);
    stream.events.iter().for_each(|event| machine.feed(event));
    machine.finish();
    machine.take()
}

#[test]
fn the_stacks_of_a_late_wait_belong_to_it_alone() {
    let mut stream = Stream::plain();
    stream.stacks(&[0xffff_ffff_8100_0010, 0xffff_ffff_8100_0020], &[0x55d0_0000_1000]);
    let wait = waits(&stream).remove(0);
    assert_eq!(wait.frames.kernel, [0xffff_ffff_8100_0010, 0xffff_ffff_8100_0020]);
    assert_eq!((wait.frames.user, wait.lost_events), (vec![0x55d0_0000_1000], 0));
    assert!(wait.parts.unattributed == 0 && wait.stack.is_empty(), "names come with the result");
    let mut both = stream.clone();
    both.events.extend(Stream::plain().events.into_iter().map(|mut event| {
        event.t += 10_000_000;
        event.fields =
            event.fields.map(|field| if field > D / 2 && field < 2 * D { field + 10_000_000 } else { field });
        event
    }));
    let waits = waits(&both);
    assert!(waits.len() == 2 && waits[1].frames.kernel.is_empty());
}

/// A wait that is late already when it is stopped brings its stacks then and at its end, which counts.
#[test]
fn a_wait_that_goes_on_has_the_stacks_of_its_end() {
    let stream = Stream::stopped();
    let mut both = Stream { events: Vec::new() };
    let mut count = 0;
    for event in stream.events {
        if event.kind == Kind::Return {
            count += 1;
            for (x, base) in [(0, 0x10), (1, 0x20)] {
                let mut head = Event::new(Kind::Stack, event.t, event.tid);
                head.x = x;
                both.events.extend(events_of_stack(head, &[base + count]));
            }
        }
        both.events.push(event);
    }
    let wait = waits(&both).remove(0);
    assert_eq!((wait.restarts, wait.frames.kernel, wait.frames.user), (1, vec![0x12], vec![0x22]));
}

#[test]
fn the_worst_waits_have_the_names_that_came_at_the_end() {
    let (kernel, user) = (0xffff_ffff_8100_0010, 0x55d0_0000_1000);
    let mut stream = Stream::plain();
    stream.stacks(&[kernel], &[user, 0x55d0_0000_2000]);
    stream.events.extend(events_of_symbol(2 * D, 0, kernel, "do_nanosleep+0x66"));
    stream.events.extend(events_of_symbol(2 * D, stream.events[0].tgid, user, "tick+0x10 (app)"));
    let (mut machine, mut builder) = (Machine::new(Arch::X86_64), Builder::new());
    for event in &stream.events {
        machine.feed(event);
        machine.take().iter().for_each(|wait| builder.add(wait, "app"));
    }
    machine.finish();
    machine.take().iter().for_each(|wait| builder.add(wait, "app"));
    let file = builder.finish(Meta::of(Arch::X86_64), None, Losses::default(), &machine);
    let stack = &file.observation.expect("it is of a program").worst[0].stack;
    assert_eq!(stack.user, ["tick+0x10 (app)", "0x55d000002000"]);
    assert_eq!(stack.kernel, ["do_nanosleep+0x66"]);
}
