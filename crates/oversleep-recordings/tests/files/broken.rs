//! Damaged recordings: nothing panics, and nothing is allocated by a stated size.

use oversleep_recordings::{recognise, replay};

use crate::shared::damage;
use crate::support::{
    FILES, PERF, PERF_SCRIPT, TRACE_6, TRACE_7, TRACE_CMD, TRACEFS, few_lines, few_pages, few_records, piped, plain_7,
    version_7, waits, zipped,
};

fn reads(bytes: &[u8]) -> bool {
    let source = bytes;
    recognise(bytes).is_some_and(|format| match replay(format, &source) {
        Ok(_) => true,
        Err(fault) => {
            let says = fault.to_string();
            assert!(says.len() < 300 && !says.contains(char::is_control), "{says}");
            false
        }
    })
}

#[test]
fn every_truncation_is_read_or_refused() {
    let text = [TRACEFS, TRACE_CMD, PERF_SCRIPT];
    for bytes in FILES.iter().map(|(_, bytes)| *bytes).chain([&piped(PERF)[..]]).chain(text) {
        // Most of these end within the head, which is read at once.
        (0..16 << 10).step_by(if std::env::var_os("OVERSLEEP_INPUTS").is_some() { 1 } else { 97 }).for_each(|size| {
            reads(&bytes[..size.min(bytes.len())]);
        });
        (16 << 10..bytes.len()).step_by(bytes.len() / 16).for_each(|size| {
            reads(&bytes[..size]);
        });
    }
    assert!(reads(&piped(PERF)[..700_000]) && !reads(&TRACE_7[..60]));
}

/// Up to where there is a switch, the message says that the file is cut off, and what to do.
#[test]
fn a_file_that_is_cut_off_says_so() {
    let mut refused = 0;
    for (bytes, way) in [(TRACE_6, "trace-cmd"), (TRACE_7, "trace-cmd"), (PERF, "linux"), (&*piped(PERF), "linux")] {
        for size in [12, 60, 100, 300, 1_000, 6_000, 40_000, 70_000] {
            let cut = &bytes[..size];
            let Err(fault) = replay(recognise(cut).unwrap(), &cut) else { continue };
            let says = fault.to_string();
            let begin = format!("it is cut off: its {size} B end before ");
            assert!(says.starts_with(&begin) && says.contains(way), "{size}: {says}");
            refused += 1;
        }
    }
    assert!(refused > 16, "{refused}");
}

/// Version 7 says behind the events where they are. Without that, they are found from the head on.
#[test]
fn version_7_is_read_up_to_where_it_is_cut_off() {
    // Its events lie from 4,096 on, the second CPU's from 16,384 on, and their places from 76,574 on.
    let waits_of = |size: usize| {
        let cut = &TRACE_7[..size];
        let file = replay(recognise(cut).unwrap(), &cut).unwrap();
        assert!(file.observation.unwrap().losses.is_truncated, "{size}");
        waits(cut)
    };
    let whole = waits(TRACE_7);
    assert!(waits_of(76_600) == whole && waits_of(76_574) == whole);
    let fewer = [30_000, 60_000].map(|size| waits_of(size).len());
    assert!(0 < fewer[0] && fewer[0] < fewer[1] && fewer[1] < whole.len(), "{fewer:?}");
    let plain = plain_7();
    assert!(waits(&plain) == whole);
    let cut = &plain[..plain.len() - 40];
    assert!(waits(cut) == whole, "plain pages");
}

/// A CPU without events leaves no trace: the others' numbers are those of their idle tasks.
#[test]
fn the_cpus_of_a_version_7_that_is_cut_off_have_their_numbers() {
    let cpus = |bytes: &[u8]| {
        let mut opened = recognise(bytes).unwrap().open(&bytes).unwrap();
        let mut events = Vec::new();
        opened.events(&mut events).unwrap();
        events.iter().map(|event| event.cpu).collect::<std::collections::BTreeSet<_>>()
    };
    let mut renamed = plain_7();
    for at in 0..renamed.len() - 9 {
        if let Some(digit) = renamed[at..at + 9].strip_prefix(b"swapper/").map(|digit| digit[0]) {
            renamed[at + 8] = digit + 3;
        }
    }
    let is = |cpus: &[u16]| cpus.iter().copied().collect();
    assert_eq!(cpus(&renamed), is(&[0, 1]), "it says them");
    assert_eq!(cpus(&renamed[..renamed.len() - 40]), is(&[3, 4]));
}

/// Each kind of file is damaged so often. In an optimised build, and within so much memory that nothing can be allocated by
/// a size that a file states:
/// `ulimit -v 1000000; OVERSLEEP_INPUTS=1000000 cargo test --release -p oversleep-recordings damaged`.
fn damaged(good: &[u8]) {
    assert!(reads(good));
    damage::each(good, damage::inputs(200), |bad| {
        reads(bad);
    });
}

#[test]
fn damaged_perf_data() {
    damaged(&few_records(PERF));
}

#[test]
fn damaged_perf_data_of_a_pipe() {
    damaged(&piped(&few_records(PERF)));
}

#[test]
fn damaged_perf_data_that_is_compressed() {
    damaged(&zipped(&few_records(PERF)));
}

#[test]
fn damaged_trace_dat_6() {
    damaged(&few_pages(TRACE_6));
}

#[test]
fn damaged_trace_dat_7() {
    damaged(&version_7(&few_pages(TRACE_6)));
}

#[test]
fn damaged_text_of_tracefs() {
    damaged(&few_lines(TRACEFS));
}

#[test]
fn damaged_text_of_trace_cmd() {
    damaged(&few_lines(TRACE_CMD));
}

#[test]
fn damaged_text_of_perf() {
    damaged(&few_lines(PERF_SCRIPT));
}
