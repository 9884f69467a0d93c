//! The results that streams of events become, and how they are read: as text without styles.

use std::path::PathBuf;

use oversleep_explain::compare::compare;
use oversleep_record::Identity;
use oversleep_record::comparison::Comparison;
use oversleep_record::finding::{Finding, Verdict};
use oversleep_record::observed::Observation;
use oversleep_record::{ResultFile, Series};
use oversleep_report::terminal::{self, Detail};
use oversleep_report::view::comparison::{Sketch, view};
use oversleep_report::view::head;

pub fn package() -> PathBuf {
    std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from)
}

fn results() -> PathBuf {
    package().join("../oversleep-why/tests/results")
}

/// The result with that name: `recorded`, `made-plain`.
pub fn result(name: &str) -> ResultFile {
    let bytes = std::fs::read(results().join(format!("{name}.json"))).unwrap_or_else(|error| panic!("{name}: {error}"));
    ResultFile::read(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The names of all of them, in order.
pub fn names() -> Vec<String> {
    let files = std::fs::read_dir(results()).expect("they are committed").map(|entry| entry.unwrap().path());
    let mut names: Vec<String> = files.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The recording: 120 waits of one kind, on one CPU with a task of SCHED_FIFO.
pub fn recorded() -> ResultFile {
    result("recorded")
}

/// A result of an earlier version with every field and every word in it.
pub fn everything() -> ResultFile {
    ResultFile::read(include_bytes!("../../../../schema/golden/why-v1/everything.json")).expect("a golden file")
}

pub fn observation(file: &mut ResultFile) -> &mut Observation {
    file.observation.as_mut().expect("a program was observed")
}

/// The waits of a series as those of another identity.
pub fn renamed(series: &Series, change: impl FnOnce(&mut Identity)) -> Series {
    let mut identity = Identity::of(series).expect("it is observed");
    change(&mut identity);
    let named = Series::observed(&identity, oversleep_record::environment::Os::Linux, series.distribution.clone());
    Series {
        key: named.key,
        subject: named.subject,
        requested_ns: named.requested_ns,
        labels: named.labels,
        ..series.clone()
    }
}

/// What was found, by the names of the findings.
pub fn found(file: &ResultFile) -> Vec<Finding> {
    let all = oversleep_explain::findings(file);
    all.into_iter().filter(|finding| finding.verdict == Verdict::Found).collect()
}

/// A report as wide as the terminal may be.
pub fn report(file: &ResultFile) -> String {
    plain(&terminal::report(file, 160, Detail::Full))
}

/// What is shown without --full.
pub fn brief(file: &ResultFile, width: usize) -> String {
    plain(&terminal::report(file, width, Detail::Brief))
}

/// What a terminal of that size shows meanwhile.
pub fn so_far(file: &ResultFile, width: usize, height: usize) -> String {
    plain(&terminal::so_far(file, width, height))
}

pub fn compared(results: &[ResultFile]) -> Comparison {
    compare(results, head::machine)
}

/// The words of a comparison.
pub fn comparison(results: &[ResultFile]) -> String {
    let names: Vec<String> = (1..=results.len()).map(|number| format!("{number}.json")).collect();
    plain(&terminal::comparison(&view(&compared(results), &Sketch::of_all(results), &names, true), 160))
}

/// Without styles, and with sentences in one line.
fn plain(styled: &str) -> String {
    let mut parts = styled.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').map_or("", |(_, rest)| rest))
}
