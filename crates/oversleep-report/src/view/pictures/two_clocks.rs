//! The same sleeps timed by a coarse and by a precise clock (B1).

use oversleep_record::label::ClockRole;
use oversleep_record::{ExperimentId, ResultFile, label};

use super::{Drawing, Entry, us};
use crate::picture::{SleepSeenTwice, TwoClocks};
use crate::view::select::{common_request, measured};

pub const ENTRY: Entry =
    Entry { name: "two-clocks", experiment: Some(ExperimentId::B1), draw: |file| drawing(file).into_iter().collect() };

fn drawing(file: &ResultFile) -> Option<Drawing<'_>> {
    let role = |role: ClockRole| {
        measured(file, ExperimentId::B1).filter(move |series| series.label(label::CLOCK_ROLE) == Some(role))
    };
    let request = common_request(role(ClockRole::Precise))?;
    let precise = role(ClockRole::Precise).find(|series| series.requested_ns == Some(request))?;
    let is_twin = |(subject, samples)| (subject, samples) == (&precise.subject, precise.samples.len());
    let coarse = role(ClockRole::Coarse)
        .filter(|series| series.requested_ns == Some(request))
        .find(|series| is_twin((&series.subject, series.samples.len())))?;
    let pairs = coarse.samples.value.iter().zip(&precise.samples.value);
    let sleeps = pairs.map(|(coarse, precise)| SleepSeenTwice { coarse_us: us(coarse), precise_us: us(precise) });
    let sleeps = sleeps.collect();
    Some(Drawing::new("One sleep, two clocks", "", move |frame| TwoClocks {
        frame,
        wait_label: precise.subject.clone(),
        requested_us: request.as_micros_f64(),
        coarse_label: coarse.clock.clone(),
        precise_label: precise.clock.clone(),
        sleeps,
    }))
}
