//! The entry of an experiment agrees with the series that it records.

use super::*;

#[test]
fn every_series_is_of_a_quantity_that_its_experiment_names() {
    let all: Vec<ExperimentId> = oversleep_measure::registry().iter().map(|entry| entry.id).collect();
    for machine in ["linux-hz250", "windows-10-1909", "macos-14-m1"] {
        for series in &looked_at(machine, &all, Depth::Quick).series {
            let entry = experiment(series.experiment).unwrap_or_else(|| panic!("{} is of no experiment", series.key));
            assert!(entry.quantities.contains(&series.quantity), "{machine} {}: {:?}", series.key, series.quantity);
        }
    }
}
