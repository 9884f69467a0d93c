//! Writes a file of rows.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, GzipLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::SchemaDescriptor;

use super::StoreError;
use super::schema::{self, Parquet};
use super::values::TEXT_BYTES_MAX;
use crate::column::{Column, Kind, Value};
use crate::digits::Digits;
use crate::row::Row;

/// The program in the files' metadata. Others' files are refused.
pub const CREATED_BY: &str = "oversleep-archive";
/// The name of the list of files that a compacted file replaces.
pub const REPLACES: &str = "oversleep.replaces";
/// The most rows of a row group.
pub const GROUP_ROWS_MAX: usize = 20_000;
/// The most buckets of a row group before its last row. With [`GROUP_ROWS_MAX`] it bounds what reading takes.
pub const GROUP_BUCKETS_MAX: usize = 2 << 20;
/// What a row takes besides its buckets, in buckets.
pub const ROW_BUCKETS: i64 = 64;
/// The most row groups of a file. Each has 5 KB in the list of contents, and a reader refuses one beyond 3 MB.
pub const GROUPS_MAX: usize = 400;
/// The size of a page, in bytes. Deflate expands a byte to 1,032 at most, so small pages bound what a hostile one takes.
const PAGE_BYTES: usize = 24 << 10;
/// How many rows' lists and maps are copied at a time for the library: a row may have a hundred facts.
const SOME_ROWS: usize = 256;
/// The most buckets of a row: they stand in one page, and a reader refuses pages beyond 48 KB.
const ROW_BUCKETS_MAX: usize = 1 << 14;

/// A file that has no name yet. It is removed where it isn't completed: a disk that is full has its room again.
struct Part {
    path: PathBuf,
    is_complete: bool,
}

impl Drop for Part {
    fn drop(&mut self) {
        if !self.is_complete {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A file that is being written: rows are sorted and written in groups.
pub struct Writer {
    file: SerializedFileWriter<BufWriter<File>>,
    rows: Vec<Row>,
    buckets: usize,
    groups: usize,
    /// Last: some systems remove no file that is open.
    part: Part,
}

impl Writer {
    /// Begins a file.
    ///
    /// # Errors
    /// It can't be made.
    pub fn begin(path: &Path) -> Result<Writer, StoreError> {
        Writer::with(path, PAGE_BYTES)
    }

    /// Begins a file with pages of another size.
    fn with(path: &Path, page_bytes: usize) -> Result<Writer, StoreError> {
        let file = File::create_new(path).map_err(|error| StoreError::io(path, error))?;
        Writer::into(Part { path: path.to_owned(), is_complete: false }, file, page_bytes)
    }

    fn into(part: Part, file: File, page_bytes: usize) -> Result<Writer, StoreError> {
        let failed = |error| StoreError::writing(&part.path, error);
        let level = GzipLevel::try_new(4).map_err(failed)?;
        let all = SchemaDescriptor::new(schema::schema());
        // No question has use for the least of a list's values, and to find it takes a tenth of the time.
        let of_lists = all.columns().iter().filter(|leaf| leaf.max_rep_level() > 0);
        let properties = of_lists.fold(WriterProperties::builder(), |properties, leaf| {
            properties.set_column_statistics_enabled(leaf.path().clone(), EnabledStatistics::None)
        });
        let properties = properties
            .set_created_by(CREATED_BY.to_owned())
            .set_compression(Compression::GZIP(level))
            .set_dictionary_page_size_limit(page_bytes)
            .set_data_page_size_limit(page_bytes)
            .set_data_page_row_count_limit(512)
            .set_write_batch_size(256)
            .set_max_row_group_row_count(None)
            .set_offset_index_disabled(true)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_statistics_truncate_length(Some(64))
            .build();
        let file = SerializedFileWriter::new(BufWriter::new(file), schema::schema(), Arc::new(properties));
        let file = file.map_err(failed)?;
        Ok(Writer { file, rows: Vec::new(), buckets: 0, groups: 0, part })
    }

    /// Adds a row. One of more buckets than a page may hold has two significant digits instead of three, and texts are cut
    /// after 4 KB.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn add(&mut self, mut row: Row) -> Result<(), StoreError> {
        row.cut_texts(TEXT_BYTES_MAX);
        let is_too_long = row.hi.len() > ROW_BUCKETS_MAX;
        self.push(if is_too_long { row.with_digits(Digits::Two) } else { row })
    }

    fn push(&mut self, row: Row) -> Result<(), StoreError> {
        self.buckets += row.hi.len() + ROW_BUCKETS as usize;
        self.rows.push(row);
        if self.rows.len() >= GROUP_ROWS_MAX || self.buckets >= GROUP_BUCKETS_MAX { self.flush() } else { Ok(()) }
    }

    /// Buckets of rows that are not written yet.
    pub fn waiting(&self) -> usize {
        self.buckets
    }

    /// Whether more rows belong in another file.
    pub fn is_full(&self) -> bool {
        self.groups + 1 >= GROUPS_MAX
    }

    /// Writes the rows that wait as a row group.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn flush(&mut self) -> Result<(), StoreError> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let mut rows = std::mem::take(&mut self.rows);
        self.buckets = 0;
        self.groups += 1;
        let key = |row: &Row| (row.subject.clone(), row.request_ns, row.machine.kernel.clone(), row.taken_us);
        rows.sort_by_cached_key(key);
        let result = write_group(&mut self.file, &rows);
        result.map_err(|error| StoreError::writing(&self.part.path, error))
    }

    /// Ends the file, and waits until the disk has it. `replaces` are the files that it holds the rows of.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn finish(mut self, replaces: &[String]) -> Result<PathBuf, StoreError> {
        self.flush()?;
        if !replaces.is_empty() {
            let list = Some(replaces.join("\n"));
            self.file.append_key_value_metadata(KeyValue { key: REPLACES.to_owned(), value: list });
        }
        let Writer { mut part, file, .. } = self;
        let path = part.path.clone();
        let mut inner = file.into_inner().map_err(|error| StoreError::writing(&path, error))?;
        let io = |error: std::io::Error| StoreError::io(&path, error);
        inner.flush().map_err(io)?;
        inner.get_ref().sync_all().map_err(io)?;
        part.is_complete = true;
        Ok(path)
    }
}

fn write_group(file: &mut SerializedFileWriter<BufWriter<File>>, rows: &[Row]) -> Parquet<()> {
    let mut group = file.next_row_group()?;
    for &column in Column::ALL {
        match column.kind() {
            Kind::Map => write_map(&mut group, rows, column)?,
            Kind::List => write_list(&mut group, rows, column)?,
            kind => write_plain(&mut group, rows, column, kind)?,
        }
    }
    group.close().map(drop)
}

/// The next column of the group, written by `write`.
fn next(
    group: &mut SerializedRowGroupWriter<'_, BufWriter<File>>,
    write: impl FnOnce(&mut SerializedColumnWriter<'_>) -> Parquet<usize>,
) -> Parquet<()> {
    let mut column = group.next_column()?.expect("the schema has this column");
    write(&mut column)?;
    column.close()
}

fn write_plain(
    group: &mut SerializedRowGroupWriter<'_, BufWriter<File>>,
    rows: &[Row],
    column: Column,
    kind: Kind,
) -> Parquet<()> {
    let known = || rows.iter().map(|row| row.value(column)).filter(|value| *value != Value::Null);
    let integers = || known().filter_map(|value| if let Value::Integer(number) = value { Some(number) } else { None });
    let levels: Option<Vec<i16>> =
        column.is_optional().then(|| rows.iter().map(|row| i16::from(row.value(column) != Value::Null)).collect());
    let levels = levels.as_deref();
    next(group, |writer| match kind {
        Kind::Text => {
            let texts = known().filter_map(|value| if let Value::Text(text) = value { Some(text) } else { None });
            // Most rows have the text of the row before: they share its bytes.
            let mut last = ("", ByteArray::from(""));
            let shared = texts.map(|text| {
                if last.0 != text {
                    last = (text, ByteArray::from(text));
                }
                last.1.clone()
            });
            let texts: Vec<ByteArray> = shared.collect();
            writer.typed::<ByteArrayType>().write_batch(&texts, levels, None)
        }
        Kind::Small => {
            let numbers: Vec<i32> = integers().map(|number| i32::try_from(number).unwrap_or(i32::MAX)).collect();
            writer.typed::<Int32Type>().write_batch(&numbers, levels, None)
        }
        Kind::Real => {
            let reals = known().filter_map(|value| if let Value::Real(real) = value { Some(real) } else { None });
            writer.typed::<DoubleType>().write_batch(&reals.collect::<Vec<_>>(), levels, None)
        }
        Kind::Flag => {
            let flags: Vec<bool> = known().map(|value| value == Value::Flag(true)).collect();
            writer.typed::<BoolType>().write_batch(&flags, levels, None)
        }
        Kind::Integer | Kind::Moment | Kind::Map | Kind::List => {
            writer.typed::<Int64Type>().write_batch(&integers().collect::<Vec<_>>(), levels, None)
        }
    })
}

/// The levels of lists of these lengths: whether a value begins a row, and whether there is one.
fn levels(lengths: impl Iterator<Item = usize>) -> (Vec<i16>, Vec<i16>) {
    let (mut defined, mut repeated) = (Vec::new(), Vec::new());
    for length in lengths {
        defined.extend(std::iter::repeat_n(i16::from(length > 0), length.max(1)));
        repeated.push(0);
        repeated.extend(std::iter::repeat_n(1, length.saturating_sub(1)));
    }
    (defined, repeated)
}

fn write_list(group: &mut SerializedRowGroupWriter<'_, BufWriter<File>>, rows: &[Row], column: Column) -> Parquet<()> {
    next(group, |writer| {
        let writer = writer.typed::<Int64Type>();
        rows.chunks(SOME_ROWS).try_fold(0, |count, rows| {
            let lists = || rows.iter().map(|row| if column == Column::Hi { &row.hi } else { &row.n });
            let (defined, repeated) = levels(lists().map(Vec::len));
            let numbers: Vec<i64> = lists().flatten().copied().collect();
            Ok(count + writer.write_batch(&numbers, Some(&defined), Some(&repeated))?)
        })
    })
}

fn write_map(group: &mut SerializedRowGroupWriter<'_, BufWriter<File>>, rows: &[Row], column: Column) -> Parquet<()> {
    fn map(column: Column, row: &Row) -> &BTreeMap<String, String> {
        if column == Column::Facts { &row.facts } else { &row.labels }
    }
    for is_key in [true, false] {
        next(group, |writer| {
            let writer = writer.typed::<ByteArrayType>();
            rows.chunks(SOME_ROWS).try_fold(0, |count, rows| {
                let (defined, repeated) = levels(rows.iter().map(|row| map(column, row).len()));
                let (mut leaf, mut last) = (Vec::new(), 0..0);
                for (at, row) in rows.iter().enumerate() {
                    // The rows of a result share their facts.
                    let is_shared = at > 0 && std::ptr::eq(map(column, row), map(column, &rows[at - 1]));
                    let begins = leaf.len();
                    if is_shared {
                        leaf.extend_from_within(last);
                    } else {
                        let texts = map(column, row).iter().map(|(key, text)| if is_key { key } else { text });
                        leaf.extend(texts.map(|text| ByteArray::from(text.as_str())));
                    }
                    last = begins..leaf.len();
                }
                Ok(count + writer.write_batch(&leaf, Some(&defined), Some(&repeated))?)
            })
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::all_columns;
    use crate::store::read::Reader;

    /// What reading a file of one row with these buckets says, with pages of that size.
    fn read(buckets: i64, page_bytes: usize) -> Result<u64, String> {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a.parquet");
        let mut writer = Writer::with(&path, page_bytes).unwrap();
        // A million different numbers that deflate packs well.
        writer.push(Row { hi: (0..buckets).collect(), n: vec![1; buckets as usize], ..Row::default() }).unwrap();
        writer.finish(&[]).unwrap();
        let mut rows = 0;
        let taken = Reader::open(&path).and_then(|mut reader| {
            reader.each(&all_columns(), |row| {
                rows += row.hi.len() as u64;
                Ok::<(), std::convert::Infallible>(())
            })
        });
        taken.map(|_| rows).map_err(|error| error.to_string())
    }

    #[test]
    fn pages_that_unpack_to_more_than_those_of_an_archive_are_refused_before_they_are_unpacked() {
        assert_eq!(read(ROW_BUCKETS_MAX as i64, PAGE_BYTES), Ok(ROW_BUCKETS_MAX as u64));
        let large = read(1_000_000, 1 << 30).unwrap_err();
        assert!(large.contains("a page is larger than those of an archive"), "{large}");
        let long = read(3_000_000, PAGE_BYTES).unwrap_err();
        assert!(long.contains("states 3000000 values"), "{long}");
    }

    #[test]
    fn a_full_disk_is_no_damaged_file_and_the_part_is_removed() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a.part");
        fs::write(&path, "").unwrap();
        // Where there is no such device, the library's error is made here.
        let Ok(full) = File::options().write(true).open("/dev/full") else {
            let error = std::io::Error::from(std::io::ErrorKind::StorageFull);
            assert!(matches!(StoreError::writing(&path, error.into()), StoreError::Full(_)));
            return;
        };
        let mut writer = Writer::into(Part { path: path.clone(), is_complete: false }, full, PAGE_BYTES).unwrap();
        writer.add(Row { hi: (0..10_000).collect(), n: vec![1; 10_000], ..Row::default() }).unwrap();
        let error = writer.finish(&[]).unwrap_err();
        assert!(matches!(error, StoreError::Full(_)), "{error}");
        assert!(error.to_string().contains("Free some space, and run the command again"), "{error}");
        assert!(!path.exists());
    }

    #[test]
    fn a_row_of_too_many_buckets_for_a_page_is_kept_with_two_digits() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a.parquet");
        let mut writer = Writer::with(&path, PAGE_BYTES).unwrap();
        writer.add(Row { hi: (0..100_000).collect(), n: vec![1; 100_000], ..Row::default() }).unwrap();
        writer.finish(&[]).unwrap();
        let mut counts = Vec::new();
        let each = |row: &Row| {
            counts.push((row.hi.len() <= ROW_BUCKETS_MAX, row.n.iter().sum::<i64>()));
            Ok::<(), std::convert::Infallible>(())
        };
        Reader::open(&path).unwrap().each(&all_columns(), each).unwrap();
        assert_eq!(counts, [(true, 100_000)]);
    }
}
