//! Recordings of other projects: `tests/others/README.md` says whose.

use oversleep_recordings::recognise;

use crate::support::waits;

const ATRACE: &[u8] = include_bytes!("../others/atrace.txt");
const RT_APP: &[u8] = include_bytes!("../others/rt-app.txt");
const CYCLES: &[u8] = include_bytes!("../others/cycles.perf.data");

#[test]
fn each_event_that_their_lines_have_is_counted() {
    for (bytes, switches, wake_ups) in [(ATRACE, 72, 44), (RT_APP, 263, 135)] {
        let opened = recognise(bytes).unwrap().open(&bytes).unwrap();
        let counts: Vec<(&str, u64)> = opened.counts.iter().map(|(name, count)| (&**name, *count)).collect();
        assert_eq!(counts, [("sched:sched_switch", switches), ("sched:sched_wakeup", wake_ups)]);
        assert!(!opened.losses.is_truncated);
        // Each wake-up is a wait for a CPU, unless its thread ran or the file ends before it runs.
        let all = waits(bytes);
        assert!(all.len() <= wake_ups as usize && all.len() + 2 >= wake_ups as usize, "{} of {wake_ups}", all.len());
        assert!(all.iter().all(|wait| wait.call.as_deref() == Some("wake-up")));
    }
}

#[test]
fn samples_of_the_processor_are_refused_as_such() {
    let says = recognise(CYCLES).unwrap().open(&CYCLES).unwrap_err().to_string();
    assert!(says.contains("it has no events of sched:sched_switch") && !says.contains("cut off"), "{says}");
}
