//! Published figures beside results of models and of machines.

use std::collections::BTreeSet;

use oversleep_record::testing::Sheet;

use super::*;
use crate::modelled_tests::check;
use crate::verify::verify;

#[test]
fn a_published_figure_stands_beside_the_one_it_speaks_of() {
    let late = |ns: i64| {
        let mut file = Sheet::linux().steady("B5/nanosleep/1ms", ns).file;
        file.series[0].pace = Some(Pace::BackToBack);
        beside(&file, ExperimentId::B5)
    };
    let found = late(60_000);
    assert!(!found.is_empty() && found.iter().all(|one| one.figure == "nanosleep(1ms)"), "{found:?}");
    assert!(found.iter().any(|one| one.is_reproduced), "{found:?}");
    assert!(found.iter().all(|one| !one.published.contains("SCHED_FIFO")), "{found:?}");
    let far = late(900_000);
    assert_eq!(far.len(), found.len());
    assert!(far.iter().all(|one| !one.is_reproduced), "{far:?}");
}

#[test]
fn a_figure_is_reproduced_beside_a_result_where_machines_verify_says_so() {
    let file = check("windows-11", &[ExperimentId::A1]);
    let all = beside(&file, ExperimentId::A1);
    let row = all.iter().find(|row| row.id == "K005").expect("it is there");
    assert!(row.is_reproduced && row.factor.is_some_and(|factor| factor <= 2.0), "{row:?}");
    let rows = verify().expect("the files are well-formed");
    for one in &all {
        let row = rows.iter().find(|row| row.observation.id == one.id).expect("it is there");
        assert_eq!(row.is_reproduced(), one.is_reproduced, "{one:?}");
    }
}

/// On every machine, as a check measures it.
#[test]
fn no_result_of_a_model_contradicts_machines_verify() {
    let rows = verify().expect("the files are well-formed");
    let mut disagreements = Vec::new();
    let mut compared = 0;
    for name in machines::names() {
        let of_it = OBSERVATIONS.iter().filter(|one| one.machine.as_deref() == Some(name) && one.set.is_empty());
        let ids: BTreeSet<ExperimentId> = of_it.filter_map(Observation::experiment).collect();
        let ids: Vec<ExperimentId> = ids.into_iter().collect();
        let file = check(name, &ids);
        for one in ids.iter().flat_map(|id| beside(&file, *id)) {
            let row = rows.iter().find(|row| row.observation.id == one.id).expect("it is there");
            compared += 1;
            if row.is_reproduced() != one.is_reproduced {
                disagreements.push(format!("{name}: {}: {} ({:?})", one.id, one.here, row.verdict));
            }
        }
    }
    assert!(compared > 100, "{compared}");
    assert_eq!(disagreements, [] as [&str; 0]);
}

/// Beside busy threads a clock shows more of a wait than by itself.
#[test]
fn the_figure_is_that_of_the_result_and_the_verdict_that_of_machines_verify() {
    let mut file = check("linux-hz250", &[ExperimentId::A2]);
    let all = beside(&file, ExperimentId::A2);
    assert!(!all.is_empty() && all.iter().all(|one| one.of_verify.is_none()), "{all:?}");
    for clock in &mut file.clocks {
        clock.differences.iter_mut().for_each(|shown| shown.indicated_ns = Nanos::from_secs(7));
    }
    let loaded = beside(&file, ExperimentId::A2);
    let verdicts = |all: &[Beside]| all.iter().map(|one| (one.id, one.is_reproduced)).collect::<Vec<_>>();
    assert_eq!(verdicts(&all), verdicts(&loaded));
    assert!(loaded.iter().all(|one| one.here.contains("7 s") && one.of_verify.is_some()), "{loaded:?}");
}

#[test]
fn a_disturbed_figure_and_our_own_stand_beside_nothing() {
    let mut file = Sheet::linux().integer(FactName::CpuCount, 2).steady("B5/nanosleep/1ms", 60_000).file;
    file.series[0].pace = Some(Pace::BackToBack);
    assert!(!beside(&file, ExperimentId::B5).is_empty());
    let values = file.series[0].distribution.count() as i64;
    let rounds = file.series[0].rounds.len() as i64;
    for round in &mut file.series[0].rounds {
        round.disturbance.window_ns = Nanos(1_000_000 * values / rounds);
        round.disturbance.run_delay_ns = Some(Nanos(100_000 * values / rounds));
    }
    assert_eq!(beside(&file, ExperimentId::B5), []);
    let coarse = check("linux-hz250", &[ExperimentId::B3]);
    assert!(beside(&coarse, ExperimentId::B3).iter().all(|one| one.id != "O317"));
}

#[test]
fn a_model_stands_beside_the_rows_of_its_own_machine_alone() {
    let file = check("windows-10-1909", &[ExperimentId::B5, ExperimentId::B3]);
    let rows = [ExperimentId::B5, ExperimentId::B3].map(|id| beside(&file, id)).concat();
    assert!(!rows.is_empty());
    for row in &rows {
        let observation = OBSERVATIONS.iter().find(|one| one.id == row.id).expect("it is an observation");
        assert_eq!(observation.machine.as_deref(), Some("windows-10-1909"), "{row:?}");
    }
}

#[test]
fn rules_of_other_releases_are_not_compared() {
    let windows = |build| {
        let sheet = Sheet::windows().steady("B5/sleep/1ms", 14_600_000).steady("B6/sleep/1ms/random", 7_600_000);
        let file = sheet.integer(FactName::OsBuild, build).file;
        let ids = [ExperimentId::B5, ExperimentId::B6].map(|id| beside(&file, id)).concat();
        ids.iter().map(|one| one.id).collect::<Vec<&str>>()
    };
    let (old, new) = (windows(18_363), windows(19_045));
    assert!(!old.is_empty() && !new.is_empty(), "{old:?} {new:?}");
    assert!(old.iter().all(|id| !new.contains(id)), "{old:?} {new:?}");
    assert!(old.iter().chain(&new).all(|id| !["O278", "O279"].contains(id)), "measured under Wine: {old:?} {new:?}");
    let wine = Sheet::windows().steady("B5/sleep/1ms", 1).integer(FactName::OsBuild, 19_045);
    assert_eq!(beside(&wine.text(FactName::OsWineVersion, "8.0").file, ExperimentId::B5), []);
}

#[test]
fn every_question_belongs_to_an_experiment() {
    for observation in OBSERVATIONS.iter().filter(|one| one.ask.is_some()) {
        let id = observation.experiment().unwrap_or_else(|| panic!("{}", observation.id));
        assert!(oversleep_measure::experiment(id).is_some(), "{}: {id}", observation.id);
        assert!(!observation.source_in_words().is_empty());
    }
    assert!(of_experiment(ExperimentId::B5).len() > 5 && of_experiment(ExperimentId::A1).len() > 2);
}
