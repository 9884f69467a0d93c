//! The files, and other forms of them.

use oversleep_recordings::recognise;
use oversleep_why::Wait;
use oversleep_why::recording::Meta;

use crate::shared::waits_of;

pub static TRACE_6: &[u8] = include_bytes!("../recorded/waits.6.dat");
pub static TRACE_7: &[u8] = include_bytes!("../recorded/waits.7.dat");
pub static PERF: &[u8] = include_bytes!("../recorded/waits.perf.data");
pub static TRACEFS: &[u8] = include_bytes!("../recorded/tracefs.txt");
pub static TRACE_CMD: &[u8] = include_bytes!("../recorded/trace-cmd.txt");
pub static PERF_SCRIPT: &[u8] = include_bytes!("../recorded/perf-script.txt");
pub static FILES: &[(&str, &[u8])] = &[("trace.dat", TRACE_6), ("trace.dat", TRACE_7), ("perf.data", PERF)];

const PAGE: usize = 4_096;

pub fn results(bytes: &[u8]) -> (Meta, Vec<Wait>) {
    let source = bytes;
    let mut opened = recognise(bytes).unwrap().open(&source).unwrap();
    let waits = waits_of(&mut opened);
    (opened.meta, waits)
}

pub fn waits(bytes: &[u8]) -> Vec<Wait> {
    results(bytes).1
}

/// A trace.dat without the description of a tracepoint, so that its records mean nothing.
pub fn lacking(bytes: &[u8], tracepoint: &str) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let name = format!("name: {tracepoint}\n");
    let place = bytes.windows(name.len()).position(|window| window == name.as_bytes()).unwrap();
    bytes[place + 6] = b'?';
    bytes
}

/// A trace.dat in which one page of a CPU is lost, and the next one says so.
pub fn lossy(bytes: &[u8], seed: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let table = bytes.windows(10).position(|window| window == b"flyrecord\0").unwrap() + 10;
    let number = |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    let cpu = seed % 2;
    let (at, size) = (number(&bytes, table + 16 * cpu), number(&bytes, table + 16 * cpu + 8));
    let (pages, count) = (size / PAGE, 1 + seed % 3);
    let first = 1 + (seed * 7) % (pages - count - 1);
    let next = at + (first + count) * PAGE;
    bytes[next + 11] |= 0x80;
    let end = at + size;
    bytes.copy_within(next..end, at + first * PAGE);
    bytes[table + 16 * cpu + 8..table + 16 * cpu + 16].copy_from_slice(&((size - count * PAGE) as u64).to_le_bytes());
    bytes
}

fn u64_at(bytes: &[u8], at: usize) -> usize {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize
}

fn record(kind: u32, body: &[u8]) -> Vec<u8> {
    let mut record = kind.to_le_bytes().to_vec();
    record.extend_from_slice(&[0, 0]);
    record.extend_from_slice(&((8 + body.len()) as u16).to_le_bytes());
    record.extend_from_slice(body);
    record
}

/// A perf.data as a stream: its attributes and descriptions are records.
pub fn piped(bytes: &[u8]) -> Vec<u8> {
    let mut stream = b"PERFILE2".to_vec();
    stream.extend_from_slice(&16u64.to_le_bytes());
    let (size, at, all) = (u64_at(bytes, 16), u64_at(bytes, 24), u64_at(bytes, 32));
    for attr in bytes[at..at + all].chunks(size) {
        let (attr, ids) = attr.split_at(size - 16);
        let (place, length) = (u64_at(ids, 0), u64_at(ids, 8));
        stream.extend(record(64, &[attr, &bytes[place..place + length]].concat()));
    }
    let (data, length) = (u64_at(bytes, 40), u64_at(bytes, 48));
    let table = data + length;
    let (place, tracing) = (u64_at(bytes, table), u64_at(bytes, table + 8));
    stream.extend(record(66, &(tracing as u32).to_le_bytes()));
    stream.extend_from_slice(&bytes[place..place + tracing]);
    stream.resize(stream.len().next_multiple_of(8) + (8 - tracing % 8) % 8 - (8 - stream.len() % 8) % 8, 0);
    stream.extend_from_slice(&bytes[data..data + length]);
    stream
}

/// A perf.data whose records are pieces of one frame of zstd that never ends; the pieces are stored, not compressed.
pub fn zipped(bytes: &[u8]) -> Vec<u8> {
    let (data, length) = (u64_at(bytes, 40), u64_at(bytes, 48));
    let mut packed = Vec::new();
    for (number, piece) in bytes[data..data + length].chunks(30_000).enumerate() {
        // The head of a frame with a window of 512 KB.
        let mut body = if number == 0 { vec![0x28, 0xb5, 0x2f, 0xfd, 0, 0x48] } else { Vec::new() };
        body.extend_from_slice(&((piece.len() as u32) << 3).to_le_bytes()[..3]);
        body.extend_from_slice(piece);
        packed.extend(record(81, &body));
    }
    with_records(bytes, &packed)
}

/// A perf.data with other records.
fn with_records(bytes: &[u8], records: &[u8]) -> Vec<u8> {
    let (data, length) = (u64_at(bytes, 40), u64_at(bytes, 48));
    let mut file = bytes[..data].to_vec();
    file[48..56].copy_from_slice(&(records.len() as u64).to_le_bytes());
    let table = data + length;
    let shift = records.len() as i64 - length as i64;
    file.extend(records);
    for entry in bytes[table..table + 64].chunks(16) {
        file.extend_from_slice(&(u64_at(entry, 0) as i64 + shift).to_le_bytes());
        file.extend_from_slice(&entry[8..]);
    }
    file.extend_from_slice(&bytes[table + 64..]);
    file
}

/// A perf.data with its first records only.
pub fn few_records(bytes: &[u8]) -> Vec<u8> {
    let data = u64_at(bytes, 40);
    let mut end = data;
    while end < data + 24_000 {
        end += usize::from(u16::from_le_bytes([bytes[end + 6], bytes[end + 7]]));
    }
    with_records(bytes, &bytes[data..end])
}

/// A trace.dat of version 6 with the first pages of each CPU only.
pub fn few_pages(bytes: &[u8]) -> Vec<u8> {
    const SIZE: usize = 3 * PAGE;
    let table = bytes.windows(10).position(|window| window == b"flyrecord\0").unwrap() + 10;
    let places = [0, 16].map(|cpu| (table + cpu, u64_at(bytes, table + cpu)));
    let mut few = bytes[..places[0].1].to_vec();
    for (entry, place) in places {
        let begin = few.len() as u64;
        few[entry..entry + 16].copy_from_slice(&[begin, SIZE as u64].map(u64::to_le_bytes).concat());
        few.extend_from_slice(&bytes[place..place + SIZE]);
    }
    few
}

/// The first lines of a text.
pub fn few_lines(bytes: &[u8]) -> Vec<u8> {
    bytes.split_inclusive(|&byte| byte == b'\n').take(120).flatten().copied().collect()
}
