//! The figures of a group.

use std::fmt;
use std::str::FromStr;

use oversleep_record::series::Unit;
use oversleep_record::{date::Utc, words};

use super::{QueryError, unknown};
use crate::column::Column;
use crate::merge::Merged;

/// A figure of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// A quantile, in millionths: `p99.9` is 999,000.
    Quantile(u32),
    /// The mean.
    Mean,
    /// The smallest value.
    Min,
    /// The largest value.
    Max,
    /// The number of values.
    Count,
    /// Values below zero.
    Early,
    /// Deadlines that had passed before the call.
    Missed,
    /// The number of machines.
    Machines,
    /// The number of rows.
    Rows,
    /// The number of rows whose median isn't the machine's own.
    Disturbed,
    /// The share of the CPUs' time that hypervisors gave to others.
    Steal,
    /// When the first result was taken.
    First,
    /// When the last result was taken.
    Last,
}

const NAMED: [(&str, Figure); 12] = [
    ("mean", Figure::Mean),
    ("min", Figure::Min),
    ("max", Figure::Max),
    ("count", Figure::Count),
    ("early", Figure::Early),
    ("missed", Figure::Missed),
    ("machines", Figure::Machines),
    ("rows", Figure::Rows),
    ("disturbed", Figure::Disturbed),
    ("steal", Figure::Steal),
    ("first", Figure::First),
    ("last", Figure::Last),
];

impl FromStr for Figure {
    type Err = QueryError;

    fn from_str(name: &str) -> Result<Figure, QueryError> {
        let percent = |digits: &str| {
            let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            let percent: f64 = digits.parse().ok().filter(|_| is_number)?;
            (percent > 0.0 && percent < 100.0).then(|| Figure::Quantile((percent * 1e4).round() as u32))
        };
        let named = NAMED.iter().find(|(known, _)| *known == name).map(|(_, figure)| *figure);
        named.or_else(|| name.strip_prefix('p').and_then(percent)).ok_or_else(|| {
            let quantiles = ["p50", "p90", "p99", "p99.9"];
            let known: Vec<&str> = quantiles.into_iter().chain(NAMED.iter().map(|(name, _)| *name)).collect();
            unknown("figure", name, &known)
        })
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Figure::Quantile(millionths) => f.pad(&format!("p{}", f64::from(*millionths) / 1e4)),
            other => f.pad(NAMED.iter().find(|(_, figure)| figure == other).map_or("", |(name, _)| name)),
        }
    }
}

/// The value of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measured {
    /// It isn't known, or it lies among values of unknown size.
    Unknown,
    /// In the unit of the values.
    Value(i64),
    /// In the unit of the values.
    Fraction(f64),
    /// How many.
    Number(u64),
    /// A share.
    Share(f64),
    /// µs since 1970.
    Moment(i64),
}

impl Figure {
    /// Whether it takes the values, not only the rows.
    pub fn needs_values(&self) -> bool {
        !matches!(
            self,
            Figure::Missed
                | Figure::Machines
                | Figure::Rows
                | Figure::Disturbed
                | Figure::Steal
                | Figure::First
                | Figure::Last
        )
    }

    /// The columns that it takes besides the values.
    pub(super) fn columns(&self) -> &'static [Column] {
        match self {
            Figure::Missed => &[Column::Missed],
            Figure::Machines => &[Column::Source],
            Figure::Disturbed => &[Column::Disturbed],
            Figure::Steal => &[Column::StealShare, Column::Seconds],
            Figure::First | Figure::Last => &[Column::Taken],
            _ => &[],
        }
    }

    /// The figure of these rows.
    pub fn of(&self, rows: &Merged) -> Measured {
        let value = |value: Option<i64>| value.map_or(Measured::Unknown, Measured::Value);
        match self {
            Figure::Quantile(millionths) => value(rows.values.quantile(f64::from(*millionths) / 1e6)),
            Figure::Mean => rows.mean().map_or(Measured::Unknown, Measured::Fraction),
            Figure::Min => value(rows.values.min()),
            Figure::Max => value(rows.values.max()),
            Figure::Count => Measured::Number(rows.count()),
            Figure::Early => Measured::Number(rows.values.early_count()),
            Figure::Missed => Measured::Number(rows.missed),
            Figure::Machines => Measured::Number(rows.sources.len() as u64),
            Figure::Rows => Measured::Number(rows.rows),
            Figure::Disturbed => Measured::Number(rows.disturbed),
            Figure::Steal => rows.steal_share().map_or(Measured::Unknown, Measured::Share),
            Figure::First => Measured::Moment(rows.first_us),
            Figure::Last => Measured::Moment(rows.last_us),
        }
    }
}

impl Measured {
    /// For people.
    pub fn for_people(&self, unit: Unit) -> String {
        match self {
            Measured::Unknown => "unknown".to_owned(),
            Measured::Value(value) => words::value(unit, *value),
            Measured::Fraction(value) => words::value(unit, value.round() as i64),
            Measured::Number(number) => words::grouped(*number),
            Measured::Share(share) => words::percent(*share),
            Measured::Moment(us) => {
                Utc::of_unix(us.div_euclid(1_000_000)).map_or_else(|| "unknown".to_owned(), Utc::to_minute)
            }
        }
    }

    /// For programs: numbers in the unit of the values, shares from 0 to 1, nothing where it isn't known.
    pub fn for_programs(&self) -> String {
        match self {
            Measured::Unknown => String::new(),
            Measured::Value(value) => value.to_string(),
            Measured::Fraction(value) | Measured::Share(value) => value.to_string(),
            Measured::Number(number) => number.to_string(),
            Measured::Moment(us) => Utc::of_unix(us.div_euclid(1_000_000)).map_or_else(String::new, super::time::text),
        }
    }
}
