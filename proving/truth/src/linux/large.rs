//! A large perf.data of a small one: its samples again and again, each time later.

use std::io::{self, Write};

const SAMPLE: u32 = 9;
const FINISHED_ROUND: u32 = 68;
/// What stands in a sample before its time, and before its raw data, 8 bytes each: an identifier, an address, a thread; then
/// the time, an address, an id, a stream, a CPU.
const BEFORE_TIME: [u64; 3] = [1 << 16, 1, 2];
const BEFORE_RAW: [u64; 8] = [1 << 16, 1, 2, 4, 8, 1 << 6, 1 << 9, 1 << 7];
const PERIOD: u64 = 1 << 8;

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap_or_default())
}

fn add(bytes: &mut [u8], at: usize, ns: u64) {
    let later = u64_at(bytes, at).wrapping_add(ns);
    bytes[at..at + 8].copy_from_slice(&later.to_le_bytes());
}

/// The number of a tracepoint, by the description in the file.
fn number(bytes: &[u8], name: &str) -> Option<u16> {
    let head = format!("name: {name}\nID: ");
    let at = bytes.windows(head.len()).position(|window| window == head.as_bytes())? + head.len();
    let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).copied().collect();
    String::from_utf8(digits).ok()?.parse().ok()
}

/// Writes a file with the samples of that one so many times.
///
/// # Errors
/// It can't be written, or the small one has no samples.
pub fn write(bytes: &[u8], times: u64, out: &mut impl Write) -> io::Result<()> {
    let u32_at = |at: usize| u64_at(bytes, at) as u32;
    let (attrs, data, size) = (u64_at(bytes, 24) as usize, u64_at(bytes, 40) as usize, u64_at(bytes, 48) as usize);
    let kind = u64_at(bytes, attrs + 24);
    let place = |before: &[u64]| 8 + 8 * before.iter().filter(|&&bit| kind & bit != 0).count();
    let (time, raw) = (place(&BEFORE_TIME), place(&BEFORE_RAW) + if kind & PERIOD != 0 { 8 } else { 0 } + 4);
    let timers = [("hrtimer_start", &[24, 32][..]), ("hrtimer_expire_entry", &[16][..])];
    let timers = timers.map(|(name, places)| (number(bytes, name), places));
    // Records of each round, and when the first and the last sample are.
    let (mut round, mut at, mut times_of) = (Vec::new(), data, Vec::new());
    while at + 8 <= data + size {
        let (kind, length) = (u32_at(at), usize::from((u64_at(bytes, at) >> 48) as u16));
        if kind == SAMPLE {
            times_of.push(u64_at(bytes, at + time));
        }
        if kind == SAMPLE || kind == FINISHED_ROUND {
            round.push((kind, at..at + length));
        }
        at += length.max(8);
    }
    let (Some(first), Some(last)) = (times_of.iter().min(), times_of.iter().max()) else {
        return Err(io::Error::other("it has no samples"));
    };
    let later = last - first + 1_000_000;
    let again: u64 = round.iter().map(|(_, range)| range.len() as u64).sum();
    let grown = again * times.saturating_sub(1);
    let mut head = bytes[..data].to_vec();
    add(&mut head, 48, grown);
    out.write_all(&head)?;
    out.write_all(&bytes[data..data + size])?;
    for n in 1..times {
        for (kind, range) in &round {
            let mut record = bytes[range.clone()].to_vec();
            if *kind == SAMPLE {
                add(&mut record, time, later * n);
                let id = u16::from_le_bytes([record[raw], record[raw + 1]]);
                for place in timers.iter().filter(|(number, _)| *number == Some(id)).flat_map(|(_, places)| *places) {
                    add(&mut record, raw + place, later * n);
                }
            }
            out.write_all(&record)?;
        }
    }
    // Where the features are, as far as the table goes, and they.
    let features = data + size;
    let count = (0..4).map(|word| u64_at(bytes, 72 + 8 * word).count_ones() as usize).sum::<usize>();
    let mut rest = bytes[features..].to_vec();
    (0..count).for_each(|n| add(&mut rest, 16 * n, grown));
    out.write_all(&rest)?;
    out.flush()
}
