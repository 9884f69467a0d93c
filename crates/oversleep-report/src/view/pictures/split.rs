//! The parts of the lateness of each wait (B5).

use oversleep_explain::split::SplitRow;
use oversleep_record::{ExperimentId, ResultFile};

use super::{Drawing, Entry};
use crate::picture;
use crate::view::sections::split;

pub const ENTRY: Entry =
    Entry { name: "split", experiment: Some(ExperimentId::B5), draw: |file| drawing(file).into_iter().collect() };

fn drawing(file: &ResultFile) -> Option<Drawing<'_>> {
    let rows = split::of_waits(file);
    let request = split::request(&rows);
    let part = |label: &str| picture::SplitPart { label: label.to_owned(), attributed: true };
    let bar = move |row: &SplitRow| picture::SplitRow {
        label: match row.requested_ns {
            Some(other) if Some(other) != request => format!("{} {other}", row.wait),
            _ => row.wait.clone(),
        },
        parts_us: [row.medians.timer, row.medians.run_queue, row.medians.wake_return]
            .iter()
            .map(|part| Some(part.as_micros_f64()))
            .collect(),
        total_us: row.medians.total.as_micros_f64(),
    };
    let of = request.map(|request| format!(" of waits of {request}")).unwrap_or_default();
    let note = "Medians of each part; they add up to the median lateness only roughly.";
    let note = split::spinning(&rows).map_or_else(|| note.to_owned(), |spinning| format!("{note} {spinning}"));
    (!rows.is_empty()).then(|| {
        Drawing::new(format!("Where the lateness{of} comes from"), note, move |frame| {
            let parts = vec![part("timer, slack and waking"), part("run queue"), part("return to the program")];
            picture::SplitBars { frame, parts, rows: rows.iter().map(bar).collect() }
        })
    })
}
