//! Damaged traces: nothing panics, nothing is allocated by a stated size, and one sentence says what is wrong.

use oversleep_recordings::{recognise, replay};

use crate::shared::damage;
use crate::support::{GAME, sleeps, waits};
use crate::write::{Header, Trace};

fn reads(bytes: &[u8]) -> bool {
    recognise(bytes).is_some_and(|format| match replay(format, &bytes) {
        Ok(_) => true,
        Err(fault) => {
            let says = fault.to_string();
            assert!(says.len() < 300 && !says.contains(char::is_control), "{says}");
            false
        }
    })
}

fn files() -> [Vec<u8>; 2] {
    [false, true].map(|is_packed| {
        let mut trace = sleeps(Trace { is_packed, ..Trace::default() });
        trace.request(700.0, 63, GAME, 10_000);
        trace.write(&[])
    })
}

#[test]
fn every_truncation_is_read_or_refused() {
    let every = std::env::var_os("OVERSLEEP_INPUTS").is_some();
    for file in files() {
        for size in (0..file.len()).step_by(if every { 1 } else { 61 }) {
            let cut = &file[..size];
            let is_read = reads(cut);
            assert!(!is_read || size > 4_096);
        }
        let cut = &file[..file.len() - 2_000];
        let observation = replay(recognise(cut).unwrap(), &cut).unwrap().observation.unwrap();
        assert!(observation.losses.is_truncated);
    }
}

#[test]
fn a_trace_that_is_cut_off_says_so() {
    for file in files() {
        for size in [80, 300, 400, 1_000, 4_090] {
            let cut = &file[..size];
            let says = replay(recognise(cut).unwrap(), &cut).unwrap_err().to_string();
            let begin = format!("it is cut off: its {size} B end before ");
            assert!(says.starts_with(&begin) && says.contains("--how-to-record windows"), "{size}: {says}");
        }
    }
}

#[test]
fn damaged_traces_are_read_or_refused() {
    for file in files() {
        damage::each(&file, damage::inputs(200), |bad| {
            reads(bad);
        });
    }
}

/// A record whose time is far from those of its neighbours is left out.
#[test]
fn times_that_are_damaged_make_no_wait_later() {
    let good = sleeps(Trace::default());
    let latest = |file: &[u8]| waits(file).iter().map(|wait| wait.lateness_ns).max().unwrap();
    let lasted = |file: &[u8]| replay(recognise(file).unwrap(), &file).unwrap().duration_ns;
    let whole = good.write(&[]);
    for jump in [900_000_000, -900_000_000, 1 << 56, 400_000, -400_000] {
        let mut trace = good.clone();
        let records = trace.records.iter_mut().filter(|(_, _, record)| record[2] == Header::PerfInfo as u8);
        for (_, _, record) in records.skip(9).step_by(41) {
            let t = u64::from_le_bytes(record[8..16].try_into().unwrap()).wrapping_add_signed(jump);
            record[8..16].copy_from_slice(&t.to_le_bytes());
        }
        let damaged = trace.write(&[]);
        assert!(replay(recognise(&damaged).unwrap(), &&damaged[..]).unwrap().observation.unwrap().losses.is_truncated);
        assert!(latest(&damaged) <= latest(&whole) && lasted(&damaged) <= lasted(&whole), "{jump}");
        assert!(waits(&damaged).len() > 20, "{jump}: {}", waits(&damaged).len());
    }
}

#[test]
fn a_clock_that_contradicts_the_file_s_own_times_is_refused() {
    let mut file = sleeps(Trace::default()).write(&[]);
    // The counter's frequency, of 10 MHz, becomes 10 Hz.
    let place = file.windows(8).position(|bytes| bytes == 10_000_000_u64.to_le_bytes()).unwrap();
    file[place..place + 8].copy_from_slice(&10_u64.to_le_bytes());
    let fault = replay(recognise(&file).unwrap(), &&file[..]).unwrap_err().to_string();
    assert!(fault.contains("by its clock"), "{fault}");
}

#[test]
fn other_files_are_none() {
    let file = sleeps(Trace::default()).write(&[]);
    for at in [72 + 2, 72 + 3, 72 + 6] {
        let mut other = file.clone();
        other[at] = 7;
        assert!(recognise(&other).is_none(), "{at}");
    }
}
