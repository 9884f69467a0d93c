//! Hosts that are set up unlike the others of their kind.

use std::collections::BTreeMap;

use oversleep_explain::fleet::ODD;
use oversleep_record::words::{counted, list};

use super::cells::{KERNEL, Known};
use super::hosts::{first_day, p50_of};
use super::judging::{Judging, MEMBERS_MIN, newest, newest_kernel};
use super::model::Finding;
use super::profiles::Profile;
use super::words;

/// At most one host in this many is an exception; more are a variant.
const ONE_IN: usize = 10;
/// The most hosts that a sentence names.
const NAMED_MAX: usize = 5;

/// A value of a fact with the hosts that have it.
pub(super) type Values<'a> = BTreeMap<&'a str, Vec<(usize, &'a Known)>>;

/// The values that hosts of a kind and kernel have of each fact but the kernel.
pub(super) fn groups<'a>(judging: &Judging<'a>) -> BTreeMap<(u32, Option<&'a str>, &'static str), Values<'a>> {
    let mut groups: BTreeMap<(u32, Option<&str>, &str), Values<'_>> = BTreeMap::new();
    for (at, host) in judging.all.hosts.iter().enumerate() {
        for fact in host.facts.keys().filter(|fact| **fact != KERNEL) {
            let Some(known) = newest(host, fact) else { continue };
            let values = groups.entry((host.kind, newest_kernel(host), fact)).or_default();
            values.entry(&known.value).or_default().push((at, known));
        }
    }
    groups
}

/// How many hosts they are of.
pub(super) fn hosts(values: &Values<'_>) -> usize {
    values.values().map(Vec::len).sum()
}

/// One finding for each value of a fact that few hosts of a kind and kernel have.
pub(super) fn findings(judging: &Judging<'_>, profiles: &[Profile]) -> Vec<Finding> {
    let mut found = Vec::new();
    for ((_, _, fact), values) in &groups(judging) {
        let all = hosts(values);
        let Some((usual, most)) = values.iter().max_by_key(|(_, hosts)| hosts.len()) else { continue };
        if all < MEMBERS_MIN {
            continue;
        }
        let few = values.iter().filter(|(_, hosts)| hosts.len() * ONE_IN <= all);
        found.extend(few.map(|(value, hosts)| finding(judging, profiles, (fact, value, usual, most.len()), hosts)));
    }
    found
}

fn finding(
    judging: &Judging<'_>,
    profiles: &[Profile],
    (fact, value, usual, count): (&str, &str, &str, usize),
    hosts: &[(usize, &Known)],
) -> Finding {
    let names: Vec<String> = hosts.iter().map(|(host, _)| judging.name(*host).to_owned()).collect();
    let named = match names.len() {
        0..=NAMED_MAX => list(&names),
        all => format!("{} and {} more hosts", names[..NAMED_MAX].join(", "), all - NAMED_MAX),
    };
    let first = hosts[0];
    // One that had another value before has it since then.
    let had = judging.all.hosts[first.0].facts.get(fact).is_some_and(|values| values.len() > 1);
    let since = had.then(|| hosts.iter().map(|(_, known)| known.first).min()).flatten();
    let kind = judging.kind(first.0);
    let has = if names.len() == 1 { "has" } else { "have" };
    let mut beside: Vec<&Profile> = profiles.iter().filter(|profile| profile.host == first.0).collect();
    beside.sort_by(|a, b| b.deviations().total_cmp(&a.deviations()));
    let effect = p50_of(profiles, first.0);
    let late = effect.map(|profile| format!(" On {}, {}.", names[0], profile.in_words_of_effect(judging)));
    Finding {
        sentence: format!(
            "{named} {has} the {fact} {value} {}, and {} of the same kind ({kind}) {} {usual}.{}",
            words::since(since, first_day(judging, first.0))
                .replace("its", if names.len() == 1 { "its" } else { "their" }),
            counted(count, "host"),
            if count == 1 { "has" } else { "have" },
            late.unwrap_or_default()
        ),
        evidence: beside.iter().map(|profile| profile.in_words(judging)).collect(),
        since_unix_s: since,
        ratio: effect.and_then(|profile| profile.ratio()),
        hosts: names,
        ..Finding::of(&ODD, kind)
    }
}
