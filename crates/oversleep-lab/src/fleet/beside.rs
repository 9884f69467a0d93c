//! How far each host is from those of its group at the same time.

use std::collections::BTreeMap;

use super::cells::Cell;
use super::model::{Figure, Part};
use super::stats;

/// The fewest hosts beside which a host's figures are seen.
pub(super) const BESIDE_MIN: usize = 5;

/// A cell's place with its host and the logarithm of its figure.
type Known = (usize, u32, f64);

/// How far each of a group's cells is from the median of the group, as logarithms, with their places.
///
/// It is the median of the same six hours. Where fewer than five hosts have results in them, it is that of the day, with
/// what the group has at these hours more or less than on the whole day, over all days: so results that come once a day at
/// random hours can be compared, and a group that is late at night makes nobody unlike it.
pub(super) fn apart(cells: &[Cell], members: &[usize], figure: Figure) -> Vec<(usize, f64)> {
    let known = |&at: &usize| Some((at, cells[at].host, figure.of(&cells[at])?.ln()));
    let known: Vec<Known> = members.iter().filter_map(known).collect();
    let quarters = middles(&known, |&(at, ..)| (cells[at].day, cells[at].part));
    let is_alone = |(at, ..): &&Known| !quarters.contains_key(&(cells[*at].day, cells[*at].part));
    let days = match known.iter().any(|one| is_alone(&one)) {
        true => middles(&known, |&(at, ..)| cells[at].day),
        false => BTreeMap::new(),
    };
    let of_day = |&(at, host, value): &Known| Some((at, host, value - days.get(&cells[at].day)?));
    let by_day: Vec<Known> = known.iter().filter(is_alone).filter_map(of_day).collect();
    let usual: BTreeMap<Part, f64> = middles(&by_day, |&(at, ..)| cells[at].part);
    let of_quarter = |&(at, _, value): &Known| Some((at, value - quarters.get(&(cells[at].day, cells[at].part))?));
    let of_day = |&(at, _, value): &Known| Some((at, value - usual.get(&cells[at].part)?));
    known.iter().filter_map(of_quarter).chain(by_day.iter().filter_map(of_day)).collect()
}

/// The median of the hosts of each key that has enough hosts; a host counts once, by its own median.
fn middles<K: Ord>(known: &[Known], key: impl Fn(&Known) -> K) -> BTreeMap<K, f64> {
    let mut hosts: BTreeMap<K, BTreeMap<u32, Vec<f64>>> = BTreeMap::new();
    for one in known {
        hosts.entry(key(one)).or_default().entry(one.1).or_default().push(one.2);
    }
    let enough = hosts.into_iter().filter(|(_, hosts)| hosts.len() >= BESIDE_MIN);
    let middle = |hosts: BTreeMap<u32, Vec<f64>>| {
        stats::median(&hosts.into_values().filter_map(|own| stats::median(&own)).collect::<Vec<f64>>())
    };
    enough.filter_map(|(key, hosts)| Some((key, middle(hosts)?))).collect()
}
