//! Which experiments a command consists of.

use oversleep_measure::{Experiment, experiment_named, registry};
use oversleep_record::ExperimentId;

use super::names;
use crate::exit::Failure;

/// Those of the ids, in the registry's order.
pub fn by_id(ids: &[ExperimentId]) -> Vec<&'static Experiment> {
    registry().iter().copied().filter(|experiment| ids.contains(&experiment.id)).collect()
}

/// Those a survey of waits consists of, or a close look at a few. The survey adds the waits that spin; a close look at
/// a name finds it among the timed waits or among the yields, which have no time to be late for.
pub fn for_waits(names: &[String]) -> Vec<&'static Experiment> {
    by_id(if names.is_empty() { &[ExperimentId::B5, ExperimentId::B12] } else { &[ExperimentId::B5, ExperimentId::B7] })
}

/// Those a user named and those they read, in the registry's order.
///
/// # Errors
/// The first id there is not.
pub fn named(ids: &[String]) -> Result<Vec<&'static Experiment>, Failure> {
    let mut wanted = Vec::new();
    for id in ids {
        let experiment = find(id)?;
        wanted.push(experiment.id);
        wanted.extend(experiment.reads);
    }
    Ok(by_id(&wanted))
}

/// The experiment of that id.
///
/// # Errors
/// There is none.
pub fn find(id: &str) -> Result<&'static Experiment, Failure> {
    let ids: Vec<&str> = registry().iter().map(|experiment| experiment.id.as_str()).collect();
    experiment_named(id.trim()).ok_or_else(|| names::unknown("experiment", id, &ids, Some("oversleep experiments")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(experiments: &[&Experiment]) -> Vec<ExperimentId> {
        experiments.iter().map(|experiment| experiment.id).collect()
    }

    #[test]
    fn commands_name_experiments_there_are() {
        for wanted in [
            &[
                ExperimentId::A1,
                ExperimentId::A2,
                ExperimentId::A3,
                ExperimentId::A4,
                ExperimentId::A5,
                ExperimentId::A6,
                ExperimentId::B3,
            ][..],
            &[ExperimentId::D1, ExperimentId::D2, ExperimentId::D3],
            &[ExperimentId::D4],
            &[ExperimentId::C1, ExperimentId::C2],
            &[ExperimentId::C3, ExperimentId::C4, ExperimentId::C5],
        ] {
            assert_eq!(ids(&by_id(wanted)), wanted);
        }
        assert_eq!(ids(&for_waits(&[])), [ExperimentId::B5, ExperimentId::B12]);
        assert_eq!(ids(&for_waits(&["sched-yield".to_owned()])), [ExperimentId::B5, ExperimentId::B7]);
    }

    #[test]
    fn users_may_name_them_in_any_case_and_order() {
        let named_ids = |typed: &[&str]| {
            let typed: Vec<String> = typed.iter().map(|&id| id.to_owned()).collect();
            named(&typed).map(|experiments| ids(&experiments))
        };
        assert_eq!(named_ids(&["d1", "B2", "D1"]).unwrap(), [ExperimentId::B2, ExperimentId::D1]);
        assert_eq!(
            named_ids(&["A6"]).unwrap(),
            [ExperimentId::A1, ExperimentId::A2, ExperimentId::A4, ExperimentId::A6],
            "the verdict reads what the others measure"
        );
        let error = named_ids(&["B99"]).unwrap_err();
        assert!(error.to_string().starts_with("unknown experiment 'B99'"), "{error}");
    }
}
