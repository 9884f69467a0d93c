//! This process's own sleep, the stated resolution and a coarse clock, by the setting a neighbour holds (C3).

use oversleep_record::conditions::HeldSettings;
use oversleep_record::series::Quantity;
use oversleep_record::{ExperimentId, Nanos, ResultFile};

use super::{Drawing, Entry, ms};
use crate::picture::{NeighbourStep, Neighbours};
use crate::view::sections::neighbour_clocks;
use crate::view::sections::neighbour_steps::{held_in_words, of_step, steps};

pub const ENTRY: Entry =
    Entry { name: "neighbours", experiment: Some(ExperimentId::C3), draw: |file| drawing(file).into_iter().collect() };

fn drawing(file: &ResultFile) -> Option<Drawing<'_>> {
    let steps = steps(file, ExperimentId::C3);
    let clock = neighbour_clocks::telling(file, ExperimentId::C3);
    let stated = |step: &HeldSettings| {
        of_step(file, ExperimentId::C3, step, Quantity::StatedResolution).next()?.distribution.p50().map(ms)
    };
    // Several steps between two reads don't show the clock's step: the curve has a gap there.
    let clock_step = |step: &HeldSettings| {
        let moved = neighbour_clocks::step(file, ExperimentId::C3, step, clock?)?;
        (!moved.is_several).then(|| ms(moved.ns))
    };
    let first = of_step(file, ExperimentId::C3, steps.first()?, Quantity::Lateness).next()?;
    let request = first.requested_ns?;
    let row = |step: &HeldSettings| {
        let mut sleeps = of_step(file, ExperimentId::C3, step, Quantity::Lateness);
        let sleep = sleeps.find(|sleep| sleep.requested_ns == Some(request));
        let durations =
            sleep.into_iter().flat_map(|sleep| &sleep.samples.value).map(|late| ms((request + Nanos(late)).0));
        NeighbourStep {
            label: held_in_words(step),
            sleep_ms: durations.collect(),
            stated_ms: stated(step),
            clock_step_ms: clock_step(step),
        }
    };
    let rows = steps.iter().map(row).collect();
    let note = "This process requests nothing; one neighbour at a time holds the setting below.";
    Some(Drawing::new("What a neighbour's setting does to this process", note, move |frame| Neighbours {
        frame,
        wait_label: format!("{} of {request}", first.subject),
        clock_label: clock.unwrap_or_default().to_owned(),
        steps: rows,
    }))
}
