//! What a run leaves behind, read again: it says the same, and a file that contradicts itself is refused.

use oversleep_record::Identity;
use oversleep_record::file::FileError;
use oversleep_record::{Distribution, ResultFile, Series};
use oversleep_why::recording::Reader;
use oversleep_why::session::replay;
use serde_json::Value;

static FIFO: &[u8] = include_bytes!("../recorded/fifo.why");

fn result() -> ResultFile {
    replay(FIFO).expect("a recording")
}

fn changed(change: impl FnOnce(&mut Value)) -> Result<ResultFile, FileError> {
    let mut value: Value = serde_json::from_slice(&result().write()).unwrap();
    change(&mut value);
    ResultFile::read(value.to_string().as_bytes())
}

#[test]
fn a_result_reads_back_as_it_was() {
    let result = result();
    let bytes = result.write();
    assert!(bytes.starts_with(br#"{"schema":"oversleep-result/3","tool":{"name":"oversleep","#));
    assert!(Reader::knows(FIFO) && !Reader::knows(&bytes) && !Reader::knows(b"{}"));
    assert!(ResultFile::read(FIFO).is_err(), "a recording is no result");
    assert!(ResultFile::read(&bytes).unwrap() == result);
}

#[test]
fn an_observed_series_is_known_by_its_key_and_its_identity() {
    let file = result();
    let [series] = &file.series[..] else { panic!("{} kinds of waits", file.series.len()) };
    assert_eq!(
        (series.key.as_str(), series.subject.as_str()),
        ("Y1/clock_nanosleep/1ms/program=app", "clock_nanosleep")
    );
    let identity = Identity::of(series).expect("it is observed");
    assert_eq!(identity.to_string(), "app: clock_nanosleep for 1 ms");
    let slices: u64 = series.rounds.iter().map(|round| round.count).sum();
    assert_eq!((series.counts.recorded, slices), (120, 120), "every wait is in one slice of the time");
    let again = Series::observed(&identity, oversleep_record::environment::Os::Linux, series.distribution.clone());
    assert_eq!((&again.key, &again.labels, &again.clock), (&series.key, &series.labels, &series.clock));
}

#[test]
fn a_file_that_contradicts_itself_is_refused_with_what_is_wrong() {
    assert!(changed(|_| {}).is_ok());
    let error = |change: fn(&mut Value)| changed(change).expect_err("it is refused").to_string();
    let refused = |change: fn(&mut Value), says: &str| {
        let error = error(change);
        assert!(error.starts_with("damaged result file: ") && error.contains(says), "{error}");
    };
    refused(|v| v["series"][0]["counts"]["recorded"] = 7.into(), "7 recorded, but its histogram holds 120");
    let seven = serde_json::to_value(Distribution::of_equal(5, 7)).unwrap();
    let part = changed(|v| v["series"][0]["why"]["parts"]["runq"] = seven).expect_err("it is refused").to_string();
    assert!(part.contains("120 waits are split, but a part holds 7 values"), "{part}");
    refused(|v| v["series"][0]["why"]["attributed_count"] = 700.into(), "700 waits are split, but the split holds 120");
    refused(|v| v["series"][0]["observed"]["steal_count"] = 121.into(), "it counts more waits of one kind than waits");
    refused(|v| v["series"][0]["counts"]["early"] = 1.into(), "1 early, but its histogram holds 0");
    refused(|v| v["observation"]["worst"][0]["parts"]["runq"] = 7.into(), "and its parts add up to");
    refused(
        |v| {
            let first = v["series"][0].clone();
            v["series"].as_array_mut().unwrap().push(first);
        },
        "two series have the key 'Y1/clock_nanosleep/1ms/program=app'",
    );
    refused(
        |v| {
            let first = v["observation"]["worst"][0].clone();
            v["observation"]["worst"].as_array_mut().unwrap().extend(vec![first; 100]);
        },
        "it has more waits in full than any run keeps",
    );
    assert!(error(|v| v["schema"] = "oversleep-result/9".into()).contains("written in schema 'oversleep-result/9'"));
    let deep = [&b"["[..]; 100_000].concat();
    assert!(ResultFile::read(&deep).is_err() && ResultFile::read(b"").is_err());
}
