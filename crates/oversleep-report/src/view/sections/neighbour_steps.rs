//! The steps of the experiments with neighbours (C3, C4): the setting held in each, and the series of each.

use oversleep_record::conditions::HeldSettings;
use oversleep_record::series::Quantity;
use oversleep_record::{ExperimentId, ResultFile, Series, label};

use crate::view::select::{distinct, measured, unavailable};
use crate::words::list;

/// The settings that the neighbours of a series held: `2ms`, `none`.
pub fn neighbour(series: &Series) -> Option<HeldSettings> {
    series.label(label::NEIGHBOUR)
}

/// The settings that neighbours held, in the order of the experiment's steps.
pub fn steps(file: &ResultFile, experiment: ExperimentId) -> Vec<HeldSettings> {
    distinct(file.experiment(experiment).filter_map(neighbour))
}

/// The settings of neighbours in words: `2 ms and 4 ms`, `nothing`.
pub fn held_in_words(held: &HeldSettings) -> String {
    match held.0.as_slice() {
        [] => "nothing".to_owned(),
        settings => list(&settings.iter().map(ToString::to_string).collect::<Vec<_>>()),
    }
}

/// The series of one kind within a step; a coarse clock's has its name. A series beside a neighbour that died doesn't
/// count: nothing was held during some of its values.
pub fn of_step<'a>(
    file: &'a ResultFile,
    experiment: ExperimentId,
    step: &HeldSettings,
    quantity: Quantity,
) -> impl Iterator<Item = &'a Series> {
    measured(file, experiment)
        .filter(|series| unavailable(series).is_none())
        .filter(move |series| series.quantity == quantity && neighbour(series).as_ref() == Some(step))
}
