//! Fills the tables with the columns that a statement uses.

use std::collections::{BTreeMap, BTreeSet};

use oversleep_record::Distribution;
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, Statement, params_from_iter};

use super::{SqlError, Used};
use crate::column::{Column, Value};
use crate::query::{day_of, moment_of};
use crate::row::{BEYOND, Row};
use crate::store::{Archive, DayFile};

/// A row for each histogram.
pub const HISTOGRAMS: &str = "histograms";
/// A row for each bucket of histograms that agree in all columns that are used.
pub const BUCKETS: &str = "buckets";
/// How many sums are in memory at a time: SQLite gets them then, and adds up those of the same histograms itself.
const SUMS_MAX: usize = 2_000;
/// How many of them have all the memory that adding needs, 262 KB each.
const FEW: usize = 64;

/// A value of a row that is used.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cell {
    Null,
    Text(String),
    Integer(i64),
    /// The bits of a fraction.
    Real(u64),
}

impl ToSql for Cell {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Cell::Null => ValueRef::Null,
            Cell::Text(text) => ValueRef::Text(text.as_bytes()),
            Cell::Integer(number) => ValueRef::Integer(*number),
            Cell::Real(bits) => ValueRef::Real(f64::from_bits(*bits)),
        }))
    }
}

/// What a column of SQL is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Column(Column),
    Day,
}

impl Place {
    /// `None` for columns of buckets and for the row itself.
    fn find(name: &str) -> Option<Place> {
        if name == "day" { Some(Place::Day) } else { Column::find(name).map(Place::Column) }
    }

    fn name(self) -> &'static str {
        match self {
            Place::Column(column) => column.name(),
            Place::Day => "day",
        }
    }

    fn of(self, row: &Row) -> Cell {
        let column = match self {
            Place::Day => return Cell::Text(day_of(row.taken_us)),
            Place::Column(Column::Taken) => return Cell::Text(moment_of(row.taken_us)),
            Place::Column(column) => column,
        };
        match row.value(column) {
            Value::Null | Value::List(_) => Cell::Null,
            Value::Text(text) => Cell::Text(text.to_owned()),
            Value::Integer(number) => Cell::Integer(number),
            Value::Real(number) => Cell::Real(number.to_bits()),
            Value::Flag(flag) => Cell::Integer(i64::from(flag)),
            Value::Map(map) => Cell::Text(serde_json::to_string(map).unwrap_or_default()),
        }
    }
}

fn places(names: &BTreeSet<String>) -> Vec<Place> {
    names.iter().filter_map(|name| Place::find(name)).collect()
}

fn columns(places: &[Place]) -> impl Iterator<Item = Column> {
    places.iter().map(|place| match place {
        Place::Day => Column::Taken,
        Place::Column(column) => *column,
    })
}

fn insert<'a>(database: &'a Connection, table: &str, names: &[&str]) -> Result<Statement<'a>, SqlError> {
    let marks = vec!["?"; names.len()].join(", ");
    Ok(database.prepare(&format!("INSERT INTO {table} ({}) VALUES ({marks})", names.join(", ")))?)
}

/// Fills the tables that the statement uses.
pub fn fill(archive: &Archive, files: &[DayFile], database: &Connection, used: &Used) -> Result<(), SqlError> {
    database.execute_batch("BEGIN")?;
    if let Some(names) = &used.histograms {
        histograms(archive, files, database, &places(names))?;
    }
    if let Some(names) = &used.buckets {
        buckets(archive, files, database, &places(names))?;
    }
    database.execute_batch("COMMIT")?;
    Ok(())
}

fn histograms(archive: &Archive, files: &[DayFile], database: &Connection, places: &[Place]) -> Result<(), SqlError> {
    // A statement may count rows without any column.
    let some = if places.is_empty() { &[Place::Column(Column::Schema)] } else { places };
    let mut insert = insert(database, HISTOGRAMS, &some.iter().map(|place| place.name()).collect::<Vec<_>>())?;
    let columns: BTreeSet<Column> = columns(some).collect();
    archive.each(files, &columns, |row| {
        insert.execute(params_from_iter(some.iter().map(|place| place.of(row)))).map(drop)
    })??;
    Ok(())
}

/// Values by what their histograms agree in.
struct Sums<'a> {
    insert: Statement<'a>,
    sums: BTreeMap<Vec<Cell>, Distribution>,
}

impl Sums<'_> {
    fn add(&mut self, key: Vec<Cell>, row: &Row) -> rusqlite::Result<()> {
        if let Some(sum) = self.sums.get_mut(&key) {
            row.add_to(sum);
            return Ok(());
        }
        if self.sums.len() == SUMS_MAX {
            self.flush()?;
        }
        let mut sum = if self.sums.len() < FEW { Distribution::new() } else { Distribution::growing() };
        row.add_to(&mut sum);
        self.sums.insert(key, sum);
        Ok(())
    }

    fn flush(&mut self) -> rusqlite::Result<()> {
        for (key, sum) in std::mem::take(&mut self.sums) {
            let beyond = sum.beyond().map(|beyond| (BEYOND, beyond.count));
            for (highest, count) in sum.buckets().chain(beyond) {
                let count = i64::try_from(count).unwrap_or(i64::MAX);
                let own = [Cell::Integer(highest), Cell::Integer(count)];
                self.insert.execute(params_from_iter(key.iter().chain(&own)))?;
            }
        }
        Ok(())
    }
}

fn buckets(archive: &Archive, files: &[DayFile], database: &Connection, places: &[Place]) -> Result<(), SqlError> {
    let names: Vec<&str> = places.iter().map(|place| place.name()).chain(["bucket_hi", "bucket_n"]).collect();
    let mut sums = Sums { insert: insert(database, BUCKETS, &names)?, sums: BTreeMap::new() };
    let values = [Column::Hi, Column::N, Column::Min, Column::Max];
    let columns: BTreeSet<Column> = columns(places).chain(values).collect();
    archive.each(files, &columns, |row| sums.add(places.iter().map(|place| place.of(row)).collect(), row))??;
    sums.flush()?;
    Ok(())
}
