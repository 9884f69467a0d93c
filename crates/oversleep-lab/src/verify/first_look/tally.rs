//! The shares of first looks at which the models were right.

use super::super::Kind;
use super::{FirstLook, Grade};
use crate::assert::of_share;

/// A share of first looks, with its interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    /// What they have in common.
    pub what: String,
    /// How many the models were right about.
    pub right: u64,
    /// Of how many.
    pub of: u64,
    /// The lower end of the share's interval.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// A way to divide first looks.
#[derive(Clone, Debug, PartialEq)]
pub struct Shares {
    /// The way, as a heading: `by system`.
    pub by: &'static str,
    /// Its parts.
    pub shares: Vec<Share>,
}

/// All shares: by what decides the figure, by system, grade, and over time. A figure of grade C counts in its grade alone.
pub fn shares(looks: &[FirstLook]) -> Vec<Shares> {
    let kind = |look: &FirstLook| look.question.kind.map_or(OF_NO_MODEL, Kind::words).to_owned();
    let system = |look: &FirstLook| look.question.system.clone();
    let grade = |look: &FirstLook| look.found.grade.words().to_owned();
    let round = |look: &FirstLook| format!("asked on {}, models of {}", look.date, look.models);
    let counted: Vec<&FirstLook> = looks.iter().filter(|look| look.found.grade != Grade::C).collect();
    vec![
        divided("all", &counted, &|_| "rules, costs and wake-ups".to_owned()),
        divided("by what decides the figure", &counted, &kind),
        divided("by system", &counted, &system),
        divided("by grade of the source", &looks.iter().collect::<Vec<_>>(), &grade),
        divided("over time", &counted, &round),
    ]
}

const OF_NO_MODEL: &str = "what no model covers";

fn divided(by: &'static str, looks: &[&FirstLook], of: &dyn Fn(&FirstLook) -> String) -> Shares {
    let mut names: Vec<String> = looks.iter().map(|look| of(look)).collect();
    names.sort();
    names.dedup();
    let share = |what: String| {
        let part: Vec<&&FirstLook> = looks.iter().filter(|look| of(look) == what).collect();
        let (right, of) = (part.iter().filter(|look| look.agrees()).count() as u64, part.len() as u64);
        let (low, high) = of_share(right, of);
        Share { what, right, of, low, high }
    };
    Shares { by, shares: names.into_iter().map(share).collect() }
}

#[cfg(test)]
mod tests {
    use super::super::ledger;
    use super::*;

    #[test]
    fn the_guide_and_the_readme_state_the_shares_that_the_ledger_gives() {
        let shares = shares(&ledger().unwrap().looks);
        let guide = include_str!("../../../../../docs/guide.md");
        let covered = |share: &&Share| share.what != OF_NO_MODEL;
        for share in shares[..2].iter().flat_map(|group| group.shares.iter().filter(covered)) {
            let percent = |share: f64| format!("{:.0} %", share * 100.0);
            let stated =
                format!("| {} | {} ({} to {}) |", share.right, share.of, percent(share.low), percent(share.high));
            assert!(guide.contains(&stated), "docs/guide.md doesn't say {stated}");
        }
        let Share { right, of, .. } = &shares[0].shares[0];
        let readme = include_str!("../../../../../README.md");
        assert!(readme.contains(&format!("{right} of {of}")), "README.md doesn't say {right} of {of}");
    }

    #[test]
    fn hearsay_counts_in_its_grade_alone() {
        let ledger = ledger().unwrap();
        let hearsay = ledger.looks.iter().filter(|look| look.found.grade == Grade::C).count();
        let of = |group: &Shares| group.shares.iter().map(|share| share.of).sum::<u64>() as usize;
        for group in shares(&ledger.looks) {
            let left = if group.by.contains("grade") { 0 } else { hearsay };
            assert_eq!(of(&group), ledger.looks.len() - left, "{}", group.by);
        }
    }
}
