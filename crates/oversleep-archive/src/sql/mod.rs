//! SQL over an archive, by SQLite. A statement is prepared on empty tables first, which tells the columns that it uses.
//! Histograms that agree in these are added up before SQLite gets them: sums of `bucket_n` are the same, so quantiles are
//! exact, and 100,000 histograms of 240 buckets become a few thousand rows.

mod fill;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Statement};

use crate::column::{Column, Kind};
use crate::query::Filter;
use crate::store::{Archive, StoreError, read_again};

/// The most rows of an answer.
pub const ROWS_MAX: usize = 100_000;

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum SqlError {
    /// The archive can't be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// SQLite refuses the statement.
    #[error("{0}")]
    Statement(String),
    /// It does more than reading.
    #[error("only SELECT is allowed: an archive is changed by `oversleep archive add` and `oversleep archive compact`")]
    Changes,
    /// Too many rows.
    #[error("the answer has more than {ROWS_MAX} rows; add LIMIT, or group the rows")]
    TooLong,
}

/// A value of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// It isn't known.
    Null,
    /// A whole number.
    Integer(i64),
    /// A fraction.
    Real(f64),
    /// Text.
    Text(String),
}

/// The answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The names of the columns.
    pub heads: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
}

impl From<rusqlite::Error> for SqlError {
    fn from(error: rusqlite::Error) -> SqlError {
        match error {
            rusqlite::Error::SqlInputError { msg, .. } => SqlError::Statement(msg),
            rusqlite::Error::SqliteFailure(_, Some(message)) => SqlError::Statement(message),
            error => SqlError::Statement(error.to_string()),
        }
    }
}

/// The columns of a table, as `.help` says them.
pub fn columns_of(table: &str) -> Vec<&'static str> {
    let own = Column::ALL.iter().filter(|column| column.kind() != Kind::List).map(|column| column.name());
    let more: &[&str] = if table == fill::BUCKETS { &["day", "bucket_hi", "bucket_n"] } else { &["day"] };
    own.chain(more.iter().copied()).collect()
}

/// The columns that a statement reads, by table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Used {
    pub histograms: Option<BTreeSet<String>>,
    pub buckets: Option<BTreeSet<String>>,
}

/// Answers one statement.
///
/// # Errors
/// The statement isn't SQL, changes something or has too long an answer; or the archive is damaged.
pub fn answer(archive: &Archive, statement: &str) -> Result<Table, SqlError> {
    if statement.trim().is_empty() {
        return Err(SqlError::Statement("there is no statement".to_owned()));
    }
    let is_gone = |error: &SqlError| matches!(error, SqlError::Store(error) if error.is_gone());
    read_again(is_gone, || answer_once(archive, statement))
}

fn answer_once(archive: &Archive, statement: &str) -> Result<Table, SqlError> {
    // A database of its own, on disk where it grows: nothing that a statement does can reach another file.
    let database = Connection::open("")?;
    for table in [fill::HISTOGRAMS, fill::BUCKETS] {
        database.execute_batch(&format!("CREATE TABLE {table} ({})", columns_of(table).join(", ")))?;
    }
    let used = used(&database, statement)?;
    let files = archive.files(&Filter::default())?;
    fill::fill(archive, &files, &database, &used)?;
    let mut statement = database.prepare(statement)?;
    rows(&mut statement)
}

/// The columns that the statement reads.
fn used(database: &Connection, statement: &str) -> Result<Used, SqlError> {
    let seen = Arc::new(Mutex::new((Used::default(), false)));
    let write = Arc::clone(&seen);
    database.authorizer(Some(move |context: AuthContext<'_>| {
        let mut seen = write.lock().unwrap_or_else(PoisonError::into_inner);
        match context.action {
            AuthAction::Read { table_name, column_name } => {
                let place = match table_name {
                    fill::HISTOGRAMS => Some(&mut seen.0.histograms),
                    fill::BUCKETS => Some(&mut seen.0.buckets),
                    _ => None,
                };
                if let Some(place) = place {
                    place.get_or_insert_default().insert(column_name.to_owned());
                }
                Authorization::Allow
            }
            AuthAction::Select | AuthAction::Function { .. } | AuthAction::Recursive => Authorization::Allow,
            _ => {
                seen.1 = true;
                Authorization::Deny
            }
        }
    }))?;
    // VACUUM INTO asks for no permission.
    let prepared = database.prepare(statement).map(|statement| statement.readonly());
    database.authorizer(None::<fn(AuthContext<'_>) -> Authorization>)?;
    let (used, changes) = seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if changes || !prepared? {
        return Err(SqlError::Changes);
    }
    Ok(used)
}

fn rows(statement: &mut Statement<'_>) -> Result<Table, SqlError> {
    let heads: Vec<String> = statement.column_names().into_iter().map(str::to_owned).collect();
    let mut table = Table { heads, rows: Vec::new() };
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if table.rows.len() == ROWS_MAX {
            return Err(SqlError::TooLong);
        }
        let cell = |at: usize| {
            Ok(match row.get_ref(at)? {
                ValueRef::Null => Cell::Null,
                ValueRef::Integer(number) => Cell::Integer(number),
                ValueRef::Real(number) => Cell::Real(number),
                ValueRef::Text(text) | ValueRef::Blob(text) => Cell::Text(String::from_utf8_lossy(text).into_owned()),
            })
        };
        let cells = (0..table.heads.len()).map(cell).collect::<rusqlite::Result<Vec<_>>>()?;
        table.rows.push(cells);
    }
    Ok(table)
}
