//! Rows and archives for tests.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use oversleep_archive::store::{Adding, Archive};
use oversleep_archive::{Column, Digits, Filter, Machine, Row};
use oversleep_record::Distribution;

/// 2023-11-14, 22:13:20 UTC, in µs since 1970.
pub const TAKEN_US: i64 = 1_700_000_000_000_000;

/// A row with these values; every other row has what isn't known.
pub fn row(number: i64, values: &Distribution) -> Row {
    let known = number % 2 == 0;
    let text = |text: &str| known.then(|| text.to_owned());
    let map = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    let mut row = Row {
        source: format!("source {}", number % 7),
        content: number,
        taken_us: TAKEN_US + number,
        seconds: 18.5,
        tool: "oversleep 0.1.0".to_owned(),
        machine: Machine {
            os: "linux".to_owned(),
            os_version: text("Debian 12"),
            kernel: text(&format!("6.{}", number % 5)),
            cpu_model: text("AMD EPYC 7763"),
            cpus: known.then_some(2),
            hypervisor: text("kvm"),
            container: text("none"),
            clocksource: text("tsc"),
            preemption: text("voluntary"),
            hz: known.then_some(250),
            libc: text("glibc 2.36"),
            governor: text("schedutil"),
        },
        facts: Arc::new(if known { map(&[("timer.slack_ns", "50000"), ("cpu.smt", "true")]) } else { map(&[]) }),
        name: text("a name"),
        experiment: "B5".to_owned(),
        subject: "nanosleep".to_owned(),
        runtime: text("go 1.22"),
        quantity: "lateness".to_owned(),
        unit: "ns".to_owned(),
        request_ns: known.then_some(1_000_000),
        conditions: if known { "slack=1ns".to_owned() } else { String::new() },
        labels: if known { map(&[]) } else { map(&[("program", "app µ")]) },
        missed: 3,
        steal_share: known.then_some(0.25),
        disturbed: known,
        ..Row::default()
    };
    row.set_values(values);
    row
}

pub fn values(of: impl IntoIterator<Item = i64>) -> Distribution {
    let mut values = Distribution::new();
    of.into_iter().for_each(|value| values.record(value));
    values
}

/// Adds rows, each as a result of its own.
pub fn add(folder: &Path, rows: impl IntoIterator<Item = Row>) -> Vec<std::path::PathBuf> {
    let archive = Archive::open_or_make(folder).unwrap();
    let mut adding = Adding::begin(&archive, Digits::Three).unwrap();
    for row in rows {
        adding.add_rows(vec![row]).unwrap();
    }
    adding.finish().unwrap()
}

/// All rows, in the order of their contents.
pub fn all(folder: &Path) -> Vec<Row> {
    let archive = Archive::open(folder).unwrap();
    let columns = Column::ALL.iter().copied().collect();
    let mut rows = Vec::new();
    let files = archive.files(&Filter::default()).unwrap();
    let taken = archive.each(&files, &columns, |row| {
        rows.push(row.clone());
        Ok::<(), std::convert::Infallible>(())
    });
    let Ok(()) = taken.unwrap();
    rows.sort_by_key(|row| row.content);
    rows
}
