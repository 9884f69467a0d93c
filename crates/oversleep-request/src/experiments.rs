//! Experiments as users name them.

use oversleep_lab::findings::{self, Finding, ShownBy};
use oversleep_measure::{Experiment, experiment_named, registry};

use crate::names;
use crate::refusal::Refusal;

/// The experiments with these ids and those that they read, in the registry's order.
///
/// # Errors
/// The first unknown id.
pub fn named(ids: &[String]) -> Result<Vec<&'static Experiment>, Refusal> {
    let mut wanted = Vec::new();
    for id in ids {
        let experiment = find(id)?;
        wanted.push(experiment.id);
        wanted.extend(experiment.reads);
    }
    Ok(registry().iter().copied().filter(|experiment| wanted.contains(&experiment.id)).collect())
}

/// The experiment with that id.
///
/// # Errors
/// There is none.
pub fn find(id: &str) -> Result<&'static Experiment, Refusal> {
    let ids: Vec<&str> = registry().iter().map(|experiment| experiment.id.as_str()).collect();
    experiment_named(id.trim()).ok_or_else(|| match findings::named(id) {
        Some(finding) => Refusal::usage(is_a_finding(&finding)),
        None => names::unknown("experiment", id, &ids, Some("oversleep experiments")),
    })
}

/// What to type instead of a finding's name.
fn is_a_finding(finding: &Finding) -> String {
    let name = finding.name;
    let shown = match finding.shown_by {
        ShownBy::Experiment(id) => format!("experiment {id} shows it: oversleep check --only {id}"),
        ShownBy::Check => "every check looks for it: oversleep check".to_owned(),
        ShownBy::Runtimes => "`oversleep runtimes` looks for it".to_owned(),
        ShownBy::Why => "`oversleep why -- PROGRAM` looks for it".to_owned(),
        ShownBy::Archive => "`oversleep archive report DIR` looks for it".to_owned(),
    };
    format!("'{name}' is a finding, not an experiment; {shown}. `oversleep explain {name}` explains it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_may_name_them_in_any_case_and_order() {
        let named_ids = |typed: &[&str]| {
            let typed: Vec<String> = typed.iter().map(|&id| id.to_owned()).collect();
            named(&typed)
                .map(|experiments| experiments.iter().map(|experiment| experiment.id.as_str()).collect::<Vec<_>>())
        };
        assert_eq!(named_ids(&["d1", "B2", "D1"]).unwrap(), ["B2", "D1"]);
        assert_eq!(named_ids(&["A6"]).unwrap(), ["A1", "A2", "A4", "A6"], "the verdict reads what the others measure");
        let error = named_ids(&["B99"]).unwrap_err();
        assert!(error.to_string().starts_with("unknown experiment 'B99'"), "{error}");
    }

    #[test]
    fn a_finding_is_no_experiment_and_the_error_names_the_one_that_shows_it() {
        let error = |id: &str| find(id).err().map(|error| error.to_string()).unwrap_or_default();
        let of_slack = "'timer-slack' is a finding, not an experiment; experiment B5 shows it: oversleep check --only B5. \
                        `oversleep explain timer-slack` explains it";
        assert_eq!(error("timer-slack"), of_slack);
        assert_eq!(error("ovs-l001"), of_slack);
        assert!(error("cgroup-quota").contains("; every check looks for it: oversleep check. "));
        assert!(error("late-by-slack").contains("`oversleep why -- PROGRAM` looks for it"));
        assert!(error("OVS-F001").contains("`oversleep archive report DIR` looks for it"));
    }
}
