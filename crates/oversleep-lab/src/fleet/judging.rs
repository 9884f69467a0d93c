//! A collector's cells with what their judgement shares: each cell beside those of its group at the same time.

use std::collections::BTreeMap;

use super::beside;
use super::cells::{Cell, Collector, Host, KERNEL, Known};
use super::model::{Figure, Kind, Part};

/// Comparisons of hosts have half of the error; those of changes and of steal, which are few, have a quarter each.
const HALF: usize = 2;
/// What the others have.
pub(super) const QUARTER: usize = 4;
/// The fewest hosts of a group in which one can be unusual.
pub(super) const MEMBERS_MIN: usize = 10;

/// A collector's cells with what their judgement shares.
pub(super) struct Judging<'a> {
    pub all: &'a Collector,
    /// How far each cell is from the median of its group at that time, as logarithms, by figure.
    apart: Vec<[Option<f64>; Figure::ALL.len()]>,
    /// The cells of each host.
    of_host: Vec<Vec<usize>>,
    /// How many figures of hosts are compared.
    pub host_comparisons: usize,
    /// The part of the error that each of these has.
    pub comparisons: usize,
}

impl Figure {
    /// It of a cell.
    pub(super) fn of(self, cell: &Cell) -> Option<f64> {
        match self {
            Figure::P50 => Some(cell.p50),
            Figure::P99 => cell.p99,
        }
    }
}

impl<'a> Judging<'a> {
    pub fn of(all: &'a Collector) -> Judging<'a> {
        let mut of_host = vec![Vec::new(); all.hosts.len()];
        let mut together: BTreeMap<(u32, u16, u16), Vec<usize>> = BTreeMap::new();
        for (at, cell) in all.cells.iter().enumerate() {
            of_host[cell.host as usize].push(at);
            let kind = all.hosts[cell.host as usize].kind;
            together.entry((kind, cell.kernel, cell.wait)).or_default().push(at);
        }
        let mut apart = vec![[None; Figure::ALL.len()]; all.cells.len()];
        for members in together.values() {
            for (place, figure) in Figure::ALL.into_iter().enumerate() {
                let found = beside::apart(&all.cells, members, figure);
                found.into_iter().for_each(|(at, value)| apart[at][place] = Some(value));
            }
        }
        // As a whole, since a day, and in each quarter of the day.
        let per_host = Figure::ALL.len() * (2 + Part::ALL.len());
        let host_comparisons = (all.hosts.len() * all.waits.all.len() * per_host).max(1);
        Judging { all, apart, of_host, host_comparisons, comparisons: host_comparisons * HALF }
    }

    /// The cells of a host's wait.
    pub fn cells(&self, host: usize, wait: usize) -> impl Iterator<Item = (usize, &'a Cell)> {
        let all = self.all;
        self.of_host[host]
            .iter()
            .map(move |&at| (at, &all.cells[at]))
            .filter(move |(_, cell)| cell.wait as usize == wait)
    }

    /// How far a cell is from its group.
    pub fn apart(&self, at: usize, figure: Figure) -> Option<f64> {
        self.apart[at][figure as usize]
    }

    /// The name of a host.
    pub fn name(&self, host: usize) -> &'a str {
        &self.all.hosts[host].name
    }

    /// The kind of a host.
    pub fn kind(&self, host: usize) -> &'a Kind {
        &self.all.kinds[self.all.hosts[host].kind as usize]
    }

    /// All cells of a host.
    pub fn cells_of(&self, host: usize) -> impl Iterator<Item = &'a Cell> {
        let all = self.all;
        self.of_host[host].iter().map(move |&at| &all.cells[at])
    }

    /// The hosts of a kind.
    pub fn members(&self, kind: usize) -> impl Iterator<Item = usize> {
        self.all.hosts.iter().enumerate().filter(move |(_, host)| host.kind as usize == kind).map(|(at, _)| at)
    }
}

/// The days that the cells are of.
pub(super) fn days(all: &Collector) -> Vec<i32> {
    let mut days: Vec<i32> = all.cells.iter().map(|cell| cell.day).collect();
    days.sort_unstable();
    days.dedup();
    days
}

/// The value of a fact on a host that its newest row has.
pub(super) fn newest<'a>(host: &'a Host, fact: &str) -> Option<&'a Known> {
    host.facts.get(fact)?.iter().max_by_key(|known| known.last)
}

/// The kernel of a host's newest row.
pub(super) fn newest_kernel(host: &Host) -> Option<&str> {
    newest(host, KERNEL).map(|known| known.value.as_str())
}
