//! The shares of first looks at which the models were right.

use super::super::Kind;
use super::{Grade, Look};
use crate::assert::of_share;

/// A share of first looks, with its interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    /// What they have in common.
    pub what: String,
    /// How many the models were right about.
    pub agrees: u64,
    /// Of how many.
    pub of: u64,
    /// The interval of the share.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// A way to divide first looks.
#[derive(Clone, Debug, PartialEq)]
pub struct Shares {
    /// The way: `kind`.
    pub by: &'static str,
    /// Its parts.
    pub shares: Vec<Share>,
}

/// All shares: of everything, by kind, system, grade, and over time. What no model covers is missed; it counts as decided
/// by neither kind if nothing says which.
pub fn shares(looks: &[Look]) -> Vec<Shares> {
    let named = |by: &'static str, names: Vec<String>, of: &dyn Fn(&Look) -> String| Shares {
        by,
        shares: names.into_iter().filter_map(|name| share(looks, &name, |look| of(look) == name)).collect(),
    };
    let distinct = |of: &dyn Fn(&Look) -> String| {
        let mut names: Vec<String> = looks.iter().map(of).collect();
        names.sort();
        names.dedup();
        names
    };
    let kind = |look: &Look| look.asked.kind.map_or("of a kind that no model states", Kind::words).to_owned();
    let kinds =
        Kind::ALL.map(|kind| kind.words().to_owned()).into_iter().chain(["of a kind that no model states".to_owned()]);
    let system = |look: &Look| look.asked.system.clone();
    let grade = |look: &Look| look.found.grade.words().to_owned();
    let round = |look: &Look| format!("{}, models {}", look.date, look.models);
    vec![
        Shares { by: "all", shares: share(looks, "all first looks", |_| true).into_iter().collect() },
        named("kind", kinds.collect(), &kind),
        named("system", distinct(&system), &system),
        named("grade", Grade::ALL.map(|grade| grade.words().to_owned()).to_vec(), &grade),
        named("round", distinct(&round), &round),
    ]
}

fn share(looks: &[Look], what: &str, fits: impl Fn(&Look) -> bool) -> Option<Share> {
    let of = looks.iter().filter(|look| fits(look)).count() as u64;
    let agrees = looks.iter().filter(|look| fits(look) && look.agrees()).count() as u64;
    let (low, high) = of_share(agrees, of);
    (of > 0).then(|| Share { what: what.to_owned(), agrees, of, low, high })
}
