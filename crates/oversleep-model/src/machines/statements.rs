//! The values of all sources for a figure of a machine, and how much they differ: the precision with which one
//! machine's cost predicts another's.

use oversleep_record::Nanos;

use super::MachineError;
use super::evidence::{self, SOURCES_MIN};
use super::profile::Profile;
use super::value::Value;

/// The value of one source for a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// The id of the source.
    pub source_id: String,
    /// In ns; for a distribution, its mean.
    pub ns: f64,
}

/// How much the sources' values differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Differ {
    /// The highest divided by the lowest.
    pub ratio: f64,
    /// The sources of those figures, the lowest first; empty if no two sources state the figure, so that the ratio is
    /// the median of those of other figures of the kind.
    pub between: Vec<String>,
}

/// The values of all sources but one for the cost of a read of that clock on that machine.
///
/// # Errors
/// There is no such machine.
pub fn costs_stated(machine: &str, clock: &str, without: &str) -> Result<Vec<Statement>, MachineError> {
    let of = |path: &str| stated(machine, path, without, Value::as_ns);
    let own = of(&format!("costs.{clock}"))?;
    if own.is_empty() { of("costs.other") } else { Ok(own) }
}

/// The values of all sources but one for a yield on that machine.
///
/// # Errors
/// There is no such machine.
pub fn yields_stated(machine: &str, without: &str) -> Result<Vec<Statement>, MachineError> {
    stated(machine, "wake.yield", without, Value::as_ns)
}

/// The values of all sources but one for a wake-up on that machine after a wait of that length: the cost, and the exit
/// from the idle state that is chosen then.
///
/// # Errors
/// There is no such machine.
pub fn wakes_stated(
    machine: &str,
    span: Nanos,
    is_real_time: bool,
    without: &str,
) -> Result<Vec<Statement>, MachineError> {
    let (cost, exits) = match is_real_time {
        true => ("wake.real-time", "wake.real-time-idle-exits"),
        false => ("wake.cost", "wake.idle-exits"),
    };
    let exits = stated(machine, exits, without, |value| value.step_at(span))?;
    let mut wakes = stated(machine, cost, without, Value::as_ns)?;
    for wake in &mut wakes {
        wake.ns += exits.iter().find(|exit| exit.source_id == wake.source_id).map_or(0.0, |exit| exit.ns);
    }
    Ok(wakes)
}

/// How much those statements differ: the ratio of the highest to the lowest. `None` for fewer than two.
pub fn differ(statements: &[Statement]) -> Option<Differ> {
    let mut sorted: Vec<&Statement> = statements.iter().filter(|one| one.ns > 0.0).collect();
    sorted.sort_by(|one, other| one.ns.total_cmp(&other.ns));
    let (first, last) = (sorted.first()?, sorted.last()?);
    let between = vec![first.source_id.clone(), last.source_id.clone()];
    (sorted.len() > 1).then(|| Differ { ratio: last.ns / first.ns, between })
}

/// How much sources usually differ about one figure, without the excluded source: the median, over all figures of that
/// family (`costs`, `wake`) and kind of machine that two others state.
pub fn usual_ratio(family: &str, without: &str) -> Option<Differ> {
    let mut ratios: Vec<f64> = evidence::kinds()
        .flat_map(|kind| evidence::said_of(kind, without))
        .filter(|(path, _)| path.split('.').next() == Some(family))
        .filter_map(|(_, said)| {
            // The steps of a ladder are not a single figure.
            let statement = |(source_id, value): (String, Value)| Some(Statement { source_id, ns: value.as_ns()? });
            Some(differ(&said.into_iter().filter_map(statement).collect::<Vec<_>>())?.ratio)
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    let ratio = *ratios.get(ratios.len() / 2)?;
    Some(Differ { ratio, between: Vec::new() })
}

/// The statements of the nearest profiles, the machine's own first and then its bases, until they show how much
/// machines differ.
fn stated(
    machine: &str,
    path: &str,
    without: &str,
    ns: impl Fn(&Value) -> Option<f64>,
) -> Result<Vec<Statement>, MachineError> {
    let mut statements: Vec<Statement> = Vec::new();
    for stated in Profile::statements(machine, path)? {
        for (source_id, value) in stated {
            let is_new = source_id != without && statements.iter().all(|known| known.source_id != source_id);
            let ns = ns(&value).filter(|_| is_new);
            statements.extend(ns.map(|ns| Statement { source_id, ns }));
        }
        if statements.len() >= SOURCES_MIN {
            break;
        }
    }
    Ok(statements)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(statements: &[Statement]) -> Vec<&str> {
        statements.iter().map(|one| one.source_id.as_str()).collect()
    }

    #[test]
    fn what_a_clock_costs_is_stated_by_the_kinds_that_a_profile_draws_on() {
        let stated = costs_stated("linux-hpet", "monotonic", "clockperf").unwrap();
        assert!(ids(&stated).contains(&"redhat-timestamping") && !ids(&stated).contains(&"clockperf"), "{stated:?}");
        let differ = differ(&stated).unwrap();
        assert!(differ.ratio > 1.0 && differ.between.len() == 2, "{differ:?}");
        assert!(costs_stated("abacus", "monotonic", "").is_err());
    }

    #[test]
    fn a_wake_up_includes_the_exit_that_its_source_states_for_that_span() {
        let of = |span| {
            let stated = wakes_stated("linux-cloud", span, false, "jdk-13892").unwrap();
            stated.into_iter().find(|one| one.source_id == "jdk-13225").unwrap().ns
        };
        assert_eq!(of(Nanos::from_millis(10)) - of(Nanos::from_millis(1)), 1_100.0);
    }

    #[test]
    fn one_statement_does_not_tell_by_how_much_sources_differ() {
        let one = |id: &str, ns| Statement { source_id: id.to_owned(), ns };
        assert_eq!(differ(&[one("a", 3.0)]), None);
        let between = vec!["b".to_owned(), "a".to_owned()];
        assert_eq!(differ(&[one("a", 3.0), one("b", 2.0), one("c", 2.5)]), Some(Differ { ratio: 1.5, between }));
        for family in ["costs", "wake"] {
            assert!(usual_ratio(family, "clockperf").unwrap().ratio > 1.0);
        }
        assert_eq!(usual_ratio("abacus", ""), None);
    }
}
