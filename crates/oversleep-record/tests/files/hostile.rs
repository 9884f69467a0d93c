//! Files that ask for more memory than they hold: each is refused with an explanation before it takes that memory.
//! Everything that oversleep writes is accepted, whatever its size.

use std::io::{self, Read, Write as _};
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use oversleep_record::file::{FileError, MEMORY_MAX, ROUNDS_MAX, ResultFile, SERIES_MAX};
use oversleep_record::series::{Quantity, Round, Series, Unit};
use oversleep_record::{Disturbance, Environment, ExperimentId, Nanos, ProcessorState};

use crate::support;

/// A histogram payload that states the length of its counts as `length` bytes.
fn payload(length: u32, counts: &[u8]) -> String {
    let mut plain = 0x1c84_9313_u32.to_be_bytes().to_vec();
    plain.extend(length.to_be_bytes());
    plain.extend([0_u32, 3].map(u32::to_be_bytes).concat());
    plain.extend([1_u64, 3_600_000_000_000].map(u64::to_be_bytes).concat());
    plain.extend(1.0_f64.to_be_bytes());
    plain.extend(counts);
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::best());
    let compressed = zlib.write_all(&plain).and_then(|()| zlib.finish()).unwrap();
    let mut bytes = 0x1c84_9314_u32.to_be_bytes().to_vec();
    bytes.extend(u32::try_from(compressed.len()).unwrap().to_be_bytes());
    STANDARD.encode([bytes, compressed].concat())
}

/// A text without an end: a beginning, then one part after another. It counts how much of it was read.
struct Endless<F> {
    text: io::Cursor<Vec<u8>>,
    each: F,
    next: u64,
    read: usize,
}

impl<F: Fn(u64) -> String> Endless<F> {
    fn new(head: String, each: F) -> Endless<F> {
        Endless { text: io::Cursor::new(head.into_bytes()), each, next: 0, read: 0 }
    }
}

impl<F: Fn(u64) -> String> Read for Endless<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut count = self.text.read(buffer)?;
        if count == 0 {
            let more = (self.each)(self.next);
            self.next += 1;
            self.text = io::Cursor::new(more.into_bytes());
            count = self.text.read(buffer)?;
        }
        self.read += count;
        Ok(count)
    }
}

/// The beginning of a result, up to its series.
fn head() -> String {
    let text = String::from_utf8(ResultFile { series: Vec::new(), ..support::minimal() }.write()).unwrap();
    format!("{},", text.trim_end().strip_suffix('}').unwrap())
}

/// The payload of an empty histogram, made once, since an encoder takes 0.3 MB each time.
static EMPTY: LazyLock<String> = LazyLock::new(|| payload(1, &[0]));

fn series(index: u64, rest: &str) -> String {
    let empty = &*EMPTY;
    format!(
        r#"{{"key":"{index}","experiment":"B5","subject":"","quantity":"lateness","unit":"ns","clock":"",
        "status":{{"state":"complete"}},"counts":{{"recorded":0}},"distribution":{{"count":0,"hdr_v2":"{empty}"}}{rest}}},"#
    )
}

#[test]
fn a_length_in_a_histogram_is_checked_against_what_is_there() {
    let mut file: serde_json::Value = serde_json::from_slice(&support::everything().write()).unwrap();
    for length in [u32::MAX, 1 << 20] {
        file["series"][0]["distribution"]["hdr_v2"] = payload(length, &[0, 0]).into();
        let error = ResultFile::read(&serde_json::to_vec(&file).unwrap()).unwrap_err();
        assert!(error.to_string().contains("the length of its counts isn't that of their 2 bytes"), "{error}");
    }
}

#[test]
fn text_of_another_encoding_is_named_and_a_byte_order_mark_is_no_fault() {
    let good = support::everything().write();
    let marked = [b"\xef\xbb\xbf", &good[..]].concat();
    assert!(ResultFile::read(&marked).unwrap() == support::everything());
    let utf_16 = |to: fn(u16) -> [u8; 2], mark: bool| {
        let text = String::from_utf8(good.clone()).unwrap();
        let units = mark.then_some(0xfeff).into_iter().chain(text.encode_utf16());
        units.flat_map(to).collect::<Vec<u8>>()
    };
    for text in [utf_16(u16::to_le_bytes, true), utf_16(u16::to_be_bytes, true), utf_16(u16::to_le_bytes, false)] {
        let error = ResultFile::read(&text).unwrap_err().to_string();
        assert!(error.starts_with("it is UTF-16, and a result file is UTF-8 text; let oversleep write"), "{error}");
    }
    let unpack =
        |bytes: &[u8], with: &str| assert!(ResultFile::read(bytes).unwrap_err().to_string().contains(with), "{with}");
    unpack(b"\x1f\x8b\x08\x00", "gzip -d");
    unpack(b"\xfd7zXZ\0\0\x04", "xz -d");
    unpack(b"\x28\xb5\x2f\xfd\x04\x58", "zstd -d");
    unpack(b"BZh91AY&SY", "bzip2 -d");
    unpack(b"PK\x03\x04\x14\0", "unzip");
    for nothing in [&b""[..], b"\xef\xbb\xbf"] {
        assert!(matches!(ResultFile::read(nothing), Err(FileError::Empty)));
    }
}

#[test]
fn a_key_twice_in_one_object_is_an_error_with_its_place() {
    let good = String::from_utf8(support::everything().write()).unwrap();
    let twice = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        ResultFile::read(good.replacen(from, to, 1).as_bytes()).unwrap_err().to_string()
    };
    for (place, key) in [
        (r#""environment":{"#, r#""cpu.count":{"type":"integer","value":64,"source":"test"},"#),
        (r#""labels":{"#, r#""remedy":"none","remedy":"other","#),
        (r#""requested":{"#, r#""slack":{"type":"nanos","value":1},"slack":{"type":"nanos","value":1},"#),
        (r#""floor":{"#, r#""unknown":1,"unkn\u006fwn":2,"#),
    ] {
        let error = twice(place, &format!("{place}{key}"));
        assert!(
            error.starts_with("damaged result file: the key '") && error.contains("twice in one object"),
            "{error}"
        );
    }
    let error = twice("{", "{\n \"a\":1,\n  \"a\":2,");
    assert!(error.ends_with("the key 'a' is there twice in one object, at line 3 column 5"), "{error}");
}

#[test]
fn figures_that_a_payload_contradicts_are_refused() {
    let good: serde_json::Value = serde_json::from_slice(&support::everything().write()).unwrap();
    let refused = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut bad = good.clone();
        change(&mut bad["series"][0]);
        assert!(bad != good);
        ResultFile::read(&serde_json::to_vec(&bad).unwrap()).expect_err("it contradicts itself").to_string()
    };
    for (figure, value) in [("min", i64::MIN), ("max", i64::MAX), ("p50", 7), ("p99", 7), ("p99_9", 7), ("mean", -299)]
    {
        let error = refused(&|series| series["distribution"][figure] = value.into());
        assert!(error.contains(figure), "{error}");
    }
    refused(&|series| series["counts"]["early"] = 1_000.into());
    refused(&|series| series["counts"]["missed"] = 1_000.into());
    refused(&|series| series["rounds"][0]["median"] = i64::MIN.into());
    refused(&|series| series["samples"]["value"][3] = i64::MAX.into());
    refused(&|series| series["samples"]["beyond_cap"] = 1_000_000.into());
}

#[test]
fn what_asks_for_more_memory_than_it_has_bytes_is_refused_early() {
    let head = head();
    let in_series = |rest: &str| format!("{head}\"series\":[{}", series(0, rest).trim_end_matches("},"));
    let facts = head.split_inclusive("\"environment\":{").next().unwrap();
    let many = |one: &str| {
        let many = one.repeat(10_000);
        Box::new(move |_| many.clone())
    };
    type Part = (&'static str, String, Box<dyn Fn(u64) -> String>);
    let parts: [Part; 7] = [
        ("series", format!("{head}\"series\":["), Box::new(|index| series(index, ""))),
        ("rounds", in_series(r#","rounds":["#), many(r#"{"start_ns":0,"count":0,"disturbance":{"window_ns":0}},"#)),
        ("keys", format!("{head}\"a\":{{"), Box::new(|index| format!("\"{index}\":0,"))),
        ("facts", format!(r#"{facts}"a":{{"type":"list","value":["#), many(r#""","#)),
        ("texts", format!(r#"{facts}"a":{{"type":"list","value":["#), many(r#""12345678","#)),
        ("text", format!("{head}\"name\":\""), many("long ")),
        ("lists", format!("{head}\"a\":["), many("[],")),
    ];
    for (what, head, each) in parts {
        let mut text = Endless::new(head, each);
        let error = ResultFile::read_from(&mut text).expect_err(what);
        assert!(matches!(error, FileError::TooMuchMemory), "{what}: {error}");
        assert!(text.read as u64 <= MEMORY_MAX * 3 / 2, "{what}: {} bytes were read", text.read);
    }
}

/// A round with every field filled.
fn full_round(index: u64) -> Round {
    let (span, count) = (Some(Nanos(123_456_789)), Some(123_456));
    Round {
        start_ns: Nanos(1_000_000_000 + index as i64 * 1_000_000),
        count: 1_000,
        median: None,
        p90: None,
        p99: None,
        disturbance: Disturbance {
            window_ns: Nanos(1_000_000),
            steal_ns: span,
            cpu_pressure_ns: span,
            other_cpu_ns: span,
            run_delay_ns: span,
            voluntary_switches: count,
            involuntary_switches: count,
            minor_faults: count,
            major_faults: count,
            throttled_ns: span,
            throttled_periods: count,
            timer_interrupts: count,
            all_interrupts: count,
            own_cpu_ns: span,
            stalled_ns: span,
            suspended_ns: span,
            processor: ProcessorState { clock_min_hz: count, clock_max_hz: count, ..ProcessorState::default() },
        },
    }
}

#[test]
fn the_largest_run_reads_back() {
    let rounds = ROUNDS_MAX / SERIES_MAX as u64;
    let one = |index: usize| {
        let mut series = Series::new(ExperimentId::B5, "nanosleep", Quantity::Lateness, Unit::Ns);
        series.key = format!("B5/nanosleep/{index}ns/slack=1ns").as_str().into();
        for value in [60_000, 70_000, 1_000_000 + index as i64] {
            series.distribution.record(value);
            series.samples.push(10, 1_000_000_000 + value, value, false);
        }
        series.counts.recorded = 3;
        series.rounds = (0..rounds).map(full_round).collect();
        series.shrink();
        series
    };
    let largest = ResultFile {
        series: (0..SERIES_MAX).map(one).collect(),
        environment: Environment::default(),
        ..support::minimal()
    };
    let written = largest.write();
    let read = ResultFile::read(&written).unwrap_or_else(|error| panic!("{} bytes: {error}", written.len()));
    assert!(read == largest, "{MEMORY_MAX}");
}

#[test]
fn text_that_is_not_utf_8_is_refused_wherever_it_stands() {
    let read = |text: &[u8]| ResultFile::read(text).map_err(|error| error.to_string());
    let good = include_bytes!("../../../../schema/golden/v2/minimal.json");
    let body = &good[..good.iter().rposition(|&byte| byte == b'}').unwrap()];
    let with = |letters: &[u8]| [body, b",\n\"later\":\"", letters, b"\"}\n"].concat();
    read(&with("µ日🕰".as_bytes())).expect("what no field is made of is left out");
    for letters in [&b"\x82"[..], b"\xff", b"\xc2", b"\xed\xa0\x80", b"\xf0\x9f\x95", b"\xc0\xaf"] {
        let error = read(&with(letters)).expect_err("not UTF-8");
        assert_eq!(error, "damaged result file: its text is not UTF-8 at line 2 column 10", "{letters:x?}");
    }
    // A character whose bytes arrive one by one is valid.
    let text = with("日🕰".as_bytes());
    struct OneByOne<'a>(&'a [u8]);
    impl Read for OneByOne<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0.read(&mut buffer[..1])
        }
    }
    ResultFile::read_from(OneByOne(&text)).expect("whole letters");
    let long = [&with("日".repeat(50_000).as_bytes())[..]].concat();
    read(&long).expect("letters across the blocks that are read at a time");
}
