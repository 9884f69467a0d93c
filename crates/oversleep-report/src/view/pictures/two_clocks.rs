//! The same sleeps timed by a coarse and by a precise clock (B1).

use oversleep_record::ResultFile;

use super::{Drawing, Entry, us};
use crate::picture::{SleepSeenTwice, TwoClocks};
use crate::view::select::{common_request, measured};

pub const ENTRY: Entry =
    Entry { name: "two-clocks", experiment: Some("B1"), draw: |file| drawing(file).into_iter().collect() };

fn drawing(file: &ResultFile) -> Option<Drawing<'_>> {
    let role = |role: &'static str| measured(file, "B1").filter(move |series| series.label("clock_role") == Some(role));
    let request = common_request(role("precise"))?;
    let precise = role("precise").find(|series| series.requested_ns == Some(request))?;
    let is_twin = |(subject, samples)| (subject, samples) == (&precise.subject, precise.samples.len());
    let coarse = role("coarse")
        .filter(|series| series.requested_ns == Some(request))
        .find(|series| is_twin((&series.subject, series.samples.len())))?;
    let pairs = coarse.samples.value.iter().zip(&precise.samples.value);
    let sleeps = pairs.map(|(&coarse, &precise)| SleepSeenTwice { coarse_us: us(coarse), precise_us: us(precise) });
    let sleeps = sleeps.collect();
    Some(Drawing::new("One sleep, two clocks", "", move |frame| {
        TwoClocks {
            frame,
            wait_label: precise.subject.clone(),
            requested_us: request.as_micros_f64(),
            coarse_label: coarse.clock.clone(),
            precise_label: precise.clock.clone(),
            sleeps,
        }
        .svg()
    }))
}
