//! What a result of modelled runtimes says of early ends, and advice for a version.

use oversleep_measure::{Limit, Plan};
use oversleep_record::{CommandName, ExperimentId, label};

use super::tests::{lab, run_on};
use super::*;

/// Only a deadline that a call was before is an early end: no interval after a late one, and no span that a call doesn't
/// take.
#[test]
fn no_call_at_a_fixed_rate_ends_early_but_before_its_deadline() {
    let mut judged = 0;
    for machine in ["linux-hz250", "linux-hz1000", "macos-14-m1", "windows-11"] {
        let plan = Plan { limit: Some(Limit::Count(100)), ..Plan::default() };
        let file = run_on(&lab(machine), CommandName::Runtimes, &[ExperimentId::R1, ExperimentId::R2], plan);
        for wait in waits(&file) {
            let what = format!("{machine} {} of {}", wait.name, wait.runtime);
            if oversleep_system::runtime_calls::takes_no_span(wait.name) {
                assert_eq!(wait.ruling().map_err(|why| why.to_string()), Err("takes no span".to_owned()), "{what}");
                assert_eq!(wait.requests(), [Nanos::from_millis(1)], "{what}");
                judged += 1;
            }
            if !oversleep_system::runtime_calls::is_at_fixed_rate(wait.name) {
                continue;
            }
            let Ok(ruling) = wait.ruling() else { continue };
            let is_before = |requested: Nanos| {
                let least = wait.at(requested).and_then(|series| series.samples.value.iter().min());
                least.is_some_and(|least| least < -1_000)
            };
            assert!(!ruling.is_early() || wait.requests().into_iter().any(is_before), "{what}: {ruling}");
            judged += 1;
        }
    }
    assert!(judged > 20, "{judged}");
}

/// Advice for a version is of that version.
#[test]
fn advice_in_a_result_is_of_the_version_that_was_asked() {
    let windows = lab("windows-11").of_version("8".parse().ok());
    let plan = Plan {
        subjects: vec!["java".to_owned()],
        requests: vec![Nanos::from_millis(1)],
        limit: Some(Limit::Count(12)),
        runtimes: oversleep_measure::RuntimePlan { version: "8".parse().ok(), only: vec!["parkNanos".to_owned()] },
        ..Plan::default()
    };
    let mut file = run_on(&windows, CommandName::Runtimes, &[ExperimentId::R1], plan);
    crate::ask::advise(&windows, &mut file);
    let advice: Vec<String> = file.series.iter().filter_map(|series| series.label(label::ADVICE)).collect();
    assert_eq!(advice.len(), 1, "{advice:?}");
    assert!(advice[0].contains("; Thread.sleep, where nothing has to wake"), "{advice:?}");
}

/// A finding about late calls says what helps them, where something does.
#[test]
fn a_finding_about_a_late_call_has_the_cure_that_was_tried() {
    let windows = lab("windows-11");
    let plan = Plan {
        subjects: vec!["tokio".to_owned()],
        requests: vec![Nanos::from_millis(1)],
        limit: Some(Limit::Count(12)),
        ..Plan::default()
    };
    let mut file = run_on(&windows, CommandName::Runtimes, &[ExperimentId::R1], plan);
    crate::ask::advise(&windows, &mut file);
    for id in ["OVS-R002", "OVS-R201"] {
        let finding = file.findings.iter().find(|finding| finding.id == id).expect(id);
        let sentences: Vec<&str> = finding.advice.iter().map(|advice| advice.sentence.as_str()).collect();
        let is_cure =
            |said: &&&str| said.starts_with("For tokio::time::sleep of tokio 1.0 and later and 1 ms, tried here: ");
        let cure = sentences.iter().find(is_cure).unwrap_or_else(|| panic!("{id}: {sentences:?}"));
        assert!(cure.contains("oversleep_async::sleep") && !cure.contains(';'), "{cure}");
    }
}
