//! Refuses files that would take far more memory than those of an archive, before any page is unpacked.
//!
//! A page is unpacked as a whole, and deflate makes 1,032 bytes of one. So a page may be [`PAGE_BYTES_MAX`] long at most,
//! and then it takes 50 MB whatever it holds. Heads of pages are read here by hand, because the library reads a page with
//! its head; so is the list of contents, for which the library makes as much room as it states.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};

use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};

use super::schema;
use super::thrift::{Compact, Fault, Met};
use super::write::{GROUP_BUCKETS_MAX, GROUPS_MAX};

/// The longest page, packed. Those of an archive have half of it.
const PAGE_BYTES_MAX: i64 = 48 << 10;
/// The most bytes of an unpacked page.
const UNPACKED_MAX: i64 = 4 << 20;
/// The most values of a page, and of one column in a row group: the buckets of a row group, and those of its last row.
const VALUES_MAX: i64 = (GROUP_BUCKETS_MAX + (1 << 18)) as i64;
/// The longest list of contents at the end of a file. Those of an archive have 5 KB a row group.
const FOOTER_BYTES_MAX: u64 = 3 << 20;
/// The longest head of a page: the statistics in it are short.
const HEAD_BYTES_MAX: usize = 4 << 10;

/// The length of the list of contents at the end of a file, checked.
pub fn footer(file: &mut File) -> Result<u64, Fault> {
    let length = file.seek(SeekFrom::End(0)).map_err(|error| error.to_string())?;
    let mut tail = [0; 8];
    if length < 12 {
        return Err("it is too short for a Parquet file".to_owned());
    }
    file.seek(SeekFrom::End(-8)).and_then(|_| file.read_exact(&mut tail)).map_err(|error| error.to_string())?;
    let [a, b, c, d, magic @ ..] = tail;
    let footer = u64::from(u32::from_le_bytes([a, b, c, d]));
    if magic != *b"PAR1" {
        return Err("it is no Parquet file, or its end is missing".to_owned());
    }
    if footer > FOOTER_BYTES_MAX || footer + 12 > length {
        return Err("its list of contents is longer than that of any file of an archive".to_owned());
    }
    let mut bytes = vec![0; footer as usize];
    let begin = length - 8 - footer;
    file.seek(SeekFrom::Start(begin)).and_then(|_| file.read_exact(&mut bytes)).map_err(|error| error.to_string())?;
    contents(&bytes)?;
    Ok(length)
}

/// Checks every page of the chunks that `is_read` names.
pub fn pages(
    file: &mut File,
    metadata: &ParquetMetaData,
    length: u64,
    is_read: impl Fn(usize) -> bool,
) -> Result<(), Fault> {
    for group in metadata.row_groups() {
        for (leaf, chunk) in group.columns().iter().enumerate().filter(|(leaf, _)| is_read(*leaf)) {
            if chunk.num_values() > VALUES_MAX || group.num_rows() > chunk.num_values() {
                return Err(format!("column {leaf} states {} values", chunk.num_values()));
            }
            self::chunk(file, chunk, length).map_err(|fault| format!("{fault} (column {leaf})"))?;
        }
    }
    Ok(())
}

fn chunk(file: &mut File, chunk: &ColumnChunkMetaData, length: u64) -> Result<(), Fault> {
    let damaged = || "a page lies outside of its column".to_owned();
    let begin = chunk.dictionary_page_offset().unwrap_or_else(|| chunk.data_page_offset());
    let begin = u64::try_from(begin).map_err(|_| damaged())?;
    let size = u64::try_from(chunk.compressed_size()).map_err(|_| damaged())?;
    let end = begin.checked_add(size).filter(|&end| end <= length).ok_or_else(damaged)?;
    let (mut at, mut values) = (begin, 0_i64);
    // Pages are a few KB, so reading on is cheaper than a seek for each.
    file.seek(SeekFrom::Start(begin)).map_err(|error| error.to_string())?;
    let mut reader = BufReader::with_capacity(64 << 10, &mut *file);
    while at < end {
        let mut bytes = Compact::of(&mut reader, HEAD_BYTES_MAX, "the head of a page");
        let head = head(&mut bytes)?;
        let taken = bytes.read as u64;
        if !(0..=PAGE_BYTES_MAX).contains(&head.packed) || !(0..=UNPACKED_MAX).contains(&head.unpacked) {
            return Err("a page is larger than those of an archive".to_owned());
        }
        values = values.saturating_add(head.values.max(0));
        if !(0..=VALUES_MAX).contains(&head.values) || values > 2 * VALUES_MAX {
            return Err("a page states more values than those of an archive".to_owned());
        }
        reader.seek_relative(head.packed).map_err(|error| error.to_string())?;
        at = at.saturating_add(taken).saturating_add(head.packed.unsigned_abs());
    }
    if at == end { Ok(()) } else { Err(damaged()) }
}

/// What matters of a page's head.
#[derive(Default)]
struct Head {
    unpacked: i64,
    packed: i64,
    values: i64,
}

/// Reads a head, by `parquet.thrift`: field 2 is the size unpacked, 3 packed, and the first field of 5 (data), 7
/// (dictionary) and 8 (data, version 2) the number of values.
fn head<R: Read>(bytes: &mut Compact<'_, R>) -> Result<Head, Fault> {
    let mut head = Head::default();
    bytes.structure(&mut |path, met| {
        match (path, met) {
            ([2], Met::Number(number)) => head.unpacked = number,
            ([3], Met::Number(number)) => head.packed = number,
            ([5 | 7 | 8, 1], Met::Number(number)) => head.values = number,
            (_, Met::List(_)) => {
                return Err("the head of a page has a list, which those of an archive haven't".to_owned());
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(head)
}

/// Checks the list of contents before the library makes room for what it states. By `parquet.thrift`: field 2 is the schema,
/// 3 the number of rows, 4 the row groups, whose field 1 are the columns, and 5 the names and their texts.
fn contents(bytes: &[u8]) -> Result<(), Fault> {
    let leaves = schema::leaves() as u64;
    Compact::of(&mut &bytes[..], bytes.len(), "its list of contents").structure(&mut |path, met| {
        let most = match path {
            [4] => GROUPS_MAX as u64,
            [4, 1] => leaves,
            _ => 4 * leaves,
        };
        match met {
            Met::List(size) if size > most => Err(format!("its list of contents states a list of {size}")),
            Met::Number(number) if number < 0 && *path == [3] => Err(format!("it states {number} rows")),
            _ => Ok(()),
        }
    })
}
