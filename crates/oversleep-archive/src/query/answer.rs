//! The answer to a question: groups with their figures.

use std::collections::{BTreeMap, BTreeSet};

use oversleep_record::series::Unit;

use super::figure::Measured;
use super::group::{Cell, Group, SERIES, in_words};
use super::{Figure, Filter, Query, QueryError};
use crate::column::Column;
use crate::merge::Merged;
use crate::row::Row;

/// The most groups of one answer. Each takes a few KB.
pub const GROUPS_MAX: usize = 10_000;
/// How many groups have all the memory that adding needs: 262 KB each, 16 MB together.
const FEW: usize = 64;

/// Adds up rows, group by group.
#[derive(Clone, Debug)]
pub struct Gathering {
    query: Query,
    filter: Filter,
    /// What rows are told apart by: that of the question, and what tells series apart.
    keys: Vec<Group>,
    is_mixed: bool,
    groups: BTreeMap<Vec<Cell>, Merged>,
    key: Vec<Cell>,
}

/// The answer: a table.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What the groups differ in: that of the question, and what else tells their series apart.
    pub by: Vec<Group>,
    /// How many of these are of the question.
    pub typed: usize,
    /// The figures.
    pub figures: Vec<Figure>,
    /// The groups, in the order of their values.
    pub groups: Vec<(Vec<Cell>, Merged)>,
    /// What is the same in all groups and tells series apart: `subject` → `nanosleep`.
    pub same: Vec<(Group, String)>,
    units: Vec<Unit>,
}

impl Gathering {
    /// Nothing yet. `is_mixed` adds up series that differ in more than the question says, of one quantity each.
    pub fn new(query: Query, filter: Filter, is_mixed: bool) -> Gathering {
        let more = SERIES.iter().filter(|group| !query.by.contains(group));
        let is_kept = |group: &&Group| !is_mixed || matches!(group, Group::Column(Column::Quantity | Column::Unit));
        let keys = query.by.iter().chain(more.filter(is_kept)).cloned().collect();
        Gathering { query, filter, keys, is_mixed, groups: BTreeMap::new(), key: Vec::new() }
    }

    /// The columns that it takes.
    pub fn columns(&self) -> BTreeSet<Column> {
        self.query.columns().chain(self.filter.columns()).collect()
    }

    /// Which rows it takes.
    pub fn filter(&self) -> &Filter {
        &self.filter
    }

    /// Adds a row, if it is meant.
    ///
    /// # Errors
    /// There are too many groups.
    pub fn add(&mut self, row: &Row) -> Result<(), QueryError> {
        if !self.filter.takes(row) {
            return Ok(());
        }
        self.key.clear();
        self.key.extend(self.keys.iter().map(|group| group.of(row)));
        if let Some(merged) = self.groups.get_mut(&self.key) {
            merged.add(row);
            return Ok(());
        }
        if self.groups.len() == GROUPS_MAX {
            return Err(QueryError::TooManyGroups);
        }
        let mut merged = Merged::new(self.groups.len() < FEW);
        merged.add(row);
        self.groups.insert(self.key.clone(), merged);
        Ok(())
    }

    /// The answer.
    pub fn finish(self) -> Answer {
        let typed = self.query.by.len();
        let unit_at = self.keys.iter().position(|group| *group == Group::Column(Column::Unit));
        let units = self.groups.keys().map(|key| unit_at.and_then(|at| unit(key[at].as_deref()?)).unwrap_or(Unit::Ns));
        let units: Vec<Unit> = units.collect();
        let varies = |at: usize| {
            let mut cells = self.groups.keys().map(|key| &key[at]);
            let first = cells.next();
            cells.any(|cell| Some(cell) != first)
        };
        let kept: Vec<bool> = (0..self.keys.len()).map(|at| at < typed || varies(at)).collect();
        let first = self.groups.keys().next();
        let same = (0..self.keys.len()).filter(|&at| !kept[at]).filter_map(|at| {
            let value = first?[at].clone().filter(|value| !value.is_empty())?;
            Some((self.keys[at].clone(), value))
        });
        let same = same.collect();
        let by = self.keys.iter().zip(&kept).filter(|(_, kept)| **kept).map(|(group, _)| group.clone()).collect();
        let only_kept =
            |key: Vec<Cell>| key.into_iter().zip(&kept).filter(|(_, kept)| **kept).map(|(cell, _)| cell).collect();
        let groups = self.groups.into_iter().map(|(key, merged)| (only_kept(key), merged)).collect();
        Answer { by, typed, figures: self.query.figures, groups, same, units }
    }

    /// Whether it adds up series that differ in more than the question says.
    pub fn is_mixed(&self) -> bool {
        self.is_mixed
    }
}

fn unit(name: &str) -> Option<Unit> {
    [("ns", Unit::Ns), ("ps", Unit::Ps), ("hz", Unit::Hz), ("mw", Unit::Mw)]
        .into_iter()
        .find_map(|(known, unit)| (known == name).then_some(unit))
}

impl Answer {
    /// Puts the groups into order: what a machine does as found before what it does under other conditions, requests of 1 ms
    /// first, the groups of a series beside one another, and what isn't known last. Machines are in the order of their
    /// names: source → name.
    pub fn sort(&mut self, names: &BTreeMap<String, String>) {
        let usual = [
            (Column::Quantity, "lateness"),
            (Column::Conditions, ""),
            (Column::Experiment, "B5"),
            (Column::RequestNs, "1000000"),
        ];
        let at =
            |column| self.by.iter().position(|group| *group == Group::Column(column)).filter(|&at| at >= self.typed);
        let usual = usual.map(|(column, value)| (at(column), value));
        let cell = |(group, cell): (&Group, &Cell)| match (group, cell) {
            (Group::Column(Column::Source), Some(source)) => (false, names.get(source).unwrap_or(source).clone()),
            (group, Some(number)) if group.is_number() => (false, format!("{number:0>20}")),
            (_, cell) => (cell.is_none(), cell.clone().unwrap_or_default()),
        };
        let order = |key: &[Cell]| {
            let kind = usual.map(|(at, usual)| at.is_some_and(|at| key[at].as_deref() != Some(usual)));
            let mut cells: Vec<_> = self.by.iter().zip(key).map(cell).collect();
            cells.rotate_left(self.typed);
            (kind, cells)
        };
        let mut all: Vec<_> =
            std::mem::take(&mut self.groups).into_iter().zip(std::mem::take(&mut self.units)).collect();
        all.sort_by_cached_key(|((key, _), _)| order(key));
        (self.groups, self.units) = all.into_iter().unzip();
    }

    /// The heads of the table.
    pub fn heads(&self) -> Vec<String> {
        self.by.iter().map(ToString::to_string).chain(self.figures.iter().map(ToString::to_string)).collect()
    }

    /// The rows of the table for people, with units.
    pub fn for_people(&self) -> Vec<Vec<String>> {
        self.lines(in_words, |measured, unit| measured.for_people(unit))
    }

    /// The rows of the table for programs: numbers in the unit of the values, nothing for what isn't known.
    pub fn for_programs(&self) -> Vec<Vec<String>> {
        self.lines(|_, cell| cell.clone().unwrap_or_default(), |measured, _| measured.for_programs())
    }

    /// The figures of each group.
    pub fn figures(&self) -> impl Iterator<Item = Vec<Measured>> {
        self.groups.iter().map(|(_, merged)| self.figures.iter().map(|figure| figure.of(merged)).collect())
    }

    /// The number of rows that were added up.
    pub fn rows(&self) -> u64 {
        self.groups.iter().map(|(_, merged)| merged.rows).sum()
    }

    fn lines(
        &self,
        cell: impl Fn(&Group, &Cell) -> String,
        figure: impl Fn(&Measured, Unit) -> String,
    ) -> Vec<Vec<String>> {
        let line = |((key, merged), unit): (&(Vec<Cell>, Merged), &Unit)| {
            let cells = self.by.iter().zip(key).map(|(group, one)| cell(group, one));
            cells.chain(self.figures.iter().map(|one| figure(&one.of(merged), *unit))).collect()
        };
        self.groups.iter().zip(&self.units).map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::Distribution;

    use super::*;
    use crate::row::Machine;

    fn row(kernel: &str, subject: &str, value: i64) -> Row {
        let mut row = Row {
            source: format!("host of {kernel}"),
            subject: subject.to_owned(),
            quantity: "lateness".to_owned(),
            unit: "ns".to_owned(),
            experiment: "B5".to_owned(),
            request_ns: Some(1_000_000),
            machine: Machine { kernel: Some(kernel.to_owned()), ..Machine::default() },
            ..Row::default()
        };
        row.set_values(&Distribution::of_equal(value, 100));
        row
    }

    fn answer(query: &str, is_mixed: bool, rows: &[Row]) -> Answer {
        let mut gathering = Gathering::new(query.parse().unwrap(), Filter::default(), is_mixed);
        rows.iter().for_each(|row| gathering.add(row).unwrap());
        gathering.finish()
    }

    #[test]
    fn groups_have_their_figures() {
        let rows = [row("6.1", "poll", 500), row("6.6", "poll", 700), row("6.1", "poll", 300)];
        let answer = answer("p50 p99 count machines by kernel", false, &rows);
        assert_eq!(answer.heads(), ["kernel", "p50", "p99", "count", "machines"]);
        let expected = [["6.1", "300 ns", "500 ns", "200", "1"], ["6.6", "700 ns", "700 ns", "100", "1"]];
        assert_eq!(answer.for_people(), expected);
        assert_eq!(answer.for_programs()[1], ["6.6", "700", "700", "100", "1"]);
        let subject = (Group::Column(Column::Subject), "poll".to_owned());
        assert!(answer.same.contains(&subject), "what all rows have in common: {:?}", answer.same);
    }

    #[test]
    fn series_that_differ_stay_apart_unless_the_question_mixes_them() {
        let mut cost = row("6.1", "tsc", 9_000);
        (cost.quantity, cost.unit) = ("cost".to_owned(), "ps".to_owned());
        let rows = [row("6.1", "poll", 500), row("6.1", "nanosleep", 700), cost];
        let apart = answer("p50 by kernel", false, &rows);
        assert_eq!(apart.heads(), ["kernel", "quantity", "unit", "subject", "p50"]);
        assert_eq!(apart.groups.len(), 3);
        let mixed = answer("p50 by kernel", true, &rows);
        assert_eq!(mixed.heads(), ["kernel", "quantity", "unit", "p50"], "costs and lateness never mix");
        assert_eq!(mixed.for_people(), [["6.1", "cost", "ps", "9 ns"], ["6.1", "lateness", "ns", "500 ns"]]);
    }

    #[test]
    fn what_is_not_known_is_a_group_of_its_own() {
        let mut unknown = row("", "poll", 1);
        unknown.machine.kernel = None;
        let answer = answer("count by kernel", false, &[row("6.1", "poll", 1), unknown]);
        assert_eq!(answer.for_people(), [["unknown", "100"], ["6.1", "100"]]);
        assert_eq!(answer.for_programs()[0], ["", "100"]);
    }

    #[test]
    fn what_a_machine_does_as_found_is_first_and_groups_of_a_series_are_beside_one_another() {
        let other = |row: Row, request_ns: i64, conditions: &str| Row {
            request_ns: Some(request_ns),
            conditions: conditions.to_owned(),
            ..row
        };
        let unknown = Row { machine: Machine::default(), ..row("", "poll", 1) };
        let cost = Row { quantity: "cost".to_owned(), ..row("6.1", "clock", 1) };
        let rows = [
            cost,
            other(row("6.1", "poll", 1), 50_000, ""),
            other(row("6.1", "poll", 1), 1_000_000, "slack=1ns"),
            unknown,
            row("6.6", "poll", 1),
            row("6.1", "poll", 1),
            row("6.1", "nanosleep", 1),
        ];
        let mut answer = answer("count by kernel", false, &rows);
        answer.sort(&BTreeMap::new());
        let lines = answer.for_people();
        assert_eq!(answer.heads(), ["kernel", "quantity", "subject", "request", "conditions", "count"]);
        let of = |line: &Vec<String>| [0, 2, 3, 4].map(|at| line[at].clone()).join(" ");
        let expected = [
            "6.1 nanosleep 1 ms as found",
            "6.1 poll 1 ms as found",
            "6.6 poll 1 ms as found",
            "unknown poll 1 ms as found",
            "6.1 poll 50 µs as found",
            "6.1 poll 1 ms slack=1ns",
            "6.1 clock 1 ms as found",
        ];
        assert_eq!(lines.iter().map(of).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn too_many_groups_are_refused() {
        let mut gathering = Gathering::new("count by name".parse().unwrap(), Filter::default(), false);
        let mut row = row("6.1", "poll", 1);
        for number in 0..GROUPS_MAX {
            row.name = Some(number.to_string());
            gathering.add(&row).unwrap();
        }
        gathering.add(&row).unwrap();
        row.name = None;
        assert_eq!(gathering.add(&row), Err(QueryError::TooManyGroups));
    }
}
