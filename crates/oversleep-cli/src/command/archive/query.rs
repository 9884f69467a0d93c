//! `archive query`.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use oversleep_archive::query::{Group, Measured, in_words};
use oversleep_archive::store::{Archive, DayFile};
use oversleep_archive::views::{Engine, views};
use oversleep_archive::{Answer, Column, Filter, Gathering, Query as Question, QueryError};
use oversleep_record::words::{counted, grouped};
use oversleep_report::document::{Brief, Head, Records};
use serde_json::{Value, json};

use super::{Query, failed};
use crate::exit::{Exit, Failure};
use crate::message;
use crate::output::show;

/// More rows take minutes here, and an engine with many CPUs seconds.
const ROWS_MAX: u64 = 20_000_000;

pub(super) fn run(query: &Query) -> Result<Exit, Failure> {
    let usage = |error: QueryError| Failure::usage(error.to_string());
    let question: Question = query.question.parse().map_err(usage)?;
    let Selected { archive, filter, names } = selected(&query.folder, &query.tests, query.here)?;
    let mut gathering = Gathering::new(question, filter, query.mixed);
    archive.gather(&mut gathering).map_err(|error| failed(&error))?.map_err(usage)?;
    let answer = gathering.finish();
    let nothing = if answer.rows() == 0 { Some(nothing(&archive, &query.tests)?) } else { None };
    show(&query.documents, &records(&query.question, answer, &names, nothing))
}

/// What is said of a selection without rows, whose values rows have, each on its own.
pub(super) fn nothing(archive: &Archive, tests: &str) -> Result<String, Failure> {
    let days = archive.days().map_err(|error| failed(&error))?;
    let Some((first, last)) = days.first().zip(days.last()) else {
        return Ok("The archive has no rows; `oversleep archive add` adds results.".to_owned());
    };
    Ok(format!("No row passes all tests of --where '{tests}'. The archive has rows from {first} to {last} (UTC)."))
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
    let unmet = archive.unmet(&filter).map_err(|error| failed(&error))?;
    let (unmet, is_nothing) = if files.is_empty() { Default::default() } else { unmet.sentences(&filter, &names) };
    if is_nothing {
        return Err(Failure::usage(unmet.join("; ")));
    }
    unmet.iter().for_each(|sentence| message::warning(sentence));
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

/// The most rows of a table on a terminal: a few screens.
const SHOWN_MAX: usize = 40;

fn records(title: &str, mut answer: Answer, names: &BTreeMap<String, String>, nothing: Option<String>) -> Records {
    let groups = answer.by.iter().map(|group| Head { name: group.to_string(), is_figure: false });
    let figures = answer.figures.iter().map(|figure| Head { name: figure.to_string(), is_figure: true });
    let heads: Vec<Head> = groups.chain(figures).collect();
    answer.sort(names);
    // A machine has the name that its owner gave it, where the archive has that name.
    let is_machine: Vec<bool> = answer.by.iter().map(|group| *group == Group::Column(Column::Source)).collect();
    let named = |at: usize, text: &String| match is_machine.get(at) {
        Some(true) => names.get(text).unwrap_or(text).clone(),
        _ => text.clone(),
    };
    let with_names = |row: Vec<String>| row.iter().enumerate().map(|(at, text)| named(at, text)).collect();
    let needs_values = answer.figures.iter().any(|figure| figure.needs_values());
    let has_values: Vec<bool> = answer.groups.iter().map(|(_, merged)| !needs_values || merged.count() > 0).collect();
    let lines = answer.for_people().into_iter().zip(&has_values);
    let shown: Vec<Vec<String>> = lines.filter(|(_, has)| **has).map(|(row, _)| with_names(row)).collect();
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
    let mut notes = vec![nothing.unwrap_or(about)];
    let without = has_values.iter().filter(|has| !**has).count() as u64;
    if without > 0 {
        notes.push(format!("{} without values left out; --csv and --json have them.", counted(without, "line")));
    }
    if disturbed > 0 && needs_values {
        notes.push(format!(
            "{} of these rows were measured while something else used the machine; --where disturbed=no leaves them out.",
            grouped(disturbed)
        ));
    }
    let brief = (shown.len() > SHOWN_MAX).then(|| brief(&answer, &heads, &shown));
    Records { title: title.to_owned(), heads, shown, exact, notes, brief }
}

/// The first rows of a long table, without the columns of series that all of them agree in.
fn brief(answer: &Answer, heads: &[Head], shown: &[Vec<String>]) -> Brief {
    let first = &shown[..SHOWN_MAX];
    let is_series = |at: usize| (answer.typed..answer.by.len()).contains(&at);
    let differs = |at: usize| first.iter().any(|row| row[at] != first[0][at]);
    let (kept, same): (Vec<usize>, Vec<usize>) = (0..heads.len()).partition(|&at| !is_series(at) || differs(at));
    let more = format!("… {}: --csv has all", counted((shown.len() - SHOWN_MAX) as u64, "more line"));
    let choices =
        answer.by.iter().enumerate().filter(|&(at, group)| {
            matches!(group, Group::Column(Column::Subject | Column::RequestNs)) && is_series(at)
        });
    let choices: Vec<String> = choices
        .map(|(at, group)| match group {
            Group::Column(Column::Subject) => format!("wait={}", first[0][at]),
            group => format!("{group}={}", first[0][at].replace(' ', "").replace('µ', "u")),
        })
        .collect();
    let choices = match &choices[..] {
        [] => String::new(),
        some => format!(", or choose with --where '{}'", some.join(" ")),
    };
    let same: Vec<String> = same.iter().map(|&at| format!("{} {}", heads[at].name, first[0][at])).collect();
    let same = if same.is_empty() { String::new() } else { format!("These lines are all of {}.", same.join(", ")) };
    Brief {
        heads: kept.iter().map(|&at| heads[at].clone()).collect(),
        shown: first.iter().map(|row| kept.iter().map(|&at| row[at].clone()).collect()).collect(),
        notes: [format!("{more}{choices}."), same].into_iter().filter(|note| !note.is_empty()).collect(),
    }
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
