//! Subjects in every format.

use oversleep_record::comparison::Comparison as Compared;
use oversleep_record::conditions::{Conditions, Setting};
use oversleep_record::observed::wakes::{IdleWakes, Rhythm, Wakes, WokenBy};
use oversleep_record::testing::{Sheet, held, rounds};
use oversleep_record::{Distribution, FactName, Nanos, Observation, ResultFile, Unavailable};

use super::exports::{BENCHER, BUCKETS, HGRM};
use super::*;
use crate::ask::Reply;
use crate::view::comparison::{Sketch, view};
use crate::view::gallery::Machine;
use crate::view::testing::{hostile, rich};
use crate::view::{head, wakes};

fn written(subject: &dyn Subject, format: &Entry) -> String {
    String::from_utf8(bytes(subject, format, &Layout { width: 100, ..Layout::default() })).expect("documents are UTF-8")
}

fn compared(results: &[ResultFile]) -> (Compared, Vec<Sketch>, Vec<String>) {
    let names = (1..=results.len()).map(|index| format!("r{index}.json")).collect();
    (oversleep_explain::compare::compare(results, head::machine), Sketch::of_all(results), names)
}

fn refused() -> Reply {
    Reply {
        machine: "windows-11".to_owned(),
        modelled: None,
        changes: Vec::new(),
        question: "epoll-wait(1ms)".parse().expect("it is a question"),
        under: Vec::new(),
        answer: Err("it has no such wait, and no other".to_owned()),
        helps: Vec::new(),
        nothing_helps: None,
        versions: None,
    }
}

#[test]
fn every_field_of_a_series_is_beneath_its_head() {
    let slack = Conditions::as_found().with("slack", Setting::Nanos(Nanos(1)));
    let mut series = rounds("B5/nanosleep/300us", &[11, 13, 17, 19, 23, 29, 31, 37, 41, 47], 7);
    series.distribution = Distribution::of_counts([(11, 49), (23, 10), (37, 31), (41, 9), (47, 1)]);
    series.rounded_ns = Some(Nanos::from_millis(1));
    series.conditions = held(slack);
    let file = Sheet::linux().series(series).unavailable("A1/tsc", Unavailable::NotOnThisPlatform).file;
    assert_eq!(
        written(&file, &CSV),
        "key,experiment,subject,quantity,unit,requested_ns,rounded_ns,conditions,count,min,p50,p90,p99,max,mean,beyond\r\n\
         B5/nanosleep/300us,B5,nanosleep,lateness,ns,300000,1000000,slack=1 ns,100,11,23,37,,47,23.32,\r\n\
         A1/tsc,A1,tsc,cost,ps,,,as found,0,,,,,,,\r\n"
    );
}

/// A result of 1,000 waits, of which no two figures are equal.
fn thousand() -> ResultFile {
    let mut series = rounds("B5/nanosleep/1ms", &[11, 23, 37, 41], 250);
    series.distribution = Distribution::of_counts([(11, 490), (23, 20), (37, 390), (41, 90), (47, 10)]);
    Sheet { file: ResultFile { name: Some("desk".to_owned()), ..Sheet::linux().file } }.series(series).file
}

#[test]
fn every_field_of_a_comparison_is_beneath_its_head() {
    let (comparison, sketches, names) = compared(&[thousand()]);
    let comparison = Comparison { compared: &comparison, sketches: &sketches, names: &names, shown: view };
    assert_eq!(
        written(&comparison, &CSV),
        "key,experiment,subject,quantity,unit,requested_ns,conditions,letter,result,count,mean,p50,p50_low,p50_high,p99,max,\
         p50_verdict,unavailable\r\n\
         B5/nanosleep/1ms,B5,nanosleep,lateness,ns,1000000,as found,A,r1.json,1000,24,23,-18,64,41,47,,\r\n"
    );
}

#[test]
fn every_field_of_many_results_is_beneath_its_head() {
    assert_eq!(
        written(&Gallery(&[Machine::of(&thousand(), "r.json")]), &CSV),
        "number,name,file,os,machine,mark,reliability,wait,requested_ns,count,p50_ns,p99_ns\r\n\
         1,desk,r.json,linux,Linux x86_64,,good,nanosleep,1000000,1000,23,41\r\n"
    );
}

#[test]
fn every_field_of_a_recording_is_beneath_its_head() {
    let idle = IdleWakes { program: "game".to_owned(), tgid: 7, by: WokenBy::Timer, timer: None, count: 40 };
    let rhythm = Rhythm {
        program: "game".to_owned(),
        thread: "audio".to_owned(),
        tid: 9,
        count: 390,
        p10_ns: Nanos(9_900_000),
        p50_ns: Nanos(10_000_000),
        p90_ns: Nanos(10_300_000),
    };
    let wakes = Wakes { span_ns: Nanos::from_secs(5), idle: vec![idle], idle_beyond: 10, rhythms: vec![rhythm] };
    let mut file = Sheet::linux().file;
    file.observation = Some(Observation { wakes: Some(wakes), ..Observation::default() });
    assert_eq!(
        written(&file, &CSV).lines().skip(1).collect::<Vec<_>>(),
        [
            "\"idle-wake-ups/game/timer, unnamed\",,game,idle-wake-ups,1/s,,,\"timer, unnamed\",40,,,,,,8.00,",
            "rhythm/game/9,,audio,interval,ns,,,,390,,10000000,10300000,,,,",
        ]
    );
    let rows = |table: Option<crate::view::table::Table>| -> Vec<String> {
        let table = table.expect("it has rows");
        let row = table.rows[0].iter().map(|cell| cell.text.clone());
        table
            .columns
            .iter()
            .map(|column| column.head.clone())
            .zip(row)
            .map(|(head, cell)| format!("{head}: {cell}"))
            .collect()
    };
    assert_eq!(
        rows(wakes::idle(&file)),
        ["woken for: game", "by: timer, unnamed", "count: 40", "per second: 8.00", "share: 80 %"]
    );
    assert_eq!(
        rows(wakes::rhythms(&file)),
        [
            "program: game",
            "thread: audio",
            "intervals: 390",
            "period (p50): 10 ms",
            "p10: 9.9 ms",
            "p90: 10.3 ms",
            "jitter (p90 − p10): 400 µs"
        ]
    );
}

#[test]
fn other_programs_read_the_figures_of_the_series() {
    let file = thousand();
    assert_eq!(
        written(&file, &BUCKETS),
        "key,unit,highest_value,count\r\n\
         B5/nanosleep/1ms,ns,11,490\r\nB5/nanosleep/1ms,ns,23,20\r\nB5/nanosleep/1ms,ns,37,390\r\n\
         B5/nanosleep/1ms,ns,41,90\r\nB5/nanosleep/1ms,ns,47,10\r\n"
    );
    assert_eq!(
        written(&file, &HGRM),
        "#[Series = B5/nanosleep/1ms]
       Value     Percentile TotalCount 1/(1-Percentile)

    0.000011 0.490000000000        490           1.96
    0.000023 0.510000000000        510           2.04
    0.000037 0.900000000000        900          10.00
    0.000041 0.990000000000        990         100.00
    0.000047 1.000000000000       1000
#[Mean    =     0.000024]
#[Max     =     0.000047, Total count    =         1000]
"
    );
    let one = Sheet::linux().steady("B5/poll/1ms", 66_001).file;
    assert!(written(&one, &BUCKETS).ends_with("\r\nB5/poll/1ms,ns,66001,80\r\n"), "no bucket ends beyond the maximum");
    let figures: serde_json::Value = serde_json::from_str(&written(&file, &BENCHER)).expect("JSON");
    let of = |value, low, high| serde_json::json!({ "value": value, "lower_value": low, "upper_value": high });
    assert_eq!(
        figures,
        serde_json::json!({ "B5/nanosleep/1ms": {
            "lateness-p50": of(23, 11, 37), "lateness-p90": of(37, 37, 41), "lateness-p99": of(41, 41, 47),
        } })
    );
}

#[test]
fn every_reply_is_a_line_also_without_an_answer() {
    assert_eq!(
        written(&Answers(&[refused()]), &CSV),
        "machine,question,quantity,count,mean_ns,min_ns,p50_ns,p90_ns,p99_ns,max_ns,rule,reason\r\n\
         windows-11,epoll-wait(1ms),,,,,,,,,,\"it has no such wait, and no other\"\r\n"
    );
}

#[test]
fn every_result_of_a_comparison_is_a_line_of_each_of_its_series() {
    let one = |ns| Sheet::linux().steady("B5/nanosleep/1ms", ns).file;
    let results = [one(66_000), one(16_000)];
    let (comparison, sketches, names) = compared(&results);
    let comparison = Comparison { compared: &comparison, sketches: &sketches, names: &names, shown: view };
    let table = written(&comparison, &CSV);
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[1].starts_with("B5/nanosleep/1ms,B5,nanosleep,lateness,ns,1000000,as found,A,r1.json,"), "{table}");
    assert!(lines[2].contains(",B,r2.json,") && lines[2].ends_with(",differs,"), "{table}");
    assert_eq!(lines.len(), 3);
}

#[test]
fn a_list_has_every_format() {
    let data = serde_json::json!([{ "name": "tsc", "available": true, "why": null, "more": ["a", "b"] }]);
    let text = Box::new(|width| format!("{width} columns\n"));
    let columns = &["name", "available", "why", "more"];
    let list =
        Listing { title: "clocks".to_owned(), text, data: data.clone(), rows: crate::listing::Rows::In(""), columns };
    assert_eq!(written(&list, &TEXT), "100 columns\n");
    assert_eq!(written(&list, &CSV), "name,available,why,more\r\ntsc,true,,a; b\r\n");
    assert_eq!(
        written(&list, &MARKDOWN),
        "# oversleep: clocks\n\n## All\n\n| name | available | more |\n| --- | --- | --- |\n| tsc | true | a; b |\n"
    );
    assert!(written(&list, &HTML).contains("<td"));
    let text = Box::new(|_| "\u{1b}[1mtsc\u{1b}[0m: a <clock>\n".to_owned());
    let one = Listing {
        title: "tsc".to_owned(),
        text,
        data: serde_json::json!({ "why": data }),
        rows: crate::listing::Rows::In("/why"),
        columns,
    };
    assert_eq!(written(&one, &CSV), written(&list, &CSV));
    assert_eq!(written(&one, &MARKDOWN), "# oversleep: tsc\n\n~~~~text\ntsc: a <clock>\n~~~~\n");
    assert!(written(&one, &HTML).contains("<pre class=\"text\">tsc: a &lt;clock&gt;\n</pre>"));
}

#[test]
fn a_result_as_markdown_reads_like_this() {
    let file = Sheet::linux()
        .text(FactName::KernelRelease, "6.18")
        .steady("B5/nanosleep/1ms", 66_000)
        .steady("B5/poll/1ms", 67_000)
        .file;
    insta::assert_snapshot!("markdown-result", written(&file, &MARKDOWN));
}

#[test]
fn no_text_of_a_result_becomes_markup_in_markdown() {
    let document = written(&hostile(), &MARKDOWN);
    assert!(!document.contains(['\u{1b}', '\u{202e}']) && !document.contains("<script"), "{document}");
    let cells = |line: &str| line.replace("\\|", "").matches('|').count();
    let mut rows = document.lines().filter(|line| line.starts_with('|')).peekable();
    while let Some(row) = rows.next() {
        if rows.peek().is_some_and(|next| next.starts_with("| -")) {
            assert_eq!(cells(row), cells(rows.next().expect("it was seen")), "{row}");
        }
    }
}

#[test]
fn every_subject_has_every_format() {
    let results = [rich().file, hostile()];
    let (comparison, sketches, names) = compared(&results);
    let comparison = Comparison { compared: &comparison, sketches: &sketches, names: &names, shown: view };
    let machines = results.each_ref().map(|result| Machine::of(result, "r.json"));
    let replies = [refused()];
    let subjects: [&dyn Subject; 4] = [&results[0], &comparison, &Gallery(&machines), &Answers(&replies)];
    for subject in subjects {
        for format in FORMATS {
            let document = written(subject, format);
            assert!(document.ends_with('\n') && document.len() > 40, "{format:?}: {document}");
        }
    }
    assert!(comparison.pictures().len() >= results[0].pictures().len());
}

#[test]
fn formats_have_names_and_endings_of_their_own() {
    let distinct =
        |of: fn(&Entry) -> &str| FORMATS.iter().map(|entry| of(entry)).collect::<std::collections::BTreeSet<_>>();
    let counts = [distinct(|entry| entry.name), distinct(|entry| entry.extension), distinct(|entry| entry.media_type)];
    assert!(counts.iter().all(|names| names.len() == FORMATS.len()));
}
