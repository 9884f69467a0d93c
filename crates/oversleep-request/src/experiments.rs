//! Experiments as users name them.

use crate::names;
use crate::refusal::Refusal;
use oversleep_measure::{Experiment, experiment_named, registry};

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
    experiment_named(id.trim()).ok_or_else(|| names::unknown("experiment", id, &ids, Some("oversleep experiments")))
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
}
