//! Times that are damaged: what tells an impossible one is left out, whatever kind of file it is in.

use oversleep_recordings::{recognise, replay};
use oversleep_why::Wait;

use crate::support::{PERF, PERF_SCRIPT, TRACE_6, TRACE_CMD, TRACEFS, piped, version_7, waits, zipped};

/// A form of the run, it as it is, and it with damaged times.
type Form<'a> = (&'static str, &'static [u8], &'a dyn Fn(usize) -> Vec<u8>);

/// How far some times are changed.
const JUMPS_NS: [i64; 5] = [90_000_000_000, -90_000_000_000, 1 << 56, 40_000_000, -40_000_000];

/// A perf.data some of whose samples have another time.
fn perf(seed: usize) -> Vec<u8> {
    let mut bytes = PERF.to_vec();
    let (data, length) = (u64_at(&bytes, 40) as usize, u64_at(&bytes, 48) as usize);
    let (mut at, mut samples) = (data, Vec::new());
    while at < data + length {
        samples.extend((bytes[at] == 9).then_some(at + 24));
        at += usize::from(u16::from_le_bytes([bytes[at + 6], bytes[at + 7]]));
    }
    for n in 0..20 {
        let place = samples[(seed * 7 + n * 487 + 3) % samples.len()];
        let t = u64_at(&bytes, place).wrapping_add_signed(JUMPS_NS[n % 5]);
        bytes[place..place + 8].copy_from_slice(&t.to_le_bytes());
    }
    bytes
}

/// A trace.dat with a page of each CPU that begins at another time.
fn trace(seed: usize) -> Vec<u8> {
    const PAGE: usize = 4_096;
    let mut bytes = TRACE_6.to_vec();
    let table = bytes.windows(10).position(|window| window == b"flyrecord\0").unwrap() + 10;
    for cpu in 0..2 {
        let (at, size) = (u64_at(&bytes, table + 16 * cpu) as usize, u64_at(&bytes, table + 16 * cpu + 8) as usize);
        // Beyond the first and the last one, a jump may as well be a pause.
        let place = at + (1 + (seed * 3 + 2) % (size / PAGE - 2)) * PAGE;
        let t = u64_at(&bytes, place).wrapping_add_signed(JUMPS_NS[seed % 5]);
        bytes[place..place + 8].copy_from_slice(&t.to_le_bytes());
    }
    bytes
}

/// A text some of whose lines have another time.
fn text(good: &[u8], seed: usize) -> Vec<u8> {
    let mut lines: Vec<String> = str::from_utf8(good).unwrap().lines().map(str::to_owned).collect();
    for n in 0..20 {
        // Beyond the first ones of each CPU, which nothing confirms.
        let at = 400 + (seed * 7 + n * 331) % (lines.len() - 500);
        let Some(end) = lines[at].find(": ") else { continue };
        let begin = lines[at][..end].rfind(' ').unwrap() + 1;
        let (seconds, rest) = lines[at][begin..end].split_once('.').unwrap();
        let seconds = seconds.parse::<i64>().unwrap() + [90, -90, 1 << 26, 1, -1][n % 5];
        lines[at] = format!("{}{seconds}.{rest}{}", &lines[at][..begin], &lines[at][end..]);
    }
    lines.join("\n").into_bytes().into_iter().chain([b'\n']).collect()
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

#[test]
fn a_record_whose_time_is_impossible_is_left_out_and_the_file_is_said_to_be_damaged() {
    let forms: [Form<'_>; 8] = [
        ("perf.data", PERF, &perf),
        ("perf.data of a pipe", PERF, &|seed| piped(&perf(seed))),
        ("perf.data -z", PERF, &|seed| zipped(&perf(seed))),
        ("trace.dat", TRACE_6, &trace),
        ("trace.dat of version 7", TRACE_6, &|seed| version_7(&trace(seed))),
        ("tracefs", TRACEFS, &|seed| text(TRACEFS, seed)),
        ("trace-cmd report", TRACE_CMD, &|seed| text(TRACE_CMD, seed)),
        ("perf script", PERF_SCRIPT, &|seed| text(PERF_SCRIPT, seed)),
    ];
    let result = |bytes: &[u8]| replay(recognise(bytes).unwrap(), &bytes).unwrap();
    let latest = |all: &[Wait]| all.iter().map(|wait| wait.lateness_ns).max().unwrap_or(0);
    for (form, good, of) in forms {
        let whole = waits(good);
        let (lasted, late) = (result(good).duration_ns.0, latest(&whole));
        for seed in 0..5 {
            let damaged = of(seed);
            let file = result(&damaged);
            assert!(file.duration_ns.0 <= lasted + 2_000_000, "{form} {seed}: {}", file.duration_ns);
            assert!(file.observation.unwrap().losses.is_truncated, "{form} {seed}");
            let all = waits(&damaged);
            // Those that overlap what is missing are left out.
            assert!(all.len() > whole.len() / 4, "{form} {seed}: {} of {}", all.len(), whole.len());
            assert!(latest(&all) <= late + 1_000, "{form} {seed}: {}", latest(&all));
        }
    }
}
