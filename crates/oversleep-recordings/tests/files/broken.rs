//! Damaged recordings: nothing panics, and nothing is allocated by a stated size.

use oversleep_recordings::{recognise, replay};

use crate::support::{FILES, PERF, PERF_SCRIPT, TRACE_6, TRACE_7, TRACE_CMD, TRACEFS, piped};

fn reads(bytes: &[u8]) -> bool {
    let source = bytes;
    recognise(bytes).is_some_and(|format| match replay(format, &source) {
        Ok(_) => true,
        Err(fault) => {
            assert!(!fault.to_string().contains('\n'));
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

/// `OVERSLEEP_INPUTS=1000000 cargo test --release -p oversleep-recordings` tries that many of each.
#[test]
fn changed_bytes_are_read_or_refused() {
    let inputs = std::env::var("OVERSLEEP_INPUTS").ok().and_then(|inputs| inputs.parse().ok()).unwrap_or(20);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    for bytes in FILES.iter().map(|(_, bytes)| *bytes).chain([TRACEFS, TRACE_CMD, PERF_SCRIPT]) {
        for _ in 0..inputs {
            let mut changed = bytes.to_vec();
            // A short file is read fast; its pages lie behind its head.
            for _ in 0..1 + random() % 8 {
                let place = random() % if random() % 2 == 0 { 2_048 } else { changed.len() };
                changed[place] = match random() % 3 {
                    0 => 0xff,
                    1 => 0,
                    _ => random() as u8,
                };
            }
            reads(&changed);
        }
    }
}
