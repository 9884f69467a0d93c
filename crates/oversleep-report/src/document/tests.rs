//! Subjects in every format.

use oversleep_record::comparison::Comparison as Compared;
use oversleep_record::conditions::{Conditions, Setting};
use oversleep_record::testing::{Sheet, held, rounds};
use oversleep_record::{Distribution, FactName, Nanos, ResultFile, Unavailable};

use super::*;
use crate::ask::Reply;
use crate::view::comparison::{Sketch, view};
use crate::view::gallery::Machine;
use crate::view::head;
use crate::view::testing::{hostile, rich};

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
