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
    // A kernel may have no such tracepoint.
    if let Some(place) = bytes.windows(name.len()).position(|window| window == name.as_bytes()) {
        bytes[place + 6] = b'?';
    }
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

/// A perf.data in which samples of one CPU are lost, and a record says so before the next one.
pub fn lossy_perf(bytes: &[u8], seed: usize) -> Vec<u8> {
    const SAMPLE: u8 = 9;
    const LOST: u32 = 2;
    let (data, length) = (u64_at(bytes, 40), u64_at(bytes, 48));
    let (mut rest, mut records) = (&bytes[data..data + length], Vec::new());
    while !rest.is_empty() {
        let (record, behind) = rest.split_at(usize::from(u16::from_le_bytes([rest[6], rest[7]])));
        records.push(record);
        rest = behind;
    }
    let is_of_cpu = |at: &usize| records[*at][0] == SAMPLE && usize::from(records[*at][32]) == seed % 2;
    let of_cpu: Vec<usize> = (0..records.len()).filter(is_of_cpu).collect();
    let count = 40 + 60 * (seed % 5);
    let first = 50 + seed * 97 % (of_cpu.len() - count - 100);
    let (gone, next) = (&of_cpu[first..first + count], of_cpu[first + count]);
    let mut some = Vec::new();
    for (at, record) in records.iter().enumerate().filter(|(at, _)| !gone.contains(at)) {
        if at == next {
            // An event's id and how many are lost; then thread, time, CPU and id of the record itself.
            let counts = [7, count as u64].map(u64::to_le_bytes).concat();
            some.extend(self::record(LOST, &[&counts, &record[16..40], &record[8..16]].concat()));
        }
        some.extend_from_slice(record);
    }
    with_records(bytes, &some)
}

/// A text without the lines of an event.
pub fn without(text: &[u8], event: &str) -> Vec<u8> {
    let [plain, with_system] = [format!(" {event}: "), format!(":{event}: ")];
    let lines = str::from_utf8(text).unwrap().lines();
    let rest = lines.filter(|line| !line.contains(&plain) && !line.contains(&with_system));
    rest.flat_map(|line| [line, "\n"]).collect::<String>().into_bytes()
}

/// A text in which 40 lines of one CPU are lost, and a line says so before the next one.
pub fn lossy_text(text: &[u8], seed: usize, lost: &str) -> Vec<u8> {
    let lines: Vec<&str> = str::from_utf8(text).unwrap().lines().collect();
    let (cpu, mark) = (seed % 2, format!("CPU:{} [{lost}]", seed % 2));
    let is_of_cpu = |at: &usize| lines[*at].contains(&format!(" [00{cpu}] "));
    let of_cpu: Vec<usize> = (0..lines.len()).filter(is_of_cpu).collect();
    let first = 10 + seed * 13 % (of_cpu.len() - 60);
    let (gone, next) = (&of_cpu[first..first + 40], of_cpu[first + 40]);
    let kept = (0..lines.len()).filter(|at| !gone.contains(at));
    let marked = kept.flat_map(|at| [(at == next).then_some(&*mark), Some(lines[at])].into_iter().flatten());
    marked.flat_map(|line| [line, "\n"]).collect::<String>().into_bytes()
}

fn u64_at(bytes: &[u8], at: usize) -> usize {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize
}

pub fn record(kind: u32, body: &[u8]) -> Vec<u8> {
    let mut record = kind.to_le_bytes().to_vec();
    record.extend_from_slice(&[0, 0]);
    record.extend_from_slice(&((8 + body.len()) as u16).to_le_bytes());
    record.extend_from_slice(body);
    record
}

/// One of simpleperf's, whose size has two halves.
pub fn long_record(kind: u32, body: &[u8]) -> Vec<u8> {
    let size = 8 + body.len();
    let halves = [(size >> 16) as u16, size as u16].map(u16::to_le_bytes).concat();
    [&kind.to_le_bytes()[..], &halves, body].concat()
}

/// A perf.data as a stream: its attributes and descriptions are records.
pub fn piped(bytes: &[u8]) -> Vec<u8> {
    piped_with(bytes, |tracing| {
        let padded = tracing.len().next_multiple_of(8);
        let mut all = record(66, &(tracing.len() as u32).to_le_bytes());
        all.extend_from_slice(tracing);
        all.resize(12 + padded, 0);
        all
    })
}

/// The same with such a record of what describes the events.
pub fn piped_with(bytes: &[u8], described: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
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
    stream.extend(described(&bytes[place..place + tracing]));
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

/// A perf.data with more records, before its own or behind them.
pub fn with_more(bytes: &[u8], before: &[u8], behind: &[u8]) -> Vec<u8> {
    let (data, length) = (u64_at(bytes, 40), u64_at(bytes, 48));
    with_records(bytes, &[before, &bytes[data..data + length], behind].concat())
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

/// A perf.data that names a process a tenth of a second before its first event.
pub fn named_before(bytes: &[u8]) -> Vec<u8> {
    const COMM: u32 = 3;
    let data = u64_at(bytes, 40);
    let mut first = data;
    while bytes[first] != 9 {
        first += usize::from(u16::from_le_bytes([bytes[first + 6], bytes[first + 7]]));
    }
    let sample = &bytes[first..];
    let t = (u64_at(sample, 24) - 100_000_000) as u64;
    let task = [77_u32, 77].map(u32::to_le_bytes).concat();
    let trailer = [&sample[16..24], &t.to_le_bytes(), &sample[32..40], &sample[8..16]].concat();
    let named = record(COMM, &[&task[..], b"early\0\0\0", &trailer].concat());
    with_more(bytes, &named, &[])
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

/// A trace.dat of version 6 as one of version 7: its pieces are frames of zstd, which store them.
pub fn version_7(bytes: &[u8]) -> Vec<u8> {
    /// Where the descriptions of tracepoints begin, behind those of pages; and what is between them and the options.
    const FORMATS: usize = 473;
    const BETWEEN: usize = 4 + 4 + 8 + 4;
    let chunk = |bytes: &[u8]| {
        let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 0x60];
        let pieces = bytes.chunks(100_000);
        let last = pieces.len() - 1;
        for (at, piece) in pieces.enumerate() {
            frame.extend_from_slice(&((piece.len() << 3 | usize::from(at == last)) as u32).to_le_bytes()[..3]);
            frame.extend_from_slice(piece);
        }
        [&(frame.len() as u32).to_le_bytes()[..], &(bytes.len() as u32).to_le_bytes(), &frame].concat()
    };
    let section = |id: u16, flags: u16, content: &[u8]| {
        [&id.to_le_bytes()[..], &flags.to_le_bytes(), &[0; 4], &(content.len() as u64).to_le_bytes(), content].concat()
    };
    let option = |id: u16, data: &[u8]| [&id.to_le_bytes()[..], &(data.len() as u32).to_le_bytes(), data].concat();
    let place = |mark: &[u8]| bytes.windows(mark.len()).position(|window| window == mark).unwrap();
    let options = place(b"options  \0");
    let mut file =
        [&b"\x17\x08\x44tracing7\0\0\x08"[..], &4_096_u32.to_le_bytes(), b"zstd\x001.5.4\0", &[0; 8]].concat();
    let at_options = file.len() - 8;
    let formats = file.len() as u64;
    file.extend(section(18, 1, &chunk(&bytes[FORMATS..options - BETWEEN])));
    let buffer = file.len() as u64;
    file.extend(section(3, 1, &[]));
    let table = place(b"flyrecord\0") + 10;
    let mut cpus = [&buffer.to_le_bytes()[..], b"\0mono\0", &4_096_u32.to_le_bytes(), &2_u32.to_le_bytes()].concat();
    for cpu in 0..2 {
        let (at, size) = (u64_at(bytes, table + 16 * cpu), u64_at(bytes, table + 16 * cpu + 8));
        let pages = bytes[at..at + size].chunks(8 * PAGE);
        let data = [(pages.len() as u32).to_le_bytes().to_vec(), pages.flat_map(chunk).collect()].concat();
        cpus.extend_from_slice(&(cpu as u32).to_le_bytes());
        cpus.extend([file.len(), data.len()].map(|number| (number as u64).to_le_bytes()).concat());
        file.extend(data);
    }
    let options = file.len() as u64;
    let formats = formats.to_le_bytes();
    let all = [option(5, b"Linux - 6.18.44 x86_64\0"), option(18, &formats), option(3, &cpus), option(0, &[0; 8])];
    file.extend(section(0, 0, &all.concat()));
    file[at_options..at_options + 8].copy_from_slice(&options.to_le_bytes());
    file
}

/// The version 7 without compression of the events, which are those of the version 6.
pub fn plain_7() -> Vec<u8> {
    /// Where its events begin, and what says where the options behind them are.
    const EVENTS: usize = 1_585;
    let mut file = TRACE_7[..EVENTS].to_vec();
    let table = TRACE_6.windows(10).position(|window| window == b"flyrecord\0").unwrap() + 10;
    let cpus = [0, 1].map(|cpu| (u64_at(TRACE_6, table + 16 * cpu), u64_at(TRACE_6, table + 16 * cpu + 8)));
    let first = (EVENTS + 16).next_multiple_of(PAGE);
    let end = first + cpus.iter().map(|(_, size)| size).sum::<usize>();
    file.extend([&[3, 0, 0, 0, 0, 0, 0, 0], &((end - EVENTS - 16) as u64).to_le_bytes()[..]].concat());
    file.resize(first, 0);
    let mut option =
        [&(EVENTS as u64).to_le_bytes()[..], b"\0mono\0", &4_096_u32.to_le_bytes(), &[2, 0, 0, 0]].concat();
    for (number, (at, size)) in cpus.into_iter().enumerate() {
        option.extend_from_slice(&(number as u32).to_le_bytes());
        option.extend([file.len(), size].map(|number| (number as u64).to_le_bytes()).concat());
        file.extend_from_slice(&TRACE_6[at..at + size]);
    }
    let options = [&[3, 0][..], &(option.len() as u32).to_le_bytes(), &option, &[0, 0, 8, 0, 0, 0], &[0; 8]].concat();
    file.extend([&[0; 8], &(options.len() as u64).to_le_bytes()[..], &options].concat());
    file[EVENTS - 8..EVENTS].copy_from_slice(&(end as u64).to_le_bytes());
    file
}

/// The first lines of a text.
pub fn few_lines(bytes: &[u8]) -> Vec<u8> {
    bytes.split_inclusive(|&byte| byte == b'\n').take(120).flatten().copied().collect()
}
