//! Events on their way from the tracer to the process that reads them.

use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use oversleep_why::{Event, Kind};

use crate::linux::process::lock::lock;

/// The most events that wait for a reader that is stopped: 23 MB.
const EVENTS_MAX: usize = 1 << 18;

/// Events that were not sent yet. A reader that is slow or stopped doesn't delay the program.
pub struct Stream {
    waiting: Mutex<Waiting>,
    is_open: AtomicBool,
}

#[derive(Default)]
struct Waiting {
    events: Vec<Event>,
    lost: u64,
}

impl Stream {
    pub fn new() -> Stream {
        Stream { waiting: Mutex::default(), is_open: AtomicBool::new(true) }
    }

    /// Whether anyone reads.
    pub fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Relaxed)
    }

    /// Nobody reads any more.
    pub fn close(&self) {
        self.is_open.store(false, Ordering::Relaxed);
    }

    /// Adds events.
    pub fn add(&self, add: impl FnOnce(&mut Vec<Event>)) {
        let mut waiting = lock(&self.waiting);
        let before = waiting.events.len();
        add(&mut waiting.events);
        if before >= EVENTS_MAX {
            waiting.lost += (waiting.events.len() - before) as u64;
            waiting.events.truncate(before);
        }
    }

    /// Sends what waits.
    ///
    /// # Errors
    /// The reader is gone.
    pub fn send(&self, to: &mut UnixStream) -> io::Result<()> {
        let Waiting { events, lost } = std::mem::take(&mut *lock(&self.waiting));
        let mut bytes: Vec<u8> = events.iter().flat_map(Event::to_bytes).collect();
        if let Some(last) = events.last().filter(|_| lost != 0) {
            let fields = [lost, 0, 0, 0, 0, 0];
            bytes.extend(Event { fields, ..Event::new(Kind::Lost, last.t, 0) }.to_bytes());
        }
        to.write_all(&bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use oversleep_why::event::EVENT_BYTES;

    use super::*;

    #[test]
    fn what_a_stopped_reader_misses_is_counted() {
        let stream = Stream::new();
        for t in 0..EVENTS_MAX as u64 + 3 {
            stream.add(|events| events.push(Event::new(Kind::Gone, t, 1)));
        }
        let (mut to, mut from) = UnixStream::pair().expect("sockets");
        let reader = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            from.read_to_end(&mut bytes).expect("it ends");
            bytes
        });
        stream.send(&mut to).expect("it is read");
        drop(to);
        let bytes = reader.join().expect("no panic");
        assert_eq!(bytes.len(), (EVENTS_MAX + 1) * EVENT_BYTES);
        let last = Event::of_bytes(&bytes[bytes.len() - EVENT_BYTES..]).expect("whole");
        assert_eq!((last.kind, last.fields[0], last.t), (Kind::Lost, 3, EVENTS_MAX as u64 - 1));
    }
}
