//! Judges a fleet: each cell beside those of its group at the same time, then each host, change and kind.

use std::collections::BTreeMap;

use super::cells::{Cell, Collector, KERNEL};
use super::kinds::FINDINGS;
use super::model::{Figure, Finding, Fleet, HostRow, Part, SCHEMA};
use super::{changes, groups, hosts, odd, stats};

/// The fewest hosts beside which a host's figures of a quarter of a day are seen.
const BESIDE_MIN: usize = 5;
/// The days from which intervals by days are narrow.
const WEEK: usize = 7;
/// The fewest hosts of a group in which one can be unusual.
pub(super) const MEMBERS_MIN: usize = 10;

/// A collector's cells with what their judgement shares.
pub(super) struct Judging<'a> {
    pub all: &'a Collector,
    /// How far each cell is from the median of its group at that time, as logarithms, by figure.
    apart: Vec<[Option<f64>; Figure::ALL.len()]>,
    /// The cells of each host.
    of_host: Vec<Vec<usize>>,
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
    fn of(all: &'a Collector) -> Judging<'a> {
        let mut of_host = vec![Vec::new(); all.hosts.len()];
        let mut together: BTreeMap<(u32, u16, u16, i32, Part), Vec<usize>> = BTreeMap::new();
        for (at, cell) in all.cells.iter().enumerate() {
            of_host[cell.host as usize].push(at);
            let kind = all.hosts[cell.host as usize].kind;
            together.entry((kind, cell.kernel, cell.wait, cell.day, cell.part)).or_default().push(at);
        }
        let mut apart = vec![[None; Figure::ALL.len()]; all.cells.len()];
        for members in together.into_values().filter(|members| members.len() >= BESIDE_MIN) {
            for (place, figure) in Figure::ALL.into_iter().enumerate() {
                let logarithm = |&at: &usize| Some((at, figure.of(&all.cells[at])?.ln()));
                let known: Vec<(usize, f64)> = members.iter().filter_map(logarithm).collect();
                let values: Vec<f64> = known.iter().map(|(_, value)| *value).collect();
                let Some(middle) = stats::median(&values).filter(|_| values.len() >= BESIDE_MIN) else { continue };
                known.iter().for_each(|&(at, value)| apart[at][place] = Some(value - middle));
            }
        }
        let per_host = Figure::ALL.len() * (1 + Part::ALL.len());
        let comparisons = (all.hosts.len() * all.waits.all.len() * per_host + all.kinds.len()).max(1);
        Judging { all, apart, of_host, comparisons }
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

pub(super) fn fleet(all: &Collector) -> Fleet {
    let judging = Judging::of(all);
    let profiles = hosts::profiles(&judging);
    let mut undecided = Vec::new();
    let odd = odd::findings(&judging, &profiles);
    let is_odd =
        |finding: &Finding| odd.iter().any(|other| finding.hosts.iter().all(|host| other.hosts.contains(host)));
    let mut findings: Vec<Finding> = hosts::unlike(&judging, &profiles);
    // The setting is the reason that is known.
    findings.retain(|finding| !is_odd(finding));
    findings.extend(hosts::at_hours(&judging, &profiles));
    findings.extend(odd);
    let changes = changes::all(&judging, &mut undecided);
    findings.extend(changes.iter().filter_map(changes::finding));
    let groups = groups::all(&judging);
    findings.extend(groups::steal(&judging, &groups));
    let place = |finding: &Finding| FINDINGS.iter().position(|kind| kind.id == finding.id);
    let effect = |finding: &Finding| finding.ratio.map_or(0.0, |ratio| ratio.value.ln().abs());
    findings.sort_by(|a, b| place(a).cmp(&place(b)).then(effect(b).total_cmp(&effect(a))).then(a.hosts.cmp(&b.hosts)));
    undecided.extend(alone(&judging));
    let mut host_rows = hosts::rows(&judging, &profiles);
    host_rows.iter_mut().for_each(|row: &mut HostRow| {
        let naming = findings.iter().filter(|finding| finding.hosts.contains(&row.host));
        row.findings = naming.map(|finding| finding.id).collect();
    });
    // They are in order, so this only moves the named ones.
    host_rows.sort_by_key(|row| row.findings.is_empty());
    let (from_unix_s, to_unix_s) = all.span.unwrap_or_default();
    Fleet {
        schema: SCHEMA,
        hosts: all.hosts.len() as u64,
        rows: all.rows,
        waits: all.values,
        from_unix_s,
        to_unix_s,
        comparisons: judging.comparisons as u64,
        findings,
        undecided,
        groups,
        changes,
        host_rows,
        days: days(all).into_iter().map(i64::from).collect(),
    }
}

/// What is said of hosts that have too few beside them.
fn alone(judging: &Judging<'_>) -> Vec<String> {
    let few = |(at, kind): (usize, &super::model::Kind)| {
        let members = judging.members(at).count();
        (members < MEMBERS_MIN).then(|| {
            let hosts = oversleep_record::words::counted(members, "host");
            format!("{kind}: {hosts}, and one can be unlike its group only among {MEMBERS_MIN} or more.")
        })
    };
    let days = days(judging.all).len();
    let short = (days < WEEK && !judging.all.hosts.is_empty()).then(|| {
        let days = oversleep_record::words::counted(days, "day");
        format!(
            "The rows are of {days}. Below a week only large differences of single hosts are certain: add more days."
        )
    });
    judging.all.kinds.iter().enumerate().filter_map(few).chain(short).collect()
}

/// The value of a fact on a host that its newest row has.
pub(super) fn newest<'a>(host: &'a super::cells::Host, fact: &str) -> Option<&'a super::cells::Known> {
    host.facts.get(fact)?.iter().max_by_key(|known| known.last)
}

/// The kernel of a host's newest row.
pub(super) fn newest_kernel(host: &super::cells::Host) -> Option<&str> {
    newest(host, KERNEL).map(|known| known.value.as_str())
}
