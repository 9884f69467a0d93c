//! Reads everything in an archive, and says what is wrong with it.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::folder::{self, Archive};
use super::read::Reader;
use super::turn::Turn;
use super::{StoreError, all_columns};
use crate::column::{Column, Value};
use crate::query::day_of;
use crate::row::Row;

/// The most faults of one file that are listed.
const LISTED: usize = 3;

/// A row with more buckets is no row's equal by chance.
const BY_CHANCE: usize = 3;

/// What an archive holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Days with rows.
    pub days: u64,
    /// Files.
    pub files: u64,
    /// Their size, in bytes.
    pub bytes: u64,
    /// Results.
    pub results: u64,
    /// Rows.
    pub rows: u64,
    /// Values.
    pub values: u64,
    /// Files of commands that were killed, which were removed.
    pub removed: u64,
    /// What is wrong, each with its file.
    pub faults: Vec<String>,
}

impl Archive {
    /// Reads every row of every file. Removes what commands that were killed left behind.
    ///
    /// # Errors
    /// The folder can't be read. What is wrong with files is in the report.
    pub fn check(&self) -> Result<Report, StoreError> {
        let turn = Turn::take(self.folder())?;
        let mut report = Report { removed: self.remove_leftovers(&turn)?, ..Report::default() };
        let columns = all_columns();
        for day in self.days()? {
            let files = self.files_of(&day)?.0;
            report.days += u64::from(!files.is_empty());
            let mut before: HashSet<(i64, i64)> = HashSet::new();
            for path in files {
                report.files += 1;
                report.bytes += path.metadata().map_or(0, |about| about.len());
                let mut faults = Vec::new();
                let mut own: HashMap<(i64, i64), Rows> = HashMap::new();
                let read = Reader::open(&path).and_then(|mut reader| {
                    reader.each(&columns, |row| {
                        report.rows += 1;
                        report.values = report.values.saturating_add(row.count.max(0).unsigned_abs());
                        own.entry((row.taken_us, row.content)).or_default().add(row);
                        let other_day =
                            (day_of(row.taken_us) != day).then(|| format!("a row of {}", day_of(row.taken_us)));
                        faults.extend(fault(row).map(str::to_owned).or(other_day));
                        Ok::<(), std::convert::Infallible>(())
                    })
                });
                let inside = own.values().filter(|rows| rows.has_doubles()).count();
                if inside > 0 {
                    faults.push(format!(
                        "{} rows more than once; restore the file from a copy, or move it out of the archive and add the \
                         results again",
                        if inside == 1 { "1 result has".to_owned() } else { format!("{inside} results have") }
                    ));
                }
                let twice = own.keys().filter(|result| before.contains(result)).count();
                if twice > 0 {
                    faults.push(format!(
                        "{twice} results are in another file too; `oversleep archive compact` keeps one"
                    ));
                }
                report.results += (own.len() - twice) as u64;
                before.extend(own.into_keys());
                let (more, name) = (faults.len().saturating_sub(LISTED), folder::name(&path));
                report.faults.extend(faults.into_iter().take(LISTED).map(|fault| format!("{day} {name}: {fault}")));
                if more > 0 {
                    report.faults.push(format!("{day} {name}: {more} more like these"));
                }
                report.faults.extend(read.err().map(|error| error.to_string()));
            }
        }
        Ok(report)
    }
}

/// The rows of one result, to see whether some are there more than once.
#[derive(Default)]
struct Rows {
    seen: HashSet<u64>,
    count: usize,
    is_double: bool,
}

impl Rows {
    fn add(&mut self, row: &Row) {
        self.count += 1;
        let is_new = self.seen.insert(hash(row));
        self.is_double |= !is_new && row.hi.len() > BY_CHANCE;
    }

    /// Short rows of a result may be alike by chance, but not all of them.
    fn has_doubles(&self) -> bool {
        self.is_double || self.count >= 2 * self.seen.len().max(1)
    }
}

/// A hash of all that a row has.
fn hash(row: &Row) -> u64 {
    let mut hash = DefaultHasher::new();
    for &column in Column::ALL {
        match row.value(column) {
            Value::Null => 0_u8.hash(&mut hash),
            Value::Text(text) => text.hash(&mut hash),
            Value::Integer(number) => number.hash(&mut hash),
            Value::Real(number) => number.to_bits().hash(&mut hash),
            Value::Flag(flag) => flag.hash(&mut hash),
            Value::Map(map) => map.hash(&mut hash),
            Value::List(list) => list.hash(&mut hash),
        }
    }
    hash.finish()
}

/// What is wrong with a row.
fn fault(row: &Row) -> Option<&'static str> {
    let is_ascending = row.hi.windows(2).all(|pair| pair[0] < pair[1]);
    let sum = row.n.iter().fold(0_i64, |sum, &n| sum.saturating_add(n));
    if row.hi.len() != row.n.len() {
        Some("a row has other numbers of buckets and counts")
    } else if !is_ascending || row.n.iter().any(|&n| n < 1) {
        Some("the buckets of a row aren't in order, or hold nothing")
    } else if sum != row.count {
        Some("the counts of a row don't add up to its number of values")
    } else if row.min.is_some() == row.hi.iter().all(|&hi| hi == crate::row::BEYOND) {
        Some("a row has a smallest value and no buckets, or the reverse")
    } else {
        None
    }
}
