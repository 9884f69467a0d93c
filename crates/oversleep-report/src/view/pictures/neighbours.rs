//! This process's own sleep, the stated resolution and a coarse clock, by the setting a neighbour holds (C3).

use oversleep_record::ResultFile;
use oversleep_record::series::Quantity;

use super::{Drawing, Entry, ms};
use crate::picture::{NeighbourStep, Neighbours};
use crate::view::sections::neighbour_clocks;
use crate::view::sections::neighbours::{of_step, steps};
use crate::view::sections::slack::setting_in_words;

pub const ENTRY: Entry =
    Entry { name: "neighbours", experiment: Some("C3"), draw: |file| drawing(file).into_iter().collect() };

fn drawing(file: &ResultFile) -> Option<Drawing<'_>> {
    let steps = steps(file, "C3");
    let clock = neighbour_clocks::telling(file, "C3");
    let stated = |step: &str| of_step(file, "C3", step, Quantity::StatedResolution).next()?.distribution.p50().map(ms);
    // Several steps seen together are not a step of the clock: the curve has a gap there.
    let clock_step = |step: &str| {
        let moved = neighbour_clocks::step(file, "C3", step, clock?)?;
        (!moved.is_several).then(|| ms(moved.ns))
    };
    let first = of_step(file, "C3", steps.first()?, Quantity::Lateness).next()?;
    let request = first.requested_ns?;
    let row = |step: &&str| {
        let mut sleeps = of_step(file, "C3", step, Quantity::Lateness);
        let sleep = sleeps.find(|sleep| sleep.requested_ns == Some(request));
        let durations = sleep.into_iter().flat_map(|sleep| &sleep.samples.value).map(|&late| ms(request.0 + late));
        NeighbourStep {
            label: setting_in_words(step),
            sleep_ms: durations.collect(),
            stated_ms: stated(step),
            clock_step_ms: clock_step(step),
        }
    };
    let rows = steps.iter().map(row).collect();
    let note = "This process requests nothing; one neighbour at a time holds the setting below.";
    Some(Drawing::new("What a neighbour's setting does to this process", note, move |frame| {
        Neighbours {
            frame,
            wait_label: format!("{} of {request}", first.subject),
            clock_label: clock.unwrap_or_default().to_owned(),
            steps: rows,
        }
        .svg()
    }))
}
