//! The schema of the files, and where the values of each column are.

use std::sync::{Arc, LazyLock};

use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{SchemaDescriptor, Type};

use crate::column::{Column, Kind};

/// The schema in Parquet's own notation.
fn message() -> String {
    let field = |column: &Column| {
        let name = column.name();
        let repetition = if column.is_optional() { "optional" } else { "required" };
        match column.kind() {
            Kind::Text => format!("{repetition} binary {name} (STRING);"),
            Kind::Small => format!("{repetition} int32 {name};"),
            Kind::Integer => format!("{repetition} int64 {name};"),
            Kind::Real => format!("{repetition} double {name};"),
            Kind::Flag => format!("{repetition} boolean {name};"),
            Kind::Moment => format!("{repetition} int64 {name} (TIMESTAMP(MICROS,true));"),
            Kind::Map => format!(
                "required group {name} (MAP) {{ repeated group key_value {{ required binary key (STRING); \
                 required binary value (STRING); }} }}"
            ),
            Kind::List => {
                format!("required group {name} (LIST) {{ repeated group list {{ required int64 element; }} }}")
            }
        }
    };
    format!("message oversleep {{ {} }}", Column::ALL.iter().map(field).collect::<Vec<_>>().join(" "))
}

static SCHEMA: LazyLock<Arc<Type>> =
    LazyLock::new(|| Arc::new(parse_message_type(&message()).expect("the schema is in Parquet's notation")));

/// The schema of the files.
pub fn schema() -> Arc<Type> {
    Arc::clone(&SCHEMA)
}

/// Whether a file has this schema.
pub fn is_same(found: &SchemaDescriptor) -> bool {
    let own = SchemaDescriptor::new(schema());
    let leaf = |descriptor: &SchemaDescriptor, at: usize| {
        let leaf = descriptor.column(at);
        (leaf.path().string(), leaf.physical_type(), leaf.max_def_level(), leaf.max_rep_level())
    };
    found.num_columns() == own.num_columns() && (0..own.num_columns()).all(|at| leaf(found, at) == leaf(&own, at))
}

/// The leaves of a column: maps have two, the other columns one.
fn leaves_of(column: Column) -> usize {
    if column.kind() == Kind::Map { 2 } else { 1 }
}

/// The first leaf of a column.
pub fn leaf(column: Column) -> usize {
    Column::ALL.iter().take_while(|&&before| before != column).map(|&before| leaves_of(before)).sum()
}

/// How many leaves there are.
pub fn leaves() -> usize {
    Column::ALL.iter().map(|&column| leaves_of(column)).sum()
}

/// What the library's calls return.
pub type Parquet<T> = Result<T, parquet::errors::ParquetError>;

/// An error of the library's kind.
pub fn general(fault: &dyn std::fmt::Display) -> parquet::errors::ParquetError {
    parquet::errors::ParquetError::General(fault.to_string())
}
