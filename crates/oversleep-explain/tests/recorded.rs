//! The rules inferred from the recorded streams of real runtimes: Linux 6.18 on a KVM guest, timer slack 50 µs,
//! 2026-11-23, on an idle machine. `cargo run -p oversleep-runtimes --example record --
//! crates/oversleep-explain/tests/recorded` records them again. `OVERSLEEP_UPDATE_GOLDEN=1` writes the table again;
//! read the difference before you commit it.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use oversleep_explain::runtimes::rule::{Point, Rule, Ruling, Zero};
use oversleep_record::Nanos;
use oversleep_record::probe::Record;

/// One process: its operation, its measurements, and whether it finished.
#[derive(Default)]
struct Process {
    op: String,
    points: Vec<Point>,
    zero: Option<Zero>,
    has_ended: bool,
}

fn processes(text: &str) -> Vec<Process> {
    let mut all: Vec<Process> = Vec::new();
    for line in text.lines() {
        let record = Record::read(line).unwrap_or_else(|error| panic!("{error}"));
        match record {
            Some(Record::Hello(_)) => all.push(Process::default()),
            Some(Record::S(samples)) if samples.by.is_none() => {
                let process = all.last_mut().expect("hello comes first");
                process.op = samples.op;
                let point = Point::of(Nanos(samples.requested), &samples.d);
                match samples.requested {
                    0 => process.zero = samples.d.iter().min().map(|&least| Zero::Returns(Nanos(least))),
                    _ => process.points.push(point),
                }
            }
            Some(Record::Skip { .. }) => {
                all.last_mut().expect("hello comes first").zero = Some(Zero::Refused);
            }
            Some(Record::End { .. }) => all.last_mut().expect("hello comes first").has_ended = true,
            _ => {}
        }
    }
    all.retain(|process| !process.points.is_empty());
    all
}

fn row(runtime: &str, process: &Process) -> String {
    let rule = match Ruling::of(&process.points) {
        Ok(ruling) => ruling.rule.to_string(),
        Err(why) => why.to_string().split(" (").next().unwrap_or_default().to_owned(),
    };
    let zero = match process.zero.filter(|_| process.has_ended) {
        Some(zero) => zero.to_string(),
        None if process.has_ended => "not measured".to_owned(),
        None => Zero::Forever.to_string(),
    };
    format!("{runtime:<16} {:<34} {rule:<30} {zero}", process.op)
}

#[test]
fn the_rules_of_recorded_runtimes_are_found() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded");
    let mut files: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "ndjson"));
    files.sort();
    assert!(files.len() >= 11, "{files:?}");
    let mut table = String::new();
    for file in files {
        let runtime = file.file_stem().unwrap().to_str().unwrap();
        for process in processes(&fs::read_to_string(&file).unwrap()) {
            writeln!(table, "{}", row(runtime, &process).trim_end()).unwrap();
        }
    }
    let rules: Vec<String> = Rule::STEADY.iter().chain(&[Rule::RoundsUpToGrid]).map(ToString::to_string).collect();
    let without = table.lines().filter(|line| !rules.iter().any(|rule| line.contains(rule)));
    // The duration of Task.Delay(1 ms) in .NET depends on when it begins: 3.3 or 4.4 ms.
    let others: Vec<&str> = without.filter(|line| !line.contains("Task.Delay")).collect();
    assert!(others.is_empty(), "no rule was found: {others:#?}");
    let golden = folder.join("rules.txt");
    if env::var_os("OVERSLEEP_UPDATE_GOLDEN").is_some() {
        fs::write(&golden, &table).unwrap();
    }
    assert_eq!(table, fs::read_to_string(&golden).unwrap());
}
