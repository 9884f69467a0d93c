//! Reads the rows of a file: only the columns that are needed, a few hundred rows at a time.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;

use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::{FileReader, RowGroupReader};
use parquet::file::serialized_reader::SerializedFileReader;

use super::budget::Budget;
use super::caught::caught;
use super::schema::{Parquet, general};
use super::values::Values;
use super::write::{CREATED_BY, GROUP_BUCKETS_MAX, GROUP_ROWS_MAX, REPLACES, ROW_BUCKETS};
use super::{StoreError, guard, schema};
use crate::column::{Column, Kind};
use crate::row::Row;

/// How many rows are read at a time: few, because one may have 16,000 buckets.
const BATCH: usize = 32;

/// A file that is open for reading.
pub struct Reader<'a> {
    path: &'a Path,
    file: File,
    length: u64,
    inner: SerializedFileReader<File>,
}

impl<'a> Reader<'a> {
    /// Opens a file and reads its list of contents.
    ///
    /// # Errors
    /// It can't be read, is damaged, or another program wrote it.
    pub fn open(path: &'a Path) -> Result<Reader<'a>, StoreError> {
        let io = |error: std::io::Error| StoreError::io(path, error);
        let damaged = |fault: &dyn std::fmt::Display| StoreError::damaged(path, fault);
        let mut file = File::open(path).map_err(io)?;
        let length = guard::footer(&mut file).map_err(|fault| damaged(&fault))?;
        let again = file.try_clone().map_err(io)?;
        let opened = caught(|| SerializedFileReader::new(again));
        let inner = opened.ok_or_else(|| damaged(&"its list of contents can't be read"))?;
        let inner = inner.map_err(|error| damaged(&error))?;
        let about = inner.metadata().file_metadata();
        if about.created_by() != Some(CREATED_BY) || !schema::is_same(about.schema_descr()) {
            return Err(StoreError::Foreign(path.display().to_string()));
        }
        Ok(Reader { path, file, length, inner })
    }

    fn metadata(&self) -> &ParquetMetaData {
        self.inner.metadata()
    }

    /// The number of rows.
    pub fn rows(&self) -> u64 {
        u64::try_from(self.metadata().file_metadata().num_rows()).unwrap_or(0)
    }

    /// The row groups that its rows would fill, written as one file.
    pub fn groups(&self) -> u64 {
        let groups = self.metadata().row_groups();
        let values = |group: &RowGroupMetaData| {
            let column = group.columns().get(schema::leaf(Column::Hi));
            column.map_or(0, |column| column.num_values().max(0))
        };
        let of = |group| values(group).saturating_add(ROW_BUCKETS.saturating_mul(group.num_rows().max(0)));
        let buckets = groups.iter().map(of).fold(0, i64::saturating_add);
        let full = (GROUP_BUCKETS_MAX as u64, GROUP_ROWS_MAX as u64);
        1 + (buckets.unsigned_abs() / full.0).max(self.rows() / full.1)
    }

    /// The names of the files whose rows this one holds.
    pub fn replaces(&self) -> Vec<String> {
        let pairs = self.metadata().file_metadata().key_value_metadata().into_iter().flatten();
        let list = pairs.filter(|pair| pair.key == REPLACES).find_map(|pair| pair.value.clone());
        list.iter().flat_map(|list| list.lines()).map(str::to_owned).collect()
    }

    /// Gives each row to `take`, with these columns filled in; the others are empty. Returns what `take` failed with.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn each<E>(
        &mut self,
        columns: &BTreeSet<Column>,
        mut take: impl FnMut(&Row) -> Result<(), E>,
    ) -> Result<Result<(), E>, StoreError> {
        let path = self.path;
        let damaged = |fault: &dyn std::fmt::Display| StoreError::damaged(path, fault);
        let leaves: BTreeSet<usize> = columns
            .iter()
            .flat_map(|&column| {
                let first = schema::leaf(column);
                first..first + if column.kind() == Kind::Map { 2 } else { 1 }
            })
            .collect();
        let metadata = self.inner.metadata();
        guard::pages(&mut self.file, metadata, self.length, |leaf| leaves.contains(&leaf))
            .map_err(|fault| damaged(&fault))?;
        for index in 0..self.inner.num_row_groups() {
            let read = caught(|| {
                let group = self.inner.get_row_group(index)?;
                each_of_group(&*group, columns, &mut take)
            });
            match read.ok_or_else(|| damaged(&"a page can't be unpacked"))? {
                Err(error) => return Err(damaged(&error)),
                Ok(Err(error)) => return Ok(Err(error)),
                Ok(Ok(())) => {}
            }
        }
        Ok(Ok(()))
    }
}

fn each_of_group<E>(
    group: &dyn RowGroupReader,
    columns: &BTreeSet<Column>,
    take: &mut impl FnMut(&Row) -> Result<(), E>,
) -> Parquet<Result<(), E>> {
    let budget = Budget::default();
    let mut readers =
        columns.iter().map(|&column| Ok((column, Values::of(group, column, &budget)?))).collect::<Parquet<Vec<_>>>()?;
    let mut left = usize::try_from(group.metadata().num_rows()).map_err(|error| general(&error))?;
    let mut rows: Vec<Row> = vec![Row::default(); left.min(BATCH)];
    while left > 0 {
        let count = left.min(BATCH);
        for (column, values) in &mut readers {
            values.read(*column, &mut rows[..count])?;
        }
        for row in &rows[..count] {
            if let Err(error) = take(row) {
                return Ok(Err(error));
            }
        }
        left -= count;
    }
    Ok(Ok(()))
}
