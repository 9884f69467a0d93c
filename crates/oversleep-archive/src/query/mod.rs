//! The usual questions, without SQL: `p50 p99 count by kernel` where `subject=nanosleep request=1ms since=7d`.

mod answer;
mod figure;
mod filter;
mod group;
mod time;
mod typed;

use std::str::FromStr;

use crate::column::Column;

pub use answer::{Answer, Gathering};
pub use figure::{Figure, Measured};
pub use filter::{Filter, Unmet};
pub use group::{Cell, Group, in_words};
pub use time::{begin_of, day_of, moment_of};

/// What a question asks for: `p50 p99 count by kernel day`.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// The figures of each group, in the order of the table.
    pub figures: Vec<Figure>,
    /// What the groups differ in.
    pub by: Vec<Group>,
}

/// A question that can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// A word is unknown.
    #[error("unknown {what} '{name}'; {}here are {known}", meant(.near))]
    Unknown {
        /// What it should be.
        what: &'static str,
        /// The word.
        name: String,
        /// The most similar one.
        near: Option<String>,
        /// All of them.
        known: String,
    },
    /// No figure.
    #[error("no figure; write some, like 'p50 p99 count by kernel'")]
    NoFigure,
    /// Nothing follows `by`.
    #[error("nothing follows 'by'; write what the groups differ in, like 'p50 by kernel'")]
    NoGroup,
    /// A test without a name or a value.
    #[error("'{0}' is no test; write a name and a value, like subject=nanosleep")]
    NoTest(String),
    /// A value that can't be one.
    #[error("{name}={value}: {why}")]
    Value {
        /// The name.
        name: String,
        /// The value.
        value: String,
        /// What is wrong with it.
        why: String,
    },
    /// A quote that doesn't end.
    #[error("a quote doesn't end in '{0}'")]
    OpenQuote(String),
    /// More groups than a table shows.
    #[error(
        "more than {} groups; select fewer rows with --where, or group by something that differs less",
        answer::GROUPS_MAX
    )]
    TooManyGroups,
}

fn meant(near: &Option<String>) -> String {
    near.as_ref().map_or_else(|| "t".to_owned(), |near| format!("did you mean '{near}'? T"))
}

/// The error about an unknown word.
fn unknown(what: &'static str, name: &str, known: &[&str]) -> QueryError {
    let near = oversleep_record::nearest(name, known).map(str::to_owned);
    QueryError::Unknown { what, name: name.to_owned(), near, known: known.join(", ") }
}

impl FromStr for Query {
    type Err = QueryError;

    fn from_str(text: &str) -> Result<Query, QueryError> {
        let mut words = text.split([' ', '\t', '\n', ',']).filter(|word| !word.is_empty());
        let figures = words.by_ref().take_while(|&word| word != "by").map(str::parse).collect::<Result<Vec<_>, _>>()?;
        let by = words.map(str::parse).collect::<Result<Vec<Group>, _>>()?;
        if figures.is_empty() {
            return Err(QueryError::NoFigure);
        }
        if by.is_empty() && text.split([' ', '\t', '\n', ',']).any(|word| word == "by") {
            return Err(QueryError::NoGroup);
        }
        let mut unique: Vec<Group> = Vec::new();
        by.into_iter().for_each(|group| {
            if !unique.contains(&group) {
                unique.push(group);
            }
        });
        Ok(Query { figures, by: unique })
    }
}

impl Query {
    /// The columns that answering takes, besides those of the filter.
    pub fn columns(&self) -> impl Iterator<Item = Column> {
        let values = [Column::Hi, Column::N, Column::Min, Column::Max, Column::Sum, Column::BeyondFrom];
        let of_figures = self.figures.iter().flat_map(|figure| figure.columns().iter().copied());
        let of_groups = self.by.iter().chain(group::SERIES.iter()).map(Group::column);
        let is_needed = self.figures.iter().any(Figure::needs_values);
        of_figures.chain(of_groups).chain(values.into_iter().filter(move |_| is_needed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_read_as_they_are_typed() {
        let query: Query = "p50 p99.9 count by kernel, day".parse().unwrap();
        assert_eq!(query.figures, [Figure::Quantile(500_000), Figure::Quantile(999_000), Figure::Count]);
        assert_eq!(query.by, [Group::Column(Column::Kernel), Group::Day]);
        let query: Query = "mean".parse().unwrap();
        assert!(query.by.is_empty());
    }

    #[test]
    fn what_is_wrong_with_a_question_is_said_with_what_was_probably_meant() {
        let error = |text: &str| text.parse::<Query>().unwrap_err().to_string();
        assert!(error("p50 by kernl").starts_with("unknown group 'kernl'; did you mean 'kernel'? There are source, "));
        assert!(error("p50 cuont").starts_with("unknown figure 'cuont'; did you mean 'count'? There are "));
        assert!(error("p101").starts_with("unknown figure 'p101'"));
        assert_eq!(error("by kernel"), QueryError::NoFigure.to_string());
        assert_eq!(error(""), QueryError::NoFigure.to_string());
        assert_eq!(error("p50 by"), QueryError::NoGroup.to_string());
    }
}
