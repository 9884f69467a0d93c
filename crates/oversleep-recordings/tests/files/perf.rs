//! What only perf.data has: losses that are counted at the end, records of simpleperf's, other byte orders and versions.

use oversleep_record::ResultFile;
use oversleep_recordings::{recognise, replay};

use crate::support::{PERF, lacking, long_record, lossy_perf, piped_with, record, waits, with_more};

const LOST_SAMPLES: u32 = 13;

fn file(bytes: &[u8]) -> ResultFile {
    replay(recognise(bytes).unwrap(), &bytes).unwrap()
}

/// How many events were lost, and whether the file is damaged.
fn losses(bytes: &[u8]) -> (u64, bool) {
    let losses = file(bytes).observation.unwrap().losses;
    (losses.no_room, losses.is_truncated)
}

/// As perf (Linux 6.1 and later) counts them when it ends: without thread, time and CPU.
fn counted(count: u64) -> Vec<u8> {
    record(LOST_SAMPLES, &[&count.to_le_bytes()[..], &[0; 24], &[7, 0, 0, 0, 0, 0, 0, 0]].concat())
}

#[test]
fn losses_that_are_counted_at_the_end_have_no_time() {
    for count in [1, 2, 5] {
        let all = counted(5).repeat(count);
        let bytes = with_more(PERF, &[], &all);
        assert_eq!(file(&bytes).duration_ns, file(PERF).duration_ns);
        assert!(waits(&bytes) == waits(PERF));
        assert_eq!(losses(&bytes), (5 * count as u64, false));
        // A filter left these out.
        let left_out: Vec<u8> = all.chunks(48).flat_map(|one| [&one[..4], &[0, 0x80], &one[6..]].concat()).collect();
        assert_eq!(losses(&with_more(PERF, &[], &left_out)), (0, false));
    }
}

#[test]
fn losses_that_the_kernel_told_of_are_not_counted_twice() {
    let lossy = lossy_perf(PERF, 3);
    let (count, _) = losses(&lossy);
    assert_eq!(losses(&with_more(&lossy, &[], &counted(count))), (count, false));
    assert_eq!(losses(&with_more(&lossy, &[], &counted(count + 7))), (count + 7, false));
}

#[test]
fn records_of_simpleperf_may_be_long() {
    let bytes = with_more(PERF, &long_record(32_769, &[1; 70_000]), &[]);
    assert!(waits(&bytes) == waits(PERF));
    let described = |tracing: &[u8]| {
        let size = (tracing.len() as u32).to_le_bytes();
        long_record(32_777, &[&size[..], tracing].concat())
    };
    let stream = piped_with(PERF, described);
    assert!(waits(&stream) == waits(PERF));
}

#[test]
fn one_of_before_linux_3_4_is_read_and_one_of_a_big_endian_machine_named() {
    let old = [b"PERFFILE", &PERF[8..]].concat();
    assert!(waits(&old) == waits(PERF));
    // Its numbers have the other order, too.
    let mut big = [b"2ELIFREP", &PERF[8..]].concat();
    big[8..16].reverse();
    let says = recognise(&big).unwrap().open(&&big[..]).unwrap_err().to_string();
    assert!(says.contains("big-endian"), "{says}");
}

/// What describes its events lies behind them, so it isn't cut off.
#[test]
fn one_whose_last_record_is_damaged_says_what_it_lacks() {
    let mut damaged = record(9, &[0; 8]);
    damaged[6] = 0xf0;
    let bytes = with_more(&lacking(PERF, "sched_switch"), &[], &damaged);
    let says = recognise(&bytes).unwrap().open(&&bytes[..]).unwrap_err().to_string();
    assert!(says.contains("it has no events of sched:sched_switch") && !says.contains("cut off"), "{says}");
    assert!(waits(&with_more(PERF, &[], &damaged)) == waits(PERF));
}
