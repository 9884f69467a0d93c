//! The duration of a sleep for each request (B2).

use oversleep_record::{ExperimentId, ResultFile};

use super::{Drawing, Entry, ms};
use crate::picture::{Sweep, SweepPoint};
use crate::view::select::{distinct, measured};

pub const ENTRY: Entry = Entry { name: "sweep", experiment: Some(ExperimentId::B2), draw };

fn draw(file: &ResultFile) -> Vec<Drawing<'_>> {
    let waits = distinct(measured(file, ExperimentId::B2).map(|series| series.subject.as_str()));
    waits.into_iter().filter_map(|wait| drawing(file, wait)).collect()
}

fn drawing<'a>(file: &'a ResultFile, wait: &'a str) -> Option<Drawing<'a>> {
    let series = measured(file, ExperimentId::B2).filter(|series| series.subject == wait);
    let points: Vec<SweepPoint> = series
        .filter_map(|series| Some((series.requested_ns?, series)))
        .flat_map(|(request, series)| {
            let requested_ms = request.as_millis_f64();
            series.samples.value.iter().map(move |duration| SweepPoint { requested_ms, duration_ms: ms(duration) })
        })
        .collect();
    let heading = "Duration of a sleep for each request: line or steps?";
    (!points.is_empty()).then(|| {
        let svg = move |frame| Sweep { frame, wait_label: wait.to_owned(), points }.svg();
        Drawing::new(heading, "", svg).of(wait)
    })
}
