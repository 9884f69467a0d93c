//! `archive query`.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use oversleep_archive::query::{Group, Measured, in_words};
use oversleep_archive::store::{Archive, DayFile};
use oversleep_archive::views::{Engine, views};
use oversleep_archive::{Answer, Column, Filter, Gathering, Query as Question, QueryError};
use oversleep_record::words::{counted, grouped};
use oversleep_report::document::{Head, Records};
use serde_json::{Value, json};

use super::{Query, failed};
use crate::exit::{Exit, Failure};
use crate::output::show;

/// More rows take minutes here, and an engine with many CPUs seconds.
const ROWS_MAX: u64 = 20_000_000;

pub(super) fn run(query: &Query) -> Result<Exit, Failure> {
    let usage = |error: QueryError| Failure::usage(error.to_string());
    let question: Question = query.question.parse().map_err(usage)?;
    let Selected { archive, filter, names } = selected(&query.folder, &query.tests, query.here)?;
    let mut gathering = Gathering::new(question, filter, query.mixed);
    archive.gather(&mut gathering).map_err(|error| failed(&error))?.map_err(usage)?;
    show(&query.documents, &records(&query.question, gathering.finish(), &names))
}

/// An archive, which of its rows are meant, and the names of its machines.
pub(super) struct Selected {
    pub(super) archive: Archive,
    pub(super) filter: Filter,
    names: BTreeMap<String, String>,
}

/// Opens an archive for a question about the rows that these tests take, unless it belongs on an engine.
pub(super) fn selected(folder: &Path, tests: &str, here: bool) -> Result<Selected, Failure> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now_us = i64::try_from(since.as_micros()).unwrap_or(i64::MAX);
    let filter = Filter::read(tests, now_us).map_err(|error| Failure::usage(error.to_string()))?;
    let archive = Archive::open(folder).map_err(|error| failed(&error))?;
    let names = archive.machines().map_err(|error| failed(&error))?;
    let filter = filter.with_names(&names);
    let files = archive.files(&filter).map_err(|error| failed(&error))?;
    limit(&archive, &files, folder, here)?;
    Ok(Selected { archive, filter, names })
}

/// Refuses what belongs on an engine, and says which and how.
pub(super) fn limit(archive: &Archive, files: &[DayFile], folder: &Path, here: bool) -> Result<(), Failure> {
    let rows = archive.rows(files).map_err(|error| failed(&error))?;
    if rows <= ROWS_MAX || here {
        return Ok(());
    }
    let what = format!(
        "{} are more than this command should read: it takes a minute for every 10 million. These views make the same files \
         tables of DuckDB, and `oversleep archive views ENGINE` prints those of other engines; --here answers here",
        counted(rows, "row")
    );
    let views = views(Engine::DuckDb, &folder.display().to_string());
    Err(Failure::Misread { what, next: views.lines().map(str::to_owned).collect() })
}

fn records(title: &str, mut answer: Answer, names: &BTreeMap<String, String>) -> Records {
    let groups = answer.by.iter().map(|group| Head { name: group.to_string(), is_figure: false });
    let figures = answer.figures.iter().map(|figure| Head { name: figure.to_string(), is_figure: true });
    let heads = groups.chain(figures).collect();
    // A machine is called as its owner calls it, where the archive has that name.
    let is_machine: Vec<bool> = answer.by.iter().map(|group| *group == Group::Column(Column::Source)).collect();
    let is_number: Vec<bool> = answer.by.iter().map(Group::is_number).collect();
    answer.sort_by_key(|key| {
        let name = |(at, cell): (usize, &Option<String>)| match (is_machine[at], is_number[at], cell) {
            (true, _, Some(source)) => Some(names.get(source).unwrap_or(source).clone()),
            (_, true, Some(number)) => Some(format!("{number:0>20}")),
            (_, _, cell) => cell.clone(),
        };
        key.iter().enumerate().map(name).collect()
    });
    let named = |at: usize, text: &String| match is_machine.get(at) {
        Some(true) => names.get(text).unwrap_or(text).clone(),
        _ => text.clone(),
    };
    let called = |row: Vec<String>| row.iter().enumerate().map(|(at, text)| named(at, text)).collect();
    let shown = answer.for_people().into_iter().map(called).collect();
    let exact = answer.groups.iter().zip(answer.figures()).map(|((key, _), figures)| {
        let cells =
            key.iter().enumerate().map(|(at, cell)| cell.as_ref().map_or(Value::Null, |text| json!(named(at, text))));
        cells.chain(figures.into_iter().map(value)).collect()
    });
    let exact = exact.collect();
    let same: Vec<String> =
        answer.same.iter().map(|(group, text)| format!("{group} {}", in_words(group, &Some(text.clone())))).collect();
    let rows = counted(answer.rows(), "row");
    let about = if same.is_empty() { format!("{rows}.") } else { format!("{rows}, all of {}.", same.join(", ")) };
    let disturbed: u64 = answer.groups.iter().map(|(_, merged)| merged.disturbed).sum();
    let mut notes = vec![about];
    if disturbed > 0 && answer.figures.iter().any(|figure| figure.needs_values()) {
        notes.push(format!(
            "{} of these rows were measured while something else used the machine; --where disturbed=no leaves them out.",
            grouped(disturbed)
        ));
    }
    Records { title: title.to_owned(), heads, shown, exact, notes }
}

fn value(measured: Measured) -> Value {
    match measured {
        Measured::Unknown => Value::Null,
        Measured::Value(value) => json!(value),
        Measured::Fraction(value) | Measured::Share(value) => json!(value),
        Measured::Number(number) => json!(number),
        Measured::Moment(_) => json!(measured.for_programs()),
    }
}
