//! What a file's reader says.

use oversleep_record::ResultFile;
use oversleep_recordings::{Opened, recognise};
use oversleep_why::Wait;
use oversleep_why::names::Names;
use oversleep_why::session::Session;

use crate::shared::waits_of;
use crate::write::{SLEEPS, Trace, WAITS};

pub const GAME: u32 = 100;
pub const APP: u32 = 101;
pub const HOG: u32 = 201;

pub fn open<'a>(file: &'a &'a [u8]) -> Opened<'a> {
    let format = recognise(file).unwrap();
    assert_eq!(format.name, "an ETL file of Windows");
    format.open(file).unwrap_or_else(|fault| panic!("{fault}"))
}

/// Its waits, without what the program meant to wait.
pub fn waits(file: &[u8]) -> Vec<Wait> {
    waits_of(&mut open(&file))
}

/// Its result, for a program that meant to wait that long.
pub fn result(file: &[u8], want_ns: Option<u64>) -> ResultFile {
    let opened = open(&file);
    let session = Session::new(opened.meta.arch, Names::of_recording(&opened.meta), None, want_ns);
    opened.into_result(session).unwrap()
}

/// A trace of a game and of another program, whose threads are named.
pub fn named(mut trace: Trace) -> Trace {
    trace.process(1.0, GAME, "a game with a long name.exe");
    trace.process(1.0, 200, "hog.exe");
    trace.thread(2.0, (GAME, APP), None);
    trace.thread(2.0, (200, HOG), Some("worker"));
    trace.switch(1, 10.0, APP, (0, 0));
    trace
}

/// A sleep that a tick ends after 2 ms, on a CPU that another thread keeps for 500 µs more.
pub fn sleep(trace: &mut Trace, at: f64) {
    trace.switch(1, at, HOG, SLEEPS);
    trace.ready(1, at + 2_010.0, APP);
    trace.handler(1, (at + 2_008.0, at + 2_012.0), 68);
    trace.handler(1, (at + 2_000.0, at + 2_014.0), 67);
    trace.switch(1, at + 2_510.0, APP, WAITS);
}

/// 40 of them.
pub fn sleeps(trace: Trace) -> Trace {
    let mut trace = named(trace);
    (0..40).for_each(|n| sleep(&mut trace, 1_000.0 + 3_000.0 * f64::from(n)));
    trace
}

/// What other crates' tests read: a game that sleeps beside a hog, and requests 1 ms meanwhile, so that each of its sleeps
/// ends at the second tick.
pub fn game() -> Vec<u8> {
    let mut trace = sleeps(Trace { is_packed: true, ..Trace::default() });
    trace.request(500.0, 63, GAME, 10_000);
    trace.request(123_000.0, 63, GAME, 156_250);
    trace.write(&[])
}
