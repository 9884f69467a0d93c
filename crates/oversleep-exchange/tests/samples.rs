//! Real and sample files of other programs: what each is taken for, and what the result states.

use oversleep_exchange::{FORMATS, ImportError, recognise};
use oversleep_record::environment::FactValue;
use oversleep_record::fact::FactName;
use oversleep_record::file::Imported;
use oversleep_record::series::Quantity;
use oversleep_record::{Nanos, ResultFile};

fn bytes(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/files/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn of(bytes: &[u8]) -> Result<ResultFile, ImportError> {
    recognise(bytes)?.expect("it is known").read(bytes)
}

fn read(name: &str) -> ResultFile {
    let file = of(&bytes(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let again = ResultFile::read(&file.write()).unwrap_or_else(|error| panic!("{name}, written: {error}"));
    assert_eq!(again.write(), file.write(), "{name}");
    file
}

/// Key, values, values of unknown size, p50 and largest value.
type Figures = (String, u64, u64, Option<i64>, Option<i64>);

fn figures(file: &ResultFile) -> Vec<Figures> {
    let beyond = |series: &oversleep_record::Series| series.beyond.map_or(0, |beyond| beyond.count);
    let figures = |series: &oversleep_record::Series| {
        let values = &series.distribution;
        (series.key.to_string(), values.count(), beyond(series), values.p50(), values.max())
    };
    file.series.iter().map(figures).collect()
}

#[test]
fn each_sample_is_known_as_one_format() {
    for (name, format) in [
        ("cyclictest.json", "cyclictest JSON"),
        ("cyclictest-hist.txt", "cyclictest histogram"),
        ("cyclictest-quiet.txt", "cyclictest summary"),
        ("rtla-timerlat-hist.txt", "rtla timerlat histogram"),
        ("rtla-osnoise-hist.txt", "rtla osnoise histogram"),
        ("hyperfine.json", "hyperfine JSON"),
        ("hyperfine.csv", "hyperfine CSV"),
        ("jhiccup.hlog", "HdrHistogram log"),
        ("jhiccup.hgrm", "HdrHistogram percentiles"),
        ("measuresleep.txt", "MeasureSleep text"),
        ("timerres-bench.csv", "TimerResolution CSV"),
        ("clockres.txt", "clockres text"),
        ("energy-report.html", "powercfg energy report"),
        ("perf-sched-latency.txt", "perf sched latency text"),
        ("perf-sched-timehist.txt", "perf sched timehist text"),
        ("rtla-osnoise-top.txt", "rtla osnoise top text"),
        ("chrome-trace.json", "a trace of Chrome in JSON"),
    ] {
        assert_eq!(recognise(&bytes(name)).unwrap().map(|format| format.name), Some(format), "{name}");
        if let Some(imported) = of(&bytes(name)).ok().and_then(|file| file.imported) {
            assert!(Imported::PROGRAMS.contains(&imported.program.as_str()), "a shared copy would lose {imported:?}");
        }
    }
}

#[test]
fn files_of_windows_are_read_as_others() {
    for name in ["cyclictest-hist.txt", "hyperfine.csv", "measuresleep.txt", "clockres.txt", "timerres-bench.csv"] {
        let text = String::from_utf8(bytes(name)).unwrap().replace('\n', "\r\n");
        let wide: Vec<u8> = [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
        let unmarked: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let returns = text.replace('\n', "");
        let plain = read(name);
        for changed in [text.as_bytes(), wide.as_slice(), &unmarked, returns.as_bytes()] {
            assert_eq!(of(changed).unwrap().write(), plain.write(), "{name}");
        }
    }
}

/// A file that was cut says nothing of the values beyond its rows.
#[test]
fn a_file_whose_end_is_missing_says_so() {
    let text = |name: &str| String::from_utf8(bytes(name)).unwrap();
    let before = |name: &str, end: &str| {
        let text = text(name);
        of(&text.as_bytes()[..text.find(end).expect(end)])
    };
    for (name, end, words) in [
        ("cyclictest-hist.txt", "# Total", "its end is missing: the line `# Histogram Overflows`"),
        ("energy-report.html", "<tr><td>Requested Period", "its end is missing"),
    ] {
        let error = before(name, end).expect_err(name).to_string();
        assert!(error.contains(words), "{name}: {error}");
    }
    let notes = before("rtla-timerlat-hist.txt", "over:").expect("rows").imported.expect("it is").notes;
    assert!(notes.iter().any(|note| note.starts_with("It has no summary")), "{notes:?}");
    let notes = read("rtla-timerlat-hist.txt").imported.expect("it is").notes;
    assert!(!notes.iter().any(|note| note.starts_with("It has no summary")), "{notes:?}");
}

/// The last column of `cyclictest -H` is the sum of the others: no value counts twice.
#[test]
fn the_sum_of_all_threads_is_no_thread() {
    let text = String::from_utf8(bytes("cyclictest-hist.txt")).unwrap();
    let lines = text.lines().map(|line| match line.split_whitespace().collect::<Vec<_>>().as_slice() {
        [index, counts @ ..] if index.len() == 6 && index.bytes().all(|byte| byte.is_ascii_digit()) => {
            let sum: u64 = counts.iter().map(|count| count.parse::<u64>().unwrap()).sum();
            format!("{line}\t{sum:06}\n")
        }
        _ if line.starts_with("# Total") => format!("{line} 000007989\n"),
        _ if line.starts_with("# Histogram Overflows") => format!("{line} 00007\n"),
        _ => format!("{line}\n"),
    });
    let summed: String = lines.collect();
    assert_eq!(figures(&of(summed.as_bytes()).unwrap()), figures(&read("cyclictest-hist.txt")));
}

#[test]
fn cyclictest_json_and_histogram_have_the_same_values() {
    let json = read("cyclictest.json");
    let text = read("cyclictest-hist.txt");
    // The values of two threads in 4 s at 1 ms, of which 7 were beyond 400 µs.
    let all = ("B5/clock-nanosleep-abs/1ms".to_owned(), 7_989, 7, Some(25_999), Some(1_361_999));
    assert_eq!(figures(&json)[0], all);
    assert_eq!(figures(&text)[0].1, 7_989);
    assert_eq!((json.series[0].requested_ns, text.series[0].requested_ns), (Some(Nanos::from_millis(1)), None));
    assert_eq!(json.platform.os, "linux");
    assert_eq!(json.environment.text(FactName::KernelRelease), Some("6.18.44-fc-v657"));
    assert_eq!(json.environment.text(FactName::SchedPolicy), Some("fifo"));
    assert!(!String::from_utf8(json.write()).unwrap().contains("nodename"));
}

#[test]
fn a_summary_has_extremes_and_no_percentile() {
    let file = read("cyclictest-quiet.txt");
    let expected = [
        ("B5/clock-nanosleep-abs/1ms".to_owned(), 0, 2_000, None, Some(764_999)),
        ("B5/clock-nanosleep-abs/1.5ms".to_owned(), 0, 1_334, None, Some(451_999)),
    ];
    assert_eq!(figures(&file), expected);
}

#[test]
fn rtla_has_a_series_for_each_part_and_cpu() {
    let file = read("rtla-timerlat-hist.txt");
    let keys: Vec<&str> = file.series.iter().map(|series| series.key.as_str()).collect();
    assert_eq!(keys[..2], ["B5/timerlat-irq", "B5/timerlat-thread"]);
    assert_eq!(keys.len(), 6);
    assert_eq!(file.series[1].distribution.count(), 120_000);
    assert_eq!((file.series[1].distribution.p50(), file.series[1].distribution.max()), (Some(1_999), Some(12_999)));
    assert_eq!(file.duration_ns, Nanos::from_secs(60));
}

/// The file is written as the kernel's `tools/tracing/rtla/src/osnoise_hist.c` prints it with `-b 5 -s 1500 -t`, but for
/// blanks at the ends of lines; no kernel with that tracer was at hand.
#[test]
fn noises_have_the_lower_ends_of_their_buckets() {
    let file = read("rtla-osnoise-hist.txt");
    let expected = [
        // 371 of both CPUs in the histogram, two beyond it, of which the longest is in the bucket that begins at 1,500 µs.
        ("import/osnoise".to_owned(), 371, 2, Some(9_999), Some(1_504_999)),
        ("import/osnoise/cpu=0".to_owned(), 355, 2, Some(9_999), Some(1_504_999)),
        ("import/osnoise/cpu=3".to_owned(), 16, 0, Some(9_999), Some(44_999)),
    ];
    assert_eq!(figures(&file), expected);
    assert_eq!(file.series[0].beyond.map(|beyond| beyond.from), Some(45_000));
    let notes = file.imported.expect("it is imported").notes.join(" ");
    for words in
        ["buckets of 5 µs or less", "no wait", "17 (4.36%) events missed", "ended at the first value beyond its limit"]
    {
        assert!(notes.contains(words), "{notes}");
    }
}

#[test]
fn a_histogram_of_rtla_without_values_says_why() {
    let with =
        |rows: &str| of(format!("# RTLA osnoise histogram\n# Time unit is microseconds (us)\n{rows}").as_bytes());
    let zeros = "over: 0\ncount: 0\nmin: 0\navg: 0\nmax: 0\n";
    for (rows, words) in [
        (format!("Index\n{zeros}"), "nothing above its threshold was seen"),
        (format!("Index   CPU-000\n{zeros}"), "lies beyond its histogram"),
        ("   CPU-000\n        7 \n".to_owned(), "--no-index"),
        ("Index   CPU-000\n".to_owned(), "there is no value in it"),
    ] {
        let error = with(&rows).expect_err("it has no values").to_string();
        assert!(error.contains(words), "{rows}: {error}");
    }
}

#[test]
fn a_histogram_of_one_line_says_how_wide_its_bucket_may_be() {
    let irq = |max: u32| {
        format!("# RTLA timerlat histogram\nIndex   IRQ-000\n0           9 \nover:       0 \nmax:        {max} \n")
    };
    for (max, largest) in [(0, 999), (7, 7_999)] {
        let file = of(irq(max).as_bytes()).expect("a histogram");
        assert_eq!(file.series[0].distribution.max(), Some(largest), "{max}");
    }
}

#[test]
fn hyperfine_has_runs_and_the_lateness_of_sleeps() {
    let file = read("hyperfine.json");
    let [run, late, ..] = file.series.as_slice() else { panic!("{}", file.series.len()) };
    assert_eq!(
        (run.quantity, run.distribution.count(), run.distribution.min()),
        (Quantity::Duration, 12, Some(11_114_029))
    );
    assert_eq!((late.requested_ns, late.distribution.min()), (Some(Nanos::from_millis(10)), Some(1_114_029)));
    assert_eq!(figures(&read("hyperfine.csv")).len(), 4);
}

#[test]
fn logs_are_added_up() {
    let file = read("jhiccup.hlog");
    assert_eq!(file.imported.as_ref().unwrap().program, "jHiccup");
    let [series] = file.series.as_slice() else { panic!("{}", file.series.len()) };
    assert_eq!((series.subject.as_str(), series.distribution.count()), ("jhiccup", 5_000));
    let table = read("jhiccup.hgrm");
    assert_eq!((table.series[0].distribution.count(), table.series[0].distribution.p50()), (10_000, Some(58_015)));
}

#[test]
fn windows_tools_state_resolutions() {
    let file = read("measuresleep.txt");
    assert_eq!(figures(&file)[0].1, 4);
    assert_eq!(file.environment.known(FactName::TimerPeriodNow), Some(&FactValue::Nanos(Nanos(500_000))));
    let table = read("timerres-bench.csv");
    assert_eq!(table.series[2].key.as_str(), "B5/sleep/1ms/resolution=507us");
    assert_eq!(table.series[2].distribution.p50(), Some(13_100));
    let clock = read("clockres.txt");
    assert_eq!(clock.environment.known(FactName::TimerPeriodDefault), Some(&FactValue::Nanos(Nanos(15_625_000))));
    let energy = read("energy-report.html");
    assert_eq!(energy.series[0].key.as_str(), "import/resolution/program=app.exe");
    assert_eq!(energy.series[0].distribution.p50(), Some(1_000_000));
    assert!(!String::from_utf8(energy.write()).unwrap().contains("HarddiskVolume"));
}

#[test]
fn what_can_not_be_a_result_is_named_with_what_reads_it() {
    for (name, words) in [
        ("perf-sched-latency.txt", "oversleep why"),
        ("perf-sched-timehist.txt", "oversleep why"),
        ("rtla-osnoise-top.txt", "rtla osnoise hist"),
    ] {
        let error = of(&bytes(name)).unwrap_err().to_string();
        assert!(error.contains(words), "{name}: {error}");
    }
    let error = of(&[&[0, 0, 1, 0][..], &[0; 70], &[2, 0xc0, 0, 0]].concat()).unwrap_err().to_string();
    assert!(error.contains("tracerpt"), "{error}");
    for program in [&b"\x7fELF\x02\x01\x01"[..], b"#!/bin/sh\nsleep 1\n"] {
        let error = of(program).unwrap_err().to_string();
        assert!(error.starts_with("it is a program: `oversleep why ") && error.contains("assert --base"), "{error}");
    }
    // Recordings of the kernel's events are results of `oversleep why`; these two are cut off.
    for (head, name) in [(&b"PERFILE2\0\0\0\0"[..], "perf.data"), (b"\x17\x08\x44tracing6\0", "trace.dat")] {
        let error = oversleep_exchange::read(&mut &*head, |_| {}).unwrap_err().to_string();
        let begin = format!("it is {name}, but it is cut off: its {} B end before its events begin. ", head.len());
        assert!(error.starts_with(&begin) && error.contains("--how-to-record"), "{error}");
    }
}

#[test]
fn damage_is_named_with_its_line() {
    let cut = |name: &str, from: &str, to: &str| {
        let text = String::from_utf8(bytes(name)).unwrap();
        assert!(text.contains(from), "{name} has no {from}");
        of(text.replace(from, to).as_bytes()).unwrap_err().to_string()
    };
    for (name, from, to, message) in [
        ("cyclictest-hist.txt", "000013 000168", "000013 many", "in line 16, 'many' is not a number of values"),
        ("rtla-timerlat-hist.txt", "56104", "56104 7", "in line 6, it has more values than columns"),
        ("measuresleep.txt", "slept 1.0012ms", "slept nothing", "in line 2, 'slept' is missing"),
        ("jhiccup.hlog", "HISTFAAAA", "HISTFBBBB", "in line 4, its histogram is damaged"),
        ("hyperfine.json", "\"times\": [", "\"times\": [[", "in line 12, invalid type: sequence, expected f64"),
    ] {
        let error = cut(name, from, to);
        assert!(error.contains(message), "{name}: {error}");
    }
}

/// Deterministic damage of every sample: nothing panics, and whatever is read can be written and read again.
/// `OVERSLEEP_INPUTS=1000000 cargo test --release -p oversleep-exchange` tries that many of each.
#[test]
fn damaged_files_never_panic() {
    let inputs = std::env::var("OVERSLEEP_INPUTS").ok().and_then(|inputs| inputs.parse().ok()).unwrap_or(300);
    let mut state = 7_u64;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below.max(1)
    };
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/files")).unwrap() {
        let good = std::fs::read(entry.unwrap().path()).unwrap();
        let own = recognise(&good).unwrap().expect("it is known");
        for _ in 0..inputs {
            let mut bad = good.clone();
            for _ in 0..=random(4) {
                let at = random(bad.len());
                match random(4) {
                    0 => bad.truncate(at),
                    1 => _ = bad.splice(at..(at + random(8)).min(bad.len()), []).count(),
                    2 => bad.insert(at, b"0123456789-.e,\t\0\xff"[random(17)]),
                    _ => {
                        if let Some(byte) = bad.get_mut(at) {
                            *byte = random(256) as u8;
                        }
                    }
                }
            }
            _ = recognise(&bad);
            if let Ok(file) = own.read(&bad) {
                ResultFile::read(&file.write()).unwrap();
            }
        }
    }
}

#[test]
fn a_format_survives_the_files_of_others() {
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/files")).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        for format in FORMATS {
            if let Ok(file) = format.read(&bytes) {
                ResultFile::read(&file.write()).unwrap();
            }
        }
    }
}

#[test]
fn intervals_of_a_log_are_rounds_if_there_are_ten() {
    let log = String::from_utf8(bytes("jhiccup.hlog")).expect("text");
    let (head, rows): (Vec<&str>, Vec<&str>) = log.lines().partition(|line| line.starts_with(['#', '"']));
    let with = |count: usize| {
        let row = |at: usize| {
            let (_, rest) = rows[at % rows.len()].split_once(',').expect("columns");
            format!("{}.000000,{rest}", 1_790_000_000 + at)
        };
        let lines: Vec<String> = head.iter().map(|line| (*line).to_owned()).chain((0..count).map(row)).collect();
        of((lines.join("\n") + "\n").as_bytes()).expect("a log").series.remove(0)
    };
    let series = with(12);
    assert_eq!(series.rounds.len(), 12);
    assert_eq!(series.rounds.iter().map(|round| round.count).sum::<u64>(), series.distribution.count());
    assert!(series.rounds.windows(2).all(|two| (two[1].start_ns - two[0].start_ns) == Nanos::from_millis(1_000)));
    assert!(with(9).rounds.is_empty(), "too few for an interval");
}
