//! From C3 to its picture.

use oversleep_record::conditions::HeldSettings;
use oversleep_record::series::Quantity;
use oversleep_record::{ExperimentId, ResultFile};

use super::{Picture, frame, ms, safe_name};
use crate::picture;
use crate::view::sections::{neighbour_clocks, neighbours as section};

/// C3: this process's own sleep, what the system states and what a coarse clock does, by what a neighbour holds.
pub(super) fn neighbours(file: &ResultFile) -> Option<Picture> {
    let steps = section::steps(file, ExperimentId::C3);
    let clock = neighbour_clocks::telling(file, ExperimentId::C3);
    let stated = |step: &HeldSettings| {
        let mut series = section::of_step(file, ExperimentId::C3, step, Quantity::StatedResolution);
        series.next()?.distribution.p50().map(ms)
    };
    // Several steps seen together are none of the clock's: the curve has a gap there.
    let clock_step = |step: &HeldSettings| {
        let moved = neighbour_clocks::step(file, ExperimentId::C3, step, clock?)?;
        (!moved.is_several).then(|| ms(moved.ns))
    };
    let first = section::of_step(file, ExperimentId::C3, steps.first()?, Quantity::Lateness).next()?;
    let asked = first.requested_ns?;
    let of_step = |step: &HeldSettings| {
        let sleep = section::of_step(file, ExperimentId::C3, step, Quantity::Lateness)
            .find(|sleep| sleep.requested_ns == Some(asked));
        picture::NeighbourStep {
            label: section::in_words(step),
            slept_ms: sleep
                .map(|sleep| sleep.samples.value.iter().map(|&late| ms(asked.0 + late)).collect())
                .unwrap_or_default(),
            stated_ms: stated(step),
            clock_step_ms: clock_step(step),
        }
    };
    let name = safe_name(&["neighbours"]);
    let note = "This process asked for nothing; one neighbour at a time held what stands below.";
    let picture = picture::Neighbours {
        frame: frame(file, &name, "What a neighbour's setting does to this process", note),
        wait_label: format!("{} of {asked}", first.subject),
        clock_label: clock.unwrap_or_default().to_owned(),
        steps: steps.iter().map(of_step).collect(),
    };
    Some((name, picture.svg()))
}
