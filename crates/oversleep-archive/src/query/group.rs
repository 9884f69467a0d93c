//! What groups differ in.

use std::fmt;
use std::str::FromStr;

use oversleep_record::Nanos;

use super::time::utc;
use super::{QueryError, unknown};
use crate::column::{Column, Kind, Value};
use crate::row::Row;

/// What a table has for what isn't known.
pub const UNKNOWN: &str = "unknown";
/// What a table has for conditions under which nothing was changed.
pub const AS_FOUND: &str = "as found";

/// What a group has of one thing that groups differ in; `None` is unknown.
pub type Cell = Option<String>;

/// What groups differ in, and what rows are selected by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// A column.
    Column(Column),
    /// The day, in UTC: `2026-11-27`.
    Day,
    /// The hour of each day, in UTC: `2026-11-27 13:00`.
    Hour,
    /// The hour of any day, in UTC: `13:00`.
    HourOfDay,
    /// The month: `2026-11`.
    Month,
    /// A fact without a column of its own: `fact.timer.slack_ns`.
    Fact(String),
    /// A label: `label.program`.
    Label(String),
}

/// What tells one series from another. Groups never mix two of them, unless the question says so.
pub(super) const SERIES: [Group; 8] = [
    Group::Column(Column::Quantity),
    Group::Column(Column::Unit),
    Group::Column(Column::Experiment),
    Group::Column(Column::Subject),
    Group::Column(Column::Runtime),
    Group::Column(Column::RequestNs),
    Group::Column(Column::Conditions),
    Group::Column(Column::Labels),
];

/// Shorter names, and names that people expect.
const ALIASES: [(&str, Group); 9] = [
    ("machine", Group::Column(Column::Source)),
    ("host", Group::Column(Column::Source)),
    ("request", Group::Column(Column::RequestNs)),
    ("processor", Group::Column(Column::CpuModel)),
    ("wait", Group::Column(Column::Subject)),
    ("day", Group::Day),
    ("hour", Group::Hour),
    ("hour_of_day", Group::HourOfDay),
    ("month", Group::Month),
];

/// Whether rows can be grouped by a column.
fn is_group(column: &Column) -> bool {
    let is_word = matches!(column.kind(), Kind::Text | Kind::Small | Kind::Flag);
    is_word && *column != Column::Schema || *column == Column::RequestNs
}

impl FromStr for Group {
    type Err = QueryError;

    fn from_str(name: &str) -> Result<Group, QueryError> {
        let name = name.replace('-', "_");
        if let Some((_, group)) = ALIASES.iter().find(|(alias, _)| *alias == name) {
            return Ok(group.clone());
        }
        if let Some(fact) = name.strip_prefix("fact.").filter(|fact| !fact.is_empty()) {
            return Ok(Group::Fact(fact.to_owned()));
        }
        if let Some(label) = name.strip_prefix("label.").filter(|label| !label.is_empty()) {
            return Ok(Group::Label(label.to_owned()));
        }
        Column::find(&name).filter(is_group).map(Group::Column).ok_or_else(|| {
            let columns = Column::ALL.iter().filter(|column| is_group(column)).map(|column| column.name());
            let aliases = ALIASES.iter().map(|(alias, _)| *alias);
            let known: Vec<&str> = columns.chain(aliases).chain(["fact.NAME", "label.NAME"]).collect();
            unknown("group", &name, &known)
        })
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // As questions name them.
            Group::Column(Column::RequestNs) => f.pad("request"),
            Group::Column(Column::Source) => f.pad("machine"),
            Group::Column(column) => column.fmt(f),
            Group::Day => f.pad("day"),
            Group::Hour => f.pad("hour"),
            Group::HourOfDay => f.pad("hour_of_day"),
            Group::Month => f.pad("month"),
            Group::Fact(name) => f.pad(&format!("fact.{name}")),
            Group::Label(name) => f.pad(&format!("label.{name}")),
        }
    }
}

impl Group {
    /// The column that it takes.
    pub fn column(&self) -> Column {
        match self {
            Group::Column(column) => *column,
            Group::Day | Group::Hour | Group::HourOfDay | Group::Month => Column::Taken,
            Group::Fact(_) => Column::Facts,
            Group::Label(_) => Column::Labels,
        }
    }

    /// Whether some rows have no value of it.
    pub fn may_be_unknown(&self) -> bool {
        match self {
            Group::Column(column) => column.is_optional(),
            Group::Fact(_) | Group::Label(_) => true,
            Group::Day | Group::Hour | Group::HourOfDay | Group::Month => false,
        }
    }

    /// Whether its values are whole numbers.
    pub fn is_number(&self) -> bool {
        matches!(self, Group::Column(column) if matches!(column.kind(), Kind::Small | Kind::Integer))
    }

    /// A row's value as text; `None` if it isn't known. Requests are in nanoseconds.
    pub fn of(&self, row: &Row) -> Option<String> {
        let date = || utc(row.taken_us);
        match self {
            Group::Day => date().map(|utc| utc.to_day()),
            Group::Hour => date().map(|utc| format!("{} {:02}:00", utc.to_day(), utc.hour)),
            Group::HourOfDay => date().map(|utc| format!("{:02}:00", utc.hour)),
            Group::Month => date().map(|utc| format!("{:04}-{:02}", utc.year, utc.month)),
            Group::Fact(name) => row.facts.get(name).cloned(),
            Group::Label(name) => row.labels.get(name).cloned(),
            Group::Column(column) => match row.value(*column) {
                Value::Null | Value::List(_) => None,
                Value::Text(text) => Some(text.to_owned()),
                Value::Integer(number) => Some(number.to_string()),
                Value::Real(number) => Some(number.to_string()),
                Value::Flag(flag) => Some(if flag { "yes" } else { "no" }.to_owned()),
                Value::Map(map) => {
                    Some(map.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" "))
                }
            },
        }
    }
}

/// A value of a group for people.
pub fn in_words(group: &Group, cell: &Cell) -> String {
    match (group, cell) {
        (_, None) => UNKNOWN.to_owned(),
        (Group::Column(Column::RequestNs), Some(ns)) => {
            ns.parse().map_or_else(|_| ns.clone(), |ns| format!("{:#}", Nanos(ns)))
        }
        (Group::Column(Column::Conditions), Some(text)) if text.is_empty() => AS_FOUND.to_owned(),
        (Group::Column(Column::Labels), Some(text)) if text.is_empty() => "none".to_owned(),
        (_, Some(text)) => text.clone(),
    }
}
