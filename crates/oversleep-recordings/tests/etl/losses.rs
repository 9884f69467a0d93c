//! Records that are missing: what they concern isn't told.

use crate::support::{named, open, result, sleep, sleeps, waits};
use crate::write::Trace;

fn busy() -> Trace {
    let mut trace = named(Trace::default());
    (0..200).for_each(|n| sleep(&mut trace, 1_000.0 + 3_000.0 * f64::from(n)));
    trace
}

#[test]
fn a_missing_buffer_is_a_gap_and_no_wait_is_later_for_it() {
    let trace = busy();
    let count = waits(&trace.write(&[])).len();
    for first in 2..9 {
        let file = trace.write(&[first, first + 1]);
        let all = waits(&file);
        assert!((count - 50..count).contains(&all.len()), "{first}: {}", all.len());
        assert!(all.iter().all(|wait| wait.lateness_ns == 510_000), "{first}");
        let losses = result(&file, None).observation.unwrap().losses;
        assert!(losses.no_room > 0, "{first}: {losses:?}");
    }
}

#[test]
fn a_missing_record_never_makes_a_wait_later() {
    let trace = sleeps(Trace::default());
    let mut fewer = 0;
    for number in 0..trace.count() {
        let all = waits(&trace.without_record(number).write(&[]));
        assert!(all.iter().all(|wait| wait.lateness_ns <= 510_000), "{number}: {all:#?}");
        assert!(all.iter().all(|wait| wait.parts.sum() == wait.lateness_ns), "{number}");
        fewer += usize::from(all.len() < 40);
    }
    // A switch or the record of waking is missing: then the wait isn't told.
    assert_eq!(fewer, 120);
}

#[test]
fn what_the_file_says_was_lost_is_told() {
    let trace = sleeps(Trace { lost: (3, 0), ..Trace::default() });
    assert_eq!(open(&&trace.write(&[])[..]).losses.no_room, 3);
    let mut file = trace.write(&[]);
    // The third buffer says that events were lost before it.
    let flags = 3 * 4_096 + 52;
    file[flags] |= 2;
    let all = waits(&file);
    assert!((1..40).contains(&all.len()), "{}", all.len());
    assert!(result(&file, None).observation.unwrap().losses.unfinished > 0);
}
