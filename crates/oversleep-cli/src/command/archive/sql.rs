//! `archive sql`.

use oversleep_archive::Filter;
use oversleep_archive::sql::{Cell, SqlError, Table, answer, columns_of};
use oversleep_archive::store::Archive;
use oversleep_archive::views::{FIRST, PORTABLE};
use oversleep_record::words::counted;
use oversleep_report::document::{Head, Records};
use serde_json::{Value, json};

use super::query::limit;
use super::{Sql, failed};
use crate::exit::{Exit, Failure};
use crate::output::{show, stdout};

pub(super) fn run(sql: &Sql) -> Result<Exit, Failure> {
    if sql.statement.trim() == ".help" {
        stdout::text(&help())?;
        return Ok(Exit::Fine);
    }
    let archive = Archive::open(&sql.folder).map_err(|error| failed(&error))?;
    let files = archive.files(&Filter::default()).map_err(|error| failed(&error))?;
    limit(&archive, &files, &sql.folder, sql.here)?;
    let table = answer(&archive, &sql.statement).map_err(|error| match error {
        SqlError::Store(error) => failed(&error),
        error => Failure::usage(format!(
            "{error}; `oversleep archive sql {} .help` lists tables and columns",
            sql.folder.display()
        )),
    })?;
    show(&sql.documents, &records(&sql.statement, &table))
}

fn records(statement: &str, table: &Table) -> Records {
    let is_figure = |at: usize| table.rows.iter().all(|row| !matches!(row[at], Cell::Text(_)));
    let head = |(at, name): (usize, &String)| Head { name: name.clone(), is_figure: is_figure(at) };
    let text = |cell: &Cell| match cell {
        Cell::Null => "unknown".to_owned(),
        Cell::Integer(number) => number.to_string(),
        Cell::Real(number) => number.to_string(),
        Cell::Text(text) => text.clone(),
    };
    let value = |cell: &Cell| match cell {
        Cell::Null => Value::Null,
        Cell::Integer(number) => json!(number),
        Cell::Real(number) => json!(number),
        Cell::Text(text) => json!(text),
    };
    Records {
        title: statement.to_owned(),
        heads: table.heads.iter().enumerate().map(head).collect(),
        shown: table.rows.iter().map(|row| row.iter().map(text).collect()).collect(),
        exact: table.rows.iter().map(|row| row.iter().map(value).collect()).collect(),
        notes: vec![format!("{}.", counted(table.rows.len() as u64, "row"))],
        brief: None,
    }
}

/// Tables and columns, 80 columns wide.
fn help() -> String {
    let mut text = String::new();
    for (table, about) in [
        ("histograms", "a row for each series"),
        ("buckets", "a row for each bucket of histograms that agree in the columns you use: sum bucket_n"),
    ] {
        text += &format!("{table}: {about}\n");
        let mut line = String::from(" ");
        for column in columns_of(table) {
            if line.len() + column.len() + 1 > 79 {
                text += &format!("{line}\n");
                " ".clone_into(&mut line);
            }
            line = format!("{line} {column}");
        }
        text += &format!("{line}\n\n");
    }
    text += "Values are in nanoseconds where unit is ns; bucket_hi is a bucket's largest value.\n\
             Facts and labels are JSON: json_extract(facts, '$.\"timer.slack_ns\"').\n\n\
             Percentiles by kernel, on every engine:\n\n";
    text + FIRST + PORTABLE
}
