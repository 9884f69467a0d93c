//! Who woke up, of each form of the same run.

use oversleep_record::observed::wakes::{Wakes, WokenBy};
use oversleep_recordings::{recognise, replay};

use crate::support::{FILES, PERF, TRACE_6, TRACE_7, TRACEFS, lacking};

fn wakes(bytes: &[u8]) -> Wakes {
    let file = replay(recognise(bytes).unwrap(), &bytes).unwrap();
    file.observation.unwrap().wakes.unwrap()
}

fn lines(wakes: &Wakes) -> Vec<String> {
    let row = |of: &oversleep_record::observed::wakes::IdleWakes| {
        format!("{} {:?} {} {}", of.program, of.by, of.timer.as_deref().unwrap_or("-"), of.count)
    };
    let rhythm = |of: &oversleep_record::observed::wakes::Rhythm| {
        format!("{} {} {} {}", of.thread, of.count, of.p50_ns, of.jitter())
    };
    wakes.idle.iter().map(row).chain(wakes.rhythms.iter().map(rhythm)).collect()
}

#[test]
fn show() {
    for bytes in [TRACE_6, TRACE_7, PERF, TRACEFS] {
        let wakes = wakes(bytes);
        println!("{} {:#?}", wakes.span_ns, lines(&wakes));
    }
}
