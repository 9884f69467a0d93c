//! Takes the stretches of an archive and reduces them: of each host, wait, kernel and quarter of a day, the figures.

use std::collections::{BTreeMap, HashMap};

use oversleep_record::{Distribution, Nanos};

use super::model::{Kind, Part};

/// Some waits of one host: a row of an archive.
#[derive(Clone, Debug)]
pub struct Stretch<'a> {
    /// Tells hosts apart: a name, or a random id.
    pub host: &'a str,
    /// Its kind of machine.
    pub kind: &'a Kind,
    /// The release of its kernel.
    pub kernel: Option<&'a str>,
    /// Facts that are chosen on each host, by name: `clock source`, `preemption mode` …
    pub settings: &'a [(&'static str, &'a str)],
    /// The wait.
    pub wait: &'a str,
    /// What it requested.
    pub requested: Option<Nanos>,
    /// When, in seconds since 1970-01-01 UTC.
    pub taken_unix_s: i64,
    /// The lateness.
    pub lateness: &'a Distribution,
    /// The share of CPU time that the hypervisor took meanwhile; `None` if it isn't known.
    pub steal_share: Option<f64>,
}

/// The figures of one host, wait and kernel in a quarter of a day.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    pub host: u32,
    pub wait: u16,
    pub kernel: u16,
    pub day: i32,
    pub part: Part,
    /// In ns. Where the median is not late, this is 1 ns: ratios need a figure above zero.
    pub p50: f64,
    /// `None` where fewer than ten values lie beyond it.
    pub p99: Option<f64>,
    pub steal: Option<f32>,
    /// How many waits it has.
    pub waits: u32,
}

/// A host.
#[derive(Clone, Debug)]
pub(super) struct Host {
    pub name: String,
    pub kind: u32,
    /// Each value of each fact with the first and the last row that has it, by the fact's name.
    pub facts: BTreeMap<&'static str, Vec<Known>>,
}

/// A value of a fact.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub value: String,
    pub first: i64,
    pub last: i64,
}

/// Names of things by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    pub all: Vec<String>,
    by_name: HashMap<String, usize>,
}

impl Names {
    fn number(&mut self, name: &str) -> usize {
        if let Some(&known) = self.by_name.get(name) {
            return known;
        }
        self.by_name.insert(name.to_owned(), self.all.len());
        self.all.push(name.to_owned());
        self.all.len() - 1
    }
}

/// What is still open: waits of a quarter of a day, by part, host, wait and kernel.
type Open = HashMap<(Part, u32, u16, u16), (Distribution, f64, u32)>;

/// Takes stretches, day by day.
#[derive(Clone, Debug, Default)]
pub struct Collector {
    pub(super) hosts: Vec<Host>,
    /// A machine that became another kind under its name is another host since then.
    host_by_name: HashMap<String, Vec<usize>>,
    pub(super) kinds: Vec<Kind>,
    pub(super) kernels: Names,
    pub(super) waits: Names,
    pub(super) cells: Vec<Cell>,
    open: Open,
    /// The day that is open.
    day: i32,
    pub(super) rows: u64,
    pub(super) values: u64,
    pub(super) span: Option<(i64, i64)>,
}

/// The name of the kernel among the facts.
pub(super) const KERNEL: &str = "kernel";

impl Collector {
    /// One without anything.
    pub fn new() -> Collector {
        Collector::default()
    }

    /// Adds a stretch; those of a day follow one another, and days in any order. A day that comes twice is judged as two
    /// halves. Memory is needed for one day's waits, and for 64 bytes of each quarter of a day of each host's wait.
    pub fn add(&mut self, stretch: &Stretch<'_>) {
        let Stretch { taken_unix_s: taken, lateness, .. } = *stretch;
        if lateness.is_empty() {
            return;
        }
        let day = i32::try_from(taken.div_euclid(86_400)).unwrap_or_default();
        if day != self.day {
            self.close();
            self.day = day;
        }
        self.rows += 1;
        self.values += lateness.count();
        let (from, to) = self.span.unwrap_or((taken, taken));
        self.span = Some((from.min(taken), to.max(taken)));
        let host = self.host(stretch);
        let wait = match stretch.requested {
            Some(requested) => self.waits.number(&format!("{}({requested:#})", stretch.wait)),
            None => self.waits.number(stretch.wait),
        };
        let kernel = self.kernels.number(stretch.kernel.unwrap_or_default());
        let key = (Part::of_unix(taken), host, wait as u16, kernel as u16);
        let (sum, steal, known) = self.open.entry(key).or_insert_with(|| (Distribution::growing(), 0.0, 0));
        sum.merge(lateness);
        if let Some(share) = stretch.steal_share {
            *steal += share;
            *known += 1;
        }
    }

    /// How many hosts there are by their names.
    pub(super) fn names(&self) -> usize {
        self.host_by_name.len()
    }

    fn host(&mut self, stretch: &Stretch<'_>) -> u32 {
        let same = self.host_by_name.get(stretch.host).into_iter().flatten().copied();
        let known = same.into_iter().find(|&at| self.kinds[self.hosts[at].kind as usize] == *stretch.kind);
        let at = known.unwrap_or_else(|| {
            let kind = self.kinds.iter().position(|kind| kind == stretch.kind).unwrap_or_else(|| {
                self.kinds.push(stretch.kind.clone());
                self.kinds.len() - 1
            });
            self.host_by_name.entry(stretch.host.to_owned()).or_default().push(self.hosts.len());
            let name = stretch.host.to_owned();
            self.hosts.push(Host { name, kind: kind as u32, facts: BTreeMap::new() });
            self.hosts.len() - 1
        });
        let facts = &mut self.hosts[at].facts;
        let kernel = stretch.kernel.map(|release| (KERNEL, release));
        for (name, value) in stretch.settings.iter().copied().chain(kernel) {
            let values = facts.entry(name).or_default();
            let taken = stretch.taken_unix_s;
            match values.iter_mut().find(|known| known.value == value) {
                Some(known) => {
                    (known.first, known.last) = (known.first.min(taken), known.last.max(taken));
                }
                None => values.push(Known { value: value.to_owned(), first: taken, last: taken }),
            }
        }
        at as u32
    }

    /// Reduces what is open.
    pub(super) fn close(&mut self) {
        let day = self.day;
        let mut closed: Vec<Cell> = self
            .open
            .drain()
            .filter_map(|((part, host, wait, kernel), (sum, steal, known))| {
                let above_zero = |ns: i64| ns.max(1) as f64;
                let p50 = above_zero(sum.p50()?);
                let steal = (known > 0).then(|| (steal / f64::from(known)) as f32);
                let p99 = sum.safe_quantile(0.99).map(above_zero);
                let waits = u32::try_from(sum.count()).unwrap_or(u32::MAX);
                Some(Cell { host, wait, kernel, day, part, p50, p99, steal, waits })
            })
            .collect();
        closed.sort_by_key(|cell| (cell.part, cell.host, cell.wait, cell.kernel));
        self.cells.extend(closed);
    }
}
