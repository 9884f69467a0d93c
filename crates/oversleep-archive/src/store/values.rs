//! The values of one column of a row group, and their places in rows.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::file::reader::RowGroupReader;

use super::budget::{Budget, Pages};
use super::schema::{self, Parquet, general};
use crate::column::{Column, Kind, SCHEMA};
use crate::row::Row;

/// The longest text of a row. The writer cuts longer ones: a file may name one many times, and each row has a copy.
pub const TEXT_BYTES_MAX: usize = 4 << 10;
/// What a text takes beside its letters: as the library has it, and in a map.
const TEXT_BYTES: u64 = 160;
/// What a number takes, with its places in lists.
const NUMBER_BYTES: u64 = 12;

/// A leaf with what was read of it last. The memory is used again.
pub struct Leaf<T: DataType> {
    reader: ColumnReaderImpl<T>,
    /// Whether there is a value at each place; empty where all are required.
    defined: Vec<i16>,
    /// Whether a place goes on with the row before it.
    repeated: Vec<i16>,
    values: Vec<T::T>,
    budget: Budget,
    /// What the pages take that were read since.
    passed: Arc<AtomicU64>,
    /// What copies of its values take.
    copied: u64,
}

impl<T: DataType> Leaf<T> {
    fn of(group: &dyn RowGroupReader, leaf: usize, budget: &Budget) -> Parquet<Leaf<T>> {
        let about = group.metadata().columns().get(leaf).map(|column| column.column_descr_ptr());
        let about = about.filter(|about| about.physical_type() == T::get_physical_type());
        let about = about.ok_or_else(|| general(&"a column has another type"))?;
        let value_bytes =
            if T::get_physical_type() == parquet::basic::Type::BYTE_ARRAY { TEXT_BYTES } else { NUMBER_BYTES };
        let (pages, passed) = Pages::new(group.get_column_page_reader(leaf)?, budget, value_bytes);
        Ok(Leaf {
            reader: ColumnReaderImpl::new(about, Box::new(pages)),
            defined: Vec::new(),
            repeated: Vec::new(),
            values: Vec::new(),
            budget: budget.clone(),
            passed,
            copied: 0,
        })
    }

    /// Counts what copies of the values will take.
    fn copy(&mut self, bytes: impl Fn(&T::T) -> usize) -> Parquet<()> {
        self.copied = self.values.iter().map(|value| bytes(value) as u64).sum();
        self.budget.take(self.copied)
    }

    /// Reads the next rows.
    fn read(&mut self, rows: usize) -> Parquet<()> {
        self.defined.clear();
        self.repeated.clear();
        self.values.clear();
        self.budget.give_back(self.passed.swap(0, Ordering::Relaxed) + std::mem::take(&mut self.copied));
        let mut read = 0;
        while read < rows {
            let levels = (Some(&mut self.defined), Some(&mut self.repeated));
            let (records, ..) = self.reader.read_records(rows - read, levels.0, levels.1, &mut self.values)?;
            if records == 0 {
                return Err(general(&"a column ends before its rows"));
            }
            read += records;
        }
        Ok(())
    }

    /// The value of each row, if there is one.
    fn each(&self, rows: usize) -> impl Iterator<Item = Parquet<Option<&T::T>>> {
        let mut values = self.values.iter();
        (0..rows).map(move |row| match self.defined.get(row) {
            Some(0) => Ok(None),
            _ => values.next().map(Some).ok_or_else(|| general(&"a column has too few values")),
        })
    }

    /// The values of each row of a list.
    fn lists(&self) -> impl Iterator<Item = &[T::T]> {
        let (mut place, mut value) = (0, 0);
        std::iter::from_fn(move || {
            let begin = value;
            (place < self.repeated.len()).then_some(())?;
            loop {
                value += usize::from(self.defined.get(place) == Some(&1));
                place += 1;
                if self.repeated.get(place) != Some(&1) {
                    return self.values.get(begin..value);
                }
            }
        })
    }
}

/// A column of a row group.
pub enum Values {
    /// Text.
    Text(Leaf<ByteArrayType>),
    /// Small numbers.
    Small(Leaf<Int32Type>),
    /// Numbers and moments.
    Integer(Leaf<Int64Type>),
    /// Fractions.
    Real(Leaf<DoubleType>),
    /// Yes and no.
    Flag(Leaf<BoolType>),
    /// Names and their texts.
    Map(Box<(Leaf<ByteArrayType>, Leaf<ByteArrayType>)>),
    /// Lists of numbers.
    List(Leaf<Int64Type>),
}

impl Values {
    /// The column of this row group.
    ///
    /// # Errors
    /// The group hasn't it, or in another form.
    pub fn of(group: &dyn RowGroupReader, column: Column, budget: &Budget) -> Parquet<Values> {
        let leaf = schema::leaf(column);
        Ok(match column.kind() {
            Kind::Text => Values::Text(Leaf::of(group, leaf, budget)?),
            Kind::Small => Values::Small(Leaf::of(group, leaf, budget)?),
            Kind::Integer | Kind::Moment => Values::Integer(Leaf::of(group, leaf, budget)?),
            Kind::Real => Values::Real(Leaf::of(group, leaf, budget)?),
            Kind::Flag => Values::Flag(Leaf::of(group, leaf, budget)?),
            Kind::Map => Values::Map(Box::new((Leaf::of(group, leaf, budget)?, Leaf::of(group, leaf + 1, budget)?))),
            Kind::List => Values::List(Leaf::of(group, leaf, budget)?),
        })
    }

    /// Reads the next rows into these.
    ///
    /// # Errors
    /// The column is damaged.
    pub fn read(&mut self, column: Column, rows: &mut [Row]) -> Parquet<()> {
        let count = rows.len();
        match self {
            Values::Text(leaf) => {
                leaf.read(count)?;
                leaf.copy(|text| text.len())?;
                for (row, value) in rows.iter_mut().zip(leaf.each(count)) {
                    set_text(row, column, value?.map(text).transpose()?);
                }
            }
            Values::Small(leaf) => {
                leaf.read(count)?;
                for (row, value) in rows.iter_mut().zip(leaf.each(count)) {
                    set_small(row, column, value?.copied())?;
                }
            }
            Values::Integer(leaf) => {
                leaf.read(count)?;
                for (row, value) in rows.iter_mut().zip(leaf.each(count)) {
                    set_integer(row, column, value?.copied())?;
                }
            }
            Values::Real(leaf) => {
                leaf.read(count)?;
                for (row, value) in rows.iter_mut().zip(leaf.each(count)) {
                    set_real(row, column, value?.copied());
                }
            }
            Values::Flag(leaf) => {
                leaf.read(count)?;
                for (row, value) in rows.iter_mut().zip(leaf.each(count)) {
                    row.disturbed = value?.copied().unwrap_or_default();
                }
            }
            Values::List(leaf) => {
                leaf.read(count)?;
                leaf.copy(|_| size_of::<i64>())?;
                let mut lists = leaf.lists();
                for row in rows {
                    let list = lists.next().ok_or_else(|| general(&"a column has too few lists"))?;
                    if column == Column::N && list.iter().any(|&n| n < 1) {
                        return Err(general(&"a bucket has fewer than one value"));
                    }
                    let place = if column == Column::Hi { &mut row.hi } else { &mut row.n };
                    place.clear();
                    place.extend_from_slice(list);
                }
            }
            Values::Map(both) => {
                let (keys, texts) = &mut **both;
                keys.read(count)?;
                texts.read(count)?;
                keys.copy(|text| text.len())?;
                texts.copy(|text| text.len())?;
                let (mut keys, mut texts) = (keys.lists(), texts.lists());
                for row in rows {
                    let (Some(keys), Some(texts)) = (keys.next(), texts.next()) else {
                        return Err(general(&"a column has too few maps"));
                    };
                    set_map(row, column, keys, texts)?;
                }
            }
        }
        Ok(())
    }
}

fn text(bytes: &ByteArray) -> Parquet<&str> {
    if bytes.len() > TEXT_BYTES_MAX {
        return Err(general(&"a text is longer than those of an archive"));
    }
    std::str::from_utf8(bytes.data()).map_err(|error| general(&error))
}

/// Most rows have the same texts as the rows before them, so their memory is used again.
fn put(place: &mut String, text: &str) {
    if place != text {
        place.clear();
        place.push_str(text);
    }
}

fn set_text(row: &mut Row, column: Column, text: Option<&str>) {
    let machine = &mut row.machine;
    let optional = match column {
        Column::OsVersion => &mut machine.os_version,
        Column::Kernel => &mut machine.kernel,
        Column::CpuModel => &mut machine.cpu_model,
        Column::Hypervisor => &mut machine.hypervisor,
        Column::Container => &mut machine.container,
        Column::Clocksource => &mut machine.clocksource,
        Column::Preemption => &mut machine.preemption,
        Column::Libc => &mut machine.libc,
        Column::Governor => &mut machine.governor,
        Column::Name => &mut row.name,
        Column::Runtime => &mut row.runtime,
        _ => {
            let place = match column {
                Column::Source => &mut row.source,
                Column::Tool => &mut row.tool,
                Column::Os => &mut machine.os,
                Column::Experiment => &mut row.experiment,
                Column::Subject => &mut row.subject,
                Column::Quantity => &mut row.quantity,
                Column::Unit => &mut row.unit,
                _ => &mut row.conditions,
            };
            return put(place, text.unwrap_or_default());
        }
    };
    match text {
        Some(text) => put(optional.get_or_insert_default(), text),
        None => *optional = None,
    }
}

fn set_small(row: &mut Row, column: Column, number: Option<i32>) -> Parquet<()> {
    match column {
        Column::Cpus => row.machine.cpus = number,
        Column::Hz => row.machine.hz = number,
        // Its version.
        _ if number != Some(SCHEMA) => {
            return Err(general(&"a later version of oversleep wrote it; use that version"));
        }
        _ => {}
    }
    Ok(())
}

fn set_integer(row: &mut Row, column: Column, number: Option<i64>) -> Parquet<()> {
    let is_count = matches!(column, Column::Count | Column::Missed | Column::Early);
    if is_count && number.is_some_and(|number| number < 0) {
        return Err(general(&"a row counts fewer than no values"));
    }
    match column {
        Column::RequestNs => row.request_ns = number,
        Column::Min => row.min = number,
        Column::Max => row.max = number,
        Column::BeyondFrom => row.beyond_from = number,
        _ => {
            let place = match column {
                Column::Content => &mut row.content,
                Column::Taken => &mut row.taken_us,
                Column::Count => &mut row.count,
                Column::Missed => &mut row.missed,
                _ => &mut row.early,
            };
            *place = number.unwrap_or_default();
        }
    }
    Ok(())
}

fn set_real(row: &mut Row, column: Column, number: Option<f64>) {
    match column {
        Column::StealShare => row.steal_share = number,
        Column::Seconds => row.seconds = number.unwrap_or_default(),
        _ => row.sum = number.unwrap_or_default(),
    }
}

fn set_map(row: &mut Row, column: Column, keys: &[ByteArray], texts: &[ByteArray]) -> Parquet<()> {
    let place: &BTreeMap<String, String> = if column == Column::Facts { &row.facts } else { &row.labels };
    let is_same = keys.len() == place.len()
        && place
            .iter()
            .zip(keys.iter().zip(texts))
            .all(|((name, value), (key, text))| name.as_bytes() == key.data() && value.as_bytes() == text.data());
    if is_same && keys.len() == texts.len() {
        return Ok(());
    }
    let pairs = keys.iter().zip(texts).map(|(key, value)| Ok((text(key)?.to_owned(), text(value)?.to_owned())));
    let map = pairs.collect::<Parquet<BTreeMap<_, _>>>()?;
    if column == Column::Facts {
        row.facts = Arc::new(map);
    } else {
        row.labels = map;
    }
    Ok(())
}
