//! Results of version 1, which become those of version 2. Fields that this renamed have their old name as a serde alias;
//! labels are names in a map and are renamed here.

use super::ResultFile;
use crate::experiment::ExperimentId;

/// The schema of version 1.
pub const SCHEMA: &str = "oversleep-result/1";

/// Renamed labels.
const LABELS: &[(&str, &str)] = &[("of", "interrupt_kind")];
/// The label that told when a sleep began had a second meaning in trials.
const LABELS_OF_TRIALS: &[(&str, &str)] = &[("phase", "side")];

/// Converts a result of version 1 to version 2.
pub fn bring_up_to_date(file: &mut ResultFile) {
    file.schema = super::v2::SCHEMA.to_owned();
    for series in &mut file.series {
        series.labels.rename(LABELS);
        if series.experiment == ExperimentId::TRIAL {
            series.labels.rename(LABELS_OF_TRIALS);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::{Quantity, Series, Unit};
    use crate::testing::Sheet;

    #[test]
    fn the_phase_of_a_sleep_keeps_its_name() {
        let mut file = Sheet::linux().file;
        for experiment in [ExperimentId::B6, ExperimentId::TRIAL] {
            let mut series = Series::new(experiment, "any", Quantity::Lateness, Unit::Ns);
            series.labels = [("phase", "after"), ("of", "all-kinds")].into_iter().collect();
            file.series.push(series);
        }
        bring_up_to_date(&mut file);
        let labels = |place: usize| file.series[place].labels.iter().collect::<Vec<_>>();
        assert_eq!(labels(0), [("interrupt_kind", "all-kinds"), ("phase", "after")]);
        assert_eq!(labels(1), [("interrupt_kind", "all-kinds"), ("side", "after")]);
    }
}
