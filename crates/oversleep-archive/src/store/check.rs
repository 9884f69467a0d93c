//! Reads everything in an archive, and says what is wrong with it.

use std::collections::HashSet;

use super::folder::{self, Archive};
use super::read::Reader;
use super::turn::Turn;
use super::{StoreError, all_columns};
use crate::query::day_of;
use crate::row::Row;

/// The most faults of one file that are listed.
const LISTED: usize = 3;

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
                let mut own = HashSet::new();
                let read = Reader::open(&path).and_then(|mut reader| {
                    reader.each(&columns, |row| {
                        report.rows += 1;
                        report.values = report.values.saturating_add(row.count.max(0).unsigned_abs());
                        own.insert((row.taken_us, row.content));
                        let other_day =
                            (day_of(row.taken_us) != day).then(|| format!("a row of {}", day_of(row.taken_us)));
                        faults.extend(fault(row).map(str::to_owned).or(other_day));
                        Ok::<(), std::convert::Infallible>(())
                    })
                });
                let twice = own.iter().filter(|result| before.contains(result)).count();
                if twice > 0 {
                    faults.push(format!(
                        "{twice} results are in another file too; `oversleep archive compact` keeps one"
                    ));
                }
                report.results += (own.len() - twice) as u64;
                before.extend(own);
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
