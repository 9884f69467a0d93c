//! Who requested which timer resolution when.

use crate::support::{GAME, named, result, sleep};
use crate::write::Trace;

fn lines(trace: &Trace) -> Vec<(i64, String)> {
    let changes = result(&trace.write(&[]), None).changes;
    changes.into_iter().map(|change| (change.at_ns.0 / 1_000, format!("{}: {}", change.what, change.after))).collect()
}

#[test]
fn requests_are_a_time_line_beside_the_waits() {
    let mut trace = named(Trace::default());
    trace.request(500.0, 63, GAME, 10_000);
    trace.request(7_000.0, 63, GAME, 156_250);
    sleep(&mut trace, 1_000.0);
    let game = format!("a game with a long name.exe ({GAME})");
    assert_eq!(
        lines(&trace),
        [
            (499, format!("{game}: requests 1 ms")),
            (499, "resolution: 1 ms".to_owned()),
            (6_999, format!("{game}: requests nothing")),
            (6_999, "resolution: 15.6 ms".to_owned()),
        ]
    );
    assert_eq!(result(&trace.write(&[]), None).series.len(), 1);
}

#[test]
fn a_trace_without_switches_still_says_who_held_what() {
    let mut trace = Trace::default();
    let rundown = [10_000_u32, 5_000, 156_250, 1, 20_000].map(u32::to_le_bytes).concat();
    trace.power(5_000.0, (96, 1), &rundown);
    trace.request(5_001.0, 97, 4_321, 10_000);
    // The kernel requests something, the tick changes, and a process is known from the record's header alone.
    trace.power(6_000.0, (98, 1), &[5_000_u32, 0].map(u32::to_le_bytes).concat());
    trace.power(6_001.0, (95, 0), &5_000_u32.to_le_bytes());
    trace.power(7_000.0, (63, 0), &[20_000_u32, 0].map(u32::to_le_bytes).concat());
    trace.power(7_001.0, (62, 0), &[20_000_u32, 0].map(u32::to_le_bytes).concat());
    let file = result(&trace.write(&[]), None);
    assert!(file.series.is_empty());
    assert_eq!(
        lines(&trace),
        [
            (0, "resolution: 1 ms".to_owned()),
            (0, "the kernel: requests 2 ms".to_owned()),
            (0, "game.exe (4321): requests 1 ms".to_owned()),
            (1_000, "the kernel: requests 500 µs".to_owned()),
            (1_001, "resolution: 500 µs".to_owned()),
            (2_000, "process 66: requests 2 ms".to_owned()),
        ]
    );
}
