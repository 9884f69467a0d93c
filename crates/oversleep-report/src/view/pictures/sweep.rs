//! The duration of a sleep for each request (B2).

use oversleep_record::{ExperimentId, ResultFile, Series};

use super::{Drawing, Entry, ms};
use crate::picture::{Sweep, SweepPoint};
use crate::view::sections::sweep::{by_coarse_clock, by_precise_clock};
use crate::view::select::distinct;

pub const ENTRY: Entry = Entry { name: "sweep", experiment: Some(ExperimentId::B2), draw };

fn draw(file: &ResultFile) -> Vec<Drawing<'_>> {
    let waits = distinct(by_precise_clock(file).map(|series| series.subject.as_str()));
    waits.into_iter().filter_map(|wait| drawing(file, wait)).collect()
}

/// Each duration beside its request.
pub fn points<'a>(series: impl Iterator<Item = &'a Series>) -> Vec<SweepPoint> {
    series
        .filter_map(|series| Some((series.requested_ns?, series)))
        .flat_map(|(request, series)| {
            let requested_ms = request.as_millis_f64();
            series.samples.value.iter().map(move |duration| SweepPoint { requested_ms, duration_ms: ms(duration) })
        })
        .collect()
}

fn drawing<'a>(file: &'a ResultFile, wait: &'a str) -> Option<Drawing<'a>> {
    let of_wait = |series: &&Series| series.subject == wait;
    let clock = |mut series: Box<dyn Iterator<Item = &'a Series> + 'a>| {
        series.find(|series| series.subject == wait).map(|series| series.clock.clone()).unwrap_or_default()
    };
    let coarse_label = clock(Box::new(by_coarse_clock(file)));
    let precise_label = clock(Box::new(by_precise_clock(file)));
    let coarse = points(by_coarse_clock(file).filter(of_wait));
    let points = points(by_precise_clock(file).filter(of_wait));
    let heading = "Duration of a sleep for each request: line or steps?";
    (!points.is_empty()).then(|| {
        let wait_label = wait.to_owned();
        let svg = move |frame| Sweep { frame, wait_label, precise_label, coarse_label, points, coarse, finding: None };
        Drawing::new(heading, "", svg).of(wait)
    })
}
