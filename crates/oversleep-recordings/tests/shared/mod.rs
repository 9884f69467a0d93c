//! What tests of every kind of file need.

pub mod damage;

use oversleep_recordings::Opened;
use oversleep_why::{Machine, Wait};

/// The waits of an opened recording.
pub fn waits_of(opened: &mut Opened<'_>) -> Vec<Wait> {
    let mut machine = Machine::new(opened.meta.arch);
    let (mut events, mut waits) = (Vec::new(), Vec::new());
    loop {
        opened.events(&mut events).unwrap();
        if events.is_empty() {
            break;
        }
        events.iter().for_each(|event| machine.feed(event));
        waits.append(&mut machine.take());
    }
    machine.finish();
    waits.append(&mut machine.take());
    waits
}
