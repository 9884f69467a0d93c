//! Who woke up, in traces of Windows.

use oversleep_record::Nanos;
use oversleep_record::observed::wakes::WokenBy;

use crate::support::{APP, GAME, HOG, named, result, sleeps};
use crate::write::{SLEEPS, Trace, WAITS};

#[test]
fn sleeps_have_a_rhythm() {
    let wakes = result(&sleeps(Trace::default()).write(&[]), None).observation.unwrap().wakes.unwrap();
    let rhythm = &wakes.rhythms[0];
    assert_eq!((&*rhythm.program, rhythm.tid, rhythm.count), ("a game with a long name.exe", APP, 39));
    assert_eq!((rhythm.p50_ns.0 / 10_000, rhythm.jitter()), (300, Nanos(0)));
    // The hog has the CPU meanwhile, and nobody knows what wakes it: no CPU idled but at first.
    let others: Vec<u32> = wakes.rhythms[1..].iter().map(|rhythm| rhythm.tid).collect();
    assert!(wakes.idle_count() == 1 && others == [HOG], "{wakes:?}");
}

#[test]
fn idle_cpus_are_woken_by_sleeps_and_by_what_is_not_recorded() {
    let mut trace = named(Trace::default());
    for n in 0..40 {
        let at = 1_000.0 + 3_000.0 * f64::from(n);
        trace.switch(1, at, 0, SLEEPS);
        trace.ready(1, at + 2_000.0, APP);
        trace.switch(1, at + 2_010.0, APP, WAITS);
    }
    // Of this one nobody knows what woke it.
    trace.switch(1, 200_000.0, 0, WAITS);
    trace.ready(1, 201_000.0, APP);
    trace.switch(1, 201_010.0, APP, WAITS);
    trace.switch(1, 202_000.0, HOG, WAITS);
    let wakes = result(&trace.write(&[]), None).observation.unwrap().wakes.unwrap();
    let rows: Vec<_> = wakes.idle.iter().map(|row| (row.tgid, row.by, row.timer.as_deref(), row.count)).collect();
    // Nor of its first turn.
    assert_eq!(rows, [(GAME, WokenBy::Timer, Some("Sleep"), 40), (GAME, WokenBy::Unseen, None, 2)]);
}
